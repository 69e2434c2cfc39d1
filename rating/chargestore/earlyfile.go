package chargestore

import "os"

// earlyFile is a file of which the system begins to bring to the disk what was
// written while more is: so little is left to wait for when it is synced.
type earlyFile struct {
	*os.File
	written int64
	begun   int64 // what is on its way to the disk
}

// earlyBytes is how much is to be on its way at once.
const earlyBytes = 4 << 20

// Write is io.Writer.
func (f *earlyFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.written += int64(n)
	if f.written-f.begun >= earlyBytes {
		beginWriteback(f.File, f.begun, f.written)
		f.begun = f.written
	}
	return n, err
}
