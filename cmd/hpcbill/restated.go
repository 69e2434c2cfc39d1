package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rating"
)

// restated is what the rules say today, without a day of its own, and did not
// say when the last month was issued: it holds for all of the open month, and
// issued ones stay.
type restated struct {
	what string // "account=x is lab_b's, and was lab_a's when 2025-03 was issued"
	file string
	line int // 0 where it is not there any more
}

// standing is what the rules of one name say of some days.
type standing struct {
	says  string // for people: "10 %"
	all   string // everything but the days
	ended bool   // it holds no longer on the last of the days
	group string // whose alone it is; "" of the site's
	file  string
	line  int
}

// restatedSince compares the rules of today with then, when the last month
// before p was issued. What begins or ends on a day of issued months is among
// the backdated, and not here; what is of groups that there were not then, or
// are not any more, is not said.
func (s *site) restatedSince(ctx context.Context, p rates.Period, then *inputs, backdated []dated) ([]restated, error) {
	zone := s.zone()
	first, last := rates.DateOf(s.config.FirstPeriod.Start, zone), rates.DateOf(p.Start.Add(-1), zone)
	said := map[string]bool{}
	for _, d := range backdated {
		said[d.of] = true
	}
	all, err := s.ownedSince(ctx, p, then, said)
	if err != nil {
		return nil, err
	}
	for _, what := range s.movedSince(then, last, said) {
		all = append(all, what.when(p))
	}
	was, is := then.standings(first, last), s.standings(first, last)
	both := func(group string) bool {
		return group == "" || s.roster.Group(group) != nil && then.roster.Group(group) != nil
	}
	for _, of := range slices.Sorted(maps.Keys(is)) {
		if a, b := was[of], is[of]; !said[of] && a.all != b.all && both(b.group) {
			all = append(all, restated{against(of, a, b), b.file, b.line}.when(p))
		}
	}
	for _, of := range slices.Sorted(maps.Keys(was)) {
		if a := was[of]; !said[of] && is[of].all == "" && !a.ended && both(a.group) {
			all = append(all, restated{against(of, a, standing{}), a.file, 0}.when(p))
		}
	}
	slices.SortFunc(all, func(a, b restated) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.what, b.what))
	})
	return all, nil
}

// when adds until when it was otherwise.
func (r restated) when(open rates.Period) restated {
	r.what += fmt.Sprintf(" when %s was issued", open.Previous())
	return r
}

// against says what was and what is.
func against(of string, was, is standing) string {
	switch {
	case was.all == "":
		return fmt.Sprintf("%s is %s, and was not there", of, is.says)
	case is.all == "":
		return fmt.Sprintf("%s is not there, and was %s", of, was.says)
	case was.says == is.says:
		return fmt.Sprintf("%s is %s by other words than those", of, is.says)
	}
	return fmt.Sprintf("%s is %s, and was %s", of, is.says, was.says)
}

// standings gives what holds on some day from first to last, by what it is of.
func (in *inputs) standings(first, last rates.Date) map[string]standing {
	all := map[string]standing{}
	add := func(of string, days rates.Days, s standing) {
		if !days.From.IsZero() && last.Before(days.From) || !days.Until.IsZero() && !first.Before(days.Until) {
			return
		}
		s.ended = !days.Until.IsZero() && !last.Before(days.Until)
		if before, several := all[of]; several {
			s.says, s.all = before.says+" and "+s.says, before.all+"\n"+s.all
			s.ended, s.line = s.ended && before.ended, before.line
		}
		all[of] = s
	}
	for _, g := range in.roster.Groups {
		mine := standing{group: g.ID, file: in.config.RosterFile, line: g.Line}
		add("the class of "+g.ID, rates.Days{}, mine.saying(g.Class, g.Class))
		add(payersOf(g), rates.Days{}, mine.saying(payers(g, last), payers(g, last)))
		for _, al := range g.Allocations {
			mine.line = al.Line
			says := al.Units.String() + " " + al.Meter
			add(allocationOf(g, al), rates.Days{From: al.From, Until: al.Until}, mine.saying(says, says+" "+al.Overdraft.String()))
		}
	}
	in.reductionStandings(add)
	in.settingStandings(func(of, says string, line int) {
		add(of, rates.Days{}, standing{file: configFile, line: line}.saying(says, says))
	})
	for i := range in.config.Invoice.Overhead {
		r := &in.config.Invoice.Overhead[i]
		says := r.Percent.String() + " %"
		add(overheadOf(r), rates.Days{From: r.From, Until: r.Until}, standing{file: configFile, line: r.Line}.saying(says, says))
	}
	for i := range in.config.Invoice.Tax {
		r := &in.config.Invoice.Tax[i]
		says := r.Percent.String() + " % " + r.Mode.String()
		add(taxOf(r), rates.Days{From: r.From, Until: r.Until}, standing{file: configFile, line: r.Line}.saying(says, fmt.Sprint(says, r.Of, r.Note)))
	}
	return all
}

func (s standing) saying(says, all string) standing {
	s.says, s.all = cmp.Or(says, "nothing"), cmp.Or(all, "nothing")
	return s
}

// settingStandings gives what hpcbill.yaml says of every bill.
func (in *inputs) settingStandings(add func(of, says string, line int)) {
	for _, c := range in.config.Clusters {
		add("the card of "+c.Name, c.Card, c.Line)
	}
	for _, c := range in.config.StorageCards {
		add("the card of file systems "+c.Filesystem, c.Card, c.Line)
	}
	add("the rounding", in.config.Invoice.Rounding.String(), 0)
	add("the first month of the fiscal year", time.Month(in.config.Invoice.FiscalYearStart).String(), 0)
}

func (in *inputs) reductionStandings(add func(of string, days rates.Days, s standing)) {
	if in.reductions == nil {
		return
	}
	one := func(of *rates.ReductionScope, says string, all ...any) {
		scope := *of
		scope.From, scope.Until, scope.Line, scope.Column = rates.Date{}, rates.Date{}, 0, 0
		s := standing{file: in.reductions.File, line: of.Line}
		add(of.Name, rates.Days{From: of.From, Until: of.Until}, s.saying(says, fmt.Sprint(says, scope, all)))
	}
	for _, d := range in.reductions.Discounts {
		says := d.Percent.String() + " %"
		if d.Limit != nil {
			one(&d.ReductionScope, says+" up to "+limitText(d.Limit), *d.Limit)
			continue
		}
		one(&d.ReductionScope, says)
	}
	for _, al := range in.reductions.Allowances {
		one(&al.ReductionScope, limitText(&al.Limit), al.Limit, al.Rollover, al.Prorate, al.FirstMonths)
	}
	for _, c := range in.reductions.Caps {
		one(&c.ReductionScope, limitText(&c.Limit), c.Limit)
	}
}

// limitText says "100 a month", "5 core_hours once".
func limitText(l *rates.PoolLimit) string {
	text := l.Amount.String()
	if l.Meter != "" {
		text += " " + l.Meter
	}
	if l.Per == rates.PerOnce {
		return text + " once"
	}
	return text + " a " + strings.ReplaceAll(l.Per.String(), "_", " ")
}

// movedSince finds what reaches another group today than it did then, on the
// last day of the issued months: by what the mappings of today and of then name.
func (s *site) movedSince(then *inputs, last rates.Date, said map[string]bool) []restated {
	type move struct{ from, to string }
	first := map[move]restated{}
	rules := map[move]int64{}
	tried := map[string]bool{}
	for _, g := range slices.Concat(s.roster.Groups, then.roster.Groups) {
		for _, m := range g.Mappings {
			job := m.Attributes()
			of := job.String()
			if said[of] || tried[of] {
				continue
			}
			tried[of] = true
			was, _, errWas := then.roster.Attribute(job, last)
			is, by, errIs := s.roster.Attribute(job, last)
			if errWas != nil || errIs != nil || was.ID == is.ID {
				continue // what is nobody's is held, and said by bill
			}
			at := move{was.ID, is.ID}
			if rules[at]++; rules[at] == 1 {
				first[at] = restated{what: of, file: s.config.RosterFile, line: by.Line}
			}
		}
	}
	var all []restated
	for at, r := range first {
		if n := rules[at] - 1; n > 0 {
			r.what = fmt.Sprintf("%s and %s are %s's, and were %s's", r.what, count(n, "more rule"), at.to, at.from)
		} else {
			r.what = fmt.Sprintf("%s is %s's, and was %s's", r.what, at.to, at.from)
		}
		all = append(all, r)
	}
	return all
}

// ownedSince finds jobs that were held in issued months since they were
// nobody's, then and when the last month was issued, and are somebody's today:
// no bill has them.
func (s *site) ownedSince(ctx context.Context, p rates.Period, then *inputs, said map[string]bool) ([]restated, error) {
	var all []restated
	for q := s.config.FirstPeriod; q.Start.Before(p.Start); q = q.Next() {
		recorded, err := s.history.Evidence(ctx, q.String())
		if err != nil {
			return nil, err
		}
		type owned struct {
			of, group string
			line      int
		}
		jobs := map[owned]int64{}
		last := rates.DateOf(q.End.Add(-1), s.zone())
		for _, c := range recorded.Summary.HeldCauses() {
			job, ok := rates.ParseAttributes(c.Detail)
			if c.Storage || c.Code != rating.NoGroup || !ok {
				continue
			}
			if _, _, err := then.roster.Attribute(job, last); err == nil {
				continue // said before the last month was issued
			}
			if g, by, err := s.roster.Attribute(job, last); err == nil && !said[by.Attributes().String()] {
				jobs[owned{by.Attributes().String(), g.ID, by.Line}] += c.Count
			}
		}
		for o, n := range jobs {
			verb := []string{"was", "were"}[min(n-1, 1)]
			all = append(all, restated{fmt.Sprintf("%s is %s's: %s of %s %s held when it was issued, and on no bill: charge that in adjustments.csv",
				o.of, o.group, count(n, "job"), q, verb), s.config.RosterFile, o.line})
		}
	}
	return all, nil
}

func allocationOf(g *rates.Group, al *rates.Allocation) string {
	return "allocation " + al.Name + " of " + g.ID
}

func payersOf(g *rates.Group) string { return "the fund of " + g.ID }

// payers says who pays for a group on a day.
func payers(g *rates.Group, day rates.Date) string {
	if len(g.Funds) == 0 {
		return g.Fund
	}
	var all []string
	for _, scope := range g.FundScopes(day) {
		for _, f := range scope.Splits {
			all = append(all, payerText(f))
		}
	}
	return strings.Join(all, " and ")
}

// payerText says "0012 for 60 %", "0012 for the rest of user u1".
func payerText(f *rates.FundSplit) string {
	share := f.Percent.String() + " %"
	switch {
	case f.Remainder:
		share = "the rest"
	case f.Amount.Sign() != 0:
		share = f.Amount.String() + " a month"
	}
	text := f.Fund + " for " + share
	scope := rates.FundScope{Users: f.Users, Meters: f.Meters}
	if !scope.Rest() {
		text += " of " + scope.String()
	}
	return text
}

func overheadOf(r *invoice.OverheadRule) string { return r.Name + onClasses(r.Classes) }

func taxOf(r *invoice.TaxRule) string {
	of := r.Name
	if !slices.Equal(r.Of, invoice.Taxable()) {
		for i, k := range r.Of {
			of += []string{" on ", ", "}[min(i, 1)] + string(k)
		}
	}
	return of + onClasses(r.Classes)
}

func onClasses(classes []string) string {
	if len(classes) == 0 {
		return ""
	}
	return " of class " + strings.Join(classes, ", ")
}

// printRestated says what holds for the open month and did not for issued ones.
func (a *app) printRestated(p rates.Period, all []restated) {
	for _, r := range all {
		at := r.file
		if r.line > 0 {
			at += fmt.Sprint(":", r.line)
		}
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s: %s\n", at, oneLine(r.what))
	}
	if len(all) > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: hint: that holds for all of %s, and issued months stay: from: and until: give it days; once %s is issued this is not said again\n", p, p)
	}
}
