package columnar

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEncodedRowGroupsAreTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	vectors := rows(2 * PageRows)
	orders := [][]uint32{inOrder(2*PageRows - 5), {0}, inOrder(100)}
	direct := write(t, filepath.Join(dir, "direct"), vectors, orders...)

	f, err := os.Create(filepath.Join(dir, "encoded"))
	require.NoError(t, err)
	w := testTable.Create(NewEncoder(), f)
	var g RowGroup
	for _, order := range orders {
		require.NoError(t, testTable.Encode(NewEncoder(), &g, vectors, len(order)))
		require.NoError(t, w.WriteEncoded(&g))
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	require.Equal(t, direct.Late(), w.Late())
	require.Equal(t, direct.Rows(), w.Rows())
	want, err := os.ReadFile(filepath.Join(dir, "direct"))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(dir, "encoded"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got))
}
