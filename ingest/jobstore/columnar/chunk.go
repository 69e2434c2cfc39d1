package columnar

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// longest text kept in the statistics; a longer one leaves them out, since a
// cut one would be a wrong maximum.
const maxStatText = 256

const microsPerSecond = 1_000_000

// chunk is a column of a row group being written.
type chunk struct {
	*Writer
	column     *Column
	position   int
	rows       int
	order      []uint32 // of the rows in the vector; nil where they stand in it as they are
	info       metadata.ChunkMetaInfo
	dictionary bool
	encodings  metadata.EncodingStats

	source *columnPages // from which pages are copied
	going  extremes     // of the rows that are left out
	taken  *Vector      // those rows
}

// newChunk starts the next column chunk of the file.
func (w *Writer) newChunk(position int) *chunk {
	return &chunk{Writer: w, column: &w.table.Columns[position], position: position,
		info: metadata.ChunkMetaInfo{IndexPageOffset: -1},
		encodings: metadata.EncodingStats{
			DictEncodingStats: map[parquet.Encoding]int32{}, DataEncodingStats: map[parquet.Encoding]int32{},
		}}
}

// write writes rows of a vector: those that order names, or, where that is nil,
// the first ones.
func (c *chunk) write(v *Vector, rows int, order []uint32) (metadata.EncodedStatistics, error) {
	c.rows, c.order = rows, order
	switch {
	case c.column.Kind == Decimal:
		return c.writeWide(v)
	case c.column.Kind != Text && v.Index != nil:
		return c.writeIndexed(v)
	case c.column.Kind != Text:
		return c.writeInts(v.Ints)
	case v.Index == nil:
		return c.writeBytes(v)
	}
	return c.writeTexts(v)
}

// writeInts writes a column of integers, as a dictionary where that was asked
// for and the values are few.
func (c *chunk) writeInts(ints []int64) (stats metadata.EncodedStatistics, err error) {
	if c.order == nil {
		ints = ints[:c.rows]
	}
	if v, constant := c.constant(ints); constant {
		return c.writeConstant(v)
	}
	values, levels := c.gather(ints)
	if len(values) > 0 {
		stats = c.extent(values)
	}
	stats.SetNullCount(int64(c.rows - len(values)))
	if (c.column.Dictionary || c.column.Late) && len(values) > 0 && c.numberInts(values) {
		err = c.writeNumbered(levels)
	} else {
		err = c.eachPage(levels, parquet.Encodings.DeltaBinaryPacked, func(from, to int) {
			c.enc.page = appendDelta(c.enc.page, values[from:to])
		})
	}
	if c.column.Late {
		return metadata.EncodedStatistics{}, err
	}
	return stats, err
}

// extent gives the least and the greatest of some values, as statistics.
func (c *chunk) extent(values []int64) (stats metadata.EncodedStatistics) {
	least, greatest := minMax(values, c.column.Kind == Uint64)
	stats.SetMin(binary.LittleEndian.AppendUint64(nil, uint64(least)))
	stats.SetMax(binary.LittleEndian.AppendUint64(nil, uint64(greatest)))
	stats.Signed = c.column.Kind != Uint64
	return stats
}

// writeNumbered writes the dictionary enc.numbers, and the pages of enc.indices.
func (c *chunk) writeNumbered(levels []uint32) error {
	entries := c.enc.numbers.values
	c.enc.plain = append(c.enc.plain[:0], bytesOf(entries)...)
	if err := c.writeDictionary(len(entries)); err != nil {
		return err
	}
	return c.writeIndices(levels, widthOf(len(entries)))
}

// constant reports whether the rows all have the same number, as they often
// do.
func (c *chunk) constant(ints []int64) (v int64, all bool) {
	v = ints[c.first()]
	differs := func(x int64) bool { return x != v }
	if c.order == nil || !c.fewOf(ints) {
		if !slices.ContainsFunc(ints, differs) { // seen in the order of the memory, and so at once
			return v, true
		}
		if c.rows == len(ints) {
			return v, false
		}
	}
	return v, !slices.ContainsFunc(c.order, func(row uint32) bool { return ints[row] != v })
}

// first gives the place of the first row.
func (c *chunk) first() uint32 {
	if c.order == nil {
		return 0
	}
	return c.order[0]
}

// fewOf reports whether the rows are so few of those in memory that to look at
// all of them costs more than it saves.
func (c *chunk) fewOf(ints []int64) bool { return c.rows < len(ints)/4 }

// writeConstant writes a column of one number, or of NULL.
func (c *chunk) writeConstant(v int64) (stats metadata.EncodedStatistics, err error) {
	if c.column.Nullable && v == c.column.Null {
		levels := grow(&c.enc.levels, c.rows)
		clear(levels)
		stats.SetNullCount(int64(c.rows))
		return stats, c.eachPage(levels, parquet.Encodings.DeltaBinaryPacked, func(int, int) {
			c.enc.page = appendDelta(c.enc.page, nil)
		})
	}
	if c.column.Kind == Timestamp {
		v *= microsPerSecond
	}
	value := binary.LittleEndian.AppendUint64(nil, uint64(v))
	stats.SetMin(value).SetMax(value).SetNullCount(0)
	stats.Signed = c.column.Kind != Uint64
	if c.column.Late {
		stats = metadata.EncodedStatistics{}
	}
	c.enc.plain = append(c.enc.plain[:0], value...)
	if err := c.writeDictionary(1); err != nil {
		return stats, err
	}
	return stats, c.writeRuns()
}

// writeRuns writes the pages of a column whose dictionary has one entry.
func (c *chunk) writeRuns() error {
	return c.eachPage(nil, parquet.Encodings.RLEDict, func(from, to int) {
		c.enc.page = appendRun(append(c.enc.page, 1), to-from, 0, 1)
	})
}

// gather gives the values of a column in the order of the rows, without
// NULLs, and the definition level of each row: none where no row is NULL. The
// values are not to be changed.
func (c *chunk) gather(ints []int64) (values []int64, levels []uint32) {
	// To look for NULLs in the order of the memory first costs little, and
	// brings what is picked nearer. Most columns have none.
	none := !c.column.Nullable || (c.order == nil || !c.fewOf(ints)) && !slices.Contains(ints, c.column.Null)
	if values = ints; c.order != nil {
		values = grow(&c.enc.ints, c.rows)
		for i, row := range c.order {
			values[i] = ints[row]
		}
	}
	if !none && slices.Contains(values, c.column.Null) {
		given := values
		values, levels = grow(&c.enc.ints, c.rows), grow(&c.enc.levels, c.rows)
		n := 0
		for i, v := range given {
			level := uint32(1)
			if v == c.column.Null {
				level = 0
			}
			values[n], levels[i] = v, level
			n += int(level)
		}
		values = values[:n]
	}
	if c.column.Kind == Timestamp {
		micros := grow(&c.enc.ints, len(values))
		for i, v := range values {
			micros[i] = v * microsPerSecond
		}
		values = micros
	}
	return values, levels
}

// worthwhile is how many different numbers a dictionary may have: an eighth of
// the values, since beyond that their differences take less room.
func worthwhile(values int) int { return min(maxEntries, max(64, values/8)) }

// earlyLook is after how many values a dictionary is given up where many are
// different.
const earlyLook = 4 << 10

// numberInts numbers the values in enc.numbers and puts the numbers into
// enc.indices; false where a dictionary would be too large.
func (c *chunk) numberInts(values []int64) bool {
	indices, most := grow(&c.enc.indices, len(values)), worthwhile(len(values))
	c.enc.numbers.reset()
	last, number := values[0]+1, uint32(0)
	for i, v := range values {
		if i == earlyLook && len(c.enc.numbers.values) > earlyLook/2 {
			return false // not worth the rest
		}
		if v != last {
			number = c.enc.numbers.of(v)
			if int(number) >= most {
				return false
			}
			last = v
		}
		indices[i] = number
	}
	return true
}

// writeTexts writes texts that are already numbered. The file's dictionary
// holds those in use, in the order of their first row, so that it depends on
// nothing but the rows.
func (c *chunk) writeTexts(v *Vector) (stats metadata.EncodedStatistics, err error) {
	enc := c.enc
	if len(v.Dict) == 1 && c.column.Dictionary {
		return c.writeConstantText(v.Dict[0])
	}
	if c.column.Dictionary && allSame(v.Through) {
		return c.writeConstantText(v.Dict[v.Through[0]])
	}
	indices, used := c.numberTexts(v)
	if len(used) == 1 && c.column.Dictionary {
		return c.writeConstantText(v.Dict[used[0]])
	}
	if len(used) > maxEntries || len(used) > 64 && len(used) > c.rows/2 || !c.column.Dictionary {
		return stats, c.eachPage(nil, parquet.Encodings.Plain, func(from, to int) {
			for _, i := range indices[from:to] {
				enc.page = appendText(enc.page, v.Dict[used[i]])
			}
		})
	}
	enc.plain = enc.plain[:0]
	for _, entry := range used {
		enc.plain = appendText(enc.plain, v.Dict[entry])
	}
	if err := c.writeDictionary(len(used)); err != nil {
		return stats, err
	}
	if !c.column.Late {
		least, greatest := minMaxText(v.Dict, used)
		if len(least) <= maxStatText && len(greatest) <= maxStatText {
			stats.SetMin([]byte(least)).SetMax([]byte(greatest)).SetNullCount(0)
		}
	}
	return stats, c.writeIndices(nil, widthOf(len(used)))
}

// allSame reports whether there are numbers, and all of them the same.
func allSame(numbers []uint32) bool {
	return len(numbers) > 0 && !slices.ContainsFunc(numbers, func(n uint32) bool { return n != numbers[0] })
}

// numberTexts numbers the texts of the rows in the order in which they come,
// and tells which entry of the vector's dictionary each number is.
func (c *chunk) numberTexts(v *Vector) (indices, used []uint32) {
	enc := c.enc
	indices, used = grow(&enc.indices, c.rows), enc.entries[:0]
	local := enc.unnumbered(len(v.Dict))
	if v.Through == nil {
		for i := range indices {
			entry := v.Index[c.row(i)]
			if local[entry] < 0 {
				local[entry] = int32(len(used))
				used = append(used, entry)
			}
			indices[i] = uint32(local[entry])
		}
		enc.entries = used
		return indices, used
	}
	through := grow(&enc.through, len(v.Through))
	for at, entry := range v.Through {
		if local[entry] < 0 {
			local[entry] = int32(len(used))
			used = append(used, entry)
		}
		through[at] = uint32(local[entry])
	}
	for i, at := range v.Index[:c.rows] {
		indices[i] = through[at]
	}
	enc.entries = used
	return indices, used
}

// unnumbered gives n numbers that are not given yet.
func (enc *Encoder) unnumbered(n int) []int32 {
	local := grow(&enc.local, n)
	for i := range local {
		local[i] = -1
	}
	return local
}

func (c *chunk) writeConstantText(text string) (stats metadata.EncodedStatistics, err error) {
	c.enc.plain = appendText(c.enc.plain[:0], text)
	if err := c.writeDictionary(1); err != nil {
		return stats, err
	}
	if !c.column.Late && len(text) <= maxStatText {
		stats.SetMin([]byte(text)).SetMax([]byte(text)).SetNullCount(0)
	}
	return stats, c.writeRuns()
}

// row gives the place of row i.
func (c *chunk) row(i int) uint32 {
	if c.order == nil {
		return uint32(i)
	}
	return c.order[i]
}

// writeBytes writes texts that stand one after another, without a dictionary.
func (c *chunk) writeBytes(v *Vector) (metadata.EncodedStatistics, error) {
	enc := c.enc
	return metadata.EncodedStatistics{}, c.eachPage(nil, parquet.Encodings.Plain, func(from, to int) {
		for i := from; i < to; i++ {
			row, start := c.row(i), uint32(0)
			if row > 0 {
				start = v.Ends[row-1]
			}
			text := v.Bytes[start:v.Ends[row]]
			enc.page = binary.LittleEndian.AppendUint32(enc.page, uint32(len(text)))
			enc.page = append(enc.page, text...)
		}
	})
}

func (c *chunk) writeWide(v *Vector) (stats metadata.EncodedStatistics, err error) {
	values, levels := c.gatherWide(v)
	if len(values) > 0 {
		least, greatest := values[0], values[0]
		for _, v := range values {
			if v.less(least) {
				least = v
			}
			if greatest.less(v) {
				greatest = v
			}
		}
		stats.SetMin(least.append(nil)).SetMax(greatest.append(nil))
	}
	stats.SetNullCount(int64(c.rows - len(values)))
	return stats, c.eachPage(levels, parquet.Encodings.Plain, func(from, to int) {
		at := len(c.enc.page)
		c.enc.page = slices.Grow(c.enc.page, wideBytes*(to-from))[:at+wideBytes*(to-from)]
		for i, v := range values[from:to] {
			v.put(c.enc.page[at+wideBytes*i:])
		}
	})
}

// gatherWide is gather for a column of decimals, which stand in order.
func (c *chunk) gatherWide(v *Vector) (values []Int128, levels []uint32) {
	given := v.Wide[:c.rows]
	if !c.column.Nullable || !slices.Contains(v.Ints[:c.rows], c.column.Null) {
		return given, nil
	}
	values, levels = grow(&c.enc.wide, c.rows), grow(&c.enc.levels, c.rows)
	n := 0
	for i := range given {
		values[n], levels[i] = given[i], 0
		if v.Ints[i] != c.column.Null {
			levels[i] = 1
			n++
		}
	}
	return values[:n], levels
}

// writeIndices writes the pages of a column with a dictionary from
// enc.indices, which holds one index for each value that is not NULL.
func (c *chunk) writeIndices(levels []uint32, width int) error {
	return c.eachPage(levels, parquet.Encodings.RLEDict, func(from, to int) {
		c.enc.page = appendHybrid(append(c.enc.page, byte(width)), c.enc.indices[from:to], width)
	})
}

// eachPage cuts the rows into pages. fill appends the encoded values from …
// to, counted without NULLs, to enc.page. There are levels where some are NULL.
func (c *chunk) eachPage(levels []uint32, encoding parquet.Encoding, fill func(from, to int)) error {
	enc, from := c.enc, 0
	for start := 0; start < c.rows; start += c.table.PageRows {
		n := min(c.table.PageRows, c.rows-start)
		to := from + n
		enc.page = enc.page[:0]
		if c.column.Nullable {
			enc.page = append(enc.page, 0, 0, 0, 0)
			if levels == nil {
				enc.page = appendRun(enc.page, n, 1, 1)
			} else {
				page := levels[start : start+n]
				enc.page = appendHybrid(enc.page, page, 1)
				to = from
				for _, l := range page {
					to += int(l)
				}
			}
			binary.LittleEndian.PutUint32(enc.page, uint32(len(enc.page)-4))
		}
		fill(from, to)
		if err := c.writePage(n, encoding); err != nil {
			return err
		}
		from = to
	}
	return nil
}

func (c *chunk) writePage(rows int, encoding parquet.Encoding) error {
	data := c.compress(c.enc.page)
	if c.info.DataPageOffset == 0 {
		c.info.DataPageOffset = c.out.at
	}
	c.writeRaw(appendDataPageHeader(c.enc.header[:0], rows, len(c.enc.page), data, encoding), data, len(c.enc.page))
	c.info.NumValues += int64(rows)
	c.encodings.DataEncodingStats[encoding]++
	return c.out.err
}

// writeDictionary writes enc.plain as the dictionary page.
func (c *chunk) writeDictionary(entries int) error {
	c.dictionary = true
	data := c.compress(c.enc.plain)
	c.info.DictPageOffset = c.out.at
	c.writeRaw(appendDictionaryPageHeader(c.enc.header[:0], entries, len(c.enc.plain), data, c.column.Late), data, len(c.enc.plain))
	c.encodings.DictEncodingStats[parquet.Encodings.Plain]++
	if c.column.Late && entries == 1 {
		length := len(c.enc.plain)
		if c.column.Kind == Text {
			length -= 4
		}
		c.late = append(c.late, LateValue{c.position, c.out.at - int64(length), length})
	}
	return c.out.err
}

func (c *chunk) compress(data []byte) []byte {
	if !c.column.compressed() {
		return data
	}
	c.enc.compressed = c.enc.zstd.EncodeAll(data, c.enc.compressed[:0])
	return c.enc.compressed
}

func (c *chunk) writeRaw(header, data []byte, uncompressed int) {
	c.enc.header = header
	c.out.write(header)
	c.out.write(data)
	c.info.CompressedSize += int64(len(header) + len(data))
	c.info.UncompressedSize += int64(len(header) + uncompressed)
}

func appendText(dst []byte, text string) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(text))), text...)
}

func minMax(values []int64, unsigned bool) (least, greatest int64) {
	least, greatest = values[0], values[0]
	if unsigned {
		for _, v := range values {
			least = int64(min(uint64(least), uint64(v)))
			greatest = int64(max(uint64(greatest), uint64(v)))
		}
		return least, greatest
	}
	for _, v := range values {
		least, greatest = min(least, v), max(greatest, v)
	}
	return least, greatest
}

func (a Int128) less(b Int128) bool {
	return a.High < b.High || a.High == b.High && a.Low < b.Low
}

// wideBytes is the length of a decimal in a file.
const wideBytes = 16

func (a Int128) put(dst []byte) {
	binary.BigEndian.PutUint64(dst[:8], uint64(a.High))
	binary.BigEndian.PutUint64(dst[8:wideBytes], a.Low)
}

func (a Int128) append(dst []byte) []byte {
	var b [wideBytes]byte
	a.put(b[:])
	return append(dst, b[:]...)
}

// grow gives n elements of a scratch slice, their values left over.
func grow[T any](s *[]T, n int) []T {
	if cap(*s) < n {
		*s = make([]T, n, n+n/4)
	}
	*s = (*s)[:n]
	return *s
}

// bytesOf shows integers as the bytes that Parquet's PLAIN encoding has them
// in: little-endian, as all machines that this program is built for keep them
// (littleEndian is checked by a test).
func bytesOf(values []int64) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 8*len(values))
}
