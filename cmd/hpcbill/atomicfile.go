package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// halfFile is in the name of a file that is being written.
const halfFile = ".tmp-"

// writeFile makes a file whole or not at all: a temporary name in the same
// directory, sync, rename. write may stream; a failure leaves what was there.
func writeFile(name string, write func(io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := createHalfFile(name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 1<<16)
	if err = write(b); err != nil {
		return err
	}
	if err = b.Flush(); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), name); err != nil { // while it is locked
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// createHalfFile makes a file that is locked as long as somebody writes it.
// Where there are no locks, removeHalfFiles does nothing.
func createHalfFile(name string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+halfFile+"*")
		if err != nil {
			return nil, err
		}
		_ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if _, err := os.Lstat(f.Name()); !errors.Is(err, fs.ErrNotExist) {
			return f, nil
		}
		f.Close() // it was taken for nobody's before it was locked
	}
}

// removeHalfFiles removes what writeFile left in a directory when it was
// killed: files that nobody has locked.
func removeHalfFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	errs := []error{err}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && strings.Contains(e.Name(), halfFile) && e.Type().IsRegular() {
			errs = append(errs, removeHalfFile(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

func removeHalfFile(name string) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // written, while we looked
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil // somebody writes it
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncDir makes renames in a directory last through a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
