package invoice

import (
	"fmt"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// accounts are the prepaid allocations of one group while a period draws on
// them. Usage is drawn in the order of time: in each segment of the period
// (between two days at which an allocation begins or ends) by the allocation
// that ends earliest, then the next; within an allocation from the lines in
// printed order. A unit is worth what is left to pay for
// it: the price of the line it is drawn from, less reductions before.
//
// What is left of a segment when all allocations in force are empty is beyond
// the balance of the one that ends last, whose overdraft policy decides.
type accounts struct {
	group    *groupSums
	period   rates.Period
	balances []Balance // parallel to group.allocations
}

// openAccounts gives each allocation in force in the period its opening
// balance.
func (c *Composer) openAccounts(g *groupSums, lines []*listLine, ledger []LedgerEntry, units map[string]string) (*accounts, error) {
	a := &accounts{group: g, period: c.period}
	for _, allocation := range g.allocations {
		unit, err := unitOf(allocation, lines, units)
		if err != nil {
			return nil, err
		}
		opening := Opening(g.group.ID, allocation, c.period, ledger)
		a.balances = append(a.balances, Balance{
			Allocation: allocation.Name, Meter: allocation.Meter, Unit: unit, Units: allocation.Units,
			From: allocation.From, Until: allocation.Until, Overdraft: allocation.Overdraft,
			Opening: opening, Left: opening,
		})
	}
	return a, nil
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
// balances up to date.
func (a *accounts) draw(lines []*listLine) []*reduction {
	var all []*reduction
	found := make(map[drawKey]*reduction)
	book := func(kind Kind, line, allocation int, p *part, quantity money.Exact) {
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
		r.amount = r.amount.Add(p.cover(quantity))
	}
	for segment := 0; segment <= len(a.group.bounds); segment++ {
		a.drawSegment(segment, lines, book)
	}
	return all
}

// drawSegment draws what was used in one segment.
func (a *accounts) drawSegment(segment int, lines []*listLine, book func(Kind, int, int, *part, money.Exact)) {
	last := make(map[string]int) // by meter: the allocation in force that ends last
	for n, allocation := range a.group.allocations {
		if !a.group.covers(allocation, segment, a.period) {
			continue
		}
		last[allocation.Meter] = n
		balance := &a.balances[n]
		for i, p := range partsOf(lines, allocation.Meter, segment) {
			take := smaller(p.uncovered(), balance.Left)
			if take.Sign() <= 0 {
				continue
			}
			balance.Left = balance.Left.Sub(take)
			balance.Drawn = balance.Drawn.Add(take)
			book(Prepaid, i, n, p, take)
		}
	}
	for i, l := range lines {
		n, covered := last[l.meter]
		if !covered {
			continue
		}
		for _, p := range partsOf(lines[i:i+1], l.meter, segment) {
			beyond := p.uncovered()
			if beyond.Sign() <= 0 {
				continue
			}
			a.balances[n].Beyond = a.balances[n].Beyond.Add(beyond)
			if a.balances[n].Overdraft == rates.OverdraftWaive {
				book(Overdraft, i, n, p, beyond)
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

// partsOf yields the parts of the meter's lines that lie in the segment and
// are not waived, with the index of their line.
func partsOf(lines []*listLine, meter string, segment int) func(yield func(int, *part) bool) {
	return func(yield func(int, *part) bool) {
		for i, l := range lines {
			if l.meter != meter {
				continue
			}
			for n := range l.parts {
				p := &l.parts[n]
				if !p.waived && p.segment == segment && p.quantity.Sign() > 0 && !yield(i, p) {
					return
				}
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
