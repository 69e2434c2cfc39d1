package main

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// internalClass is the class whose price nobody inside may exceed; it is that
// of a group for which the roster names none.
const internalClass = "internal"

// labelOf is what a line's price was picked by apart from who pays: two groups
// that had the same must have paid the same. The cards are asked; a line of a
// version that is there no more keeps its label.
func (in *inputs) labelOf(l *invoice.Line) string {
	for _, c := range in.cards {
		if c.Name != l.Card {
			continue
		}
		i := slices.IndexFunc(c.Versions, func(v *rates.Version) bool { return v.From == l.Version })
		if i < 0 || c.Versions[i].Meters[l.Meter] == nil {
			continue
		}
		m := c.Versions[i].Meters[l.Meter]
		if m.Tiers != nil { // the steps are the same for all who reach them
			return strings.TrimSpace(l.PriceLabel + " step at " + l.Price.String())
		}
		subject, besides, ok := m.SubjectOf(l.PriceLabel)
		if ok && !besides && subject != rates.PriceOfUse {
			return ""
		}
	}
	return l.PriceLabel
}

// addPrices adds a row for each meter and class, and the proof that follows
// from them.
func addPrices(t *table, prices []invoice.ClassPrices, net []invoice.NetPrice) {
	var broken []string
	internal := 0
	for i := range prices {
		c := &prices[i]
		name := c.Meter + ", " + c.Class
		t.add("price", name, nil, nil, nil, nil, nil, nil, nil, nil, priceNote(c))
		if c.Discriminates() {
			broken = append(broken, name+": several prices for the same")
		}
		if c.Class != internalClass {
			continue
		}
		internal++
		for j := range prices {
			if above := paidAbove(c, &prices[j]); above != "" {
				broken = append(broken, name+": "+above)
			}
		}
	}
	cheaper := belowInternal(net)
	switch {
	case len(broken) > 0:
		t.add("proof", "fails", nil, nil, nil, nil, nil, nil, nil, nil, strings.Join(broken, "; "))
	case internal == 0:
		t.add("proof", "nothing to prove", nil, nil, nil, nil, nil, nil, nil, nil, "no internal group was charged")
	case len(cheaper) > 0:
		t.add("proof", "holds at list price", nil, nil, nil, nil, nil, nil, nil, "but by rules of reductions "+strings.Join(cheaper, "; "))
	default:
		t.add("proof", "holds", nil, nil, nil, nil, nil, nil, nil, nil, "no internal group paid above the internal price, nor above another class")
	}
}

// belowInternal says where discounts, subsidies, allowances and caps made the same use
// cheaper for another class than it was for internal groups.
func belowInternal(net []invoice.NetPrice) []string {
	var cheaper []string
	for i := range net {
		p := &net[i]
		for j := range net {
			q := &net[j]
			if p.Class != internalClass || q.Class == internalClass || !q.Reduced || p.Meter != q.Meter || p.Unit != q.Unit || p.For != q.For {
				continue
			}
			paid, _ := p.Price()
			other, _ := q.Price()
			if other.Cmp(paid) < 0 {
				cheaper = append(cheaper, fmt.Sprintf("%s for %s came to %s a %s for %s, and to %s for internal groups, on average",
					p.Meter, p.For, shortPrice(other), p.Unit, q.Class, shortPrice(paid)))
			}
		}
	}
	return cheaper
}

// shortPrice prints an average in full where that is short, else to six places.
func shortPrice(x money.Exact) string {
	if text := x.String(); len(text) <= len("0.000000") {
		return text
	}
	return x.Decimal(6, money.HalfEven)
}

// priceNote says at which prices a meter was charged and, where there are
// several, for what and to whom.
func priceNote(c *invoice.ClassPrices) string {
	var parts []string
	for _, p := range c.Prices {
		part := p.Price.String() + " a " + c.Unit + ": " + strings.Join(p.Groups, ", ")
		if !c.One() {
			var uses []string
			for _, f := range p.For {
				uses = append(uses, f.String())
			}
			part += " (" + strings.Join(uses, "; ") + ")"
		}
		if p.Formula {
			part += ", amounts by a formula of the card"
		}
		parts = append(parts, part)
	}
	if c.One() {
		return "one price, " + parts[0]
	}
	return fmt.Sprintf("%d prices, %s", len(parts), strings.Join(parts, " | "))
}

// paidAbove says where one class paid more than another for the same.
func paidAbove(c, other *invoice.ClassPrices) string {
	if c.Meter != other.Meter || c.Unit != other.Unit || c.Class == other.Class {
		return ""
	}
	for _, p := range c.Prices {
		for _, q := range other.Prices {
			if p.Price.Cmp(q.Price) <= 0 {
				continue
			}
			for _, f := range p.For {
				if slices.Contains(q.For, f) {
					return fmt.Sprintf("%s for %s, and %s from %s", p.Price, f, q.Price, other.Class)
				}
			}
		}
	}
	return ""
}
