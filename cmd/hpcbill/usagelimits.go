package main

import (
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// limitUsage is the limit of a subsidy or a cap, and what a group counts
// towards it in the fiscal year.
type limitUsage struct {
	invoice.Pool
	year money.Exact
}

// kind is what reductions.yaml makes of the rule.
func (l *limitUsage) kind() string {
	if l.Kind == invoice.Cap {
		return "cap"
	}
	return "subsidy"
}

// holder is who has the limit together, "" where the group has it alone.
func (l *limitUsage) holder() string {
	if l.SharedBy == rates.ByGroup {
		return ""
	}
	return l.Holder()
}

// limits are those of a group in the month that is looked at, by the rules that
// billed it or would bill it now.
func (u *usageReport) limits(in *inputs, g *rates.Group, m month) ([]limitUsage, error) {
	if g = in.roster.Group(g.ID); g == nil {
		return nil, nil // it was not there when the month was issued
	}
	open, err := invoice.OpenLimits(m.period, in.settings(), g, m.ledger, m.invoices)
	if err != nil {
		return nil, err
	}
	ledger := append(m.ledger[:len(m.ledger):len(m.ledger)], invoice.LedgerEntries(m.invoices)...)
	var all []limitUsage
	for _, p := range open {
		all = append(all, limitUsage{p, p.CountedOf(g.ID, u.yearFrom.String(), ledger)})
	}
	return all, nil
}

// limitsTable shows the limits of all groups.
func (u *usageReport) limitsTable() table {
	t := table{columns: columns("group", "limit", "kind", "per", ">most", ">before", ">"+u.period.String(), ">others", ">left", "used", ">"+u.yearName())}
	set := func(x money.Exact) string { return money.Group(u.amount(x)) }
	for _, g := range u.groups {
		for _, l := range g.limits {
			used := l.Used()
			t.add(g.id, oneLine(l.Title()), l.kind(), l.Per.String(), set(l.Limit), set(l.Opening), set(l.Counted), set(l.Others), set(l.Left()),
				bar(used)+" "+percentOf(used)+" %", set(l.year))
		}
	}
	return t
}

// amount is an amount of money as text, which has no more digits than the
// currency.
func (u *usageReport) amount(x money.Exact) string {
	return x.Decimal(u.currency.Digits, money.HalfEven)
}

type limitUsageJSON struct {
	Kind        string  `json:"kind"`
	Rule        string  `json:"rule"`
	SharedBy    *string `json:"shared_by"`
	Per         string  `json:"per"`
	From        *string `json:"from"`
	Limit       string  `json:"limit"`
	Before      string  `json:"before"`
	Counted     string  `json:"counted"`
	Others      string  `json:"others"`
	Left        string  `json:"left"`
	PercentUsed string  `json:"percent_used"`
	YearCounted string  `json:"year_counted"`
}

func (u *usageReport) limitJSON(l *limitUsage) limitUsageJSON {
	return limitUsageJSON{
		Kind: l.kind(), Rule: l.Rule, SharedBy: textOrNull(l.holder()), Per: l.Per.String(), From: dateOrNull(l.From),
		Limit: u.amount(l.Limit), Before: u.amount(l.Opening), Counted: u.amount(l.Counted), Others: u.amount(l.Others), Left: u.amount(l.Left()),
		PercentUsed: percentOf(l.Used()), YearCounted: u.amount(l.year),
	}
}
