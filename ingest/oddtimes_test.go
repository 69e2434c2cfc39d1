package ingest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestC32NeverStarted(t *testing.T) {
	for _, start := range []string{"Unknown", "None", "N/A", "", "0", "1970-01-01T01:00:00"} {
		j := oneA(t, "State=CANCELLED by 1001", "Start="+start, "ElapsedRaw=0", "AllocTRES=")
		require.False(t, j.Ran(), start)
		require.Zero(t, j.ElapsedSeconds)
		require.Zero(t, j.CPUs)
		require.Equal(t, "1001", j.CancelledBy)
	}
	badA(t, "no start, but 3600 seconds elapsed", "Start=Unknown")
}

func TestC34EndBeforeStart(t *testing.T) {
	j := oneA(t, "Start=2025-03-03T10:00:00", "End=2025-03-03T09:59:30", "ElapsedRaw=0")
	require.Zero(t, j.ElapsedSeconds)
	require.Equal(t, NoteElapsedDisagrees, j.Notes)
	badA(t, `ElapsedRaw: "-1"`, "ElapsedRaw=-1")
	badA(t, "ElapsedRaw", "ElapsedRaw=4294967294")
	badA(t, "the job ran, but the cell is empty", "ElapsedRaw=")
}

func TestC35Suspended(t *testing.T) {
	j := oneA(t, "Start=2025-03-03T09:00:00", "End=2025-03-03T19:00:00", "ElapsedRaw=28800", "Suspended=02:00:00")
	require.Equal(t, int64(28800), j.ElapsedSeconds)
	require.Equal(t, int64(7200), j.SuspendedSeconds)
	require.Zero(t, j.Notes)
	j = oneA(t, "End=2025-03-03T10:00:02")
	require.Equal(t, int64(3600), j.ElapsedSeconds)
	require.Equal(t, NoteElapsedDisagrees, j.Notes)
	require.Zero(t, oneA(t, "End=2025-03-03T10:00:01").Notes)
	badA(t, "Suspended", "Suspended=soon")
}

func TestC40RepeatedHour(t *testing.T) {
	submit := "Submit=2025-10-26T01:00:00"
	j := oneA(t, submit, "Start=2025-10-26T02:30:00", "End=2025-10-26T02:45:00", "ElapsedRaw=4500")
	require.Equal(t, Instant(1761438600), j.Start) // 00:30 UTC
	require.Equal(t, Instant(1761443100), j.End)   // 01:45 UTC
	require.Zero(t, j.Notes)
	j = oneA(t, submit, "Start=2025-10-26T02:45:00", "End=2025-10-26T02:15:00", "ElapsedRaw=1800")
	require.Equal(t, Instant(1761439500), j.Start) // 00:45 UTC
	require.Equal(t, Instant(1761441300), j.End)   // 01:15 UTC
	j = oneA(t, submit, "Start=2025-10-26T02:30:00", "End=2025-10-26T02:10:00", "ElapsedRaw=1200", "Suspended=00:20:00")
	require.Equal(t, int64(2400), int64(j.End-j.Start))
	j = oneA(t, submit, "Start=2025-10-26T02:30:00", "End=2025-10-26T02:40:00", "ElapsedRaw=600")
	require.Equal(t, NoteRepeatedHour, j.Notes) // either hour
	require.Equal(t, int64(600), int64(j.End-j.Start))
	badA(t, "no time of this zone", "Start=2025-03-30T02:30:00")
	_, report := mustRead(t, lines("JobID|Cluster|Account|State|Start|End|AllocTRES", "1|c|a|COMPLETED|2025-10-26T02:30:00|2025-10-26T02:40:00|cpu=1"), Options{Zone: zone(t, "Europe/Berlin")})
	require.Contains(t, report.Quarantined[0].Reason, "clock change leaves open")
}

func TestC41MixedTimes(t *testing.T) {
	berlin := Options{Zone: zone(t, "Europe/Berlin")}
	jobs, report := mustRead(t, lines(layoutA, rowA(), rowA("Submit=2025-03-03T08:00:00+0100", "Start=1740988800", "End=2025-03-03T09:00:00Z")), berlin)
	require.Equal(t, jobs[0].Start, jobs[1].Start)
	require.Equal(t, jobs[0].End, jobs[1].End)
	require.Equal(t, WarnMixedTimes, report.Warnings[0].Kind)
}

func TestC43ElapsedDisagrees(t *testing.T) {
	const layout = "JobID|Cluster|Account|State|Submit|Start|End|ElapsedRaw|Elapsed|AllocTRES"
	const head = "1|c|a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|"
	jobs, _ := mustRead(t, lines(layout, head+"3600|01:00:00|cpu=4", head+"3600|02:00:00|cpu=4"), Options{})
	require.Zero(t, jobs[0].Notes)
	require.Equal(t, int64(3600), jobs[1].ElapsedSeconds)
	require.Equal(t, NoteElapsedDisagrees, jobs[1].Notes)
	for _, elapsed := range []string{"-16", "2982616-04:14:00", "00:54:74", "00:24.041", "soon"} {
		_, report := mustRead(t, lines(strings.ReplaceAll(layout, "ElapsedRaw", "Comment"), head+"|"+elapsed+"|cpu=4"), Options{})
		require.Len(t, report.Quarantined, 1, elapsed)
	}
}

// The parts of a resized job as a Slurm of version 22.05 printed them, after
// the time limit was changed: the second has the start of the first. Nodes 3
// for 3 s, then 2 for the 10 s from the resize on.
func TestResizedPartWithTheStartOfTheJob(t *testing.T) {
	jobs, report := mustRead(t, lines(layoutA,
		rowA("State=RESIZING", "Submit=2026-11-30T11:43:04", "Start=2026-11-30T11:43:05", "End=2026-11-30T11:43:08", "ElapsedRaw=3", "NCPUS=144", "AllocTRES=cpu=144"),
		rowA("State=CANCELLED by 0", "Submit=2026-11-30T11:43:08", "Start=2026-11-30T11:43:05", "End=2026-11-30T11:43:18", "ElapsedRaw=13", "NCPUS=96", "AllocTRES=cpu=96")), Options{})
	require.Equal(t, int64(3), jobs[0].ElapsedSeconds)
	require.Zero(t, jobs[0].Notes)
	require.Equal(t, jobs[0].End, jobs[1].Start)
	require.Equal(t, int64(10), jobs[1].ElapsedSeconds)
	require.Equal(t, NoteResizedStart, jobs[1].Notes)
	require.Equal(t, WarnResizedStart, report.Warnings[0].Kind)

	f := func(elapsed int64, changes ...string) {
		t.Helper()
		j := oneA(t, append([]string{"Submit=2025-03-03T09:20:00"}, changes...)...)
		require.Equal(t, elapsed, j.ElapsedSeconds)
		require.Equal(t, j.Submit, j.Start)
		require.NotZero(t, j.Notes&NoteResizedStart)
	}
	f(2400) // from 09:00 as printed, to 10:00
	f(1800, "ElapsedRaw=3000", "Suspended=00:10:00")
	f(600, "State=RUNNING", "End=Unknown", "ElapsedRaw=1800")
	f(0, "State=RUNNING", "End=Unknown", "ElapsedRaw=60")
	f(0, "Submit=2025-03-03T10:00:00") // ended when it was resized

	badA(t, "ended before it was submitted", "Submit=2025-03-03T10:00:01")
	j := oneA(t, "Submit=2025-03-03T09:20:00", "ElapsedRaw=100")
	require.Equal(t, NoteElapsedDisagrees, j.Notes)
	require.Equal(t, int64(100), j.ElapsedSeconds)
}

// The same without Submit: the end of the part before tells where it begins.
func TestResizedPartWithoutSubmit(t *testing.T) {
	layout := strings.Replace(layoutA, "|Submit", "", 1)
	row := func(changes ...string) string {
		return strings.Replace(rowA(append(changes, "Submit=SUBMIT")...), "|SUBMIT", "", 1)
	}
	jobs, report := mustRead(t, lines(layout,
		row("JobIDRaw=7", "State=RESIZING", "Start=2026-11-30T11:43:05", "End=2026-11-30T11:43:08", "ElapsedRaw=3"),
		row("JobIDRaw=8", "Start=2026-11-30T11:43:05", "End=2026-11-30T11:43:18", "ElapsedRaw=13"),
		row("JobIDRaw=7", "State=RESIZING", "Start=2026-11-30T11:43:05", "End=2026-11-30T11:43:18", "ElapsedRaw=13"),
		row("JobIDRaw=7", "State=RUNNING", "Start=2026-11-30T11:43:05", "End=Unknown", "ElapsedRaw=20"),
		row("JobIDRaw=7", "Start=2026-12-30T11:43:05", "End=2026-12-30T11:43:18", "ElapsedRaw=13")), Options{})
	require.Empty(t, report.Quarantined)
	for i, want := range []int64{3, 13, 10, 7, 13} {
		require.Equal(t, want, jobs[i].ElapsedSeconds, i)
		require.Equal(t, i == 2 || i == 3, jobs[i].Notes&NoteResizedStart != 0, i)
	}
	require.Equal(t, []Instant{jobs[0].End, jobs[2].End}, []Instant{jobs[2].Start, jobs[3].Start})
	require.Equal(t, jobs[2].Submit, jobs[2].Start)
}

// Clocks that change by half an hour, at midnight, or by a day.
func TestOddClocks(t *testing.T) {
	f := func(name, submit, start, end, elapsed, startUTC, endUTC string) {
		t.Helper()
		jobs, report := mustRead(t, lines(layoutA, rowA("Submit="+submit, "Start="+start, "End="+end, "ElapsedRaw="+elapsed)), Options{Zone: zone(t, name)})
		require.Empty(t, report.Quarantined)
		utc := func(i Instant) string { return time.Unix(int64(i), 0).UTC().Format("01-02T15:04") }
		require.Equal(t, [2]string{startUTC, endUTC}, [2]string{utc(jobs[0].Start), utc(jobs[0].End)})
		require.Zero(t, jobs[0].Notes)
	}
	bad := func(name, start string) {
		t.Helper()
		_, report := mustRead(t, lines(layoutA, rowA("Start="+start)), Options{Zone: zone(t, name)})
		require.Contains(t, report.Quarantined[0].Reason, "no time of this zone")
	}
	f("Australia/Lord_Howe", "2025-04-06T01:00:00", "2025-04-06T01:40:00", "2025-04-06T01:50:00", "2400", "04-05T14:40", "04-05T15:20")
	f("America/Havana", "2025-11-01T23:00:00", "2025-11-02T00:30:00", "2025-11-02T00:15:00", "2700", "11-02T04:30", "11-02T05:15")
	f("Asia/Beirut", "2024-10-26T22:00:00", "2024-10-26T23:30:00", "2024-10-27T00:30:00", "7200", "10-26T20:30", "10-26T22:30")
	f("Pacific/Apia", "2011-12-29T22:00:00", "2011-12-29T23:00:00", "2011-12-31T01:00:00", "7200", "12-30T09:00", "12-30T11:00")
	f("America/Caracas", "2016-05-01T02:00:00", "2016-05-01T02:10:00", "2016-05-01T03:30:00", "3000", "05-01T06:40", "05-01T07:30")
	f("Europe/Moscow", "2014-10-26T00:30:00", "2014-10-26T01:10:00", "2014-10-26T01:20:00", "4200", "10-25T21:10", "10-25T22:20")
	bad("Australia/Lord_Howe", "2025-10-05T02:10:00")
	bad("Asia/Beirut", "2024-03-31T00:30:00")
	bad("Pacific/Apia", "2011-12-30T12:00:00")
}

// SLURM_TIME_FORMAT in forms that are not read: each is refused for what it is.
func TestTimeFormats(t *testing.T) {
	for _, start := range []string{"2025-03-03T09:00", "Ystday 09:00", "09:00:00", "03.03.2025 09:00:00", "Mon Mar  3 09:00:00 2025",
		"20250303", "202503030900", "20250303090000", "1740988800000", "2025-03-03T09:00:00.5", "1970-08-23T09:00:00", "9999-12-31T23:59:59"} {
		q := badA(t, "Start", "Start="+start)
		require.Contains(t, q.Hint, "SLURM_TIME_FORMAT", start)
	}
}

func TestC47LeapSecond(t *testing.T) {
	jobs, report := mustRead(t, lines(layoutA, rowA("Submit=2016-12-31T22:00:00", "Start=2016-12-31T23:00:00", "End=2017-01-01T01:00:00", "ElapsedRaw=7200"),
		rowA("Submit=2016-12-31T22:00:00", "Start=2016-12-31T23:00:00", "End=2016-12-31T23:59:60", "ElapsedRaw=3600")), Options{})
	require.Equal(t, int64(7200), int64(jobs[0].End-jobs[0].Start))
	require.Equal(t, int64(3600), int64(jobs[1].End-jobs[1].Start))
	require.Equal(t, NoteLeapSecond, jobs[1].Notes)
	require.Equal(t, WarnLeapSecond, report.Warnings[0].Kind)
}
