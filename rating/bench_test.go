package rating

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
)

// benchJobs gives jobs of a busy cluster: 200 groups, 2000 users.
func benchJobs(n int) ([]ingest.Job, string) {
	partitions := []string{"smp", "htc", "mpi", "high-mem", "a100", "preempt"}
	states := []ingest.State{ingest.Completed, ingest.Failed, ingest.Timeout, ingest.Cancelled}
	jobs := make([]ingest.Job, n)
	for i := range jobs {
		j := jobOf(partitions[i*7%6], int64(i%90000+1))
		j.Account, j.User, j.State = fmt.Sprintf("lab%03d", i*13%200), fmt.Sprintf("u%04d", i*17%2000), states[i%4]
		j.CPUs, j.MemoryMiB, j.GPUs = int64(i%64+1), int64(i*977%500000+1), int64(i%4)
		jobs[i] = *j
	}
	var groups strings.Builder
	groups.WriteString("groups:\n")
	for i := range 200 {
		fmt.Fprintf(&groups, "- {id: lab%03d, jobs: [{account: lab%03d}]}\n", i, i)
	}
	return jobs, groups.String()
}

func benchmarkJobs(b *testing.B, c *rates.Card) { benchmarkWaiving(b, c, nil, nil) }

func benchmarkWaiving(b *testing.B, c *rates.Card, outages *rates.Outages, waivers *rates.Waivers) {
	jobs, groups := benchJobs(10000)
	r := NewRater(Tariff{Zone: time.UTC, Roster: roster(b, groups), Cards: map[string]*rates.Card{"c1": c}, Outages: outages, Waivers: waivers})
	charges := 0
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		for _, o := range r.Job(&jobs[i%len(jobs)], november) {
			charges += len(o.Charges)
		}
	}
	b.ReportMetric(float64(charges)/float64(b.N), "charges/op")
}

func BenchmarkPittCRC(b *testing.B) { benchmarkJobs(b, shipped(b, "pitt-crc")) }

// Forty outages of which a job meets none, and a list of other jobs.
func BenchmarkNotWaived(b *testing.B) {
	var windows, rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&windows, "- {name: w%d, from: 2025-01-%02dT10:00, until: 2025-01-%02dT12:00, reason: r}\n", i, i%28+1, i%28+1)
	}
	for i := range 1000 {
		fmt.Fprintf(&rows, "c1,%d,,,,r,a,2025-12-31\nc1,9%d_*,,,,r,a,2025-12-31\n", i+1000, i)
	}
	benchmarkWaiving(b, shipped(b, "pitt-crc"), outages(b, time.UTC, windows.String()), waiverRows(b, time.UTC, rows.String()))
}

// An outage of the last hour of every job.
func BenchmarkClipped(b *testing.B) {
	benchmarkWaiving(b, shipped(b, "pitt-crc"), outages(b, time.UTC, "- {name: w, from: 2025-11-10T11:00, until: 2025-11-10T12:00, match: {partition: \"!none\"}, reason: r}"), nil)
}

func BenchmarkFourMeters(b *testing.B) { benchmarkJobs(b, loadCard(b, labCard)) }

func BenchmarkMatchByNumber(b *testing.B) {
	benchmarkJobs(b, loadCard(b, `
card: c
currency: USD
versions:
- from: 2025-01-01
  meters: {core_hours: {unit: core-hour, price: "0.02"}, gpu_hours: {unit: GPU-hour, price: 1}}
  rules:
  - {name: gpu, match: {gpus: "> 0"}, charge: {core_hours: cpus, gpu_hours: gpus}}
  - {name: cpu, charge: {core_hours: cpus}}
`))
}

func BenchmarkSlurmBilling(b *testing.B) {
	benchmarkJobs(b, loadCard(b, `
card: c
currency: USD
versions:
- from: 2025-01-01
  hardware: {all: {tres_weights: "CPU=0.8,Mem=0.102G,GRES/gpu=8", priority_flags: MAX_TRES}}
  meters: {su: {unit: SU, price: "0.02"}}
  rules: [{name: all, charge: {su: slurm_billing}}]
`))
}
