package invoice

import (
	"cmp"
	"slices"
	"strings"

	"hpcbill/rates/money"
)

// NetPrice is what one unit came to on average for the groups of one class
// after discounts, allowances and caps, for one line of the schedule of rates.
type NetPrice struct {
	Meter, Unit string
	For         PricedFor
	Class       string
	Quantity    money.Exact
	Net         money.Exact // of all the quantity
	Reduced     bool        // by such a rule
}

// Price is what one unit came to; ok is false of no units.
func (n *NetPrice) Price() (x money.Exact, ok bool) { return n.Net.Quo(n.Quantity) }

// NetPrices gives the net prices of every meter and class in the invoices, in
// the order of meter, unit, use and class. label is that of PricesPaid.
func NetPrices(invoices []Invoice, label func(*Line) string) []NetPrice {
	type id struct {
		meter, unit, class string
		use                PricedFor
	}
	found := map[id]*NetPrice{}
	for i := range invoices {
		inv := &invoices[i]
		for n := range inv.Lines {
			l := &inv.Lines[n]
			of := l
			byRule := l.Kind.OfMoney() || l.Kind == Allowance
			if byRule {
				of = &inv.Lines[l.Of-1]
			} else if !l.Kind.Lists() {
				continue
			}
			key := id{of.Meter, of.Unit, inv.Group.Class, PricedFor{of.Cluster, label(of), of.Card, of.Version}}
			p := found[key]
			if p == nil {
				p = &NetPrice{Meter: key.meter, Unit: key.unit, Class: key.class, For: key.use}
				found[key] = p
			}
			p.Net = p.Net.Add(l.Exact)
			p.Reduced = p.Reduced || byRule
			if !byRule {
				p.Quantity = p.Quantity.Add(l.Quantity)
			}
		}
	}
	var all []NetPrice
	for _, p := range found {
		if p.Quantity.Sign() > 0 {
			all = append(all, *p)
		}
	}
	slices.SortFunc(all, func(a, b NetPrice) int {
		return cmp.Or(strings.Compare(a.Meter, b.Meter), strings.Compare(a.Unit, b.Unit),
			strings.Compare(a.For.String(), b.For.String()), strings.Compare(a.Class, b.Class))
	})
	return all
}
