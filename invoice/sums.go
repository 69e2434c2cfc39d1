package invoice

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// groupSums is everything a Composer keeps of one group: sums by line, each
// in parts that differ in which allocations cover them.
type groupSums struct {
	group       *rates.Group
	allocations []*rates.Allocation // in force on some day of the period, in the order of drawing
	first, last int64               // the period's first and last second
	scopes      []rates.FundScope   // in force on the last day of the period
	manual      []*Adjustment       // of the period
	prior       []*Correction       // of issued months
	bounds      []int64             // instants inside the period at which an allocation, a deposit or a rule of reductions begins or ends
	lines       map[lineKey]*lineSum
	common      []*lineSum // the first few of lines: comparing is faster than hashing eight texts
	jobs        int64
	sequence    int64 // of the last job counted
}

// mostCommon is how many lines of a group are looked for by comparing.
const mostCommon = 12

// lineKey is what the charges of a line have in common.
type lineKey struct {
	kind                 Kind
	cluster, meter, unit string
	label                string
	price                money.Exact
	card, digest         string
	version              rates.Date
	tiers                *rates.Tiers // which will price it
	counted              bool         // over the fiscal year
	step                 int          // of the tiers, from 1, once they have priced it
}

// partKey tells apart the charges of a line that reductions treat differently:
// those of one segment of the period (between two bounds), those that other
// funds pay, and those waived.
type partKey struct {
	segment      int
	scope        int // in the group's scopes
	waived       bool
	code, detail string
}

type partSum struct {
	partKey
	quantity, amount money.Sum
	jobs             int64
	sequence         int64 // of the last outcome counted in jobs
}

type lineSum struct {
	key      *lineKey
	parts    []partSum // few
	jobs     int64
	sequence int64

	estimatedDays int64 // counted by a use that was carried forward
}

func newGroupSums(g *rates.Group, period rates.Period, reductions *rates.Reductions) (*groupSums, error) {
	s := &groupSums{
		group: g, lines: make(map[lineKey]*lineSum),
		first: period.Start.Unix(), last: period.End.Unix() - 1,
	}
	s.scopes = g.FundScopes(rates.DateOf(period.End.Add(-time.Second), period.Start.Location()))
	names, bounds := make(map[string]bool), make(map[int64]bool)
	for _, a := range g.Allocations {
		if names[a.Name] {
			return nil, fmt.Errorf("group %s has two allocations named %q: balances are kept by name", g.ID, a.Name)
		}
		names[a.Name] = true
		from, until := span(a, period)
		if until <= s.first || from > s.last || from >= until {
			continue
		}
		s.allocations = append(s.allocations, a)
		edges := []int64{from, until}
		for _, m := range a.Movements {
			edges = append(edges, m.On.Midnight(period.Start.Location()).Unix())
		}
		for _, at := range edges {
			if at > s.first && at <= s.last && !bounds[at] {
				bounds[at] = true
				s.bounds = append(s.bounds, at)
			}
		}
	}
	for _, rule := range reductions.Scopes() {
		if rule.Applies(g) {
			from, until := daysOf(rule.From, rule.Until, period)
			s.cut(from)
			s.cut(until)
		}
	}
	sort.Slice(s.bounds, func(i, j int) bool { return s.bounds[i] < s.bounds[j] })
	sort.SliceStable(s.allocations, func(i, j int) bool { return drawnBefore(s.allocations[i], s.allocations[j]) })
	return s, nil
}

// cut begins a segment at an instant that lies inside the period.
func (s *groupSums) cut(at int64) {
	if at > s.first && at <= s.last && !slices.Contains(s.bounds, at) {
		s.bounds = append(s.bounds, at)
	}
}

// span gives the seconds [from, until) in which a is in force; an open end is
// the end of the period.
func span(a *rates.Allocation, period rates.Period) (from, until int64) {
	return daysOf(a.From, a.Until, period)
}

// daysOf gives the seconds of a half-open span of days; no bound is that of the
// period.
func daysOf(first, end rates.Date, period rates.Period) (from, until int64) {
	zone := period.Start.Location()
	from, until = period.Start.Unix(), period.End.Unix()
	if !first.IsZero() {
		from = first.Midnight(zone).Unix()
	}
	if !end.IsZero() {
		until = end.Midnight(zone).Unix()
	}
	return from, until
}

// drawnBefore is the order of drawing: the allocation that ends earliest,
// then the one that began earliest, then by name.
func drawnBefore(a, b *rates.Allocation) bool {
	if a.Until != b.Until {
		if a.Until.IsZero() || b.Until.IsZero() {
			return b.Until.IsZero()
		}
		return a.Until.Before(b.Until)
	}
	if a.From != b.From {
		return a.From.Before(b.From)
	}
	return a.Name < b.Name
}

// segmentOf gives the segment in which an instant lies. A job that ends
// outside the period (billed by its start, or cut at the period's end) counts
// at the end of the period that is nearer.
func (s *groupSums) segmentOf(at int64) int {
	if len(s.bounds) == 0 {
		return 0
	}
	if at <= 0 {
		at = s.last // no end: still running
	}
	at = min(max(at, s.first), s.last)
	n := 0
	for n < len(s.bounds) && s.bounds[n] <= at {
		n++
	}
	return n
}

// covers reports whether a is in force in the segment.
func (s *groupSums) covers(a *rates.Allocation, segment int, period rates.Period) bool {
	return s.within(segment, a.From, a.Until, period)
}

// within reports whether a segment lies in a half-open span of days of which
// the sums know.
func (s *groupSums) within(segment int, first, end rates.Date, period rates.Period) bool {
	start := s.first
	if segment > 0 {
		start = s.bounds[segment-1]
	}
	from, until := daysOf(first, end, period)
	return from <= start && start < until
}

// line finds the sums of a line, or begins them.
func (s *groupSums) line(key *lineKey) *lineSum {
	for _, l := range s.common {
		if l.key.equal(key) {
			return l
		}
	}
	l := s.lines[*key]
	if l == nil {
		kept := key.clone()
		l = &lineSum{key: &kept}
		s.lines[kept] = l
		if len(s.common) < mostCommon {
			s.common = append(s.common, l)
		}
	}
	return l
}

// equal is ==, in the order in which lines of a group differ most.
func (k *lineKey) equal(o *lineKey) bool {
	return k.meter == o.meter && k.price == o.price && k.cluster == o.cluster && k.label == o.label && k.version == o.version &&
		k.kind == o.kind && k.unit == o.unit && k.card == o.card && k.digest == o.digest &&
		k.tiers == o.tiers && k.counted == o.counted && k.step == o.step
}

// add adds a charge to a part of the line, and reports whether it is of more
// than nothing.
func (l *lineSum) add(p partKey, ch *rating.Charge, sequence int64) (some bool) {
	l.estimatedDays += int64(ch.EstimatedDays)
	some = ch.Quantity.Sign() != 0 || ch.Amount.Sign() != 0
	if some && l.sequence != sequence {
		l.jobs++
		l.sequence = sequence
	}
	to := l.part(p)
	to.quantity.Add(ch.Quantity)
	to.amount.Add(ch.Amount)
	if some && to.sequence != sequence {
		to.jobs++
		to.sequence = sequence
	}
	return some
}

func (l *lineSum) part(key partKey) *partSum {
	for i := range l.parts {
		p := &l.parts[i] // the numbers first: the texts are mostly empty
		if p.segment == key.segment && p.scope == key.scope && p.waived == key.waived && p.code == key.code && p.detail == key.detail {
			return p
		}
	}
	key.code, key.detail = strings.Clone(key.code), strings.Clone(key.detail)
	l.parts = append(l.parts, partSum{partKey: key})
	return &l.parts[len(l.parts)-1]
}

func (l *lineSum) merge(other *lineSum) {
	l.jobs += other.jobs
	l.estimatedDays += other.estimatedDays
	for i := range other.parts {
		from := &other.parts[i]
		to := l.part(from.partKey)
		to.quantity.AddSum(from.quantity)
		to.amount.AddSum(from.amount)
		to.jobs += from.jobs
	}
}

func (s *groupSums) merge(other *groupSums) {
	s.jobs += other.jobs
	s.manual = append(s.manual, other.manual...)
	s.prior = append(s.prior, other.prior...)
	for key, sum := range other.lines {
		s.line(&key).merge(sum)
	}
}

// count counts a job once.
func (s *groupSums) count(sequence int64) {
	if s.sequence != sequence {
		s.jobs++
		s.sequence = sequence
	}
}

// clone keeps a key from holding the memory of a whole dump alive.
func (k lineKey) clone() lineKey {
	k.cluster, k.meter, k.unit = strings.Clone(k.cluster), strings.Clone(k.meter), strings.Clone(k.unit)
	k.label, k.card, k.digest = strings.Clone(k.label), strings.Clone(k.card), strings.Clone(k.digest)
	return k
}
