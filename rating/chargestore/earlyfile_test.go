package chargestore

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEarlyFileHasWhatWasWritten(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "early"))
	require.NoError(t, err)
	early, want := &earlyFile{File: f}, []byte(nil)
	for i := range byte(9) {
		piece := bytes.Repeat([]byte{i}, earlyBytes/4+int(i))
		n, err := early.Write(piece)
		require.NoError(t, err)
		require.Equal(t, len(piece), n)
		want = append(want, piece...)
	}
	require.NoError(t, early.Sync())
	require.Equal(t, int64(len(want)), early.written)
	require.Less(t, early.written-early.begun, int64(earlyBytes), "of the rest little is left")
	require.NoError(t, early.Close())
	got, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))

	_, err = early.Write([]byte("x"))
	require.ErrorIs(t, err, os.ErrClosed)
}
