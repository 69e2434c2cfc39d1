package invoice

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

func reductionsOf(t testing.TB, text string) *rates.Reductions {
	t.Helper()
	r, err := rates.LoadReductions("reductions.yaml", []byte(text))
	require.NoError(t, err)
	return r
}

func rosterOf(t testing.TB, text string) *rates.Roster {
	t.Helper()
	r, err := rates.LoadRoster("groups.yaml", []byte("groups:\n"+text))
	require.NoError(t, err)
	return r
}

// use is units of a meter at 1.00, by a job that ended on a day of March.
func use(t testing.TB, day int, group, meter, units string) rating.Outcome {
	t.Helper()
	ch := charge(t, group, units, "1")
	ch.Meter = meter
	return job(t, day, rating.Charged, 60, ch)
}

// under composes March under a roster and rules; fiscal years begin in
// February.
func under(t testing.TB, roster *rates.Roster, rules string, ledger []LedgerEntry, jobs ...rating.Outcome) []Invoice {
	t.Helper()
	s := Settings{Currency: usd, Rounding: DefaultRounding, FiscalYearStart: time.February, Reductions: reductionsOf(t, rules)}
	c, err := NewComposer(march(t), s, roster)
	require.NoError(t, err)
	for _, o := range jobs {
		require.NoError(t, c.AddJob(&o))
	}
	invoices, _ := compose(t, c, ledger...)
	return invoices
}

// taken gives the reductions of money as "RULE OF AMOUNT", and what is left to
// pay.
func taken(invoices ...Invoice) (lines []string, totals []string) {
	for _, inv := range invoices {
		for _, l := range inv.Lines {
			if l.Kind.OfMoney() {
				lines = append(lines, inv.Group.ID+" "+l.Reason+" "+inv.Lines[l.Of-1].Meter+" "+inv.Currency.Plain(l.Amount))
			}
		}
		totals = append(totals, inv.Currency.Plain(inv.Total))
	}
	return lines, totals
}

// limits gives the pools as "KIND RULE, HOLDER, TIME: BEFORE + OURS + OTHERS of LIMIT".
func limits(inv Invoice) []string {
	var all []string
	for _, p := range inv.Pools {
		all = append(all, string(p.Kind)+" "+p.Rule+", "+p.Holder()+", "+p.Per.String()+" "+p.From.String()+": "+
			p.Opening.String()+" + "+p.Counted.String()+" + "+p.Others.String()+" of "+p.Limit.String()+" "+p.Unit)
	}
	return all
}

// counts is what a group counted towards a limit in a month.
func counts(t testing.TB, kind LedgerKind, rule, group, pool, period, amount string) LedgerEntry {
	return LedgerEntry{Kind: kind, Group: group, Allocation: rule, Pool: pool, Period: period, Unit: "USD", Units: exact(t, amount)}
}

// The credits of NERC's invoices, from the tests of its invoicing (what is
// eligible, how credits stack, what is carried over).
func TestPublishedCredits(t *testing.T) {
	f := func(roster, rules string, ledger []LedgerEntry, jobs []rating.Outcome, lines, totals []string) {
		t.Helper()
		gotLines, gotTotals := taken(under(t, rosterOf(t, roster), rules, ledger, jobs...)...)
		require.Equal(t, lines, gotLines)
		require.Equal(t, totals, gotTotals)
	}
	const ada = "- {id: ada, pi: Ada Lovelace, department: Boston University}\n"
	const subsidy = `discounts: [{name: BU, department: Boston University, pi: "?*", percent: 100, up_to: 100, per: month, shared_by: pi}]`
	// nerc-invoicing-bu-subsidy-01: two lines of 60, 100 a month for the PI.
	f(ada, subsidy, nil, []rating.Outcome{use(t, 3, "ada", "a", "60"), use(t, 4, "ada", "b", "60")},
		[]string{"ada BU a -60.00", "ada BU b -40.00"}, []string{"20.00"})
	// The same of two groups of the PI: in proportion.
	f(ada+"- {id: ada2, pi: Ada Lovelace, department: Boston University}\n", subsidy, nil,
		[]rating.Outcome{use(t, 3, "ada", "a", "60"), use(t, 4, "ada2", "a", "60")},
		[]string{"ada BU a -50.00", "ada2 BU a -50.00"}, []string{"10.00", "10.00"})
	// nerc-invoicing-bu-subsidy-02: another case, another name.
	f("- {id: x, pi: X, department: boston university}\n- {id: y, pi: Y, department: BU}\n", subsidy, nil,
		[]rating.Outcome{use(t, 3, "x", "a", "100"), use(t, 3, "y", "a", "100")}, nil, []string{"100.00", "100.00"})
	// nerc-invoicing-credit-stacking-01: 10 are credited, then all that is left.
	f(ada, `discounts: [{name: first, percent: 100, up_to: 10}, {name: all, meter: a, percent: 100}]`, nil,
		[]rating.Outcome{use(t, 3, "ada", "a", "100")}, []string{"ada first a -10.00", "ada all a -90.00"}, []string{"0.00"})
	// nerc-invoicing-new-pi-credit-01 to -05: 1000 for a new PI, not for GPUs.
	const credit = `discounts: [{name: new PI, meter: "!gpu*", percent: 100, up_to: 1000, per: once, shared_by: pi}]`
	spent := []LedgerEntry{counts(t, Subsidised, "new PI", "gone", "pi Ada Lovelace", "2025-12", "500"),
		counts(t, Subsidised, "new PI", "other", "pi Bob", "2025-12", "500")}
	f(ada, credit, nil, []rating.Outcome{use(t, 3, "ada", "a", "100"), use(t, 3, "ada", "gpu_hours", "7")},
		[]string{"ada new PI a -100.00"}, []string{"7.00"})
	f(ada, credit, nil, []rating.Outcome{use(t, 3, "ada", "a", "500"), use(t, 3, "ada", "b", "1000")},
		[]string{"ada new PI a -500.00", "ada new PI b -500.00"}, []string{"500.00"})
	f(ada, credit, nil, []rating.Outcome{use(t, 3, "ada", "a", "500"), use(t, 3, "ada", "b", "400")},
		[]string{"ada new PI a -500.00", "ada new PI b -400.00"}, []string{"0.00"})
	f(ada, credit, spent, []rating.Outcome{use(t, 3, "ada", "a", "200")}, []string{"ada new PI a -200.00"}, []string{"0.00"})
	f(ada, credit, spent, []rating.Outcome{use(t, 3, "ada", "a", "600")}, []string{"ada new PI a -500.00"}, []string{"100.00"})
	// umich-lighthouse-02: 12 % of 743.07 are 89.1684, that is 89.17; the 89.16
	// that was published are not reached by any rounding to the cent.
	f(ada, `discounts: [{name: LSA, percent: 88}]`, nil, []rating.Outcome{use(t, 3, "ada", "node_years", "743.07")},
		[]string{"ada LSA node_years -653.90"}, []string{"89.17"})
	// sustech-qiming-01: half of what is paid for jobs that end in a week.
	f(ada, `discounts: [{name: week, percent: 50, from: 2026-03-01, until: 2026-03-08}]`, nil,
		[]rating.Outcome{use(t, 7, "ada", "a", "100"), use(t, 8, "ada", "a", "30")},
		[]string{"ada week a -50.00"}, []string{"80.00"})
}

// TestAReducedMonth is worked out by hand: 200.00 of use and 40.00 of storage.
//
//	30 % off            −60.00  −12.00     140.00 and 28.00 left
//	at most 150.00              −18.00     140.00 and 10.00
//	25 of 100 SU        −35.00             105.00 and 10.00
//	an adjustment        60.00             175.00
//	15 % overhead        26.25             201.25
//	19 % tax             38.24             239.49, 38.2375 before rounding
//	60 % and 40 %       143.69 and 95.80   143.694 and 95.796 before rounding
func TestAReducedMonth(t *testing.T) {
	roster := chemistry(allocation(t, "FY26", "25", "2026-01-01", "2027-01-01", rates.OverdraftBill))
	roster.Groups[0].Class = "internal"
	roster.Groups[0].Funds = []*rates.FundSplit{{Fund: "1", Percent: exact(t, "60")}, {Fund: "2", Percent: exact(t, "40")}}
	s := Settings{Currency: usd, Rounding: DefaultRounding}
	s.Reductions = reductionsOf(t, `
discounts: [{name: University rate, reason: decree 7, class: internal, percent: 30}]
caps: [{name: Most a month, class: internal, amount: 150}]
`)
	s.Overhead, s.Tax = []OverheadRule{{Name: "Overhead", Percent: exact(t, "15")}}, []TaxRule{tax("VAT", "19", t)}
	c, err := NewComposer(march(t), s, roster)
	require.NoError(t, err)
	require.NoError(t, c.AddJob(new(billed(t, 10, "100", "2"))))
	require.NoError(t, c.AddStorage(holding(t, rating.Charged, "40")))
	require.NoError(t, c.Adjust(readAll(t, "period,group,description,amount,reason,author\n2026-03,chem,Consulting,60,r,a\n")))
	invoices, summary := compose(t, c)
	inv := invoices[0]
	require.Equal(t, []string{
		"usage 1 job on h2p: 100 SU at 2 USD per SU | 200.00",
		"storage Storage on ix: 40 TB-months at 1 USD per TB-month | 40.00",
		"discount University rate: 30 % off line 1 (decree 7) | -60.00",
		"discount University rate: 30 % off line 2 (decree 7) | -12.00",
		"cap Most a month: at most 150.00 USD a month, from line 2 | -18.00",
		"prepaid Drawn on allocation FY26: 25 SU of line 1 | -35.00",
		"manual Consulting | 60.00",
		"overhead Overhead 15 % of 175.00 USD | 26.25",
		"tax VAT 19 % of 201.25 USD | 38.24",
	}, texts(inv))
	require.Equal(t, money.Amount(23949), inv.Total)
	require.Equal(t, money.Amount(-12500), summary.Reductions)
	require.Equal(t, []string{"1 143.69 of 239.49", "2 95.80 of 239.49"}, paid(&inv))
	require.Equal(t, []string{"discount", "discount", "cap"}, []string{inv.Lines[2].Code, inv.Lines[3].Code, inv.Lines[4].Code})
	for _, l := range inv.Lines[2:5] {
		require.Zero(t, l.Quantity.Sign())
		require.Zero(t, l.Price.Sign())
	}
	require.Equal(t, []string{"cap Most a month, group chem, month 2026-03-01: 0 + 150 + 0 of 150 USD"}, limits(inv))

	roster.Groups[0].Language = "es"
	c, err = NewComposer(march(t), s, roster)
	require.NoError(t, err)
	require.NoError(t, c.AddJob(new(billed(t, 10, "100", "2"))))
	invoices, _ = compose(t, c)
	require.Equal(t, "University rate: 30 % menos de la línea 1 (decree 7)", invoices[0].Lines[1].Description)
}

// What a percentage takes off a line of parts is exact, and rounded once in the
// line: 0.125 + 0.125 at 10 %.
func TestADiscountRoundsOnceInALine(t *testing.T) {
	roster := rosterOf(t, "- {id: chem, funds: [{fund: a, percent: 100, users: u1}, {fund: b, percent: 100}]}\n")
	inv := under(t, roster, `discounts: [{name: d, percent: 10}, {name: e, percent: 100/3}]`, nil,
		use(t, 3, "chem", "su", "0.125"), use(t, 4, "chem", "su", "0.125"))[0]
	lines, totals := taken(inv)
	// 0.25 list; a tenth of it is 0.025, of which the half cent goes with the
	// first of equal remainders; a third of the 0.225 left is 0.075.
	require.Equal(t, []string{"chem d su -0.03", "chem e su -0.07"}, lines)
	require.Equal(t, []string{"0.15"}, totals)
	require.True(t, inv.Lines[1].Exact.Equal(exact(t, "-0.025")))
	require.True(t, inv.Lines[2].Exact.Equal(exact(t, "-0.075")))
}

func TestReductionsByScope(t *testing.T) {
	f := func(rules string, want ...string) {
		t.Helper()
		roster := rosterOf(t, "- {id: bio, class: external, pi: Bob, department: Life}\n- {id: chem, pi: Ada, department: Science}\n")
		gpu := use(t, 9, "chem", "gpu_hours", "10")
		gpu.Job.Cluster = "owens"
		lines, _ := taken(under(t, roster, "discounts: [{name: d, percent: 50, "+rules+"}]", nil,
			use(t, 9, "bio", "su", "100"), use(t, 9, "chem", "su", "60"), gpu)...)
		require.Equal(t, want, lines)
	}
	f("class: internal", "chem d su -30.00", "chem d gpu_hours -5.00")
	f("class: [internal, external], meter: su", "bio d su -50.00", "chem d su -30.00")
	f(`group: "b*"`, "bio d su -50.00")
	f(`group: "!b*", cluster: owens`, "chem d gpu_hours -5.00")
	f("pi: Ada, department: Life")
	f("department: Science, cluster: h2p", "chem d su -30.00")
	f("from: 2026-03-10")
	f("until: 2026-03-09")
	f("until: 2026-04-09, from: 2026-01-01, pi: Bob", "bio d su -50.00")
}

// A dated rule is right to the second at midnight of the site's zone.
func TestADatedRuleIsHalfOpen(t *testing.T) {
	zone := march(t).Start.Location()
	ends := func(at time.Time) rating.Outcome {
		o := use(t, 1, "chem", "su", "10")
		o.Job.End = ingest.Instant(at.Unix())
		return o
	}
	midnight := func(day int) time.Time { return time.Date(2026, 3, day, 0, 0, 0, 0, zone) }
	inv := under(t, chemistry(), `discounts: [{name: d, percent: 10, from: 2026-03-10, until: 2026-03-20}]`, nil,
		ends(midnight(10).Add(-time.Second)), ends(midnight(10)), ends(midnight(20).Add(-time.Second)), ends(midnight(20)))[0]
	_, totals := taken(inv)
	require.Equal(t, []string{"38.00"}, totals)
}

func TestCaps(t *testing.T) {
	const two = "- {id: a, department: D}\n- {id: b, department: D}\n- {id: c, department: E}\n"
	f := func(rules string, ledger []LedgerEntry, lines, totals []string, jobs ...rating.Outcome) {
		t.Helper()
		invoices := under(t, rosterOf(t, two), rules, ledger, jobs...)
		gotLines, gotTotals := taken(invoices...)
		require.Equal(t, lines, gotLines)
		require.Equal(t, totals, gotTotals)
	}
	// What counts first is charged, in printed order.
	f(`caps: [{name: cap, amount: 500}]`, nil, []string{"a cap y -100.00", "a cap z -50.00"}, []string{"500.00"},
		use(t, 1, "a", "z", "50"), use(t, 2, "a", "x", "400"), use(t, 3, "a", "y", "200"))
	f(`caps: [{name: cap, amount: 500, meter: y}]`, nil, nil, []string{"600.00"}, use(t, 2, "a", "x", "400"), use(t, 3, "a", "y", "200"))
	f(`caps: [{name: cap, amount: 0}]`, nil, []string{"a cap x -0.01"}, []string{"0.00"}, use(t, 2, "a", "x", "0.01"))
	// Shared by a department: 200 in proportion to 300 and 100.
	f(`caps: [{name: cap, amount: 200, shared_by: department}]`, nil,
		[]string{"a cap x -150.00", "b cap x -50.00"}, []string{"150.00", "50.00", "70.00"},
		use(t, 2, "a", "x", "300"), use(t, 2, "b", "x", "100"), use(t, 2, "c", "x", "70"))
	// The cents that are left go by the largest remainder, then by ID.
	f(`caps: [{name: cap, amount: 100, shared_by: all}]`, nil,
		[]string{"a cap x -66.66", "b cap x -66.67", "c cap x -66.67"}, []string{"33.34", "33.33", "33.33"},
		use(t, 2, "a", "x", "100"), use(t, 2, "b", "x", "100"), use(t, 2, "c", "x", "100"))
	// Two caps: the second counts what the first leaves.
	f(`caps: [{name: one, amount: 90, meter: x}, {name: two, amount: 100}]`, nil,
		[]string{"a one x -10.00", "a two y -40.00"}, []string{"100.00"}, use(t, 2, "a", "x", "100"), use(t, 2, "a", "y", "50"))
	// A quarter that began in February: January is another's, and so is what
	// was counted under another rule, department or as a subsidy.
	ledger := []LedgerEntry{
		counts(t, Capped, "cap", "a", "department D", "2026-01", "1000"),
		counts(t, Capped, "cap", "gone", "department D", "2026-02", "120"),
		counts(t, Capped, "cap", "a", "department D", "2026-03", "5000"),
		counts(t, Capped, "cap", "c", "department E", "2026-02", "5000"),
		counts(t, Capped, "other", "a", "department D", "2026-02", "5000"),
		counts(t, Subsidised, "cap", "a", "department D", "2026-02", "5000"),
	}
	f(`caps: [{name: cap, amount: 200, per: quarter, shared_by: department, department: D}]`, ledger,
		[]string{"a cap x -20.00"}, []string{"80.00"}, use(t, 2, "a", "x", "100"))
	f(`caps: [{name: cap, amount: 100, per: fiscal_year, shared_by: department, department: D}]`, ledger,
		[]string{"a cap x -100.00"}, []string{"0.00"}, use(t, 2, "a", "x", "100"))
}

// The limit of a rule reaches only the parts of a line that it is of.
func TestACapOfADatedPartOfALine(t *testing.T) {
	inv := under(t, chemistry(), `caps: [{name: cap, amount: 25, until: 2026-03-10}]`, nil,
		use(t, 9, "chem", "su", "30"), use(t, 12, "chem", "su", "70"))[0]
	lines, totals := taken(inv)
	require.Equal(t, []string{"chem cap su -5.00"}, lines)
	require.Equal(t, []string{"95.00"}, totals)
}

// Tiers come before discounts, on whose lines these are.
func TestADiscountOfTiers(t *testing.T) {
	o := use(t, 9, "chem", "su", "150")
	o.Charges[0].Price, o.Charges[0].Amount = money.Exact{}, money.Exact{}
	o.Charges[0].Tiers = &rates.Tiers{Mode: rates.Graduated, Counter: rates.CountUnits, Window: rates.OfMonth,
		Steps: []rates.TierStep{{Price: money.Int(2)}, {Above: money.Int(100), Price: money.Int(1)}}}
	inv := under(t, chemistry(), `discounts: [{name: d, percent: 10}]`, nil, o)[0]
	lines, totals := taken(inv)
	require.Equal(t, []string{"chem d su -20.00", "chem d su -5.00"}, lines) // of 200.00 and 50.00
	require.Equal(t, []string{"225.00"}, totals)
}

// What is waived or wholly discounted costs no balance and counts towards no cap.
func TestReductionsInTheirOrder(t *testing.T) {
	roster := chemistry(allocation(t, "FY26", "100", "2026-01-01", "2027-01-01", rates.OverdraftBill))
	waived := use(t, 3, "chem", "b", "40")
	waived.Verdict, waived.Cause = rating.Waived, rating.Cause{Code: "rule", Detail: "ours"}
	inv := under(t, roster, `
discounts: [{name: free, meter: su, percent: 100}]
caps: [{name: cap, amount: 50}]
`, nil, use(t, 3, "chem", "su", "60"), waived, use(t, 3, "chem", "b", "70"))[0]
	require.Equal(t, []string{"waiver", "discount", "cap"}, kindsFrom(inv, 2))
	require.Equal(t, "50.00", usd.Plain(inv.Total))
	require.Equal(t, []string{"FY26 100 0 100 0"}, balances(inv))
}

func kindsFrom(inv Invoice, first int) []string {
	var kinds []string
	for _, l := range inv.Lines[first:] {
		kinds = append(kinds, string(l.Kind))
	}
	return kinds
}

// An earlier month run again finds what it found then.
func TestPoolsAreReplayed(t *testing.T) {
	const rules = `discounts: [{name: s, percent: 100, up_to: 100, per: fiscal_year, shared_by: pi}]`
	roster := rosterOf(t, "- {id: a, pi: Ada}\n- {id: b, pi: Ada}\n")
	earlier := []LedgerEntry{counts(t, Subsidised, "s", "a", "pi Ada", "2026-02", "30")}
	jobs := []rating.Outcome{use(t, 3, "a", "su", "40"), use(t, 3, "b", "su", "20")}
	first := under(t, roster, rules, earlier, jobs...)
	require.Equal(t, []string{"discount s, pi Ada, fiscal_year 2026-02-01: 30 + 40 + 20 of 100 USD"}, limits(first[0]))
	require.Equal(t, []string{"discount s, pi Ada, fiscal_year 2026-02-01: 30 + 20 + 40 of 100 USD"}, limits(first[1]))
	require.True(t, first[1].Pools[0].Left().Equal(money.Int(10)))

	ledger := append(slices.Clone(earlier), LedgerEntries(first)...)
	require.True(t, ledger[2].Units.Equal(money.Int(20)))
	ledger[2].Units = exact(t, "20")
	require.Equal(t, counts(t, Subsidised, "s", "b", "pi Ada", "2026-03", "20"), ledger[2])
	again := under(t, roster, rules, ledger, jobs...)
	require.Empty(t, Compare(first, again))
	require.True(t, first[0].Pools[0].OpeningFrom("2026-04", ledger).Equal(money.Int(90)))
}

func TestPoolsAreOfTheRecord(t *testing.T) {
	inv := under(t, chemistry(), `
discounts: [{name: s, percent: 100, up_to: 5, per: quarter}]
caps: [{name: c, amount: 10, per: once, shared_by: all}]
`, nil, use(t, 3, "chem", "su", "40"))[0]
	require.Contains(t, string(inv.Canonical()), `pools=1:2
pool.kind=8:discount
pool.rule=1:s
pool.shared_by=5:group
pool.of=4:chem
pool.per=7:quarter
pool.from=10:2026-02-01
pool.meter=0:
pool.unit=3:USD
pool.limit=1:5
pool.opening=1:0
pool.counted=1:5
pool.others=1:0
pool.kind=3:cap
`)
	body, err := json.Marshal(inv)
	require.NoError(t, err)
	var back Invoice
	require.NoError(t, json.Unmarshal(body, &back))
	require.Equal(t, inv.Digest(), back.Digest())
	require.Equal(t, limits(inv), limits(back))

	f := func(bug string, spoil func(*Invoice)) {
		t.Helper()
		var spoilt Invoice
		require.NoError(t, json.Unmarshal(body, &spoilt))
		spoil(&spoilt)
		require.ErrorContains(t, spoilt.Check(), bug)
	}
	f("s: the lines take 5, its limit says 4", func(inv *Invoice) { inv.Pools[0].Counted = money.Int(4) })
	f("s: 5 is more than 3", func(inv *Invoice) { inv.Pools[0].Limit = money.Int(3) })
	f("c: 25 is taken off although only 10 of 11 is charged", func(inv *Invoice) { inv.Pools[1].Limit = money.Int(11) })
	f("reductions by 1 rules without their limits", func(inv *Invoice) { inv.Pools = inv.Pools[:1] })
	f("line 2 takes off money, and 1 at 0 too", func(inv *Invoice) { inv.Lines[1].Quantity = money.Int(1) })
}

func TestALimitThatNobodyShares(t *testing.T) {
	s := Settings{Currency: usd, Rounding: DefaultRounding, Reductions: reductionsOf(t, "caps:\n- {name: c, amount: 5, shared_by: pi}\n")}
	c, err := NewComposer(march(t), s, chemistry())
	require.NoError(t, err)
	require.NoError(t, c.AddJob(new(billed(t, 10, "100", "2"))))
	_, _, err = c.Compose(nil)
	require.ErrorContains(t, err, "reductions.yaml:2:3: shared_by: c is shared by pi, and group chem has none")
	s.Reductions = reductionsOf(t, `caps: [{name: c, amount: "5.001"}]`)
	c, err = NewComposer(march(t), s, chemistry())
	require.NoError(t, err)
	require.NoError(t, c.AddJob(new(billed(t, 10, "100", "2"))))
	_, _, err = c.Compose(nil)
	require.ErrorContains(t, err, "an amount of 5.001 has more digits than USD")
}

// The sentences of every limit are whole in both languages.
func TestLimitsInWords(t *testing.T) {
	for _, w := range []*words{&english, &spanish} {
		for per := range w.per {
			for sharing := range w.sharedBy {
				text := w.limit(&rates.PoolLimit{Amount: money.Int(1500), Per: rates.Per(per), SharedBy: rates.Sharing(sharing)}, usd)
				require.Equal(t, strings.Join(strings.Fields(text), " "), text)
			}
		}
	}
	require.Equal(t, "1.500,00 USD por trimestre por departamento",
		spanish.limit(&rates.PoolLimit{Amount: money.Int(1500), Per: rates.PerQuarter, SharedBy: rates.ByDepartment}, usd))
}
