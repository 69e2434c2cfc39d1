package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const hourLayout = "JobIDRaw|JobID|Cluster|Account|State|Submit|Eligible|Start|End|ElapsedRaw|Suspended|AllocTRES"

// hourJob is a job around a change of the clocks.
type hourJob struct{ submit, eligible, start, end, suspended int64 }

func (j hourJob) row(id int, zone *time.Location) string {
	at := func(unix int64) string {
		if unix == 0 {
			return "Unknown"
		}
		return time.Unix(unix, 0).In(zone).Format("2006-01-02T15:04:05")
	}
	state, elapsed, tres := "COMPLETED", int64(0), "cpu=1,node=1"
	switch {
	case j.start != 0:
		elapsed = j.end - j.start - j.suspended
	case j.end != 0:
		state, tres = "CANCELLED", ""
	default:
		state, tres = "PENDING", ""
	}
	return fmt.Sprintf("%d|%d|c|a|%s|%s|%s|%s|%s|%d|00:%02d:%02d|%s", id, id, state,
		at(j.submit), at(j.eligible), at(j.start), at(j.end), elapsed, j.suspended/60, j.suspended%60, tres)
}

func drawHourJob(t *rapid.T, change int64) hourJob {
	span := func(most int64, name string) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	j := hourJob{submit: change - 7200 + span(4*3600, "submit")}
	j.eligible = j.submit
	if span(4, "delayed") == 0 {
		j.eligible += span(3600, "delay")
	}
	ends := j.eligible + span(span(7200, "most wait"), "wait")
	switch span(5, "kind") {
	case 0: // waits
	case 1: // was cancelled
		j.end = ends
	default:
		j.start = ends
		j.suspended = span(1, "suspended") * 300
		j.end = j.start + j.suspended + span(span(7200, "most run"), "run")
	}
	return j
}

// clockChanges are zones in which an hour, or half of one, comes twice, with
// the instant from which on it does so the second time.
var clockChanges = map[string]string{
	"America/New_York":    "2025-11-02T06:00:00Z",
	"Europe/Berlin":       "2025-10-26T01:00:00Z",
	"Australia/Sydney":    "2025-04-05T16:00:00Z",
	"Australia/Lord_Howe": "2025-04-05T15:00:00Z",
	"America/Santiago":    "2025-04-06T03:00:00Z",
	"America/Havana":      "2025-11-02T05:00:00Z",
}

// Whatever is decided is right, and what is not differs by the change alone.
// In the order of sacct more is decided than in any other.
func TestRepeatedHourIsNeverWrong(t *testing.T) {
	for name, at := range clockChanges {
		change, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		z := zone(t, name)
		_, before := change.Add(-time.Second).In(z).Zone()
		_, after := change.In(z).Zone()
		shift := Instant(before - after)
		require.Positive(t, shift, name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				var jobs []hourJob
				for range rapid.IntRange(1, 12).Draw(t, "jobs") {
					jobs = append(jobs, drawHourJob(t, change.Unix()))
				}
				slices.SortStableFunc(jobs, func(a, b hourJob) int { return int(a.submit - b.submit) })
				rows := []string{hourLayout}
				for i, j := range jobs {
					rows = append(rows, j.row(i+1, z))
				}
				sorted := checkHour(t, lines(rows...), z, jobs, shift)
				// In another order, which the first two records give away.
				rest := rapid.Permutation(rows[1:]).Draw(t, "order")
				early, late := hourJob{submit: change.Unix() - 86400}, hourJob{submit: change.Unix() + 86400}
				jobs = append(jobs, early, late)
				rows = append([]string{hourLayout, late.row(len(jobs), z), early.row(len(jobs)-1, z)}, rest...)
				if other := checkHour(t, lines(rows...), z, jobs, shift); other < sorted {
					t.Fatalf("%d open in another order, %d in sacct's", other, sorted)
				}
			})
		})
	}
}

// checkHour reads the dump of the jobs, whose ids are their places, and
// returns how many of them were left open.
func checkHour(t *rapid.T, text string, z *time.Location, jobs []hourJob, shift Instant) (open int) {
	read, report, err := read(text, Options{Zone: z})
	if err != nil || len(report.Quarantined) > 0 || len(read) != len(jobs) {
		t.Fatalf("%v %v", err, report.Quarantined)
	}
	for _, got := range read {
		j := jobs[got.JobIDRaw-1]
		flagged := got.Notes&NoteRepeatedHour != 0
		if flagged {
			open++
		}
		for i, pair := range [...][2]Instant{{Instant(j.submit), got.Submit}, {Instant(j.eligible), got.Eligible},
			{Instant(j.start), got.Start}, {Instant(j.end), got.End}} {
			d := pair[0] - pair[1]
			if d != 0 && (!flagged || max(d, -d) != shift) {
				t.Fatalf("job %d, time %d: %d where %d is due, flagged: %v\n%s", got.JobIDRaw, i, pair[1], pair[0], flagged, text)
			}
		}
		if got.Start != None && int64(got.End-got.Start) != j.end-j.start {
			t.Fatalf("job %d is of another length", got.JobIDRaw)
		}
	}
	return open
}

// What stands before and after a job says in which hour it was submitted.
func TestRepeatedHourByNeighbours(t *testing.T) {
	berlin := Options{Zone: zone(t, "Europe/Berlin")}
	row := func(id int, submit string) string {
		return fmt.Sprintf("%d|%d|c|a|CANCELLED|%s|Unknown|None|2025-10-26T05:00:00|0|00:00:00|", id, id, submit)
	}
	f := func(want string, submits ...string) {
		t.Helper()
		rows := []string{hourLayout}
		for i, s := range submits {
			rows = append(rows, row(i+1, "2025-10-26T"+s))
		}
		jobs, _ := mustRead(t, lines(rows...), berlin)
		var got []string
		for _, j := range jobs {
			s := time.Unix(int64(j.Submit), 0).UTC().Format("15:04")
			if j.Notes&NoteRepeatedHour != 0 {
				s += "?"
			}
			got = append(got, s)
		}
		require.Equal(t, want, strings.Join(got, " "))
	}
	f("00:30? 02:00", "02:30:00", "03:00:00")
	f("00:30 01:10 02:00", "02:30:00", "02:10:00", "03:00:00")                   // the clock falls once
	f("00:20 00:30 01:10 01:40", "02:20:00", "02:30:00", "02:10:00", "02:40:00") // and then no more
	f("00:30? 00:40? 02:00", "02:30:00", "02:40:00", "03:00:00")
	f("00:30? 00:30?", "02:30:00", "02:30:00")
	f("02:00 00:30? 00:10? 02:30", "03:00:00", "02:30:00", "02:10:00", "03:30:00") // another order says nothing
	f("00:30? 00:20? 00:10?", "02:30:00", "02:20:00", "02:10:00")
}

// Planned, or Reserved as it was called, is the time from Eligible to Start.
func TestRepeatedHourByPlanned(t *testing.T) {
	berlin := Options{Zone: zone(t, "Europe/Berlin")}
	f := func(want, header, planned string) {
		t.Helper()
		jobs, _ := mustRead(t, lines(hourLayout+"|"+header,
			"7|7|c|a|COMPLETED|2025-10-26T01:00:00|2025-10-26T01:30:00|2025-10-26T02:40:00|2025-10-26T02:50:00|600|00:00:00|cpu=1|"+planned), berlin)
		got := time.Unix(int64(jobs[0].Start), 0).UTC().Format("15:04")
		if jobs[0].Notes&NoteRepeatedHour != 0 {
			got += "?"
		}
		require.Equal(t, want, got)
	}
	f("00:40", "Planned", "01:10:00")
	f("01:40", "Planned", "02:10:00")
	f("01:40", "Reserved", "02:10:01")
	f("00:40?", "Planned", "")
	f("00:40?", "Planned", "00:00:00") // neither
}
