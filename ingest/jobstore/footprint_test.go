package jobstore

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
)

// footprint is the memory of the process when a benchmark began: what it
// prints is beside that.
type footprint struct {
	resident, allocations, bytes uint64
}

func measure() footprint {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // VmHWM begins anew, on Linux
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{status("VmRSS:"), m.Mallocs, m.TotalAlloc}
}

// report prints jobs/s, what was allocated per job, and the most memory that
// was in use at a time (where the system tells).
func (f footprint) report(b *testing.B, jobs int64) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(float64(m.Mallocs-f.allocations)/float64(jobs), "allocs/job")
	b.ReportMetric(float64(m.TotalAlloc-f.bytes)/float64(jobs), "B/job")
	if peak := status("VmHWM:"); peak > 0 {
		b.ReportMetric(float64(max(peak, f.resident)-f.resident)/1024, "peak-MiB")
	}
}

// status gives a figure of /proc/self/status in KiB, 0 where there is none.
func status(name string) uint64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, text, _ = bytes.Cut(text, []byte(name))
	fields := bytes.Fields(text)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseUint(string(fields[0]), 10, 64)
	return kib
}
