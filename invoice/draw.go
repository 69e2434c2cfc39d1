package invoice

import (
	"fmt"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// accounts are the prepaid allocations of one group while a period draws on
// them. Usage is drawn in the order of time: in each segment of the period
// (between two days at which an allocation begins, ends, or has a deposit or a
// refund) by the allocation
// that ends earliest, then the next; within an allocation from the lines in
// printed order. A unit is worth what is left to pay for
// it: the price of the line it is drawn from, less reductions before.
//
// What is left of a segment when all allocations in force are empty is beyond
// the balance of the one that ends last, whose overdraft policy decides.
type accounts struct {
	group    *groupSums
	period   rates.Period
	file     string    // of the roster
	issued   bool      // see Settings.Issued
	balances []Balance // parallel to group.allocations
}

// openAccounts gives each allocation in force in the period its opening
// balance.
func (c *Composer) openAccounts(g *groupSums, lines []*listLine, ledger []LedgerEntry, units map[string]string) (*accounts, error) {
	a := &accounts{group: g, period: c.period, file: c.roster.File, issued: c.settings.Issued}
	for _, allocation := range g.allocations {
		unit, err := unitOf(allocation, lines, units)
		if err != nil {
			return nil, err
		}
		a.balances = append(a.balances, open(g.group.ID, allocation, unit, c.period, ledger))
	}
	return a, nil
}

// OpenBalance is the balance of an allocation in a period that draws nothing
// on it.
func OpenBalance(group string, a *rates.Allocation, unit string, period rates.Period, ledger []LedgerEntry) Balance {
	b := open(group, a, unit, period, ledger)
	for _, m := range a.Movements {
		if period.Contains(m.On.Midnight(period.Start.Location())) {
			b.move(m.Units)
		}
	}
	return b
}

// open is a balance at the beginning of a period, before its deposits.
func open(group string, a *rates.Allocation, unit string, period rates.Period, ledger []LedgerEntry) Balance {
	opening := Opening(group, a, period, ledger)
	return Balance{
		Allocation: a.Name, Meter: a.Meter, Unit: unit, Units: a.Units.Add(a.MovedBefore(rates.DateOf(period.End, period.End.Location()))),
		From: a.From, Until: a.Until, Overdraft: a.Overdraft, Opening: opening, Left: opening,
	}
}

// move adds a deposit or takes a refund.
func (b *Balance) move(units money.Exact) {
	if units.Sign() > 0 {
		b.Deposits = b.Deposits.Add(units)
	} else {
		b.Refunds = b.Refunds.Sub(units)
	}
	b.Left = b.Left.Add(units)
}

// unitOf says what an allocation's units are. One meter that the group's
// lines count in two units cannot be drawn from one balance.
func unitOf(a *rates.Allocation, lines []*listLine, units map[string]string) (string, error) {
	unit := ""
	for _, l := range lines {
		if l.meter != a.Meter {
			continue
		}
		if unit != "" && unit != l.unit {
			return "", fmt.Errorf("allocation %s: meter %s is counted in %s and in %s by different cards; one balance cannot hold both",
				a.Name, a.Meter, unit, l.unit)
		}
		unit = l.unit
	}
	if unit == "" {
		unit = units[a.Meter]
	}
	if unit == "" {
		unit = a.Meter
	}
	return unit, nil
}

// drawKey tells apart the reductions of draws.
type drawKey struct {
	kind       Kind
	line       int
	allocation int
}

// draw gives the reductions that the allocations grant, and brings the
// balances up to date. A refund of more than is left is a rates.Fault.
func (a *accounts) draw(lines []*listLine) ([]*reduction, error) {
	var all []*reduction
	found := make(map[drawKey]*reduction)
	book := func(kind Kind, line, allocation int, parts together, quantity money.Exact) {
		key := drawKey{kind, line, allocation}
		r := found[key]
		if r == nil {
			r = &reduction{kind: kind, code: CodePrepaid, reason: a.balances[allocation].Allocation, of: line, order: allocation}
			if kind == Overdraft {
				r.code = CodeOverdraft
			}
			found[key] = r
			all = append(all, r)
		}
		r.quantity = r.quantity.Add(quantity)
		r.amount = r.amount.Add(parts.cover(quantity))
	}
	for segment := 0; segment <= len(a.group.bounds); segment++ {
		if err := a.move(segment); err != nil {
			return nil, err
		}
		a.drawSegment(segment, lines, book)
	}
	return all, nil
}

// move makes the deposits and refunds with which a segment begins.
func (a *accounts) move(segment int) error {
	for n, allocation := range a.group.allocations {
		b := &a.balances[n]
		for _, m := range allocation.Movements {
			at := m.On.Midnight(a.period.Start.Location())
			before := at.Before(a.period.Start)
			if !before && (!a.period.Contains(at) || a.group.segmentOf(at.Unix()) != segment) {
				continue
			}
			if !before {
				b.move(m.Units)
			}
			if m.Units.Sign() < 0 && b.Left.Sign() < 0 && !a.issued {
				return a.refused(allocation, &m, b)
			}
		}
	}
	return nil
}

// reserved is what later segments of an issued period give back: it cannot be
// drawn before. (Where a period is not issued, a refund that finds too little
// is refused.)
func (a *accounts) reserved(allocation *rates.Allocation, segment int) (units money.Exact) {
	for _, m := range allocation.Movements {
		at := m.On.Midnight(a.period.Start.Location())
		if a.issued && m.Units.Sign() < 0 && a.period.Contains(at) && a.group.segmentOf(at.Unix()) > segment {
			units = units.Sub(m.Units)
		}
	}
	return units
}

// refused says that there is not as much left as is to be given back.
func (a *accounts) refused(allocation *rates.Allocation, m *rates.Movement, b *Balance) error {
	return rates.Fault{File: a.file, Line: m.Line, Field: "refunds",
		Message: fmt.Sprintf("group %s: a refund of %s %s on %s is %s more than allocation %s has left", a.group.group.ID,
			m.Units.Neg(), b.Unit, m.On, b.Left.Neg(), allocation.Name),
		Remedy: "give back what is left at most: hpcbill usage " + a.group.group.ID + " shows it"}
}

// drawSegment draws what was used in one segment.
func (a *accounts) drawSegment(segment int, lines []*listLine, book func(Kind, int, int, together, money.Exact)) {
	last := make(map[string]int) // by meter: the allocation in force that ends last
	for n, allocation := range a.group.allocations {
		if !a.group.covers(allocation, segment, a.period) {
			continue
		}
		last[allocation.Meter] = n
		balance, reserved := &a.balances[n], a.reserved(allocation, segment)
		for i, parts := range partsOf(lines, allocation.Meter, segment) {
			take := smaller(parts.uncovered(), balance.Left.Sub(reserved))
			if take.Sign() <= 0 {
				continue
			}
			balance.Left = balance.Left.Sub(take)
			balance.Drawn = balance.Drawn.Add(take)
			book(Prepaid, i, n, parts, take)
		}
	}
	for i, l := range lines {
		n, covered := last[l.meter]
		if !covered {
			continue
		}
		for _, parts := range partsOf(lines[i:i+1], l.meter, segment) {
			beyond := parts.uncovered()
			if beyond.Sign() <= 0 {
				continue
			}
			a.balances[n].Beyond = a.balances[n].Beyond.Add(beyond)
			if a.balances[n].Overdraft == rates.OverdraftWaive {
				book(Overdraft, i, n, parts, beyond)
			}
		}
	}
}

// cover takes units of a part off it, and gives what they are worth: their
// share of what is left to pay of the part.
func (p *part) cover(quantity money.Exact) money.Exact {
	share, _ := quantity.Quo(p.quantity.Sub(p.covered))
	amount := p.left().Mul(share)
	p.covered = p.covered.Add(quantity)
	p.reduced = p.reduced.Add(amount)
	return amount
}

// together are parts of one line in one segment that are told apart by who
// pays for them alone. Units cover each in proportion, so that neither the
// order of the funds nor that there are some decides what units are worth or
// whose use is free.
type together []*part

func (t together) uncovered() money.Exact {
	var sum money.Exact
	for _, p := range t {
		sum = sum.Add(p.uncovered())
	}
	return sum
}

// cover takes units off the parts, as many as are uncovered at most, and gives
// what they are worth.
func (t together) cover(quantity money.Exact) money.Exact {
	var amount money.Exact
	share, _ := quantity.Quo(t.uncovered())
	for _, p := range t {
		if units := p.uncovered(); units.Sign() > 0 {
			amount = amount.Add(p.cover(units.Mul(share)))
		}
	}
	return amount
}

// partsOf yields the parts of the meter's lines that lie in the segment and
// are not waived, those of a line together, with its index.
func partsOf(lines []*listLine, meter string, segment int) func(yield func(int, together) bool) {
	return func(yield func(int, together) bool) {
		for i, l := range lines {
			if l.meter != meter {
				continue
			}
			var parts together
			for n := range l.parts {
				if p := &l.parts[n]; !p.waived && p.segment == segment && p.quantity.Sign() > 0 {
					parts = append(parts, p)
				}
			}
			if len(parts) > 0 && !yield(i, parts) {
				return
			}
		}
	}
}

func smaller(x, y money.Exact) money.Exact {
	if x.Cmp(y) < 0 {
		return x
	}
	return y
}
