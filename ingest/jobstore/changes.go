package jobstore

import (
	"cmp"
	"slices"

	"hpcbill/ingest"
)

// Change bounds the jobs of one month (UTC) that an ingest added, replaced or
// took away: their old records and their new ones, by where those end.
type Change struct {
	FirstStart ingest.Instant `json:"first_start,omitempty"` // of the runs; None where none ran

	// None where the records have no end yet.
	FirstEnd ingest.Instant `json:"first_end,omitempty"`
	LastEnd  ingest.Instant `json:"last_end,omitempty"`
}

// ChangedEnds reports whether the ingest may have changed which jobs ended in
// [from, to), or what is recorded of them. It says no only where it is so.
func (r *Record) ChangedEnds(from, to ingest.Instant) bool {
	return r.changed(func(c *Change) bool { return c.FirstEnd != ingest.None && c.FirstEnd < to && c.LastEnd >= from })
}

// ChangedRuns is ChangedEnds for the jobs that ended in [from, to), or ran in
// it, whether or not they have ended.
func (r *Record) ChangedRuns(from, to ingest.Instant) bool {
	return r.changed(func(c *Change) bool {
		first := c.FirstEnd
		if c.FirstStart != ingest.None && (first == ingest.None || c.FirstStart < first) {
			first = c.FirstStart
		}
		return first != ingest.None && first < to && (c.FirstEnd == ingest.None || c.LastEnd >= from)
	})
}

// changed asks of all changes. A record without a list was written before
// there were lists: all the jobs of its dump that ended are taken for changed.
func (r *Record) changed(meets func(*Change) bool) bool {
	if r.Changes == nil {
		return r.New+r.Revised > 0 && meets(&Change{FirstEnd: r.FirstEnd, LastEnd: r.LastEnd})
	}
	return slices.ContainsFunc(r.Changes, func(c Change) bool { return meets(&c) })
}

// changes are those of an ingest, by month.
type changes map[string]Change

// note widens a month's bounds.
func (m changes) note(month string, c Change) {
	if had, ok := m[month]; ok {
		c.FirstStart, c.FirstEnd = firstOf(c.FirstStart, had.FirstStart), firstOf(c.FirstEnd, had.FirstEnd)
		c.LastEnd = max(c.LastEnd, had.LastEnd)
	}
	m[month] = c
}

func firstOf(a, b ingest.Instant) ingest.Instant {
	if a == ingest.None || b != ingest.None && b < a {
		return b
	}
	return a
}

// add notes the rows of a part that the ingest wrote.
func (m changes) add(p *newPart) {
	if p.visible() && !p.shorter {
		m.note(p.Month, Change{p.MinStart, p.MinEnd, p.MaxEnd})
	}
}

// list gives the changes in the order of their months.
func (m changes) list() []Change {
	all := make([]Change, 0, len(m))
	for _, c := range m {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.FirstEnd, b.FirstEnd), cmp.Compare(a.LastEnd, b.LastEnd), cmp.Compare(a.FirstStart, b.FirstStart))
	})
	return all
}
