package columnar

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/stretchr/testify/require"
)

// earlierTable is testTable as its files were before numbers were packed
// differences: all columns but late ones are compressed.
func earlierTable() *Table {
	earlier := *testTable
	options := []parquet.WriterProperty{parquet.WithVersion(parquet.V2_LATEST), parquet.WithCreatedBy(maker), parquet.WithCompression(compress.Codecs.Zstd)}
	for _, c := range testTable.Columns {
		if c.Late {
			options = append(options, parquet.WithCompressionFor(c.Name, compress.Codecs.Uncompressed))
		}
	}
	earlier.props = parquet.NewWriterProperties(options...)
	return &earlier
}

// writeEarlier writes the one row group of a file as an earlier version did.
func writeEarlier(t require.TestingT, from *File, name string) {
	f, err := os.Create(name)
	require.NoError(t, err)
	w := earlierTable().Create(NewEncoder(), f)
	group, start := w.footer.AppendRowGroup(), w.out.at
	for position := range from.table.Columns {
		builder, c := group.NextColumnChunk(), w.newChunk(position)
		writeEarlierPages(t, from, c)
		stats, err := from.statisticsWithout(position, nil, &extremes{})
		require.NoError(t, err)
		if stats.IsSet() {
			builder.SetStats(stats)
		}
		require.NoError(t, builder.Finish(c.info, c.dictionary, false, c.encodings, nil))
	}
	w.rows = from.Rows()
	group.SetNumRows(int(w.rows))
	require.NoError(t, group.Finish(w.out.at-start, 0))
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
}

// writeEarlierPages writes the pages of a column: their headers have no
// checksum, numbers stand as they are, and all is compressed.
func writeEarlierPages(t require.TestingT, from *File, c *chunk) {
	source, err := from.columnPages(0, c.position)
	require.NoError(t, err)
	for source.offset < source.end {
		h, err := source.header()
		require.NoError(t, err)
		data, err := source.payload(h)
		require.NoError(t, err)
		data, err = source.decompress(h, data)
		require.NoError(t, err)
		if h.encoding == parquet.Encodings.DeltaBinaryPacked {
			data, h.encoding = earlierNumbers(t, c.column, data, h.values), parquet.Encodings.Plain
		}
		stands := data
		if !c.column.Late {
			stands = c.enc.zstd.EncodeAll(data, nil)
		}
		header := appendPageStart(nil, h.kind, len(data), len(stands))
		if h.kind == dictionaryPage {
			c.dictionary, c.info.DictPageOffset = true, c.out.at
			c.encodings.DictEncodingStats[h.encoding]++
			header = append(appendI32(appendI32(append(header, 4<<4|thriftStruct), h.values), int(h.encoding)), 1<<4|thriftFalse)
		} else {
			if c.info.DataPageOffset == 0 {
				c.info.DataPageOffset = c.out.at
			}
			c.info.NumValues += int64(h.values)
			c.encodings.DataEncodingStats[h.encoding]++
			header = appendI32(appendI32(append(header, 2<<4|thriftStruct), h.values), int(h.encoding))
			header = appendI32(appendI32(header, int(parquet.Encodings.RLE)), int(parquet.Encodings.RLE))
		}
		c.writeRaw(append(header, thriftStop, thriftStop), stands, len(data))
	}
}

// earlierNumbers is a page of packed differences with the numbers as they are.
func earlierNumbers(t require.TestingT, column *Column, data []byte, rows int) (page []byte) {
	values := rows
	if column.Nullable {
		levels, rest, err := readLevels(make([]uint32, rows), data)
		require.NoError(t, err)
		page, data, values = append(page, data[:len(data)-len(rest)]...), rest, 0
		for _, level := range levels {
			values += int(level)
		}
	}
	numbers := make([]int64, values)
	require.NoError(t, decodeDelta(numbers, data))
	for _, n := range numbers {
		page = binary.LittleEndian.AppendUint64(page, uint64(n))
	}
	return page
}

// Files of earlier versions are read, by Arrow too: what is made of them here
// is what they were.
func TestEarlierFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	n := 2*PageRows + 5
	vectors := rows(n)
	write(t, filepath.Join(dir, "now"), vectors, inOrder(n))
	now, earlier := open(t, filepath.Join(dir, "now")), filepath.Join(dir, "earlier")
	writeEarlier(t, now, earlier)
	f := open(t, earlier)
	requireSame(t, vectors, inOrder(n), f, 0)
	require.Equal(t, vectors[plain].Ints, arrowInts(t, earlier, n))
	for position := range testTable.Columns {
		pages, err := f.columnPages(0, position)
		require.NoError(t, err)
		require.Equal(t, !testTable.Columns[position].Late, pages.compressed)
		h, err := pages.peek()
		require.NoError(t, err)
		require.False(t, h.summed)
		require.NotEqual(t, parquet.Encodings.DeltaBinaryPacked, h.encoding)
	}
}
