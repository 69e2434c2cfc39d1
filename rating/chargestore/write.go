package chargestore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rating"
)

const (
	manifestName = "_manifest.json"
	lockName     = "_lock"

	// batchRows is how many rows are sorted in memory, and stand in one file.
	batchRows = 256 << 10
	// groupRows is how many rows a row group has: what reading one group reads
	// of a file at least.
	groupRows = columnar.PageRows
)

// manifest lists the files of a period. A period without one was never
// written whole.
type manifest struct {
	Version int        `json:"version"`
	Rows    int64      `json:"rows"`
	Files   []fileInfo `json:"files"`
}

type fileInfo struct {
	Name  string `json:"name"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

var periodForm = regexp.MustCompile(`^\d{4}-\d{2}$`)

// Write replaces the charges of a period ("2026-03") in dir by those of the
// outcomes, whole: until it has succeeded the old ones stand. The outcomes'
// memory is not kept beyond each step of the iteration. An error that the
// outcomes yield ends it.
func Write(dir, period string, outcomes iter.Seq2[rating.Outcome, error]) error {
	if !periodForm.MatchString(period) {
		return fmt.Errorf("write charges: %q is not a period such as 2026-03", period)
	}
	w := &writer{dir: dir, period: period, table: chargesTable(), free: make(chan *batch, 2), full: make(chan *batch), done: make(chan error, 1)}
	if err := w.write(outcomes); err != nil {
		return fmt.Errorf("write charges of %s: %w", period, err)
	}
	return nil
}

// writer fills one batch while another is being written.
type writer struct {
	dir, period string
	table       *columnar.Table
	manifest    manifest

	free, full chan *batch
	done       chan error
}

func (w *writer) write(outcomes iter.Seq2[rating.Outcome, error]) error {
	if err := os.MkdirAll(w.dir, 0o755); err != nil {
		return err
	}
	lock, err := lockDir(w.dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := recoverPeriod(w.dir, w.period); err != nil {
		return err
	}
	if err := os.Mkdir(w.temporary(), 0o755); err != nil {
		return err
	}
	err = w.fill(outcomes)
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(w.temporary()))
	}
	return nil
}

// fill takes in the outcomes and has them written.
func (w *writer) fill(outcomes iter.Seq2[rating.Outcome, error]) error {
	w.free <- newBatch()
	w.free <- newBatch()
	go w.writeBatches()
	err := w.collect(outcomes)
	close(w.full)
	return errors.Join(err, <-w.done)
}

func (w *writer) collect(outcomes iter.Seq2[rating.Outcome, error]) error {
	b := <-w.free
	for o, err := range outcomes {
		if err == nil {
			err = b.add(&o)
		}
		if err != nil {
			return err
		}
		if b.n >= batchRows {
			w.full <- b
			b = <-w.free
		}
	}
	if b.n > 0 {
		w.full <- b
	}
	return nil
}

// writeBatches writes a file for each batch. After an error it only takes
// them.
func (w *writer) writeBatches() {
	var failed error
	enc := columnar.NewEncoder()
	for b := range w.full {
		if failed == nil {
			failed = w.writeFile(enc, b)
		}
		b.reset()
		w.free <- b
	}
	w.done <- failed
}

func (w *writer) writeFile(enc *columnar.Encoder, b *batch) error {
	name := fmt.Sprintf("part-%05d.parquet", len(w.manifest.Files))
	f, err := os.Create(filepath.Join(w.temporary(), name))
	if err != nil {
		return err
	}
	defer f.Close()
	out := w.table.Create(enc, f)
	out.SetMeta("hpcbill.period", w.period)
	vectors := b.vectors()
	for order := b.byGroup(); len(order) > 0; {
		n := min(groupRows, len(order))
		if err := out.WriteRowGroup(vectors, order[:n]); err != nil {
			return err
		}
		order = order[n:]
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	w.manifest.Files = append(w.manifest.Files, fileInfo{name, out.Rows(), out.Size()})
	w.manifest.Rows += out.Rows()
	return f.Close()
}

// finish puts the new directory in the place of the old one.
func (w *writer) finish() error {
	w.manifest.Version = schemaVersion
	data, err := json.MarshalIndent(w.manifest, "", "\t")
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(w.temporary(), manifestName))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(append(data, '\n')); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := syncDir(w.temporary()); err != nil {
		return err
	}
	final, old := periodDir(w.dir, w.period), replacedDir(w.dir, w.period)
	if err := os.Rename(final, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(w.temporary(), final); err != nil {
		return errors.Join(err, recoverPeriod(w.dir, w.period))
	}
	if err := syncDir(w.dir); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

func (w *writer) temporary() string { return filepath.Join(w.dir, "_writing-"+w.period) }

func periodDir(dir, period string) string { return filepath.Join(dir, "period="+period) }

func replacedDir(dir, period string) string { return filepath.Join(dir, "_replaced-"+period) }

// recoverPeriod undoes a Write that was killed: between its two renames, the
// old directory is put back; else its leavings are cleared. The caller holds
// the lock.
func recoverPeriod(dir, period string) error {
	final, old := periodDir(dir, period), replacedDir(dir, period)
	if _, err := os.Stat(final); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(old, final); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return errors.Join(os.RemoveAll(old), os.RemoveAll(filepath.Join(dir, "_writing-"+period)))
}

// ErrBusy is wrapped by the error of Write while another process writes
// charges.
var ErrBusy = errors.New("another process is writing charges")

func lockDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", dir, ErrBusy)
		}
		return nil, err
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
