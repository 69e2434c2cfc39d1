package main

import (
	"fmt"
	"slices"

	"hpcbill/rates"
)

// meantOtherwise finds what may be written and is hardly meant: a last day where
// the first day after it belongs, newcomers of whom there are none, and accounts in
// capital letters.
func (in *inputs) meantOtherwise() []rates.Fault {
	all := in.meantAccounts()
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
