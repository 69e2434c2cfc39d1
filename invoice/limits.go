package invoice

import (
	"slices"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// Used is the part of the limit that is counted, by all who have it, from 0 to
// 1; more than 1 where the limit was lowered below it. Of a limit of nothing,
// all is used.
func (p *Pool) Used() money.Exact {
	return gone(p.Limit, p.Limit.Sub(p.Opening).Sub(p.Counted).Sub(p.Others))
}

// OpenLimits gives the limits of subsidies and caps that a group has in a
// period, in the order of the rules: as its invoice states them and, where
// nothing of the group counts, as they stand. invoices are those of the period,
// ledger is what earlier ones left.
func OpenLimits(period rates.Period, settings Settings, group *rates.Group, ledger []LedgerEntry, invoices []Invoice) ([]Pool, error) {
	rules := settings.Reductions
	if rules == nil {
		return nil, nil
	}
	ledger = append(slices.Clone(ledger), EntriesOf(CorrectionsBilled(invoices))...)
	m := &composition{composer: &Composer{period: period, settings: settings}, ledger: ledger}
	var all []Pool
	open := func(kind Kind, rule *rates.ReductionScope, limit *rates.PoolLimit) error {
		p, err := m.newPool(kind, rule, limit, group)
		if err != nil {
			return err
		}
		for i := range invoices {
			for _, stated := range invoices[i].Limits() {
				switch {
				case stated.Kind != kind || stated.Rule != p.Rule || stated.Holder() != p.Holder():
				case invoices[i].Group.ID == group.ID:
					all = append(all, stated)
					return nil
				default:
					p.Others = stated.Counted.Add(stated.Others)
				}
			}
		}
		all = append(all, p)
		return nil
	}
	for _, d := range rules.Discounts {
		if d.Limit != nil && d.Applies(group) && d.HoldsIn(period) {
			if err := open(Discount, &d.ReductionScope, d.Limit); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range rules.Caps {
		if c.Applies(group) && c.HoldsIn(period) {
			if err := open(Cap, &c.ReductionScope, &c.Limit); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// CountedOf is what a group counts towards the limit of the pool's rule in the
// months from first on, by the entries of a ledger.
func (p *Pool) CountedOf(group, first string, ledger []LedgerEntry) money.Exact {
	var sum money.Exact
	for _, e := range ledger {
		if e.Kind == LedgerKind(p.Kind) && e.Allocation == p.Rule && e.Pool != "" && e.Group == group && e.Period >= first {
			sum = sum.Add(e.Units)
		}
	}
	return sum
}
