package columnar

import (
	"bufio"
	"bytes"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// RowGroup is a row group that was encoded and does not stand in a file yet:
// so several goroutines, each with its Encoder, can work on one file. It may
// be used again.
type RowGroup struct {
	table   *Table
	rows    int
	bytes   bytes.Buffer
	columns []encodedColumn
	late    []LateValue
}

type encodedColumn struct {
	stats      metadata.EncodedStatistics
	info       metadata.ChunkMetaInfo
	dictionary bool
	encodings  metadata.EncodingStats
}

// where the offsets within a RowGroup begin: 0 stands for no offset.
const rowGroupStart = int64(len(magic))

// Encode replaces g by the first rows of the vectors, as they stand there, as
// Writer.WriteRowGroup would write them.
func (t *Table) Encode(enc *Encoder, g *RowGroup, vectors []Vector, rows int) (err error) {
	defer recovered(&err)
	checkRowGroup(t, vectors, rows)
	g.table, g.rows, g.columns = t, rows, g.columns[:0]
	g.bytes.Reset()
	w := &Writer{table: t, enc: enc, out: &sink{w: bufio.NewWriterSize(&g.bytes, 64<<10), at: rowGroupStart}}
	for i := range t.Columns {
		c := w.newChunk(i)
		stats, err := c.write(&vectors[i], rows, nil)
		if err != nil {
			return fmt.Errorf("column %s: %w", c.column.Name, err)
		}
		g.columns = append(g.columns, encodedColumn{stats, c.info, c.dictionary, c.encodings})
	}
	g.late = w.late
	return w.out.w.Flush()
}

func checkRowGroup(t *Table, vectors []Vector, rows int) {
	if rows == 0 || rows > RowGroupRows || len(vectors) != len(t.Columns) {
		panic(fmt.Sprintf("BUG: row group of %d rows, %d columns", rows, len(vectors)))
	}
}

// WriteEncoded writes a row group that was encoded before.
func (w *Writer) WriteEncoded(g *RowGroup) (err error) {
	defer recovered(&err)
	if g.table != w.table {
		panic("BUG: row group of another table")
	}
	group := w.footer.AppendRowGroup()
	shift := w.out.at - rowGroupStart
	for i := range g.columns {
		c := &g.columns[i]
		builder := group.NextColumnChunk()
		if c.stats.IsSet() {
			builder.SetStats(c.stats)
		}
		info := c.info
		info.DataPageOffset += shift
		if c.dictionary {
			info.DictPageOffset += shift
		}
		if err := builder.Finish(info, c.dictionary, false, c.encodings, nil); err != nil {
			return err
		}
	}
	for _, late := range g.late {
		late.Offset += shift
		w.late = append(w.late, late)
	}
	w.out.write(g.bytes.Bytes())
	group.SetNumRows(g.rows)
	if err := group.Finish(int64(g.bytes.Len()), int16(w.rowGroups)); err != nil {
		return err
	}
	w.rowGroups++
	w.rows += int64(g.rows)
	return w.out.err
}
