package invoice

import (
	"fmt"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// discount applies the discounts in the file's order, each to what those
// before it left. One without a limit takes its percentage of the exact
// amounts, and rounds by largest remainder in each line.
func (m *composition) discount() error {
	rules := m.composer.settings.Reductions
	if rules == nil {
		return nil
	}
	for order, d := range rules.Discounts {
		if d.Limit != nil {
			err := m.pool(&pooling{
				kind: Discount, code: CodeSubsidy, order: order, rule: &d.ReductionScope, limit: d.Limit, percent: d.Percent,
			})
			if err != nil {
				return err
			}
			continue
		}
		err := m.each(func(b *bill) error { return b.reduce(b.percentOff(d, order, m.composer.period)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// percentOff gives the reductions of a discount.
func (b *bill) percentOff(d *rates.Discount, order int, period rates.Period) []*reduction {
	if !d.Applies(b.group.group) {
		return nil
	}
	var all []*reduction
	for i, l := range b.lines {
		r := &reduction{kind: Discount, code: CodeDiscount, reason: d.Name, of: i, order: order, rule: &d.ReductionScope, percent: d.Percent}
		for _, p := range b.subject(&d.ReductionScope, l, period) {
			off := percentage(p.left(), d.Percent)
			p.reduced = p.reduced.Add(off)
			r.amount = r.amount.Add(off)
		}
		if r.amount.Sign() > 0 {
			all = append(all, r)
		}
	}
	return all
}

// subject gives the parts of a line that a rule is of and that leave something
// to pay.
func (b *bill) subject(rule *rates.ReductionScope, l *listLine, period rates.Period) []*part {
	if !rule.Takes(l.cluster, l.meter) {
		return nil
	}
	var parts []*part
	for n := range l.parts {
		p := &l.parts[n]
		if !p.waived && p.left().Sign() > 0 && b.group.within(p.segment, rule.From, rule.Until, period) {
			parts = append(parts, p)
		}
	}
	return parts
}

func percentage(x, percent money.Exact) money.Exact { return x.Mul(percent).Mul(money.Ratio(1, 100)) }

// sentence describes a line that takes off money by a rule.
func (r *reduction) sentence(w *words, l *Line, c money.Currency) string {
	var text string
	switch {
	case r.code == CodeSubsidy:
		text = fmt.Sprintf(w.subsidy, l.Reason, w.inFull(r.percent), l.Of, w.limit(r.limit, c))
	case r.code == CodeCap:
		text = fmt.Sprintf(w.capped, l.Reason, w.limit(r.limit, c), l.Of)
	case r.code == CodeAllowance && r.limit.Meter != "":
		text = fmt.Sprintf(w.freeUnits, l.Reason, w.quantity(l.Quantity.Neg(), l.Unit), l.Of, w.limited(r.limit, w.quantity(r.limit.Amount, l.Unit)))
	case r.code == CodeAllowance:
		text = fmt.Sprintf(w.freeMoney, l.Reason, l.Of, w.limit(r.limit, c))
	default:
		text = fmt.Sprintf(w.discount, l.Reason, w.inFull(r.percent), l.Of)
	}
	return text + labelled(r.rule.Reason)
}

// limit says how much there is, over which time, and for whom together:
// "100.00 USD a month for each PI".
func (w *words) limit(l *rates.PoolLimit, c money.Currency) string {
	return w.limited(l, w.number(l.Amount.Decimal(c.Digits, money.HalfEven))+" "+c.Code)
}

func (w *words) limited(l *rates.PoolLimit, text string) string {
	for _, more := range []string{w.per[l.Per], w.sharedBy[l.SharedBy]} {
		if more != "" {
			text += " " + more
		}
	}
	return text
}
