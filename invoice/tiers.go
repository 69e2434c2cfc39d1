package invoice

import (
	"fmt"
	"maps"
	"slices"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// Tiers price what a group uses in a whole period, so they are applied here,
// on sums: each step that the units reach becomes a line at its price.
//
// The order in which units are counted decides which of them are dear and
// which cheap, never their sum. It is that of time as far as the sums know it
// (versions of the card, then the parts of the period between two days at
// which an allocation begins or ends), then that of the lines: no order of
// jobs matters. What is waived is not counted; it is priced after all else.

// tiering prices the lines of one group whose meters have tiers.
type tiering struct {
	composer *Composer
	group    string
	ledger   []LedgerEntry
	meters   map[string]string // their units

	month    map[counted]money.Exact // units billed in the period
	done     map[counted]money.Exact // of units and of money, what is priced already
	counters map[counted]*Counter    // over the fiscal year

	lines  []*listLine
	amount money.Exact // of all that tiers priced
}

// priceTiers puts the lines that tiers make in the place of those that they
// price.
func (c *Composer) priceTiers(g *groupSums, lines []*listLine, ledger []LedgerEntry, meters map[string]string) (*tiering, error) {
	t := &tiering{
		composer: c, group: g.group.ID, ledger: ledger, meters: meters,
		month: make(map[counted]money.Exact), done: make(map[counted]money.Exact), counters: make(map[counted]*Counter),
	}
	tiered := make(map[counted][]*listLine)
	for _, l := range lines {
		at := counted{card: l.card, meter: l.meter}
		t.month[at] = t.month[at].Add(l.billed())
		if l.counted {
			if _, err := t.opening(at, l.unit); err != nil {
				return nil, err
			}
		}
		if l.tiers == nil {
			t.lines = append(t.lines, l)
		} else {
			tiered[at] = append(tiered[at], l)
		}
	}
	scopes := slices.SortedFunc(maps.Keys(tiered), counted.compare)
	for _, at := range scopes {
		if err := t.price(at, tiered[at]); err != nil {
			return nil, fmt.Errorf("tiers of %s: %w", at.meter, err)
		}
	}
	for at, counter := range t.counters {
		counter.Counted = t.month[at]
		if at.money {
			counter.Counted = t.done[at]
		}
	}
	slices.SortFunc(t.lines, func(a, b *listLine) int { return order(a.lineKey.less(b.lineKey)) })
	return t, nil
}

// order is what SortFunc wants of things of which no two are equal.
func order(before bool) int {
	if before {
		return -1
	}
	return 1
}

// billed is the quantity of a line without what is waived.
func (l *listLine) billed() money.Exact {
	var sum money.Exact
	for _, p := range l.parts {
		if !p.waived {
			sum = sum.Add(p.quantity)
		}
	}
	return sum
}

// price prices the lines of one meter, version by version. They come in
// printed order.
func (t *tiering) price(at counted, lines []*listLine) error {
	slices.SortStableFunc(lines, func(a, b *listLine) int {
		if a.version == b.version {
			return 0
		}
		return order(a.version.Before(b.version))
	})
	for i := 0; i < len(lines); {
		n := i + 1
		for n < len(lines) && lines[n].version == lines[i].version {
			n++
		}
		if err := t.priceVersion(at, lines[i:n]); err != nil {
			return err
		}
		i = n
	}
	return nil
}

// priceVersion prices the lines of one meter under one version of the card:
// what is billed, then what is waived.
func (t *tiering) priceVersion(at counted, lines []*listLine) error {
	tiers, made := lines[0].tiers, make(map[tierKey]*listLine)
	before, reached, err := t.counts(at, tiers, lines[0].unit)
	if err != nil {
		return err
	}
	for _, waived := range []bool{false, true} {
		var units money.Exact
		parts := partsInOrder(lines, waived)
		for _, p := range parts {
			units = units.Add(p.part.quantity)
		}
		if units.Sign() == 0 {
			continue
		}
		amount := tiers.Amount(before, reached, units)
		if sum := t.distribute(made, parts, tiers, tiers.Slices(before, reached, units)); !sum.Equal(amount) {
			return fmt.Errorf("BUG: %s %s cost %s, their lines %s", units, lines[0].unit, amount, sum)
		}
		t.amount = t.amount.Add(amount)
		switch tiers.Counter {
		case rates.CountUnits:
			before = before.Add(units)
		case rates.CountMoney:
			before = before.Add(amount)
		}
		if !waived {
			spent := counted{at.card, at.meter, true}
			t.done[at], t.done[spent] = t.done[at].Add(units), t.done[spent].Add(amount)
		}
	}
	return nil
}

// counts gives where the counter stands before the units that are priced
// next, and when the period is over.
func (t *tiering) counts(at counted, tiers *rates.Tiers, unit string) (before, reached money.Exact, err error) {
	counter := at
	switch tiers.Counter {
	case rates.CountUnits:
	case rates.CountMoney:
		counter.money = true
	default:
		counter.meter, unit = tiers.Counter, t.meters[tiers.Counter]
	}
	if tiers.Window == rates.OfFiscalYear {
		if before, err = t.opening(counter, unit); err != nil {
			return before, reached, err
		}
	}
	reached = before.Add(t.month[counter])
	if counter.meter == at.meter {
		before = before.Add(t.done[counter])
	}
	return before, reached, nil
}

// tierKey tells apart the lines that tiers make of one.
type tierKey struct {
	line *listLine
	step int
}

// linePart is a part of a line that is to be priced.
type linePart struct {
	line *listLine
	part *part
}

// partsInOrder gives the parts that are waived, or those that are not, in the
// order in which they are counted.
func partsInOrder(lines []*listLine, waived bool) []linePart {
	var parts []linePart
	for _, l := range lines {
		for i := range l.parts {
			if p := &l.parts[i]; p.waived == waived && p.quantity.Sign() > 0 {
				parts = append(parts, linePart{l, p})
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b linePart) int { return a.part.segment - b.part.segment })
	return parts
}

// distribute prices parts by slices of the same units in all, and gives what
// they cost.
func (t *tiering) distribute(made map[tierKey]*listLine, parts []linePart, tiers *rates.Tiers, slices []rates.TierSlice) money.Exact {
	var sum money.Exact
	for _, p := range parts {
		for left := p.part.quantity; left.Sign() > 0; {
			for slices[0].Units.Sign() == 0 {
				slices = slices[1:]
			}
			take := smaller(left, slices[0].Units)
			left, slices[0].Units = left.Sub(take), slices[0].Units.Sub(take)
			share := *p.part
			share.quantity, share.amount = take, take.Mul(tiers.Steps[slices[0].Step].Price)
			sum = sum.Add(share.amount)
			t.line(made, p.line, tiers, slices[0].Step).add(share)
		}
	}
	return sum
}

// line gives the line that a step makes of another, or begins it.
func (t *tiering) line(made map[tierKey]*listLine, of *listLine, tiers *rates.Tiers, step int) *listLine {
	key := tierKey{of, step}
	l := made[key]
	if l == nil {
		l = &listLine{lineKey: of.lineKey, jobs: of.jobs, estimatedDays: of.estimatedDays, counter: t.unitOfCounter(tiers, of.unit)}
		l.step, l.price, l.label = step+1, tiers.Steps[step].Price, tiers.Label(step)
		made[key] = l
		t.lines = append(t.lines, l)
	}
	return l
}

// unitOfCounter is what the steps are counted in.
func (t *tiering) unitOfCounter(tiers *rates.Tiers, unit string) string {
	switch tiers.Counter {
	case rates.CountUnits:
		return unit
	case rates.CountMoney:
		return t.composer.settings.Currency.Code
	}
	if unit = t.meters[tiers.Counter]; unit != "" {
		return unit
	}
	return tiers.Counter
}

// add adds a part to a line.
func (l *listLine) add(p part) {
	l.quantity, l.amount = l.quantity.Add(p.quantity), l.amount.Add(p.amount)
	for i := range l.parts {
		if to := &l.parts[i]; to.partKey == p.partKey {
			to.quantity, to.amount = to.quantity.Add(p.quantity), to.amount.Add(p.amount)
			return
		}
	}
	l.parts = append(l.parts, p)
}
