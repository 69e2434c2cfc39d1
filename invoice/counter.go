package invoice

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// Counter is what tiers count over a fiscal year, as one period leaves it:
// the units of a meter, or the money that they cost at list price. It is the
// group's own, over everything that the card prices, and without what is
// waived.
type Counter struct {
	Card, Meter string
	Money       bool        // not the units
	Unit        string      // the meter's, or the currency
	From        rates.Date  // the first day of the fiscal year
	Opening     money.Exact // when the period begins
	Counted     money.Exact // in the period
}

// counted names what a counter counts.
type counted struct {
	card, meter string
	money       bool
}

func (c counted) compare(o counted) int {
	if d := cmp.Or(cmp.Compare(c.card, o.card), cmp.Compare(c.meter, o.meter)); d != 0 {
		return d
	}
	switch {
	case c.money == o.money:
		return 0
	case o.money:
		return -1
	}
	return 1
}

// opening gives where a counter stands when the period begins.
func (t *tiering) opening(at counted, unit string) (money.Exact, error) {
	if c := t.counters[at]; c != nil {
		return c.Opening, nil
	}
	start := t.composer.settings.FiscalYearStart
	if start == 0 {
		return money.Exact{}, fmt.Errorf("BUG: tiers over a fiscal year, and nobody says when it begins")
	}
	period := t.composer.period
	first := period.FiscalYear(start)
	c := &Counter{Card: at.card, Meter: at.meter, Money: at.money, Unit: unit, From: rates.Date{Year: first.Year, Month: int(first.Month), Day: 1}}
	if at.money {
		c.Unit = t.composer.settings.Currency.Code
	}
	if c.Unit == "" {
		c.Unit = at.meter
	}
	c.Opening = c.OpeningFrom(t.group, period.String(), t.ledger)
	t.counters[at] = c
	return c.Opening, nil
}

// sortedCounters gives the counters that the invoice keeps.
func (t *tiering) sortedCounters() []Counter {
	var all []Counter
	for _, at := range slices.SortedFunc(maps.Keys(t.counters), counted.compare) {
		all = append(all, *t.counters[at])
	}
	return all
}

// OpeningFrom computes again, from the ledger, where the counter stood when
// the period began: what earlier periods of the fiscal year counted. A
// difference means that the ledger has changed since the invoice was composed.
func (c *Counter) OpeningFrom(group, period string, ledger []LedgerEntry) money.Exact {
	first := c.From.String()[:len("2026-03")]
	var sum money.Exact
	for _, e := range ledger {
		if e.Kind == c.kind() && e.Group == group && e.Card == c.Card && e.Meter == c.Meter && e.Period >= first && e.Period < period {
			sum = sum.Add(e.Units)
		}
	}
	return sum
}

// entry is what the counter adds to the ledger.
func (c *Counter) entry(inv *Invoice) LedgerEntry {
	return LedgerEntry{Kind: c.kind(), Group: inv.Group.ID, Card: c.Card, Period: inv.Period, Meter: c.Meter, Unit: c.Unit, Units: c.Counted}
}

func (c *Counter) kind() LedgerKind {
	if c.Money {
		return CountedMoney
	}
	return CountedUnits
}
