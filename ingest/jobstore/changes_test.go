package jobstore

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/ingest"
)

// What a dump repeats is no change of the month; what it adds, replaces or
// takes away is one, wherever the other jobs of the dump end.
func TestRecordSaysWhichMonthsChanged(t *testing.T) {
	t.Parallel()
	s := newStore(t, t.TempDir())
	ended := func(raw uint64, end ingest.Instant) ingest.Job {
		j := job(raw, end)
		j.Submit, j.Start = end-2*day, end-day
		return j
	}
	first := load(t, s, dump{"first", november + 10*day, []ingest.Job{ended(1, november+5*day), ended(2, november+6*day)}})
	changed := func(r Record, from, to ingest.Instant, ends, runs bool) {
		t.Helper()
		require.Equal(t, []bool{ends, runs}, []bool{r.ChangedEnds(from, to), r.ChangedRuns(from, to)}, "%+v", r.Changes)
	}
	changed(first, november, december, true, true)
	changed(first, november+4*day, november+5*day, false, true) // job 1 ran in that day
	changed(first, november+6*day+1, december, false, false)
	changed(first, november-day, november+4*day, false, false)

	// Repeats November and adds December.
	r := load(t, s, dump{"overlap", december + 3*day, []ingest.Job{ended(1, november+5*day), ended(2, november+6*day), ended(3, december+2*day)}})
	changed(r, november, december, false, false)
	changed(r, december, december+3*day, true, true)

	// Job 2 ended in December after all.
	r = load(t, s, dump{"moved", december + 4*day, []ingest.Job{func() ingest.Job {
		j := ended(2, november+6*day)
		j.End = december + 3*day
		return j
	}()}})
	require.EqualValues(t, 1, r.Revised)
	changed(r, november+6*day, november+6*day+1, true, true)
	changed(r, november, november+5*day, false, false)
	changed(r, december+3*day, december+3*day+1, true, true)

	// A job that runs has no end yet, and one that waits has not begun.
	r = load(t, s, dump{"running", december + 5*day, []ingest.Job{running(4, december+4*day+3600, december+5*day)}})
	changed(r, november, december+4*day, false, false)
	changed(r, december+4*day, december+20*day, false, true)

	// It ends: the record of its run goes.
	r = load(t, s, dump{"ended", december + 7*day, []ingest.Job{func() ingest.Job {
		j := running(4, december+4*day+3600, december+5*day)
		j.State, j.End, j.ElapsedSeconds = "COMPLETED", december+6*day, int64(2*day)
		return j
	}()}})
	changed(r, december+6*day, december+7*day, true, true)
	changed(r, december, december+4*day, false, false)

	// What is repeated once more changes nothing at all.
	r = load(t, s, dump{"again", december + 8*day, []ingest.Job{ended(1, november+5*day)}})
	require.Equal(t, []Change{}, r.Changes)

	// Of a record from before there were changes, the ends of the dump count.
	old := Record{New: 1, FirstEnd: november, LastEnd: november + day}
	changed(old, november+day, december, true, true)
	changed(old, november-day, november, false, false)
	old.New = 0
	changed(old, november+day, december, false, false)
}

// Whatever a dump does to the dataset, its record bounds it.
func TestEveryChangeIsInTheRecord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "jobstore")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		s := newStore(t, dir)
		s.partRows = rapid.SampledFrom([]int{1, 2, 3, 1000}).Draw(t, "rows of a part")
		s.sync = func(*os.File) error { return nil }
		records := rapid.SliceOfN(rapid.Custom(drawJob), 1, 8).Draw(t, "records")
		before := map[string]ingest.Job{}
		for i := range rapid.IntRange(1, 4).Draw(t, "dumps") {
			d := dump{name: string(rune('a' + i)), at: november + ingest.Instant(rapid.IntRange(0, 2).Draw(t, "at"))*day}
			d.jobs = rapid.SliceOfN(rapid.SampledFrom(records), 1, 8).Draw(t, "jobs")
			r := load(t, s, d)
			after := map[string]ingest.Job{}
			for _, j := range all(t, s) {
				after[recorded(j)] = j
			}
			requireChanges(t, &r, before, after)
			requireChanges(t, &r, after, before)
			before = after
		}
	})
}

// recorded is all that a record says of its job.
func recorded(j ingest.Job) string {
	j.Source = ingest.Source{}
	return fmt.Sprintf("%+v", j)
}

// requireChanges asks a record about the jobs that are not among the others.
func requireChanges(t require.TestingT, r *Record, jobs, others map[string]ingest.Job) {
	for text, j := range jobs {
		if _, same := others[text]; same {
			continue
		}
		if j.Final() {
			require.True(t, r.ChangedEnds(j.End, j.End+1), "%s: %+v", text, r.Changes)
			require.True(t, r.ChangedRuns(j.End, j.End+1), "%s: %+v", text, r.Changes)
		}
		if j.Ran() {
			require.True(t, r.ChangedRuns(j.Start, j.Start+1), "%s: %+v", text, r.Changes)
		}
	}
}
