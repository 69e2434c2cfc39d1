package money_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates/money"
)

func TestParseCurrency(t *testing.T) {
	f := func(code string, digits int) {
		t.Helper()
		c, err := money.ParseCurrency(code)
		require.NoError(t, err)
		require.Equal(t, money.Currency{Code: code, Digits: digits}, c)
	}
	f("USD", 2)
	f("EUR", 2)
	f("CLP", 0)
	f("JPY", 0)
	f("KWD", 3)
	for _, bad := range []string{"", "US", "USDX", "usd", "U$D", "US1", "ÜSD"} {
		_, err := money.ParseCurrency(bad)
		require.ErrorContains(t, err, "is not an ISO 4217 currency code", bad)
	}
}

func TestCurrencyAmount(t *testing.T) {
	usd, _ := money.ParseCurrency("USD")
	jpy, _ := money.ParseCurrency("JPY")
	f := func(c money.Currency, text string, want money.Amount, plain, format string) {
		t.Helper()
		x, err := money.ParseDecimal(text)
		require.NoError(t, err)
		a, err := c.Amount(x, money.HalfUp)
		require.NoError(t, err)
		require.Equal(t, want, a)
		require.Equal(t, plain, c.Plain(a))
		require.Equal(t, format, c.Format(a))
	}
	f(usd, "0", 0, "0.00", "0.00")
	f(usd, "0.005", 1, "0.01", "0.01")
	f(usd, "-0.004", 0, "0.00", "0.00")
	f(usd, "1234.5", 123450, "1234.50", "1,234.50")
	f(usd, "-1234567.891", -123456789, "-1234567.89", "-1,234,567.89")
	f(usd, "999.999", 100000, "1000.00", "1,000.00")
	f(jpy, "1234.5", 1235, "1235", "1,235")

	largest, err := usd.Amount(usd.Exact(math.MaxInt64), money.HalfUp)
	require.NoError(t, err)
	require.EqualValues(t, math.MaxInt64, largest)
	for _, beyond := range []string{"92233720368547758.08", "-92233720368547758.08", "1e30"} {
		x, err := money.ParseDecimal(beyond)
		require.NoError(t, err)
		_, err = usd.Amount(x, money.HalfUp)
		require.ErrorContains(t, err, "too large for an invoice", beyond)
	}
}

func TestGroup(t *testing.T) {
	f := func(plain, want string) {
		t.Helper()
		require.Equal(t, want, money.Group(plain))
	}
	f("0", "0")
	f("999", "999")
	f("1000", "1,000")
	f("-100000.123456", "-100,000.123456")
	f("1234567", "1,234,567")
}

func TestSplit(t *testing.T) {
	f := func(total money.Amount, weights []int64, want []money.Amount) {
		t.Helper()
		exact := make([]money.Exact, len(weights))
		for i, w := range weights {
			exact[i] = money.Int(w)
		}
		shares, err := money.Split(total, exact)
		require.NoError(t, err)
		require.Equal(t, want, shares)
	}
	f(100, []int64{1}, []money.Amount{100})
	f(100, []int64{1, 1, 1}, []money.Amount{34, 33, 33})
	f(-100, []int64{1, 1, 1}, []money.Amount{-34, -33, -33})
	f(1001, []int64{50, 30, 20}, []money.Amount{501, 300, 200}) // remainders .5 .3 .2
	f(2, []int64{1, 1, 1}, []money.Amount{1, 1, 0})
	f(0, []int64{1, 2}, []money.Amount{0, 0})
	f(7, []int64{0, 1, 0}, []money.Amount{0, 7, 0})
	f(math.MaxInt64, []int64{1, 1}, []money.Amount{1 << 62, 1<<62 - 1})

	_, err := money.Split(1, nil)
	require.ErrorContains(t, err, "all 0")
	_, err = money.Split(1, []money.Exact{{}, {}})
	require.ErrorContains(t, err, "all 0")
	_, err = money.Split(1, []money.Exact{money.Int(2), money.Int(-1)})
	require.ErrorContains(t, err, "a share of -1 is negative")
	_, err = money.Split(math.MinInt64, []money.Exact{money.Int(1)})
	require.Error(t, err)
}

func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := money.Amount(rapid.Int64Range(-math.MaxInt64, math.MaxInt64).Draw(t, "total"))
		numbers := rapid.SliceOfN(rapid.Int64Range(0, 1e12), 1, 12).Draw(t, "weights")
		weights, sum := make([]money.Exact, len(numbers)), money.Exact{}
		for i, n := range numbers {
			weights[i] = money.Ratio(n, 7)
			sum = sum.Add(weights[i])
		}
		if sum.Sign() == 0 {
			return
		}
		shares, err := money.Split(total, weights)
		require.NoError(t, err)
		left := total
		for i, share := range shares {
			left -= share
			fair, _ := money.Int(int64(total)).Mul(weights[i]).Quo(sum)
			off := money.Int(int64(share)).Sub(fair)
			require.Negative(t, off.Cmp(money.Int(1)), "a share is off by a unit or more")
			require.Positive(t, off.Cmp(money.Int(-1)), "a share is off by a unit or more")
		}
		require.Zero(t, left)
	})
}
