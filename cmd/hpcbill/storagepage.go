package main

import (
	"hpcbill/invoice/html"
	"hpcbill/rates"
	"hpcbill/rating"
)

// ratedStorage rates the storage of a period alone. What tiers make of its
// charges is not settled.
func (in *inputs) ratedStorage(p rates.Period) ([]rating.StorageOutcome, error) {
	held, _, err := in.storageOf(p)
	if err != nil {
		return nil, err
	}
	return rating.NewRater(in.tariff()).Storage(held.Holdings, p)
}

// heldBy is what a group's page shows of its storage.
func heldBy(outcomes []rating.StorageOutcome, group string) []html.Holding {
	var held []html.Holding
	for i := range outcomes {
		o := &outcomes[i]
		if o.Holding.Group != group {
			continue
		}
		h := html.Holding{
			Place: o.Holding.Place(), Holder: o.Holding.Holder, Days: o.Days,
			QuotaBytes: o.Holding.QuotaBytes, UsedBytes: o.Holding.UsedBytes, Unit: string(o.Holding.Unit),
		}
		for _, c := range o.Charges {
			if c.StorageUnit != "" {
				h.Counted = string(c.StorageUnit)
			}
		}
		held = append(held, h)
	}
	return held
}
