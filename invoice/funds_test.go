package invoice

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// splitOf is a roster of one group whose funds are the YAML given.
func splitOf(t testing.TB, funds string) *rates.Roster {
	t.Helper()
	r, err := rates.LoadRoster("groups.yaml", []byte("groups:\n- id: chem\n  funds:\n"+funds))
	require.NoError(t, err)
	return r
}

// paid gives the shares as "fund amount of base".
func paid(inv *Invoice) []string {
	var all []string
	for _, f := range inv.Funds {
		text := f.Fund + " " + inv.Currency.Plain(f.Amount) + " of " + inv.Currency.Plain(f.Base)
		if f.Of != "" {
			text += " " + f.Of
		}
		all = append(all, text)
	}
	return all
}

func TestSplit(t *testing.T) {
	f := func(funds, amount string, want ...string) {
		t.Helper()
		c := newComposer(t, splitOf(t, funds))
		require.NoError(t, c.AddJob(new(billed(t, 10, "1", amount))))
		invoices, _ := compose(t, c)
		require.Len(t, invoices, 1)
		require.Equal(t, want, paid(&invoices[0]))
	}
	// The thirds of 100: the first of equal remainders gets the cent.
	const thirds = "  - {fund: a, percent: 100/3}\n  - {fund: b, percent: 100/3}\n  - {fund: c, remainder: true}\n"
	f(thirds, "100", "a 33.34 of 100.00", "b 33.33 of 100.00", "c 33.33 of 100.00")
	f(thirds, "0.01", "a 0.01 of 0.01", "b 0.00 of 0.01", "c 0.00 of 0.01")
	f("  - {fund: a, percent: 60}\n  - {fund: b, percent: 40}\n", "287.83", "a 172.70 of 287.83", "b 115.13 of 287.83")
	// A fixed amount comes first, as far as the bill goes.
	const fixed = "  - {fund: a, amount: 500.00}\n  - {fund: b, percent: 75}\n  - {fund: c, percent: 25}\n"
	f(fixed, "1500.02", "a 500.00 of 1500.02", "b 750.02 of 1500.02", "c 250.00 of 1500.02")
	f(fixed, "499.99", "a 499.99 of 499.99", "b 0.00 of 499.99", "c 0.00 of 499.99")
	// Those in force on the last day of March.
	f("  - {fund: a, percent: 100, until: 2026-03-31}\n  - {fund: b, percent: 100, from: 2026-03-31}\n", "7", "b 7.00 of 7.00")
}

func TestSplitByMeterAndUser(t *testing.T) {
	c := newComposer(t, splitOf(t, `  - {fund: gpu, percent: 100, meters: "gpu_*"}
  - {fund: u, percent: 50, users: ["al*"]}
  - {fund: v, percent: 50, users: ["al*"]}
  - {fund: rest, percent: 100}
  - {fund: none, percent: 100, meters: never}
`))
	for i, j := range []struct{ user, meter, amount string }{
		{"alice", "gpu_hours", "10"}, {"bob", "gpu_hours", "0.005"}, {"alice", "su", "0.333"}, {"bob", "su", "0.667"}, {"alan", "su", "2.003"},
	} {
		o := billed(t, i+1, "1", j.amount)
		o.Job.User, o.Charges[0].Meter = j.user, j.meter
		// Of one price, so that they are one line.
		o.Charges[0].Price = money.Int(1)
		o.Charges[0].Quantity = o.Charges[0].Amount
		require.NoError(t, c.AddJob(&o))
	}
	invoices, _ := compose(t, c)
	inv := &invoices[0]
	require.Len(t, inv.Lines, 2)
	// 10.005 is printed as 10.01. 3.003 SU is printed as 3.00, of which users
	// al* used 2.336 of 3.003: 2.3336… to 2.33, the rest 0.67.
	require.Equal(t, []string{
		"gpu 10.01 of 10.01 meter gpu_*", "u 1.17 of 2.33 user al*", "v 1.16 of 2.33 user al*", "rest 0.67 of 0.67",
	}, paid(inv))
	require.Empty(t, inv.Group.Fund)
}

// A draw, or an allowance, covers what several funds pay for in proportion to
// its units: whose fund stands first in the roster does not matter, and a bill
// comes to the same whether it is split or not, also where units of one price
// are not worth the same.
func TestSplitAfterDraws(t *testing.T) {
	f := func(funds string, free *rates.Reductions, want ...string) {
		t.Helper()
		roster := splitOf(t, funds)
		c, err := NewComposer(march(t), Settings{Currency: usd, Rounding: DefaultRounding, Reductions: free}, roster)
		if free == nil {
			roster.Groups[0].Allocations = []*rates.Allocation{allocation(t, "FY26", "3", "", "", rates.OverdraftBill)}
			c = newComposer(t, roster)
		}
		require.NoError(t, err)
		for i, amount := range []string{"40", "10"} { // of 2 SU each
			o := billed(t, i+1, "2", "10")
			o.Job.User, o.Charges[0].Amount = "u"+amount, exact(t, amount)
			require.NoError(t, c.AddJob(&o))
		}
		invoices, _ := compose(t, c)
		// 3 of 4 SU are three quarters of 50.00 (of 37.50), so 12.50 are left.
		require.Equal(t, usd.Plain(1250), usd.Plain(invoices[0].Total))
		require.Equal(t, want, paid(&invoices[0]))
	}
	free := reductionsOf(t, "allowances: [{name: Free, meter: su, units: 3}]\n")
	for _, r := range []*rates.Reductions{nil, free} {
		f("  - {fund: all, percent: 100}\n", r, "all 12.50 of 12.50")
		f("  - {fund: u, percent: 100, users: u40}\n  - {fund: rest, percent: 100}\n", r, "u 10.00 of 10.00 user u40", "rest 2.50 of 2.50")
		f("  - {fund: u, percent: 100, users: u10}\n  - {fund: rest, percent: 100}\n", r, "u 2.50 of 2.50 user u10", "rest 10.00 of 10.00")
	}
}

func TestNoFundOnSomeDayIsRefused(t *testing.T) {
	c := newComposer(t, splitOf(t, "  - {fund: a, percent: 100, from: 2026-03-03}\n"))
	require.NoError(t, c.AddJob(new(billed(t, 10, "1", "5"))))
	_, _, err := c.Compose(nil)
	var faults rates.Faults
	require.ErrorAs(t, err, &faults)
	require.EqualError(t, faults, "groups.yaml:2: funds: group chem is billed in 2026-03, but no fund pays on 2026-03-01 to 2026-03-02")

	// A group that nothing is billed to needs none.
	c = newComposer(t, splitOf(t, "  - {fund: a, percent: 100, from: 2026-04-03}\n"))
	invoices, _ := compose(t, c)
	require.Empty(t, invoices)

	c = newComposer(t, splitOf(t, "  - {fund: a, amount: 1.005}\n  - {fund: b, percent: 100}\n"))
	require.NoError(t, c.AddJob(new(billed(t, 10, "1", "5"))))
	_, _, err = c.Compose(nil)
	require.ErrorContains(t, err, "groups.yaml:4:5: funds: an amount of 1.005 has more digits than USD")
}

// shared is printed() with two funds.
func shared(t testing.TB) Invoice {
	inv := printed(t)
	inv.Group.Fund = ""
	inv.Funds = []FundShare{
		{Fund: "0012-345", Base: 5, Fixed: 1, Amount: 1},
		{Fund: "0044", Base: 5, Percent: exact(t, "200/3"), Amount: 3},
		{Fund: "0045", Base: 5, Percent: exact(t, "100/3"), Amount: 1},
	}
	require.NoError(t, inv.Check())
	return inv
}

func TestFundsAreOfTheRecord(t *testing.T) {
	inv := shared(t)
	text := string(inv.Canonical())
	require.True(t, strings.HasSuffix(text, `jobs=1:1
funds=1:3
fund.code=8:0012-345
fund.of=0:
fund.base=1:5
fund.percent=1:0
fund.fixed=1:1
fund.amount=1:1
fund.code=4:0044
fund.of=0:
fund.base=1:5
fund.percent=5:200/3
fund.fixed=1:0
fund.amount=1:3
fund.code=4:0045
fund.of=0:
fund.base=1:5
fund.percent=5:100/3
fund.fixed=1:0
fund.amount=1:1
`), text)
	body, err := json.Marshal(inv)
	require.NoError(t, err)
	var back Invoice
	require.NoError(t, json.Unmarshal(body, &back))
	require.Equal(t, text, string(back.Canonical()))

	// An invoice without funds is written as it always was.
	old := printed(t)
	body, err = json.Marshal(old)
	require.NoError(t, err)
	require.NotContains(t, string(body), "funds")

	other := shared(t)
	other.Funds[1].Fund = "0046"
	changes := Compare([]Invoice{inv}, []Invoice{other})
	require.Len(t, changes, 1)
	require.Equal(t, []string{"funds"}, changes[0].Other)
}

func TestCheckFindsFundsThatDoNotAddUp(t *testing.T) {
	f := func(part string, spoil func(*Invoice)) {
		t.Helper()
		inv := shared(t)
		spoil(&inv)
		require.ErrorContains(t, inv.Check(), part)
	}
	f("fund 0044 pays 2, its share is 3", func(inv *Invoice) { inv.Funds[1].Amount, inv.Funds[2].Amount = 2, 2 })
	f("the funds pay 4 of 5", func(inv *Invoice) { inv.Funds[0].Amount = 0 })
	f("the funds pay 6, the total is 5", func(inv *Invoice) {
		inv.Funds = append(inv.Funds, FundShare{Fund: "x", Of: "meter y", Base: 1, Percent: exact(t, "100"), Amount: 1})
	})
	f("fund 0012-345 pays of 5, fund 0045 of 6", func(inv *Invoice) { inv.Funds[2].Base = 6 })
}
