package ingest

import (
	"fmt"
	"slices"
)

// storageSpans makes Holdings of rows, wherever they were read.
type storageSpans struct {
	rows     []storageRow
	holdings []Holding
	errs     []*Error
}

// close makes Holdings of the rows: quotas that have no end of their own end
// at the next one of the same place, uses are carried forward.
func (f *storageSpans) close() {
	slices.SortStableFunc(f.rows, func(a, b storageRow) int {
		x, y := a.where(), b.where()
		return compareFirst(slices.Compare(x[:], y[:]), compareDates(a.From, b.From))
	})
	for i := 0; i < len(f.rows); {
		n := i + 1
		for n < len(f.rows) && f.rows[n].where() == f.rows[i].where() {
			n++
		}
		f.holdings = append(f.holdings, f.place(f.rows[i:n])...)
		i = n
	}
}

// where is the place of a row: rows of one place follow one another.
func (r *storageRow) where() [5]string {
	return [5]string{r.Group, r.Filesystem, r.Tier, r.Holder, r.Ignored}
}

// place gives the Holdings of one group on one file system and tier.
func (f *storageSpans) place(rows []storageRow) []Holding {
	holdings := f.quotas(rows)
	uses := usesOf(rows)
	endUses(uses, chains(holdings))
	holdings = append(holdings, withoutQuota(uses, chains(holdings))...)
	slices.SortFunc(holdings, func(a, b Holding) int { return compareDates(a.From, b.From) })
	for i := range holdings {
		h := &holdings[i]
		h.Group, h.Filesystem, h.Tier, h.Holder, h.Ignored = rows[0].Group, rows[0].Filesystem, rows[0].Tier, rows[0].Holder, rows[0].Ignored
		h.measure(uses)
	}
	return holdings
}

// quotas gives the spans of the quotas, and looks for those that overlap. A
// listing says the same quota every day: that is one span.
func (f *storageSpans) quotas(rows []storageRow) []Holding {
	var holdings []Holding
	for _, r := range rows {
		if !r.hasQuota {
			continue
		}
		next := r.Holding
		next.UsedBytes = Unknown
		if n := len(holdings); n > 0 {
			h := &holdings[n-1]
			switch {
			case h.From == next.From:
				f.fault(next.Source, "keep one of the two rows", "%s holds for the same group and file system from the same day", h.Source.asSeenFrom(next.Source))
			case h.Listed && next.Listed && h.QuotaBytes == next.QuotaBytes && (h.Until.IsZero() || h.Until == next.From):
				h.Until = next.Until
				continue
			case h.Until.IsZero():
				h.Until = next.From
			case next.From.Before(h.Until):
				f.fault(next.Source, "end the earlier row before the later begins, or leave its until empty",
					"the row overlaps with %s, which holds until %s", h.Source.asSeenFrom(next.Source), h.Until)
			}
		}
		holdings = append(holdings, next)
	}
	return holdings
}

func (f *storageSpans) fault(at Source, remedy, format string, args ...any) {
	f.errs = append(f.errs, &Error{File: at.File, Line: at.Line, Field: "from", Cause: fmt.Errorf(format, args...), Remedy: remedy})
}

// asSeenFrom names a line as a reader of another place needs it.
func (s Source) asSeenFrom(other Source) string {
	if s.File == other.File {
		return fmt.Sprintf("line %d", s.Line)
	}
	return fmt.Sprintf("%s line %d", s.File, s.Line)
}

// use is a measured use and the span in which it is taken to hold.
type use struct {
	Sample
	until  Date // zero for no end
	unit   StorageUnit
	source Source
	listed bool
}

// usesOf lists the uses that were measured, one a day.
func usesOf(rows []storageRow) []use {
	var uses []use
	for _, r := range rows {
		if r.UsedBytes == Unknown {
			continue
		}
		u := use{Sample{Day: r.From, Bytes: r.UsedBytes, Line: r.Source.Line}, Date{}, r.Unit, r.Source, r.Listed}
		if r.measured != r.From {
			u.Measured = r.measured
		}
		if !r.hasQuota {
			u.until = r.Until
		}
		if n := len(uses); n > 0 && uses[n-1].Day == u.Day {
			if u.Bytes > uses[n-1].Bytes {
				uses[n-1] = u
			}
			continue
		}
		uses = append(uses, u)
	}
	return uses
}

// endUses ends each use at the next one, or with the quota in force.
func endUses(uses []use, chains []Holding) {
	for i := range uses {
		u := &uses[i]
		if i+1 < len(uses) {
			u.until = earlier(u.until, uses[i+1].Day)
		}
		for _, c := range chains {
			if c.Until.IsZero() || u.Day.Before(c.Until) {
				u.until = earlier(u.until, c.Until)
				break
			}
		}
	}
}

// earlier is the earlier of two ends, of which the zero Date is none.
func earlier(a, b Date) Date {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// chains joins spans that meet: a quota that changed is still a quota.
func chains(holdings []Holding) []Holding {
	var joined []Holding
	for _, h := range holdings {
		if n := len(joined); n > 0 && joined[n-1].Until == h.From {
			joined[n-1].Until = h.Until
			continue
		}
		joined = append(joined, h)
	}
	return joined
}

// withoutQuota gives Holdings for the days with a use and without a quota.
func withoutQuota(uses []use, chains []Holding) []Holding {
	var holdings []Holding
	for _, u := range uses {
		from, until := u.Day, u.until
		for _, c := range chains {
			switch {
			case from.Before(c.From):
				until = earlier(until, c.From)
			case c.Until.IsZero() || from.Before(c.Until):
				until = from // it lies within a quota
			}
		}
		if n := len(holdings); n > 0 && holdings[n-1].Until == from && from != until {
			holdings[n-1].Until = until
			continue
		}
		if from != until {
			holdings = append(holdings, Holding{From: from, Until: until, QuotaBytes: Unknown, UsedBytes: Unknown, Unit: u.unit, Source: u.source, Listed: u.listed})
		}
	}
	return holdings
}

// measure tells a Holding the uses that are in force within it.
func (h *Holding) measure(uses []use) {
	for i, u := range uses {
		if !u.until.IsZero() && !h.From.Before(u.until) || !h.Until.IsZero() && !u.Day.Before(h.Until) {
			continue
		}
		h.Samples = append(h.Samples, u.Sample)
		ended := !u.until.IsZero() && (h.Until.IsZero() || u.until.Before(h.Until))
		if ended && (i+1 == len(uses) || uses[i+1].Day != u.until) {
			h.Samples = append(h.Samples, Sample{Day: u.until, Bytes: Unknown, Line: u.Line})
		}
	}
	if n := len(h.Samples); n > 0 {
		h.UsedBytes = h.Samples[n-1].Bytes
	}
}

func compareFirst(orders ...int) int {
	for _, o := range orders {
		if o != 0 {
			return o
		}
	}
	return 0
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
