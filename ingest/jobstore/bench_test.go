package jobstore

import (
	"fmt"
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

// BenchmarkIngest is Parquet alone: what it takes to store jobs that are
// parsed already.
func BenchmarkIngest(b *testing.B) {
	const n = 300_000
	jobs := benchJobs(n, 1000)
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		dir := b.TempDir()
		b.StartTimer()
		take(b, newStore(b, dir), jobs, fmt.Sprint(i))
	}
	perSecond(b, n)
}

// BenchmarkDay is a day's dump into an empty store, and into a full one.
func BenchmarkDay(b *testing.B) {
	const full, n = 600_000, 5_000
	for _, c := range []struct {
		name string
		jobs int
	}{{"empty", 0}, {"full", full}} {
		b.Run(c.name, func(b *testing.B) {
			s := newStore(b, b.TempDir())
			if c.jobs > 0 {
				take(b, s, benchJobs(c.jobs, 1000), "all")
			}
			b.ResetTimer()
			for i := range b.N {
				b.StopTimer()
				if c.jobs == 0 {
					require.NoError(b, os.RemoveAll(s.dir))
				}
				jobs := benchJobs(n, uint64(full+i*n))
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
