package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hpcbill/invoice/history"
	"hpcbill/rates"
)

// missedMovements finds deposits and refunds that were written for a month
// after it was issued: the balance that its invoices printed would not be the
// one that the next month begins with.
func missedMovements(ctx context.Context, db *history.DB, in *inputs) error {
	months := map[string]bool{}
	for _, g := range in.roster.Groups {
		for _, al := range g.Allocations {
			for _, m := range al.Movements {
				months[m.On.String()[:len("2026-03")]] = true
			}
		}
	}
	if len(months) == 0 {
		return nil
	}
	periods, err := db.Periods(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range periods {
		if p.State != history.Issued || !months[p.Period] {
			continue
		}
		texts, err := db.IssuedTexts(ctx, p.Period, "roster")
		if err != nil {
			return err
		}
		for _, t := range texts {
			then, err := rates.LoadRoster(t.Name, t.Body)
			if err != nil {
				return fmt.Errorf("the roster of %s as the history has it: %w", p.Period, err)
			}
			errs = append(errs, movedSince(in.roster, then, p.Period)...)
		}
	}
	return errors.Join(errs...)
}

// movedSince gives a fault for each movement of a month that the roster which
// billed it did not have. Of balances that were not there yet it asks nothing.
func movedSince(now, then *rates.Roster, month string) []error {
	var errs []error
	for _, g := range now.Groups {
		old := then.Group(g.ID)
		if old == nil {
			continue
		}
		for _, al := range g.Allocations {
			i := slices.IndexFunc(old.Allocations, func(o *rates.Allocation) bool { return o.Name == al.Name })
			if i < 0 {
				continue
			}
			for _, m := range al.Movements {
				had := slices.ContainsFunc(old.Allocations[i].Movements, func(o rates.Movement) bool { return o.On == m.On && o.Units.Equal(m.Units) })
				if m.On.String()[:len(month)] != month || had {
					continue
				}
				what, units := "deposits", m.Units
				if units.Sign() < 0 {
					what, units = "refunds", units.Neg()
				}
				errs = append(errs, rates.Fault{File: now.File, Line: m.Line, Field: what,
					Message: fmt.Sprintf("group %s: %s on %s in allocation %s: %s was issued without it", g.ID, units, m.On, al.Name, month),
					Remedy:  "date it in a month that is not issued yet"})
			}
		}
	}
	return errs
}
