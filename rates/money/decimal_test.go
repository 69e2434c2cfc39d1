package money_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates/money"
)

func TestParseDecimal(t *testing.T) {
	f := func(text, fraction string) {
		t.Helper()
		x, err := money.ParseDecimal(text)
		require.NoError(t, err)
		want, ok := new(big.Rat).SetString(fraction)
		require.True(t, ok)
		same(t, want, x)
	}
	f("0", "0")
	f("-0", "0")
	f("0.0", "0")
	f("7", "7")
	f("010", "10") // not octal
	f("0.102", "102/1000")
	f("-12.50", "-25/2")
	f("0.0000087890625", "9/1024000")
	f("9e-7", "9/10000000")
	f("9E+2", "900")
	f("1.5e02", "150")
	f("-1.25e1", "-12.5")
	f("9223372036854775808", "9223372036854775808")
	f("1e40", "1"+strings.Repeat("0", 40)+"/1")
	f(strings.Repeat("9", 40), strings.Repeat("9", 40))
	f("0."+strings.Repeat("1", 39), strings.Repeat("1", 39)+"/1"+strings.Repeat("0", 39))
}

func TestParseDecimalRefuses(t *testing.T) {
	f := func(text string) {
		t.Helper()
		_, err := money.ParseDecimal(text)
		require.ErrorIs(t, err, money.ErrDecimal)
	}
	f("")
	f("-")
	f("+1")
	f("--1")
	f(" 1")
	f("1 ")
	f("1,5")
	f("1,000")
	f("1_000")
	f(".5")
	f("5.")
	f("-.5")
	f("1.2.3")
	f("1e")
	f("e1")
	f("1e-")
	f("1e+-1")
	f("1e100")
	f("1e41")
	f("1e1.5")
	f("0x10")
	f("0b1")
	f("1/3")
	f("NaN")
	f("Inf")
	f("١")
	f("1\x00")
	f(strings.Repeat("9", 41))
	f("0." + strings.Repeat("1", 40))
}

func TestDecimal(t *testing.T) {
	f := func(num, den int64, places int, want string) {
		t.Helper()
		require.Equal(t, want, money.Ratio(num, den).Decimal(places, money.HalfUp))
	}
	f(64, 10, 6, "6.400000")
	f(0, 1, 2, "0.00")
	f(-1, 1000, 2, "0.00") // never a signed zero
	f(-1, 200, 2, "-0.01")
	f(1, 20, 1, "0.1")
	f(999, 1000, 2, "1.00")
	f(67*2389, 3600, 6, "44.461944")
	f(12345, 1, 0, "12345")
	f(12350, 1, -2, "124")
}

func TestExactString(t *testing.T) {
	f := func(num, den int64, want string) {
		t.Helper()
		require.Equal(t, want, money.Ratio(num, den).String())
	}
	f(0, 5, "0")
	f(13056, 1000, "13.056")
	f(6, 3, "2")
	f(-1, 8, "-0.125")
	f(80047, 1800, "80047/1800")
	f(-2, 6, "-1/3")
	f(536000, 1024, "523.4375")
}

// What String prints as a decimal reads back as the same number.
func TestDecimalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, places := rapid.Int64().Draw(t, "n"), rapid.IntRange(0, 18).Draw(t, "places")
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
		x := money.FromRat(new(big.Rat).SetFrac(big.NewInt(n), scale))
		back, err := money.ParseDecimal(x.String())
		require.NoError(t, err)
		require.True(t, x.Equal(back), "%s came back as %s", x, back)
	})
}

func FuzzParseDecimal(f *testing.F) {
	for _, seed := range []string{"0", "-12.50", "9e-7", "1e40", ".5", "0x1", "1_0", "１", "-0.0e-0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := money.ParseDecimal(text)
		if err != nil {
			require.ErrorIs(t, err, money.ErrDecimal)
			return
		}
		want, ok := new(big.Rat).SetString(text)
		require.True(t, ok, "accepted %q, which math/big refuses", text)
		same(t, want, x)
	})
}
