package invoice

import (
	"slices"
	"sort"
	"strings"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// ClassPrices are the prices at which the groups of one class were charged for
// one meter. 2 CFR 200.468(b) asks that a service be charged by a schedule of
// rates that does not discriminate between the activities of an institution:
// one meter, one class, one price; or it has to be said what differs.
type ClassPrices struct {
	Meter, Unit, Class string
	Prices             []PricePaid // the lowest first
}

// PricePaid is one price, with who paid it and for what.
type PricePaid struct {
	Price  money.Exact // per Unit, before any reduction
	Groups []string    // IDs, sorted
	For    []PricedFor // sorted
	// Formula reports that an amount is not quantity times price: the rule of
	// the card has a formula of its own for it.
	Formula bool
}

// PricedFor is what can make prices of one meter differ without a difference
// between groups.
type PricedFor struct {
	Cluster string // or the file system
	Label   string // of the price, apart from the payer: "debug"
	Card    string
	Version rates.Date
}

func (f PricedFor) String() string {
	var parts []string
	for _, p := range []string{f.Cluster, f.Label, f.Card, f.Version.String()} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, " ")
}

// One reports whether every group paid one price.
func (c *ClassPrices) One() bool { return len(c.Prices) == 1 }

// Discriminates reports whether one line of the schedule, such as the GPU
// price of one version of a card, was charged at two prices.
func (c *ClassPrices) Discriminates() bool {
	seen := map[PricedFor]int{}
	for i, p := range c.Prices {
		for _, f := range p.For {
			if first, again := seen[f]; again && first != i {
				return true
			}
			seen[f] = i
		}
	}
	return false
}

// PricesPaid gives the prices of every meter and class in the invoices, in the
// order of meter, unit and class. label gives what a line's price was picked
// by apart from the payer: "debug" of prices by QoS, "" of prices by class.
func PricesPaid(invoices []Invoice, label func(*Line) string) []ClassPrices {
	type id struct{ meter, unit, class string }
	found := map[id]*ClassPrices{}
	for i := range invoices {
		inv := &invoices[i]
		for n := range inv.Lines {
			l := &inv.Lines[n]
			if l.Kind != Usage && l.Kind != Storage || l.Quantity.Sign() == 0 {
				continue
			}
			key := id{l.Meter, l.Unit, inv.Group.Class}
			c := found[key]
			if c == nil {
				c = &ClassPrices{Meter: l.Meter, Unit: l.Unit, Class: inv.Group.Class}
				found[key] = c
			}
			c.add(inv.Group.ID, l, label(l))
		}
	}
	var all []ClassPrices
	for _, c := range found {
		sort.Slice(c.Prices, func(i, j int) bool { return c.Prices[i].Price.Cmp(c.Prices[j].Price) < 0 })
		all = append(all, *c)
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := &all[i], &all[j]
		return slices.Compare([]string{a.Meter, a.Unit, a.Class}, []string{b.Meter, b.Unit, b.Class}) < 0
	})
	return all
}

func (c *ClassPrices) add(group string, l *Line, label string) {
	i := slices.IndexFunc(c.Prices, func(p PricePaid) bool { return p.Price.Equal(l.Price) })
	if i < 0 {
		i = len(c.Prices)
		c.Prices = append(c.Prices, PricePaid{Price: l.Price})
	}
	p := &c.Prices[i]
	p.Formula = p.Formula || !l.Quantity.Mul(l.Price).Equal(l.Exact)
	p.Groups = insert(p.Groups, group, strings.Compare)
	p.For = insert(p.For, PricedFor{l.Cluster, label, l.Card, l.Version}, func(a, b PricedFor) int {
		return strings.Compare(a.String(), b.String())
	})
}

// insert keeps a list sorted and without repetition.
func insert[T any](list []T, x T, compare func(a, b T) int) []T {
	i, found := slices.BinarySearchFunc(list, x, compare)
	if found {
		return list
	}
	return slices.Insert(list, i, x)
}
