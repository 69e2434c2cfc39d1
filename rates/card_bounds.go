package rates

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// narrowed tells a scope what the stages before give at most.
func (c *chargeLoader) narrowed(s formula.Scope) formula.Scope {
	if c.charge.Rate != nil {
		rate := c.charge.Rate.Bounds()
		if c.charge.PerDay {
			rate = rate.Times(formula.Between(money.Int(0), money.Int(31)))
		}
		s = s.Narrow("rate", rate)
	}
	s = s.Narrow("factor", factorBounds(c.charge.Factors))
	if d, ok := c.durationBounds(); ok {
		s = s.Narrow("duration", d)
	}
	if u, ok := c.unitsBounds(); ok {
		s = s.Narrow("units", u)
	}
	return s.Narrow("price", priceBounds(c.charge.Meter))
}

// durationBounds are those of the hours that count.
func (c *chargeLoader) durationBounds() (formula.Bounds, bool) {
	if c.charge.Duration != nil {
		return c.charge.Duration.Bounds(), true
	}
	if c.formulas[formula.DurationStage] != nil {
		return formula.Bounds{}, false // it has a fault
	}
	for _, f := range formula.NewScope(formula.OfJob, formula.RateStage).Figures() {
		if f.Slot == formula.ElapsedSeconds {
			return f.Bounds, true
		}
	}
	panic("BUG: no figure is the elapsed time")
}

// unitsBounds are those of the units: what the formula gives, or its default.
func (c *chargeLoader) unitsBounds() (formula.Bounds, bool) {
	charge := c.charge
	switch {
	case charge.Units != nil:
		return charge.Units.Bounds(), true
	case charge.Rate == nil || c.formulas[formula.UnitsStage] != nil:
		return formula.Bounds{}, false
	}
	units := charge.Rate.Bounds().Times(factorBounds(charge.Factors))
	if charge.PerDay {
		units = units.Times(formula.Between(money.Int(0), money.Int(31)))
	}
	if charge.PerJob || c.subject == formula.OfHolding {
		return units, true
	}
	duration, ok := c.durationBounds()
	return units.Times(duration), ok
}

func factorBounds(factors []*Factor) formula.Bounds {
	product := formula.Between(money.Int(1), money.Int(1))
	for _, f := range factors {
		low, high := f.Else, f.Else
		for i, e := range f.Table {
			if f.ElseHold && i == 0 {
				low, high = e.Price, e.Price
			}
			low, high = extremes(low, high, e.Price)
		}
		product = product.Times(formula.Between(low, high))
	}
	return product
}

func priceBounds(m *Meter) formula.Bounds {
	p := m.Price
	if m.Tiers != nil {
		for _, step := range m.Tiers.Steps {
			p.Table = append(p.Table, PriceEntry{Price: step.Price})
		}
	}
	low, high := p.One, p.One
	for i, e := range p.Table {
		if i == 0 {
			low, high = e.Price, e.Price
		}
		low, high = extremes(low, high, e.Price)
	}
	return formula.Between(low, high)
}

func extremes(low, high, x money.Exact) (money.Exact, money.Exact) {
	if x.Cmp(low) < 0 {
		low = x
	}
	if x.Cmp(high) > 0 {
		high = x
	}
	return low, high
}

// checkSize refuses a charge that could be more money than an invoice keeps:
// a coefficient or a price that large is a slip of the pen, and must not be
// found out when a job comes along.
func (c *chargeLoader) checkSize(n *yaml.Node) {
	amount, ok := c.unitsBounds()
	if !ok {
		return
	}
	amount = amount.Times(priceBounds(c.charge.Meter))
	if c.charge.Amount != nil {
		amount = c.charge.Amount.Bounds()
	}
	high, bounded := amount.High()
	most := c.card.Currency.Exact(math.MaxInt64)
	if bounded && high.Cmp(most) > 0 {
		largest := "a job of 10^6 nodes and 10 years"
		if c.subject == formula.OfHolding {
			largest = "a holding of 2^63 bytes"
		}
		c.Fault(n, c.path, largest+fmt.Sprintf(" would cost more than the %s %s that an invoice can hold", most.Round(0, money.Down), c.card.Currency.Code),
			"look for a coefficient or a price that is far too large")
	}
}
