package chargestore

import (
	"slices"
	"sync"

	"hpcbill/ingest/jobstore/columnar"
)

const (
	rowGroupRows = 64 << 10
	// A group of more rows has row groups of its own; smaller ones share.
	// So this is what reading one group reads too much at most.
	sharedRows = columnar.PageRows
)

// rowGroups cuts the sorted rows into row groups, by how many rows each group
// has and nothing else.
func rowGroups(counts map[string]int) []int {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	var sizes []int
	open := 0
	for _, name := range names {
		n := counts[name]
		if open > 0 && open+n > sharedRows {
			sizes, open = append(sizes, open), 0
		}
		for ; n > rowGroupRows; n -= rowGroupRows {
			sizes = append(sizes, rowGroupRows)
		}
		open += n
	}
	if open > 0 {
		sizes = append(sizes, open)
	}
	return sizes
}

// encoding is a row group being made of rows. There are a few, each used for
// one row group after another, so that the processor's cores have one each
// while the next rows are merged.
type encoding struct {
	table   *columnar.Table
	batch   *batch
	encoder *columnar.Encoder
	vectors []columnar.Vector
	texts   [columnCount]columnar.Texts
	codes   []uint32 // of a column, by the number of the combination
	index   [columnCount][]uint32
	zeros   []uint32
	order   []uint32
	group   columnar.RowGroup
	done    chan error // nil while it is idle
}

// how many row groups are in memory.
const encodings = 3

func (e *encoding) start(running *sync.WaitGroup) {
	e.done = make(chan error, 1)
	e.zeros = resized(e.zeros, e.batch.n)
	for len(e.order) < e.batch.n {
		e.order = append(e.order, uint32(len(e.order)))
	}
	running.Go(func() {
		e.fill()
		e.done <- e.table.Encode(e.encoder, &e.group, e.vectors, e.order[:e.batch.n])
	})
}

// finish waits for the row group, if there is one, and writes it.
func (e *encoding) finish(out *columnar.Writer) error {
	if e.done == nil {
		return nil
	}
	err := <-e.done
	e.done = nil
	if err != nil {
		return err
	}
	return out.WriteEncoded(&e.group)
}

// writeRowGroups merges the runs, and encodes and writes them in order.
func (w *writing) writeRowGroups(table *columnar.Table, out *columnar.Writer) error {
	m, err := newMerge(w.spool)
	if err != nil {
		return err
	}
	var all [encodings]*encoding
	for i := range all {
		all[i] = &encoding{table: table, batch: newBatch(), encoder: columnar.NewEncoder(), vectors: make([]columnar.Vector, columnCount)}
	}
	var running sync.WaitGroup
	defer running.Wait()
	sizes := rowGroups(w.counts)
	for i := range len(sizes) + encodings {
		e := all[i%encodings]
		if err := e.finish(out); err != nil {
			return err
		}
		if i < len(sizes) {
			if err := m.take(e.batch, sizes[i]); err != nil {
				return err
			}
			e.start(&running)
		}
	}
	return nil
}
