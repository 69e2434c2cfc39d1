package rating

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
)

// Storage prices the holdings of a period: each for the days of the period
// that it covers, cut where the card's version changes. Holdings outside the
// period give nothing. The outcomes are in the order of the holdings and are
// the caller's to keep.
//
// A rule that charges whole months charges one outcome of each group, file
// system and tier, and excludes the others by the name of the rule.
//
// Two holdings of one group on one file system and tier that cover the same day are an
// error: the day would be charged twice.
func (r *Rater) Storage(holdings []ingest.Holding, p rates.Period) ([]StorageOutcome, error) {
	s := storageMonth{period: p, holdings: holdings, places: map[place][]*ingest.Holding{}}
	for i := range holdings {
		h := &holdings[i]
		s.places[placeOf(h)] = append(s.places[placeOf(h)], h)
	}
	for _, there := range s.places {
		slices.SortStableFunc(there, func(a, b *ingest.Holding) int { return compareDays(rates.Date(a.From), rates.Date(b.From)) })
	}
	if err := s.overlapping(); err != nil {
		return nil, err
	}
	var outcomes []StorageOutcome
	for i := range holdings {
		outcomes = r.holding(outcomes, &holdings[i], &s)
	}
	return outcomes, nil
}

// storageMonth is all storage of one period.
type storageMonth struct {
	period   rates.Period
	holdings []ingest.Holding
	places   map[place][]*ingest.Holding // by day
}

// place is where a holding is.
type place struct{ group, filesystem, tier, holder string }

func placeOf(h *ingest.Holding) place { return place{h.Group, h.Filesystem, h.Tier, h.Holder} }

func (s *storageMonth) overlapping() error {
	var errs []error
	seen := map[place]bool{}
	for i := range s.holdings {
		at := placeOf(&s.holdings[i])
		if seen[at] {
			continue
		}
		seen[at] = true
		order := s.places[at]
		for n, h := range order[min(1, len(order)):] {
			if before := order[n]; before.Until.IsZero() || h.From.Before(before.Until) {
				errs = append(errs, fmt.Errorf("%s:%d: the quota of %s on %s overlaps with line %d",
					h.Source.File, h.Source.Line, h.Group, h.Place(), before.Source.Line))
			}
		}
	}
	return errors.Join(errs...)
}

func compareDays(a, b rates.Date) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}

// holding appends the outcomes of a holding.
func (r *Rater) holding(outcomes []StorageOutcome, h *ingest.Holding, s *storageMonth) []StorageOutcome {
	from, until := daysWithin(h, s.period)
	if !from.Before(until) {
		return outcomes
	}
	c := r.storageCard(h.Filesystem)
	for from.Before(until) {
		o := StorageOutcome{Holding: *h, Verdict: Held, From: from, Until: until}
		var v *version
		if c != nil {
			var to ingest.Instant
			v, _, to = c.at(r.midnight(from, always))
			if to < r.midnight(until, never) {
				o.Until = r.dayOf(to)
			}
		}
		o.Days = daysBetween(o.From, o.Until)
		o.Holding.UsedBytes = useOf(h, o.From, o.Until).last
		r.rateHolding(&o, c, v, s)
		outcomes = append(outcomes, o)
		from = o.Until
	}
	return outcomes
}

// daysWithin gives the days of the period that a holding covers, half-open.
func daysWithin(h *ingest.Holding, p rates.Period) (from, until rates.Date) {
	from = rates.Date{Year: p.Year, Month: int(p.Month), Day: 1}
	until = dayAfter(rates.Date{Year: p.Year, Month: int(p.Month), Day: p.Days()})
	if hf := rates.Date(h.From); from.Before(hf) {
		from = hf
	}
	if hu := rates.Date(h.Until); !hu.IsZero() && hu.Before(until) {
		until = hu
	}
	return from, until
}

// dayAfter gives the next calendar day.
func dayAfter(d rates.Date) rates.Date {
	y, m, day := time.Date(d.Year, time.Month(d.Month), d.Day+1, 0, 0, 0, 0, time.UTC).Date()
	return rates.Date{Year: y, Month: int(m), Day: day}
}

// daysBetween counts calendar days: a day of 23 hours is a day.
func daysBetween(from, until rates.Date) int {
	const secondsOfDay = 86400
	return int((until.Midnight(time.UTC).Unix() - from.Midnight(time.UTC).Unix()) / secondsOfDay)
}

func (r *Rater) storageCard(filesystem string) *card {
	for i, s := range r.tariff.Storage {
		if rates.GlobMatches(s.Filesystem, filesystem) {
			return r.storage[i]
		}
	}
	return nil
}

func (r *Rater) rateHolding(o *StorageOutcome, c *card, v *version, s *storageMonth) {
	h := &o.Holding
	group := r.tariff.Roster.Group(h.Group)
	switch {
	case h.Ignored != "":
		o.Verdict, o.Cause = Excluded, Cause{Code: ByRule, Detail: h.Ignored}
		return
	case group == nil:
		o.Cause = causeOfNoHolder(h, r.tariff.Roster)
		return
	case c == nil:
		o.Cause = Cause{Code: NoCard, Detail: whereText(h),
			Hint: "name a rate card for this file system under storage: in hpcbill.yaml"}
		return
	case v == nil:
		o.Cause = Cause{Code: NoVersion, Detail: fmt.Sprintf("card=%s %s", c.Name, whereText(h)),
			Hint: "add a version for that time to " + c.File, Reason: Reason{Card: c.Name, CardDigest: c.Digest, File: c.File}}
		return
	}
	facts := &rates.Facts{Values: &formula.Values{}}
	facts.Text[rates.Filesystem], facts.Text[rates.Tier], facts.Text[rates.GroupID], facts.Text[rates.Class] = h.Filesystem, h.Tier, group.ID, group.Class
	rule, err := v.SelectStorage(facts)
	if err != nil || rule == nil {
		o.Cause = Cause{Code: NoRule, Detail: fmt.Sprintf("%s class=%s", whereText(h), group.Class),
			Hint: fmt.Sprintf("add a storage rule that matches it to the version of %s in %s, line %d", v.From, c.File, v.Line), Reason: versionReason(v)}
		return
	}
	reason := versionReason(v)
	reason.Rule, reason.Line = rule.Name, rule.Line
	excluded := rule.Exclude
	if excluded == "" {
		excluded = s.chargedElsewhere(o, rule)
	}
	if excluded != "" {
		o.Verdict, o.Cause = Excluded, Cause{Code: ByRule, Detail: excluded, Reason: reason}
		return
	}
	r.priceHolding(o, v, rule, facts, s, reason)
	for n := range o.Charges {
		o.Charges[n].Group = group.ID
	}
}

// chargedElsewhere tells why an outcome is not the one that its rule charges
// for the month, "" where it is.
func (s *storageMonth) chargedElsewhere(o *StorageOutcome, rule *rates.StorageRule) string {
	day, byDay := s.dayThatCounts(rule)
	switch {
	case byDay:
		if day.Before(o.From) || !day.Before(o.Until) {
			return fmt.Sprintf("the month is charged as it stands on %s", day)
		}
	case rule.Prorate == rates.ProrateNone && !s.isLargest(o):
		return "the month is charged at its largest quota"
	}
	return ""
}

// dayThatCounts gives the day whose quota stands for the month, where the rule
// has one.
func (s *storageMonth) dayThatCounts(rule *rates.StorageRule) (day rates.Date, ok bool) {
	n := rule.Snapshot
	if rule.Prorate == rates.ProrateHalfMonth {
		n = rates.HalfMonth
	}
	return rates.Date{Year: s.period.Year, Month: int(s.period.Month), Day: min(n, s.period.Days())}, n > 0
}

// isLargest reports whether a holding is the one whose quota counts for the
// whole month where nothing is prorated: the largest, the earliest of those;
// and of its parts under several versions the last.
func (s *storageMonth) isLargest(o *StorageOutcome) bool {
	h := &o.Holding
	if _, until := daysWithin(h, s.period); o.Until != until {
		return false
	}
	for _, other := range s.places[placeOf(h)] {
		if from, until := daysWithin(other, s.period); other.From == h.From || !from.Before(until) {
			continue
		}
		if other.QuotaBytes > h.QuotaBytes || other.QuotaBytes == h.QuotaBytes && other.From.Before(h.From) {
			return false
		}
	}
	return true
}
