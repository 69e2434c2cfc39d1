package main

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rates/nearest"

	"github.com/spf13/cobra"
)

const usageLong = `Shows what each group used in a month so far and in the fiscal year, by meter,
and what is left of its prepaid balances, its allowances and the limits of its
subsidies and caps. An issued month is as it was issued; another is computed
from the jobs that are there now, and nothing is written.

Balances are as they stand at as_of: midnight of today by the clock or, of a
month that is over, its end. The burn rate is what the month drew, over the
days up to then on which the balance was in force; a balance that runs out
does so on the first day on which, at that rate, nothing is left. There is no
rate on the first day.

--format json prints one object for a login banner or a portal. Its keys stay:
  period, as_of, days_passed, fiscal_year, fiscal_year_from, currency, groups[]
  group, name, period_list, period_reductions, period_added, period_total,
  year_list, year_reductions, year_added, year_total, meters[], balances[],
  limits[]
  meters[]:   meter, unit, period_quantity, period_list, period_reductions,
              year_quantity, year_list, year_reductions
  balances[]: kind, allocation, shared_by, meter, unit, units, opening,
              deposits, refunds, drawn, others, left, beyond, overdraft, from,
              until, percent_used, units_per_day, outlook, runs_out
  limits[]:   kind, rule, shared_by, per, from, limit, before, counted, others,
              left, percent_used, year_counted
kind of a balance is prepaid or allowance. An allowance names its rule under allocation, and
who has it together with the group under shared_by (null: nobody); others is
what these drew, in the rate too. Of money, the unit is the currency, and the
meter is empty. units is what was granted up to the end of the month, deposits and refunds of
the month included. A total is list + reductions + added: adjustments, overhead and tax.
Quantities and amounts are text, so that no digit is lost. outlook is no rate
(the month drew nothing yet), lasts (past its until:), runs out, or used up;
runs_out is null but for runs out.

A limit is what a subsidy takes off at most, or what is charged at most under a
cap, per month, quarter, fiscal_year or once; from is the first day of that time
(null: it never began). before is what counts towards it from then up to the
period, by all who have it; counted is the group's in the period, others is what
the others count in it, and year_counted the group's in the fiscal year. In csv a
limit is a row subsidy or cap: units is the limit, opening what was left of it
when the period began, drawn is counted, and year_drawn is year_counted.`

func (a *app) usageCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "usage [GROUP]",
		Short:   "what was used this month and year, and what is left of balances, allowances and limits",
		Long:    usageLong,
		Example: "  hpcbill usage\n  hpcbill usage chem --format json\n  hpcbill usage chem --period 2026-03",
		Args:    atMostOne,
	}
	format := addFormat(c)
	period := c.Flags().String("period", "", "the month, such as 2026-03; this month where not given")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := checkFormat(*format); err != nil {
			return err
		}
		return a.withPeriodOrNow(*period, func(s *site, p rates.Period) error {
			u, err := a.usage(c.Context(), s, p, slices.Concat(args, []string{""})[0])
			if err != nil {
				return err
			}
			if err := u.write(a.stdout, *format); err != nil || *format != "table" {
				return err
			}
			for _, g := range u.groups {
				for i := range g.balances {
					a.warnOverdrawn(g.id, u.period.String(), &g.balances[i].Balance)
				}
			}
			return nil
		})
	}
	return c
}

// withPeriodOrNow is withPeriod with the month that the clock shows where none
// is named.
func (a *app) withPeriodOrNow(period string, do func(*site, rates.Period) error) error {
	if period == "" {
		in, err := readInputs(readSiteFile(a.siteDir))
		if err != nil {
			return err
		}
		period = rates.PeriodContaining(a.now(), in.zone()).String()
	}
	return a.withPeriod(period, do)
}

// usageReport is what groups used.
type usageReport struct {
	period     rates.Period
	asOf       rates.Date // what balances stand at, and how far the burn rate looks
	daysPassed int
	year       int
	yearFrom   rates.Period
	currency   money.Currency
	groups     []*groupUsage
}

// groupUsage is what one group used.
type groupUsage struct {
	id, name     string
	period, year charged
	meters       []*meterUsage
	balances     []balanceUsage
	limits       []limitUsage
}

// charged is money at list price and what was taken off it.
type charged struct{ list, reductions, total money.Amount }

func (c *charged) add(list, reductions, total money.Amount) {
	c.list, c.reductions, c.total = c.list+list, c.reductions+reductions, c.total+total
}

// added is what is neither use nor a reduction of it.
func (c *charged) added() money.Amount { return c.total - c.list - c.reductions }

// meterUsage is one meter of a group. Its quantity counts what was waived or
// prepaid too; what that took off is in the reductions.
type meterUsage struct {
	meter, unit                  string
	periodQuantity, yearQuantity money.Exact
	period, year                 charged
}

// usage gathers a period and its fiscal year, of one group or of all.
func (a *app) usage(ctx context.Context, s *site, p rates.Period, group string) (*usageReport, error) {
	if group != "" && s.roster.Group(group) == nil {
		var known []string
		for _, g := range s.roster.Groups {
			known = append(known, g.ID)
		}
		return nil, usageError{fmt.Errorf("there is no group %q in %s", group, s.config.RosterFile), nearest.Remedy(group, known)}
	}
	u := &usageReport{period: p, currency: s.config.Currency}
	u.year, u.yearFrom = s.config.fiscalYear(p)
	u.asOf = rates.DateOf(p.End, s.zone())
	if now := a.now(); now.Before(p.End) {
		u.asOf = rates.DateOf(now, s.zone())
	}
	u.daysPassed = max(0, daysBetween(rates.DateOf(p.Start, s.zone()), u.asOf))
	first := u.yearFrom
	if first.Start.Before(s.config.FirstPeriod.Start) {
		first = s.config.FirstPeriod
	}
	months, err := s.months(ctx, first, p)
	if err != nil {
		return nil, err
	}
	billedBy, _, err := s.inputsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, g := range s.roster.Groups {
		if group == "" || g.ID == group {
			use, err := s.groupUsage(u, g, months)
			if err != nil {
				return nil, err
			}
			if use.limits, err = u.limits(billedBy, g, months[len(months)-1]); err != nil {
				return nil, err
			}
			u.groups = append(u.groups, use)
		}
	}
	return u, nil
}

func (s *site) groupUsage(u *usageReport, g *rates.Group, months []month) (*groupUsage, error) {
	use := &groupUsage{id: g.ID, name: g.Name}
	var balances []invoice.Balance
	var allowances []invoice.Pool
	var err error
	for _, m := range months {
		now := m.period.Start.Equal(u.period.Start)
		billed := false
		for i := range m.invoices {
			if inv := &m.invoices[i]; inv.Group.ID == g.ID {
				use.addInvoice(inv, now)
				balances, allowances, billed = inv.Balances, inv.Allowances(), true
			}
		}
		if now && !billed {
			balances = s.untouched(g, m)
			if allowances, err = s.untouchedAllowances(g, m); err != nil {
				return nil, err
			}
		}
	}
	sort.Slice(use.meters, func(i, j int) bool {
		a, b := use.meters[i], use.meters[j]
		return a.meter < b.meter || a.meter == b.meter && a.unit < b.unit
	})
	for _, b := range balances {
		use.balances = append(use.balances, u.balance(b))
	}
	for i := range allowances {
		use.balances = append(use.balances, u.allowance(&allowances[i]))
	}
	return use, nil
}

// addInvoice adds an invoice to the year and, where it is of the month that is
// looked at, to the month.
func (use *groupUsage) addInvoice(inv *invoice.Invoice, now bool) {
	use.year.add(inv.List, inv.Reductions, inv.Total)
	if now {
		use.period.add(inv.List, inv.Reductions, inv.Total)
	}
	for i := range inv.Lines {
		l := &inv.Lines[i]
		listed := l.Kind.Lists()
		if !listed && !l.Kind.Reduces() {
			continue
		}
		m, one := use.meter(l.Meter, l.Unit), charged{list: l.Amount}
		if !listed {
			one = charged{reductions: l.Amount}
		}
		m.year.add(one.list, one.reductions, l.Amount)
		if now {
			m.period.add(one.list, one.reductions, l.Amount)
		}
		if listed {
			m.yearQuantity = m.yearQuantity.Add(l.Quantity)
			if now {
				m.periodQuantity = m.periodQuantity.Add(l.Quantity)
			}
		}
	}
}

func (use *groupUsage) meter(meter, unit string) *meterUsage {
	for _, m := range use.meters {
		if m.meter == meter && m.unit == unit {
			return m
		}
	}
	m := &meterUsage{meter: meter, unit: unit}
	use.meters = append(use.meters, m)
	return m
}

// untouched are the balances in force in a month that billed the group
// nothing.
func (s *site) untouched(g *rates.Group, m month) []invoice.Balance {
	first, end := rates.DateOf(m.period.Start, s.zone()), rates.DateOf(m.period.End, s.zone())
	var balances []invoice.Balance
	for _, a := range g.Allocations {
		if !a.From.IsZero() && !a.From.Before(end) || !a.Until.IsZero() && !first.Before(a.Until) {
			continue
		}
		balances = append(balances, invoice.OpenBalance(g.ID, a, s.unitOf(a.Meter), m.period, m.ledger))
	}
	return balances
}

// untouchedAllowances are the allowances of a group in a month that billed it
// nothing.
func (s *site) untouchedAllowances(g *rates.Group, m month) ([]invoice.Pool, error) {
	settings := s.settings()
	if settings.Reductions == nil {
		return nil, nil
	}
	units := map[string]string{}
	for _, a := range settings.Reductions.Allowances {
		units[a.Limit.Meter] = s.unitOf(a.Limit.Meter)
	}
	return invoice.OpenAllowances(m.period, settings, s.roster, g, units, m.ledger, m.invoices)
}

// unitOf is what the cards count a meter in; its name where they differ or
// none has it.
func (in *inputs) unitOf(meter string) string {
	units := map[string]bool{}
	unit := meter
	for _, c := range in.cards {
		for _, v := range c.Versions {
			if m := v.Meters[meter]; m != nil {
				units[m.Unit], unit = true, m.Unit
			}
		}
	}
	if len(units) > 1 {
		return meter
	}
	return unit
}
