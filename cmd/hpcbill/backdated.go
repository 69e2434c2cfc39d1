package main

import (
	"bytes"
	"fmt"
	"slices"

	"hpcbill/invoice/history"
	"hpcbill/rates"
)

// dated is a day from which, or until which, a rule holds.
type dated struct {
	what  string // "account=x is lab_b's from 2025-03-15 on"
	day   rates.Date
	until bool
	file  string
	line  int
}

// backdatedSince gives what the roster and the reductions say of days of issued
// months and did not say then, when the last month before p was issued. It
// changes no bill, since issued months keep the rules that billed them.
func (s *site) backdatedSince(p rates.Period, then *inputs) []dated {
	said := map[string]bool{}
	for _, d := range then.datedRules() {
		said[d.what] = true
	}
	zone := s.zone()
	first, open := rates.DateOf(s.config.FirstPeriod.Start, zone), rates.DateOf(p.Start, zone)
	return slices.DeleteFunc(s.datedRules(), func(d dated) bool {
		return said[d.what] || d.day.Before(first) || !d.day.Before(open)
	})
}

// sameRules reports whether the roster and the reductions are to the byte what
// they were.
func (s *site) sameRules(then []history.Text) bool {
	for _, t := range s.texts {
		if kind := s.kindOf(t.name); kind != "roster" && kind != "reductions" {
			continue
		}
		if !slices.ContainsFunc(then, func(o history.Text) bool { return o.Name == t.name && bytes.Equal(o.Body, t.text) }) {
			return false
		}
	}
	return true
}

// datedRules gives the days on which something begins or ends to be so: how
// jobs reach groups, prepaid allocations, reductions.
func (in *inputs) datedRules() []dated {
	var all []dated
	add := func(file string, line int, what string, from, until rates.Date) {
		if !from.IsZero() {
			all = append(all, dated{fmt.Sprintf("%s from %s on", what, from), from, false, file, line})
		}
		if !until.IsZero() {
			all = append(all, dated{fmt.Sprintf("%s until %s", what, until), until, true, file, line})
		}
	}
	for _, g := range in.roster.Groups {
		for _, m := range g.Mappings {
			undated := *m
			undated.From, undated.Until = rates.Date{}, rates.Date{}
			add(in.config.RosterFile, m.Line, fmt.Sprintf("%s is %s's", undated.String(), g.ID), m.From, m.Until)
		}
		for _, al := range g.Allocations {
			add(in.config.RosterFile, al.Line, fmt.Sprintf("allocation %s of %s holds", al.Name, g.ID), al.From, al.Until)
		}
	}
	if in.reductions == nil {
		return all
	}
	scope := func(r *rates.ReductionScope) { add(in.reductions.File, r.Line, r.Name+" holds", r.From, r.Until) }
	for _, d := range in.reductions.Discounts {
		scope(&d.ReductionScope)
	}
	for _, al := range in.reductions.Allowances {
		scope(&al.ReductionScope)
	}
	for _, c := range in.reductions.Caps {
		scope(&c.ReductionScope)
	}
	return all
}

// printBackdated says which rules came too late for issued months.
func (a *app) printBackdated(p rates.Period, all []dated) {
	for _, d := range all {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s:%d: %s: %s was issued without that, and stays\n",
			d.file, d.line, oneLine(d.what), d.day.String()[:len("2026-03")])
	}
	if len(all) > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: hint: hpcbill bill --period %s shows what it would change: write that into adjustments.csv, for %s; once that is issued this is not said again\n",
			all[0].day.String()[:len("2026-03")], p)
	}
}
