package chargestore

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rating"
)

const temporaryName = "_charges.tmp"

// Write replaces the charges of a period ("2026-03") in dir by those of the
// outcomes, whole or not at all: until it has succeeded the old ones stand.
// The same outcomes in the same order give the same bytes. The job and the
// charges of an outcome may be overwritten as soon as its step of the iteration
// is over. An error that is yielded ends it.
func Write(dir, period string, outcomes iter.Seq2[rating.Outcome, error]) error {
	return WriteRows(dir, period, rowsOfOutcomes(outcomes))
}

// WriteRows is Write for outcomes that were made rows already. The same rows in
// the same order give the same bytes, however many come at once. Rows may be
// used again as soon as their step of the iteration is over.
func WriteRows(dir, period string, rows iter.Seq2[*Rows, error]) error {
	w := writing{keptRows: keptRows, keptTextBytes: keptTextBytes, at: func(string) {}}
	if err := w.write(dir, period, rows); err != nil {
		return fmt.Errorf("write the charges of %s: %w", period, err)
	}
	return nil
}

// rowsOfOutcomes makes rows of outcomes, some at a time.
func rowsOfOutcomes(outcomes iter.Seq2[rating.Outcome, error]) iter.Seq2[*Rows, error] {
	const many = 1 << 10
	return func(yield func(*Rows, error) bool) {
		rows := NewLexicon().NewRows()
		for o, err := range outcomes {
			if err == nil {
				err = rows.Add(&o)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if rows.Len() >= many {
				if !yield(rows, nil) {
					return
				}
				rows.Reset()
			}
		}
		yield(rows, nil)
	}
}

// writing is one use of Write.
type writing struct {
	keptRows      int               // see the constants
	keptTextBytes int               // likewise
	at            func(step string) // called at each step; tests stop there

	period string
}

func (w *writing) write(dir, period string, rows iter.Seq2[*Rows, error]) (err error) {
	if err := checkPeriod(period); err != nil {
		return err
	}
	partition := partitionOf(dir, period)
	if err := os.MkdirAll(partition, 0o755); err != nil {
		return err
	}
	locked, err := lock(dir, period)
	if err != nil {
		return err
	}
	defer locked.Close()
	defer func() {
		if err != nil {
			_ = os.Remove(partition) // where it is empty: it was made in vain
		}
	}()
	w.period = period
	temporary := filepath.Join(partition, temporaryName)
	if err = w.writeFile(temporary, rows); err == nil {
		w.at("written")
		err = os.Rename(temporary, fileOf(dir, period))
	}
	if err != nil {
		if failed := os.Remove(temporary); !errors.Is(failed, fs.ErrNotExist) {
			err = errors.Join(err, failed)
		}
		return err
	}
	return errors.Join(syncDir(partition), syncDir(dir))
}

// writeFile makes the file of the period.
func (w *writing) writeFile(name string, rows iter.Seq2[*Rows, error]) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	table := chargesTable()
	out := table.Create(columnar.NewEncoder(), &earlyFile{File: f})
	out.SetMeta("hpcbill.period", w.period)
	out.SetMeta("hpcbill.columns", descriptions())
	if err := w.collect(newRowGroupWriter(table, out), rows); err != nil {
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
