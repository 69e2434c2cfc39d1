package invoice

import (
	"encoding/json"
	"testing"

	"hpcbill/rates/money"
	"hpcbill/rating"

	"github.com/stretchr/testify/require"
)

// priorInvoice is an invoice of chem that draws units on an allocation.
func priorInvoice(period string, list, reductions money.Amount, jobs int64, drawn string, t *testing.T) Invoice {
	t.Helper()
	inv := Invoice{Number: "N-" + period, Period: period, Group: Recipient{ID: "chem"}, Currency: usd, List: list, Reductions: reductions, Jobs: jobs}
	if drawn != "" {
		inv.Balances = []Balance{{Allocation: "FY26", Meter: "su", Unit: "SU", Drawn: exact(t, drawn)}}
	}
	return inv
}

// March was issued at 10.00 less 4.00; today it would be 15.00 less 6.00 with
// 2 jobs more and 3.5 units more drawn. April has corrected 1.00 of the 3.00
// and 3 of the units; what it corrected of February does not count.
func TestCorrectionsAreWhatIsNotSettled(t *testing.T) {
	issued := priorInvoice("2026-03", 1000, -400, 5, "10", t)
	today := priorInvoice("2026-03", 1500, -600, 7, "13.5", t)
	april := priorInvoice("2026-04", 0, 0, 0, "", t)
	april.Lines = []Line{
		{Kind: Prior, Reference: "2026-03", Amount: 100, Jobs: 1},
		{Kind: Prior, Reference: "2026-02", Amount: 7777, Jobs: 9},
	}
	entry := LedgerEntry{Group: "chem", Allocation: "FY26", Period: "2026-03", Meter: "su", Unit: "SU", Units: exact(t, "3")}
	april.Late = []LedgerEntry{entry}
	got := Corrections("2026-03", []Invoice{issued}, []Invoice{today}, []Invoice{april})
	require.Len(t, got, 1)
	require.Equal(t, money.Amount(200), got[0].Amount)
	require.Equal(t, int64(1), got[0].Jobs)
	require.Equal(t, "N-2026-03", got[0].Invoice)
	require.Len(t, got[0].Entries, 1)
	require.Equal(t, "0.5", got[0].Entries[0].Units.String())

	// Once May has the rest, nothing is left, in whatever order they are read.
	may := priorInvoice("2026-05", 0, 0, 0, "", t)
	may.Lines = []Line{{Kind: Prior, Reference: "2026-03", Amount: 200, Jobs: 1}}
	may.Late = got[0].Entries
	require.Empty(t, Corrections("2026-03", []Invoice{issued}, []Invoice{today}, []Invoice{may, april}))
	require.Empty(t, Corrections("2026-03", []Invoice{issued}, []Invoice{issued}, nil))
	// A group that had no invoice, and one that has none any more.
	require.Equal(t, money.Amount(900), Corrections("2026-03", nil, []Invoice{today}, nil)[0].Amount)
	require.Equal(t, money.Amount(-600), Corrections("2026-03", []Invoice{issued}, nil, nil)[0].Amount)
}

// A correction of 2.00 stands after use, is part of the overhead's base and
// taxed as use is; its draw on the allocation leaves less for this month.
func TestCorrectionOnAnInvoice(t *testing.T) {
	f := func(amount money.Amount, total string) {
		t.Helper()
		settings := Settings{
			Currency: usd, Rounding: DefaultRounding,
			Overhead: []OverheadRule{{Name: "Overhead", Percent: money.Int(10)}},
			Tax:      []TaxRule{{Name: "VAT", Percent: money.Int(20), Of: []Kind{Usage}}},
		}
		roster := chemistry(allocation(t, "FY26", "10", "2026-01-01", "2027-01-01", 0))
		c, err := NewComposer(march(t), settings, roster)
		require.NoError(t, err)
		require.NoError(t, c.AddJob(new(job(t, 5, rating.Charged, 3600, charge(t, "chem", "6", "1")))))
		late := LedgerEntry{Group: "chem", Allocation: "FY26", Period: "2026-02", Meter: "su", Unit: "SU", Units: exact(t, "8")}
		corrections := []Correction{{Group: "chem", Month: "2026-02", Invoice: "N-1", Amount: amount, Jobs: 3, Entries: []LedgerEntry{late}}}
		require.NoError(t, c.Correct(corrections))
		invoices, _ := compose(t, c, EntriesOf(corrections)...)
		inv := invoices[0]
		// 6.00 of use, 2 units of it prepaid: 4.00; with the correction the base
		// of 10 % overhead, and of 20 % tax on use.
		require.Equal(t, total, usd.Plain(inv.Total))
		require.Equal(t, "2", inv.Balances[0].Opening.String())
		require.Len(t, LedgerEntries(invoices), 2)
		require.Equal(t, corrections, CorrectionsBilled(invoices))

		text, err := json.Marshal(inv)
		require.NoError(t, err)
		var again Invoice
		require.NoError(t, json.Unmarshal(text, &again))
		require.Equal(t, inv.Digest(), again.Digest())
		inv.Late[0].Units = money.Int(9)
		require.NotEqual(t, inv.Digest(), again.Digest())
	}
	f(200, "7.80")    // 6.00 + 0.60 + 1.20
	f(-100, "3.90")   // 3.00 + 0.30 + 0.60
	f(-1000, "-7.80") // -6.00 - 0.60 - 1.20: a credit
}

// A job that costs nothing is on the invoice beside what does: its line says how
// many there are. An invoice of an earlier version has what it drew and no line,
// and comes out of the same again.
func TestCorrectionOfNothingIsALine(t *testing.T) {
	c, err := NewComposer(march(t), Settings{Currency: usd, Rounding: DefaultRounding}, chemistry())
	require.NoError(t, err)
	require.NoError(t, c.AddJob(new(job(t, 5, rating.Charged, 3600, charge(t, "chem", "6", "1")))))
	require.NoError(t, c.Correct([]Correction{{Group: "chem", Month: "2026-02", Jobs: 2}}))
	invoices, _ := compose(t, c)
	require.Len(t, invoices[0].Lines, 2)
	require.Equal(t, Prior, invoices[0].Lines[1].Kind)
	require.Equal(t, int64(2), invoices[0].Lines[1].Jobs)
	require.Equal(t, "6.00", usd.Plain(invoices[0].Total))

	before := invoices[0]
	before.Lines = before.Lines[:1]
	before.Late = []LedgerEntry{{Group: "chem", Allocation: "FY26", Period: "2026-02", Meter: "su", Unit: "SU", Units: money.Int(8)}}
	billed := CorrectionsBilled([]Invoice{before})
	c, err = NewComposer(march(t), Settings{Currency: usd, Rounding: DefaultRounding}, chemistry())
	require.NoError(t, err)
	require.NoError(t, c.AddJob(new(job(t, 5, rating.Charged, 3600, charge(t, "chem", "6", "1")))))
	require.NoError(t, c.Correct(billed))
	invoices, _ = compose(t, c)
	require.Len(t, invoices[0].Lines, 1)
	require.Equal(t, before.Late, invoices[0].Late)
}
