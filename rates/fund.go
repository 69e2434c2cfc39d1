package rates

import (
	"slices"
	"sort"
	"strings"

	"hpcbill/rates/money"
)

// FundSplit is a dated share of a group's bill that one fund pays. It is one
// of three: a percentage, a fixed amount a month, or the remainder.
type FundSplit struct {
	Fund      string      // the code, always text
	Percent   money.Exact // of what the fixed amounts leave; 0 where it is none
	Amount    money.Exact // fixed, major units a month; 0 where it is none
	Remainder bool        // what the percentages leave of 100
	// Users and Meters, literals or globs, make it a split of what these users
	// used, or of these meters, alone; none is any.
	Users, Meters []string
	From, Until   Date // half-open; zero = no bound
	Line, Column  int
}

// FundCode says when a fund may be charged.
type FundCode struct {
	Code, Name  string
	From, Until Date // half-open; zero = no bound
	Line        int
}

// FundScope is the part of a bill that some splits share, in their order in
// the file. The splits that name neither users nor meters share the rest.
type FundScope struct {
	Users, Meters []string
	Splits        []*FundSplit
}

// Rest reports whether the scope is everything that no other one takes.
func (s *FundScope) Rest() bool { return len(s.Users)+len(s.Meters) == 0 }

// Takes reports whether what the user used of the meter is of the scope. User
// is "" where nobody used it, as with storage.
func (s *FundScope) Takes(user, meter string) bool {
	fits := func(patterns []string, text string) bool {
		return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return globMatches(p, text) })
	}
	return fits(s.Users, user) && fits(s.Meters, meter)
}

// String names the scope: "meter gpu_hours", "user u1, u2 of meter su"; "" for
// the rest.
func (s *FundScope) String() string {
	var parts []string
	if len(s.Users) > 0 {
		parts = append(parts, "user "+strings.Join(s.Users, ", "))
	}
	if len(s.Meters) > 0 {
		parts = append(parts, "meter "+strings.Join(s.Meters, ", "))
	}
	return strings.Join(parts, " of ")
}

// key is the same for the splits of one scope.
func (s *FundSplit) key() string {
	sorted := func(list []string) string {
		list = slices.Clone(list)
		sort.Strings(list)
		return strings.Join(slices.Compact(list), "\x00")
	}
	return sorted(s.Users) + "\x01" + sorted(s.Meters)
}

// PercentIn is the split's percentage among those that share a scope: of the
// remainder, what the others leave of 100; of a fixed amount, 0.
func (s *FundSplit) PercentIn(scope *FundScope) money.Exact {
	if !s.Remainder {
		return s.Percent
	}
	return money.Int(100).Sub(percentOf(scope.Splits))
}

// percentOf is the sum of the percentages that are written.
func percentOf(splits []*FundSplit) money.Exact {
	var sum money.Exact
	for _, s := range splits {
		sum = sum.Add(s.Percent)
	}
	return sum
}

// FundScopes gives the splits in force on a day, by what they are of: first
// the scopes that name users or meters, in the file's order, of which the
// first that takes something has it, then the rest. It gives none for a group
// without splits, and on a day without any.
func (g *Group) FundScopes(day Date) []FundScope {
	var scopes []FundScope
	var rest FundScope
	at := map[string]int{}
	for _, s := range g.Funds {
		if !day.within(s.From, s.Until) {
			continue
		}
		if len(s.Users)+len(s.Meters) == 0 {
			rest.Splits = append(rest.Splits, s)
			continue
		}
		i, seen := at[s.key()]
		if !seen {
			i = len(scopes)
			at[s.key()] = i
			scopes = append(scopes, FundScope{Users: s.Users, Meters: s.Meters})
		}
		scopes[i].Splits = append(scopes[i].Splits, s)
	}
	if len(rest.Splits) == 0 {
		return nil
	}
	return append(scopes, rest)
}

// Days is a span of days, half-open; a zero date is no bound.
type Days struct{ From, Until Date }

// String prints the days with their first and last: "2026-03-01 to
// 2026-03-14".
func (d Days) String() string {
	last := d.Until.previous()
	switch {
	case d == Days{}:
		return "all days"
	case d.Until.IsZero():
		return d.From.String() + " on"
	case d.From.IsZero():
		return "before " + d.Until.String()
	case last == d.From:
		return d.From.String()
	}
	return d.From.String() + " to " + last.String()
}

// UnfundedDays gives the days of [from, until), neither of them zero, on which
// the group has jobs reach it (or no rule says when) but no fund that may be
// charged: before its first split, after its last, or outside the validity of
// its only fund. A group that names no fund at all has none.
func (r *Roster) UnfundedDays(g *Group, from, until Date) []Days {
	funded := g.fundedSpans(r)
	if funded == nil {
		return nil
	}
	used := []Days{{}}
	if len(g.Mappings) > 0 {
		used = nil
		for _, m := range g.Mappings {
			used = append(used, Days{m.From, m.Until})
		}
	}
	var bounds []Date
	for _, d := range append(slices.Clone(funded), append(used, Days{from, until})...) {
		bounds = append(bounds, d.From, d.Until)
	}
	var gaps []Days
	for _, d := range segments(bounds, from, until) {
		if !anyContains(used, d.From) || anyContains(funded, d.From) {
			continue
		}
		if n := len(gaps); n > 0 && gaps[n-1].Until == d.From {
			gaps[n-1].Until = d.Until
			continue
		}
		gaps = append(gaps, d)
	}
	return gaps
}

// fundedSpans gives the spans in which something pays the rest of the bill;
// none where the group names no fund.
func (g *Group) fundedSpans(r *Roster) []Days {
	if g.Fund != "" {
		if c := r.FundCode(g.Fund); c != nil {
			return []Days{{c.From, c.Until}}
		}
		return []Days{{}}
	}
	var spans []Days
	for _, s := range g.Funds {
		if len(s.Users)+len(s.Meters) == 0 {
			spans = append(spans, Days{s.From, s.Until})
		}
	}
	return spans
}

func anyContains(spans []Days, day Date) bool {
	return slices.ContainsFunc(spans, func(d Days) bool { return day.within(d.From, d.Until) })
}

// segments cuts [from, until) at the bounds: on all days of a segment the same
// of any spans between these bounds hold. A zero from or until is no bound,
// and so is a zero date among the bounds.
func segments(bounds []Date, from, until Date) []Days {
	cuts := []Date{from}
	for _, b := range bounds {
		if !b.IsZero() && (from.IsZero() || from.Before(b)) && (until.IsZero() || b.Before(until)) {
			cuts = append(cuts, b)
		}
	}
	slices.SortFunc(cuts, compareDates)
	cuts = slices.Compact(cuts)
	var all []Days
	for i, c := range cuts {
		end := until
		if i+1 < len(cuts) {
			end = cuts[i+1]
		}
		all = append(all, Days{c, end})
	}
	return all
}

func compareDates(a, b Date) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}

// FundCode gives the entry of a fund under fund_codes:, or nil.
func (r *Roster) FundCode(code string) *FundCode {
	for _, c := range r.FundCodes {
		if c.Code == code {
			return c
		}
	}
	return nil
}
