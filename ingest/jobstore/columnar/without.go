package columnar

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// Without starts a new file on w that has the one row group of f but for some
// rows, which are given in order. Pages that lose no row are copied as they
// are, so that this costs little more than the copying. The caller goes on
// with the Writer, to append its own bytes and to close it.
func (f *File) Without(gone []uint32, enc *Encoder, w io.Writer) (out *Writer, err error) {
	defer recovered(&err)
	if f.RowGroups() != 1 || len(gone) == 0 || len(gone) >= f.GroupRows(0) {
		panic("BUG: nothing to leave out, or nothing to keep")
	}
	out = f.table.Create(enc, w)
	group := out.footer.AppendRowGroup()
	start := out.out.at
	for position := range f.table.Columns {
		builder := group.NextColumnChunk()
		c := out.newChunk(position)
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
			c.dictionary = true
			c.info.DictPageOffset = c.out.at
			c.writeRaw(appendDictionaryPageHeader(c.enc.header[:0], h.values, h.uncompressed, h.compressed), data, h.uncompressed)
			c.encodings.DictEncodingStats[parquet.Encodings.Plain]++
			if data, err = source.decompress(h, data); err == nil {
				err = source.readDictionary(data, h.values)
			}
			if err != nil {
				return err
			}
			continue
		}
		var here []uint32 // rows of this page that go
		for ; len(gone) > 0 && int(gone[0]) < before+h.values; gone = gone[1:] {
			here = append(here, gone[0]-uint32(before))
		}
		before += h.values
		if len(here) == 0 {
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

func (c *chunk) copyPage(h pageHeader, data []byte) {
	if c.info.DataPageOffset == 0 {
		c.info.DataPageOffset = c.out.at
	}
	c.writeRaw(appendDataPageHeader(c.enc.header[:0], h.values, h.uncompressed, h.compressed, h.encoding), data, h.uncompressed)
	c.info.NumValues += int64(h.values)
	c.encodings.DataEncodingStats[h.encoding]++
}

// shrink puts a page but for some of its rows into enc.page.
func (c *chunk) shrink(h pageHeader, data []byte, gone []uint32) error {
	c.enc.page = c.enc.page[:0]
	values := h.values
	if c.column.Nullable {
		levels, rest, err := readLevels(grow(&c.enc.levels, h.values), data)
		if err != nil {
			return err
		}
		data, values = rest, 0
		kept, goneValues := levels[:0], gone[:0:0]
		for row, level := range levels {
			if len(gone) > 0 && int(gone[0]) == row {
				if gone = gone[1:]; level == 1 {
					goneValues = append(goneValues, uint32(values))
				} else {
					c.going.nulls++
				}
			} else {
				kept = append(kept, level)
			}
			values += int(level)
		}
		gone = goneValues
		c.enc.page = appendHybrid(append(c.enc.page, 0, 0, 0, 0), kept, 1)
		binary.LittleEndian.PutUint32(c.enc.page, uint32(len(c.enc.page)-4))
	}
	return c.shrinkValues(h, data, values, gone)
}

// shrinkValues appends the values of a page but for some to enc.page.
func (c *chunk) shrinkValues(h pageHeader, data []byte, values int, gone []uint32) error {
	size := 8
	switch {
	case h.encoding == parquet.Encodings.RLEDict:
		return c.shrinkIndices(data, values, gone)
	case c.column.Kind == Text:
		return c.shrinkTexts(data, values, gone)
	case c.column.Kind == Decimal:
		size = 16
	}
	if len(data) != size*values {
		return errPage
	}
	for i := range values {
		value := data[size*i : size*(i+1)]
		if len(gone) > 0 && int(gone[0]) == i {
			gone = gone[1:]
			c.takeOut(value)
			continue
		}
		c.enc.page = append(c.enc.page, value...)
	}
	return nil
}

// takeOut notes a number that goes, as the page has it.
func (c *chunk) takeOut(value []byte) {
	if c.column.Kind == Decimal {
		c.going.addWide(Int128{int64(binary.BigEndian.Uint64(value)), binary.BigEndian.Uint64(value[8:])})
		return
	}
	c.going.addInt(c.column, int64(binary.LittleEndian.Uint64(value))/c.column.scale())
}

// takeOutEntry notes the value of a dictionary's entry.
func (c *chunk) takeOutEntry(index uint32) error {
	switch {
	case int(index) < len(c.source.texts):
		c.going.addText(c.source.texts[index])
	case int(index) < len(c.source.numbers):
		c.going.addInt(c.column, c.source.numbers[index]/c.column.scale())
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
	kept := indices[:0]
	for i, index := range indices {
		if len(gone) > 0 && int(gone[0]) == i {
			gone = gone[1:]
			if err := c.takeOutEntry(index); err != nil {
				return err
			}
			continue
		}
		kept = append(kept, index)
	}
	c.enc.page = appendHybrid(append(c.enc.page, byte(width)), kept, width)
	return nil
}

func (c *chunk) shrinkTexts(data []byte, values int, gone []uint32) error {
	for i := range values {
		if len(data) < 4 {
			return errPage
		}
		size := 4 + int(binary.LittleEndian.Uint32(data))
		if size > len(data) {
			return errPage
		}
		if len(gone) > 0 && int(gone[0]) == i {
			gone = gone[1:]
			c.going.addText(string(data[4:size]))
		} else {
			c.enc.page = append(c.enc.page, data[:size]...)
		}
		data = data[size:]
	}
	return nil
}

// statisticsWithout gives the statistics of a column but for some rows, which
// are as exact as those of the file: other programs may answer from them.
// Where a row that goes had the least or the greatest value, the column is
// looked through until rows that stay have both, and so to its end only where
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
	if !known.HasMinMax() && known.NullCount() == int64(f.GroupRows(0)) {
		return stats, nil
	}
	least, greatest := known.EncodeMin(), known.EncodeMax()
	constant := bytes.Equal(least, greatest) && known.NullCount() == 0
	same := known.HasMinMax() && (constant || going.within(column, least, greatest))
	if !same {
		staying, err := f.staying(position, gone, func(e *extremes) bool {
			bounds := e.encode(column)
			same = known.HasMinMax() && e.any && bytes.Equal(bounds.Min, least) && bytes.Equal(bounds.Max, greatest)
			return same
		})
		if err != nil || !same {
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

// within reports whether all values lie inside, and not on, the bounds.
func (e *extremes) within(column *Column, least, greatest []byte) bool {
	switch {
	case !e.any:
		return true
	case column.Kind == Text:
		return string(least) < e.leastText && e.greatestText < string(greatest)
	case column.Kind == Decimal || len(least) != 8 || len(greatest) != 8:
		return false
	}
	scale := column.scale()
	return column.less(int64(binary.LittleEndian.Uint64(least)), e.leastInt*scale) &&
		column.less(e.greatestInt*scale, int64(binary.LittleEndian.Uint64(greatest)))
}

func (e *extremes) encode(column *Column) (stats metadata.EncodedStatistics) {
	stats.SetNullCount(e.nulls)
	stats.Signed = column.signed()
	scale := column.scale()
	switch {
	case !e.any:
	case column.Kind == Text:
		if len(e.leastText) <= maxStatText && len(e.greatestText) <= maxStatText {
			stats.SetMin([]byte(e.leastText)).SetMax([]byte(e.greatestText))
		}
	case column.Kind == Decimal:
		stats.SetMin(e.leastWide.append(nil)).SetMax(e.greatestWide.append(nil))
	default:
		stats.SetMin(binary.LittleEndian.AppendUint64(nil, uint64(e.leastInt*scale)))
		stats.SetMax(binary.LittleEndian.AppendUint64(nil, uint64(e.greatestInt*scale)))
	}
	return stats
}
