package invoice

import (
	"fmt"
	"sort"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// allow takes off what the allowances grant, each in the file's order and of
// what those before it left. Money is met to the minor unit, like the limit of
// a subsidy; a unit is worth what is left to pay for it.
func (m *composition) allow() error {
	rules := m.composer.settings.Reductions
	if rules == nil {
		return nil
	}
	for order, a := range rules.Allowances {
		step := m.allowUnits
		if a.Limit.Meter == "" {
			step = m.allowMoney
		}
		if err := step(a, order); err != nil {
			return err
		}
		if err := m.stateAllowance(a); err != nil {
			return err
		}
	}
	return nil
}

func (m *composition) allowMoney(a *rates.Allowance, order int) error {
	return m.pool(&pooling{
		kind: Allowance, code: CodeAllowance, order: order, rule: &a.ReductionScope, limit: &a.Limit, percent: money.Int(100), allowance: a,
	})
}

// stateAllowance gives the bills on which nothing was taken the pool all the
// same: what is left is of interest to those who have it.
func (m *composition) stateAllowance(a *rates.Allowance) error {
	stated := make(map[string]Pool) // by holder
	has := make(map[*bill]bool)
	for _, b := range m.bills {
		for _, p := range b.pools {
			if p.Kind == Allowance && p.Rule == a.Name {
				p.Others, p.Counted = p.Others.Add(p.Counted), money.Exact{}
				stated[p.Holder()], has[b] = p, true
			}
		}
	}
	return m.each(func(b *bill) error {
		if has[b] || !a.Applies(b.group.group) {
			return nil
		}
		p, ok, err := m.openAllowance(a, b.group.group)
		if err != nil || !ok {
			return err
		}
		if shared, some := stated[p.Holder()]; some {
			p = shared
		}
		b.pools = append(b.pools, p)
		return nil
	})
}

// openAllowance is the pool of an allowance that a group has, before the
// period; ok is false where there is none in it.
func (m *composition) openAllowance(a *rates.Allowance, g *rates.Group) (p Pool, ok bool, err error) {
	c := m.composer
	holds, ok := a.Holds(c.roster.SinceOf(a.Limit.SharedBy, a.Limit.SharedBy.Of(g)))
	if !ok {
		return p, false, nil
	}
	grants := a.Grants(holds, c.period, c.settings.FiscalYearStart)
	if len(grants) == 0 {
		return p, false, nil
	}
	if p, err = m.newPool(Allowance, &a.ReductionScope, &a.Limit, g); err != nil {
		return p, false, err
	}
	if p.Meter = a.Limit.Meter; p.Meter != "" {
		if p.Unit = m.units[p.Meter]; p.Unit == "" {
			p.Unit = p.Meter
		}
	} else {
		for i := range grants { // of a part of a time: what is given is paid
			grants[i].Amount = grants[i].Amount.Round(c.settings.Currency.Digits, money.Down)
		}
	}
	now := grants[len(grants)-1]
	p.From, p.Until, p.Limit = now.From, now.Until, now.Amount
	p.Opening = p.OpeningFrom(c.period.String(), m.entriesOf(&p))
	if len(grants) > 1 {
		p.Since = grants[0].From
		p.Earlier = p.EarlierFrom(m.entriesOf(&p))
		p.Carried = p.carried(grants, a.Rollover, m.entriesOf(&p))
		p.Limit = p.Limit.Add(p.Carried)
	}
	return p, true, nil
}

// carried is what is left of the grants before the last one and still usable
// in its time: what was counted in each time is taken from the oldest grant
// first, and a grant lapses rollover times after its own.
func (p *Pool) carried(grants []rates.Grant, rollover int, ledger []LedgerEntry) money.Exact {
	left := make([]money.Exact, len(grants))
	lapsed := func(grant, at int) bool { return rollover != rates.Unlimited && at-grant > rollover }
	last := len(grants) - 1
	for at := range last {
		left[at] = grants[at].Amount
		drawn := p.countedIn(grants[at].From, grants[at].Until, ledger)
		for i := 0; i < at; i++ {
			if lapsed(i, at) {
				continue
			}
			take := smaller(left[i], drawn)
			left[i], drawn = left[i].Sub(take), drawn.Sub(take)
		}
		left[at] = left[at].Sub(drawn) // below nothing where a grant was lowered since
	}
	var sum money.Exact
	for i := range last {
		if !lapsed(i, last) {
			sum = sum.Add(left[i])
		}
	}
	return sum
}

// EarlierFrom computes again, from the ledger, what was counted of grants that
// carry over before the time of the pool. A difference means that the ledger
// has changed since the invoice was composed.
func (p *Pool) EarlierFrom(ledger []LedgerEntry) money.Exact {
	if p.Since.IsZero() {
		return money.Exact{}
	}
	return p.countedIn(p.Since, p.From, ledger)
}

// countedIn is what the ledger has of the pool in the months of [from, until).
func (p *Pool) countedIn(from, until rates.Date, ledger []LedgerEntry) money.Exact {
	first, end, holder := monthOf(from), monthOf(until), p.Holder()
	var sum money.Exact
	for _, e := range ledger {
		if e.Kind == LedgerKind(p.Kind) && e.Allocation == p.Rule && e.Pool == holder && e.Period >= first && e.Period < end {
			sum = sum.Add(e.Units)
		}
	}
	return sum
}

// Balance states an allowance as a balance: what it had when the period began,
// what the group drew, and what is left after the others have drawn too.
func (p *Pool) Balance() Balance {
	b := Balance{
		Allocation: p.Rule, Meter: p.Meter, Unit: p.Unit, Units: p.Limit, From: p.From, Until: p.Until,
		Opening: p.Limit.Sub(p.Opening), Drawn: p.Counted, Left: p.Left(),
	}
	if b.Opening.Sign() < 0 { // it was lowered
		b.Opening = money.Exact{}
	}
	return b
}

// Allowances are the pools of the invoice that are of allowances.
func (inv *Invoice) Allowances() []Pool { return inv.poolsOf(true) }

// Limits are its other pools: of subsidies and caps.
func (inv *Invoice) Limits() []Pool { return inv.poolsOf(false) }

func (inv *Invoice) poolsOf(allowances bool) []Pool {
	var all []Pool
	for _, p := range inv.Pools {
		if (p.Kind == Allowance) == allowances {
			all = append(all, p)
		}
	}
	return all
}

// Title is the rule's name with the PI, department or class that has it
// together.
func (p *Pool) Title() string {
	if p.SharedBy == rates.ByGroup || p.SharedBy == rates.ByAll {
		return p.Rule
	}
	return p.Rule + " (" + p.Of + ")"
}

// OpenAllowances gives the allowances of a group in a period that bills it
// nothing; invoices are those of the period, which may have drawn on what it
// shares. units gives what a meter is counted in.
func OpenAllowances(period rates.Period, settings Settings, roster *rates.Roster, group *rates.Group, units map[string]string, ledger []LedgerEntry, invoices []Invoice) ([]Pool, error) {
	if settings.Reductions == nil {
		return nil, nil
	}
	m := &composition{composer: &Composer{period: period, settings: settings, roster: roster}, ledger: ledger, units: units}
	var all []Pool
	for _, a := range settings.Reductions.Allowances {
		if !a.Applies(group) {
			continue
		}
		p, ok, err := m.openAllowance(a, group)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		for i := range invoices {
			for _, other := range invoices[i].Allowances() {
				if other.Rule == p.Rule && other.Holder() == p.Holder() {
					p.Others = other.Counted.Add(other.Others)
				}
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// unitClaim is what one bill would have of an allowance of units.
type unitClaim struct {
	bill  *bill
	parts []claimedParts // in the order of time, then as printed
	units money.Exact
}

type claimedParts struct {
	line, segment int
	parts         together
}

// allowUnits divides the units of an allowance among those who share it, in
// proportion to what each has to pay for; exactly, since units are not rounded.
func (m *composition) allowUnits(a *rates.Allowance, order int) error {
	var pools []*Pool
	claims := make(map[string][]*unitClaim) // by holder
	err := m.each(func(b *bill) error {
		cl := b.claimUnits(a, m.composer.period)
		if !a.Applies(b.group.group) || cl.units.Sign() == 0 {
			return nil
		}
		p, ok, err := m.openAllowance(a, b.group.group)
		if err != nil || !ok {
			return err
		}
		for _, c := range cl.parts {
			if unit := b.lines[c.line].unit; unit != p.Unit {
				return fmt.Errorf("allowance %s: meter %s is counted in %s and in %s by different cards; one balance cannot hold both",
					a.Name, p.Meter, p.Unit, unit)
			}
		}
		if claims[p.Holder()] == nil {
			pools = append(pools, &p)
		}
		claims[p.Holder()] = append(claims[p.Holder()], cl)
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range pools {
		if err := grantUnits(a, order, p, claims[p.Holder()]); err != nil {
			return err
		}
	}
	return nil
}

// claimUnits gives the parts of a bill that an allowance of units may cover.
func (b *bill) claimUnits(a *rates.Allowance, period rates.Period) *unitClaim {
	cl := &unitClaim{bill: b}
	for i, l := range b.lines {
		for _, p := range b.subject(&a.ReductionScope, l, period) {
			units := p.uncovered()
			if units.Sign() <= 0 {
				continue
			}
			cl.units = cl.units.Add(units)
			if n := len(cl.parts) - 1; n >= 0 && cl.parts[n].line == i && cl.parts[n].segment == p.segment {
				cl.parts[n].parts = append(cl.parts[n].parts, p)
				continue
			}
			cl.parts = append(cl.parts, claimedParts{i, p.segment, together{p}})
		}
	}
	sort.SliceStable(cl.parts, func(i, j int) bool { return cl.parts[i].segment < cl.parts[j].segment })
	return cl
}

// grantUnits divides what is left of a pool, and takes off what the units are
// worth.
func grantUnits(a *rates.Allowance, order int, pool *Pool, claims []*unitClaim) error {
	var all money.Exact
	for _, cl := range claims {
		all = all.Add(cl.units)
	}
	granted := smaller(all, pool.Left())
	share, _ := granted.Quo(all)
	for _, cl := range claims {
		p := *pool
		p.Counted = cl.units.Mul(share)
		p.Others = granted.Sub(p.Counted)
		cl.bill.pools = append(cl.bill.pools, p)
		if err := cl.bill.reduce(cl.cover(a, order, p.Counted)); err != nil {
			return err
		}
	}
	return nil
}

// cover takes units off the parts.
func (cl *unitClaim) cover(a *rates.Allowance, order int, units money.Exact) []*reduction {
	var all []*reduction
	found := make(map[int]*reduction)
	for _, c := range cl.parts {
		take := smaller(c.parts.uncovered(), units)
		if take.Sign() <= 0 {
			break
		}
		units = units.Sub(take)
		r := found[c.line]
		if r == nil {
			r = &reduction{kind: Allowance, code: CodeAllowance, reason: a.Name, of: c.line, order: order, rule: &a.ReductionScope, limit: &a.Limit}
			found[c.line] = r
			all = append(all, r)
		}
		r.quantity = r.quantity.Add(take)
		r.amount = r.amount.Add(c.parts.cover(take))
	}
	return all
}
