package columnar

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// Without starts a new file on w that has the one row group of f but for some
// rows, which are given in order, and puts those into taken. Pages that lose no
// row are copied as they are, so that this costs little more than the copying.
// The caller goes on with the Writer, to append its own bytes and to close it.
func (f *File) Without(gone []uint32, enc *Encoder, w io.Writer, taken *Page) (out *Writer, err error) {
	defer recovered(&err)
	if f.RowGroups() != 1 || len(gone) == 0 || len(gone) >= f.GroupRows(0) {
		panic("BUG: nothing to leave out, or nothing to keep")
	}
	*taken = Page{Rows: len(gone), Vectors: make([]Vector, len(f.table.Columns))}
	out = f.table.Create(enc, w)
	group := out.footer.AppendRowGroup()
	start := out.out.at
	for position := range f.table.Columns {
		builder := group.NextColumnChunk()
		c := out.newChunk(position)
		c.taken = &taken.Vectors[position]
		if err := c.copyWithout(f, gone); err != nil {
			return nil, f.columnError(position, err)
		}
		stats, err := f.statisticsWithout(position, gone, &c.going)
		if err != nil {
			return nil, f.columnError(position, err)
		}
		if stats.IsSet() {
			builder.SetStats(stats)
		}
		if err := builder.Finish(c.info, c.dictionary, false, c.encodings, nil); err != nil {
			return nil, err
		}
	}
	out.rows = int64(f.GroupRows(0) - len(gone))
	group.SetNumRows(int(out.rows))
	if err := group.Finish(out.out.at-start, 0); err != nil {
		return nil, err
	}
	out.rowGroups = 1
	return out, out.out.err
}

// copyWithout copies a column chunk but for some rows.
func (c *chunk) copyWithout(f *File, gone []uint32) error {
	source, err := f.columnPages(0, c.position)
	if err != nil {
		return err
	}
	c.source = &source
	for before, rows := 0, f.GroupRows(0); before < rows; {
		h, err := source.header()
		if err != nil {
			return err
		}
		data, err := source.payload(h)
		if err != nil {
			return err
		}
		if h.kind == dictionaryPage {
			if err := c.copyDictionary(h, data); err != nil {
				return err
			}
			continue
		}
		var here []uint32 // rows of this page that go
		for ; len(gone) > 0 && int(gone[0]) < before+h.values; gone = gone[1:] {
			here = append(here, gone[0]-uint32(before))
		}
		before += h.values
		if len(here) == 0 && source.compressed == c.column.compressed() {
			c.copyPage(h, data)
			continue
		}
		plain, err := source.decompress(h, data)
		if err == nil {
			err = c.shrink(h, plain, here)
		}
		if err == nil && h.values > len(here) {
			err = c.writePage(h.values-len(here), h.encoding)
		}
		if err != nil {
			return err
		}
	}
	return c.out.err
}

// copyDictionary copies a dictionary page, and reads it.
func (c *chunk) copyDictionary(h pageHeader, data []byte) error {
	plain, err := c.source.decompress(h, data)
	if err != nil {
		return err
	}
	c.enc.plain = append(c.enc.plain[:0], plain...)
	late := len(c.late)
	if err := c.writeDictionary(h.values); err != nil {
		return err
	}
	c.late = c.late[:late] // it is set already
	return c.source.readDictionary(c.enc.plain, h.values)
}

func (c *chunk) copyPage(h pageHeader, data []byte) {
	if c.info.DataPageOffset == 0 {
		c.info.DataPageOffset = c.out.at
	}
	c.writeRaw(appendDataPageHeader(c.enc.header[:0], h.values, h.uncompressed, data, h.encoding), data, h.uncompressed)
	c.info.NumValues += int64(h.values)
	c.encodings.DataEncodingStats[h.encoding]++
}

// shrink puts a page but for some of its rows into enc.page, and those into
// taken.
func (c *chunk) shrink(h pageHeader, data []byte, here []uint32) error {
	c.enc.page = c.enc.page[:0]
	gone, values := here, h.values
	if c.column.Nullable {
		levels, rest, err := readLevels(grow(&c.enc.levels, h.values), data)
		if err != nil {
			return err
		}
		data = rest
		var goneLevels []uint32
		gone, goneLevels, values = valuesAt(levels, gone)
		c.enc.page = appendHybrid(append(c.enc.page, 0, 0, 0, 0), leaveOut(levels, here), 1)
		binary.LittleEndian.PutUint32(c.enc.page, uint32(len(c.enc.page)-4))
		c.going.nulls += int64(len(here) - len(gone))
		if err := c.shrinkValues(h, data, values, gone); err != nil {
			return err
		}
		c.taken.insertNulls(c.column, goneLevels)
		return nil
	}
	return c.shrinkValues(h, data, values, here)
}

// valuesAt gives the numbers of the values of some rows, of which those that
// are NULL have none, the rows' levels, and how many values there are.
func valuesAt(levels, rows []uint32) (numbers, rowLevels []uint32, values int) {
	from := 0
	for _, row := range rows {
		for ; from < int(row); from++ {
			values += int(levels[from])
		}
		rowLevels = append(rowLevels, levels[row])
		if levels[row] == 1 {
			numbers = append(numbers, uint32(values))
		}
	}
	for _, level := range levels[from:] {
		values += int(level)
	}
	return numbers, rowLevels, values
}

// insertNulls gives the rows that were appended last, of which only the values
// are there, their NULLs.
func (v *Vector) insertNulls(column *Column, levels []uint32) {
	values := 0
	for _, level := range levels {
		values += int(level)
	}
	nulls := len(levels) - values
	if column.Kind == Decimal {
		first := len(v.Wide) - values
		v.Wide = append(v.Wide, make([]Int128, nulls)...)
		spread(v.Wide[first:], levels, values, Int128{})
		for range values {
			v.Ints = append(v.Ints, column.Null+1)
		}
	}
	first := len(v.Ints) - values
	v.Ints = append(v.Ints, make([]int64, nulls)...)
	spread(v.Ints[first:], levels, values, column.Null)
}

// leaveOut moves what stays of some values together.
func leaveOut[T any](all []T, gone []uint32) []T {
	if len(gone) == 0 {
		return all
	}
	kept := all[:gone[0]]
	for i, at := range gone {
		end := len(all)
		if i+1 < len(gone) {
			end = int(gone[i+1])
		}
		kept = append(kept, all[at+1:end]...)
	}
	return kept
}

// shrinkValues appends the values of a page but for some to enc.page.
func (c *chunk) shrinkValues(h pageHeader, data []byte, values int, gone []uint32) error {
	size := 8
	switch {
	case h.encoding == parquet.Encodings.RLEDict:
		return c.shrinkIndices(data, values, gone)
	case h.encoding == parquet.Encodings.DeltaBinaryPacked:
		return c.shrinkDeltas(data, values, gone)
	case c.column.Kind == Text:
		return c.shrinkTexts(data, values, gone)
	case c.column.Kind == Decimal:
		size = wideBytes
	}
	if len(data) != size*values {
		return errPage
	}
	start := 0
	for _, at := range gone {
		from, to := size*int(at), size*int(at+1)
		c.takeOut(data[from:to])
		c.enc.page = append(c.enc.page, data[start:from]...)
		start = to
	}
	c.enc.page = append(c.enc.page, data[start:]...)
	return nil
}

// takeOut notes a number that goes, as the page has it.
func (c *chunk) takeOut(value []byte) {
	if c.column.Kind == Decimal {
		wide := Int128{int64(binary.BigEndian.Uint64(value)), binary.BigEndian.Uint64(value[8:])}
		c.going.addWide(wide)
		c.taken.Wide = append(c.taken.Wide, wide)
		return
	}
	c.takeOutInt(int64(binary.LittleEndian.Uint64(value)))
}

// takeOutInt notes a number that goes, in the file's unit.
func (c *chunk) takeOutInt(n int64) {
	n /= c.column.scale()
	c.going.addInt(c.column, n)
	c.taken.Ints = append(c.taken.Ints, n)
}

func (c *chunk) takeOutText(text string) {
	c.going.addText(text)
	c.taken.Dict = append(c.taken.Dict, text)
}

// takeOutEntry notes the value of a dictionary's entry.
func (c *chunk) takeOutEntry(index uint32) error {
	switch {
	case int(index) < len(c.source.texts):
		c.takeOutText(c.source.texts[index])
	case int(index) < len(c.source.numbers):
		c.takeOutInt(c.source.numbers[index])
	default:
		return errPage
	}
	return nil
}

func (c *chunk) shrinkIndices(data []byte, values int, gone []uint32) error {
	if len(data) == 0 {
		return errPage
	}
	width := int(data[0])
	indices := grow(&c.enc.indices, values)
	if _, err := decodeHybrid(indices, data[1:], width); err != nil {
		return err
	}
	for _, at := range gone {
		if err := c.takeOutEntry(indices[at]); err != nil {
			return err
		}
	}
	c.enc.page = appendHybrid(append(c.enc.page, byte(width)), leaveOut(indices, gone), width)
	return nil
}

func (c *chunk) shrinkDeltas(data []byte, values int, gone []uint32) error {
	numbers := grow(&c.enc.ints, values)
	if err := decodeDelta(numbers, data); err != nil {
		return err
	}
	for _, at := range gone {
		c.takeOutInt(numbers[at])
	}
	c.enc.page = appendDelta(c.enc.page, leaveOut(numbers, gone))
	return nil
}

func (c *chunk) shrinkTexts(data []byte, values int, gone []uint32) error {
	start, at := 0, 0 // of what is not yet copied; of the text of value i
	for i := range values {
		if len(data)-at < 4 {
			return errPage
		}
		end := at + 4 + int(binary.LittleEndian.Uint32(data[at:]))
		if end > len(data) {
			return errPage
		}
		if len(gone) > 0 && int(gone[0]) == i {
			gone = gone[1:]
			c.takeOutText(string(data[at+4 : end]))
			c.enc.page = append(c.enc.page, data[start:at]...)
			start = end
		}
		at = end
	}
	c.enc.page = append(c.enc.page, data[start:at]...)
	return nil
}

// statisticsWithout gives the statistics of a column but for some rows, which
// are as exact as those of the file: other programs may answer from them.
// Where a row that goes had the least or the greatest value, the column is
// looked through until a row that stays has it, and so to its end only where
// none has.
func (f *File) statisticsWithout(position int, gone []uint32, going *extremes) (stats metadata.EncodedStatistics, err error) {
	column := &f.table.Columns[position]
	meta, err := f.reader.MetaData().RowGroup(0).ColumnChunk(position)
	if err != nil {
		return stats, err
	}
	known, err := meta.Statistics()
	if err != nil || known == nil {
		return stats, err
	}
	stats.SetNullCount(known.NullCount() - going.nulls)
	stats.Signed = column.signed()
	if !known.HasMinMax() {
		if known.NullCount() == int64(f.GroupRows(0)) {
			return stats, nil
		}
		staying, err := f.staying(position, gone, func(*extremes) bool { return false })
		return staying.encode(column), err
	}
	least, greatest := known.EncodeMin(), known.EncodeMax()
	needLeast, needGreatest := going.has(column, least, greatest)
	constant := bytes.Equal(least, greatest) && known.NullCount() == 0
	if !constant && (needLeast || needGreatest) {
		enough := false
		staying, err := f.staying(position, gone, func(e *extremes) bool {
			isLeast, isGreatest := e.has(column, least, greatest)
			enough = (isLeast || !needLeast) && (isGreatest || !needGreatest)
			return enough
		})
		if err != nil || !enough {
			return staying.encode(column), err
		}
	}
	stats.SetMin(least).SetMax(greatest)
	return stats, nil
}

// staying looks through the rows of a column but for those given, page by page
// until enough says so.
func (f *File) staying(position int, gone []uint32, enough func(*extremes) bool) (e extremes, err error) {
	pages, err := f.Pages(0, []int{position})
	if err != nil {
		return e, err
	}
	var page Page
	for before := 0; ; before += page.Rows {
		if err := pages.Next(&page); err != nil || page.Rows == 0 {
			return e, err
		}
		for i := range page.Rows {
			if len(gone) > 0 && int(gone[0]) == before+i {
				gone = gone[1:]
				continue
			}
			e.add(&f.table.Columns[position], &page.Vectors[position], i)
		}
		if enough(&e) {
			return e, nil
		}
	}
}

// extremes are the least and the greatest of some values of a column.
type extremes struct {
	any                     bool
	nulls                   int64
	leastInt, greatestInt   int64
	leastText, greatestText string
	leastWide, greatestWide Int128
	lastEntry               uint32 // of the dictionary, that was added
}

func (e *extremes) add(column *Column, v *Vector, i int) {
	switch {
	case column.Nullable && v.Ints[i] == column.Null:
		e.nulls++
	case column.Kind == Decimal:
		e.addWide(v.Wide[i])
	case column.Kind != Text:
		e.addInt(column, v.Ints[i])
	case v.Index == nil:
		e.addText(v.Dict[i])
	case !e.any || v.Index[i] != e.lastEntry:
		e.lastEntry = v.Index[i]
		e.addText(v.Dict[v.Index[i]])
	}
}

func (e *extremes) addInt(column *Column, n int64) {
	if !e.any || column.less(n, e.leastInt) {
		e.leastInt = n
	}
	if !e.any || column.less(e.greatestInt, n) {
		e.greatestInt = n
	}
	e.any = true
}

func (e *extremes) addText(s string) {
	if !e.any || s < e.leastText {
		e.leastText = s
	}
	if !e.any || s > e.greatestText {
		e.greatestText = s
	}
	e.any = true
}

func (e *extremes) addWide(n Int128) {
	if !e.any || n.less(e.leastWide) {
		e.leastWide = n
	}
	if !e.any || e.greatestWide.less(n) {
		e.greatestWide = n
	}
	e.any = true
}

// less orders the values of a column of numbers.
func (c *Column) less(a, b int64) bool {
	if c.Kind == Uint64 {
		return uint64(a) < uint64(b)
	}
	return a < b
}

func (c *Column) signed() bool { return c.Kind == Int64 || c.Kind == Timestamp }

// scale is how many of the file's units make one of the Vector's.
func (c *Column) scale() int64 {
	if c.Kind == Timestamp {
		return microsPerSecond
	}
	return 1
}

func (e *extremes) encode(column *Column) (stats metadata.EncodedStatistics) {
	stats.SetNullCount(e.nulls)
	stats.Signed = column.signed()
	least, greatest := e.bounds(column)
	if e.any && (column.Kind != Text || len(least) <= maxStatText && len(greatest) <= maxStatText) {
		stats.SetMin(least).SetMax(greatest)
	}
	return stats
}

// bounds gives the least and the greatest value as the file has them.
func (e *extremes) bounds(column *Column) (least, greatest []byte) {
	scale := column.scale()
	switch column.Kind {
	case Text:
		return []byte(e.leastText), []byte(e.greatestText)
	case Decimal:
		return e.leastWide.append(nil), e.greatestWide.append(nil)
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(e.leastInt*scale)), binary.LittleEndian.AppendUint64(nil, uint64(e.greatestInt*scale))
}

// has reports which of two values of the file are the least, and the greatest.
func (e *extremes) has(column *Column, least, greatest []byte) (isLeast, isGreatest bool) {
	if !e.any {
		return false, false
	}
	l, g := e.bounds(column)
	return bytes.Equal(l, least), bytes.Equal(g, greatest)
}
