package invoice

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// tiersOf gives tiers of steps "ABOVE PRICE ABOVE PRICE …".
func tiersOf(t testing.TB, mode rates.TierMode, window rates.TierWindow, counter string, steps ...string) *rates.Tiers {
	t.Helper()
	tiers := &rates.Tiers{Mode: mode, Window: window, Counter: counter}
	for i := 0; i < len(steps); i += 2 {
		tiers.Steps = append(tiers.Steps, rates.TierStep{Above: exact(t, steps[i]), Price: exact(t, steps[i+1])})
	}
	return tiers
}

// tiered is a job of the group chem that tiers will price.
func tiered(t testing.TB, day int, units string, tiers *rates.Tiers) rating.Outcome {
	t.Helper()
	o := billed(t, day, units, "0")
	o.Charges[0].Tiers, o.Charges[0].Counted = tiers, tiers.Window == rates.OfFiscalYear
	return o
}

// fiscal composes one invoice of a year that begins in July.
func fiscal(t testing.TB, roster *rates.Roster, ledger []LedgerEntry, jobs ...rating.Outcome) Invoice {
	t.Helper()
	c, err := NewComposer(march(t), Settings{Currency: usd, Rounding: DefaultRounding, FiscalYearStart: time.July}, roster)
	require.NoError(t, err)
	for _, o := range jobs {
		require.NoError(t, c.AddJob(&o))
	}
	invoices, _ := compose(t, c, ledger...)
	require.Len(t, invoices, 1)
	return invoices[0]
}

func counters(inv Invoice) []string {
	var all []string
	for _, c := range inv.Counters {
		all = append(all, c.Card+" "+c.Meter+" "+c.Opening.String()+" + "+c.Counted.String()+" "+c.Unit+" from "+c.From.String())
	}
	return all
}

// A month's units by the step in which each lies: a line a step.
func TestGraduatedTiersOfTheMonth(t *testing.T) {
	tiers := tiersOf(t, rates.Graduated, rates.OfMonth, "units", "0", "0.05", "1000", "0.04", "10000", "0.03")
	f := func(jobs []rating.Outcome, want ...string) {
		t.Helper()
		inv := drawn(t, chemistry(), nil, jobs...)
		require.Equal(t, want, texts(inv))
		require.Empty(t, inv.Counters)
		require.NoError(t, inv.Check())
	}
	f([]rating.Outcome{tiered(t, 3, "700", tiers), tiered(t, 4, "12000", tiers)},
		"usage 2 jobs on h2p: 1,000 SU at 0.05 USD per SU (first 1,000 SU of the month) | 50.00",
		"usage 2 jobs on h2p: 9,000 SU at 0.04 USD per SU (next 9,000 SU of the month) | 360.00",
		"usage 2 jobs on h2p: 2,700 SU at 0.03 USD per SU (above 10,000 SU of the month) | 81.00")
	f([]rating.Outcome{tiered(t, 3, "1000", tiers)},
		"usage 1 job on h2p: 1,000 SU at 0.05 USD per SU (first 1,000 SU of the month) | 50.00")
	// A meter of another price stands beside it.
	f([]rating.Outcome{tiered(t, 3, "1000.5", tiers), func() rating.Outcome {
		o := billed(t, 3, "10", "1")
		o.Charges[0].Meter = "gpu"
		return o
	}()},
		"usage 1 job on h2p: 10 SU at 1 USD per SU | 10.00",
		"usage 1 job on h2p: 1,000 SU at 0.05 USD per SU (first 1,000 SU of the month) | 50.00",
		"usage 1 job on h2p: 0.5 SU at 0.04 USD per SU (next 9,000 SU of the month) | 0.02")
}

// Free below a count is a step of price 0.
func TestTiersWithAFreeStep(t *testing.T) {
	tiers := tiersOf(t, rates.Graduated, rates.OfMonth, "units", "0", "0", "10000", "0.012")
	require.Equal(t, []string{
		"usage 1 job on h2p: 10,000 SU at 0 USD per SU (first 10,000 SU of the month) | 0.00",
		"usage 1 job on h2p: 500 SU at 0.012 USD per SU (above 10,000 SU of the month) | 6.00",
	}, texts(drawn(t, chemistry(), nil, tiered(t, 3, "10500", tiers))))
}

func TestVolumeTiers(t *testing.T) {
	tiers := tiersOf(t, rates.Volume, rates.OfMonth, "units", "0", "0.05", "1000", "0.04", "10000", "0.03")
	f := func(units, want string) {
		t.Helper()
		require.Equal(t, []string{want}, texts(drawn(t, chemistry(), nil, tiered(t, 3, units, tiers))))
	}
	f("1000", "usage 1 job on h2p: 1,000 SU at 0.05 USD per SU (up to 1,000 SU of the month) | 50.00")
	f("1001", "usage 1 job on h2p: 1,001 SU at 0.04 USD per SU (1,000 to 10,000 SU of the month) | 40.04")
	f("20000", "usage 1 job on h2p: 20,000 SU at 0.03 USD per SU (above 10,000 SU of the month) | 600.00")
}

// Over a fiscal year the count before the period comes from the ledger.
func TestTiersOfTheFiscalYear(t *testing.T) {
	entry := func(period, units string) LedgerEntry {
		return LedgerEntry{Kind: CountedUnits, Group: "chem", Card: "pitt-crc", Meter: "su", Unit: "SU", Period: period, Units: exact(t, units)}
	}
	ledger := []LedgerEntry{
		entry("2025-06", "9999"), // the fiscal year before
		entry("2025-07", "500"), entry("2026-02", "300"), entry("2026-03", "77"), entry("2026-04", "88"),
		{Group: "chem", Allocation: "a", Meter: "su", Unit: "SU", Period: "2026-01", Units: exact(t, "5")}, // a draw
		{Kind: CountedUnits, Group: "bio", Card: "pitt-crc", Meter: "su", Period: "2026-01", Units: exact(t, "5")},
	}
	tiers := tiersOf(t, rates.Graduated, rates.OfFiscalYear, "units", "0", "0.05", "1000", "0.04")
	inv := fiscal(t, chemistry(), ledger, tiered(t, 3, "250", tiers))
	require.Equal(t, []string{
		"usage 1 job on h2p: 200 SU at 0.05 USD per SU (first 1,000 SU of the fiscal year) | 10.00",
		"usage 1 job on h2p: 50 SU at 0.04 USD per SU (above 1,000 SU of the fiscal year) | 2.00",
	}, texts(inv))
	require.Equal(t, []string{"pitt-crc su 800 + 250 SU from 2025-07-01"}, counters(inv))
	require.Equal(t, []LedgerEntry{{Kind: CountedUnits, Group: "chem", Card: "pitt-crc", Period: "2026-03", Meter: "su", Unit: "SU", Units: exact(t, "250")}},
		LedgerEntries([]Invoice{inv}))
	require.True(t, inv.Counters[0].OpeningFrom("chem", "2026-03", ledger).Equal(exact(t, "800")))

	// The volume that the year reaches, and the bracket in which the month began.
	tiers = tiersOf(t, rates.Volume, rates.OfFiscalYear, "units", "0", "0.05", "1000", "0.04")
	require.Equal(t, []string{"usage 1 job on h2p: 250 SU at 0.04 USD per SU (above 1,000 SU of the fiscal year) | 10.00"},
		texts(fiscal(t, chemistry(), ledger, tiered(t, 3, "250", tiers))))
	tiers = tiersOf(t, rates.Bracket, rates.OfFiscalYear, "units", "0", "0.05", "800", "0.04")
	require.Equal(t, []string{"usage 1 job on h2p: 250 SU at 0.04 USD per SU (above 800 SU of the fiscal year) | 10.00"},
		texts(fiscal(t, chemistry(), ledger, tiered(t, 3, "250", tiers))))
	tiers = tiersOf(t, rates.Bracket, rates.OfFiscalYear, "units", "0", "0.05", "801", "0.04")
	require.Equal(t, []string{"usage 1 job on h2p: 250 SU at 0.05 USD per SU (up to 801 SU of the fiscal year) | 12.50"},
		texts(fiscal(t, chemistry(), ledger, tiered(t, 3, "250", tiers))))

	_, _, err := func() ([]Invoice, Summary, error) {
		c := newComposer(t, chemistry())
		require.NoError(t, c.AddJob(new(tiered(t, 3, "250", tiers))))
		return c.Compose(nil)
	}()
	require.EqualError(t, err, "group chem: BUG: tiers over a fiscal year, and nobody says when it begins")
}

// Caltech: by the money spent in the fiscal year, 0.014 to 6,500, 0.008 to
// 24,000, 0.005 above.
func TestTiersOfMoneySpent(t *testing.T) {
	tiers := tiersOf(t, rates.Graduated, rates.OfFiscalYear, "money", "0", "0.014", "6500", "0.008", "24000", "0.005")
	inv := fiscal(t, chemistry(), nil, tiered(t, 3, "400000", tiers), tiered(t, 5, "100000", tiers))
	// 6,500 USD are 464,285.714286 units; the other 35,714.285714 at 0.008.
	require.Equal(t, []string{
		"usage 2 jobs on h2p: 464,285.714286 SU at 0.014 USD per SU (first 6,500 USD of the fiscal year) | 6,500.00",
		"usage 2 jobs on h2p: 35,714.285714 SU at 0.008 USD per SU (next 17,500 USD of the fiscal year) | 285.71",
	}, texts(inv))
	require.Equal(t, []string{
		"pitt-crc su 0 + 500000 SU from 2025-07-01",
		"pitt-crc su 0 + 47500/7 USD from 2025-07-01", // 6500 + 285.714…
	}, counters(inv))
	again := fiscal(t, chemistry(), []LedgerEntry{{Kind: CountedMoney, Group: "chem", Card: "pitt-crc", Meter: "su", Unit: "USD", Period: "2026-02", Units: exact(t, "23999")}},
		tiered(t, 3, "1125", tiers))
	require.Equal(t, []string{
		"usage 1 job on h2p: 125 SU at 0.008 USD per SU (next 17,500 USD of the fiscal year) | 1.00",
		"usage 1 job on h2p: 1,000 SU at 0.005 USD per SU (above 24,000 USD of the fiscal year) | 5.00",
	}, texts(again))
}

// EHU: the price of storage by the CPU days of the year: above 2,500 0.1,
// above 100 0.5, above 1 1.0, else 1.5 EUR a GB-month.
func TestTiersOfAnotherMeter(t *testing.T) {
	ehu := func(mode rates.TierMode) *rates.Tiers {
		return tiersOf(t, mode, rates.OfFiscalYear, "cpu_days", "0", "1.5", "1", "1.0", "100", "0.5", "2500", "0.1")
	}
	f := func(mode rates.TierMode, before, now string, want string) {
		t.Helper()
		var ledger []LedgerEntry
		if before != "" {
			ledger = append(ledger, LedgerEntry{Kind: CountedUnits, Group: "chem", Card: "pitt-crc", Meter: "cpu_days", Period: "2026-01", Units: exact(t, before)})
		}
		c, err := NewComposer(march(t), Settings{Currency: usd, Rounding: DefaultRounding, FiscalYearStart: time.January}, chemistry())
		require.NoError(t, err)
		if now != "" {
			o := billed(t, 3, now, "0")
			o.Charges[0].Meter, o.Charges[0].Unit, o.Charges[0].Counted = "cpu_days", "CPU day", true
			require.NoError(t, c.AddJob(&o))
		}
		ch := charge(t, "chem", "40", "0")
		ch.Meter, ch.Unit, ch.Tiers = "disk", "GB-month", ehu(mode)
		require.NoError(t, c.AddStorage(rating.StorageOutcome{Holding: ingest.Holding{Group: "chem", Filesystem: "home"}, Verdict: rating.Charged, Charges: []rating.Charge{ch}}))
		invoices, _ := compose(t, c, ledger...)
		lines := texts(invoices[0])
		require.Equal(t, want, lines[len(lines)-1])
		require.Len(t, invoices[0].Counters, 1)
	}
	f(rates.Volume, "", "", "storage Storage on home: 40 GB-months at 1.5 USD per GB-month (up to 1 cpu_days of the fiscal year) | 60.00")
	f(rates.Volume, "90", "10", "storage Storage on home: 40 GB-months at 1 USD per GB-month (1 to 100 CPU days of the fiscal year) | 40.00")
	f(rates.Volume, "90", "11", "storage Storage on home: 40 GB-months at 0.5 USD per GB-month (100 to 2,500 CPU days of the fiscal year) | 20.00")
	f(rates.Volume, "2400", "200", "storage Storage on home: 40 GB-months at 0.1 USD per GB-month (above 2,500 CPU days of the fiscal year) | 4.00")
	f(rates.Bracket, "90", "5000", "storage Storage on home: 40 GB-months at 1 USD per GB-month (1 to 100 CPU days of the fiscal year) | 40.00")
}

// Tel Aviv and others: storage by size, with a minimum left to the card.
func TestTiersOfStorage(t *testing.T) {
	tiers := tiersOf(t, rates.Graduated, rates.OfMonth, "units", "0", "0", "12", "0.8", "100", "1.2")
	c := newComposer(t, &rates.Roster{Groups: []*rates.Group{{ID: "chem", Language: "es"}}})
	for _, filesystem := range []string{"b", "a"} {
		ch := charge(t, "chem", "75", "0")
		ch.Meter, ch.Unit, ch.Tiers, ch.EstimatedDays = "tb", "TB-month", tiers, 3
		require.NoError(t, c.AddStorage(rating.StorageOutcome{
			Holding: ingest.Holding{Group: "chem", Filesystem: filesystem}, Verdict: rating.Charged, Charges: []rating.Charge{ch},
		}))
	}
	invoices, _ := compose(t, c)
	require.Equal(t, []string{
		"storage Almacenamiento en a: 12 TB-meses a 0 USD por TB-mes (hasta 12 TB-meses del mes); 3 días según una medición anterior | 0.00",
		"storage Almacenamiento en a: 63 TB-meses a 0,8 USD por TB-mes (de 12 a 100 TB-meses del mes); 3 días según una medición anterior | 50.40",
		"storage Almacenamiento en b: 25 TB-meses a 0,8 USD por TB-mes (de 12 a 100 TB-meses del mes); 3 días según una medición anterior | 20.00",
		"storage Almacenamiento en b: 50 TB-meses a 1,2 USD por TB-mes (más de 100 TB-meses del mes); 3 días según una medición anterior | 60.00",
	}, texts(invoices[0]))
}

// What is waived is not counted, and is taken off at the price at which it
// would have gone on; a prepaid balance draws on the lines of the tiers.
func TestTiersBeforeReductions(t *testing.T) {
	tiers := tiersOf(t, rates.Graduated, rates.OfFiscalYear, "units", "0", "2", "100", "1")
	waived := tiered(t, 2, "50", tiers)
	waived.Verdict, waived.Cause = rating.Waived, rating.Cause{Code: rating.ByRule, Detail: "node failure"}
	inv := fiscal(t, chemistry(allocation(t, "a", "110", "2026-01-01", "2026-06-01", rates.OverdraftBill)), nil,
		waived, tiered(t, 3, "130", tiers))
	require.Equal(t, []string{
		"usage 2 jobs on h2p: 100 SU at 2 USD per SU (first 100 SU of the fiscal year) | 200.00",
		"usage 2 jobs on h2p: 80 SU at 1 USD per SU (above 100 SU of the fiscal year) | 80.00",
		"waiver Waived (node failure): 50 SU of line 2, from 1 job on h2p | -50.00",
		"prepaid Drawn on allocation a: 100 SU of line 1 | -200.00",
		"prepaid Drawn on allocation a: 10 SU of line 2 | -10.00",
	}, texts(inv))
	require.Equal(t, []string{"pitt-crc su 0 + 130 SU from 2025-07-01"}, counters(inv))
	require.Equal(t, money.Amount(2000), inv.Total)
}

// Units are counted in the order of time as far as it is known: allocations
// that begin and end in the month part it.
func TestTiersFollowTime(t *testing.T) {
	tiers := tiersOf(t, rates.Graduated, rates.OfMonth, "units", "0", "2", "100", "1")
	roster := chemistry(allocation(t, "first", "1000", "2026-03-01", "2026-03-10", rates.OverdraftBill))
	inv := drawn(t, roster, nil, tiered(t, 20, "100", tiers), tiered(t, 5, "60", tiers))
	require.Equal(t, []string{
		"usage 2 jobs on h2p: 100 SU at 2 USD per SU (first 100 SU of the month) | 200.00",
		"usage 2 jobs on h2p: 60 SU at 1 USD per SU (above 100 SU of the month) | 60.00",
		"prepaid Drawn on allocation first: 60 SU of line 1 | -120.00",
	}, texts(inv))
}

// A version of the card that begins within the month counts on.
func TestTiersOfTwoVersions(t *testing.T) {
	old := tiersOf(t, rates.Graduated, rates.OfMonth, "units", "0", "2", "100", "1")
	now := tiersOf(t, rates.Graduated, rates.OfMonth, "units", "0", "3", "150", "0.5")
	later := tiered(t, 20, "90", now)
	later.Charges[0].Reason.Version = date(t, "2026-03-15")
	require.Equal(t, []string{
		"usage 1 job on h2p: 100 SU at 2 USD per SU (first 100 SU of the month) | 200.00",
		"usage 1 job on h2p: 20 SU at 1 USD per SU (above 100 SU of the month) | 20.00",
		"usage 1 job on h2p: 30 SU at 3 USD per SU (first 150 SU of the month) | 90.00",
		"usage 1 job on h2p: 60 SU at 0.5 USD per SU (above 150 SU of the month) | 30.00",
	}, texts(drawn(t, chemistry(), nil, later, tiered(t, 3, "120", old))))
}

// The charges of jobs take the average price, and sum to the lines.
func TestTierPrices(t *testing.T) {
	tiers := tiersOf(t, rates.Graduated, rates.OfMonth, "units", "0", "0.05", "1000", "0.04")
	jobs := []rating.Outcome{tiered(t, 3, "700", tiers), tiered(t, 4, "1100/3", tiers), tiered(t, 4, "0", tiers)}
	inv := drawn(t, chemistry(), nil, jobs...)
	prices := TierPricesOf([]Invoice{inv})
	var sum, lines money.Exact
	for i := range jobs {
		require.NoError(t, prices.SettleJob(&jobs[i]))
		require.Nil(t, jobs[i].Charges[0].Tiers)
		sum = sum.Add(jobs[i].Charges[0].Amount)
	}
	for _, l := range inv.Lines {
		lines = lines.Add(l.Exact)
	}
	require.True(t, sum.Equal(lines))
	require.True(t, jobs[0].Charges[0].Price.Equal(jobs[1].Charges[0].Price))
	require.NoError(t, prices.SettleJob(&jobs[0]), "once more changes nothing")

	stranger := tiered(t, 3, "700", tiers)
	stranger.Charges[0].Reason.Card = "another"
	require.ErrorContains(t, prices.SettleJob(&stranger), "700 SU of chem are in no line of its invoice: job h2p/1")
	disk := charge(t, "chem", "2", "0")
	disk.Tiers = tiers
	require.ErrorContains(t, prices.SettleStorage([]rating.StorageOutcome{{Holding: ingest.Holding{Group: "chem", Filesystem: "d"}, Charges: []rating.Charge{disk}}}),
		"storage of chem on d")
}

// A year of months: each opens where the ledger leaves it, run in any order,
// and the year's money is that of its units.
func TestTiersOfAYearReplay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		mode := rates.Graduated
		counter := rapid.SampledFrom([]string{"units", "money"}).Draw(rt, "counter")
		tiers := tiersOf(t, mode, rates.OfFiscalYear, counter, "0", "0.05", "1000", "0.04", "10000", "0.03")
		run := func(p rates.Period, units money.Exact, ledger []LedgerEntry) Invoice {
			c, err := NewComposer(p, Settings{Currency: usd, Rounding: DefaultRounding, FiscalYearStart: time.July}, chemistry())
			require.NoError(t, err)
			o := tiered(t, 1, "1", tiers)
			o.Job.End, o.Charges[0].Quantity = ingest.Instant(p.Start.Unix()+3600), units
			require.NoError(t, c.AddJob(&o))
			invoices, _, err := c.Compose(ledger)
			require.NoError(t, err)
			return invoices[0]
		}
		var ledger []LedgerEntry
		var all []money.Exact
		var first []Invoice
		var sum, amount money.Exact
		p := rates.MonthOf(2025, time.July, time.UTC)
		for range 12 {
			units := money.Ratio(rapid.Int64Range(1, 50_000_000).Draw(rt, "units"), 3600)
			inv := run(p, units, ledger)
			ledger = append(ledger, LedgerEntries([]Invoice{inv})...)
			all, first = append(all, units), append(first, inv)
			sum = sum.Add(units)
			for _, l := range inv.Lines {
				amount = amount.Add(l.Exact)
			}
			p = p.Next()
		}
		require.True(t, amount.Equal(tiers.Amount(money.Exact{}, money.Exact{}, sum)))
		p = rates.MonthOf(2025, time.July, time.UTC)
		for i := range all {
			again := run(p, all[i], ledger)
			require.Equal(t, first[i].Digest(), again.Digest(), "month %d", i)
			body, err := json.Marshal(again)
			require.NoError(t, err)
			var back Invoice
			require.NoError(t, json.Unmarshal(body, &back))
			require.Equal(t, again.Digest(), back.Digest())
			p = p.Next()
		}
		next := run(p, money.Int(1), ledger) // the new fiscal year
		require.Zero(t, next.Counters[0].Opening.Sign())
	})
}
