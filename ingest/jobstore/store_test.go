package jobstore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
)

// Instants of the tests: 1 November 2025, 00:00 UTC, and days after it.
const (
	november = ingest.Instant(1761955200)
	day      = ingest.Instant(86400)
	december = november + 30*day
)

// job is a job that ran for an hour and ended at end.
func job(raw uint64, end ingest.Instant) ingest.Job {
	return ingest.Job{
		Cluster: "lab", JobID: fmt.Sprint(raw), JobIDRaw: raw, DBIndex: raw + 7,
		User: "u1", Account: "bio", Partition: "smp", QoS: "normal", Name: "a|b", State: ingest.Completed,
		Submit: end - 7200, Eligible: end - 7200, Start: end - 3600, End: end,
		ElapsedSeconds: 3600, TimelimitSeconds: ingest.NoLimit,
		NodeCount: 1, CPUs: 4, MemoryMiB: 16384, GPUs: 0, Billing: 4,
		ReqNodeCount: 1, ReqCPUs: 4, ReqMemoryMiB: ingest.Unknown, ReqGPUs: 0,
		AllocTRES: "billing=4,cpu=4,mem=16G,node=1", ReqTRES: "cpu=4", NodeList: "cpu1",
	}
}

// running is the same job while it ran, seen at that instant.
func running(raw uint64, end, seen ingest.Instant) ingest.Job {
	j := job(raw, end)
	j.State, j.End, j.ElapsedSeconds = ingest.Running, ingest.None, int64(seen-j.Start)
	return j
}

// dump is a dump of the tests: its jobs and the time it was made.
type dump struct {
	name string
	at   ingest.Instant
	jobs []ingest.Job
}

func (d dump) digest() string {
	h := sha256.Sum256([]byte(fmt.Sprintf("%s %d %v", d.name, d.at, plain(d.jobs))))
	return hex.EncodeToString(h[:])
}

// load takes a dump in, in batches of a few jobs.
func load(t require.TestingT, s *Store, d dump) Record {
	g, err := s.Begin()
	require.NoError(t, err)
	for i := range d.jobs {
		d.jobs[i].Source = ingest.Source{File: d.name, Line: int64(i + 2)}
	}
	for jobs := d.jobs; len(jobs) > 0; {
		n := min(3, len(jobs))
		require.NoError(t, g.Add(jobs[:n]))
		jobs = jobs[n:]
	}
	r, err := g.Commit(Dump{File: d.name, Digest: d.digest(), Bytes: 100, Newest: d.at, Records: int64(len(d.jobs)),
		Format: "test", Zone: "UTC", IngestedAt: time.Unix(int64(d.at), 0).UTC()})
	require.NoError(t, err)
	require.EqualValues(t, len(d.jobs), r.Jobs)
	return r
}

func newStore(t require.TestingT, dir string) *Store {
	s, err := Open(filepath.Join(dir, "jobs"))
	require.NoError(t, err)
	return s
}

// all reads every job: those that ended, then the others.
func all(t require.TestingT, s *Store) []ingest.Job {
	var jobs []ingest.Job
	for _, q := range []Query{{}, {Unfinished: true}} {
		for batch, err := range s.Select(q) {
			require.NoError(t, err)
			jobs = append(jobs, batch...)
		}
	}
	return jobs
}

// plain takes the source out of jobs, for comparisons of what was said.
func plain(jobs []ingest.Job) []ingest.Job {
	out := make([]ingest.Job, len(jobs))
	for i, j := range jobs {
		j.Source = ingest.Source{}
		out[i] = j
	}
	return out
}

func counts(r Record) string {
	return fmt.Sprintf("new %d revised %d unchanged %d superseded %d", r.New, r.Revised, r.Unchanged, r.Superseded)
}

func TestRoundTripOfEveryField(t *testing.T) {
	s := newStore(t, t.TempDir())
	full := ingest.Job{
		Cluster: "c/../1", JobID: "903_7", JobIDRaw: 910, DBIndex: 14147616068585127941,
		User: "10042", Account: "acc", Partition: "p", QoS: "q", WCKey: "w", Reservation: "r", Name: "=cmd()\x00\n\ufffd",
		State: ingest.Cancelled, CancelledBy: "1042",
		Submit: november, Eligible: november + 1, Start: november + 2, End: november + 100,
		ElapsedSeconds: 90, SuspendedSeconds: 8, TimelimitSeconds: 86400,
		NodeCount: 2, CPUs: 3, MemoryMiB: 4, GPUs: 5, Billing: 6,
		ReqNodeCount: 7, ReqCPUs: 8, ReqMemoryMiB: 9, ReqGPUs: 10,
		AllocTRES: "cpu=3", ReqTRES: "cpu=8", NodeList: "n[1-2]", Notes: ingest.NoteReanchored | ingest.NoteRunaway,
	}
	unknown := ingest.Job{
		Cluster: "c/../1", JobID: "911", JobIDRaw: 911, State: ingest.Pending, Submit: november,
		TimelimitSeconds: ingest.Unknown, NodeCount: ingest.Unknown, CPUs: ingest.Unknown, MemoryMiB: ingest.Unknown,
		GPUs: ingest.Unknown, Billing: ingest.Unknown, ReqNodeCount: ingest.Unknown, ReqCPUs: ingest.Unknown,
		ReqMemoryMiB: ingest.Unknown, ReqGPUs: ingest.Unknown,
	}
	d := dump{"dump.txt", november + day, []ingest.Job{full, unknown}}
	r := load(t, s, d)
	require.Equal(t, "new 2 revised 0 unchanged 0 superseded 0", counts(r))
	require.Equal(t, []string{"c/../1"}, r.Clusters)
	full.Source = ingest.Source{File: "dump.txt", Digest: d.digest(), Line: 2}
	unknown.Source = ingest.Source{File: "dump.txt", Digest: d.digest(), Line: 3}
	require.Equal(t, []ingest.Job{full, unknown}, all(t, s))
	paths, err := filepath.Glob(filepath.Join(s.dir, "cluster=c%2F..%2F1", "month=*", "*.parquet"))
	require.NoError(t, err)
	require.Len(t, paths, 2)
}

func TestJobsAreOrderedAndBounded(t *testing.T) {
	s := newStore(t, t.TempDir())
	load(t, s, dump{"a", december, []ingest.Job{
		job(5, november+day), job(4, november+day), job(3, november), job(2, december), job(1, november-1), job(9, december-1),
	}})
	load(t, s, dump{"b", december, []ingest.Job{job(7, november+day), job(6, november+2*day)}})
	var raws []uint64
	for batch, err := range s.Jobs(november, december) {
		require.NoError(t, err)
		for _, j := range batch {
			raws = append(raws, j.JobIDRaw)
		}
	}
	require.Equal(t, []uint64{3, 4, 5, 7, 6, 9}, raws)
}

func TestARunningJobIsReplacedByItsEnd(t *testing.T) {
	for _, order := range []string{"abc", "acb", "bac", "bca", "cab", "cba"} {
		s := newStore(t, t.TempDir())
		dumps := map[byte]dump{
			'a': {"a", november, []ingest.Job{running(1, november+day, november)}},
			'b': {"b", november + 1000, []ingest.Job{running(1, november+day, november+1000)}},
			'c': {"c", december, []ingest.Job{job(1, november+day)}},
		}
		for i := range order {
			load(t, s, dumps[order[i]])
		}
		require.Equal(t, []ingest.Job{job(1, november+day)}, plain(all(t, s)), order)
	}
}

func TestTheSameDumpTwiceChangesNothing(t *testing.T) {
	s := newStore(t, t.TempDir())
	d := dump{"a", december, []ingest.Job{job(1, november), job(2, november), running(3, december, november)}}
	require.Equal(t, "new 3 revised 0 unchanged 0 superseded 0", counts(load(t, s, d)))
	before := all(t, s)
	has, err := s.Has(d.digest())
	require.NoError(t, err)
	require.True(t, has)
	require.Equal(t, "new 0 revised 0 unchanged 3 superseded 0", counts(load(t, s, d)))
	require.Equal(t, before, all(t, s))
	// An overlapping one, with a line twice.
	d.jobs = append([]ingest.Job{job(2, november), job(8, november)}, job(8, november))
	require.Equal(t, "new 1 revised 0 unchanged 1 superseded 1", counts(load(t, s, d)))
	records, err := s.Ingests()
	require.NoError(t, err)
	require.Len(t, records, 3)
	require.Equal(t, 2, records[1].Sequence)
}

func TestNothingIsSeenBeforeCommit(t *testing.T) {
	s := newStore(t, t.TempDir())
	load(t, s, dump{"a", december, []ingest.Job{job(1, november)}})
	g, err := s.Begin()
	require.NoError(t, err)
	require.NoError(t, g.Add([]ingest.Job{job(2, november)}))
	_, err = s.Begin()
	require.ErrorIs(t, err, ErrBusy)
	require.Len(t, all(t, s), 1)
	g.Abort()
	require.Len(t, all(t, s), 1)
	require.ErrorIs(t, g.Add(nil), ErrEnded)
	_, err = os.Stat(filepath.Join(s.dir, temporaryDir))
	require.ErrorIs(t, err, os.ErrNotExist)
	load(t, s, dump{"b", december, []ingest.Job{job(3, november)}})
	require.Len(t, all(t, s), 2)
}

func TestOpeningAStoreThatIsNotThereWritesNothing(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, dir)
	require.Empty(t, all(t, s))
	records, err := s.Ingests()
	require.NoError(t, err)
	require.Empty(t, records)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestFind(t *testing.T) {
	s := newStore(t, t.TempDir())
	task := job(950, november+10)
	task.JobID = "903_7"
	rerun := job(950, november+9000)
	rerun.JobID, rerun.DBIndex = "903_7", 99
	load(t, s, dump{"a", december, []ingest.Job{job(903, november), task, rerun, job(951, november)}})
	for _, c := range []struct {
		id   string
		want int
	}{{"903", 1}, {"903_7", 2}, {"950", 2}, {"951", 1}, {"952", 0}, {"903_8", 0}} {
		found, err := s.Find("lab", c.id)
		require.NoError(t, err)
		require.Len(t, found, c.want, c.id)
	}
	found, err := s.Find("lab", "903_7")
	require.NoError(t, err)
	require.Equal(t, []ingest.Job{task, rerun}, plain(found))
	found, err = s.Find("other", "903")
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = s.Find("lab", "_7")
	require.ErrorContains(t, err, "is not a job id")
}

func TestQuarantineIsSettledByAMendedDumpOfTheSameName(t *testing.T) {
	s := newStore(t, t.TempDir())
	add := func(name string, bad ...string) {
		g, err := s.Begin()
		require.NoError(t, err)
		var list []ingest.Quarantined
		for i, text := range bad {
			list = append(list, ingest.Quarantined{Source: ingest.Source{File: name, Line: int64(i)}, Reason: "End: no date", Text: text, End: november})
		}
		_, err = g.Commit(Dump{File: name, Digest: strings.Repeat(fmt.Sprint(len(bad)), 64), Records: int64(len(bad)), Quarantined: list})
		require.NoError(t, err)
	}
	texts := func() (list []string) {
		for q, err := range s.Quarantined() {
			require.NoError(t, err)
			list = append(list, q.Ingest.File+" "+q.Text)
		}
		return list
	}
	add("a", "x", "y")
	add("b", "z")
	add("-", "in")
	require.Equal(t, []string{"a x", "a y", "b z", "- in"}, texts())
	add("a")
	add("-")
	require.Equal(t, []string{"b z", "- in"}, texts())
}

// One name for the dumps of all days: that of the next day settles nothing.
func TestQuarantineOutlivesTheDumpOfAnotherDay(t *testing.T) {
	s := newStore(t, t.TempDir())
	add := func(digest string, bad int, jobs ...ingest.Job) {
		g, err := s.Begin()
		require.NoError(t, err)
		require.NoError(t, g.Add(jobs))
		list := make([]ingest.Quarantined, bad)
		_, err = g.Commit(Dump{File: "today.txt", Digest: strings.Repeat(digest, 64), Records: int64(bad + len(jobs)), Quarantined: list})
		require.NoError(t, err)
	}
	open := func() (n int) {
		for _, err := range s.Quarantined() {
			require.NoError(t, err)
			n++
		}
		return n
	}
	add("1", 1, job(1, november), job(2, november+3600))
	add("2", 0, job(3, november+day))
	require.Equal(t, 1, open())
	add("3", 2, job(4, november+2*day), job(5, november+2*day+60))
	require.Equal(t, 3, open())
	add("4", 0, job(1, november), job(2, november+3600), job(6, november+60)) // the first day again
	require.Equal(t, 2, open())
	add("5", 0, job(1, november), job(4, november+2*day), job(5, november+2*day+60))
	require.Zero(t, open())
}

func TestDamageIsAnError(t *testing.T) {
	s := newStore(t, t.TempDir())
	load(t, s, dump{"a", december, []ingest.Job{job(1, november), job(2, november)}})
	paths, err := filepath.Glob(filepath.Join(s.dir, "cluster=lab", "month=2025-11", "*.parquet"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	whole, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	read := func() error {
		for _, err := range s.Jobs(november, december) {
			return err
		}
		return nil
	}
	require.NoError(t, read())
	require.NoError(t, os.WriteFile(paths[0], whole[:len(whole)/2], 0o644))
	require.ErrorContains(t, read(), "damaged or cut off")
	require.NoError(t, os.Remove(paths[0]))
	require.ErrorContains(t, read(), "the file is gone")
	require.NoError(t, os.WriteFile(paths[0], whole, 0o644))
	require.NoError(t, read())
	stray := filepath.Join(filepath.Dir(paths[0]), "copy.parquet")
	require.NoError(t, os.WriteFile(stray, whole, 0o644))
	_, err = s.Begin()
	require.ErrorContains(t, err, "copy.parquet: not a file of this dataset")
}

func TestMonthsAndSuperseded(t *testing.T) {
	s := newStore(t, t.TempDir())
	before := job(1, november+day)
	before.Account = "chem"
	load(t, s, dump{"a", november + 2*day, []ingest.Job{before, job(2, november+3*day), running(3, december, november+day)}})
	require.Equal(t, "new 1 revised 1 unchanged 0 superseded 0",
		counts(load(t, s, dump{"b", december, []ingest.Job{job(1, november+day), job(4, december)}})))
	months, err := s.Months()
	require.NoError(t, err)
	for i := range months {
		require.NotZero(t, months[i].Bytes)
		months[i].Bytes = 0
	}
	require.Equal(t, []Month{
		{"lab", "2025-11", 2, 2, 0, november + day, november + 3*day},
		{"lab", "2025-12", 1, 1, 0, december, december},
		{"lab", "open", 1, 1, 0, 0, 0},
	}, months)
	old, err := s.Superseded("lab", "1")
	require.NoError(t, err)
	require.Equal(t, []ingest.Job{before}, plain(old))
	found, err := s.Find("lab", "1")
	require.NoError(t, err)
	require.Equal(t, []ingest.Job{job(1, november+day)}, plain(found))
}

func TestOverlapping(t *testing.T) {
	s := newStore(t, t.TempDir())
	at := func(raw uint64, start, end ingest.Instant) ingest.Job {
		j := job(raw, end)
		j.Start, j.ElapsedSeconds = start, int64(end-start)
		return j
	}
	queued := at(8, 0, november+day)
	queued.State = ingest.Cancelled
	load(t, s, dump{"a", december, []ingest.Job{
		at(1, november-day, november),       // ended as the month began
		at(2, november-day, november+1),     // a second of it is in the month
		at(3, november+day, november+2*day), // all of it
		at(4, december-1, december+40*day),  // begins in it and ends long after
		at(5, december, december+1),         // begins as the month ends
		at(6, november-day, december+day),   // around it
		at(7, november, november),           // no length
		queued,
		running(9, december, november),
	}})
	var raws []uint64
	for batch, err := range s.Overlapping(november, december) {
		require.NoError(t, err)
		for _, j := range batch {
			raws = append(raws, j.JobIDRaw)
		}
	}
	require.Equal(t, []uint64{7, 2, 8, 3, 6, 4}, raws)
}

func TestOnlyTheColumnsAskedFor(t *testing.T) {
	s := newStore(t, t.TempDir())
	load(t, s, dump{"a", december, []ingest.Job{job(1, november)}})
	for batch, err := range s.Select(Query{Columns: []string{"account", "cpus"}}) {
		require.NoError(t, err)
		full := job(1, november)
		require.Equal(t, []ingest.Job{{Cluster: "lab", JobIDRaw: 1, DBIndex: full.DBIndex, Account: "bio", CPUs: 4,
			Submit: full.Submit, Start: full.Start, End: full.End}}, batch)
	}
	for _, err := range s.Select(Query{Columns: []string{"acount"}}) {
		require.EqualError(t, err, `read jobs: no column "acount"`)
	}
}

func TestHostileClusterNames(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, dir)
	names := []string{"", ".", "..", "../../etc", "a b", "a/b", "a%2Fb", "x=y", "ö", "A\x00B", "__HIVE_DEFAULT_PARTITION__"}
	var jobs []ingest.Job
	for i, name := range names {
		j := job(uint64(i), november)
		j.Cluster = name
		jobs = append(jobs, j)
	}
	load(t, s, dump{"a", december, jobs})
	for i, name := range names {
		found, err := s.Find(name, fmt.Sprint(i))
		require.NoError(t, err)
		require.Equal(t, plain(jobs[i:i+1]), plain(found), "%q", name)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	g, err := s.Begin()
	require.NoError(t, err)
	j := job(1, november)
	j.Cluster = strings.Repeat("c", 300)
	require.NoError(t, g.Add([]ingest.Job{j}))
	_, err = g.Commit(Dump{File: "long", Digest: "d", Records: 1})
	require.ErrorContains(t, err, "too long for a directory")
	require.Len(t, all(t, s), len(names))
	g, err = s.Begin()
	require.NoError(t, err)
	j.Cluster = "a\xff"
	require.NoError(t, g.Add([]ingest.Job{j}))
	_, err = g.Commit(Dump{File: "odd", Digest: "d", Records: 1})
	require.ErrorContains(t, err, "not UTF-8")
}

func TestReadersSeeOneState(t *testing.T) {
	dir := t.TempDir()
	writer, reader := newStore(t, dir), newStore(t, dir)
	writer.sync = func(*os.File) error { return nil }
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 20 { // each brings ten jobs, and ends the ten running ones of the dump before
			d := dump{fmt.Sprint(n), november + ingest.Instant(n+1)*day, nil}
			for i := range 10 {
				raw := uint64(10*n + i)
				d.jobs = append(d.jobs, running(raw, november+ingest.Instant(n)*day, november+ingest.Instant(n)*day-60))
				if n > 0 {
					d.jobs = append(d.jobs, job(raw-10, november+ingest.Instant(n-1)*day))
				}
			}
			load(t, writer, d)
			if n%5 == 4 {
				assertNil(t, writer.Compact())
			}
		}
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		seen := map[uint64]bool{}
		for batch, err := range reader.Jobs(0, 0) {
			require.NoError(t, err)
			for _, j := range batch {
				require.False(t, seen[j.JobIDRaw], "a job twice")
				seen[j.JobIDRaw] = true
			}
		}
		require.Zero(t, len(seen)%10, "half an ingest")
	}
	require.Len(t, all(t, reader), 200)
}

func assertNil(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

func TestManySmallFilesAreMerged(t *testing.T) {
	s := newStore(t, t.TempDir())
	s.sync = func(*os.File) error { return nil }
	for n := range mostFragments {
		require.NoError(t, s.CompactFragmented())
		fragments, err := s.Fragments()
		require.NoError(t, err)
		require.Equal(t, n, fragments)
		load(t, s, dump{fmt.Sprint(n), december, []ingest.Job{job(uint64(n), november+ingest.Instant(n)*3600)}})
	}
	before := all(t, s)
	require.NoError(t, s.CompactFragmented())
	fragments, err := s.Fragments()
	require.NoError(t, err)
	require.Zero(t, fragments)
	require.Equal(t, before, all(t, s))
	months, err := s.Months()
	require.NoError(t, err)
	require.Len(t, months, 1)
	require.Equal(t, 1, months[0].Files)
}
