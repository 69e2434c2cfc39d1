package invoice

import (
	"fmt"

	"hpcbill/rates/money"
	"hpcbill/rating"
)

// TierPrices give single charges a price where tiers priced a group's whole
// period: the average of the lines that the charge went into, exact, so that
// the amounts of all charges sum to the lines before rounding. No charge lies
// in a tier by itself; which of two jobs was the cheaper one would be a matter
// of their order.
type TierPrices struct{ sums map[tierPriceKey]tierPriceSum }

// tierPriceKey is what lines that tiers made of one have in common.
type tierPriceKey struct {
	group, cluster, meter, unit, card, digest, version string
	kind                                               Kind
}

type tierPriceSum struct{ quantity, amount money.Exact }

// TierPricesOf takes the prices from the invoices of a period, drafts or
// issued.
func TierPricesOf(invoices []Invoice) TierPrices {
	p := TierPrices{make(map[tierPriceKey]tierPriceSum)}
	for i := range invoices {
		for _, l := range invoices[i].Lines {
			if !l.Kind.Lists() {
				continue
			}
			key := tierPriceKey{invoices[i].Group.ID, l.Cluster, l.Meter, l.Unit, l.Card, l.CardDigest, l.Version.String(), l.Kind}
			sum := p.sums[key]
			p.sums[key] = tierPriceSum{sum.quantity.Add(l.Quantity), sum.amount.Add(l.Exact)}
		}
	}
	return p
}

// IsZero reports whether there are no prices, for want of lines.
func (p TierPrices) IsZero() bool { return len(p.sums) == 0 }

// SettleJob prices the charges of an outcome that tiers left without a price,
// in place. A charge that is in no line of the invoices is an error, but for
// one of nothing.
func (p TierPrices) SettleJob(o *rating.Outcome) error {
	o.Kind = nil
	for i := range o.Charges {
		if err := p.settle(Usage, o.Job.Cluster, &o.Charges[i]); err != nil {
			return fmt.Errorf("%w: job %s/%s", err, o.Job.Cluster, o.Job.JobID)
		}
	}
	return nil
}

// SettleStorage does the same for holdings.
func (p TierPrices) SettleStorage(outcomes []rating.StorageOutcome) error {
	for i := range outcomes {
		o := &outcomes[i]
		for n := range o.Charges {
			if err := p.settle(Storage, o.Holding.Place(), &o.Charges[n]); err != nil {
				return fmt.Errorf("%w: storage of %s on %s", err, o.Holding.Group, o.Holding.Place())
			}
		}
	}
	return nil
}

// averageLabel is what picked the price of a charge that tiers priced.
const averageLabel = "average of tiers"

func (p TierPrices) settle(kind Kind, cluster string, c *rating.Charge) error {
	if c.Tiers == nil {
		return nil
	}
	r := &c.Reason
	sum := p.sums[tierPriceKey{c.Group, cluster, c.Meter, c.Unit, r.Card, r.CardDigest, r.Version.String(), kind}]
	price, ok := sum.amount.Quo(sum.quantity)
	if !ok && c.Quantity.Sign() != 0 {
		return fmt.Errorf("%s %s of %s are in no line of its invoice", c.Quantity, c.Unit, c.Group)
	}
	c.Price, c.Amount, c.PriceLabel, c.Tiers = price, c.Quantity.Mul(price), averageLabel, nil
	return nil
}
