package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func holdings(t testing.TB, rows ...string) []Holding {
	t.Helper()
	h, err := Holdings("storage.csv", strings.NewReader(lines(rows...)))
	require.NoError(t, err)
	return h
}

func TestHoldings(t *testing.T) {
	h := holdings(t, "group,filesystem,from,until,quota,used",
		"bio,/data,2025-07-01,,25 TB,3.5TB",
		`"chem, dept",/data,2025-01-01,2025-03-01,10TiB,`,
		"bio,/data,2025-09-15,,30 TB,",
		"bio,/home,2025-07-01,,0,0")
	require.Equal(t, []Holding{
		{"bio", "/data", "", "", "", false, Date{2025, 7, 1}, Date{2025, 9, 15}, 25e12, 35e11, TB, []Sample{{Date{2025, 7, 1}, 35e11, 2, Date{}}}, Source{File: "storage.csv", Line: 2}},
		{"bio", "/data", "", "", "", false, Date{2025, 9, 15}, Date{}, 30e12, 35e11, TB, []Sample{{Date{2025, 7, 1}, 35e11, 2, Date{}}}, Source{File: "storage.csv", Line: 4}},
		{"bio", "/home", "", "", "", false, Date{2025, 7, 1}, Date{}, 0, 0, TB, []Sample{{Date{2025, 7, 1}, 0, 5, Date{}}}, Source{File: "storage.csv", Line: 5}},
		{"chem, dept", "/data", "", "", "", false, Date{2025, 1, 1}, Date{2025, 3, 1}, 10995116277760, Unknown, TiB, nil, Source{File: "storage.csv", Line: 3}},
	}, h)
}

// Uses of their own days: carried forward until the next, past a change of the
// quota, and never backwards (case C100).
func TestHoldingsSamples(t *testing.T) {
	f := func(rows []string, want ...string) {
		t.Helper()
		var got []string
		for _, h := range holdings(t, append([]string{"group,filesystem,from,until,quota_bytes,used_bytes"}, rows...)...) {
			text := fmt.Sprintf("%s-%s %d", dayText(h.From), dayText(h.Until), h.QuotaBytes)
			for _, s := range h.Samples {
				text += fmt.Sprintf(" %s:%d", dayText(s.Day), s.Bytes)
			}
			got = append(got, text)
		}
		require.Equal(t, want, got)
	}
	rows := func(r ...string) []string { return r }
	f(rows("g,/d,2025-01-01,,10,", "g,/d,2025-01-03,,,4", "g,/d,2025-01-20,,,12", "g,/d,2025-02-01,,20,"),
		"0101-0201 10 0103:4 0120:12", "0201- 20 0120:12")
	// The use ends with the quota, and where its own row says so.
	f(rows("g,/d,2025-01-01,2025-02-01,10,4", "g,/d,2025-03-01,,10,"), "0101-0201 10 0101:4", "0301- 10")
	f(rows("g,/d,2025-01-01,,10,", "g,/d,2025-01-05,2025-01-08,,4", "g,/d,2025-01-20,,,5"), "0101- 10 0105:4 0108:-1 0120:5")
	f(rows("g,/d,2025-01-01,,10,", "g,/d,2025-01-05,2025-01-20,,4", "g,/d,2025-01-20,,,5"), "0101- 10 0105:4 0120:5")
	// Without a quota, before one and after one.
	f(rows("g,/d,2025-01-05,,,4", "g,/d,2025-01-09,,,5"), "0105- -1 0105:4 0109:5")
	f(rows("g,/d,2025-01-05,2025-01-09,,4", "g,/d,2025-01-09,2025-01-12,,5", "g,/d,2025-01-20,2025-01-25,,6"),
		"0105-0112 -1 0105:4 0109:5", "0120-0125 -1 0120:6")
	f(rows("g,/d,2025-01-05,,,4", "g,/d,2025-02-01,2025-03-01,10,", "g,/d,2025-03-10,,,7"),
		"0105-0201 -1 0105:4", "0201-0301 10 0105:4", "0310- -1 0310:7")
	// None is set, which is not a quota of nothing.
	f(rows("g,/d,2025-01-01,,10,", "g,/d,2025-02-01,,None,4", "g,/d,2025-03-01,,0,"),
		"0101-0201 10", "0201-0301 -1 0201:4", "0301- 0 0201:4")
	// Of several uses on one day the largest counts.
	f(rows("g,/d,2025-01-01,,10,3", "g,/d,2025-01-01,,,9", "g,/d,2025-01-01,,,4"), "0101- 10 0101:9")
	require.Equal(t, TiB, holdings(t, "group,filesystem,from,used_tib", "a,/d,2025-01-01,1.5")[0].Unit)
}

func dayText(d Date) string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%02d%02d", d.Month, d.Day)
}

// A file that a spreadsheet wrote: a mark, CRLF, commas at the ends, columns
// in another order, blank lines, a gap between two rows.
func TestHoldingsSpreadsheet(t *testing.T) {
	h := holdings(t, "\ufeffFrom,Quota_TB,Group,Filesystem,Until,,\r", "2025-07-01,25.000001536,bio,/data,2025-08-01,,\r", ",,,,,,\r", "\r", "2025-10-01,25,bio,/data,,,\r")
	require.Len(t, h, 2)
	require.Equal(t, int64(25000001536000), h[0].QuotaBytes) // case C98
	require.Equal(t, Date{2025, 8, 1}, h[0].Until)
	require.Equal(t, int64(2), h[0].Source.Line)
	require.True(t, h[1].Until.IsZero())
	require.Empty(t, holdings(t, "group,filesystem,from,quota"))
	require.Equal(t, TiB, holdings(t, "group,filesystem,from,quota_tib", "a,/d,2025-01-01,1.5")[0].Unit)
	require.Equal(t, int64(150000001024000), holdings(t, "group,filesystem,from,quota_bytes", "a,/d,2025-01-01,150000001024000")[0].QuotaBytes)
	require.Equal(t, int64(5e12), holdings(t, "group;filesystem;from;quota", "a;/d;2025-01-01;5 TB")[0].QuotaBytes)
}

func TestStorageSize(t *testing.T) {
	f := func(text string, bytes int64, unit StorageUnit) {
		t.Helper()
		got, u, err := parseStorage(text, "")
		require.NoError(t, err, text)
		require.Equal(t, bytes, got, text)
		require.Equal(t, unit, u, text)
	}
	bad := func(text, reason string) {
		t.Helper()
		_, _, err := parseStorage(text, "")
		require.ErrorContains(t, err, reason, text)
	}
	f("25 TB", 25e12, TB)
	f("10TiB", 10995116277760, TiB)
	f("1.5 TB", 15e11, TB)
	f("500 GB", 5e11, TB)
	f("500 gib", 536870912000, TiB)
	f("2 PB", 2e15, TB)
	f("0", 0, TB)
	f("25000001536000", 25000001536000, TB)
	f("0.5 GB", 5e8, TB)
	bad("25 T", "not a unit")
	bad("25 XB", "not a unit")
	bad("-1 TB", "negative")
	bad("TB", "not a size")
	bad("1,5 TB", "not a size")
	bad("1.5.5 TB", "not a size")
	bad("1e3 TB", "not a size")
	bad(".5 TB", "not a size")
	bad("1/2 TB", "not a size")
	bad("0.1 B", "whole number of bytes")
	bad("99999999 PB", "too many")
	_, _, err := parseStorage("25 TB", "_tb")
	require.ErrorContains(t, err, "has a unit")
}

// All faults of a file at once, each at its line and column.
func TestHoldingsFaults(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		h, err := Holdings("s.csv", strings.NewReader(text))
		require.Nil(t, h)
		require.Error(t, err)
		require.Equal(t, want, strings.Split(err.Error(), "\n"))
		var e *Error
		require.True(t, errors.As(err, &e))
	}
	const header = "group,filesystem,from,until,quota,used"
	f(lines(header, "bio,/d,2025-02-30,,25 TB,", ",/d,2025-01-01,,-1 TB,", "chem,,yesterday,2025-01-01,5 TB,x", "a,/d,2025-01-01,2025-01-01,1 TB", "a,/d,2025-02-01,,"),
		`s.csv:2: from: "2025-02-30" is not a day of the calendar`,
		`s.csv:3: group: the cell is empty`,
		`s.csv:3: quota: "-1 TB" is negative`,
		`s.csv:4: filesystem: the cell is empty`,
		`s.csv:4: from: "yesterday" is not a day of the calendar`,
		`s.csv:4: used: "x" is not a unit of storage`,
		`s.csv:5: until: 2025-01-01 is not after 2025-01-01`,
		`s.csv:6: quota: the row has neither a quota nor a use`)
	f(lines(header, "bio,/d,2025-01-01,2025-06-01,1 TB,", "bio,/d,2025-05-01,,1 TB,", "bio,/e,2025-01-01,,1 TB,", "bio,/e,2025-01-01,,1 TB,"),
		`s.csv:3: from: the row overlaps with line 2, which holds until 2025-06-01`,
		`s.csv:5: from: line 4 holds for the same group and file system from the same day`)
	f(lines(header, "bio,/d,2025-01-01,,25,", "bio,/d/,2025-02-01,,1048576,", "bio,/e,2025-02-01,,1048575,12", "bio,/f,2025-02-01,,0,1000", "bio,/g,2025-02-01,,1000 B,0"),
		`s.csv:2: quota: "25" without a unit is a number of bytes`,
		`s.csv:3: filesystem: /d/ is /d on line 2`,
		`s.csv:4: quota: "1048575" without a unit is a number of bytes`,
		`s.csv:4: used: "12" without a unit is a number of bytes`)
	f(lines("group,filesystem,from,colour,quota,quota", "x"),
		`s.csv:1: colour: unknown column`,
		`s.csv:1: quota: the column occurs twice`)
	f(lines("group,from"), `s.csv:1: filesystem: the column is missing`, `s.csv:1: quota: the column is missing`)
	f(lines(header, "bio,/d,2025-01-01,,1 TB,,beyond"), `s.csv:2: there is a cell beyond the last column: "beyond"`)
	f(lines("group,filesystem,from,quota,quota_tib", "bio,/d,2025-01-01,1 TB,1"), `s.csv:2: quota_tib: there is a figure in quota already`)
	f(lines(header, `bio,"/d,2025-01-01,,1 TB,`), "s.csv:2: extraneous or missing \" in quoted-field")
	f("", `s.csv: the file is empty`)
	f("\xff\xfeg\x00", `s.csv: the file is UTF-16 text`)
}

func FuzzHoldings(f *testing.F) {
	f.Add("group,filesystem,from,until,quota,used\nbio,/data,2025-07-01,,25 TB,\nbio,/data,2025-08-01,,2 TiB,1000\n")
	f.Add("group,filesystem,from,until,quota,used\nb,/d,2025-07-05,,,1 TB\nb,/d,2025-07-01,2025-08-01,2 TB,\nb,/d,2025-09-01,2025-09-05,,3 TB\nb,/d,2025-10-01,,none,\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := Holdings("s.csv", strings.NewReader(text))
		if err != nil {
			require.Nil(t, h)
			return
		}
		for i := range h {
			require.GreaterOrEqual(t, h[i].QuotaBytes, Unknown)
			for n, s := range h[i].Samples {
				require.True(t, n == 0 || h[i].Samples[n-1].Day.Before(s.Day))
				require.True(t, n == 0 || !s.Day.Before(h[i].From))
				require.True(t, h[i].Until.IsZero() || s.Day.Before(h[i].Until))
			}
			require.True(t, h[i].Until.IsZero() || h[i].From.Before(h[i].Until))
			if i > 0 && h[i].Group == h[i-1].Group && h[i].Filesystem == h[i-1].Filesystem {
				require.False(t, h[i-1].Until.IsZero() || h[i].From.Before(h[i-1].Until))
			}
		}
	})
}

// A tier is a place of its own: its quotas and uses are apart from those of
// other tiers of the file system.
func TestHoldingsTiers(t *testing.T) {
	h := holdings(t, "group,filesystem,tier,from,until,quota,used",
		"bio,ceph,ssd,2025-01-01,,2 TB,1 TB",
		"bio,ceph,,2025-01-01,,30 TB,",
		"bio,ceph,ssd,2025-02-01,,3 TB,")
	require.Equal(t, []string{"ceph", "ceph (ssd)", "ceph (ssd)"}, []string{h[0].Place(), h[1].Place(), h[2].Place()})
	require.Equal(t, []int64{30e12, 2e12, 3e12}, []int64{h[0].QuotaBytes, h[1].QuotaBytes, h[2].QuotaBytes})
	require.Equal(t, []int64{Unknown, 1e12, 1e12}, []int64{h[0].UsedBytes, h[1].UsedBytes, h[2].UsedBytes})
	require.Equal(t, Date{2025, 2, 1}, h[1].Until)
}
