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

// drawn composes one invoice of the jobs, given as day, units and price.
func drawn(t testing.TB, roster *rates.Roster, ledger []LedgerEntry, jobs ...rating.Outcome) Invoice {
	t.Helper()
	c := newComposer(t, roster)
	for _, o := range jobs {
		require.NoError(t, c.AddJob(&o))
	}
	invoices, _ := compose(t, c, ledger...)
	require.Len(t, invoices, 1)
	return invoices[0]
}

// billed is a job of the group chem.
func billed(t testing.TB, day int, units, price string) rating.Outcome {
	t.Helper()
	return job(t, day, rating.Charged, 60, charge(t, "chem", units, price))
}

// balances gives the statements as "NAME OPENING DRAWN LEFT BEYOND".
func balances(inv Invoice) []string {
	var all []string
	for _, b := range inv.Balances {
		all = append(all, b.Allocation+" "+b.Opening.String()+" "+b.Drawn.String()+" "+b.Left.String()+" "+b.Beyond.String())
	}
	return all
}

func TestDrawWithinTheBalance(t *testing.T) {
	inv := drawn(t, chemistry(allocation(t, "FY26", "1000", "2025-07-01", "2026-07-01", rates.OverdraftBill)), nil,
		billed(t, 3, "400", "0.012"))
	require.Equal(t, []string{
		"usage 1 job on h2p: 400 SU at 0.012 USD per SU | 4.80",
		"prepaid Drawn on allocation FY26: 400 SU of line 1 | -4.80",
	}, texts(inv))
	require.Equal(t, []string{"FY26 1000 400 600 0"}, balances(inv))
	require.Equal(t, money.Amount(0), inv.Total)
	require.Equal(t, money.Amount(480), inv.List)
	require.Equal(t, CodePrepaid, inv.Lines[1].Code)
	require.Equal(t, "FY26", inv.Lines[1].Reason)
	require.Equal(t, "-400", inv.Lines[1].Quantity.String())
}

func TestDrawBeyondTheBalance(t *testing.T) {
	f := func(overdraft rates.Overdraft, lines ...string) {
		t.Helper()
		inv := drawn(t, chemistry(allocation(t, "FY26", "300", "2025-07-01", "2026-07-01", overdraft)), nil,
			billed(t, 3, "400", "0.012"))
		require.Equal(t, lines, texts(inv))
		require.Equal(t, []string{"FY26 300 300 0 100"}, balances(inv))
	}
	f(rates.OverdraftBill,
		"usage 1 job on h2p: 400 SU at 0.012 USD per SU | 4.80",
		"prepaid Drawn on allocation FY26: 300 SU of line 1 | -3.60")
	f(rates.OverdraftWaive,
		"usage 1 job on h2p: 400 SU at 0.012 USD per SU | 4.80",
		"prepaid Drawn on allocation FY26: 300 SU of line 1 | -3.60",
		"overdraft Beyond allocation FY26, waived: 100 SU of line 1 | -1.20")
}

func TestDrawFollowsTimeThenEndThenLine(t *testing.T) {
	// "old" ends within the month. Until then both hold, and old is drawn
	// first, from the cheaper line before the dearer one (printed order).
	roster := chemistry(
		allocation(t, "new", "100", "2026-03-01", "2027-03-01", rates.OverdraftBill),
		allocation(t, "old", "150", "2025-03-15", "2026-03-15", rates.OverdraftBill),
	)
	inv := drawn(t, roster, nil,
		billed(t, 20, "30", "0.01"), // after old has ended
		billed(t, 10, "100", "0.01"),
		billed(t, 14, "80", "0.02"))
	require.Equal(t, []string{
		"usage 2 jobs on h2p: 130 SU at 0.01 USD per SU | 1.30",
		"usage 1 job on h2p: 80 SU at 0.02 USD per SU | 1.60",
		// old: 100 of line 1 and 50 of line 2; new: the other 30 of line 2,
		// then the 30 of the 20th.
		"prepaid Drawn on allocation old: 100 SU of line 1 | -1.00",
		"prepaid Drawn on allocation old: 50 SU of line 2 | -1.00",
		"prepaid Drawn on allocation new: 30 SU of line 1 | -0.30",
		"prepaid Drawn on allocation new: 30 SU of line 2 | -0.60",
	}, texts(inv))
	require.Equal(t, []string{"old 150 150 0 0", "new 100 60 40 0"}, balances(inv))
}

func TestAnAllocationCoversItsOwnDays(t *testing.T) {
	roster := chemistry(allocation(t, "a", "1000", "2026-03-10", "2026-03-20", rates.OverdraftWaive))
	inv := drawn(t, roster, nil,
		billed(t, 9, "1", "1"), billed(t, 10, "10", "1"), billed(t, 19, "100", "1"), billed(t, 20, "1000", "1"))
	require.Equal(t, []string{
		"usage 4 jobs on h2p: 1,111 SU at 1 USD per SU | 1,111.00",
		"prepaid Drawn on allocation a: 110 SU of line 1 | -110.00",
	}, texts(inv))
	require.Equal(t, []string{"a 1000 110 890 0"}, balances(inv))
}

func TestTheInstantThatDecides(t *testing.T) {
	zone := march(t).Start.Location()
	roster := chemistry(allocation(t, "a", "1000", "2026-01-01", "2026-03-29", rates.OverdraftBill))
	midnight := ingest.Instant(time.Date(2026, 3, 29, 0, 0, 0, 0, zone).Unix()) // the day of the clock change
	f := func(end, until ingest.Instant, covered string) {
		t.Helper()
		o := billed(t, 1, "7", "1")
		o.Job.End, o.Until = end, until
		require.Equal(t, covered, drawn(t, roster, nil, o).Balances[0].Drawn.String())
	}
	f(midnight-1, midnight-1, "7")
	f(midnight, midnight, "0")                       // a job that ends at midnight is the new day's
	f(midnight+5000, midnight, "7")                  // but a part that was cut there is the old day's
	f(midnight+90_000_000, midnight+86_000, "0")     // a part that ends later
	f(midnight-90_000_000, midnight-90_000_000, "7") // billed by its start, ended before the period
	f(midnight+90_000_000, midnight+90_000_000, "0") // billed by its start, ended after it
	f(ingest.None, ingest.None, "0")                 // still running
}

func TestWhollyPrepaidLeavesNoCent(t *testing.T) {
	// 1.205 prints as 1.21; each half alone would print as 0.60.
	roster := chemistry(
		allocation(t, "a", "0.6025", "2026-01-01", "2026-06-01", rates.OverdraftBill),
		allocation(t, "b", "0.6025", "2026-01-01", "2026-07-01", rates.OverdraftBill))
	inv := drawn(t, roster, nil, billed(t, 5, "1.205", "1"))
	require.Equal(t, []string{
		"usage 1 job on h2p: 1.205 SU at 1 USD per SU | 1.21",
		"prepaid Drawn on allocation a: 0.6025 SU of line 1 | -0.61",
		"prepaid Drawn on allocation b: 0.6025 SU of line 1 | -0.60",
	}, texts(inv))
	require.Equal(t, money.Amount(0), inv.Total)
}

func TestWaivedIsListedAndNotDrawn(t *testing.T) {
	waived := job(t, 4, rating.Waived, 30, charge(t, "chem", "50", "0.012"))
	waived.Cause = rating.Cause{Code: rating.ByRule, Detail: "node failure"}
	inv := drawn(t, chemistry(allocation(t, "a", "100", "2026-01-01", "2026-06-01", rates.OverdraftBill)), nil,
		billed(t, 3, "70", "0.012"), waived)
	require.Equal(t, []string{
		"usage 2 jobs on h2p: 120 SU at 0.012 USD per SU | 1.44",
		"waiver Waived (node failure): 50 SU of line 1, from 1 job on h2p | -0.60",
		"prepaid Drawn on allocation a: 70 SU of line 1 | -0.84",
	}, texts(inv))
	require.Equal(t, int64(1), inv.Jobs)
	require.Equal(t, []string{"a 100 70 30 0"}, balances(inv))
}

func TestAmountsByTheCardsFormula(t *testing.T) {
	o := billed(t, 3, "10", "1")
	o.Charges[0].Amount = exact(t, "25") // 2.50 a unit
	inv := drawn(t, chemistry(allocation(t, "a", "4", "2026-01-01", "2026-06-01", rates.OverdraftBill)), nil, o)
	require.Equal(t, []string{
		"usage 1 job on h2p: 10 SU, priced by the card's own formula | 25.00",
		"prepaid Drawn on allocation a: 4 SU of line 1 | -10.00",
	}, texts(inv))
}

func TestOtherMetersAreNotDrawn(t *testing.T) {
	gpu := billed(t, 3, "10", "1")
	gpu.Charges[0].Meter, gpu.Charges[0].Unit = "gpu_hours", "GPU-hour"
	inv := drawn(t, chemistry(allocation(t, "a", "4", "2026-01-01", "2026-06-01", rates.OverdraftBill)), nil, gpu)
	require.Equal(t, []string{"usage 1 job on h2p: 10 GPU-hours at 1 USD per GPU-hour | 10.00"}, texts(inv))
	require.Equal(t, []string{"a 4 0 4 0"}, balances(inv))
	require.Equal(t, "su", inv.Balances[0].Unit, "no card counted the meter, so only its name is known")
}

func TestABalanceOfTwoUnitsIsRefused(t *testing.T) {
	c := newComposer(t, chemistry(allocation(t, "a", "4", "2026-01-01", "2026-06-01", rates.OverdraftBill)))
	thousands := billed(t, 3, "10", "1")
	thousands.Charges[0].Unit = "kSU"
	require.NoError(t, c.AddJob(new(billed(t, 3, "10", "1"))))
	require.NoError(t, c.AddJob(&thousands))
	_, _, err := c.Compose(nil)
	require.EqualError(t, err, "group chem: allocation a: meter su is counted in SU and in kSU by different cards; one balance cannot hold both")
}

func TestAllocationsOfOneNameAreRefused(t *testing.T) {
	roster := chemistry(
		allocation(t, "a", "4", "2026-01-01", "2026-03-10", rates.OverdraftBill),
		allocation(t, "a", "4", "2026-03-10", "2026-06-01", rates.OverdraftBill))
	_, err := NewComposer(march(t), Settings{Currency: usd}, roster)
	require.EqualError(t, err, `group chem has two allocations named "a": balances are kept by name`)
}

func TestOpening(t *testing.T) {
	a := allocation(t, "FY26", "1000", "2025-07-15", "2026-07-01", rates.OverdraftBill)
	entry := func(group, name, period, units string) LedgerEntry {
		return LedgerEntry{Group: group, Allocation: name, Period: period, Meter: "su", Unit: "SU", Units: exact(t, units)}
	}
	ledger := []LedgerEntry{
		entry("chem", "FY26", "2025-06", "1"),  // another year under the same name
		entry("chem", "FY26", "2025-07", "10"), // the month in which it begins
		entry("chem", "FY26", "2026-01", "20.5"),
		entry("chem", "FY26", "2026-02", "40"),
		entry("chem", "FY26", "2026-03", "80"),
		entry("bio", "FY26", "2026-01", "500"),
		entry("chem", "other", "2026-01", "500"),
		entry("chem", "FY26", "2026-07", "1000"), // after it ended
	}
	f := func(period, left string) {
		t.Helper()
		p, err := rates.ParsePeriod(period, time.UTC)
		require.NoError(t, err)
		require.Equal(t, left, Opening("chem", a, p, ledger).String())
	}
	f("2025-07", "1000")
	f("2026-01", "990")
	f("2026-02", "969.5")
	f("2026-03", "929.5")
	f("2026-06", "849.5")
	f("2026-01", "990") // once more, after March: the same

	// An allocation until the 1st has no day in that month; until the 2nd it has.
	a.Until = rates.Date{Year: 2026, Month: 3, Day: 1}
	f("2026-04", "929.5")
	a.Until = rates.Date{Year: 2026, Month: 3, Day: 2}
	f("2026-04", "849.5")
	a.Until = rates.Date{Year: 2026, Month: 1, Day: 1}
	f("2026-04", "990")
	a.Until = rates.Date{}
	f("2026-04", "849.5")
}

func TestANegativeOpeningDrawsNothing(t *testing.T) {
	spent := LedgerEntry{Group: "chem", Allocation: "a", Period: "2026-02", Units: money.Int(150)}
	inv := drawn(t, chemistry(allocation(t, "a", "100", "2026-01-01", "2026-06-01", rates.OverdraftBill)),
		[]LedgerEntry{spent}, billed(t, 5, "10", "1"))
	require.Equal(t, []string{"a -50 0 -50 10"}, balances(inv))
	require.Equal(t, money.Amount(1000), inv.Total)
}

func TestLedgerOfAYearReplays(t *testing.T) {
	// January to April draw 300 of 1000 each; then every month again.
	var ledger []LedgerEntry
	var first []string
	run := func(month time.Month, ledger []LedgerEntry) Invoice {
		p := rates.MonthOf(2026, month, time.UTC)
		roster := chemistry(allocation(t, "a", "1000", "2026-01-01", "2027-01-01", rates.OverdraftBill))
		c, err := NewComposer(p, Settings{Currency: usd, Rounding: DefaultRounding}, roster)
		require.NoError(t, err)
		o := billed(t, 1, "300", "0.012")
		o.Job.End = ingest.Instant(p.Start.Unix() + 3600)
		require.NoError(t, c.AddJob(&o))
		invoices, _ := compose(t, c, ledger...)
		return invoices[0]
	}
	for month := time.January; month <= time.April; month++ {
		inv := run(month, ledger)
		first = append(first, inv.Digest())
		ledger = append(ledger, LedgerEntries([]Invoice{inv})...)
	}
	require.Equal(t, []string{"a 100 100 0 200"}, balances(run(time.April, ledger)))
	for month := time.January; month <= time.April; month++ {
		again := run(month, ledger)
		require.Equal(t, first[month-1], again.Digest(), month)
	}
}

// What is drawn after a discount is worth less than the list price says: the
// line has no price rather than one that does not make its amount.
func TestADrawHasThePriceThatMakesItsAmount(t *testing.T) {
	f := func(amount, price string, priced bool) {
		t.Helper()
		list := Line{Position: 1, Kind: Usage, Quantity: exact(t, "20"), Price: exact(t, "1.5"), Exact: exact(t, "30")}
		r := &reduction{kind: Prepaid, quantity: exact(t, "10"), amount: exact(t, amount)}
		l := r.line(2, &list)
		require.Equal(t, price, l.Price.String())
		require.Equal(t, priced, l.Priced())
	}
	f("15", "1.5", true)
	f("13.5", "0", false)
	f("0", "0", true) // nothing was left to pay: at 0 it makes its amount
}
