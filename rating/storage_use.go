package rating

import (
	"fmt"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// noUseError says of which day no use is known.
type noUseError struct{ day rates.Date }

func (e *noUseError) Error() string { return fmt.Sprintf("no use is known of %s", e.day) }

// useOfDays is what was used over some days. A day's use is the last that was
// measured up to it; before the first there is none.
type useOfDays struct {
	days      int
	known     int        // of them with a use
	estimated int        // of them with a use of an earlier day
	unknown   rates.Date // the first of them without
	over      int        // of them with more used than the quota
	noQuota   bool       // on some of them
	sum       money.Exact
	most      int64 // bytes, or ingest.Unknown
	last      int64 // on the last day: bytes, or ingest.Unknown
}

// useOf gives the use of a holding on the days [from, until).
func useOf(h *ingest.Holding, from, until rates.Date) useOfDays {
	u := useOfDays{most: ingest.Unknown, last: ingest.Unknown}
	u.add(h, from, until)
	return u
}

// add adds the days [from, until) of a holding, which come after those added
// before.
func (u *useOfDays) add(h *ingest.Holding, from, until rates.Date) {
	samples := h.Samples
	if samples == nil && h.UsedBytes != ingest.Unknown {
		samples = []ingest.Sample{{Day: h.From, Bytes: h.UsedBytes}}
	}
	next := 0
	for day := from; day.Before(until); day = dayAfter(day) {
		for next < len(samples) && !day.Before(rates.Date(samples[next].Day)) {
			next++
		}
		u.days++
		u.last = ingest.Unknown
		if next > 0 {
			u.last = samples[next-1].Bytes
		}
		if u.last == ingest.Unknown {
			if u.known+1 == u.days {
				u.unknown = day
			}
			continue
		}
		u.known++
		u.sum, u.most = u.sum.Add(money.Int(u.last)), max(u.most, u.last)
		if rates.Date(samples[next-1].MeasuredOn()) != day {
			u.estimated++
		}
		if u.last > h.QuotaBytes {
			u.over++
		}
	}
	u.noQuota = u.noQuota || h.QuotaBytes == ingest.Unknown
}

// set sets the figures of use. Of days of which one is not known, neither are
// mean and maximum.
func (u *useOfDays) set(values *formula.Values) {
	cause := &noUseError{u.unknown}
	if u.last == ingest.Unknown {
		values.SetUnknown(formula.UsedBytes, cause)
	} else {
		values.SetInt(formula.UsedBytes, u.last)
	}
	if u.known < u.days || u.days == 0 {
		for _, slot := range useSlots[1:] {
			values.SetUnknown(slot, cause)
		}
		return
	}
	mean, _ := u.sum.Quo(money.Int(int64(u.days)))
	values.Set(formula.MeanBytes, mean)
	values.SetInt(formula.MaxBytes, u.most)
	if u.noQuota {
		values.SetUnknown(formula.OverDays, errNoQuota)
		return
	}
	values.SetInt(formula.OverDays, int64(u.over))
}

// useFor gives the use that a rule's figures are of: of the days of the
// outcome, of the month, or of the day of the snapshot.
func (s *storageMonth) useFor(o *StorageOutcome, rule *rates.StorageRule) useOfDays {
	switch {
	case rule.Snapshot > 0:
		day, _ := s.dayThatCounts(rule)
		return useOf(&o.Holding, day, dayAfter(day))
	case rule.Prorate == rates.ProrateDay:
		return useOf(&o.Holding, o.From, o.Until)
	}
	u := useOfDays{most: ingest.Unknown, last: ingest.Unknown}
	for _, h := range s.places[placeOf(&o.Holding)] {
		from, until := daysWithin(h, s.period)
		u.add(h, from, until)
	}
	return u
}

// daysHeld is on how many days of the period a group holds anything at a
// place.
func (s *storageMonth) daysHeld(at place) int {
	days := 0
	for _, h := range s.places[at] {
		if from, until := daysWithin(h, s.period); from.Before(until) {
			days += daysBetween(from, until)
		}
	}
	return days
}
