package ingest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Assignment says whose a holder's storage is from a day on: until the next
// one, or for ever.
type Assignment struct {
	From    Date   // zero = from the beginning
	Group   string // "" = nobody's
	Ignored string // the reason for which it is not billable, "" = it is
}

// Assign gives the assignments of a holder that a source lists, by day; the
// first is from the beginning.
type Assign func(source, filesystem, kind, name string) []Assignment

// Storage is everything that is known of storage.
type Storage struct {
	Holdings []Holding // sorted by group, file system, tier, holder and day
	Listed   []ListedFilesystem
	Lost     []LostHolder
}

// ListedFilesystem is a file system, or a tier of one, that listings show.
type ListedFilesystem struct {
	Filesystem, Tier string
	Days             []Date // on which it was listed, in order
	Holders          int
}

// LostHolder is one that stood in a listing and does not stand in a later one.
// What it held is taken to end on Day; where it is Back later, to have gone on.
type LostHolder struct {
	Holding Holding // as it was last listed
	Day     Date
	File    string // the first listing without it
	Back    bool
}

// HoldingsOf makes Holdings of files and listings. Between two listings what
// the earlier one says holds; after the last, it goes on to hold. A holder
// that a later listing of the file system does not show has ended on that
// day. What several holders of one group use is added up where the listings
// are taken for their use alone, and goes with the quotas of the files; else
// each holder has Holdings of its own.
//
// It is an error where quotas of one place overlap, where a file and a listing
// both give a group a quota, and where two sources list one file system.
func HoldingsOf(files []*StorageFile, listings []*Listing, assign Assign) (Storage, error) {
	var spans storageSpans
	for _, f := range files {
		spans.rows = append(spans.rows, f.rows...)
	}
	b := listedSpans{assign: assign, series: map[[2]string]*listedSeries{}}
	for _, l := range listings {
		b.take(l)
	}
	spans.errs = b.errs
	var s Storage
	for _, key := range b.keys {
		series := b.series[key]
		slices.SortFunc(series.days, compareDates)
		rows, lost := series.rows(assign)
		spans.rows, s.Lost = append(spans.rows, rows...), append(s.Lost, lost...)
		s.Listed = append(s.Listed, ListedFilesystem{key[0], key[1], series.days, len(series.names)})
	}
	spans.close()
	s.Holdings = spans.holdings
	if errs := append(spans.errs, twiceBilled(s.Holdings)...); errs != nil {
		return Storage{}, joinFaults(errs)
	}
	return s, nil
}

// RelevantListings gives the listings that the days [from, until) depend on:
// those of these days, and of each file system the last before them. Rows of
// later days are left out.
func RelevantListings(listings []*Listing, from, until Date) []*Listing {
	last := map[[2]string]Date{}
	for _, l := range listings {
		for i := range l.Rows {
			r := &l.Rows[i]
			if at := [2]string{r.Filesystem, r.Tier}; r.Day.Before(from) && last[at].Before(r.Day) {
				last[at] = r.Day
			}
		}
	}
	var relevant []*Listing
	for _, l := range listings {
		later := func(r ListingRow) bool { return !r.Day.Before(until) }
		needed := func(r ListingRow) bool {
			return !later(r) && (!r.Day.Before(from) || r.Day == last[[2]string{r.Filesystem, r.Tier}])
		}
		switch {
		case !slices.ContainsFunc(l.Rows, needed):
		case !slices.ContainsFunc(l.Rows, later):
			relevant = append(relevant, l)
		default:
			relevant = append(relevant, &Listing{File: l.File, Layout: l.Layout, Rows: slices.DeleteFunc(slices.Clone(l.Rows), later)})
		}
	}
	return relevant
}

// listedSpans gathers listings by file system and tier.
type listedSpans struct {
	assign Assign
	keys   [][2]string // in the order of their first listing
	series map[[2]string]*listedSeries
	errs   []*Error
}

// listedSeries is all listings of a file system or tier.
type listedSeries struct {
	layout  *Layout
	file    string // the first
	days    []Date
	files   map[Date]string // the last of the day
	holders map[[2]string][]listedRow
	names   [][2]string
	refused bool
}

type listedRow struct {
	ListingRow
	file string
}

func (b *listedSpans) take(l *Listing) {
	for _, r := range l.Rows {
		key := [2]string{r.Filesystem, r.Tier}
		s := b.series[key]
		if s == nil {
			s = &listedSeries{layout: l.Layout, file: l.File, files: map[Date]string{}, holders: map[[2]string][]listedRow{}}
			b.series[key], b.keys = s, append(b.keys, key)
		}
		if s.layout.Source != l.Layout.Source {
			if !s.refused {
				b.errs = append(b.errs, &Error{File: l.File, Line: r.Line, Field: "filesystem",
					Cause:  fmt.Errorf("%s is listed by %s too, in %s: what it holds would be counted twice", r.Filesystem, s.layout.Source, s.file),
					Remedy: "keep one of the two sources, or part them with  tier:  where each lists a part"})
			}
			s.refused = true
			continue
		}
		if s.files[r.Day] == "" {
			s.days = append(s.days, r.Day)
		}
		s.files[r.Day] = l.File
		name := [2]string{r.Kind, r.Name}
		if s.holders[name] == nil {
			s.names = append(s.names, name)
		}
		s.holders[name] = append(s.holders[name], listedRow{r, l.File})
	}
}

// rows gives the rows of all holders, and the holders that were lost.
func (s *listedSeries) rows(assign Assign) (rows []storageRow, lost []LostHolder) {
	uses := map[string][][]storageRow{} // of a group: each holder's
	var groups []string
	slices.SortFunc(s.names, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, name := range s.names {
		of, gone := s.holder(name)
		assigned := assignRows(of, assign(s.layout.Source, of[0].Filesystem, name[0], name[1]))
		lost = append(lost, missed(gone, assigned)...)
		if s.layout.Quota != NoQuotas {
			rows = append(rows, assigned...)
			continue
		}
		byGroup := map[string][]storageRow{}
		for _, r := range assigned {
			if r.Group == "" {
				rows = append(rows, r)
				continue
			}
			byGroup[r.Group] = append(byGroup[r.Group], r)
		}
		for _, r := range assigned {
			if of := byGroup[r.Group]; of != nil {
				if uses[r.Group] == nil {
					groups = append(groups, r.Group)
				}
				uses[r.Group] = append(uses[r.Group], of)
				delete(byGroup, r.Group)
			}
		}
	}
	for _, g := range groups {
		rows = append(rows, sumUses(uses[g])...)
	}
	return rows, lost
}

// holder gives the rows of one holder, one a day on which it is listed, each
// until the next, and the listings that it is missing from.
func (s *listedSeries) holder(name [2]string) (rows []storageRow, lost []LostHolder) {
	listed := s.holders[name]
	slices.SortStableFunc(listed, func(a, b listedRow) int { return compareDates(a.Day, b.Day) })
	for i := range listed {
		l := &listed[i]
		r := storageRow{hasQuota: s.layout.Quota != NoQuotas, measured: l.Day, Holding: Holding{
			Filesystem: l.Filesystem, Tier: l.Tier, Holder: l.holder(), Listed: true, From: l.Day,
			QuotaBytes: l.QuotaBytes, UsedBytes: l.UsedBytes, Unit: s.layout.Unit, Source: Source{File: l.file, Line: l.Line}}}
		if n := len(rows); n > 0 && rows[n-1].From == r.From {
			// Twice on one day: the later quota holds, the larger use counts.
			r.UsedBytes = max(r.UsedBytes, rows[n-1].UsedBytes)
			rows[n-1] = r
			continue
		}
		rows = append(rows, r)
	}
	next := 0
	for _, day := range s.days {
		if next < len(rows) && rows[next].From == day {
			if next++; next < len(rows) {
				rows[next-1].Until = rows[next].From
			}
			continue
		}
		if next == 0 || len(lost) > 0 && lost[len(lost)-1].Holding.From == rows[next-1].From {
			continue // not there yet, or said already
		}
		lost = append(lost, LostHolder{rows[next-1].Holding, day, s.files[day], next < len(rows)})
		if next == len(rows) {
			rows[next-1].Until = day
		}
	}
	return rows, lost
}

// missed are the lost holders whose storage is not ignored, each with its group.
func missed(gone []LostHolder, assigned []storageRow) []LostHolder {
	var lost []LostHolder
	for _, l := range gone {
		for _, r := range assigned {
			if r.From.Before(l.Day) {
				l.Holding.Group, l.Holding.Ignored = r.Group, r.Ignored
			}
		}
		if l.Holding.Ignored == "" {
			lost = append(lost, l)
		}
	}
	return lost
}

// assignRows gives each row to a group: a row across a day on which another
// group takes over is cut there.
func assignRows(rows []storageRow, assignments []Assignment) []storageRow {
	var out []storageRow
	assignments = slices.CompactFunc(slices.Clone(assignments), func(a, b Assignment) bool { return a.Group == b.Group && a.Ignored == b.Ignored })
	for _, r := range rows {
		end := r.Until
		for i, a := range assignments {
			from, until := r.From, end
			if from.Before(a.From) {
				from = a.From
			}
			if i+1 < len(assignments) {
				until = earlier(until, assignments[i+1].From)
			}
			if !until.IsZero() && !from.Before(until) {
				continue
			}
			piece := r
			piece.From, piece.Until, piece.Group, piece.Ignored = from, until, a.Group, a.Ignored
			out = append(out, piece)
		}
	}
	return out
}

// sumUses adds up the uses of several holders of one group: a row for each day
// on which the sum may change.
func sumUses(holders [][]storageRow) []storageRow {
	var days []Date
	for _, rows := range holders {
		for _, r := range rows {
			days = append(days, r.From)
			if !r.Until.IsZero() {
				days = append(days, r.Until)
			}
		}
	}
	slices.SortFunc(days, compareDates)
	days = slices.Compact(days)
	var sums []storageRow
	next := make([]int, len(holders))
	for i, day := range days {
		var sum *storageRow
		for h, rows := range holders {
			for next[h] < len(rows) && !rows[next[h]].Until.IsZero() && !day.Before(rows[next[h]].Until) {
				next[h]++
			}
			if next[h] == len(rows) || day.Before(rows[next[h]].From) {
				continue
			}
			r := rows[next[h]]
			if sum == nil {
				r.From, r.Until, r.Holder = day, Date{}, ""
				sum = &r
				continue
			}
			sum.UsedBytes += r.UsedBytes
			if r.measured.Before(sum.measured) {
				sum.measured = r.measured
			}
		}
		if sum == nil {
			continue
		}
		if i+1 < len(days) {
			sum.Until = days[i+1]
		}
		sums = append(sums, *sum)
	}
	return sums
}

// twiceBilled finds groups that have a quota in a file and one in a listing of
// the same place and days.
func twiceBilled(holdings []Holding) []*Error {
	byPlace := map[[3]string][]*Holding{}
	for i := range holdings {
		h := &holdings[i]
		if !h.Listed && h.Group != "" {
			at := [3]string{h.Group, h.Filesystem, h.Tier}
			byPlace[at] = append(byPlace[at], h)
		}
	}
	var errs []*Error
	for i := range holdings {
		h := &holdings[i]
		if !h.Listed || h.Holder == "" {
			continue
		}
		for _, o := range byPlace[[3]string{h.Group, h.Filesystem, h.Tier}] {
			if spansMeet(h, o) {
				errs = append(errs, &Error{File: o.Source.File, Line: o.Source.Line, Field: "filesystem",
					Cause:  fmt.Errorf("%s is on %s by %s line %d too, as %s: it would be charged twice", o.Group, o.Place(), h.Source.File, h.Source.Line, h.Holder),
					Remedy: "keep one of the two;  quota: none  takes of a source what is used alone"})
			}
		}
	}
	slices.SortFunc(errs, func(a, b *Error) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return slices.CompactFunc(errs, func(a, b *Error) bool { return a.File == b.File && a.Line == b.Line })
}

// spansMeet reports whether two holdings have a day in common.
func spansMeet(a, b *Holding) bool {
	return (a.Until.IsZero() || b.From.Before(a.Until)) && (b.Until.IsZero() || a.From.Before(b.Until))
}
