package rating

import (
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// settleJobTiers prices the meters whose tiers look at one job: a charge for
// each step that its units reach. charges are those of one job or holding.
func settleJobTiers(charges []Charge) []Charge {
	settled := make([]Charge, 0, len(charges))
	for i := range charges {
		c := charges[i]
		if c.Tiers == nil || c.Tiers.Window != rates.OfOneJob {
			settled = append(settled, c)
			continue
		}
		t, count := c.Tiers, c.Quantity
		for _, other := range charges {
			if other.Meter == t.Counter {
				count = other.Quantity
			}
		}
		c.Tiers = nil
		for _, s := range t.Slices(money.Exact{}, count, charges[i].Quantity) {
			c.Quantity, c.Price, c.PriceLabel = s.Units, t.Steps[s.Step].Price, t.Label(s.Step)
			c.Amount = c.Quantity.Mul(c.Price)
			settled = append(settled, c)
		}
	}
	return settled
}
