package main

import (
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"

	"github.com/stretchr/testify/require"
)

// coverageOf makes a cluster's days from 1 March on with so many ends on each,
// all at noon, and judges them at the midnight after the last.
func coverageOf(ended ...int64) *clusterCoverage {
	first := time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)
	last := first.AddDate(0, 0, len(ended))
	c := &clusterCoverage{cluster: "c1", days: daysOf(first, last, time.UTC), newest: ingest.Instant(last.Unix())}
	for i, n := range ended {
		noon := ingest.Instant(c.days[i].start.Unix() + 12*3600)
		for range n {
			c.count(&ingest.Job{Submit: noon - 7200, Start: noon - 3600, End: noon})
		}
		if n > 0 {
			c.last = noon
			if c.first == ingest.None {
				c.first = noon
			}
		}
	}
	return c
}

func (c *clusterCoverage) flags() string {
	var flags []string
	for _, d := range c.days {
		flags = append(flags, string(d.flag))
	}
	return strings.Join(flags, " ")
}

func TestCoverageFlags(t *testing.T) {
	now := time.Date(2026, time.April, 1, 0, 0, 0, 0, time.UTC)
	f := func(want, gaps string, ended ...int64) {
		t.Helper()
		c := coverageOf(ended...)
		c.judge(now)
		require.Equal(t, want, c.flags())
		require.Equal(t, gaps, strings.Join(c.gaps(), "; "))
	}
	f("  ", "", 1, 2, 3)
	f("no-records no-records", "c1 has no record at all", 0, 0)
	f("before-first  after-last", "c1 has no record that ended on 2026-03-01, 2026-03-03", 0, 1, 0)
	// Between quiet days a day without records may be chance; between busy ones
	// it is a gap. Ten records a day are busy.
	f(" none   ", "c1 has no record that ended on 2026-03-02", 9, 0, 9, 9, 9)
	f(" gap   ", "c1 has no record that ended on 2026-03-02", 10, 0, 10, 10, 10)
	f(" gap gap   ", "c1 has no record that ended on 2026-03-02, 2026-03-03", 10, 0, 0, 10, 10, 10)
	// Two days around are too few to tell.
	f(" none ", "c1 has no record that ended on 2026-03-02", 50, 0, 50)
	// A tenth of what is usual, where a hundred are.
	f("    ", "", 100, 10, 100, 100, 100)
	f(" few   ", "", 100, 9, 100, 100, 100)
	f("    ", "", 99, 1, 99, 99, 99)
	// The days without records do not make the others look usual, and a day
	// further off than a week is another time.
	f("    gap gap gap gap gap gap gap    ", "c1 has no record that ended on 2026-03-05 to 2026-03-11",
		20, 20, 20, 20, 0, 0, 0, 0, 0, 0, 0, 20, 20, 20, 20)
}

// The newest dump was made before the day was over: said where ten records or
// more are to be expected of the rest of the day.
func TestCoveragePartialDay(t *testing.T) {
	f := func(want string, newestHour int, ended ...int64) {
		t.Helper()
		c := coverageOf(ended...)
		last := c.days[len(c.days)-1].start
		c.newest = ingest.Instant(last.Unix() + int64(newestHour)*3600)
		c.judge(last.AddDate(0, 0, 2))
		require.Equal(t, want, c.flags())
	}
	f("   ", 12, 19, 19, 19, 10)
	f("   partial", 12, 20, 20, 20, 10)
	f("   ", 13, 20, 20, 20, 10)
	f("   partial", 13, 22, 22, 22, 10)
	f("   ", 24, 1000, 1000, 1000, 900)

	// A day that is not over is not judged.
	c := coverageOf(20, 20, 20, 10)
	c.newest = ingest.Instant(c.days[3].start.Unix() + 3600)
	c.judge(c.days[3].end.Add(-time.Second))
	require.Equal(t, "   ", c.flags())

	// What sacct was asked is whole, in however many answers.
	c = coverageOf(20, 20, 20, 1, 0, 0)
	day := func(i int, hour int64) ingest.Instant { return ingest.Instant(c.days[i].start.Unix() + hour*3600) }
	c.newest = day(5, 0)
	c.answers = []jobstore.Asked{{From: day(4, 12), To: day(5, 12)}, {From: day(3, 0), To: day(4, 12)}}
	c.judge(c.days[5].end)
	require.Equal(t, "    idle after-last", c.flags())
	require.Equal(t, []string{"c1 has no record that ended on 2026-03-06"}, c.gaps())
}

func TestMissingDays(t *testing.T) {
	f := func(want string, marks string) {
		t.Helper()
		days := daysOf(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, time.April, 1, 0, 0, 0, 0, time.UTC), time.UTC)
		for i, m := range marks {
			if m == '-' {
				days[i].flag = flagNone
			}
		}
		require.Equal(t, want, missingDays(days))
	}
	f("", "")
	f("2026-03-02", " -")
	f("2026-03-02, 2026-03-03", " --")
	f("2026-03-02 to 2026-03-04, 2026-03-31", " ---                          -")
	f("2026-03-01, 2026-03-03, 2026-03-05, 2026-03-07, 2026-03-09, 2026-03-11, 2026-03-13, 2026-03-15 and 5 days more", "- - - - - - - - - ----")
}

// The days of a zone whose clocks change have 23 and 25 hours.
func TestCoverageDays(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	days := daysOf(time.Date(2026, time.March, 28, 0, 0, 0, 0, berlin), time.Date(2026, time.March, 31, 0, 0, 0, 0, berlin), berlin)
	require.Len(t, days, 3)
	require.Equal(t, 23*time.Hour, days[1].end.Sub(days[1].start))
	c := &clusterCoverage{days: days}
	f := func(want int, utc string) {
		t.Helper()
		at, err := time.Parse(time.RFC3339, utc)
		require.NoError(t, err)
		d := c.day(ingest.Instant(at.Unix()))
		if want < 0 {
			require.Nil(t, d)
			return
		}
		require.Same(t, &c.days[want], d)
	}
	f(-1, "2026-03-27T22:59:59Z")
	f(0, "2026-03-27T23:00:00Z")
	f(1, "2026-03-28T23:00:00Z")
	f(1, "2026-03-29T21:59:59Z")
	f(2, "2026-03-29T22:00:00Z")
	f(-1, "2026-03-30T22:00:00Z")
	require.Nil(t, c.day(ingest.None))
}
