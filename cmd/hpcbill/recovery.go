package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/spf13/cobra"
)

const recoveryLong = `Shows what was charged against list price, by class, group and fund, and what
was taken off by reason code. Issued months are as they were issued, the others
as they would be billed now; of a fiscal year, its months up to now.

  list + reductions + manual + prior + overhead + tax = charged
where manual is what people wrote and prior what earlier months were corrected
by, both of either sign. percent is how much of the
list price was charged for use: (list + reductions) / list.

The rows "price" and "proof" answer 2 CFR 200.468: that one schedule of rates
was charged to all alike. Each meter has one price for each class, or the row
says which prices there are, what they are for and who paid them: prices may
differ by cluster, by what was used (a QoS, a node type), or by a new version of
the card. The proof fails where groups of one class paid different prices for
the same, as prices by account or group make them, or where internal groups paid
more than another class for the same. It is about the prices of units: how a
rule counts units stands in the card.`

func (a *app) recoveryCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "recovery --period YYYY-MM | --fiscal-year YYYY",
		Short:   "what was recovered against list, and that all paid one schedule",
		Long:    recoveryLong,
		Example: "  hpcbill report recovery --period 2026-03\n  hpcbill report recovery --fiscal-year 2026 --format csv",
		Args:    noArguments,
	}
	format := addFormat(c)
	period := c.Flags().String("period", "", "a month, such as 2026-03")
	year := c.Flags().String("fiscal-year", "", "a fiscal year, named for the year in which it ends")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.printReport(*format, func(print func(*table, error) error) error {
			if (*period == "") == (*year == "") {
				return usageError{errors.New("--period or --fiscal-year, one of the two"), "such as --period 2026-03"}
			}
			return a.withSite(func(s *site) error {
				first, last, err := a.span(s.inputs, *period, *year)
				if err != nil {
					return err
				}
				return print(s.reportRecovery(c.Context(), first, last))
			})
		})
	}
	return c
}

// span gives the first and last month of a period or of a fiscal year, as far
// as the site bills them and they have begun.
func (a *app) span(in *inputs, period, year string) (first, last rates.Period, err error) {
	if period != "" {
		p, err := in.period(period)
		return p, p, err
	}
	n, err := strconv.Atoi(year)
	if err != nil || len(year) != len("2026") {
		return first, last, usageError{fmt.Errorf("--fiscal-year: %q is not a year such as 2026", year), ""}
	}
	_, first = in.config.fiscalYear(rates.MonthOf(n, 1, in.zone())) // January is in the year that ends with it or after it
	last = first
	for range 11 {
		last = last.Next()
	}
	if now := rates.PeriodContaining(a.now(), in.zone()); now.Start.Before(last.Start) {
		last = now
	}
	if first.Start.Before(in.config.FirstPeriod.Start) {
		first = in.config.FirstPeriod
	}
	if last.Start.Before(first.Start) {
		return first, last, usageError{fmt.Errorf("--fiscal-year: the site bills nothing of %d before %s", n, last.Next()), "first_period: in " + configFile + " is the first month that this site bills"}
	}
	return first, last, nil
}

// recovered is money under one heading: list + reductions + manual + prior +
// overhead + tax = charged.
type recovered struct{ list, reductions, manual, prior, overhead, tax, charged money.Amount }

func (r *recovered) add(o recovered) {
	r.list, r.reductions, r.manual = r.list+o.list, r.reductions+o.reductions, r.manual+o.manual
	r.prior, r.overhead, r.tax, r.charged = r.prior+o.prior, r.overhead+o.overhead, r.tax+o.tax, r.charged+o.charged
}

func (s *site) reportRecovery(ctx context.Context, first, last rates.Period) (*table, error) {
	months, err := s.months(ctx, first, last)
	if err != nil {
		return nil, err
	}
	var invoices []invoice.Invoice
	for _, m := range months {
		invoices = append(invoices, m.invoices...)
	}
	classes, groups, funds, all := map[string]*recovered{}, map[string]*recovered{}, map[string]*recovered{}, map[string]*recovered{}
	put := func(to map[string]*recovered, name string, r recovered) {
		if to[name] == nil {
			to[name] = &recovered{}
		}
		to[name].add(r)
	}
	for i := range invoices {
		inv := &invoices[i]
		r := recovered{inv.List, inv.Reductions, inv.Manual, inv.Prior, inv.Overhead, inv.Tax, inv.Total}
		put(classes, inv.Group.Class, r)
		put(groups, inv.Group.ID, r)
		put(all, spanText(first, last), r)
		shares, err := byPayer(inv)
		if err != nil {
			return nil, err
		}
		for n, payer := range inv.Payers() {
			put(funds, payer.Fund, shares[n])
		}
	}
	t := &table{columns: columns("by", "name", ">list", ">reductions", ">manual", ">prior", ">overhead", ">tax", ">charged", ">percent", "note")}
	s.addRecovered(t, "class", classes, "")
	s.addRecovered(t, "group", groups, "")
	note := ""
	if invoice.AnySplit(invoices) {
		note = "a split bill is shared as its total is"
	}
	s.addRecovered(t, "fund", funds, note)
	s.addRecovered(t, "total", all, "")
	s.addReductions(t, invoices)
	addPrices(t, invoice.PricesPaid(invoices, s.labelOf), invoice.NetPrices(invoices, s.labelOf))
	return t, nil
}

// byPayer shares the money of an invoice among those who pay it: the total as
// they do, what it is made of in proportion to that, or to their percentages
// where there is nothing to pay.
func byPayer(inv *invoice.Invoice) ([]recovered, error) {
	payers := inv.Payers()
	amounts, percents := make([]money.Exact, len(payers)), make([]money.Exact, len(payers))
	weights := percents
	for i, p := range payers {
		amounts[i], percents[i] = money.Int(int64(max(p.Amount, -p.Amount))), p.Percent
		if p.Amount != 0 {
			weights = amounts
		}
	}
	shares := make([]recovered, len(payers))
	for _, part := range []struct {
		whole money.Amount
		of    func(*recovered) *money.Amount
	}{
		{inv.Reductions, func(r *recovered) *money.Amount { return &r.reductions }},
		{inv.Manual, func(r *recovered) *money.Amount { return &r.manual }},
		{inv.Prior, func(r *recovered) *money.Amount { return &r.prior }},
		{inv.Overhead, func(r *recovered) *money.Amount { return &r.overhead }},
		{inv.Tax, func(r *recovered) *money.Amount { return &r.tax }},
	} {
		split, err := money.Split(part.whole, weights)
		if err != nil {
			return nil, err
		}
		for i := range shares {
			*part.of(&shares[i]) = split[i]
		}
	}
	for i, p := range payers { // what is left is of the list, so that each share adds up
		r := &shares[i]
		r.charged = p.Amount
		r.list = p.Amount - r.reductions - r.manual - r.prior - r.overhead - r.tax
	}
	return shares, nil
}

func spanText(first, last rates.Period) string {
	if first.Start.Equal(last.Start) {
		return first.String()
	}
	return first.String() + ".." + last.String()
}

func (s *site) addRecovered(t *table, by string, sums map[string]*recovered, note string) {
	c := s.config.Currency
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		r, says := sums[name], note
		if name == "" {
			says = "the roster gives none"
		}
		t.add(by, name, c.Plain(r.list), c.Plain(r.reductions), c.Plain(r.manual), c.Plain(r.prior), c.Plain(r.overhead), c.Plain(r.tax), c.Plain(r.charged), share(r.list+r.reductions, r.list), says)
	}
}

// share is a part of a whole in percent to one place, "" of nothing.
func share(part, whole money.Amount) string {
	x, ok := money.Int(int64(part)).Mul(money.Int(100)).Quo(money.Int(int64(whole)))
	if !ok {
		return ""
	}
	return x.Decimal(1, money.HalfUp)
}

// addReductions adds what was taken off, by the code of its reason.
func (s *site) addReductions(t *table, invoices []invoice.Invoice) {
	type code struct {
		kind invoice.Kind
		code string
	}
	sums, lines := map[code]money.Amount{}, map[code]int64{}
	var codes []code
	for i := range invoices {
		for _, l := range invoices[i].Lines {
			if !l.Kind.Reduces() {
				continue
			}
			k := code{l.Kind, l.Code}
			if lines[k] == 0 {
				codes = append(codes, k)
			}
			sums[k] += l.Amount
			lines[k]++
		}
	}
	sort.Slice(codes, func(i, j int) bool {
		a, b := codes[i], codes[j]
		return a.code < b.code || a.code == b.code && a.kind < b.kind
	})
	for _, k := range codes {
		t.add("reduction", k.code, nil, s.config.Currency.Plain(sums[k]), nil, nil, nil, nil, nil, nil, count(lines[k], string(k.kind)+" line"))
	}
}
