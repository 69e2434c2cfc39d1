package main

import (
	"errors"
	"fmt"
	"slices"

	"hpcbill/rates"
	"hpcbill/rates/nearest"
)

// checkReductions finds rules of groups, classes, departments, persons, meters
// and clusters that there are not: a misspelt one would reduce nothing, and one
// that is misspelt behind a ! too much.
func (in *inputs) checkReductions() error {
	if in.reductions == nil {
		return nil
	}
	var errs []error
	fault := func(s *rates.ReductionScope, field, message, remedy string) {
		errs = append(errs, rates.Fault{File: in.reductions.File, Line: s.Line, Column: s.Column, Field: field, Message: message, Remedy: remedy})
	}
	known := in.namesKnown()
	for _, s := range in.reductions.Scopes() {
		for _, asked := range []struct {
			field, none string
			names       rates.Names
		}{
			{"group", "no group of the roster has the id %q", s.Groups},
			{"class", "no group of the roster is of class %q", s.Classes},
			{"department", "no group of the roster is of department %q", s.Departments},
			{"pi", "no group of the roster has the pi %q", s.PIs},
			{"meter", "no card has a meter %q", s.Meters},
			{"cluster", "there is no cluster or file system %q", s.Clusters},
		} {
			if asked.field == "cluster" && len(in.config.StorageSources) > 0 {
				continue // what listings will name is not known before they are read
			}
			for _, pattern := range asked.names.Patterns() {
				if !anyMatches(pattern, known[asked.field]) {
					fault(s, asked.field, fmt.Sprintf(asked.none, pattern), nearest.Remedy(pattern, known[asked.field]))
				}
			}
		}
		if !slices.ContainsFunc(in.roster.Groups, s.Applies) {
			fault(s, "", fmt.Sprintf("%s is of no group: none is all that it asks for", s.Name), "leave the rule out, or ask for less")
		}
	}
	rules, limits := in.reductions.Limits()
	for i, s := range rules {
		in.checkSharing(s, limits[i], fault)
	}
	return errors.Join(errs...)
}

// checkSharing finds limits that nobody can say who shares, and amounts that
// cannot be paid.
func (in *inputs) checkSharing(s *rates.ReductionScope, limit *rates.PoolLimit, fault func(s *rates.ReductionScope, field, message, remedy string)) {
	if limit.SharedBy == rates.ByPI || limit.SharedBy == rates.ByDepartment {
		for _, g := range in.roster.Groups {
			if s.Applies(g) && limit.SharedBy.Of(g) == "" {
				fault(s, "shared_by", fmt.Sprintf("%s is shared by %s, and group %s has none", s.Name, limit.SharedBy, g.ID),
					fmt.Sprintf(`give the group one in %s, or let the rule be of those that have: %s: "?*"`, in.config.RosterFile, limit.SharedBy))
			}
		}
	}
	if limit.Meter != "" {
		return
	}
	amount, err := in.config.Currency.Amount(limit.Amount, in.config.Invoice.Rounding)
	if err == nil && !in.config.Currency.Exact(amount).Equal(limit.Amount) {
		err = fmt.Errorf("an amount of %s has more digits than %s", limit.Amount, in.config.Currency.Code)
	}
	if err != nil {
		fault(s, "", err.Error(), "")
	}
}

// namesKnown are the names that a rule of reductions may ask for, by its keys.
func (in *inputs) namesKnown() map[string][]string {
	known := map[string][]string{}
	add := func(field, name string) {
		if name != "" {
			known[field] = append(known[field], name)
		}
	}
	for _, g := range in.roster.Groups {
		add("group", g.ID)
		add("class", g.Class)
		add("department", g.Department)
		add("pi", g.PI)
	}
	for _, c := range in.config.Clusters {
		add("cluster", c.Name)
	}
	for _, h := range in.storage.all.Holdings {
		add("cluster", h.Place())
	}
	for _, card := range in.cards {
		for _, v := range card.Versions {
			for name := range v.Meters {
				add("meter", name)
			}
		}
	}
	for field := range known {
		slices.Sort(known[field])
		known[field] = slices.Compact(known[field])
	}
	return known
}
