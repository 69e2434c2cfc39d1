package history

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// reckoning is what five years must come to, in big.Rat and whole cents,
// without the types and the order of the program.
type reckoning struct {
	used   map[string]*big.Rat // by group, month and what was used
	list   map[string]*big.Rat // by group and month: what gpu_hours cost at list price
	manual map[string]int64    // cents, by group and month

	counted map[string]*big.Rat // core-hours by group and fiscal year
	drawn   map[string]*big.Rat // of allocations, by group and name
	spent   map[string]*big.Rat // of allowances and limits, by rule, holder and time
	free    map[string][]*big.Rat
}

func newReckoning() *reckoning {
	return &reckoning{
		used: map[string]*big.Rat{}, list: map[string]*big.Rat{}, manual: map[string]int64{},
		counted: map[string]*big.Rat{}, drawn: map[string]*big.Rat{}, spent: map[string]*big.Rat{}, free: map[string][]*big.Rat{},
	}
}

func at(of map[string]*big.Rat, key string) *big.Rat {
	if of[key] == nil {
		of[key] = new(big.Rat)
	}
	return of[key]
}

func (r *reckoning) add(group, month, what string, x *big.Rat) {
	sum := at(r.used, group+" "+month+" "+what)
	sum.Add(sum, x)
}

func (r *reckoning) get(group, month, what string) *big.Rat {
	return new(big.Rat).Set(at(r.used, group+" "+month+" "+what))
}

// job adds a job. What of core_hours is free on the partition debug is apart,
// and so are the core-hours before and after the new prices of February 2023.
func (r *reckoning) job(group, month string, j *ingest.Job, zone *time.Location) {
	hours := big.NewRat(j.ElapsedSeconds, 3600)
	version := "old"
	if !time.Unix(int64(j.End), 0).Before(time.Date(2023, time.February, 15, 0, 0, 0, 0, zone)) {
		version = "new"
	}
	switch j.Partition {
	case "gpu":
		q := new(big.Rat).Mul(hours, big.NewRat(j.GPUs, 1))
		r.add(group, month, "gpu_hours", q)
		list := at(r.list, group+" "+month)
		list.Add(list, new(big.Rat).Mul(q, gpuPrice(group, month)))
	case "debug":
		r.add(group, month, "debug "+version, new(big.Rat).Mul(hours, big.NewRat(j.CPUs, 1)))
	default:
		r.add(group, month, "core_hours "+version, new(big.Rat).Mul(hours, big.NewRat(j.CPUs, 1)))
	}
}

func gpuPrice(group, month string) *big.Rat {
	prices := map[string][2]string{
		"g04": {"0.5", "0.45"}, "g07": {"0.8", "0.77"}, "g11": {"0.8", "0.77"}, "g12": {"0.8", "0.77"}, "g08": {"1.1", "1.2"},
	}
	price, ok := prices[group]
	if !ok {
		price = [2]string{"0.35", "0.333333"}
	}
	text := price[0]
	if month >= "2024-10" {
		text = price[1]
	}
	x, _ := new(big.Rat).SetString(text)
	return x
}

// tiered is what units cost that follow others, in graduated steps at 1,000
// and 4,000.
func tiered(before, units *big.Rat, version string) *big.Rat {
	prices := []string{"0.05", "0.04", "0.02"}
	if version == "new" {
		prices = []string{"0.055", "0.042", "0.021"}
	}
	upTo := func(x *big.Rat) *big.Rat { // what the first x units cost
		sum := new(big.Rat)
		bounds := []int64{0, 1000, 4000}
		for i, price := range prices {
			part := new(big.Rat).Sub(x, big.NewRat(bounds[i], 1))
			if i+1 < len(bounds) {
				part = least(part, big.NewRat(bounds[i+1]-bounds[i], 1))
			}
			if part.Sign() > 0 {
				p, _ := new(big.Rat).SetString(price)
				sum.Add(sum, part.Mul(part, p))
			}
		}
		return sum
	}
	return new(big.Rat).Sub(upTo(new(big.Rat).Add(before, units)), upTo(before))
}

func least(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return new(big.Rat).Set(a)
	}
	return new(big.Rat).Set(b)
}

// fiscalYear is the year, from July, that a month is in; quarter is a quarter
// of it.
func fiscalYear(p rates.Period) string { return p.FiscalYear(time.July).String() }

func quarter(p rates.Period) string {
	return rates.MonthOf(p.Year, (p.Month-1)/3*3+1, p.Start.Location()).String()
}

// requireBalanced holds a month against the reckoning.
func (r *reckoning) requireBalanced(t *testing.T, p rates.Period, invoices []invoice.Invoice, summary *invoice.Summary) {
	t.Helper()
	month := p.String()
	core := map[string]*big.Rat{} // billed, by group
	charges := new(big.Rat)
	byGroup := map[string]*invoice.Invoice{}
	for i := range invoices {
		byGroup[invoices[i].Group.ID] = &invoices[i]
		requireSums(t, &invoices[i])
	}
	var total money.Amount
	for n := range 12 {
		group := []string{"g01", "g02", "g03", "g04", "g05", "g06", "g07", "g08", "g09", "g10", "g11", "g12"}[n]
		inv := byGroup[group]
		if inv == nil {
			inv = &invoice.Invoice{Period: month}
		}
		total += inv.Total
		core[group] = r.requireList(t, group, p, inv, charges)
		require.Equal(t, r.manual[group+" "+month], int64(inv.Manual), "%s %s: what people wrote", group, month)
		r.requireBalances(t, group, p, inv, core[group])
	}
	require.Equal(t, charges.RatString(), summary.Charges.Rat().RatString(), "%s: charges", month)
	require.Equal(t, total, summary.Total)
	r.requireFreeTier(t, p, byGroup, core)
	r.requireTerabytes(t, p, byGroup)
	r.requireLimits(t, p, invoices)
	requirePlainTotal(t, byGroup["g07"])
}

// requireSums: what is printed adds up, and the funds pay it.
func requireSums(t *testing.T, inv *invoice.Invoice) {
	t.Helper()
	var sum, shares money.Amount
	cent := big.NewRat(1, 200)
	for _, l := range inv.Lines {
		sum += l.Amount
		rounding := new(big.Rat).Sub(big.NewRat(int64(l.Amount), 100), l.Exact.Rat())
		if l.Kind.Lists() {
			require.LessOrEqual(t, rounding.Abs(rounding).Cmp(cent), 0, "a line is rounded by half a cent at most")
		}
	}
	require.Equal(t, sum, inv.Total)
	for _, f := range inv.Payers() {
		shares += f.Amount
	}
	require.Equal(t, inv.Total, shares)
}

// requireList holds the quantities and prices of a group against the draws, and
// gives the core-hours that are billed.
func (r *reckoning) requireList(t *testing.T, group string, p rates.Period, inv *invoice.Invoice, charges *big.Rat) *big.Rat {
	t.Helper()
	month := p.String()
	quantity, amount := map[string]*big.Rat{}, map[string]*big.Rat{}
	for _, l := range inv.Lines {
		if l.Kind.Lists() {
			q, a := at(quantity, l.Meter), at(amount, l.Meter)
			q.Add(q, l.Quantity.Rat())
			a.Add(a, l.Exact.Rat())
		}
	}
	same := func(want, got *big.Rat, of string) {
		t.Helper()
		require.Equal(t, want.RatString(), got.RatString(), "%s %s: %s", group, month, of)
	}
	counted := at(r.counted, group+" "+fiscalYear(p))
	billed, cost, all := new(big.Rat), new(big.Rat), new(big.Rat)
	for _, version := range []string{"old", "new"} {
		units, free := r.get(group, month, "core_hours "+version), r.get(group, month, "debug "+version)
		cost.Add(cost, tiered(counted, units, version))
		counted.Add(counted, units)
		cost.Add(cost, tiered(counted, free, version)) // what is forgiven comes after, and does not count
		billed.Add(billed, units)
		all.Add(all, units).Add(all, free)
	}
	same(all, at(quantity, "core_hours"), "core-hours")
	same(cost, at(amount, "core_hours"), "what core-hours cost")
	same(r.get(group, month, "gpu_hours"), at(quantity, "gpu_hours"), "GPU-hours")
	same(at(r.list, group+" "+month), at(amount, "gpu_hours"), "what GPU-hours cost")
	same(r.get(group, month, "tb"), at(quantity, "tb"), "TB-months")
	price := big.NewRat(320, 100)
	if month >= "2024-10" {
		price = big.NewRat(295, 100)
	}
	same(price.Mul(price, r.get(group, month, "tb")), at(amount, "tb"), "what storage costs")
	for _, a := range amount {
		charges.Add(charges, a)
	}
	return billed
}

// requireBalances: an allocation holds what was granted and deposited less what
// was refunded and drawn; that of g11, which has no other reduction, is drawn as
// far as it goes.
func (r *reckoning) requireBalances(t *testing.T, group string, p rates.Period, inv *invoice.Invoice, billed *big.Rat) {
	t.Helper()
	granted := map[string][][2]string{ // day, units
		"g01 award":   {{"2021-10-01", "3000"}, {"2022-02-10", "500"}, {"2022-03-20", "-0.25"}, {"2022-06-01", "250.5"}},
		"g01 award 2": {{"2023-01-16", "100000"}},
		"g11 block":   {{"2021-07-01", "4000"}, {"2022-07-01", "4000"}, {"2023-09-13", "2500"}, {"2025-01-20", "3000"}},
		"g12 gpus":    {{"2021-07-01", "900"}},
	}
	first, end := p.Start.Format(time.DateOnly), p.End.Format(time.DateOnly)
	for _, b := range inv.Balances {
		name := group + " " + b.Allocation
		before, after := new(big.Rat), new(big.Rat)
		for i, g := range granted[name] {
			units, _ := new(big.Rat).SetString(g[1])
			if i == 0 || g[0] < first {
				before.Add(before, units)
			}
			if i == 0 || g[0] < end {
				after.Add(after, units)
			}
		}
		drawn := at(r.drawn, name)
		before.Sub(before, drawn)
		require.Equal(t, before.RatString(), b.Opening.Rat().RatString(), "%s %s: opening", name, p)
		drawn.Add(drawn, b.Drawn.Rat())
		require.Equal(t, after.Sub(after, drawn).RatString(), b.Left.Rat().RatString(), "%s %s: left", name, p)
		require.GreaterOrEqual(t, b.Left.Sign(), 0)
		if group == "g11" && b.Deposits.Sign() == 0 {
			require.Equal(t, least(before, billed).RatString(), b.Drawn.Rat().RatString(), "%s %s: drawn", name, p)
			beyond := new(big.Rat).Sub(billed, b.Drawn.Rat())
			require.Equal(t, beyond.RatString(), b.Beyond.Rat().RatString())
		}
	}
}

func counted(inv *invoice.Invoice, rule string) *big.Rat {
	sum := new(big.Rat)
	if inv == nil {
		return sum
	}
	for _, p := range inv.Pools {
		if p.Rule == rule {
			sum.Add(sum, p.Counted.Rat())
		}
	}
	return sum
}

// requireFreeTier: each internal group has 150 core-hours a month, usable two
// months longer, the oldest first; g09 and g10 then share 3,000 a year in
// proportion.
func (r *reckoning) requireFreeTier(t *testing.T, p rates.Period, byGroup map[string]*invoice.Invoice, core map[string]*big.Rat) {
	t.Helper()
	left := map[string]*big.Rat{}
	for _, group := range []string{"g01", "g02", "g03", "g05", "g06", "g09", "g10"} {
		grants := r.free[group]
		if group == "g06" && p.String() < "2022-10" {
			continue // it is not there yet
		}
		if grants = append(grants, big.NewRat(150, 1)); len(grants) > 3 {
			grants = grants[1:]
		}
		need, used := new(big.Rat).Set(core[group]), new(big.Rat)
		for _, g := range grants {
			take := least(g, need)
			g.Sub(g, take)
			need.Sub(need, take)
			used.Add(used, take)
		}
		r.free[group], left[group] = grants, need
		require.Equal(t, used.RatString(), counted(byGroup[group], "Free tier").RatString(), "%s %s: free tier", group, p)
	}
	if !p.Start.Before(time.Date(2025, time.January, 1, 0, 0, 0, 0, p.Start.Location())) {
		return
	}
	spent := at(r.spent, "pool "+fiscalYear(p))
	room := new(big.Rat).Sub(big.NewRat(3000, 1), spent)
	all := new(big.Rat).Add(left["g09"], left["g10"])
	granted := least(room, all)
	for _, group := range []string{"g09", "g10"} {
		want := new(big.Rat)
		if all.Sign() > 0 {
			want.Quo(want.Mul(granted, left[group]), all)
		}
		require.Equal(t, want.RatString(), counted(byGroup[group], "Yearly pool").RatString(), "%s %s: yearly pool", group, p)
	}
	spent.Add(spent, granted)
}

// requireTerabytes: the groups of a department share 4 TB a month in proportion
// to what they hold.
func (r *reckoning) requireTerabytes(t *testing.T, p rates.Period, byGroup map[string]*invoice.Invoice) {
	t.Helper()
	for _, groups := range [][]string{{"g01", "g02", "g03"}, {"g05", "g06"}, {"g09", "g10"}} {
		all := new(big.Rat)
		for _, g := range groups {
			all.Add(all, r.get(g, p.String(), "tb"))
		}
		if all.Sign() == 0 {
			continue
		}
		granted := least(all, big.NewRat(4, 1))
		for _, g := range groups {
			want := new(big.Rat).Mul(granted, r.get(g, p.String(), "tb"))
			require.Equal(t, want.Quo(want, all).RatString(), counted(byGroup[g], "Free terabytes").RatString(), "%s %s: terabytes", g, p)
		}
	}
}

// requireLimits: no limit is exceeded, in any month, quarter, year or in all.
func (r *reckoning) requireLimits(t *testing.T, p rates.Period, invoices []invoice.Invoice) {
	t.Helper()
	year := map[string]*big.Rat{}
	for i := range invoices {
		inv := &invoices[i]
		charged := new(big.Rat) // after caps, before balances
		taken := map[string]*big.Rat{}
		for _, l := range inv.Lines {
			if l.Kind.Adds() || l.Kind == invoice.Prepaid || l.Kind == invoice.Overdraft {
				continue
			}
			cents := big.NewRat(int64(l.Amount), 100)
			charged.Add(charged, cents)
			if l.Kind == invoice.Discount || l.Kind == invoice.Allowance {
				sum := at(taken, l.Reason)
				sum.Sub(sum, cents)
			}
		}
		if inv.Group.Class == "internal" {
			require.LessOrEqual(t, charged.Cmp(big.NewRat(80, 1)), 0, "%s %s: most a month", inv.Group.ID, p)
		}
		if inv.Group.PI == "Bob" {
			sum := at(r.spent, "Bob "+fiscalYear(p))
			sum.Add(sum, charged)
			year["Bob"] = sum
		}
		for rule, limit := range map[string]struct {
			key  string
			most int64
		}{"PI subsidy": {inv.Group.PI + " " + quarter(p), 20}, "New PI": {inv.Group.PI, 60}, "Quarter credit": {inv.Group.ID + " " + quarter(p), 50}} {
			sum := at(r.spent, rule+" "+limit.key)
			sum.Add(sum, at(taken, rule))
			require.LessOrEqual(t, sum.Cmp(big.NewRat(limit.most, 1)), 0, "%s %s: %s", inv.Group.ID, p, rule)
			if rule != "PI subsidy" || at(taken, rule).Sign() > 0 {
				require.Equal(t, at(taken, rule).RatString(), counted(inv, rule).RatString(), "%s %s: %s", inv.Group.ID, p, rule)
			}
		}
	}
	if year["Bob"] != nil {
		require.LessOrEqual(t, year["Bob"].Cmp(big.NewRat(400, 1)), 0, "%s: most a year", p)
	}
}

// requirePlainTotal: of g07, which has no reductions but waivers, the total is
// what is left of the lines, what people wrote, and 15 % of both, half up.
func requirePlainTotal(t *testing.T, inv *invoice.Invoice) {
	t.Helper()
	var sum int64
	for _, l := range inv.Lines {
		switch {
		case l.Kind == invoice.Overhead:
			continue
		case l.Kind.Reduces():
			require.Equal(t, invoice.Waiver, l.Kind)
		}
		sum += int64(l.Amount)
	}
	if sum < 0 {
		return
	}
	require.Equal(t, sum+(sum*15+50)/100, int64(inv.Total), inv.Period)
}
