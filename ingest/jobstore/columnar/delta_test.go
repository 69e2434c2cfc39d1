package columnar

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The examples of Parquet's format description, and blocks made by hand from it.
func TestDeltaBytes(t *testing.T) {
	is := func(want []byte, numbers ...int64) {
		t.Helper()
		require.Equal(t, want, appendDelta(nil, numbers))
		got := make([]int64, len(numbers))
		require.NoError(t, decodeDelta(got, want))
		require.Equal(t, numbers, append([]int64{}, got...))
	}
	start := func(count byte) []byte { return []byte{0x80, 1, 4, count} }
	join := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	is(join(start(1), []byte{14}), 7)
	// 1 2 3 4 5: differences of 1, none beyond the least.
	is(join(start(5), []byte{2, 2, 0, 0, 0, 0}), 1, 2, 3, 4, 5)
	// 7 5 3 1 2 3 4 5: differences -2 -2 -2 1 1 1 1, that is 0 0 0 3 3 3 3 beyond
	// -2, of two bits each: 11000000 11111100 in the order of the bytes.
	is(join(start(8), []byte{14, 3, 2, 0, 0, 0}, []byte{0xC0, 0x3F, 0, 0, 0, 0, 0, 0}), 7, 5, 3, 1, 2, 3, 4, 5)
	// The least and the greatest number: the difference wraps around to -1.
	is(join(start(2), binary.AppendVarint(nil, math.MinInt64), []byte{1, 0, 0, 0, 0}), math.MinInt64, math.MaxInt64)
}

func TestDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := drawNumbers(t)
		data := appendDelta(nil, numbers)
		got := make([]int64, len(numbers))
		require.NoError(t, decodeDelta(got, data))
		require.Equal(t, numbers, got)
		require.Error(t, decodeDelta(make([]int64, len(numbers)+1), data))
		require.Error(t, decodeDelta(got, append(data[:len(data):len(data)], 0)))
		for cut := range min(len(data), 300) {
			require.Error(t, decodeDelta(got, data[:cut]))
		}
	})
}

// drawNumbers draws numbers whose differences have all widths.
func drawNumbers(t *rapid.T) []int64 {
	numbers := []int64{}
	last := rapid.Int64().Draw(t, "first")
	for range rapid.IntRange(0, 12).Draw(t, "runs") {
		width := rapid.IntRange(0, 64).Draw(t, "width")
		seed := rapid.Uint64().Draw(t, "seed")
		for range rapid.IntRange(1, 70).Draw(t, "length") {
			seed = seed*6364136223846793005 + 1442695040888963407
			last += int64(seed >> 1 << 1 >> (64 - width))
			numbers = append(numbers, last)
		}
	}
	return numbers
}

// Arrow's reader of columns that are never NULL gives the same numbers.
func TestArrowReadsDeltas(t *testing.T) {
	table := NewTable("numbers", 1, 300, []Column{{Name: "n", Kind: Int64}})
	rapid.Check(t, func(t *rapid.T) {
		numbers := append(drawNumbers(t), 1, 2)
		dir, err := os.MkdirTemp("", "")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		f, err := os.Create(filepath.Join(dir, "n.parquet"))
		require.NoError(t, err)
		defer f.Close()
		w := table.Create(NewEncoder(), f)
		require.NoError(t, w.WriteRowGroup([]Vector{{Ints: numbers}}, inOrder(len(numbers))))
		require.NoError(t, w.Close())
		require.Equal(t, numbers, arrowInts(t, f.Name(), len(numbers)))
	})
}

func FuzzDecodeDelta(f *testing.F) {
	f.Add(appendDelta(nil, []int64{1, 2, 3, 5, 8, 13, 21}), 7)
	f.Add(appendDelta(nil, make([]int64, 200)), 200)
	f.Add([]byte{0x80, 1, 4, 3, 0, 0, 70, 0, 0, 0}, 3)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		out := make([]int64, n&0x3ff)
		if decodeDelta(out, data) == nil {
			again := make([]int64, len(out))
			require.NoError(t, decodeDelta(again, appendDelta(nil, out)))
			require.Equal(t, out, again)
		}
	})
}

// arrowInts reads the one column of a file by Arrow's reader.
func arrowInts(t require.TestingT, name string, n int) []int64 {
	r, err := file.OpenParquetFile(name, false)
	require.NoError(t, err)
	defer r.Close()
	column, err := r.RowGroup(0).Column(0)
	require.NoError(t, err)
	got := make([]int64, n)
	total, read, err := column.(*file.Int64ColumnChunkReader).ReadBatch(int64(n), got, nil, nil)
	require.NoError(t, err)
	require.Equal(t, []int{n, n}, []int{int(total), read})
	return got
}

// A dictionary is made where at most an eighth of the numbers are different, and
// given up early where most are.
func TestWorthwhileDictionaries(t *testing.T) {
	c := &chunk{Writer: &Writer{enc: NewEncoder()}}
	is := func(want bool, rows, different int) {
		t.Helper()
		numbers := make([]int64, rows)
		for i := range numbers {
			numbers[i] = int64(i % different)
		}
		require.Equal(t, want, c.numberInts(numbers))
	}
	is(true, 64, 64) // so few are always numbered
	is(false, 80, 65)
	is(true, 8000, 1000)
	is(false, 8000, 1001)
	is(false, 80_000, 10_001)
	is(true, 80_000, 2048)
	is(false, 80_000, 2049) // nearly all of the first 4096
	is(false, 400_000, maxEntries+1)
}
