package invoice

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates/money"
	"hpcbill/rating"
)

// taxed composes a bill of 200.00 for use, 50.00 for storage of which 10.00 is
// waived, and an adjustment of 60.00: 300.00 in all.
func taxed(t testing.TB, class string, s Settings) Invoice {
	t.Helper()
	roster := chemistry()
	roster.Groups[0].Class = class
	s.Currency, s.Rounding = usd, DefaultRounding
	c, err := NewComposer(march(t), s, roster)
	require.NoError(t, err)
	require.NoError(t, c.AddJob(new(billed(t, 10, "100", "2"))))
	held := holding(t, rating.Charged, "40")
	require.NoError(t, c.AddStorage(held))
	held = holding(t, rating.Waived, "10")
	held.Cause = rating.Cause{Code: "rule", Detail: "moving"}
	require.NoError(t, c.AddStorage(held))
	require.NoError(t, c.Adjust(readAll(t, "period,group,description,amount,reason,author\n2026-03,chem,Consulting,60,r,a\n")))
	invoices, _ := compose(t, c)
	return invoices[0]
}

// holding is storage of units at 1.00.
func holding(t testing.TB, v rating.Verdict, units string) rating.StorageOutcome {
	t.Helper()
	ch := charge(t, "chem", units, "1")
	ch.Meter, ch.Unit = "tb_months", "TB-month"
	o := rating.StorageOutcome{Verdict: v, Charges: []rating.Charge{ch}}
	o.Holding.Group, o.Holding.Filesystem = "chem", "ix"
	return o
}

func tax(name, percent string, t testing.TB) TaxRule {
	return TaxRule{Name: name, Percent: exact(t, percent), Of: Taxable()}
}

func TestOverheadAndTax(t *testing.T) {
	f := func(class string, s Settings, total string, want ...string) {
		t.Helper()
		inv := taxed(t, class, s)
		var lines []string
		for _, l := range inv.Lines {
			if l.Kind == Overhead || l.Kind == Tax {
				lines = append(lines, l.Description+" | "+inv.Currency.Plain(l.Amount))
			}
		}
		for _, x := range inv.Taxes {
			lines = append(lines, x.Mode.String()+" "+inv.Currency.Plain(x.Base)+" "+inv.Currency.Plain(x.Amount))
		}
		require.Equal(t, want, lines)
		require.Equal(t, total, inv.Currency.Plain(inv.Total))
		require.Equal(t, inv.List+inv.Reductions+inv.Manual+inv.Overhead+inv.Tax, inv.Total)
	}
	vat := tax("VAT", "19", t)
	external := vat
	external.Classes = []string{"external", "industry"}
	overhead := OverheadRule{Name: "Overhead", Percent: exact(t, "15"), Classes: []string{"external"}}

	f("internal", Settings{}, "300.00")
	f("internal", Settings{Tax: []TaxRule{external}, Overhead: []OverheadRule{overhead}}, "300.00")
	// 15 % of 300.00 = 45.00; 19 % of 345.00 = 65.55.
	f("external", Settings{Tax: []TaxRule{external}, Overhead: []OverheadRule{overhead}}, "410.55",
		"Overhead 15 % of 300.00 USD | 45.00", "VAT 19 % of 345.00 USD | 65.55", "exclusive 345.00 65.55")
	// Tax before overhead: the rule says on what it is. 19 % of 300.00 = 57.00.
	before := external
	before.Of = []Kind{Usage, Storage, Manual}
	f("external", Settings{Tax: []TaxRule{before}, Overhead: []OverheadRule{overhead}}, "402.00",
		"Overhead 15 % of 300.00 USD | 45.00", "VAT 19 % of 300.00 USD | 57.00", "exclusive 300.00 57.00")
	// Several rates: storage, of which 10.00 is waived, at 7 %, the rest at 19 %.
	low, high := tax("VAT", "7", t), tax("VAT", "19", t)
	low.Of, high.Of = []Kind{Storage}, []Kind{Usage, Manual, Overhead}
	f("internal", Settings{Tax: []TaxRule{low, high}}, "352.20",
		"VAT 7 % of 40.00 USD | 2.80", "VAT 19 % of 260.00 USD | 49.40", "exclusive 40.00 2.80", "exclusive 260.00 49.40")
	// Contained: 300.00 × 19/119 = 47.899…
	inclusive := vat
	inclusive.Mode = TaxInclusive
	f("internal", Settings{Tax: []TaxRule{inclusive}}, "300.00", "inclusive 252.10 47.90")
	reverse := TaxRule{Name: "VAT", Of: Taxable(), Mode: TaxReverseCharge, Note: "Article 196", Classes: []string{"external"}}
	f("external", Settings{Tax: []TaxRule{reverse}}, "300.00", "reverse_charge 300.00 0.00")
	// The last day of the period decides.
	old, now := tax("VAT", "16", t), tax("VAT", "19", t)
	old.Until, now.From = date(t, "2026-03-31"), date(t, "2026-03-31")
	f("internal", Settings{Tax: []TaxRule{old, now}}, "357.00", "VAT 19 % of 300.00 USD | 57.00", "exclusive 300.00 57.00")
	// Two on one line, each of the same sum: 5 % and 9.975 %.
	f("internal", Settings{Tax: []TaxRule{tax("GST", "5", t), tax("QST", "9.975", t)}}, "344.93",
		"GST 5 % of 300.00 USD | 15.00", "QST 9.975 % of 300.00 USD | 29.93", "exclusive 300.00 15.00", "exclusive 300.00 29.93")
}

func TestTaxesAreOfTheRecord(t *testing.T) {
	s := Settings{Overhead: []OverheadRule{{Name: "Overhead", Percent: exact(t, "15")}}, Tax: []TaxRule{tax("VAT", "19", t)}}
	s.Tax[0].Note = "note"
	inv := taxed(t, "external", s)
	text := string(inv.Canonical())
	require.Contains(t, text, "manual=4:6000\noverhead=4:4500\ntax=4:6555\nbalances=1:0\n")
	require.True(t, strings.HasSuffix(text, `taxes=1:1
tax.name=3:VAT
tax.percent=2:19
tax.mode=9:exclusive
tax.of=1:4
tax.kind=5:usage
tax.kind=7:storage
tax.kind=6:manual
tax.kind=8:overhead
tax.base=5:34500
tax.amount=4:6555
tax.note=4:note
`), text)
	body, err := json.Marshal(inv)
	require.NoError(t, err)
	var back Invoice
	require.NoError(t, json.Unmarshal(body, &back))
	require.Equal(t, text, string(back.Canonical()))
	require.Equal(t, money.Amount(34500), back.Net())

	f := func(part string, spoil func(*Invoice)) {
		t.Helper()
		var other Invoice
		require.NoError(t, json.Unmarshal(body, &other))
		spoil(&other)
		require.ErrorContains(t, other.Check(), part)
	}
	f("VAT of 19 % is 6555 on 34500, not 6554 on 34500", func(inv *Invoice) { inv.Taxes[0].Amount-- })
	f("is a tax that the totals do not have", func(inv *Invoice) { inv.Taxes = nil })
	f("VAT is in the totals and no line", func(inv *Invoice) {
		last := inv.Lines[len(inv.Lines)-1]
		inv.Lines, inv.Tax, inv.Total = inv.Lines[:len(inv.Lines)-1], 0, inv.Total-last.Amount
	})
	f("is overhead of 300, but the lines before come to 30001", func(inv *Invoice) {
		inv.Lines[0].Exact, inv.Lines[0].Amount = exact(t, "200.01"), 20001
		inv.List, inv.Total = inv.List+1, inv.Total+1
	})
	other := back
	other.Taxes = []TaxSum{back.Taxes[0]}
	other.Taxes[0].Note = "another"
	changes := Compare([]Invoice{back}, []Invoice{other})
	require.Len(t, changes, 1)
	require.Equal(t, []string{"taxes"}, changes[0].Other)
}

// Overhead and tax go with the part of the bill that they are added to.
func TestTaxIsPaidByWhoPaysTheRest(t *testing.T) {
	c, err := NewComposer(march(t), Settings{Currency: usd, Rounding: DefaultRounding, Tax: []TaxRule{tax("VAT", "10", t)}},
		splitOf(t, "  - {fund: u, percent: 100, users: u1}\n  - {fund: rest, percent: 100}\n"))
	require.NoError(t, err)
	for i, user := range []string{"u1", "u2"} {
		o := billed(t, i+1, []string{"1", "3"}[i], "10")
		o.Job.User = user
		require.NoError(t, c.AddJob(&o))
	}
	invoices, _ := compose(t, c)
	require.Equal(t, []string{"u 11.00 of 11.00 user u1", "rest 33.00 of 33.00"}, paid(&invoices[0]))
}

func TestParseTaxMode(t *testing.T) {
	for _, m := range []TaxMode{TaxExclusive, TaxInclusive, TaxReverseCharge} {
		got, err := ParseTaxMode(m.String())
		require.NoError(t, err)
		require.Equal(t, m, got)
	}
	_, err := ParseTaxMode("included")
	require.EqualError(t, err, `"included" is not one of exclusive, inclusive, reverse_charge`)
}
