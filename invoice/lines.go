package invoice

import (
	"sort"
	"strings"

	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// listLine is a usage or storage line on its way onto an invoice: what the
// cards ask for it, and in which parts.
type listLine struct {
	lineKey
	parts            []part
	jobs             int64
	quantity, amount money.Exact
	estimatedDays    int64
	counter          string // the unit of the tiers' steps

	printed money.Amount // amount, rounded: the one place where a line is
	due     money.Amount // of printed, what no reduction has taken yet
}

// part is what reductions treat alike in a list line.
type part struct {
	partKey
	quantity, amount money.Exact
	covered          money.Exact // of quantity, by allowances and draws
	reduced          money.Exact // of amount, by all reductions
	jobs             int64
}

// left is what reductions have left to pay.
func (p *part) left() money.Exact { return p.amount.Sub(p.reduced) }

// uncovered is the quantity that still has to be paid for in some way. What a
// reduction of money has forgiven wholly is not: nobody's balance should pay
// for it.
func (p *part) uncovered() money.Exact {
	if p.waived || p.amount.Sign() > 0 && p.left().Sign() <= 0 {
		return money.Exact{}
	}
	return p.quantity.Sub(p.covered)
}

// left is what reductions have left to pay of a line, before rounding.
func (l *listLine) left() money.Exact {
	var sum money.Exact
	for i := range l.parts {
		sum = sum.Add(l.parts[i].left())
	}
	return sum
}

// listLines gives the group's lines at list price, in printed order. Charges
// of no quantity and no amount make no line.
func (s *groupSums) listLines() []*listLine {
	byText := make(map[string]*lineSum)
	keys := make(map[string]lineKey)
	for key, sum := range s.lines {
		// One price may have been written as 1/2 and as 2/4.
		text := key.text()
		if byText[text] == nil {
			byText[text], keys[text] = &lineSum{}, key
		}
		byText[text].merge(sum)
	}
	var lines []*listLine
	for text, sum := range byText {
		l := &listLine{lineKey: keys[text], jobs: sum.jobs, estimatedDays: sum.estimatedDays}
		for i := range sum.parts {
			from := &sum.parts[i]
			p := part{partKey: from.partKey, quantity: from.quantity.Exact(), amount: from.amount.Exact(), jobs: from.jobs}
			l.parts = append(l.parts, p)
			l.quantity = l.quantity.Add(p.quantity)
			l.amount = l.amount.Add(p.amount)
		}
		sort.Slice(l.parts, func(i, j int) bool { return l.parts[i].partKey.less(l.parts[j].partKey) })
		if l.quantity.Sign() != 0 || l.amount.Sign() != 0 {
			lines = append(lines, l)
		}
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i].lineKey.less(lines[j].lineKey) })
	return lines
}

// text is the same for equal keys, whatever the form of the price.
func (k lineKey) text() string {
	return strings.Join([]string{
		string(k.kind), k.cluster, k.meter, k.unit, k.label, k.price.String(), k.card, k.digest, k.version.String(),
	}, "\x00")
}

// less is the printed order of usage and storage lines.
func (k lineKey) less(o lineKey) bool {
	if k.kind != o.kind {
		return k.kind.rank() < o.kind.rank()
	}
	if k.cluster != o.cluster {
		return k.cluster < o.cluster
	}
	if k.meter != o.meter {
		return k.meter < o.meter
	}
	if k.step != o.step {
		if k.version != o.version {
			return k.version.Before(o.version)
		}
		return k.step < o.step
	}
	if k.label != o.label {
		return k.label < o.label
	}
	if c := k.price.Cmp(o.price); c != 0 {
		return c < 0
	}
	if k.card != o.card {
		return k.card < o.card
	}
	if k.version != o.version {
		return k.version.Before(o.version)
	}
	if k.unit != o.unit {
		return k.unit < o.unit
	}
	return k.digest < o.digest
}

func (k partKey) less(o partKey) bool {
	if k.waived != o.waived {
		return o.waived
	}
	if k.segment != o.segment {
		return k.segment < o.segment
	}
	if k.scope != o.scope {
		return k.scope < o.scope
	}
	if k.code != o.code {
		return k.code < o.code
	}
	return k.detail < o.detail
}

// reduction is a share of a list line that is taken off it again.
type reduction struct {
	kind             Kind
	code, reason     string
	of               int                   // index of the list line
	order            int                   // among the reductions of the kind: of the allocation, or of the rule
	rule             *rates.ReductionScope // of a discount or a cap
	percent          money.Exact           // of a discount
	limit            *rates.PoolLimit      // of a subsidy or a cap
	quantity, amount money.Exact
	jobs             int64
	printed          money.Amount // share of the list line's amount
}

// waivers gives the reductions that undo waived charges.
func waivers(lines []*listLine) []*reduction {
	var all []*reduction
	for i, l := range lines {
		for n := range l.parts {
			p := &l.parts[n]
			if p.waived && (p.quantity.Sign() != 0 || p.amount.Sign() != 0) {
				all = append(all, &reduction{
					kind: Waiver, code: waiverCode(p.partKey), reason: waiverReason(p.partKey), of: i,
					quantity: p.quantity, amount: p.amount, jobs: p.jobs,
				})
				p.covered, p.reduced = p.quantity, p.amount
			}
		}
	}
	return all
}

// waiverCode is "waived" for what a card forgives; outages and the decisions of
// people have codes of their own.
func waiverCode(k partKey) string {
	if k.code == rating.ByRule {
		return CodeWaived
	}
	return k.code
}

// waiverReason is the reason that the card gives, or the kind of reason where
// it gives none.
func waiverReason(k partKey) string {
	if k.detail != "" {
		return k.detail
	}
	return k.code
}

// addUp puts on the invoice what comes after use and its reductions, in the
// order of Order, and sums it.
func (c *Composer) addUp(g *groupSums, inv *Invoice, words *words) error {
	if err := c.manualLines(g, inv); err != nil {
		return err
	}
	c.priorLines(g, inv, words)
	if err := c.addOverhead(inv, words); err != nil {
		return err
	}
	if err := c.addTaxes(inv, words); err != nil {
		return err
	}
	return inv.sum()
}

// sortReductions puts reductions in printed order: by kind, by the order
// in which they were applied, by the line they reduce.
func sortReductions(all []*reduction) {
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if a.kind != b.kind {
			return a.kind.rank() < b.kind.rank()
		}
		if a.order != b.order {
			return a.order < b.order
		}
		return a.of < b.of
	})
}

func (l *listLine) line(position int) Line {
	return Line{
		Position: position, Kind: l.kind, Cluster: l.cluster, Meter: l.meter, Unit: l.unit, PriceLabel: l.label,
		Quantity: l.quantity, Price: l.price, Exact: l.amount, Amount: l.printed, Jobs: l.jobs,
		Card: l.card, CardDigest: l.digest, Version: l.version,
	}
}

func (r *reduction) line(position int, list *Line) Line {
	line := *list
	line.Position, line.Kind, line.Of = position, r.kind, list.Position
	line.Code, line.Reason = r.code, r.reason
	line.Quantity, line.Exact, line.Amount = r.quantity.Neg(), r.amount.Neg(), -r.printed
	line.Jobs = r.jobs
	if r.kind.OfMoney() || !r.quantity.Mul(list.Price).Equal(r.amount) {
		line.Price = money.Exact{} // a discount took some of it before, or the card has a formula of its own
	}
	return line
}

// Priced reports whether the line has a price to print: what it comes to is not
// always a quantity at one.
func (l *Line) Priced() bool {
	return !l.OfMoney() && !(l.Kind.Reduces() && l.Price.Sign() == 0 && l.Exact.Sign() != 0)
}

// sum fills in the sums of the lines as printed.
func (inv *Invoice) sum() error {
	inv.List, inv.Reductions, inv.Manual, inv.Prior, inv.Overhead, inv.Tax, inv.Total = 0, 0, 0, 0, 0, 0, 0
	for _, l := range inv.Lines {
		for _, to := range []*money.Amount{inv.sumOf(l.Kind), &inv.Total} {
			var err error
			if *to, err = addAmounts(*to, l.Amount); err != nil {
				return err
			}
		}
	}
	return nil
}

// Additions are what the total has besides list price and reductions.
func (inv *Invoice) Additions() money.Amount { return inv.Total - inv.List - inv.Reductions }

// sumOf is the sum that lines of the kind are part of.
func (inv *Invoice) sumOf(k Kind) *money.Amount {
	switch {
	case k.Lists():
		return &inv.List
	case k == Manual:
		return &inv.Manual
	case k == Prior:
		return &inv.Prior
	case k == Overhead:
		return &inv.Overhead
	case k == Tax:
		return &inv.Tax
	}
	return &inv.Reductions
}
