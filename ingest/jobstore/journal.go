package jobstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
)

// A commit writes all new files beneath _tmp, syncs them, and then puts a
// journal in place, by a rename: from that moment on it will be finished, by
// this process or by the next that opens the store. Moves and removals can be
// done again without harm.
type journal struct {
	Moves   []move   `json:"moves"`
	Removes []string `json:"removes"`
}

type move struct {
	From string `json:"from"` // beneath _tmp
	To   string `json:"to"`
}

// commit makes the moves and removals happen all or not at all. The new
// catalog is moved last, so that a reader of our own sees it complete.
func (s *Store) commit(c *catalog, j journal) error {
	sort.Slice(c.Parts, func(a, b int) bool { return c.Parts[a].Path < c.Parts[b].Path })
	c.Generation++
	keep := map[string]bool{} // a part whose rows are the same again has the same name
	for _, m := range j.Moves {
		keep[m.To] = true
	}
	j.Removes = slices.DeleteFunc(j.Removes, func(name string) bool { return keep[name] })
	if err := s.writeTemporaryJSON("catalog", c); err != nil {
		return err
	}
	j.Moves = append(j.Moves, move{"catalog", catalogName})
	if err := s.writeTemporaryJSON("journal", j); err != nil {
		return err
	}
	if err := s.syncTemporary(j); err != nil {
		return err
	}
	if err := s.syncFile(s.path(temporaryDir)); err != nil {
		return err
	}
	s.step("before-commit")
	if err := os.Rename(s.path(temporaryDir+"/journal"), s.path(journalName)); err != nil {
		return err
	}
	if err := s.syncFile(s.dir); err != nil {
		return err
	}
	s.step("committed")
	return s.rollForward()
}

// rollForward finishes the commit whose journal is in place, if one is. The
// caller holds the lock.
func (s *Store) rollForward() error {
	data, err := os.ReadFile(s.path(journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("%s: %w", s.path(journalName), err)
	}
	if err := s.apply(j); err != nil {
		return fmt.Errorf("finish the ingest in %s: %w", s.path(journalName), err)
	}
	if err := os.Remove(s.path(journalName)); err != nil {
		return err
	}
	s.step("journal-gone")
	if err := s.syncFile(s.dir); err != nil {
		return err
	}
	return os.RemoveAll(s.path(temporaryDir))
}

func (s *Store) apply(j journal) error {
	touched := map[string]bool{}
	for i, m := range j.Moves {
		if i == len(j.Moves)-1 {
			if err := s.removeAll(j.Removes, touched); err != nil {
				return err
			}
		}
		from, to := s.path(temporaryDir+"/"+m.From), s.path(m.To)
		if err := s.makeDirs(filepath.Dir(to), touched); err != nil {
			return err
		}
		err := os.Rename(from, to)
		if errors.Is(err, fs.ErrNotExist) && s.exists(m.To) {
			err = nil // done before we were killed
		}
		if err != nil {
			return err
		}
		s.step("moved")
	}
	dirs := make([]string, 0, len(touched))
	for dir := range touched {
		dirs = append(dirs, dir)
	}
	sort.Strings(dirs)
	for _, dir := range dirs {
		if err := s.syncFile(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removesAtOnce is how many files are removed at a time: to give back what a
// large one holds keeps a processor busy.
const removesAtOnce = 4

func (s *Store) removeAll(names []string, touched map[string]bool) error {
	err := eachAtOnce(len(names), removesAtOnce, func(i int) error {
		if err := os.Remove(s.path(names[i])); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		s.step("removed")
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		dir := filepath.Dir(s.path(name))
		touched[dir] = true
		// A month without records is no partition any more.
		if err := os.Remove(dir); err == nil {
			touched[filepath.Dir(dir)] = true
		}
	}
	return nil
}

// makeDirs makes a directory, and notes those whose entries change.
func (s *Store) makeDirs(dir string, touched map[string]bool) error {
	touched[dir] = true
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	for parent := filepath.Dir(dir); len(parent) >= len(s.dir); parent = filepath.Dir(parent) {
		touched[parent] = true
	}
	return os.MkdirAll(dir, 0o755)
}

func (s *Store) writeTemporaryJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	f, err := os.Create(s.path(temporaryDir + "/" + name))
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(data, '\n'))
	return err
}

// syncsAtOnce is how many files are brought to the disk at a time: a file
// system puts those that come together into one write of its own journal.
const syncsAtOnce = 16

// syncTemporary brings the journal, and every file that it moves, to the disk.
func (s *Store) syncTemporary(j journal) error {
	names := []string{"journal"}
	for _, m := range j.Moves {
		names = append(names, m.From)
	}
	return eachAtOnce(len(names), syncsAtOnce, func(i int) error { return s.syncFile(s.path(temporaryDir + "/" + names[i])) })
}

// eachAtOnce calls do for 0 … n-1, for some at a time, and gives all errors.
func eachAtOnce(n, atOnce int, do func(i int) error) error {
	queue := make(chan int, n)
	for i := range n {
		queue <- i
	}
	close(queue)
	workers := min(atOnce, n)
	errs := make(chan error, workers)
	for range workers {
		go func() {
			var failed error
			for i := range queue {
				failed = errors.Join(failed, do(i))
			}
			errs <- failed
		}()
	}
	var failed error
	for range workers {
		failed = errors.Join(failed, <-errs)
	}
	return failed
}

// syncFile brings a file, or the entries of a directory, to the disk.
func (s *Store) syncFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.sync(f)
}
