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
	of    string // "account=x"
	what  string // "account=x is lab_b's from 2025-03-15 on"
	day   rates.Date
	until bool
	file  string
	line  int
}

// backdatedSince gives what the roster, the reductions, overhead and taxes say
// of days of issued months and did not say then, when the last month before p
// was issued. It changes no bill, since issued months keep the rules that billed
// them.
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

// sameRules reports whether the configuration, the roster and the reductions
// are to the byte what they were.
func (s *site) sameRules(then []history.Text) bool {
	rules := []string{"site", "roster", "reductions"}
	var was, is []history.Text
	for _, t := range then {
		if slices.Contains(rules, t.Kind) {
			was = append(was, t)
		}
	}
	for _, t := range s.texts {
		if slices.Contains(rules, s.kindOf(t.name)) {
			is = append(is, history.Text{Name: t.name, Body: t.text})
		}
	}
	return len(was) == len(is) && !slices.ContainsFunc(is, func(t history.Text) bool {
		return !slices.ContainsFunc(was, func(o history.Text) bool { return o.Name == t.Name && bytes.Equal(o.Body, t.Body) })
	})
}

// datedRules gives the days on which something begins or ends to be so: how
// jobs reach groups, who pays, prepaid allocations, reductions, overhead, taxes.
func (in *inputs) datedRules() []dated {
	var all []dated
	add := func(file string, line int, of, does string, from, until rates.Date) {
		if !from.IsZero() {
			all = append(all, dated{of, fmt.Sprintf("%s %s from %s on", of, does, from), from, false, file, line})
		}
		if !until.IsZero() {
			all = append(all, dated{of, fmt.Sprintf("%s %s until %s", of, does, until), until, true, file, line})
		}
	}
	for _, g := range in.roster.Groups {
		for _, m := range g.Mappings {
			add(in.config.RosterFile, m.Line, m.Attributes().String(), "is "+g.ID+"'s", m.From, m.Until)
		}
		for _, f := range g.Funds {
			add(in.config.RosterFile, f.Line, payersOf(g), "is "+payerText(f), f.From, f.Until)
		}
		for _, al := range g.Allocations {
			add(in.config.RosterFile, al.Line, allocationOf(g, al), "holds", al.From, al.Until)
		}
	}
	if in.reductions != nil {
		for _, r := range in.reductions.Scopes() {
			add(in.reductions.File, r.Line, r.Name, "holds", r.From, r.Until)
		}
	}
	for i := range in.config.Invoice.Overhead {
		r := &in.config.Invoice.Overhead[i]
		add(configFile, r.Line, overheadOf(r), "of "+r.Percent.String()+" % holds", r.From, r.Until)
	}
	for i := range in.config.Invoice.Tax {
		r := &in.config.Invoice.Tax[i]
		add(configFile, r.Line, taxOf(r), "holds", r.From, r.Until)
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
