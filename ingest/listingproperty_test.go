package ingest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// onDay is what is held by day: "GROUP HOLDER" → quota and use, as the
// holdings have them.
func onDay(t require.TestingT, s Storage, day Date) map[string][2]int64 {
	held := map[string][2]int64{}
	for _, h := range s.Holdings {
		if day.Before(h.From) || !h.Until.IsZero() && !day.Before(h.Until) {
			continue
		}
		used := int64(Unknown)
		for _, sample := range h.Samples {
			if !day.Before(sample.Day) {
				used = sample.Bytes
			}
		}
		key := h.Group + " " + h.Holder
		_, twice := held[key]
		require.False(t, twice, "%s is held twice on %s", key, day)
		held[key] = [2]int64{h.QuotaBytes, used}
	}
	return held
}

// Whatever is listed when, and whoever takes over what: on each day a holder
// has what the last listing up to then says of it, unless no later listing up
// to the end knows it; and for a month its own listings count, with the last
// before it.
func TestListingsByDay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		byDay := map[int]map[string][2]int64{}
		var listings []*Listing
		layout := &Layout{Source: "s", Unit: TB}
		for _, day := range rapid.SliceOfNDistinct(rapid.IntRange(1, 28), 1, 8, rapid.ID).Draw(t, "days") {
			byDay[day] = map[string][2]int64{}
			l := &Listing{File: fmt.Sprintf("q/%02d", day), Layout: layout}
			for i := range 3 {
				if name := fmt.Sprintf("h%d", i); rapid.Bool().Draw(t, "listed") {
					size := [2]int64{rapid.SampledFrom([]int64{Unknown, 5, 7}).Draw(t, "quota"), rapid.Int64Range(0, 3).Draw(t, "used")}
					byDay[day][name] = size
					l.Rows = append(l.Rows, ListingRow{Day: Date{2026, 1, day}, Filesystem: "/d", Name: name, QuotaBytes: size[0], UsedBytes: size[1], Line: int64(i + 1)})
				}
			}
			if l.Rows == nil {
				delete(byDay, day)
				continue
			}
			listings = append(listings, l)
		}
		takeover := rapid.IntRange(1, 31).Draw(t, "takeover")
		assign := func(_, _, _, name string) []Assignment {
			if name == "h0" {
				return []Assignment{{Group: "a"}, {From: Date{2026, 1, takeover}, Group: "b"}}
			}
			return []Assignment{{Group: "a"}}
		}
		all, err := HoldingsOf(nil, listings, assign)
		require.NoError(t, err)
		from, until := rapid.IntRange(1, 28).Draw(t, "from"), 0
		until = rapid.IntRange(from, 31).Draw(t, "until")
		part, err := HoldingsOf(nil, RelevantListings(listings, Date{2026, 1, from}, Date{2026, 1, until}), assign)
		require.NoError(t, err)
		seen := map[int]map[string][2]int64{} // by the month: its own, and the last before it
		for day := until - 1; day >= 1 && !hasBefore(seen, from); day-- {
			if byDay[day] != nil {
				seen[day] = byDay[day]
			}
		}
		for day := 1; day <= 31; day++ {
			require.Equal(t, expectedOnDay(byDay, day, 31, takeover), onDay(t, all, Date{2026, 1, day}))
			if from <= day && day < until {
				require.Equal(t, expectedOnDay(seen, day, until-1, takeover), onDay(t, part, Date{2026, 1, day}))
			}
		}
	})
}

func hasBefore(seen map[int]map[string][2]int64, from int) bool {
	for day := range seen {
		if day < from {
			return true
		}
	}
	return false
}

// expectedOnDay works out the same from the listings up to the day end.
func expectedOnDay(byDay map[int]map[string][2]int64, day, end, takeover int) map[string][2]int64 {
	held := map[string][2]int64{}
	for i := range 3 {
		name := fmt.Sprintf("h%d", i)
		size, known := [2]int64{}, false
		for d := 1; d <= day; d++ {
			if s, listed := byDay[d][name]; listed {
				size, known = s, true
			}
		}
		missing := false // on the day or before, since it was listed last
		back := false
		for d := 1; d <= end; d++ {
			_, listed := byDay[d][name]
			switch {
			case byDay[d] == nil:
			case listed && d > day:
				back = true
			case listed:
				missing = false
			case d <= day:
				missing = true
			}
		}
		if !known || missing && !back {
			continue
		}
		group := "a"
		if i == 0 && day >= takeover {
			group = "b"
		}
		held[group+" "+name] = size
	}
	return held
}
