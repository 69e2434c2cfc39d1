package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const benchJobs = 200_000

// benchGroups is how many groups the jobs are of.
const benchGroups = 60

// BenchmarkMonth is what a month costs as commands: a dump taken in, and the
// month billed without documents. The profile for the compiler (make profile)
// is of both.
func BenchmarkMonth(b *testing.B) {
	dir := b.TempDir()
	run := func(dir string, arguments ...string) {
		b.Helper()
		var stderr bytes.Buffer
		a := &app{stdin: bytes.NewReader(nil), stdout: io.Discard, stderr: &stderr, now: time.Now, getenv: func(string) string { return "" }}
		code := a.run(context.Background(), append([]string{"--site", dir}, arguments...))
		require.Equal(b, exitDone, code, "%v: %s", arguments, stderr.String())
	}
	dump := filepath.Join(dir, "sacct.txt")
	require.NoError(b, os.WriteFile(dump, benchDump(), 0o644))
	site := func() string {
		at := b.TempDir()
		require.NoError(b, os.WriteFile(filepath.Join(at, "hpcbill.yaml"), []byte(benchSite), 0o644))
		require.NoError(b, os.WriteFile(filepath.Join(at, "card.yaml"), []byte(benchCard), 0o644))
		require.NoError(b, os.WriteFile(filepath.Join(at, "groups.yaml"), benchRoster(), 0o644))
		return at
	}
	b.Run("ingest", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			at := site()
			b.StartTimer()
			run(at, "ingest", "--cluster", "lab", dump)
		}
		b.ReportMetric(float64(b.N)*benchJobs/b.Elapsed().Seconds(), "jobs/s")
	})
	b.Run("bill", func(b *testing.B) {
		at := site()
		run(at, "ingest", "--cluster", "lab", dump)
		for b.Loop() {
			run(at, "bill", "--period", "2025-11", "--no-documents")
		}
		b.ReportMetric(float64(b.N)*benchJobs/b.Elapsed().Seconds(), "jobs/s")
	})
}

const benchSite = `
organisation: {name: Bench}
currency: USD
timezone: UTC
first_period: 2025-11
clusters: {lab: {card: card.yaml}}
sources: [{files: "*.txt", cluster: lab}]
`

const benchCard = `
card: bench
currency: USD
versions:
- from: 2024-01-01
  meters: {su: {unit: SU, price: "0.012"}}
  rules:
  - {name: preempt, match: {partition: preempt}, exclude: free}
  - {name: smp, match: {partition: smp}, charge: {su: "max(cpus*0.8, mem_gib*0.102)"}}
  - {name: mpi, match: {partition: mpi}, charge: {su: "max(cpus*1, mem_gib*0.093)"}}
  - {name: gpu, match: {partition: a100}, charge: {su: cpus*8}}
`

func benchRoster() []byte {
	var b bytes.Buffer
	b.WriteString("groups:\n")
	for i := range benchGroups {
		fmt.Fprintf(&b, "- {id: g%02d, name: g%02d, jobs: [{account: g%02d}]}\n", i, i, i)
	}
	return b.Bytes()
}

// benchDump is a month of jobs by the order of their ends: many users in few
// accounts, few names, ids that go up.
func benchDump() []byte {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	first := time.Date(2025, time.November, 1, 0, 0, 0, 0, time.UTC)
	var b bytes.Buffer
	b.WriteString("JobID|JobIDRaw|DBIndex|Cluster|Account|User|UID|Partition|QOS|State|ExitCode|Submit|Eligible|Start|End|" +
		"ElapsedRaw|Suspended|Timelimit|NNodes|NCPUS|ReqMem|ReqTRES|AllocTRES|NodeList|Reservation|JobName\n")
	stamp := func(t time.Time) string { return t.Format("2006-01-02T15:04:05") }
	for i := range benchJobs {
		end := first.Add(time.Duration(i) * 29 * 24 * time.Hour / benchJobs)
		elapsed, waited := time.Duration(1+random.IntN(90_000))*time.Second, time.Duration(random.IntN(20_000))*time.Second
		start := end.Add(-elapsed)
		submit := start.Add(-waited)
		user, cpus := random.IntN(600), 1<<random.IntN(6)
		tres := fmt.Sprintf("cpu=%d,mem=%dM,node=1", cpus, cpus*4000)
		fmt.Fprintf(&b, "%d|%d|%d|lab|g%02d|u%04d|%d|%s|normal|%s|0:0|%s|%s|%s|%s|%d|00:00:00|1-00:00:00|1|%d|%dM|%s|billing=%d,%s|cpu%d||%s\n",
			i+1000, i+1000, i+500, user%benchGroups, user, 20000+user, pick("smp", "smp", "mpi", "a100", "preempt"),
			pick("COMPLETED", "COMPLETED", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 20123"),
			stamp(submit), stamp(submit), stamp(start), stamp(end), int(elapsed/time.Second), cpus, cpus*4000,
			tres, cpus, tres, 1+random.IntN(7), pick("gromacs_md", "train resnet", "lammps in.lj", "interactive", "R CMD"))
	}
	return b.Bytes()
}
