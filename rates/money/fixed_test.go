package money

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// fixedText prints what Fixed gives.
func fixedText(hi int64, lo uint64) string {
	n := new(big.Int).Lsh(big.NewInt(hi), 64)
	return n.Add(n, new(big.Int).SetUint64(lo)).String()
}

func TestFixed(t *testing.T) {
	f := func(x Exact, places int, want string) {
		t.Helper()
		hi, lo, ok := x.Fixed(places, 38, HalfEven)
		require.True(t, ok)
		require.Equal(t, want, fixedText(hi, lo))
	}
	f(Exact{}, 12, "0")
	f(Ratio(1, 2), 0, "0")
	f(Ratio(3, 2), 0, "2")
	f(Ratio(-3, 2), 0, "-2")
	f(Ratio(-1, 100), 12, "-10000000000")
	f(Ratio(2, 3), 12, "666666666667")
	f(Ratio(-2, 3), 12, "-666666666667")
	f(Ratio(9999999999999999, 100000000), 13, "999999999999999900000")
	f(Int(maxInt64), 18, "9223372036854775807000000000000000000")
	f(Int(-maxInt64), 18, "-9223372036854775807000000000000000000")
	f(Int(maxInt64).Mul(Int(10000000)), 12, "92233720368547758070000000000000000000")
}

func TestFixedRefusesWhatDoesNotFit(t *testing.T) {
	_, _, ok := Int(maxInt64).Mul(Int(100000000)).Fixed(12, 38, HalfEven)
	require.False(t, ok)
	_, _, ok = Int(1000).Fixed(12, 15, HalfEven)
	require.False(t, ok)
	_, _, ok = Int(999).Fixed(12, 15, HalfEven)
	require.True(t, ok)
}

func FuzzFixed(f *testing.F) {
	f.Add(int64(1), int64(3), 12)
	f.Add(int64(-5), int64(2), 0)
	f.Add(int64(maxInt64), int64(maxInt64), 18)
	f.Fuzz(func(t *testing.T, num, den int64, places int) {
		if den <= 0 || places < 0 || places > maxWordPlaces || num == -maxInt64-1 {
			return
		}
		x := Ratio(num, den)
		hi, lo, ok := x.Fixed(places, 38, HalfEven)
		want := x.scaled(places, HalfEven)
		require.Equal(t, want.CmpAbs(pow10(38)) < 0, ok)
		if ok {
			require.Equal(t, want.String(), fixedText(hi, lo))
		}
	})
}
