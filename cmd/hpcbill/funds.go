package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rates/nearest"
)

// checkFunds finds the days, from the first month that is not issued to the end
// of this one, on which jobs reach a group that names funds and none of them
// pays. A billing refuses them only where there is something to pay.
func (a *app) checkFunds(ctx context.Context, in *inputs) error {
	first, err := a.firstOpenPeriod(ctx, in)
	if err != nil {
		return err
	}
	from := rates.DateOf(first.Start, in.zone())
	until := rates.DateOf(rates.PeriodContaining(a.now(), in.zone()).End, in.zone())
	if !from.Before(until) {
		return nil
	}
	var errs []error
	for _, g := range in.roster.Groups {
		if days := in.roster.UnfundedDays(g, from, until); len(days) > 0 {
			errs = append(errs, invoice.UnfundedFault(in.roster, g, days, ""))
		}
	}
	return errors.Join(errs...)
}

// firstOpenPeriod is the first month of the site that is not issued.
func (a *app) firstOpenPeriod(ctx context.Context, in *inputs) (p rates.Period, err error) {
	p = in.config.FirstPeriod
	db, err := a.openHistory()
	var none usageError
	if errors.As(err, &none) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for {
		state, err := db.Period(ctx, p.String())
		if err != nil || state.State != history.Issued {
			return p, err
		}
		p = p.Next()
	}
}

// checkRosterMeters finds splits and allocations of meters that no card has: the
// ones would split nothing, nothing would be drawn on the others.
func (in *inputs) checkRosterMeters() error {
	var errs []error
	var known []string
	for _, card := range in.cards {
		for _, v := range card.Versions {
			for name := range v.Meters {
				known = append(known, name)
			}
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	check := func(meter string, has bool, line, column int, field string) {
		if !has {
			errs = append(errs, rates.Fault{File: in.roster.File, Line: line, Column: column, Field: field,
				Message: fmt.Sprintf("no card has a meter %q", meter), Remedy: nearest.Remedy(meter, known)})
		}
	}
	for _, g := range in.roster.Groups {
		for _, s := range g.Funds {
			for _, pattern := range s.Meters {
				check(pattern, anyMatches(pattern, known), s.Line, s.Column, "funds.meters")
			}
		}
		for _, al := range g.Allocations {
			check(al.Meter, slices.Contains(known, al.Meter), al.Line, 0, "allocations.meter")
		}
	}
	return errors.Join(errs...)
}

func anyMatches(pattern string, names []string) bool {
	for _, name := range names {
		if rates.GlobMatches(pattern, name) {
			return true
		}
	}
	return false
}

// fundsText says what each fund pays of an invoice: "0012 0.50, 0044 0.50".
func fundsText(inv *invoice.Invoice) string {
	var parts []string
	for _, f := range inv.Payers() {
		parts = append(parts, f.Fund+" "+inv.Currency.Format(f.Amount))
	}
	return strings.Join(parts, ", ")
}
