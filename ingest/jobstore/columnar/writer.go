package columnar

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"sort"

	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/klauspost/compress/zstd"
)

const magic = "PAR1"

// Encoder holds the buffers and the compressor that writing needs. It may be
// used for one file after another, by one goroutine at a time.
type Encoder struct {
	zstd       *zstd.Encoder
	plain      []byte // the values of a page
	page       []byte // levels and values
	compressed []byte // the same, compressed
	header     []byte
	levels     []uint32 // of a page
	ints       []int64  // a row group's column in row order, without NULLs
	spread     []int64  // a row group's column that was indexed
	wide       []Int128 // the same of a column of decimals
	indices    []uint32 // into the dictionary, of a row group's column
	local      []int32  // by index in the vector's dictionary: in the file's
	through    []uint32 // by what leads there
	entries    []uint32 // the file's dictionary: indices in the vector's
	numbers    numberSet
}

// NewEncoder makes an encoder.
func NewEncoder() *Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(zstdLevel)),
		zstd.WithEncoderCRC(false), // a page has a checksum of its own
		zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic("BUG: zstd encoder: " + err.Error())
	}
	return &Encoder{zstd: z}
}

// Writer writes one file.
type Writer struct {
	table     *Table
	enc       *Encoder
	out       *sink
	footer    *metadata.FileMetaDataBuilder
	keyValues metadata.KeyValueMetadata
	rowGroups int
	rows      int64
	late      []LateValue
}

// LateValue is where the one value of a late column stands in a file.
type LateValue struct {
	Column int
	Offset int64
	Length int
}

// Create starts a file of the table on w. The errors of w are kept and told
// by WriteRowGroup and Close.
func (t *Table) Create(enc *Encoder, w io.Writer) *Writer {
	out := &sink{w: bufio.NewWriterSize(w, 256<<10)}
	out.write([]byte(magic))
	return &Writer{table: t, enc: enc, out: out,
		footer: metadata.NewFileMetadataBuilder(schema.NewSchema(t.root), t.props, nil)}
}

// SetMeta records a key and its value in the footer.
func (w *Writer) SetMeta(key, value string) {
	if err := w.keyValues.Append(key, value); err != nil {
		panic("BUG: metadata: " + err.Error())
	}
}

// WriteRowGroup writes the rows that order names, in its order, as one row
// group. There is one vector for each column of the table.
func (w *Writer) WriteRowGroup(vectors []Vector, order []uint32) (err error) {
	defer recovered(&err)
	checkRowGroup(w.table, vectors, len(order))
	group := w.footer.AppendRowGroup()
	start := w.out.at
	for i := range w.table.Columns {
		builder := group.NextColumnChunk()
		c := w.newChunk(i)
		stats, err := c.write(&vectors[i], len(order), order)
		if err != nil {
			return fmt.Errorf("column %s: %w", c.column.Name, err)
		}
		if stats.IsSet() {
			builder.SetStats(stats)
		}
		if err := builder.Finish(c.info, c.dictionary, false, c.encodings, nil); err != nil {
			return err
		}
	}
	group.SetNumRows(len(order))
	if err := group.Finish(w.out.at-start, int16(w.rowGroups)); err != nil {
		return err
	}
	w.rowGroups++
	w.rows += int64(len(order))
	return w.out.err
}

// Append writes bytes of the caller's own between the row groups and the
// footer, where Parquet readers do not look, and gives their offset. No row
// group may follow.
func (w *Writer) Append(data []byte) (offset int64) {
	offset = w.out.at
	w.out.write(data)
	return offset
}

// Size gives the bytes written so far; after Close, those of the file.
func (w *Writer) Size() int64 { return w.out.at }

// Rows gives the rows written so far.
func (w *Writer) Rows() int64 { return w.rows }

// Late gives the places of the late columns' values.
func (w *Writer) Late() []LateValue { return w.late }

// Close writes the footer. It does not close the underlying writer.
func (w *Writer) Close() (err error) {
	defer recovered(&err)
	w.SetMeta("hpcbill.table", w.table.Name)
	w.SetMeta("hpcbill.version", fmt.Sprint(w.table.Version))
	for _, kv := range w.keyValues {
		if err := w.footer.AppendKeyValueMetadata(kv.Key, kv.GetValue()); err != nil {
			return err
		}
	}
	footer, err := w.footer.Finish()
	if err != nil {
		return err
	}
	size, err := footer.WriteTo(w.out, nil)
	if err != nil {
		return err
	}
	w.out.write(binary.LittleEndian.AppendUint32(nil, uint32(size)))
	w.out.write([]byte(magic))
	if w.out.err == nil {
		w.out.err = w.out.w.Flush()
	}
	return w.out.err
}

// sink counts the bytes and keeps the first error: Arrow's writers drop some.
type sink struct {
	w   *bufio.Writer
	at  int64
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.at += int64(n)
	s.err = err
	return n, err
}

func (s *sink) write(p []byte) { _, _ = s.Write(p) } // the error is kept

func (s *sink) Tell() int64 { return s.at }

// recovered turns a panic of Arrow or of a codec into an error; our own bugs
// go on.
func recovered(err *error) {
	if r := recover(); r != nil {
		if text, ok := r.(string); ok && len(text) > 4 && text[:4] == "BUG:" {
			panic(r)
		}
		*err = fmt.Errorf("parquet: %v", r)
	}
}

// numberSet numbers the different values of a column of integers in the order
// in which they come.
type numberSet struct {
	slots  []int32 // position in values + 1
	values []int64
	shift  uint
}

const setSlots = 4 * maxEntries

func (s *numberSet) reset() {
	if s.slots == nil {
		s.slots = make([]int32, setSlots)
		s.shift = uint(64 - bits.Len(setSlots-1))
	} else if len(s.values) > fewValues {
		clear(s.slots)
	} else {
		// Each slot by itself, the last taken first: so those before it are
		// still found.
		for i := len(s.values) - 1; i >= 0; i-- {
			h := uint64(s.values[i]) * 0x9E3779B97F4A7C15 >> s.shift
			for s.slots[h] != int32(i+1) {
				h = (h + 1) & (setSlots - 1)
			}
			s.slots[h] = 0
		}
	}
	s.values = s.values[:0]
}

// fewValues are forgotten faster one by one than with all slots at once.
const fewValues = 1 << 10

// of gives the number of v. There may be maxEntries, and one more.
func (s *numberSet) of(v int64) uint32 {
	h := uint64(v) * 0x9E3779B97F4A7C15 >> s.shift
	for {
		switch at := s.slots[h]; {
		case at == 0:
			s.values = append(s.values, v)
			s.slots[h] = int32(len(s.values))
			return uint32(len(s.values) - 1)
		case s.values[at-1] == v:
			return uint32(at - 1)
		}
		h = (h + 1) & (setSlots - 1)
	}
}

// minMaxText gives the least and the greatest of some texts, compared as
// bytes, as Parquet compares UTF-8.
func minMaxText(dict []string, used []uint32) (least, greatest string) {
	texts := make([]string, len(used))
	for i, u := range used {
		texts[i] = dict[u]
	}
	sort.Strings(texts)
	return texts[0], texts[len(texts)-1]
}

// Set writes a late value into a file: the text, which must be as long as the
// one that stood for it, or, of a column of numbers, the number.
func (l LateValue) Set(w io.WriterAt, table *Table, text string, number int64) error {
	data := []byte(text)
	if kind := table.Columns[l.Column].Kind; kind != Text {
		if kind == Timestamp {
			number *= microsPerSecond
		}
		data = binary.LittleEndian.AppendUint64(nil, uint64(number))
	}
	if len(data) != l.Length {
		panic("BUG: a late value of another length")
	}
	_, err := w.WriteAt(data, l.Offset)
	return err
}
