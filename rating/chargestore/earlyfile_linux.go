//go:build !arm

package chargestore

import (
	"os"
	"syscall"
)

// syncFileRangeWrite is SYNC_FILE_RANGE_WRITE: begin, and do not wait.
const syncFileRangeWrite = 2

// beginWriteback asks for the bytes from one place to another to be brought to
// the disk. It is a wish: nothing hangs on it, and what goes wrong is told by
// Sync.
func beginWriteback(f *os.File, from, to int64) {
	_ = syscall.SyncFileRange(int(f.Fd()), from, to-from, syncFileRangeWrite)
}
