package rates_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// tiers: 0.10 up to 100, 0.05 up to 1000, 0.01 above.
func tiers(mode rates.TierMode) *rates.Tiers {
	return &rates.Tiers{Mode: mode, Counter: rates.CountUnits, Steps: []rates.TierStep{
		{Above: money.Int(0), Price: money.Ratio(10, 100)},
		{Above: money.Int(100), Price: money.Ratio(5, 100)},
		{Above: money.Int(1000), Price: money.Ratio(1, 100)},
	}}
}

func TestTiers(t *testing.T) {
	f := func(mode rates.TierMode, before, units int64, want string) {
		t.Helper()
		got := tiers(mode).Amount(money.Int(before), money.Int(before+units), money.Int(units))
		require.Equal(t, want, got.String())
	}
	f(rates.Graduated, 0, 0, "0")
	f(rates.Graduated, 0, 100, "10")
	f(rates.Graduated, 0, 101, "10.05")
	f(rates.Graduated, 0, 2000, "65") // 10 + 45 + 10
	f(rates.Graduated, 50, 100, "7.5")
	f(rates.Graduated, 100, 100, "5")
	f(rates.Graduated, 1000, 100, "1")
	f(rates.Graduated, 5000, 100, "1")
	f(rates.Volume, 0, 100, "10")
	f(rates.Volume, 0, 200, "10")
	f(rates.Volume, 0, 2000, "20")
	f(rates.Volume, 100, 100, "5") // what was billed before stays at 0.10
	f(rates.Volume, 900, 200, "2")
	f(rates.Bracket, 0, 2000, "200")
	f(rates.Bracket, 99, 10, "1")
	f(rates.Bracket, 100, 10, "0.5")
	f(rates.Bracket, 1000, 10, "0.1")
}

// Tiers counted in money: 6,500 at 0.014, up to 24,000 at 0.008, then 0.005
// (Caltech), so that the first step is left after 464,285 5/7 units.
func TestTiersOfMoney(t *testing.T) {
	caltech := &rates.Tiers{Counter: rates.CountMoney, Window: rates.OfFiscalYear, Steps: []rates.TierStep{
		{Above: money.Int(0), Price: money.Ratio(14, 1000)},
		{Above: money.Int(6500), Price: money.Ratio(8, 1000)},
		{Above: money.Int(24000), Price: money.Ratio(5, 1000)},
	}}
	f := func(before, units int64, want ...string) {
		t.Helper()
		var got []string
		for _, s := range caltech.Slices(money.Int(before), money.Exact{}, money.Int(units)) {
			got = append(got, fmt.Sprintf("%s at %s", s.Units, caltech.Steps[s.Step].Price))
		}
		require.Equal(t, want, got)
	}
	f(0, 100_000, "100000 at 0.014")
	f(0, 1_000_000, "3250000/7 at 0.014", "3750000/7 at 0.008")
	f(6500, 1_000_000, "1000000 at 0.008")
	f(23000, 1_000_000, "125000 at 0.008", "875000 at 0.005") // 1,000 left at 0.008
	f(24000, 10, "10 at 0.005")
}

func TestTierLabels(t *testing.T) {
	f := func(mode rates.TierMode, want ...string) {
		t.Helper()
		for i, label := range want {
			require.Equal(t, label, tiers(mode).Label(i))
		}
	}
	f(rates.Graduated, "first 100", "next 900", "above 1000")
	f(rates.Volume, "up to 100", "100 to 1000", "above 1000")
	f(rates.Bracket, "up to 100", "100 to 1000", "above 1000")
	flat := &rates.Tiers{Steps: tiers(rates.Volume).Steps[:1]}
	require.Equal(t, "all", flat.Label(0))
}

// However units are cut into parts, graduated prices come to the same sum, to
// the last digit, whether units or money are counted; and the slices are the
// units.
func TestTiersConserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		priced := tiers(rates.Graduated)
		ofMoney := rapid.Bool().Draw(t, "of money")
		if ofMoney {
			priced.Counter = rates.CountMoney
			for i, above := range []int64{0, 10, 55} { // the same steps, in money
				priced.Steps[i].Above = money.Int(above)
			}
		}
		units, amount := money.Exact{}, money.Exact{}
		for _, n := range rapid.SliceOf(rapid.Int64Range(0, 100_000)).Draw(t, "units") {
			part, before := money.Ratio(n, 36), units
			if ofMoney {
				before = amount
			}
			sum := money.Exact{}
			for _, s := range priced.Slices(before, money.Exact{}, part) {
				require.GreaterOrEqual(t, s.Units.Sign(), 0)
				sum = sum.Add(s.Units)
			}
			require.True(t, sum.Equal(part))
			amount = amount.Add(priced.Amount(before, money.Exact{}, part))
			units = units.Add(part)
		}
		// By its definition: what each unit costs, step by step.
		want := money.Exact{}
		for i, above := range []int64{0, 100, 1000} {
			in := units.Sub(money.Int(above))
			if i < 2 {
				if most := money.Int([]int64{100, 900}[i]); most.Cmp(in) < 0 {
					in = most
				}
			}
			if in.Sign() > 0 {
				want = want.Add(in.Mul([]money.Exact{money.Ratio(1, 10), money.Ratio(1, 20), money.Ratio(1, 100)}[i]))
			}
		}
		require.True(t, want.Equal(amount), "%s and %s", want, amount)
	})
}
