package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// ErrForeign is wrapped by the error for a Parquet file that this program did
// not write.
var ErrForeign = errors.New("not a file of hpcbill's")

// File is an open file of a table.
type File struct {
	table  *Table
	f      *os.File
	size   int64
	reader *file.Reader
}

// Open reads the footer of f and checks that the file is a whole one of this
// table. The file stays the caller's to close.
func (t *Table) Open(f *os.File) (opened *File, err error) {
	defer recovered(&err)
	reader, err := file.NewParquetReader(f, file.WithReadProps(parquet.NewReaderProperties(nil)))
	if err != nil {
		return nil, fmt.Errorf("%s: damaged or cut off: %w", f.Name(), err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	opened = &File{table: t, f: f, size: info.Size(), reader: reader}
	if by := reader.MetaData().GetCreatedBy(); by != maker {
		return nil, fmt.Errorf("%s: written by %q: %w", f.Name(), by, ErrForeign)
	}
	if name, version := opened.Meta("hpcbill.table"), opened.Meta("hpcbill.version"); name != t.Name || version != fmt.Sprint(t.Version) {
		return nil, fmt.Errorf("%s: holds %s version %s, not %s version %d: %w", f.Name(), name, version, t.Name, t.Version, ErrForeign)
	}
	if n := reader.MetaData().Schema.NumColumns(); n != len(t.Columns) {
		return nil, fmt.Errorf("%s: %d columns, not %d: %w", f.Name(), n, len(t.Columns), ErrForeign)
	}
	return opened, nil
}

// Meta gives a value of the footer, "" where there is none.
func (f *File) Meta(key string) string {
	if v := f.reader.MetaData().KeyValueMetadata().FindValue(key); v != nil {
		return *v
	}
	return ""
}

// Rows gives the number of rows.
func (f *File) Rows() int64 { return f.reader.NumRows() }

// RowGroups gives the number of row groups.
func (f *File) RowGroups() int { return f.reader.NumRowGroups() }

// GroupRows gives the number of rows of a row group.
func (f *File) GroupRows(group int) int { return int(f.reader.MetaData().RowGroup(group).NumRows()) }

// IntRange gives the least and the greatest value of a column of numbers in a
// row group, from its statistics. ok is false where all are NULL.
func (f *File) IntRange(group, column int) (least, greatest int64, ok bool, err error) {
	defer recovered(&err)
	lo, hi, ok, err := f.statistics(group, column)
	if !ok || err != nil || len(lo) != 8 || len(hi) != 8 {
		return 0, 0, false, err
	}
	scale := int64(1)
	if f.table.Columns[column].Kind == Timestamp {
		scale = microsPerSecond
	}
	return int64(binary.LittleEndian.Uint64(lo)) / scale, int64(binary.LittleEndian.Uint64(hi)) / scale, true, nil
}

// TextRange is IntRange for a column of texts. ok is false where the file
// does not say.
func (f *File) TextRange(group, column int) (least, greatest string, ok bool, err error) {
	defer recovered(&err)
	lo, hi, ok, err := f.statistics(group, column)
	return string(lo), string(hi), ok, err
}

func (f *File) statistics(group, column int) (least, greatest []byte, ok bool, err error) {
	meta, err := f.reader.MetaData().RowGroup(group).ColumnChunk(column)
	if err != nil {
		return nil, nil, false, err
	}
	stats, err := meta.Statistics()
	if err != nil || stats == nil || !stats.HasMinMax() {
		return nil, nil, false, err
	}
	return stats.EncodeMin(), stats.EncodeMax(), true, nil
}

// Pages reads a row group page by page.
type Pages struct {
	file    *File
	columns []columnPages
	rows    int // still to come
}

// Page is the rows that Pages.Next read: one vector for each column of the
// table, of which those asked for are filled. Texts come as Dict and Index
// where the file has a dictionary, otherwise as Dict with an entry for each
// row and no Index. The next use of the Page overwrites it, but not the texts
// themselves.
type Page struct {
	Rows    int
	Vectors []Vector

	scratch []columnScratch
}

type columnScratch struct {
	levels, indices []uint32
	texts           []string
}

// Pages starts reading the columns given (positions in the table) of a row
// group.
func (f *File) Pages(group int, columns []int) (p *Pages, err error) {
	defer recovered(&err)
	p = &Pages{file: f, rows: f.GroupRows(group), columns: make([]columnPages, len(columns))}
	for i, position := range columns {
		if p.columns[i], err = f.columnPages(group, position); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Upcoming gives the number of rows of the next page, 0 after the last.
func (p *Pages) Upcoming() (rows int, err error) {
	if p.rows == 0 {
		return 0, nil
	}
	for i := range p.columns {
		c := &p.columns[i]
		h, err := c.peek()
		if err == nil && i > 0 && h.values != rows {
			err = fmt.Errorf("damaged: a page of %d rows beside one of %d", h.values, rows)
		}
		if err != nil {
			return 0, p.file.columnError(c.position, err)
		}
		rows = h.values
	}
	if rows <= 0 || rows > p.rows {
		return 0, fmt.Errorf("%s: damaged: a page of %d rows where %d are to come", p.file.f.Name(), rows, p.rows)
	}
	return rows, nil
}

// Skip passes the next page over.
func (p *Pages) Skip() error {
	rows, err := p.Upcoming()
	if err != nil {
		return err
	}
	for i := range p.columns {
		p.columns[i].skip()
	}
	p.rows -= rows
	return nil
}

// Next reads the next page of every column. The page has no rows after the
// last.
func (p *Pages) Next(page *Page) (err error) {
	page.Rows = 0
	rows, err := p.Upcoming()
	if err != nil || rows == 0 {
		return err
	}
	if page.Vectors == nil {
		page.Vectors = make([]Vector, len(p.file.table.Columns))
		page.scratch = make([]columnScratch, len(p.file.table.Columns))
	}
	for i := range p.columns {
		c := &p.columns[i]
		if err := c.next(&page.Vectors[c.position], &page.scratch[c.position]); err != nil {
			return p.file.columnError(c.position, err)
		}
	}
	p.rows -= rows
	page.Rows = rows
	return nil
}

func (f *File) columnError(position int, err error) error {
	return fmt.Errorf("%s: column %s: %w", f.f.Name(), f.table.Columns[position].Name, err)
}

var errPage = errors.New("damaged page: it is too short")

func (c *columnPages) readDictionary(data []byte, entries int) (err error) {
	if c.column.Kind == Text {
		c.texts, err = readTexts(nil, data, entries)
		if err == nil && c.pool != nil {
			c.pool.replace(c.texts)
		}
		return err
	}
	if len(data) != 8*entries {
		return errPage
	}
	c.numbers = make([]int64, entries)
	copy(bytesOf(c.numbers), data)
	return nil
}

// readPage decodes a data page of some rows.
func (c *columnPages) readPage(v *Vector, scratch *columnScratch, h pageHeader, data []byte) (err error) {
	column, rows, values := c.column, h.values, h.values
	var levels []uint32
	if column.Nullable {
		if levels, data, err = readLevels(grow(&scratch.levels, rows), data); err != nil {
			return err
		}
		values = 0
		for _, l := range levels {
			values += int(l)
		}
	}
	dictionary := h.encoding == parquet.Encodings.RLEDict
	indices := scratch.indices
	if dictionary {
		if len(data) == 0 {
			return errPage
		}
		indices = grow(&scratch.indices, values)
		if _, err := decodeHybrid(indices, data[1:], int(data[0])); err != nil {
			return err
		}
		if err := within(indices, max(len(c.numbers), len(c.texts))); err != nil {
			return err
		}
	}
	switch {
	case column.Kind == Text && dictionary:
		v.Index, v.Dict = indices, c.texts
		return nil
	case column.Kind == Text:
		scratch.texts, err = readTexts(scratch.texts[:0], data, values)
		v.Index, v.Dict = nil, scratch.texts
		return err
	case column.Kind == Decimal:
		wide := grow(&v.Wide, rows)
		if err := readWide(wide[:values], data); err != nil || !column.Nullable {
			return err
		}
		ints := grow(&v.Ints, rows)
		for i := range ints[:values] {
			ints[i] = column.Null + 1
		}
		spread(wide, levels, values, Int128{})
		spread(ints, levels, values, column.Null)
		return nil
	}
	ints := grow(&v.Ints, rows)
	if dictionary {
		for i, index := range indices {
			ints[i] = c.numbers[index]
		}
	} else if err := readInts(ints[:values], h.encoding, data); err != nil {
		return err
	}
	if column.Kind == Timestamp {
		for i := range ints[:values] {
			ints[i] /= microsPerSecond
		}
	}
	if values < rows {
		spread(ints, levels, values, column.Null)
	}
	return nil
}

// readInts reads numbers that are not in a dictionary. Files from before they
// were written as differences have them as they are.
func readInts(ints []int64, encoding parquet.Encoding, data []byte) error {
	switch {
	case encoding == parquet.Encodings.DeltaBinaryPacked:
		return decodeDelta(ints, data)
	case len(data) != 8*len(ints):
		return errPage
	}
	copy(bytesOf(ints), data)
	return nil
}

func readLevels(levels []uint32, data []byte) (all []uint32, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errPage
	}
	size := int(binary.LittleEndian.Uint32(data))
	if size > len(data)-4 {
		return nil, nil, errPage
	}
	_, err = decodeHybrid(levels, data[4:4+size], 1)
	return levels, data[4+size:], err
}

// spread moves the values, which stand without gaps at the front, to their
// rows.
func spread[T any](all []T, levels []uint32, values int, null T) {
	for i := len(levels) - 1; i >= 0; i-- {
		if levels[i] == 0 {
			all[i] = null
			continue
		}
		values--
		all[i] = all[values]
	}
}

func within(indices []uint32, entries int) error {
	top := uint32(0)
	for _, i := range indices {
		top = max(top, i)
	}
	if int(top) >= entries {
		return errors.New("damaged page: an index beyond the dictionary")
	}
	return nil
}

// readTexts reads texts that stand one after another. They share one copy of
// the page.
func readTexts(dst []string, data []byte, n int) ([]string, error) {
	text := string(data)
	if n > len(text)/4 {
		return nil, errPage
	}
	if dst == nil {
		dst = make([]string, 0, n)
	}
	for range n {
		if len(text) < 4 {
			return nil, errPage
		}
		size := int(binary.LittleEndian.Uint32(unsafe.Slice(unsafe.StringData(text), 4)))
		if size > len(text)-4 {
			return nil, errPage
		}
		dst = append(dst, text[4:4+size])
		text = text[4+size:]
	}
	return dst, nil
}

func readWide(dst []Int128, data []byte) error {
	if len(data) != wideBytes*len(dst) {
		return errPage
	}
	for i := range dst {
		dst[i] = Int128{int64(binary.BigEndian.Uint64(data[wideBytes*i:])), binary.BigEndian.Uint64(data[wideBytes*i+8:])}
	}
	return nil
}
