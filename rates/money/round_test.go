package money_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates/money"
)

var modes = []money.Mode{money.HalfEven, money.HalfUp, money.HalfDown, money.Up, money.Down, money.Ceil, money.Floor}

// Each mode at the places where modes differ, as the textbook has them.
func TestRound(t *testing.T) {
	f := func(text string, places int, want ...string) {
		t.Helper()
		x, err := money.ParseDecimal(text)
		require.NoError(t, err)
		for i, mode := range modes {
			require.Equal(t, want[i], x.Round(places, mode).String(), "%s by %s", text, mode)
		}
	}
	//                  half_even half_up half_down up down ceil floor
	f("2.5", 0, "2", "3", "2", "3", "2", "3", "2")
	f("3.5", 0, "4", "4", "3", "4", "3", "4", "3")
	f("-2.5", 0, "-2", "-3", "-2", "-3", "-2", "-2", "-3")
	f("-3.5", 0, "-4", "-4", "-3", "-4", "-3", "-3", "-4")
	f("2.51", 0, "3", "3", "3", "3", "2", "3", "2")
	f("2.49", 0, "2", "2", "2", "3", "2", "3", "2")
	f("2", 0, "2", "2", "2", "2", "2", "2", "2")
	f("0.5", 0, "0", "1", "0", "1", "0", "1", "0")
	f("-0.5", 0, "0", "-1", "0", "-1", "0", "0", "-1")
	f("0.125", 2, "0.12", "0.13", "0.12", "0.13", "0.12", "0.13", "0.12")
	f("1250", -2, "1200", "1300", "1200", "1300", "1200", "1300", "1200")
	f("9.995", 2, "10", "10", "9.99", "10", "9.99", "10", "9.99")
}

func TestModeNames(t *testing.T) {
	for _, mode := range modes {
		back, err := money.ParseMode(mode.String())
		require.NoError(t, err)
		require.Equal(t, mode, back)
	}
	_, err := money.ParseMode("bankers")
	require.ErrorContains(t, err, `unknown rounding "bankers"`)
}

// A rounding moves a number by less than one unit of the last place, by at
// most half of one where it is to the nearest, in its own direction, and
// leaves what is already round.
func TestRoundProperties(t *testing.T) {
	half := big.NewRat(1, 2)
	rapid.Check(t, func(t *rapid.T) {
		x := exacts().Draw(t, "x")
		places := rapid.IntRange(-6, 20).Draw(t, "places")
		mode := rapid.SampledFrom(modes).Draw(t, "mode")
		rounded := x.Round(places, mode)
		require.True(t, rounded.Equal(rounded.Round(places, mode)))

		unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(places, -places))), nil))
		if places > 0 {
			unit.Inv(unit)
		}
		units := new(big.Rat).Quo(rounded.Rat(), unit)
		require.True(t, units.IsInt())
		moved := new(big.Rat).Quo(rounded.Sub(x).Rat(), unit)
		size := new(big.Rat).Abs(moved)
		switch mode {
		case money.HalfEven, money.HalfUp, money.HalfDown:
			require.LessOrEqual(t, size.Cmp(half), 0)
		case money.Ceil:
			require.GreaterOrEqual(t, moved.Sign(), 0)
		case money.Floor:
			require.LessOrEqual(t, moved.Sign(), 0)
		case money.Up:
			require.GreaterOrEqual(t, moved.Sign()*x.Sign(), 0)
		case money.Down:
			require.LessOrEqual(t, moved.Sign()*x.Sign(), 0)
		}
		require.Negative(t, size.Cmp(big.NewRat(1, 1)))
		if size.Cmp(half) == 0 && mode == money.HalfEven {
			require.Zero(t, units.Num().Bit(0))
		}
	})
}

// Truncation and rounding of a machine-word fraction, against int64 division.
func FuzzRound(f *testing.F) {
	f.Add(int64(67*2389), int64(3600))
	f.Add(int64(-5), int64(2))
	f.Add(int64(-1<<63), int64(3))
	f.Fuzz(func(t *testing.T, num, den int64) {
		if den <= 0 {
			return
		}
		x := money.Ratio(num, den)
		down, ok := x.Round(0, money.Down).Int64()
		require.True(t, ok)
		require.Equal(t, num/den, down)
		floor, _ := x.Round(0, money.Floor).Int64()
		want := num / den
		if num%den != 0 && num < 0 {
			want--
		}
		require.Equal(t, want, floor)
	})
}
