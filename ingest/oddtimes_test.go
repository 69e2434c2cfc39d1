package ingest

import (
	"strings"
	"testing"

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

func TestC47LeapSecond(t *testing.T) {
	jobs, report := mustRead(t, lines(layoutA, rowA("Submit=2016-12-31T22:00:00", "Start=2016-12-31T23:00:00", "End=2017-01-01T01:00:00", "ElapsedRaw=7200"),
		rowA("Submit=2016-12-31T22:00:00", "Start=2016-12-31T23:00:00", "End=2016-12-31T23:59:60", "ElapsedRaw=3600")), Options{})
	require.Equal(t, int64(7200), int64(jobs[0].End-jobs[0].Start))
	require.Equal(t, int64(3600), int64(jobs[1].End-jobs[1].Start))
	require.Equal(t, NoteLeapSecond, jobs[1].Notes)
	require.Equal(t, WarnLeapSecond, report.Warnings[0].Kind)
}
