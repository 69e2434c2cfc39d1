package rates_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// tiers: 0.10 up to 100, 0.05 up to 1000, 0.01 above.
func tiers(mode rates.TierMode) *rates.Tiers {
	return &rates.Tiers{Mode: mode, Steps: []rates.TierStep{
		{Above: money.Int(0), Price: money.Ratio(10, 100)},
		{Above: money.Int(100), Price: money.Ratio(5, 100)},
		{Above: money.Int(1000), Price: money.Ratio(1, 100)},
	}}
}

func TestTiers(t *testing.T) {
	f := func(mode rates.TierMode, before, units int64, want string) {
		t.Helper()
		require.Equal(t, want, tiers(mode).Amount(money.Int(before), money.Int(units)).String())
	}
	f(rates.Graduated, 0, 0, "0")
	f(rates.Graduated, 0, 100, "10")
	f(rates.Graduated, 0, 101, "10.05")
	f(rates.Graduated, 0, 2000, "65") // 10 + 45 + 10
	f(rates.Graduated, 50, 100, "7.5")
	f(rates.Graduated, 1000, 100, "1")
	f(rates.Graduated, 5000, 100, "1")
	f(rates.Volume, 0, 100, "10")
	f(rates.Volume, 0, 200, "10")
	f(rates.Volume, 0, 2000, "20")
	f(rates.Volume, 100, 100, "0")   // 200·0.05 − 100·0.10
	f(rates.Volume, 100, 10, "-4.5") // the cheaper step pays back
	f(rates.Bracket, 0, 2000, "200")
	f(rates.Bracket, 99, 10, "1")
	f(rates.Bracket, 100, 10, "0.5")
	f(rates.Bracket, 1000, 10, "0.1")
}

// However a month's units are cut into charges, graduated and volume prices
// come to the same sum, to the last digit.
func TestTiersConserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]rates.TierMode{rates.Graduated, rates.Volume}).Draw(t, "mode")
		count, sum := money.Exact{}, money.Exact{}
		for _, n := range rapid.SliceOf(rapid.Int64Range(0, 100_000)).Draw(t, "units") {
			units := money.Ratio(n, 36)
			sum = sum.Add(tiers(mode).Amount(count, units))
			count = count.Add(units)
		}
		require.True(t, sum.Equal(tiers(mode).Amount(money.Exact{}, count)))
	})
}
