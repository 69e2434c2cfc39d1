package invoice

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// The published balances: what is left of an allocation when so much of it is
// used, or reserved by jobs as if they had been charged.
func TestPublishedBalances(t *testing.T) {
	f := func(allotted, want string, used ...string) {
		t.Helper()
		var jobs []rating.Outcome
		for i, units := range used {
			jobs = append(jobs, billed(t, i+1, units, "1"))
		}
		inv := drawn(t, chemistry(allocation(t, "a", allotted, "2026-01-01", "2026-04-01", rates.OverdraftBill)), nil, jobs...)
		b := inv.Balances[0]
		require.Equal(t, want, b.Drawn.String()+" used, "+b.Left.String()+" left, "+b.Beyond.String()+" beyond")
	}
	f("300000", "24 used, 299976 left, 0 beyond", "24")                    // berkeley-savio-02
	f("2000000", "123456.78 used, 1876543.22 left, 0 beyond", "123456.78") // nics-kraken-01
	f("168836.65", "96272 used, 72564.65 left, 0 beyond", "96272.00")      // uit-stallo-03
	f("2538.99", "2000 used, 538.99 left, 0 beyond", "2000.00")            // loughborough-01
	// Three months of 2000 are one allocation of 6000 over the window.
	f("6000", "6000 used, 0 left, 0 beyond", "2500", "1500", "2000")    // rwth-aachen-01
	f("6000", "6000 used, 0 left, 3000 beyond", "3000", "3000", "3000") // rwth-aachen-02
}

// umich-lighthouse-01: 743.07 a year for a node are 61.92 a month.
func TestPublishedRecurringFee(t *testing.T) {
	year, err := money.ParseDecimal("743.07")
	require.NoError(t, err)
	require.Equal(t, "61.92", year.Mul(money.Ratio(1, 12)).Decimal(2, money.HalfUp))
}

// oldenburg-01: base fees of 800 and 1200, and what lacks to 16,000 by the
// shares of 60 million core-hours.
func TestPublishedRedistribution(t *testing.T) {
	million := func(n int64) money.Exact { return money.Int(n * 1_000_000) }
	shares, err := money.Split(1000_00, []money.Exact{million(2), million(3), million(55)})
	require.NoError(t, err)
	require.Equal(t, []money.Amount{33_33, 50_00, 916_67}, shares)
	require.Equal(t, money.Amount(2083_33), 800_00+1200_00+shares[0]+shares[1])
}
