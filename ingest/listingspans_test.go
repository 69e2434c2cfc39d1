package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// listingsOf reads tables of the rows "NAME FILESYSTEM QUOTA USED" in TB by
// day of January 2026: {"05": {"chem /d 10 4"}}.
func listingsOf(t testing.TB, layout Layout, byDay map[int][]string) []*Listing {
	t.Helper()
	layout.Format, layout.Unit = Table, TB
	layout.Columns = TableColumns{Name: "1", Filesystem: "2", Quota: "3", Used: "4", Unit: "TB"}
	if layout.Source == "" {
		layout.Source = "storage.sources[0]"
	}
	var listings []*Listing
	for day := 1; day <= 31; day++ {
		if byDay[day] == nil {
			continue
		}
		l, err := ReadListing(fmt.Sprintf("q/2026-01-%02d", day), strings.NewReader(lines(byDay[day]...)+"\n"), &layout)
		require.NoError(t, err)
		listings = append(listings, l)
	}
	return listings
}

// assignments of "NAME": "GROUP" or "GROUP DAY GROUP", in January 2026; "!" is
// ignored.
func assignTo(groups map[string]string) Assign {
	return func(_, _, _, name string) []Assignment {
		var all []Assignment
		var from Date
		for _, word := range strings.Fields(groups[name]) {
			switch {
			case word[0] >= '0' && word[0] <= '9':
				from = Date{2026, 1, 0}
				fmt.Sscan(word, &from.Day)
			case word == "!":
				all = append(all, Assignment{From: from, Ignored: "system"})
			default:
				all = append(all, Assignment{From: from, Group: word})
			}
		}
		if all == nil {
			return []Assignment{{}}
		}
		return all
	}
}

// storageText prints holdings as "GROUP PLACE HOLDER FROM-UNTIL QUOTA DAY:USED …",
// in TB, and what was lost.
func storageText(s Storage) []string {
	var got []string
	for _, h := range s.Holdings {
		text := fmt.Sprintf("%s %s %s%s %s-%s %d", h.Group, h.Place(), h.Holder, h.Ignored, dayText(h.From), dayText(h.Until), h.QuotaBytes/1e12)
		if h.QuotaBytes == Unknown {
			text = strings.TrimSuffix(text, "0") + "none"
		}
		for _, u := range h.Samples {
			text += fmt.Sprintf(" %s:%d", dayText(u.Day), u.Bytes/1e12)
			if u.MeasuredOn() != u.Day {
				text += "(" + dayText(u.Measured) + ")"
			}
		}
		got = append(got, strings.Join(strings.Fields(text), " "))
	}
	for _, l := range s.Lost {
		got = append(got, fmt.Sprintf("lost %s %s %v", l.Holding.Holder, dayText(l.Day), l.Back))
	}
	return got
}

func TestHoldingsOfListings(t *testing.T) {
	f := func(groups map[string]string, byDay map[int][]string, want ...string) {
		t.Helper()
		s, err := HoldingsOf(nil, listingsOf(t, Layout{}, byDay), assignTo(groups))
		require.NoError(t, err)
		require.Equal(t, want, storageText(s))
	}
	type days = map[int][]string
	chem := map[string]string{"c1": "chem", "c2": "chem"}
	// The same quota on several days is one; the next one begins where it is
	// listed first. A use is a sample of its day (C100: carried forward, not
	// backwards).
	f(chem, days{3: {"c1 /d 10 4"}, 5: {"c1 /d 10 6"}, 9: {"c1 /d 12 6"}},
		"chem /d c1 0103-0109 10 0103:4 0105:6", "chem /d c1 0109- 12 0109:6")
	// Two holders of one group have holdings of their own, none is none.
	f(chem, days{3: {"c1 /d 10 4", "c2 /d none 5"}}, "chem /d c1 0103- 10 0103:4", "chem /d c2 0103- none 0103:5")
	// A holder that is not listed any more has ended; one that comes back has not.
	f(chem, days{3: {"c1 /d 10 4", "c2 /d 5 1"}, 5: {"c1 /d 10 4"}, 6: {"c1 /d 10 4"}},
		"chem /d c1 0103- 10 0103:4 0105:4 0106:4", "chem /d c2 0103-0105 5 0103:1", "lost c2 0105 false")
	f(chem, days{3: {"c1 /d 10 4", "c2 /d 5 1"}, 5: {"c1 /d 10 4"}, 6: {"c1 /d 10 4", "c2 /d 5 1"}},
		"chem /d c1 0103- 10 0103:4 0105:4 0106:4", "chem /d c2 0103- 5 0103:1 0106:1", "lost c2 0105 true")
	// Another file system's listing says nothing of this one.
	f(chem, days{3: {"c1 /d 10 4"}, 5: {"c2 /e 1 1"}}, "chem /d c1 0103- 10 0103:4", "chem /e c2 0105- 1 0105:1")
	// Nobody's, and ignored.
	f(map[string]string{"root": "!"}, days{3: {"root /d none 4", "new /d 7 1"}}, "/d new 0103- 7 0103:1", "/d rootsystem 0103- none 0103:4")
	// Between two listings another group takes over.
	f(map[string]string{"c1": "chem 10 bio 20 bio"}, days{3: {"c1 /d 10 4"}, 15: {"c1 /d 10 5"}},
		"bio /d c1 0110- 10 0110:4(0103) 0115:5", "chem /d c1 0103-0110 10 0103:4")
}

// Listings taken for their use alone go with the quotas of storage.csv; what
// several holders of a group use is added up.
func TestHoldingsOfUseAlone(t *testing.T) {
	f := func(rows []string, byDay map[int][]string, want ...string) {
		t.Helper()
		file, err := ReadStorage("storage.csv", strings.NewReader(lines(append([]string{"group,filesystem,from,until,quota,used"}, rows...)...)))
		require.NoError(t, err)
		s, err := HoldingsOf([]*StorageFile{file}, listingsOf(t, Layout{Quota: NoQuotas}, byDay),
			assignTo(map[string]string{"c1": "chem", "c2": "chem", "b": "bio 10 chem"}))
		require.NoError(t, err)
		require.Equal(t, want, storageText(s))
	}
	type days = map[int][]string
	quota := []string{"chem,/d,2026-01-01,,30 TB,"}
	f(quota, days{3: {"c1 /d 1 4", "c2 /d 1 5"}, 5: {"c1 /d 1 6", "c2 /d 1 5"}}, "chem /d 0101- 30 0103:9 0105:11")
	// One of the two ends, and with it its part of the sum.
	f(quota, days{3: {"c1 /d 1 4", "c2 /d 1 5"}, 5: {"c1 /d 1 4"}}, "chem /d 0101- 30 0103:9 0105:4", "lost c2 0105 false")
	// A holder that changes hands takes its use along; what bio has is no quota.
	f(quota, days{3: {"c1 /d 1 4", "b /d 1 5"}}, "bio /d 0103-0110 none 0103:5", "chem /d 0101- 30 0103:4 0110:9(0103)")
	f(quota, days{3: {"new /d 1 4"}}, "/d new 0103- none 0103:4", "chem /d 0101- 30")
}

func TestHoldingsOfFaults(t *testing.T) {
	chem := assignTo(map[string]string{"c1": "chem"})
	f := func(rows []string, listings []*Listing, want string) {
		t.Helper()
		var files []*StorageFile
		if rows != nil {
			file, err := ReadStorage("storage.csv", strings.NewReader(lines(append([]string{"group,filesystem,from,until,quota"}, rows...)...)))
			require.NoError(t, err)
			files = append(files, file)
		}
		_, err := HoldingsOf(files, listings, chem)
		require.EqualError(t, err, want)
	}
	a := listingsOf(t, Layout{}, map[int][]string{3: {"c1 /d 10 4"}, 4: {"c1 /d 12 4"}})
	b := listingsOf(t, Layout{Source: "storage.sources[1]"}, map[int][]string{3: {"c1 /d 10 4"}})
	f(nil, append(a, b...), "q/2026-01-03:1: filesystem: /d is listed by storage.sources[0] too, in q/2026-01-03: what it holds would be counted twice")
	f([]string{"chem,/d,2025-01-01,2026-01-03,5 TB", "chem,/d,2026-01-03,,5 TB"}, a,
		"storage.csv:3: filesystem: chem is on /d by q/2026-01-03 line 1 too, as c1: it would be charged twice")
	_, err := HoldingsOf([]*StorageFile{}, a, chem)
	require.NoError(t, err)
	other, err := ReadStorage("more.csv", strings.NewReader("group,filesystem,from,quota\nchem,/d,2026-01-01,1 TB\n"))
	require.NoError(t, err)
	first, err := ReadStorage("storage.csv", strings.NewReader("group,filesystem,from,until,quota\nchem,/d,2025-01-01,2026-02-01,1 TB\n"))
	require.NoError(t, err)
	_, err = HoldingsOf([]*StorageFile{first, other}, nil, nil)
	require.EqualError(t, err, "more.csv:2: from: the row overlaps with storage.csv line 2, which holds until 2026-02-01")
}

// What a month depends on is its own listings and the last before it; to leave
// the others out changes nothing of it.
func TestRelevantListings(t *testing.T) {
	all := listingsOf(t, Layout{}, map[int][]string{3: {"c1 /d 10 4"}, 5: {"c1 /e 1 1"}, 7: {"c1 /d 10 5"}, 12: {"c1 /d 11 5"}, 25: {"c1 /d 12 5"}})
	files := func(l []*Listing) (names []string) {
		for _, x := range l {
			names = append(names, x.File)
		}
		return names
	}
	relevant := RelevantListings(all, Date{2026, 1, 10}, Date{2026, 1, 20})
	require.Equal(t, []string{"q/2026-01-05", "q/2026-01-07", "q/2026-01-12"}, files(relevant))
	require.Equal(t, files(relevant), files(RelevantListings(relevant, Date{2026, 1, 10}, Date{2026, 1, 20})))
	require.Empty(t, RelevantListings(all, Date{2025, 1, 1}, Date{2025, 2, 1}))
	s, err := HoldingsOf(nil, relevant, assignTo(map[string]string{"c1": "chem"}))
	require.NoError(t, err)
	require.Equal(t, []string{"chem /d c1 0107-0112 10 0107:5", "chem /d c1 0112- 11 0112:5", "chem /e c1 0105- 1 0105:1"}, storageText(s))
}
