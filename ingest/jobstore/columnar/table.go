// Package columnar writes and reads flat tables as Parquet files, through
// Arrow's pages, metadata and codecs.
//
// It is the only package that knows Arrow. It writes the few encodings that
// engines read (PLAIN, dictionaries with run lengths, and packed differences),
// and reads only files that it wrote itself: a file of another maker is
// refused, and a damaged one is an error, never an empty table. No clock and no
// map order reaches a file: the same rows give the same bytes.
package columnar

import (
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"github.com/klauspost/compress/zstd"
)

// Kind is the type of a column.
type Kind uint8

// The kinds of columns.
const (
	Int64     Kind = iota // INT64
	Uint64                // INT64 annotated as unsigned; Vector.Ints holds the bits
	Timestamp             // INT64 of microseconds, UTC; Vector.Ints holds seconds since 1970
	Text                  // BYTE_ARRAY, UTF-8
	Decimal               // FIXED_LEN_BYTE_ARRAY(16), DECIMAL(38, Scale)
)

// Column describes one column of a Table.
type Column struct {
	Name string
	Kind Kind

	// Nullable columns of numbers hold NULL where Vector.Ints is Null; for a
	// Decimal, Ints stands beside Wide for this alone, and what is read has
	// Null there, or something else.
	Nullable bool
	Null     int64

	// Dictionary asks for a dictionary, which is given up where a row group
	// has too many different values. Numbers without one are written as
	// differences, so that those that follow one another should be near.
	Dictionary bool

	Scale int // of a Decimal

	// Late columns have one value in the whole file that may be set after
	// the file was written, by LateValue.Set. They have a dictionary, and
	// neither statistics nor a checksum.
	Late bool
}

// Limits of the files.
const (
	PageRows     = 16 << 10  // rows of a page where a table says nothing else
	RowGroupRows = 256 << 10 // rows of a row group at most
	maxEntries   = 64 << 10  // different values in a dictionary at most
	zstdLevel    = 1
	maker        = "hpcbill version 1.0.0 (build parquet)"
)

// Table is the shape of a kind of file. It is immutable and may be shared.
type Table struct {
	Name    string // "jobs"
	Version int    // of the columns: rises when they change
	Columns []Column

	// PageRows is the rows of a page, the same in every column: what is read
	// for one row, and written again where one is left out.
	PageRows int

	zstd  *zstd.Decoder
	root  *schema.GroupNode
	props *parquet.WriterProperties
	index map[string]int
}

// NewTable makes a table of the columns given, in this order, with pages of
// pageRows rows. Files with other pages can be read as well.
func NewTable(name string, version, pageRows int, columns []Column) *Table {
	t := &Table{Name: name, Version: version, Columns: columns, PageRows: pageRows, index: map[string]int{}}
	fields := make(schema.FieldList, len(columns))
	options := []parquet.WriterProperty{
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithCreatedBy(maker),
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCompressionLevel(zstdLevel),
	}
	for i, c := range columns {
		fields[i] = c.node()
		t.index[c.Name] = i
		if !c.compressed() {
			options = append(options, parquet.WithCompressionFor(c.Name, compress.Codecs.Uncompressed))
		}
	}
	root, err := schema.NewGroupNode(name, parquet.Repetitions.Required, fields, -1)
	if err != nil {
		panic(fmt.Sprintf("BUG: table %s: %v", name, err))
	}
	t.root, t.props = root, parquet.NewWriterProperties(options...)
	if t.zstd, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxPageBytes)); err != nil {
		panic("BUG: zstd decoder: " + err.Error())
	}
	return t
}

// Index gives the position of a column, or -1.
func (t *Table) Index(name string) int {
	if i, ok := t.index[name]; ok {
		return i
	}
	return -1
}

// compressed reports whether a column's pages are. Numbers are not, since they
// hardly shrink once they are packed; nor is what may be set later.
func (c Column) compressed() bool { return !c.Late && (c.Kind == Text || c.Kind == Decimal) }

func (c Column) node() schema.Node {
	repetition := parquet.Repetitions.Required
	if c.Nullable {
		repetition = parquet.Repetitions.Optional
	}
	physical, length := parquet.Types.Int64, -1
	var logical schema.LogicalType
	switch c.Kind {
	case Int64:
		return schema.NewInt64Node(c.Name, repetition, -1)
	case Uint64:
		logical = schema.NewIntLogicalType(64, false)
	case Timestamp:
		logical = schema.NewTimestampLogicalType(true, schema.TimeUnitMicros)
	case Text:
		physical, logical = parquet.Types.ByteArray, schema.StringLogicalType{}
	case Decimal:
		physical, length = parquet.Types.FixedLenByteArray, wideBytes
		logical = schema.NewDecimalLogicalType(38, int32(c.Scale))
	}
	node, err := schema.NewPrimitiveNodeLogical(c.Name, repetition, logical, physical, length, -1)
	if err != nil {
		panic(fmt.Sprintf("BUG: column %s: %v", c.Name, err))
	}
	return node
}

// Vector is the values of one column. Which fields are used depends on the
// column's kind.
type Vector struct {
	// Ints holds Int64, Uint64 (as bits) and Timestamp (as seconds). To be written
	// they may be Ints[Index[i]]: the same holds for Ints then as for Through.
	Ints []int64

	// Wide holds Decimal, the unscaled number in two's complement. Ints says
	// which are NULL. To be written, both are of the rows that are asked for
	// alone, in their order.
	Wide []Int128

	// Text is either Dict[Index[i]], or Bytes from Ends[i-1] (0 for the first)
	// to Ends[i]. To be written it may be Dict[Through[Index[i]]], so that
	// columns whose texts come together share one Index. That is then of the rows
	// that are asked for alone, in their order, and so is Through: each entry is
	// in use, those of earlier rows first.
	Index   []uint32
	Through []uint32
	Dict    []string
	Ends    []uint32
	Bytes   []byte
}

// Int128 is a number of 128 bits in two's complement.
type Int128 struct {
	High int64
	Low  uint64
}
