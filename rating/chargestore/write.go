package chargestore

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rating"
)

// Limits of what is held in memory, and of the row groups.
const (
	batchRows      = 128 << 10
	batchTextBytes = 32 << 20
	rowGroupRows   = 128 << 10
	// A group of more rows has row groups of its own; smaller ones share.
	// So this is what reading one group reads too much at most.
	sharedRows = 16 << 10
)

const temporaryName = "_charges.tmp"

// Write replaces the charges of a period ("2026-03") in dir by those of the
// outcomes, whole or not at all: until it has succeeded the old ones stand.
// The same outcomes in any order give the same bytes. Nothing of an outcome
// is kept beyond its step of the iteration. An error that is yielded ends it.
func Write(dir, period string, outcomes iter.Seq2[rating.Outcome, error]) error {
	w := writing{batchRows: batchRows, at: func(string) {}}
	if err := w.write(dir, period, outcomes); err != nil {
		return fmt.Errorf("write the charges of %s: %w", period, err)
	}
	return nil
}

// writing is one use of Write.
type writing struct {
	batchRows int
	at        func(step string) // called at each step; tests stop there

	period string
	spool  *spool
	counts map[string]int // rows of each group
}

func (w *writing) write(dir, period string, outcomes iter.Seq2[rating.Outcome, error]) (err error) {
	if err := checkPeriod(period); err != nil {
		return err
	}
	partition := partitionOf(dir, period)
	if err := os.MkdirAll(partition, 0o755); err != nil {
		return err
	}
	lock, err := lockDir(partition)
	if err != nil {
		return err
	}
	defer lock.Close()
	defer func() {
		if err != nil {
			_ = os.Remove(partition) // where it is empty: it was made in vain
		}
	}()
	w.period, w.counts = period, map[string]int{}
	if w.spool, err = newSpool(partition); err != nil {
		return err
	}
	defer w.spool.close()
	if err := w.collect(outcomes); err != nil {
		return err
	}
	temporary := filepath.Join(partition, temporaryName)
	if err := w.writeFile(temporary); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	w.at("written")
	if err := os.Rename(temporary, fileOf(dir, period)); err != nil {
		return err
	}
	return errors.Join(syncDir(partition), syncDir(dir))
}

// collect takes in the outcomes and spools them in sorted runs.
func (w *writing) collect(outcomes iter.Seq2[rating.Outcome, error]) error {
	b := newBatch()
	for o, err := range outcomes {
		if err != nil {
			return err
		}
		b.add(&o)
		if b.n >= w.batchRows || b.textBytes() >= batchTextBytes {
			if err := w.spoolBatch(b); err != nil {
				return err
			}
		}
	}
	return w.spoolBatch(b)
}

func (w *writing) spoolBatch(b *batch) error {
	if b.n == 0 {
		return nil
	}
	order, counts := b.sorted()
	for g, n := range counts {
		w.counts[strings.Clone(b.bundles[inGroup].texts[g])] += n
	}
	if err := w.spool.write(b, order); err != nil {
		return err
	}
	b.reset()
	return nil
}

// writeFile merges the runs into the file of the period.
func (w *writing) writeFile(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	out := chargesTable().Create(columnar.NewEncoder(), f)
	out.SetMeta("hpcbill.period", w.period)
	out.SetMeta("hpcbill.columns", descriptions())
	if err := w.writeRowGroups(out); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return f.Close()
}

func (w *writing) writeRowGroups(out *columnar.Writer) error {
	m, err := newMerge(w.spool)
	if err != nil {
		return err
	}
	b, vectors := newBatch(), make([]columnar.Vector, columnCount)
	var order []uint32
	for _, n := range rowGroups(w.counts) {
		if err := m.take(b, n); err != nil {
			return err
		}
		for len(order) < n {
			order = append(order, uint32(len(order)))
		}
		b.vectors(vectors)
		if err := out.WriteRowGroup(vectors, order[:n]); err != nil {
			return err
		}
	}
	return nil
}

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

func checkPeriod(period string) error {
	if !regexp.MustCompile(`^\d{4}-\d{2}$`).MatchString(period) {
		return fmt.Errorf("%q is not a period such as 2026-03", period)
	}
	return nil
}

func partitionOf(dir, period string) string { return filepath.Join(dir, "period="+period) }

func fileOf(dir, period string) string {
	return filepath.Join(partitionOf(dir, period), "charges-"+period+".parquet")
}

// ErrBusy is wrapped by the error of Write while another process writes the
// same period.
var ErrBusy = errors.New("another process is writing them")

// lockDir takes the writers' lock, which the process's death releases.
func lockDir(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", dir, ErrBusy)
		}
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return f, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
