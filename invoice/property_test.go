package invoice

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// aRoster draws up to three groups with up to three allocations each.
func aRoster(t *rapid.T) *rates.Roster {
	days := []rates.Date{
		{}, {Year: 2026, Month: 1, Day: 1}, {Year: 2026, Month: 3, Day: 1}, {Year: 2026, Month: 3, Day: 10},
		{Year: 2026, Month: 3, Day: 29}, {Year: 2026, Month: 4, Day: 1}, {Year: 2026, Month: 12, Day: 1},
	}
	roster := &rates.Roster{}
	for g := range rapid.IntRange(1, 3).Draw(t, "groups") {
		group := &rates.Group{
			ID: fmt.Sprintf("g%d", g), Language: rapid.SampledFrom([]string{"", "en", "es"}).Draw(t, "language"),
			PI: rapid.SampledFrom([]string{"Ada", "Bob"}).Draw(t, "pi"), Class: "internal", Department: "D",
		}
		for a := range rapid.IntRange(0, 3).Draw(t, "allocations") {
			group.Allocations = append(group.Allocations, &rates.Allocation{
				Name: fmt.Sprintf("a%d", a), Meter: rapid.SampledFrom([]string{"su", "core_hours"}).Draw(t, "meter"),
				Units: aQuantity(t), From: rapid.SampledFrom(days).Draw(t, "from"), Until: rapid.SampledFrom(days).Draw(t, "until"),
				Overdraft: rates.Overdraft(rapid.IntRange(0, 2).Draw(t, "overdraft")), Movements: someDeposits(t),
			})
		}
		group.Funds = someSplits(t)
		roster.Groups = append(roster.Groups, group)
	}
	return roster
}

// someDeposits draws movements, also on the first day and before the period.
func someDeposits(t *rapid.T) []rates.Movement {
	var all []rates.Movement
	for _, day := range []int{1, 10, 11} {
		if rapid.IntRange(0, 3).Draw(t, "deposit") == 0 {
			month := rapid.IntRange(2, 3).Draw(t, "month")
			all = append(all, rates.Movement{On: rates.Date{Year: 2026, Month: month, Day: day}, Units: aQuantity(t)})
		}
	}
	return all
}

// someSplits draws splits of the whole bill, and now and then of one user or
// meter, that total 100 %.
func someSplits(t *rapid.T) []*rates.FundSplit {
	if rapid.IntRange(0, 2).Draw(t, "funds") == 0 {
		return nil
	}
	var all []*rates.FundSplit
	split := func(scope rates.FundSplit) {
		left := int64(100_000)
		for n := range rapid.IntRange(0, 3).Draw(t, "shares") {
			s := scope
			s.Fund = fmt.Sprintf("f%d", n)
			if part := rapid.Int64Range(0, left-1).Draw(t, "percent"); part > 0 && left > 1 {
				left -= part
				s.Percent = money.Ratio(part, 1000)
			} else {
				s.Amount = money.Ratio(rapid.Int64Range(1, 100_000).Draw(t, "fixed"), 100)
			}
			all = append(all, &s)
		}
		scope.Fund, scope.Remainder = "rest", true
		all = append(all, &scope)
	}
	split(rates.FundSplit{})
	if rapid.Bool().Draw(t, "of a user") {
		split(rates.FundSplit{Users: []string{"u1"}})
	}
	if rapid.Bool().Draw(t, "of a meter") {
		split(rates.FundSplit{Users: []string{"u*"}, Meters: []string{"su"}})
	}
	return all
}

// someAdjustments draws charges and credits of March, whole cents each, and
// what they come to by group.
func someAdjustments(t *rapid.T, roster *rates.Roster) ([]Adjustment, map[string]money.Amount) {
	var all []Adjustment
	sums := map[string]money.Amount{}
	for n := range rapid.IntRange(0, 4).Draw(t, "adjustments") {
		group, sign := rapid.SampledFrom(roster.Groups).Draw(t, "group").ID, rapid.SampledFrom([]int64{1, -1}).Draw(t, "sign")
		cents := rapid.Int64Range(1, 100_000).Draw(t, "cents")
		all = append(all, Adjustment{
			ID: fmt.Sprintf("a%d", n), Group: group, Period: "2026-01", EveryMonths: rapid.IntRange(1, 2).Draw(t, "every"),
			Description: "x", Quantity: money.Int(sign), Price: money.Ratio(cents, 100), Code: CodeCharge, Reason: "r", Author: "a", Line: n,
		})
		sums[group] += money.Amount(sign * cents)
	}
	return all, sums
}

// someReductions draws discounts, with and without a limit, allowances of units
// and of money, and caps.
func someReductions(t *rapid.T) *rates.Reductions {
	days := []rates.Date{{}, {Year: 2026, Month: 3, Day: 1}, {Year: 2026, Month: 3, Day: 10}, {Year: 2026, Month: 3, Day: 29}, {Year: 2026, Month: 4, Day: 1}}
	r := &rates.Reductions{File: "reductions.yaml"}
	scope := func(name string) rates.ReductionScope {
		return rates.ReductionScope{
			Name: name, Meters: rapid.SampledFrom([]rates.Names{nil, {"su"}, {"!gpu_hours"}}).Draw(t, "meters"),
			Groups: rapid.SampledFrom([]rates.Names{nil, {"g0"}, {"!g0"}}).Draw(t, "groups"),
			From:   rapid.SampledFrom(days).Draw(t, "from"), Until: rapid.SampledFrom(days).Draw(t, "until"),
		}
	}
	limit := func() rates.PoolLimit {
		return rates.PoolLimit{
			Amount: money.Ratio(rapid.Int64Range(0, 200_000).Draw(t, "limit"), 100),
			Per:    rates.Per(rapid.IntRange(0, 3).Draw(t, "per")), SharedBy: rates.Sharing(rapid.IntRange(0, 4).Draw(t, "shared by")),
		}
	}
	for n := range rapid.IntRange(0, 2).Draw(t, "discounts") {
		d := &rates.Discount{ReductionScope: scope(fmt.Sprintf("d%d", n))}
		d.Percent = rapid.SampledFrom([]money.Exact{money.Int(100), money.Int(30), money.Ratio(100, 3)}).Draw(t, "percent")
		if rapid.Bool().Draw(t, "limited") {
			l := limit()
			d.Limit = &l
		}
		r.Discounts = append(r.Discounts, d)
	}
	for n := range rapid.IntRange(0, 2).Draw(t, "allowances") {
		a := &rates.Allowance{ReductionScope: scope(fmt.Sprintf("a%d", n)), Limit: limit(), Prorate: rates.GrantShare(rapid.IntRange(0, 2).Draw(t, "prorate"))}
		if rapid.Bool().Draw(t, "of units") {
			a.Meters, a.Limit.Meter, a.Limit.Amount = rates.Names{"su"}, "su", aQuantity(t)
		}
		switch {
		case a.Limit.Per == rates.PerOnce:
			a.Prorate = rates.WholeGrant
		case rapid.Bool().Draw(t, "carried"):
			a.From = rates.Date{Year: 2025, Month: rapid.IntRange(1, 12).Draw(t, "begins"), Day: 15}
			a.Rollover = rapid.SampledFrom([]int{1, 3, rates.Unlimited}).Draw(t, "rollover")
		}
		r.Allowances = append(r.Allowances, a)
	}
	for n := range rapid.IntRange(0, 2).Draw(t, "caps") {
		r.Caps = append(r.Caps, &rates.Cap{ReductionScope: scope(fmt.Sprintf("c%d", n)), Limit: limit()})
	}
	return r
}

// someCounted draws what February counted towards the limits, whole cents.
func someCounted(t *rapid.T, r *rates.Reductions) []LedgerEntry {
	var all []LedgerEntry
	rules, _ := r.Limits()
	for i, rule := range rules {
		kind := Subsidised
		switch {
		case i >= len(rules)-len(r.Caps):
			kind = Capped
		case i >= len(rules)-len(r.Caps)-len(r.Allowances):
			kind = Allowed
		}
		all = append(all, LedgerEntry{
			Kind: kind, Group: "g0", Allocation: rule.Name, Period: "2026-02", Unit: "USD",
			Pool:  rapid.SampledFrom([]string{"group g0", "pi Ada", "department D", "class internal", "all"}).Draw(t, "pool"),
			Units: money.Ratio(rapid.Int64Range(1, 100_000).Draw(t, "counted"), 100),
		})
	}
	return all
}

// requireLimits adds up over all invoices what each invoice says of a pool
// that it shares.
func requireLimits(t *rapid.T, invoices []Invoice, ledger []LedgerEntry) {
	counted := make(map[string]money.Exact)
	for _, inv := range invoices {
		for _, p := range inv.Pools {
			key := string(p.Kind) + p.Rule + p.Holder()
			counted[key] = counted[key].Add(p.Counted)
			require.True(t, p.OpeningFrom(inv.Period, ledger).Equal(p.Opening))
		}
	}
	for _, inv := range invoices {
		for _, p := range inv.Pools {
			sum := counted[string(p.Kind)+p.Rule+p.Holder()]
			require.True(t, sum.Equal(p.Counted.Add(p.Others)), "one says of the others what they say of themselves")
			require.True(t, sum.Sign() == 0 || p.Opening.Add(sum).Cmp(p.Limit) <= 0, "no limit is exceeded")
		}
	}
}

// someAdded draws rules of overhead and tax.
func someAdded(t *rapid.T) (overhead []OverheadRule, taxes []TaxRule) {
	percent := rapid.SampledFrom([]money.Exact{money.Int(15), money.Ratio(77, 10), money.Ratio(100, 3)})
	for range rapid.IntRange(0, 2).Draw(t, "overheads") {
		overhead = append(overhead, OverheadRule{Name: "o", Percent: percent.Draw(t, "overhead")})
	}
	of := [][]Kind{Taxable()}
	if rapid.Bool().Draw(t, "two rates") {
		of = [][]Kind{{Storage, Manual}, {Usage, Overhead}}
	}
	for i := range rapid.IntRange(0, len(of)).Draw(t, "taxes") {
		taxes = append(taxes, TaxRule{Name: "t", Of: of[i], Percent: percent.Draw(t, "tax"), Mode: TaxMode(rapid.IntRange(0, 2).Draw(t, "mode"))})
	}
	return overhead, taxes
}

func aQuantity(t *rapid.T) money.Exact {
	n := rapid.Int64Range(0, 500_000).Draw(t, "quantity")
	return money.Ratio(n, rapid.SampledFrom([]int64{1, 7, 3600, 3_600_000}).Draw(t, "over"))
}

// aCharge draws a charge of the group.
func aCharge(t *rapid.T, group string) rating.Charge {
	price := rapid.SampledFrom([]money.Exact{{}, money.Ratio(1, 3), money.Ratio(2, 6), money.Ratio(12, 1000), money.Int(7)}).Draw(t, "price")
	q := aQuantity(t)
	amount := q.Mul(price)
	if rapid.IntRange(0, 9).Draw(t, "formula") == 0 {
		amount = aQuantity(t)
	}
	if rapid.IntRange(0, 3).Draw(t, "tiered") == 0 {
		return aTieredCharge(t, group, q)
	}
	return rating.Charge{
		Group: group, Meter: rapid.SampledFrom([]string{"su", "core_hours", "gpu_hours"}).Draw(t, "meter"), Unit: "unit",
		Quantity: q, Price: price, Amount: amount, PriceLabel: rapid.SampledFrom([]string{"", "gpu"}).Draw(t, "label"),
		Reason: rating.Reason{Card: "card", CardDigest: "digest", Version: rates.Date{Year: 2026, Month: 1, Day: 1}},
	}
}

// someTiers are what the tiered charges of the property go by: a card has one
// Tiers for a meter.
var someTiers = map[string]*rates.Tiers{
	"graduated": {Mode: rates.Graduated, Counter: rates.CountUnits, Window: rates.OfMonth, Steps: steps(0, 100, 5000)},
	"spent":     {Mode: rates.Graduated, Counter: rates.CountMoney, Window: rates.OfFiscalYear, Steps: steps(0, 300, 900)},
	"volume":    {Mode: rates.Volume, Counter: rates.CountUnits, Window: rates.OfFiscalYear, Steps: steps(0, 50)},
	"bracket":   {Mode: rates.Bracket, Counter: "su", Window: rates.OfFiscalYear, Steps: steps(0, 10, 20)},
}

func steps(above ...int64) []rates.TierStep {
	var all []rates.TierStep
	for i, a := range above {
		all = append(all, rates.TierStep{Above: money.Int(a), Price: money.Ratio(int64(len(above)-i), 7)})
	}
	return all
}

func aTieredCharge(t *rapid.T, group string, q money.Exact) rating.Charge {
	name := rapid.SampledFrom([]string{"graduated", "spent", "volume", "bracket"}).Draw(t, "tiers")
	return rating.Charge{
		Group: group, Meter: name, Unit: "unit", Quantity: q, Tiers: someTiers[name], Counted: someTiers[name].Window == rates.OfFiscalYear,
		Reason: rating.Reason{Card: "card", CardDigest: "digest", Version: rates.Date{Year: 2026, Month: rapid.IntRange(1, 2).Draw(t, "version"), Day: 1}},
	}
}

// anOutcome draws what became of a job; with its charges' exact sum.
func anOutcome(t *rapid.T, roster *rates.Roster, start, end int64, n uint64) rating.Outcome {
	o := rating.Outcome{
		Job: &ingest.Job{
			Cluster: rapid.SampledFrom([]string{"h2p", "owens"}).Draw(t, "cluster"), JobID: "1", JobIDRaw: n,
			User: rapid.SampledFrom([]string{"", "u1", "u2"}).Draw(t, "user"),
			End:  ingest.Instant(rapid.Int64Range(start, end-1).Draw(t, "end")),
		},
		Verdict: rating.Verdict(rapid.IntRange(0, int(rating.Running)).Draw(t, "verdict")),
		Seconds: rapid.Int64Range(0, 100_000).Draw(t, "seconds"),
	}
	switch o.Verdict {
	case rating.NotRun:
		o.Seconds = 0
	case rating.Held, rating.Excluded, rating.Waived:
		o.Cause = rating.Cause{Code: "code", Detail: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "detail")}
	}
	if o.Verdict == rating.Charged || o.Verdict == rating.Waived {
		group := rapid.SampledFrom(roster.Groups).Draw(t, "group").ID
		for range rapid.IntRange(0, 3).Draw(t, "charges") {
			o.Charges = append(o.Charges, aCharge(t, group))
		}
	}
	return o
}

// TestEverythingAddsUp composes random months and checks, from the outside,
// what an invoice promises; that the order and the division of the work do not
// matter; and that nothing is lost on paper.
func TestEverythingAddsUp(t *testing.T) {
	period := march(t)
	rapid.Check(t, func(t *rapid.T) {
		roster := aRoster(t)
		settings := Settings{Currency: usd, Rounding: money.Mode(rapid.IntRange(0, int(money.Floor)).Draw(t, "rounding")), FiscalYearStart: 2}
		settings.Overhead, settings.Tax = someAdded(t)
		settings.Reductions = someReductions(t)
		var outcomes []rating.Outcome
		for n := range rapid.IntRange(0, 25).Draw(t, "jobs") {
			outcomes = append(outcomes, anOutcome(t, roster, period.Start.Unix(), period.End.Unix(), uint64(n)))
		}
		var ledger []LedgerEntry
		for range rapid.IntRange(0, 2).Draw(t, "entries") {
			ledger = append(ledger, LedgerEntry{Group: "g0", Allocation: "a0", Period: "2026-02", Units: aQuantity(t)})
			ledger = append(ledger, LedgerEntry{
				Kind: rapid.SampledFrom([]LedgerKind{CountedUnits, CountedMoney}).Draw(t, "kind"), Group: "g0", Card: "card",
				Meter: rapid.SampledFrom([]string{"su", "spent", "volume"}).Draw(t, "meter"), Period: "2026-02", Units: aQuantity(t),
			})
		}
		ledger = append(ledger, someCounted(t, settings.Reductions)...)
		adjustments, adjusted := someAdjustments(t, roster)
		invoices, summary := composeAll(t, period, settings, roster, ledger, outcomes, adjustments, 1)
		shuffled := rapid.Permutation(outcomes).Draw(t, "order")
		reversed := &rates.Roster{Groups: slices.Clone(roster.Groups)}
		slices.Reverse(reversed.Groups)
		again, summaryAgain := composeAll(t, period, settings, reversed, ledger, shuffled, adjustments, rapid.IntRange(1, 3).Draw(t, "composers"))
		requireSame(t, invoices, summary, again, summaryAgain)
		requireAddsUp(t, invoices, outcomes, ledger, adjusted)
		requireLimits(t, invoices, ledger)
	})
}

// composeAll divides the outcomes among composers and merges them.
func composeAll(t *rapid.T, period rates.Period, settings Settings, roster *rates.Roster, ledger []LedgerEntry, outcomes []rating.Outcome, adjustments []Adjustment, composers int) ([]Invoice, Summary) {
	all := make([]*Composer, composers)
	for i := range all {
		c, err := NewComposer(period, settings, roster)
		require.NoError(t, err)
		all[i] = c
	}
	for i, o := range outcomes {
		require.NoError(t, all[i%composers].AddJob(&o))
	}
	for _, c := range all[1:] {
		all[0].Merge(c)
	}
	require.NoError(t, all[0].Adjust(adjustments))
	invoices, summary, err := all[0].Compose(ledger)
	require.NoError(t, err)
	return invoices, summary
}

func requireSame(t *rapid.T, invoices []Invoice, summary Summary, others []Invoice, other Summary) {
	require.Len(t, others, len(invoices))
	for i := range invoices {
		require.Equal(t, string(invoices[i].Canonical()), string(others[i].Canonical()))
		body, err := json.Marshal(invoices[i])
		require.NoError(t, err)
		var back Invoice
		require.NoError(t, json.Unmarshal(body, &back))
		require.Equal(t, invoices[i].Digest(), back.Digest(), "JSON keeps everything")
	}
	require.Empty(t, Compare(invoices, others))
	first, err := json.Marshal(summary)
	require.NoError(t, err)
	second, err := json.Marshal(other)
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))
	var back Summary
	require.NoError(t, json.Unmarshal(first, &back))
	third, err := json.Marshal(back)
	require.NoError(t, err)
	require.Equal(t, string(first), string(third))
}

func requireAddsUp(t *rapid.T, invoices []Invoice, outcomes []rating.Outcome, ledger []LedgerEntry, adjusted map[string]money.Amount) {
	byGroup := make(map[string]money.Exact)
	prices := TierPricesOf(invoices)
	for _, o := range outcomes {
		o = o.Clone()
		require.NoError(t, prices.SettleJob(&o))
		for _, ch := range o.Charges {
			byGroup[ch.Group] = byGroup[ch.Group].Add(ch.Amount)
		}
	}
	for _, inv := range invoices {
		var printed, paid money.Amount
		var exact money.Exact
		for _, l := range inv.Lines {
			printed += l.Amount
			exact = exact.Add(l.Exact)
			if l.Kind.Adds() {
				exact = exact.Sub(l.Exact)
				continue
			}
			if l.Kind.Lists() {
				byGroup[inv.Group.ID] = byGroup[inv.Group.ID].Sub(l.Exact)
				paid += l.Amount
				continue
			}
			require.LessOrEqual(t, l.Amount, money.Amount(0))
			require.LessOrEqual(t, l.Quantity.Sign(), 0)
		}
		require.Equal(t, printed, inv.Total)
		require.Equal(t, inv.List+inv.Reductions+inv.Manual+inv.Overhead+inv.Tax, inv.Total)
		require.Equal(t, adjusted[inv.Group.ID], inv.Manual)
		delete(adjusted, inv.Group.ID)
		if len(inv.Funds) > 0 {
			var shares money.Amount
			for _, f := range inv.Funds {
				shares += f.Amount
				require.True(t, f.Amount >= 0 || inv.Manual < 0)
			}
			require.Equal(t, inv.Total, shares)
		}
		require.GreaterOrEqual(t, inv.List+inv.Reductions, money.Amount(0))
		require.GreaterOrEqual(t, exact.Sign(), 0)
		if exact.Sign() == 0 {
			require.Equal(t, money.Amount(0), inv.List+inv.Reductions, "what is wholly reduced leaves nothing to pay")
		}
		for _, b := range inv.Balances {
			require.GreaterOrEqual(t, b.Drawn.Sign(), 0)
			require.True(t, b.Left.Sign() >= 0 || b.Opening.Sign() < 0)
			require.False(t, b.Beyond.Sign() > 0 && b.Left.Sign() > 0 && b.Deposits.Sign() == 0, "nothing is beyond a balance that has units left")
			require.True(t, b.OpeningFrom(inv.Group.ID, inv.Period, ledger).Equal(b.Opening))
		}
		for _, p := range inv.Allowances() {
			require.GreaterOrEqual(t, p.Counted.Sign(), 0)
			require.True(t, p.OpeningFrom(inv.Period, ledger).Equal(p.Opening))
			require.True(t, p.EarlierFrom(ledger).Equal(p.Earlier))
		}
		for _, c := range inv.Counters {
			require.GreaterOrEqual(t, c.Counted.Sign(), 0)
			require.True(t, c.OpeningFrom(inv.Group.ID, inv.Period, ledger).Equal(c.Opening))
		}
	}
	require.Empty(t, adjusted, "what was adjusted is billed")
	for group, left := range byGroup {
		require.Zero(t, left.Sign(), group)
	}
}

func TestExactTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := money.Ratio(rapid.Int64().Draw(t, "n")/2, rapid.Int64Range(1, 1<<62).Draw(t, "d"))
		x = x.Mul(x).Mul(x)
		back, err := ParseExact(x.String())
		require.NoError(t, err)
		require.True(t, back.Equal(x))
	})
}

func FuzzParseExact(f *testing.F) {
	for _, s := range []string{"0", "-1.50", "80047/1800", "1/0", "1e5", "0x1", "1_0", "+1", "", "1.", ".5", "1.5/2", "-", "--1", " 1", "1/3/5", "∞"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := ParseExact(s)
		if err != nil {
			return
		}
		back, err := ParseExact(x.String())
		require.NoError(t, err)
		require.True(t, back.Equal(x))
		require.NotContains(t, s, "e")
		require.NotContains(t, s, "_")
	})
}
