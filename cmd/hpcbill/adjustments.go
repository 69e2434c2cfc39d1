package main

import (
	"context"
	"errors"
	"fmt"

	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rates/nearest"
)

// checkAdjustments finds adjustments of groups that there are not, and those
// that would never be billed.
func (in *inputs) checkAdjustments(known []string) error {
	var errs []error
	fault := func(a *invoice.Adjustment, field, message, remedy string) {
		errs = append(errs, rates.Fault{File: in.config.AdjustmentsFile, Line: a.Line, Field: field, Message: message, Remedy: remedy})
	}
	for i := range in.adjustments {
		a := &in.adjustments[i]
		if in.roster.Group(a.Group) == nil {
			fault(a, "group", fmt.Sprintf("group %q is not in %s", a.Group, in.config.RosterFile), nearest.Remedy(a.Group, known))
		}
		if first := in.config.FirstPeriod.String(); a.Period < first {
			fault(a, "period", fmt.Sprintf("%s is before first_period %s", a.Period, first), "date it in a month that this site bills")
		}
	}
	return errors.Join(errs...)
}

// checkMissed finds adjustments, and deposits and refunds of allocations, that
// were written for a month after it was issued: no invoice would ever have them.
func (a *app) checkMissed(ctx context.Context, in *inputs) (err error) {
	if len(in.adjustments) == 0 && !hasAllocations(in.roster) {
		return nil
	}
	db, err := a.openHistory()
	var none usageError
	if errors.As(err, &none) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return errors.Join(missedAdjustments(ctx, db, in), missedMovements(ctx, db, in))
}

func missedAdjustments(ctx context.Context, db *history.DB, in *inputs) error {
	if len(in.adjustments) == 0 {
		return nil
	}
	periods, err := db.Periods(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range periods {
		if p.State != history.Issued {
			continue
		}
		issued, err := db.Invoices(ctx, history.Filter{Period: p.Period})
		if err != nil {
			return err
		}
		for _, m := range invoice.MissedAdjustments(in.adjustments, p.Period, issued) {
			errs = append(errs, rates.Fault{File: in.config.AdjustmentsFile, Line: m.Line, Field: "period",
				Message: fmt.Sprintf("%s of group %s is for %s, which was issued without it", m.ID, m.Group, p.Period),
				Remedy:  "date it in a month that is not issued yet"})
		}
	}
	return errors.Join(errs...)
}
