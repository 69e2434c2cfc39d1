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
