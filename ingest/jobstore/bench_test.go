package jobstore

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
)

// benchJobs makes jobs of a busy cluster, in the order in which they were
// submitted: 2000 users, 60 accounts, runs of up to a week.
func benchJobs(n int, firstRaw uint64) []ingest.Job {
	jobs := make([]ingest.Job, n)
	for i := range jobs {
		h := (uint64(i) + firstRaw) * key0 >> 20
		j := job(firstRaw+uint64(i), 0)
		j.Submit = november + ingest.Instant(i*20/7)
		j.Eligible, j.Start = j.Submit, j.Submit+ingest.Instant(h%90000)
		j.ElapsedSeconds = int64(h >> 8 % 604800)
		j.End = j.Start + ingest.Instant(j.ElapsedSeconds)
		j.User, j.Account = fmt.Sprintf("u%04d", h%2000), fmt.Sprintf("lab%02d", h%60)
		j.CPUs, j.MemoryMiB, j.Name = int64(1+h%64), int64(1+h%500)*1024, fmt.Sprintf("job-%d", h%5000)
		j.AllocTRES = fmt.Sprintf("cpu=%d,mem=%dM,node=1", j.CPUs, j.MemoryMiB)
		j.Source = ingest.Source{File: "dump.txt", Line: int64(i + 2)}
		jobs[i] = j
	}
	return jobs
}

func take(b *testing.B, s *Store, jobs []ingest.Job, name string) {
	g, err := s.Begin()
	require.NoError(b, err)
	for from := 0; from < len(jobs); from += 4096 {
		require.NoError(b, g.Add(jobs[from:min(from+4096, len(jobs))]))
	}
	_, err = g.Commit(Dump{File: name, Digest: dump{name: name}.digest(), Newest: december, Records: int64(len(jobs))})
	require.NoError(b, err)
}

func perSecond(b *testing.B, jobs int) {
	b.ReportMetric(float64(jobs)*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}

// benchDump is the text that sacct -P would print of jobs.
func benchDump(jobs []ingest.Job) []byte {
	var b bytes.Buffer
	b.WriteString("JobID|JobIDRaw|Cluster|Account|User|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|" +
		"Timelimit|NNodes|NCPUS|AllocTRES|NodeList|JobName\n")
	stamp := func(at ingest.Instant) string { return utc(at).Format("2006-01-02T15:04:05") }
	for i := range jobs {
		j := &jobs[i]
		fmt.Fprintf(&b, "%s|%d|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%d|7-00:00:00|1|%d|billing=%d,%s|cpu%d|%s\n",
			j.JobID, j.JobIDRaw, j.Cluster, j.Account, j.User, j.Partition, j.QoS, j.State, stamp(j.Submit), stamp(j.Eligible),
			stamp(j.Start), stamp(j.End), j.ElapsedSeconds, j.CPUs, j.CPUs, j.AllocTRES, j.JobIDRaw%7, j.Name)
	}
	return b.Bytes()
}

// dumpVariable names a dump to take instead of the made one, of any size.
const dumpVariable = "HPCBILL_BENCH_DUMP"

// benchSource opens the dump of a benchmark, and gives its size.
func benchSource(b *testing.B) (open func() io.Reader, size int64) {
	if name := os.Getenv(dumpVariable); name != "" {
		info, err := os.Stat(name)
		require.NoError(b, err)
		return func() io.Reader {
			f, err := os.Open(name)
			require.NoError(b, err)
			b.Cleanup(func() { f.Close() })
			return f
		}, info.Size()
	}
	text := benchDump(benchJobs(300_000, 1000))
	return func() io.Reader { return bytes.NewReader(text) }, int64(len(text))
}

// BenchmarkDump is an ingest from end to end: a dump's text to a store that
// was empty, committed.
func BenchmarkDump(b *testing.B) {
	open, size := benchSource(b)
	b.SetBytes(size)
	b.ReportAllocs()
	jobs, before := int64(0), measure()
	for b.Loop() {
		b.StopTimer()
		s := newStore(b, b.TempDir())
		b.StartTimer()
		jobs += takeDump(b, s, open()).Jobs
	}
	before.report(b, jobs)
}

func takeDump(b *testing.B, s *Store, from io.Reader) ingest.Report {
	r, err := ingest.Open("dump", from, ingest.Options{Cluster: "lab"})
	require.NoError(b, err)
	g, err := s.Begin()
	require.NoError(b, err)
	defer g.Abort()
	for batch, err := range r.Batches() {
		require.NoError(b, err)
		require.NoError(b, g.Add(batch))
	}
	report := r.Report()
	_, err = g.Commit(Dump{File: "dump", Digest: report.Digest, Newest: report.Newest, Records: report.Records, Steps: report.Steps, Quarantined: report.Quarantined})
	require.NoError(b, err)
	return report
}

// BenchmarkIngest is Parquet alone: what it takes to store jobs that are
// parsed already. Its MB/s are those of the text that says the same.
func BenchmarkIngest(b *testing.B) {
	made := benchJobs(300_000, 1000)
	b.SetBytes(int64(len(benchDump(made))))
	b.ReportAllocs()
	jobs, before := int64(0), measure()
	for b.Loop() {
		b.StopTimer()
		s := newStore(b, b.TempDir())
		b.StartTimer()
		take(b, s, made, fmt.Sprint(jobs))
		jobs += int64(len(made))
	}
	before.report(b, jobs)
}

// BenchmarkDay is a day's dump into an empty store, into a full one, and one
// that revises jobs from everywhere in a full one.
func BenchmarkDay(b *testing.B) {
	const full, n = 600_000, 5_000
	for _, c := range []struct {
		name          string
		jobs, revised int
	}{{"empty", 0, 0}, {"full", full, 0}, {"revising", full, 50}} {
		b.Run(c.name, func(b *testing.B) {
			s := newStore(b, b.TempDir())
			stored := benchJobs(c.jobs, 1000)
			if c.jobs > 0 {
				take(b, s, stored, "all")
			}
			b.ResetTimer()
			for i := range b.N {
				b.StopTimer()
				if c.jobs == 0 {
					require.NoError(b, os.RemoveAll(s.dir))
				}
				jobs := benchJobs(n, uint64(full+i*n))
				for k := range c.revised {
					jobs[k] = stored[k*full/c.revised+i]
					jobs[k].Account, jobs[k].End = "moved", jobs[k].End+1
				}
				b.StartTimer()
				take(b, s, jobs, fmt.Sprint("day ", i))
			}
			perSecond(b, n)
		})
	}
}

// BenchmarkJobs reads a month with the columns that rating needs.
func BenchmarkJobs(b *testing.B) {
	const n = 300_000
	s := newStore(b, b.TempDir())
	take(b, s, benchJobs(n, 1000), "all")
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		read := 0
		for jobs, err := range s.Select(Query{Columns: []string{"job_id", "user_name", "account", "partition", "qos", "state",
			"elapsed_seconds", "suspended_seconds", "node_count", "cpus", "memory_mib", "gpus", "billing", "source_file", "source_line"}}) {
			require.NoError(b, err)
			read += len(jobs)
		}
		require.Equal(b, n, read)
	}
	perSecond(b, n)
}
