package chargestore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

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

// BusyError says that another process writes the same period.
type BusyError struct{ Period, Dir string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("the charges of %s in %s are being written already", e.Period, e.Dir)
}

// Hint says what to do.
func (e *BusyError) Hint() string { return "wait until that has finished, then run this again" }

// lock takes the writers' lock, which the process's death releases.
func lock(dir, period string) (*os.File, error) {
	f, err := os.Open(partitionOf(dir, period))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &BusyError{period, dir}
		}
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
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
