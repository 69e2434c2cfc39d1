package money_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates/money"
)

// edges are the numerators at which machine words stop being enough.
var edges = []int64{0, 1, -1, 2, 3, 1 << 31, 1<<62 - 1, 1 << 62, math.MaxInt64 - 1, math.MaxInt64, -math.MaxInt64, math.MinInt64}

// exacts draws numbers on both sides of the machine word.
func exacts() *rapid.Generator[money.Exact] {
	return rapid.Custom(func(t *rapid.T) money.Exact {
		numerator := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1000, 1000), rapid.SampledFrom(edges)).Draw(t, "numerator")
		denominator := rapid.OneOf(rapid.Int64Range(1, 7200), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "denominator")
		x := money.Ratio(numerator, denominator)
		if rapid.Bool().Draw(t, "large") {
			x = x.Mul(money.Int(math.MaxInt64)).Mul(money.Ratio(7, 3))
		}
		return x
	})
}

func same(t require.TestingT, want *big.Rat, got money.Exact) {
	require.Zero(t, want.Cmp(got.Rat()), "want %s, got %s", want, got)
}

func TestExactAgreesWithBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := exacts().Draw(t, "x"), exacts().Draw(t, "y")
		a, b := x.Rat(), y.Rat()
		same(t, new(big.Rat).Add(a, b), x.Add(y))
		same(t, new(big.Rat).Sub(a, b), x.Sub(y))
		same(t, new(big.Rat).Mul(a, b), x.Mul(y))
		same(t, new(big.Rat).Neg(a), x.Neg())
		require.Equal(t, a.Cmp(b), x.Cmp(y))
		require.Equal(t, a.Sign(), x.Sign())
		require.Equal(t, a.IsInt(), x.IsInt())
		n, ok := x.Int64()
		require.Equal(t, a.IsInt() && a.Num().IsInt64(), ok)
		if ok {
			require.Equal(t, a.Num().Int64(), n)
		}
		q, ok := x.Quo(y)
		require.Equal(t, b.Sign() != 0, ok)
		if ok {
			same(t, new(big.Rat).Quo(a, b), q)
		} else {
			require.Zero(t, q.Sign())
		}
	})
}

// Every pair of numbers at the end of the word, exhaustively: sampling finds
// them too seldom.
func TestExactAtTheEndOfTheWord(t *testing.T) {
	for _, a := range edges {
		for _, b := range edges {
			x, y := money.Int(a), money.Int(b)
			p, q := big.NewRat(a, 1), big.NewRat(b, 1)
			same(t, new(big.Rat).Add(p, q), x.Add(y))
			same(t, new(big.Rat).Sub(p, q), x.Sub(y))
			same(t, new(big.Rat).Mul(p, q), x.Mul(y))
			require.Equal(t, p.Cmp(q), x.Cmp(y))
			if b != 0 {
				quotient, ok := x.Quo(y)
				require.True(t, ok)
				same(t, new(big.Rat).Quo(p, q), quotient)
			}
		}
		n, ok := money.Int(a).Int64()
		require.True(t, ok)
		require.Equal(t, a, n)
	}
}

func TestZeroValueIsZero(t *testing.T) {
	var zero money.Exact
	require.Zero(t, zero.Sign())
	require.True(t, zero.Equal(money.Int(0)))
	require.True(t, zero.IsInt())
	require.Equal(t, "0", zero.String())
	require.True(t, zero.Add(money.Int(3)).Equal(money.Int(3)))
	require.Zero(t, zero.Mul(money.Int(3)).Sign())
	require.Zero(t, zero.Neg().Sign())
}

func TestRatio128(t *testing.T) {
	f := func(hi, lo uint64, den int64) {
		t.Helper()
		n := new(big.Int).SetUint64(hi)
		n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(lo))
		same(t, new(big.Rat).SetFrac(n, big.NewInt(den)), money.Ratio128(hi, lo, den))
	}
	f(0, 0, 1)
	f(0, 1, 3)
	f(0, math.MaxInt64, 3)
	f(0, math.MaxInt64+1, 3)
	f(0, math.MaxUint64, 3600)
	f(1, 0, 1<<20)
	f(math.MaxUint64, math.MaxUint64, math.MaxInt64)
}

func TestDenominatorMustBePositive(t *testing.T) {
	require.PanicsWithValue(t, "BUG: money.Ratio needs a positive denominator", func() { money.Ratio(1, 0) })
	require.Panics(t, func() { money.Ratio128(0, 1, -1) })
}

func TestFromRatCopies(t *testing.T) {
	r := big.NewRat(1, 3)
	x := money.FromRat(r)
	r.SetInt64(5)
	same(t, big.NewRat(1, 3), x)
	x.Rat().SetInt64(9)
	same(t, big.NewRat(1, 3), x)
}
