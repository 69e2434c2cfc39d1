package jobstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// Store is the dataset of jobs in one directory. Its methods may be used by
// several goroutines, but for Begin and Compact, of which one may be under
// way at a time, in this and in every other process.
type Store struct {
	dir   string
	table *columnar.Table

	// partRows is maxPartRows, or less in tests.
	partRows int

	// at is called at each step of a commit, one at a time; tests stop there.
	at    func(step string)
	steps sync.Mutex

	// sync brings a file's bytes to the disk; tests that kill no machine do
	// without.
	sync func(*os.File) error
}

// How often, and after which pause, a reader looks again while another
// process is finishing a commit.
const (
	commitTries = 6000
	commitPause = 5 * time.Millisecond
)

// ErrBusy is wrapped by the error of Begin and Compact while another process
// writes to the store.
var ErrBusy = errors.New("another ingest is under way")

// Open opens the store in dir, which need not exist yet. An ingest that was
// committed, but not finished when it was killed, is finished first; nothing
// else is written.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, table: jobsTable(), partRows: maxPartRows, at: func(string) {}, sync: (*os.File).Sync}
	if err := s.settle(); err != nil {
		return nil, fmt.Errorf("open job store: %w", err)
	}
	return s, nil
}

func (s *Store) step(name string) {
	s.steps.Lock()
	defer s.steps.Unlock()
	s.at(name)
}

// settle finishes a commit that was left half-way, or waits for the process
// that is at it.
func (s *Store) settle() error {
	for tries := 1; s.exists(journalName); tries++ {
		lock, err := s.lock()
		if err == nil {
			err = s.rollForward()
			lock.release()
			return err
		}
		if !errors.Is(err, ErrBusy) {
			return fmt.Errorf("finish an interrupted ingest: %w", err)
		}
		if tries == commitTries {
			return err
		}
		time.Sleep(commitPause)
	}
	return nil
}

func (s *Store) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *Store) exists(name string) bool {
	_, err := os.Lstat(s.path(name))
	return err == nil
}

// lock takes the writers' lock, which the process's death releases.
func (s *Store) lock() (*fileLock, error) {
	f, err := os.OpenFile(s.path(lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &BusyError{Dir: s.dir}
		}
		return nil, fmt.Errorf("lock %s: %w", s.path(lockName), err)
	}
	return &fileLock{f}, nil
}

// fileLock is a lock that is held.
type fileLock struct{ f *os.File }

// release gives the lock back. Closing the file alone would leave it to a
// child process that has been forked and not yet started its program.
func (l *fileLock) release() {
	_ = syscall.Flock(int(l.f.Fd()), syscall.LOCK_UN)
	l.f.Close()
}

// BusyError says that another process writes to the store.
type BusyError struct{ Dir string }

func (e *BusyError) Error() string { return fmt.Sprintf("%s: %v", e.Dir, ErrBusy) }

// Unwrap gives ErrBusy.
func (e *BusyError) Unwrap() error { return ErrBusy }

// Hint says what to do.
func (e *BusyError) Hint() string { return "wait until it has finished, then run this again" }

// beginWriting takes the lock, makes the directory and clears what an
// uncommitted ingest left.
func (s *Store) beginWriting() (*fileLock, *catalog, error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, nil, err
	}
	lock, err := s.lock()
	if err != nil {
		return nil, nil, err
	}
	c, err := s.clear()
	if err != nil {
		lock.release()
		return nil, nil, err
	}
	return lock, c, nil
}

// clear finishes or clears what earlier ingests left, and reads the catalog.
func (s *Store) clear() (*catalog, error) {
	if err := s.rollForward(); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(s.path(temporaryDir)); err != nil {
		return nil, err
	}
	c, err := readCatalog(s.dir)
	if err != nil {
		return nil, err
	}
	if err := s.checkStrays(c); err != nil {
		return nil, err
	}
	return c, os.MkdirAll(s.path(temporaryDir), 0o755)
}

// checkStrays refuses a dataset that holds Parquet files which the catalog
// does not list: other engines would read them, and bill what this program
// does not know of.
func (s *Store) checkStrays(c *catalog) error {
	known := map[string]bool{}
	for _, p := range c.Parts {
		known[p.Path] = true
	}
	partitions, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, cluster := range partitions {
		if !strings.HasPrefix(cluster.Name(), "cluster=") {
			continue
		}
		months, err := os.ReadDir(s.path(cluster.Name()))
		if err != nil {
			return err
		}
		for _, month := range months {
			dir := cluster.Name() + "/" + month.Name()
			files, err := os.ReadDir(s.path(dir))
			if err != nil && !errors.Is(err, syscall.ENOTDIR) {
				return err
			}
			for _, f := range files {
				if name := dir + "/" + f.Name(); strings.HasSuffix(name, ".parquet") && !known[name] {
					return &StrayError{File: s.path(name)}
				}
			}
		}
	}
	return nil
}

// StrayError says that a file lies in the dataset that the store did not put
// there.
type StrayError struct{ File string }

func (e *StrayError) Error() string {
	return fmt.Sprintf("%s: not a file of this dataset, yet other programs would read it as one", e.File)
}

// Hint says what to do.
func (e *StrayError) Hint() string { return "move it elsewhere" }

// snapshot is a set of open files that belong together.
type snapshot struct {
	*catalog
	files map[*part]*os.File
}

func (s *snapshot) close() {
	for _, f := range s.files {
		f.Close()
	}
}

// snapshot opens the parts that are wanted, all of one state of the dataset:
// it is taken again when a commit comes between.
func (s *Store) snapshot(wanted func(*part) bool) (*snapshot, error) {
	for tries := 1; ; tries++ {
		if err := s.settle(); err != nil {
			return nil, err
		}
		snap, err := s.trySnapshot(wanted)
		if err == nil || !errors.Is(err, errMoved) || tries == commitTries {
			return snap, err
		}
		time.Sleep(commitPause)
	}
}

var errMoved = errors.New("the dataset changed while it was being opened")

func (s *Store) trySnapshot(wanted func(*part) bool) (*snapshot, error) {
	c, err := readCatalog(s.dir)
	if err != nil {
		return nil, err
	}
	snap := &snapshot{catalog: c, files: map[*part]*os.File{}}
	var failed error
	for _, p := range c.Parts {
		if !wanted(p) {
			continue
		}
		f, err := s.openPart(p)
		if err != nil {
			failed = err
			break
		}
		snap.files[p] = f
	}
	again, err := readCatalog(s.dir)
	switch {
	case err != nil:
		failed = err
	case again.Generation != c.Generation || s.exists(journalName):
		failed = errMoved
	}
	if failed != nil {
		snap.close()
		return nil, failed
	}
	return snap, nil
}

// openPart opens a part and checks its size: a file that was cut off is never
// read as fewer jobs.
func (s *Store) openPart(p *part) (*os.File, error) {
	f, err := os.Open(s.path(p.Path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %d jobs are missing: the file is gone", s.path(p.Path), p.Rows)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() != p.Bytes {
		err = fmt.Errorf("%s: %d bytes, not %d: damaged or cut off", s.path(p.Path), info.Size(), p.Bytes)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func utc(at ingest.Instant) time.Time { return time.Unix(int64(at), 0).UTC() }
