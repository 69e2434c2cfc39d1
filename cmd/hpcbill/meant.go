package main

import (
	"cmp"
	"fmt"
	"slices"

	"hpcbill/rates"
)

// meantOtherwise finds what may be written and is hardly meant: a last day where
// the first day after it belongs, newcomers of whom there are none, and accounts in
// capital letters.
func (in *inputs) meantOtherwise() []rates.Fault {
	all := append(in.meantAccounts(), in.meantFrom()...)
	last := func(file string, line int, what string, until rates.Date) {
		if after := until.Next(); !until.IsZero() && after.Day == 1 {
			all = append(all, rates.Fault{File: file, Line: line, Field: "until",
				Message: fmt.Sprintf("%s: on that day it holds no longer", what),
				Remedy:  fmt.Sprintf("write %s, if the last day of the month shall be in", after)})
		}
	}
	for _, d := range in.datedRules() {
		if d.until {
			last(d.file, d.line, d.what, d.day)
		}
	}
	if in.reductions == nil {
		return all
	}
	for _, al := range in.reductions.Allowances {
		isNew := func(g *rates.Group) bool { return al.Applies(g) && !g.Since.IsZero() }
		if al.FirstMonths > 0 && !slices.ContainsFunc(in.roster.Groups, isNew) {
			all = append(all, rates.Fault{File: in.reductions.File, Line: al.Line, Column: al.Column, Field: "first_months",
				Message: fmt.Sprintf("%s is for newcomers, and no group that it is of has since:", al.Name),
				Remedy:  "write into " + in.config.RosterFile + " since which day new groups are there: the others count as old"})
		}
	}
	return all
}

// meantFrom finds that no card holds yet when the site begins to bill, as with a
// mistyped year: a cluster that came later may have one of its own from then on.
func (in *inputs) meantFrom() []rates.Fault {
	var cards []*rates.Card
	for _, c := range in.config.Clusters {
		cards = append(cards, in.cards[c.Card])
	}
	if len(cards) == 0 {
		return nil
	}
	earliest := slices.MinFunc(cards, func(a, b *rates.Card) int {
		return cmp.Compare(a.Versions[0].From.String(), b.Versions[0].From.String())
	})
	first, begins := earliest.Versions[0], rates.DateOf(in.config.FirstPeriod.Start, in.zone())
	if !begins.Before(first.From) {
		return nil
	}
	return []rates.Fault{{File: earliest.File, Line: first.Line, Column: first.Column, Field: "from",
		Message: fmt.Sprintf("no version holds before %s, and the site bills from %s on: jobs of these days are held", first.From, begins),
		Remedy:  "begin the version on the day from which it is to bill, or write first_period: " + first.From.String()[:len("2026-01")]}}
}
