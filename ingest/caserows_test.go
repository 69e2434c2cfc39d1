package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layoutA is the header of most cases; rowA fills a line of it with the
// defaults of the collection of cases, changed by NAME=VALUE.
const layoutA = "JobID|JobIDRaw|Cluster|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|Suspended|NNodes|NCPUS|ReqMem|ReqTRES|AllocTRES|JobName"

func rowA(changes ...string) string {
	values := map[string]string{
		"JobID": "101", "JobIDRaw": "101", "Cluster": "c1", "User": "u1", "Account": "lab_a", "Partition": "cpu",
		"QOS": "normal", "State": "COMPLETED", "Submit": "2025-03-03T08:00:00", "Start": "2025-03-03T09:00:00",
		"End": "2025-03-03T10:00:00", "ElapsedRaw": "3600", "Suspended": "00:00:00", "NNodes": "1", "NCPUS": "4",
		"ReqMem": "8G", "ReqTRES": "billing=4,cpu=4,mem=8G,node=1", "AllocTRES": "billing=4,cpu=4,mem=8G,node=1",
		"JobName": "work",
	}
	for _, change := range changes {
		name, value, _ := strings.Cut(change, "=")
		values[name] = value
	}
	var cells []string
	for _, name := range strings.Split(layoutA, "|") {
		cells = append(cells, values[name])
	}
	return strings.Join(cells, "|")
}

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

// read reads a dump; jobs are copies.
func read(text string, opt Options) (jobs []Job, report Report, err error) {
	r, err := Open("dump.txt", strings.NewReader(text), opt)
	if err != nil {
		return nil, Report{}, err
	}
	for batch, err := range r.Batches() {
		if err != nil {
			return nil, Report{}, err
		}
		jobs = append(jobs, batch...)
	}
	report = r.Report()
	if report.Records != report.Jobs+report.Steps+int64(len(report.Quarantined)) || report.Jobs != int64(len(jobs)) {
		return nil, report, fmt.Errorf("BUG: %d records, %d jobs, %d read, %d steps, %d quarantined",
			report.Records, report.Jobs, len(jobs), report.Steps, len(report.Quarantined))
	}
	return jobs, report, nil
}

func mustRead(t testing.TB, text string, opt Options) ([]Job, Report) {
	t.Helper()
	jobs, report, err := read(text, opt)
	require.NoError(t, err)
	return jobs, report
}

// oneA reads one record of layout A in the zone of the collection of cases.
func oneA(t testing.TB, changes ...string) Job {
	t.Helper()
	jobs, report := mustRead(t, lines(layoutA, rowA(changes...)), Options{Zone: zone(t, "Europe/Berlin")})
	require.Empty(t, report.Quarantined)
	require.Len(t, jobs, 1)
	return jobs[0]
}

// badA reads one record of layout A that must be quarantined.
func badA(t testing.TB, reason string, changes ...string) Quarantined {
	t.Helper()
	jobs, report := mustRead(t, lines(layoutA, rowA(changes...)), Options{Zone: zone(t, "Europe/Berlin")})
	require.Empty(t, jobs)
	require.Len(t, report.Quarantined, 1)
	require.Contains(t, report.Quarantined[0].Reason, reason)
	require.NotEmpty(t, report.Quarantined[0].Hint)
	require.Equal(t, Source{File: "dump.txt", Line: 2}, report.Quarantined[0].Source)
	return report.Quarantined[0]
}

// refused reads a file that must be refused as a whole.
func refused(t testing.TB, text, message, hint string, opt Options) {
	t.Helper()
	_, _, err := read(text, opt)
	require.ErrorContains(t, err, message)
	var e *Error
	require.True(t, errors.As(err, &e))
	require.Equal(t, "dump.txt", e.File)
	require.Contains(t, e.Hint(), hint)
}

func names(jobs []Job) []string {
	var list []string
	for _, j := range jobs {
		list = append(list, j.Name)
	}
	return list
}

func TestDefaultJob(t *testing.T) {
	j := oneA(t)
	require.Equal(t, Job{
		Cluster: "c1", JobID: "101", JobIDRaw: 101, User: "u1", Account: "lab_a", Partition: "cpu", QoS: "normal",
		Name: "work", State: Completed, Submit: 1740985200, Start: 1740988800, End: 1740992400, ElapsedSeconds: 3600,
		TimelimitSeconds: Unknown, NodeCount: 1, CPUs: 4, MemoryMiB: 8192, GPUs: 0, Billing: 4,
		ReqNodeCount: 1, ReqCPUs: 4, ReqMemoryMiB: 8192, ReqGPUs: 0,
		AllocTRES: "billing=4,cpu=4,mem=8G,node=1", ReqTRES: "billing=4,cpu=4,mem=8G,node=1",
		Source: Source{File: "dump.txt", Line: 2},
	}, j)
}
