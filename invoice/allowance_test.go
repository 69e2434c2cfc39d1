package invoice

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// allowances reads rules as the file has them.
func allowances(t testing.TB, text string) *rates.Reductions {
	t.Helper()
	return reductionsOf(t, "allowances:\n"+text)
}

// spent is a job of the group that ended in a month of 2026, at noon UTC.
type spent struct {
	group, meter, units, price string
	month                      time.Month
	day                        int
}

func (u spent) outcome(t testing.TB) rating.Outcome {
	t.Helper()
	ch := charge(t, u.group, u.units, u.price)
	if u.meter != "" {
		ch.Meter, ch.Unit = u.meter, u.meter+"-unit"
	}
	o := job(t, 1, rating.Charged, 60, ch)
	o.Job.End = ingest.Instant(time.Date(2026, u.month, max(1, u.day), 12, 0, 0, 0, time.UTC).Unix())
	return o
}

// year runs months of 2026 one after the other, each with what those before it
// left in the ledger, and makes sure that each is what it was when it is run
// again after all. The fiscal year begins in February.
func year(t testing.TB, roster *rates.Roster, rules *rates.Reductions, months int, used ...spent) [][]Invoice {
	t.Helper()
	run := func(month time.Month, ledger []LedgerEntry) []Invoice {
		c, err := NewComposer(rates.MonthOf(2026, month, time.UTC), Settings{
			Currency: usd, Rounding: DefaultRounding, Reductions: rules, FiscalYearStart: time.February,
		}, roster)
		require.NoError(t, err)
		for _, u := range used {
			if u.month == month {
				require.NoError(t, c.AddJob(new(u.outcome(t))))
			}
		}
		invoices, _ := compose(t, c, ledger...)
		return invoices
	}
	var all [][]Invoice
	var ledger []LedgerEntry
	for month := time.January; int(month) <= months; month++ {
		all = append(all, run(month, ledger))
		ledger = append(ledger, LedgerEntries(all[month-1])...)
	}
	for month := time.January; int(month) <= months; month++ {
		for i, inv := range run(month, ledger) {
			require.Equal(t, all[month-1][i].Digest(), inv.Digest(), "%s again after all", month)
			for _, p := range inv.Pools {
				require.True(t, p.OpeningFrom(inv.Period, ledger).Equal(p.Opening))
				require.True(t, p.EarlierFrom(ledger).Equal(p.Earlier))
			}
		}
	}
	return all
}

// pools gives the statements as "RULE HOLDER: LIMIT (CARRIED) -OPENING -COUNTED -OTHERS =LEFT".
func pools(inv Invoice) []string {
	var all []string
	for _, p := range inv.Pools {
		all = append(all, p.Rule+" "+p.Holder()+": "+p.Limit.String()+" ("+p.Carried.String()+") -"+p.Opening.String()+" -"+p.Counted.String()+
			" -"+p.Others.String()+" ="+p.Left().String())
	}
	return all
}

func TestAllowanceOfUnits(t *testing.T) {
	// 300 of 400 SU are free; the card's price of the rest stays.
	inv := year(t, rosterOf(t, "- {id: chem}\n- {id: es, language: es}"),
		allowances(t, `- {name: Free tier, reason: senate, meter: su, units: "300"}`), 1,
		spent{"chem", "", "400", "0.012", 1, 0}, spent{"es", "", "100", "0.012", 1, 0}, spent{"chem", "gpu", "5", "1", 1, 0})
	require.Equal(t, []string{
		"usage 1 job on h2p: 5 gpu-units at 1 USD per gpu-unit | 5.00",
		"usage 1 job on h2p: 400 SU at 0.012 USD per SU | 4.80",
		"allowance Free tier: 300 SU of line 2, free up to 300 SU a month (senate) | -3.60",
	}, texts(inv[0][0]))
	require.Equal(t, []string{"Free tier group chem: 300 (0) -0 -300 -0 =0"}, pools(inv[0][0]))
	require.Equal(t, money.Amount(620), inv[0][0].Total)
	line := inv[0][0].Lines[2]
	require.Equal(t, Allowance, line.Kind)
	require.Equal(t, CodeAllowance, line.Code)
	require.Equal(t, "Free tier", line.Reason)
	require.Equal(t, "-300", line.Quantity.String())
	require.Equal(t, []string{"Free tier group es: 300 (0) -0 -100 -0 =200"}, pools(inv[0][1]))
	require.Equal(t, "allowance Free tier: 100 SU de la línea 1, gratis hasta 300 SU al mes (senate) | -1.20", texts(inv[0][1])[1])
}

func TestAllowanceOfMoneyIsMetToTheCent(t *testing.T) {
	// Two lines of 0.33333… and of 1.005, which print 0.33 and 1.01 (half up):
	// a credit of 1.00 takes 0.33 and 0.67.
	inv := year(t, rosterOf(t, "- {id: chem}"), allowances(t, `- {name: Credit, amount: "1.00", per: once}`), 2,
		spent{"chem", "a", "1/3", "1", 1, 0}, spent{"chem", "b", "1.005", "1", 1, 0}, spent{"chem", "a", "1", "1", 2, 0})
	require.Equal(t, []string{
		"usage 1 job on h2p: 0.333333 a-units at 1 USD per a-unit | 0.33",
		"usage 1 job on h2p: 1.005 b-units at 1 USD per b-unit | 1.01",
		"allowance Credit: credit on line 1, up to 1.00 USD in all | -0.33",
		"allowance Credit: credit on line 2, up to 1.00 USD in all | -0.67",
	}, texts(inv[0][0]))
	require.Equal(t, []string{"Credit group chem: 1 (0) -0 -1 -0 =0"}, pools(inv[0][0]))
	require.Equal(t, []string{"Credit group chem: 1 (0) -1 -0 -0 =0"}, pools(inv[1][0]))
	require.Equal(t, money.Amount(100), inv[1][0].Total)
	require.Equal(t, "0", inv[0][0].Lines[2].Price.String())
}

func TestAllowanceIsSharedInProportion(t *testing.T) {
	// 100 among 60, 90 and 150 of one department; the other one has its own.
	inv := year(t, rosterOf(t, "- {id: a, department: Chem}\n- {id: b, department: Chem}\n- {id: c, department: Chem}\n- {id: d, department: Bio}"),
		allowances(t, `- {name: Pool, meter: su, units: "100", per: quarter, shared_by: department}`), 3,
		spent{"a", "", "10", "1", 2, 0}, spent{"d", "", "70", "1", 2, 0},
		spent{"a", "", "60", "1", 3, 0}, spent{"b", "", "90", "1", 3, 0}, spent{"c", "", "150", "1", 3, 0}, spent{"d", "", "40", "1", 3, 0})
	// 10 of it went in February: 90 among 300 of March.
	require.Equal(t, []string{"Pool department Chem: 100 (0) -0 -10 -0 =90"}, pools(inv[1][0]))
	require.Equal(t, []string{"Pool department Chem: 100 (0) -10 -18 -72 =0"}, pools(inv[2][0]))
	require.Equal(t, []string{"Pool department Chem: 100 (0) -10 -27 -63 =0"}, pools(inv[2][1]))
	require.Equal(t, []string{"Pool department Chem: 100 (0) -10 -45 -45 =0"}, pools(inv[2][2]))
	require.Equal(t, []string{"Pool department Bio: 100 (0) -70 -30 -0 =0"}, pools(inv[2][3]))
	require.Equal(t, money.Amount(6000-1800), inv[2][0].Total)

	// Money: 1.00 among dues of 1.00, 1.00 and 1.00.
	inv = year(t, rosterOf(t, "- {id: a, pi: P}\n- {id: b, pi: P}\n- {id: c, pi: P}"),
		allowances(t, `- {name: Pool, amount: "1.00", shared_by: pi}`), 1,
		spent{"a", "", "1", "1", 1, 0}, spent{"b", "", "1", "1", 1, 0}, spent{"c", "", "1", "1", 1, 0})
	require.Equal(t, []money.Amount{66, 67, 67}, []money.Amount{inv[0][0].Total, inv[0][1].Total, inv[0][2].Total})
}

func TestRollover(t *testing.T) {
	f := func(rollover string, used []string, want ...string) {
		t.Helper()
		var uses []spent
		for i, units := range used {
			uses = append(uses, spent{"chem", "", units, "1", time.Month(i + 1), 0})
		}
		invoices := year(t, rosterOf(t, "- {id: chem}"),
			allowances(t, `- {name: A, meter: su, units: "100", from: 2026-01-01, rollover: `+rollover+`}`), len(used), uses...)
		for i := range used {
			require.Equal(t, "A group chem: "+want[i], pools(invoices[i][0])[0])
		}
	}
	f("none", []string{"30", "150"}, "100 (0) -0 -30 -0 =70", "100 (0) -0 -100 -0 =0")
	// 70 of January in February, of which 50 are used; what is left of them
	// lapses, and the whole grant of February is there in March.
	f("1", []string{"30", "50", "250"}, "100 (0) -0 -30 -0 =70", "170 (70) -0 -50 -0 =120", "200 (100) -0 -200 -0 =0")
	// February uses all 70 of January and 30 of its own.
	f("1", []string{"30", "100", "90", "1"}, "100 (0) -0 -30 -0 =70", "170 (70) -0 -100 -0 =70", "170 (70) -0 -90 -0 =80", "180 (80) -0 -1 -0 =179")
	// The oldest first: of 300 in March, 150 come off January and February.
	f("2", []string{"1", "1", "150", "1"}, "100 (0) -0 -1 -0 =99", "199 (99) -0 -1 -0 =198", "298 (198) -0 -150 -0 =148", "248 (148) -0 -1 -0 =247")
	f("unlimited", []string{"1", "1", "1", "300"}, "100 (0) -0 -1 -0 =99", "199 (99) -0 -1 -0 =198", "298 (198) -0 -1 -0 =297", "397 (297) -0 -300 -0 =97")
}

func TestRolloverOfQuarters(t *testing.T) {
	// Quarters begin in February, May, August: January is of the one before,
	// which is the first to have a grant.
	invoices := year(t, rosterOf(t, "- {id: chem}"),
		allowances(t, `- {name: A, meter: su, units: "100", per: quarter, from: 2026-01-20, rollover: 1}`), 5,
		spent{"chem", "", "10", "1", 1, 10}, spent{"chem", "", "20", "1", 1, 25}, // the 10th is before its first day
		spent{"chem", "", "30", "1", 2, 0}, spent{"chem", "", "30", "1", 4, 0}, spent{"chem", "", "1", "1", 5, 0})
	require.Equal(t, []string{"A group chem: 100 (0) -0 -20 -0 =80"}, pools(invoices[0][0]))
	require.Equal(t, []string{"A group chem: 180 (80) -0 -30 -0 =150"}, pools(invoices[1][0]))
	require.Empty(t, invoices[2])
	require.Equal(t, []string{"A group chem: 180 (80) -30 -30 -0 =120"}, pools(invoices[3][0]))
	// 60 came off the 80, whose last 20 lapsed.
	require.Equal(t, []string{"A group chem: 200 (100) -0 -1 -0 =199"}, pools(invoices[4][0]))
	p := invoices[4][0].Pools[0]
	require.Equal(t, []string{"2026-05-01", "2026-08-01", "2025-11-01", "80"}, []string{p.From.String(), p.Until.String(), p.Since.String(), p.Earlier.String()})
}

func TestAGrantThatWasLowered(t *testing.T) {
	run := func(units string, ledger []LedgerEntry, month time.Month) Invoice {
		c, err := NewComposer(rates.MonthOf(2026, month, time.UTC), Settings{Currency: usd, Reductions: allowances(t,
			`- {name: A, meter: su, units: "`+units+`", from: 2026-01-01, rollover: unlimited}`)}, rosterOf(t, "- {id: chem}"))
		require.NoError(t, err)
		require.NoError(t, c.AddJob(new(spent{"chem", "", "90", "1", month, 0}.outcome(t))))
		invoices, _ := compose(t, c, ledger...)
		return invoices[0]
	}
	ledger := LedgerEntries([]Invoice{run("100", nil, 1)})
	// 90 were used of what is now a grant of 50: of February's 50, 10 are left.
	require.Equal(t, []string{"A group chem: 10 (-40) -0 -10 -0 =0"}, pools(run("50", ledger, 2)))
}

func TestNewcomersAllowance(t *testing.T) {
	invoices := year(t, rosterOf(t, "- {id: old, pi: A}\n- {id: new, pi: B, since: 2026-02-17}"),
		allowances(t, `- {name: New PI, amount: "100.00", per: once, shared_by: pi, first_months: 2}`), 4,
		spent{"old", "", "10", "1", 2, 0}, spent{"new", "", "10", "1", 2, 3}, spent{"new", "", "60", "1", 3, 0}, spent{"new", "", "60", "1", 4, 0})
	require.Equal(t, []string{"New PI pi B: 100 (0) -0 -10 -0 =90"}, pools(invoices[1][0]), "it counts from the first of the month")
	require.Empty(t, pools(invoices[1][1]))
	require.Equal(t, money.Amount(1000), invoices[1][1].Total)
	require.Equal(t, []string{"New PI pi B: 100 (0) -10 -60 -0 =30"}, pools(invoices[2][0]))
	require.Equal(t, "2026-02-01", invoices[2][0].Pools[0].From.String())
	require.Equal(t, "2026-04-01", invoices[2][0].Pools[0].Until.String())
	require.Empty(t, pools(invoices[3][0]))
	require.Equal(t, money.Amount(6000), invoices[3][0].Total)
}

func TestProratedMoneyIsWholeCents(t *testing.T) {
	// A year from February that is joined in December: 2 of 12 months of
	// 100.00 are 16.66, not 16.666….
	c, err := NewComposer(rates.MonthOf(2026, 12, time.UTC), Settings{Currency: usd, FiscalYearStart: 2, Reductions: allowances(t,
		`- {name: A, amount: "100.00", per: fiscal_year, from: 2026-12-01, prorate: month}`)}, rosterOf(t, "- {id: chem}"))
	require.NoError(t, err)
	require.NoError(t, c.AddJob(new(spent{"chem", "", "20", "1", 12, 0}.outcome(t))))
	invoices, _ := compose(t, c)
	require.Equal(t, []string{"A group chem: 16.66 (0) -0 -16.66 -0 =0"}, pools(invoices[0]))
	require.Equal(t, money.Amount(334), invoices[0].Total)
}

func TestAllowanceBeforePrepaid(t *testing.T) {
	// 30 are free, 50 drawn, 20 paid.
	roster := rosterOf(t, "- {id: chem, allocations: [{name: G, meter: su, units: 50, from: 2026-01-01, until: 2027-01-01}]}")
	inv := year(t, roster, allowances(t, `- {name: Free, meter: su, units: "30"}`), 1, spent{"chem", "", "100", "1", 1, 0})[0][0]
	require.Equal(t, []string{
		"usage 1 job on h2p: 100 SU at 1 USD per SU | 100.00",
		"allowance Free: 30 SU of line 1, free up to 30 SU a month | -30.00",
		"prepaid Drawn on allocation G: 50 SU of line 1 | -50.00",
	}, texts(inv))
	require.Equal(t, []string{"G 50 50 0 20"}, balances(inv))
}

func TestTwoAllowancesInTheFilesOrder(t *testing.T) {
	inv := year(t, rosterOf(t, "- {id: chem}"), allowances(t, `- {name: B, meter: su, units: "30"}
- {name: A, amount: "50.00", per: fiscal_year}
- {name: C, meter: su, units: "30"}`), 1, spent{"chem", "", "100", "1", 1, 0})[0][0]
	// 30 units, 50.00 of 70.00, and of the 70 units left, each worth 20/70, 30.
	require.Equal(t, []string{
		"usage 1 job on h2p: 100 SU at 1 USD per SU | 100.00",
		"allowance B: 30 SU of line 1, free up to 30 SU a month | -30.00",
		"allowance A: credit on line 1, up to 50.00 USD a fiscal year | -50.00",
		"allowance C: 30 SU of line 1, free up to 30 SU a month | -8.57",
	}, texts(inv))
	require.NoError(t, inv.Check())
}

func TestAllowanceOfOtherUnitsIsRefused(t *testing.T) {
	c, err := NewComposer(march(t), Settings{Currency: usd, Reductions: allowances(t, `- {name: A, meter: su, units: 30}`)}, rosterOf(t, "- {id: chem}"))
	require.NoError(t, err)
	other := charge(t, "chem", "5", "1")
	other.Unit = "kSU"
	require.NoError(t, c.AddJob(new(job(t, 1, rating.Charged, 60, charge(t, "chem", "5", "1"), other))))
	_, _, err = c.Compose(nil)
	require.ErrorContains(t, err, "allowance A: meter su is counted in su and in")
}

func TestAllowanceOfStorage(t *testing.T) {
	c, err := NewComposer(march(t), Settings{Currency: usd, Reductions: allowances(t,
		`- {name: Free TB, meter: tb, units: 10, shared_by: department}`)}, rosterOf(t, "- {id: a, department: D}\n- {id: b, department: D}"))
	require.NoError(t, err)
	for group, tb := range map[string]string{"a": "12", "b": "3"} {
		ch := charge(t, group, tb, "5")
		ch.Meter, ch.Unit = "tb", "TB-month"
		require.NoError(t, c.AddStorage(rating.StorageOutcome{
			Holding: ingest.Holding{Group: group, Filesystem: "ix"}, Verdict: rating.Charged, Charges: []rating.Charge{ch},
		}))
	}
	invoices, _ := compose(t, c)
	require.Equal(t, []string{
		"storage Storage on ix: 12 TB-months at 5 USD per TB-month | 60.00",
		"allowance Free TB: 8 TB-months of line 1, free up to 10 TB-months a month for each department | -40.00",
	}, texts(invoices[0]))
	require.Equal(t, money.Amount(500), invoices[1].Total)
}
