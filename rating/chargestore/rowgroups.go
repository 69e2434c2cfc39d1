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

// rowGroups cuts the rows of all groups, sorted, into row groups, by how many
// rows each group has and nothing else.
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
// while the next rows are taken in.
type encoding struct {
	table    *columnar.Table
	encoder  *columnar.Encoder
	intake   *intake
	segments []segment // where the rows lie
	places   []uint32  // those of the segments
	rows     columns   // the rows, put together
	vectors  []columnar.Vector
	exact    combinations
	commons  []common
	odds     []odd
	spans    []span
	shapes   []shape
	counts   [codeCount]int        // of the different numbers of each code
	through  [columnCount][]uint32 // from a combination to the text of a column
	local    []uint32              // by a code: the number in the row group + 1
	used     []uint32              // and back
	group    columnar.RowGroup
	done     chan error // nil while it is idle
}

func (e *encoding) start(running *sync.WaitGroup) {
	e.done = make(chan error, 1)
	running.Go(func() {
		e.make()
		e.done <- e.table.Encode(e.encoder, &e.group, e.vectors, e.rows.n)
	})
}

// rowGroupWriter encodes row groups side by side and writes them in the order
// in which they were given.
type rowGroupWriter struct {
	out     *columnar.Writer
	all     [encodings]*encoding
	next    int
	running sync.WaitGroup
}

// how many row groups are being made at once.
const encodings = 3

func newRowGroupWriter(table *columnar.Table, out *columnar.Writer) *rowGroupWriter {
	w := &rowGroupWriter{out: out}
	for i := range w.all {
		w.all[i] = &encoding{table: table, encoder: columnar.NewEncoder(), vectors: make([]columnar.Vector, columnCount)}
	}
	return w
}

// write begins a row group of rows of the intake. Those themselves are read
// later.
func (w *rowGroupWriter) write(in *intake, rows []place) error {
	e := w.all[w.next]
	w.next = (w.next + 1) % encodings
	if err := w.settle(e); err != nil {
		return err
	}
	e.set(in, rows)
	e.start(&w.running)
	return nil
}

// settle waits for a row group, if there is one, and writes it.
func (w *rowGroupWriter) settle(e *encoding) error {
	if e.done == nil {
		return nil
	}
	err := <-e.done
	e.done = nil
	for _, s := range e.segments {
		s.block.readers--
		e.intake.release(s.block)
	}
	if err != nil {
		return err
	}
	return w.out.WriteEncoded(&e.group)
}

// settleReady writes the row groups that are made by now, so that the blocks they
// were made from become free.
func (w *rowGroupWriter) settleReady() error {
	for i := range encodings {
		e := w.all[(w.next+i)%encodings]
		if e.done == nil {
			continue
		}
		if len(e.done) == 0 {
			return nil
		}
		if err := w.settle(e); err != nil {
			return err
		}
	}
	return nil
}

// finish writes the row groups that are still being made.
func (w *rowGroupWriter) finish() error {
	for range encodings {
		if err := w.settle(w.all[w.next]); err != nil {
			return err
		}
		w.next = (w.next + 1) % encodings
	}
	return nil
}

// wait waits until no goroutine works any more.
func (w *rowGroupWriter) wait() { w.running.Wait() }
