package invoice

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// Published examples of allowances, credits and prepaid hours, as these centres
// would write them. What they publish besides cannot be said, for want of what
// it needs:
//
//   - A sliding window (RWTH Aachen: low priority beyond three months' quota,
//     of which a month may use all) steers a scheduler; nothing is free or paid
//     by it. Three fixed months are said below.
//   - What is available less what running jobs have reserved (UiT Stallo,
//     Loughborough) is known to the scheduler alone: sacct has no reservations
//     of balances, and a job is drawn when it ends.
//   - Base fees by bands of yearly use, and a shortfall of the sum of all groups
//     that is shared by use (Oldenburg), are no price of a unit. Once the year
//     is over they are adjustments.

// left gives what an allowance has left after the uses of a year's first months.
func left(t testing.TB, rules string, months int, used ...spent) string {
	t.Helper()
	all := year(t, rosterOf(t, "- {id: chem, pi: P, since: 2026-01-01}"), allowances(t, rules), months, used...)
	p := all[months-1][0].Pools[0]
	return p.Left().String()
}

func TestPublishedAllowances(t *testing.T) {
	// Berkeley Savio: 300,000 SU a year, of which 24 are used.
	require.Equal(t, "299976", left(t, `- {name: FCA, meter: su, units: "300000", per: fiscal_year, shared_by: pi}`, 1,
		spent{"chem", "", "24", "1", 1, 0}))
	// Pawsey: a million SU a year in four quarters, without rollover. The
	// quarter before was not used.
	require.Equal(t, "250000", left(t, `- {name: Setonix, meter: su, units: "250000", per: quarter, from: 2025-02-01}`, 2,
		spent{"chem", "gpu", "1", "1", 2, 0}))
	// RWTH Aachen, with three fixed months: 2,500 + 1,500 + 2,000 are within
	// 3 × 2,000; of 3 × 3,000, a third is beyond.
	fixed := `- {name: Contingent, meter: su, units: "6000", per: quarter}`
	require.Equal(t, "0", left(t, fixed, 4, spent{"chem", "", "2500", "1", 2, 0}, spent{"chem", "", "1500", "1", 3, 0}, spent{"chem", "", "2000", "1", 4, 0}))
	all := year(t, rosterOf(t, "- {id: chem}"), allowances(t, fixed), 4,
		spent{"chem", "", "3000", "1", 2, 0}, spent{"chem", "", "3000", "1", 3, 0}, spent{"chem", "", "3000", "1", 4, 0})
	require.Equal(t, []money.Amount{0, 0, 300000}, []money.Amount{all[1][0].Total, all[2][0].Total, all[3][0].Total})
}

func TestPublishedPrepaidHours(t *testing.T) {
	f := func(units, used, leaves string) {
		t.Helper()
		inv := drawn(t, chemistry(allocation(t, "a", units, "2026-01-01", "2027-01-01", rates.OverdraftBill)), nil, billed(t, 3, used, "0.05"))
		require.Equal(t, leaves, inv.Balances[0].Left.String())
	}
	// NICS Kraken.
	f("2000000", "123456.78", "1876543.22")
	// UDel Biowolf: 172,032 CPU-hours are 256 CPUs for 28 days.
	f("172032", exact(t, "256").Mul(money.Int(28*24)).String(), "0")
	// ISSP: 128 nodes for a year at a point a day, and 8 at two, are 52.56 of 53
	// thousand points.
	f("53", money.Int(128+2*8).Mul(money.Ratio(365, 1000)).String(), "0.44")
}

// TestPublishedNewPICredit is that of NERC: up to 1,000 USD for a new PI,
// not for GPUs, line by line.
func TestPublishedNewPICredit(t *testing.T) {
	f := func(before int64, dues []string, credits []string, balances []string) {
		t.Helper()
		var ledger []LedgerEntry
		if before > 0 {
			ledger = []LedgerEntry{{Kind: Allowed, Group: "chem", Allocation: "New PI", Pool: "pi P", Period: "2026-01", Units: money.Int(before)}}
		}
		c, err := NewComposer(rates.MonthOf(2026, time.February, time.UTC), Settings{Currency: usd, Reductions: allowances(t,
			`- {name: New PI, meter: "!gpu*", amount: "1000.00", per: once, shared_by: pi, first_months: 3}`)}, rosterOf(t, "- {id: chem, pi: P, since: 2026-01-20}"))
		require.NoError(t, err)
		for i, due := range dues {
			require.NoError(t, c.AddJob(new(spent{"chem", string(rune('a' + i)), due, "1", 2, 0}.outcome(t))))
		}
		require.NoError(t, c.AddJob(new(spent{"chem", "gpu_a100", "7", "1", 2, 0}.outcome(t))))
		invoices, _ := compose(t, c, ledger...)
		taken := make([]money.Amount, len(invoices[0].Lines)+1)
		for _, l := range invoices[0].Lines {
			taken[l.Of] -= l.Amount
		}
		for i := range dues {
			line := invoices[0].Lines[i]
			require.Equal(t, credits[i], usd.Exact(taken[line.Position]).String())
			require.Equal(t, balances[i], usd.Exact(line.Amount-taken[line.Position]).String())
		}
		require.Zero(t, taken[len(dues)+1], "the GPU")
	}
	f(0, []string{"100"}, []string{"100"}, []string{"0"})
	f(0, []string{"500", "1000"}, []string{"500", "500"}, []string{"0", "500"})
	f(0, []string{"500", "400"}, []string{"500", "400"}, []string{"0", "0"})
	f(500, []string{"200"}, []string{"200"}, []string{"0"})
	f(500, []string{"600"}, []string{"500"}, []string{"100"})
}
