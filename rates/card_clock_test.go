package rates

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const clockCard = `card: c
currency: EUR
versions:
  - from: 2025-01-01
    let:
      night: CLOCK
    meters: {su: {unit: SU, price: 1}}
    rules: [{name: all, charge: {su: {rate: cpus, duration: elapsed_h - night/2}}}]
`

// A clock counts the seconds of its hours of the week, in the zone, whatever is
// done to the clocks.
func TestClockSeconds(t *testing.T) {
	f := func(clock, zone, from, until string, want time.Duration) {
		t.Helper()
		c, err := LoadCard("c.yaml", []byte(replaced(clockCard, "CLOCK", clock)))
		require.NoError(t, err)
		z, err := time.LoadLocation(zone)
		require.NoError(t, err)
		begin, err := time.Parse(time.RFC3339, from)
		require.NoError(t, err)
		end, err := time.Parse(time.RFC3339, until)
		require.NoError(t, err)
		seconds, last := int64(0), begin.Unix()
		for from, until := range c.Versions[0].Lets[0].Clock.Spans(begin.Unix(), end.Unix(), z) {
			require.LessOrEqual(t, last, from)
			require.Less(t, from, until)
			seconds, last = seconds+until-from, until
		}
		require.LessOrEqual(t, last, end.Unix())
		require.Equal(t, int64(want/time.Second), seconds)
	}
	night := "{hour: [0..7, 20..23]}"
	f(night, "UTC", "2026-06-10T19:59:59Z", "2026-06-10T20:00:01Z", time.Second)
	f(night, "UTC", "2026-06-10T12:00:00Z", "2026-06-12T12:00:00Z", 24*time.Hour)
	f(night, "UTC", "2026-06-10T21:00:00Z", "2026-06-10T21:00:00Z", 0)
	f("{weekday: [sat, sun]}", "UTC", "2026-06-08T00:00:00Z", "2026-06-15T00:00:00Z", 48*time.Hour)
	f("{weekday: fri..mon, hour: 23}", "UTC", "2026-06-08T00:00:00Z", "2026-06-15T00:00:00Z", 4*time.Hour)
	// In the zone of the site, which may be half an hour off.
	f("{hour: 8}", "Europe/Berlin", "2026-06-10T00:00:00Z", "2026-06-10T06:30:00Z", 30*time.Minute)
	f("{hour: 8}", "Asia/Kolkata", "2026-06-10T02:15:00Z", "2026-06-10T23:00:00Z", time.Hour)
	// The hour of summer time that is lacking, and the one that comes twice.
	f("{hour: 0..7}", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", 7*time.Hour)
	f("{hour: 2}", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", 0)
	f("{hour: 2}", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", 2*time.Hour)
}

// A clock is said as the card has it, whatever is taken from elsewhere.
func TestClockText(t *testing.T) {
	c, err := LoadCard("c.yaml", []byte(replaced(clockCard, "night: CLOCK", "day: &day {hour: &h [8..17, 20], weekday: mon..fri}\n      night: {hour: *h}\n      sat: {<<: *day, weekday: sat}")))
	require.NoError(t, err)
	var texts []string
	for _, let := range c.Versions[0].Lets {
		texts = append(texts, let.Clock.Text)
	}
	require.Equal(t, []string{"hour 8..17, 20, weekday mon..fri", "hour 8..17, 20", "weekday sat, hour 8..17, 20"}, texts)
}

func TestClockRefuses(t *testing.T) {
	f := func(clock, want, hint string) {
		t.Helper()
		_, err := LoadCard("c.yaml", []byte(replaced(clockCard, "CLOCK", clock)))
		var faults Faults
		require.ErrorAs(t, err, &faults)
		require.Equal(t, want+" | "+hint, faults[0].Error()+" | "+faults[0].Hint())
	}
	f("{}", "c.yaml:6:14: versions[0].let.night: names no hours", "write  {weekday: mon..fri, hour: 8..17}")
	f("{hours: 8}", `c.yaml:6:15: versions[0].let.night.hours: unknown key "hours"`, "did you mean hour?")
	f("{hour: 20..7}", "c.yaml:6:21: versions[0].let.night.hour: the range 20..7 is empty", "over midnight write [20..23, 0..7]")
	f("{weekday: monn}", `c.yaml:6:24: versions[0].let.night.weekday: "monn" is not a weekday`, "write mon, tue, wed, thu, fri, sat, sun, or mon..fri")
	f("[1, 2]", "c.yaml:6:14: versions[0].let.night: is not a single value", "write one value, not a list")
}

// What is known of a clock without a job: it is hours, of those that it ran.
func TestClockIsHours(t *testing.T) {
	f := func(charge, fault string) {
		t.Helper()
		text := replaced(replaced(clockCard, "CLOCK", "{hour: 0..7}"), "{rate: cpus, duration: elapsed_h - night/2}", charge)
		for _, billBy := range []string{"end", "usage"} {
			c, err := LoadCard("c.yaml", []byte(replaced(text, "currency: EUR", "currency: EUR\nbill_by: "+billBy)))
			if fault != "" {
				require.ErrorContains(t, err, fault)
				continue
			}
			require.NoError(t, err)
			require.Empty(t, c.Warnings)
		}
	}
	f("{rate: cpus, duration: elapsed_h - night/2}", "")
	f("{rate: cpus, duration: night}", "")
	f("{rate: cpus, duration: (elapsed_h - night) + night*0.25}", "")
	f("{rate: cpus, duration: 2*elapsed_h - 1/2*night - night}", "")
	f("{units: cpus*(elapsed_h + night)}", "")
	f("{units: cpus*(elapsed_h - night)}", "")
	f("cpus*night", "a rate is units an hour, and this has hours in it already")
	f("{rate: cpus, duration: night*cpus}", "is not a time")
}

func replaced(text, old, new string) string { return strings.Replace(text, old, new, 1) }

// More than the hours run cannot be taken off.
func TestClockBelowZero(t *testing.T) {
	for _, duration := range []string{"elapsed_h - night*2", "night - elapsed_h/2", "elapsed_h/2 - night"} {
		c, err := LoadCard("c.yaml", []byte(replaced(replaced(clockCard, "CLOCK", "{hour: 0..7}"), "elapsed_h - night/2", duration)))
		require.NoError(t, err)
		require.Len(t, c.Warnings, 1, duration)
		require.Contains(t, c.Warnings[0].Message, "can be below 0")
	}
}
