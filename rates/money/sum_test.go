package money

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSumEqualsRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64Range(-1000, 1000), rapid.Int64Range(-math.MaxInt64, math.MaxInt64))
		denominator := rapid.OneOf(
			rapid.SampledFrom([]int64{1, 60, 3600, 36_000_000, 3_600_000_000_000}),
			rapid.Int64Range(1, 5000), rapid.Int64Range(1, math.MaxInt64))
		var sum, other Sum
		want := new(big.Rat)
		for range rapid.IntRange(0, 30).Draw(t, "numbers") {
			x := Ratio(number.Draw(t, "num"), denominator.Draw(t, "den"))
			if rapid.Bool().Draw(t, "huge") {
				x = x.Mul(Int(math.MaxInt64)).Mul(Int(12345))
			}
			want.Add(want, x.Rat())
			if rapid.Bool().Draw(t, "elsewhere") {
				other.Add(x)
			} else {
				sum.Add(x)
			}
		}
		sum.AddSum(other)
		require.Equal(t, want.RatString(), sum.Exact().Rat().RatString())
	})
}

func TestSumBeyond128Bits(t *testing.T) {
	// Each term is about 2^119 over the common denominator, so some hundreds
	// overflow the numerator, in either direction.
	for _, sign := range []int64{1, -1} {
		var sum Sum
		want := new(big.Rat)
		sum.Add(Ratio(1, mostCommon))
		want.Add(want, big.NewRat(1, mostCommon))
		for range 1000 {
			sum.Add(Int(sign * math.MaxInt64))
			want.Add(want, big.NewRat(sign*math.MaxInt64, 1))
		}
		require.Equal(t, want.RatString(), sum.Exact().Rat().RatString())
	}
}

func TestSumOfNothing(t *testing.T) {
	var sum Sum
	require.True(t, sum.Exact().Equal(Exact{}))
	sum.Add(Exact{})
	require.Equal(t, "0", sum.Exact().String())
}
