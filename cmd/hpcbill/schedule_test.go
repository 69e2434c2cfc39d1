package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"hpcbill/rates"

	"github.com/stretchr/testify/require"
)

// locked is a buffer that the scheduler's goroutine and the test share.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// The scheduler catches up when it starts, says when it runs next, and ends
// when it is told to.
func TestScheduleCatchesUpOnStart(t *testing.T) {
	dir := killSite(t, 10)
	appendTo(t, dir+"/hpcbill.yaml", "invoice: {issue: automatic}\nschedule: \"30 5 3 * *\"\n")
	var stdout, stderr locked
	a := &app{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
		now: func() time.Time { return time.Date(2025, 5, 2, 9, 0, 0, 0, time.UTC) }, getenv: func(string) string { return "" }}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan int)
	go func() { ended <- a.run(ctx, []string{"--site", dir, "schedule"}) }()
	require.Eventually(t, func() bool { return strings.Contains(stderr.String(), "next run at 2025-05-03T05:30:00Z") },
		30*time.Second, 10*time.Millisecond)
	stop()
	require.Equal(t, exitDone, <-ended)
	require.Contains(t, stdout.String(), "2025-03 is issued: 1 invoice, 0.20 EUR", "10 core-hours at 0.02")
	require.Contains(t, stdout.String(), "2025-04 is issued: 0 invoices")
	require.NotContains(t, stdout.String(), "2025-05")
}

// A tick that is skipped or repeated by a clock change heals or does nothing,
// since what is run is what the history lacks; the cron line itself is read in
// the site's zone.
func TestParseSchedule(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	s, err := parseSchedule("0 6 2 * *", berlin)
	require.NoError(t, err)
	require.Equal(t, "2025-04-02T06:00:00+02:00", s.Next(time.Date(2025, 3, 31, 22, 0, 0, 0, time.UTC)).In(berlin).Format(time.RFC3339))

	f := func(line, want string) {
		t.Helper()
		_, err := parseSchedule(line, berlin)
		require.ErrorContains(t, err, want)
	}
	f("TZ=UTC", "names a time zone of its own")
	f("CRON_TZ=UTC 0 6 2 * *", "names a time zone of its own")
	f("0 0 31 2 *", "never comes")
	f("0 6 2 *", "expected exactly 5 fields")
	f("61 6 2 * *", "above maximum")
	f("0 6 L * *", "parse int")
}

// A time that clocks skip comes when they have been put forward, and one that
// comes twice comes once; on all other days the line is what it says.
func TestScheduleAtClockChanges(t *testing.T) {
	f := func(zone, line, after string, want ...string) {
		t.Helper()
		z, err := time.LoadLocation(zone)
		require.NoError(t, err)
		s, err := parseSchedule(line, z)
		require.NoError(t, err)
		at, err := time.Parse(time.RFC3339, after)
		require.NoError(t, err)
		for _, w := range want {
			at = s.Next(at)
			require.Equal(t, w, at.In(z).Format(time.RFC3339))
		}
	}
	f("Europe/Berlin", "30 2 29 * *", "2026-03-01T12:00:00Z", "2026-03-29T03:30:00+02:00", "2026-04-29T02:30:00+02:00")
	f("Europe/Berlin", "30 2 25 * *", "2026-10-01T12:00:00Z", "2026-10-25T02:30:00+01:00", "2026-11-25T02:30:00+01:00")
	f("America/New_York", "0 2 8 * *", "2026-03-08T05:00:00Z", "2026-03-08T03:00:00-04:00", "2026-04-08T02:00:00-04:00")
	f("America/Santiago", "0 0 7 9 *", "2025-09-01T00:00:00Z", "2025-09-07T01:00:00-03:00", "2026-09-07T00:00:00-03:00")
	f("Australia/Lord_Howe", "15 2 5 * *", "2025-10-01T00:00:00Z", "2025-10-05T02:45:00+11:00", "2025-11-05T02:15:00+11:00")
	f("Europe/Berlin", "*/30 * * * *", "2026-03-29T00:40:00Z", "2026-03-29T03:00:00+02:00", "2026-03-29T03:30:00+02:00")
	f("Europe/Berlin", "@monthly", "2026-03-29T00:40:00Z", "2026-04-01T00:00:00+02:00")
	f("Europe/Berlin", "0 6 2 * *", "2026-04-02T04:00:00Z", "2026-05-02T06:00:00+02:00")
}

func TestClosedPeriods(t *testing.T) {
	in := time.UTC
	first := func(y int, m time.Month) string { return time.Date(y, m, 1, 0, 0, 0, 0, in).Format("2006-01") }
	f := func(now time.Time, want ...string) {
		t.Helper()
		var got []string
		for _, p := range closedPeriods(monthOf(2025, 11), now) {
			got = append(got, p.String())
		}
		require.Equal(t, want, got)
	}
	f(time.Date(2025, 11, 30, 23, 59, 59, 0, in))
	f(time.Date(2025, 12, 1, 0, 0, 0, 0, in), first(2025, 11))
	f(time.Date(2026, 1, 15, 0, 0, 0, 0, in), first(2025, 11), first(2025, 12))
}

func monthOf(year int, month time.Month) rates.Period { return rates.MonthOf(year, month, time.UTC) }

func appendTo(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, errors.Join(err, f.Close()))
}
