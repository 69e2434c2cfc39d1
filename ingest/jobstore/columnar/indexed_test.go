package columnar

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var numbersTable = NewTable("numbers", 1, 100, []Column{
	{Name: "plain", Kind: Int64},
	{Name: "few", Kind: Int64, Nullable: true, Null: -1, Dictionary: true},
	{Name: "many", Kind: Uint64, Dictionary: true},
	{Name: "at", Kind: Timestamp, Nullable: true},
})

// A column of numbers that the rows have by an index has the bytes of one in
// which each row has its number.
func TestIndexedNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 700).Draw(t, "rows")
		from := rapid.SliceOfN(rapid.Int64Range(-1, rapid.SampledFrom([]int64{0, 1, 5, 60, 300}).Draw(t, "greatest")), 1, 200).Draw(t, "numbers")
		var indexed Vector // of the numbers that the rows have, those of earlier rows first
		var plain Vector
		local := map[int]uint32{}
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, len(from)-1), n, n).Draw(t, "rows") {
			if _, known := local[at]; !known {
				local[at] = uint32(len(indexed.Ints))
				indexed.Ints = append(indexed.Ints, from[at])
			}
			indexed.Index = append(indexed.Index, local[at])
			plain.Ints = append(plain.Ints, from[at])
		}
		require.Equal(t, written(t, plain, n), written(t, indexed, n))
	})
}

// So has one with just as many different numbers as a dictionary may have, and
// with one more.
func TestIndexedNumbersAtTheEdge(t *testing.T) {
	for different := 60; different < 70; different++ {
		var indexed, plain Vector
		for i := range 200 {
			if i < different {
				indexed.Ints = append(indexed.Ints, int64(7*i))
			}
			indexed.Index = append(indexed.Index, uint32(i%different))
			plain.Ints = append(plain.Ints, int64(7*(i%different)))
		}
		require.Equal(t, written(t, plain, 200), written(t, indexed, 200), different)
	}
}

// written is a file of rows that have the same numbers in all columns.
func written(t require.TestingT, v Vector, rows int) []byte {
	var file bytes.Buffer
	w := numbersTable.Create(NewEncoder(), &file)
	var g RowGroup
	require.NoError(t, numbersTable.Encode(NewEncoder(), &g, []Vector{v, v, v, v}, rows))
	require.NoError(t, w.WriteEncoded(&g))
	require.NoError(t, w.Close())
	return file.Bytes()
}
