package chargestore

import (
	"fmt"
	"testing"

	"hpcbill/ingest"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// busyMonth yields n charged jobs in the order of their end, as a rater does:
// each overwrites the one before.
func busyMonth(n int) func(yield func(rating.Outcome, error) bool) {
	var users, accounts, names, ids []string
	for i := range 2000 {
		users = append(users, fmt.Sprintf("user%04d", i))
		accounts = append(accounts, fmt.Sprintf("lab%03d", i%200))
		names = append(names, fmt.Sprintf("run_%d.sh", i*7919%5000))
	}
	for i := range 100_000 {
		ids = append(ids, fmt.Sprint(4_000_000+i))
	}
	partitions := []string{"smp", "htc", "mpi", "high-mem", "a100", "l40s"}
	return func(yield func(rating.Outcome, error) bool) {
		job := smpJob(1)
		charges := make([]rating.Charge, 1)
		for i := range n {
			k := uint64(i) * 0x9E3779B97F4A7C15 >> 40
			who := int(k % 2000)
			job.JobIDRaw, job.JobID = uint64(4_000_000+i), ids[i%len(ids)]
			job.User, job.Account, job.Name, job.Partition = users[who], accounts[who], names[k%1999], partitions[k%6]
			job.End = 1772366400 + ingest.Instant(i)
			job.ElapsedSeconds = int64(k % 86400)
			job.Start = job.End - ingest.Instant(job.ElapsedSeconds)
			job.CPUs, job.MemoryMiB, job.Billing = int64(1+k%64), int64(1+k%64)*4096, int64(1+k%64)
			job.Source.Line = int64(i)
			c := &charges[0]
			*c = smpCharge(money.Ratio(job.CPUs*job.ElapsedSeconds*8, 36000), money.Ratio(12, 1000))
			c.Group, c.Reason.Line, c.Reason.Rule = job.Account, int(10+k%6), job.Partition
			o := rating.Outcome{Job: job, Group: c.Group, Charges: charges, Seconds: job.ElapsedSeconds, From: job.Start, Until: job.End}
			if !yield(o, nil) {
				return
			}
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	b.ReportAllocs()
	if err := Write(b.TempDir(), march, busyMonth(b.N)); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	dir := b.TempDir()
	if err := Write(dir, march, busyMonth(b.N)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, err := range Read(dir, march, "") {
		if err != nil {
			b.Fatal(err)
		}
	}
}
