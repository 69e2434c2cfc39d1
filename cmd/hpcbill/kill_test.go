package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// asCommand makes the test binary be the program, so that a test can kill it.
const asCommand = "HPCBILL_TEST_AS_COMMAND"

// runAsCommand ends the process as the program would, when it was started as
// one.
func runAsCommand() {
	if os.Getenv(asCommand) == "" {
		return
	}
	a := &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: scriptNow, getenv: os.Getenv}
	os.Exit(a.run(context.Background(), os.Args[1:]))
}

// start starts the program on a site, not yet run.
func command(site string, args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append([]string{"--site", site}, args...)...)
	c.Env = append(os.Environ(), asCommand+"=1", scriptClock+"=2025-05-02T09:00:00Z")
	return c
}

func mustRun(t *testing.T, site string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := command(site, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	require.NoError(t, c.Run(), "%v: %s", args, stderr.String())
	return stdout.String()
}

// killed runs the program and kills it after a while; it reports whether the
// program was quicker.
func killed(t *testing.T, after time.Duration, site string, args ...string) (finished bool) {
	t.Helper()
	c := command(site, args...)
	require.NoError(t, c.Start())
	timer := time.AfterFunc(after, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	return c.Wait() == nil
}

// killSite writes a site of one cluster and a dump of n jobs of 1 core-hour.
func killSite(t *testing.T, jobs int) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("hpcbill.yaml", `organisation: {name: Test Centre}
currency: EUR
timezone: UTC
first_period: 2025-03
clusters: {c1: {card: card.yaml}}
sources: [{files: "*.txt"}]
`)
	write("groups.yaml", "groups: [{id: lab_a, jobs: [{account: lab_a}]}]\n")
	write("card.yaml", `card: test
currency: EUR
source: none
versions:
  - from: 2025-01-01
    meters: {core_hours: {unit: core-hour, price: "0.02"}}
    rules: [{name: all, charge: {core_hours: cpus}}]
`)
	var dump strings.Builder
	dump.WriteString("Cluster|JobID|JobIDRaw|Account|User|Partition|QOS|State|Submit|Start|End|ElapsedRaw|Suspended|NNodes|NCPUS|AllocTRES|JobName\n")
	for i := range jobs {
		fmt.Fprintf(&dump, "c1|%d|%d|lab_a|u%d|cpu|normal|COMPLETED|2025-03-03T08:00:00|2025-03-%02dT09:00:00|2025-03-%02dT10:00:00|3600|00:00:00|1|1|billing=1,cpu=1,mem=4G,node=1|job %d\n",
			1000+i, 1000+i, i%50, 3+i%20, 3+i%20, i)
	}
	write("dump.txt", dump.String())
	return dir
}

// Killed at any moment, an ingest has happened whole or not at all, and the
// next one completes it.
func TestKillIngest(t *testing.T) {
	const jobs = 20_000
	whole := 0
	for i := range 12 {
		site := killSite(t, jobs)
		finished := killed(t, time.Duration(i)*12*time.Millisecond, site, "ingest")
		seen := strings.Count(mustRun(t, site, "report", "ingests", "--format", "csv"), "\n") - 1
		require.Contains(t, []int{0, 1}, seen)
		if finished {
			require.Equal(t, 1, seen)
		}
		whole += seen
		mustRun(t, site, "ingest")
		require.Contains(t, mustRun(t, site, "report", "ingests", "--format", "csv"), fmt.Sprintf("dump.txt,%d,0,%d,0,0,0,0", jobs, jobs))
		if i%6 == 5 { // the workbook of so many jobs takes its time
			bill := mustRun(t, site, "bill", "--period", "2025-03")
			require.Contains(t, bill, "lab_a      400.00        0.00  400.00", "20,000 core-hours at 0.02")
		}
	}
	t.Logf("%d of 12 had landed before the kill", whole)
}

// Killed at any moment, an issue has happened whole or not at all; issuing
// again gives the same numbers and draws the documents that are missing.
func TestKillIssue(t *testing.T) {
	template := killSite(t, 300)
	mustRun(t, template, "ingest")
	mustRun(t, template, "bill", "--period", "2025-03")
	issued := 0
	for i := range 12 {
		site := t.TempDir()
		require.NoError(t, os.CopyFS(site, os.DirFS(template)))
		finished := killed(t, time.Duration(i)*15*time.Millisecond, site, "issue", "--period", "2025-03")
		seen := mustRun(t, site, "query", "SELECT count(*) AS n FROM v_invoices", "--format", "csv")
		require.Contains(t, []string{"n\n0\n", "n\n1\n"}, seen)
		if finished || seen == "n\n1\n" {
			require.Equal(t, "n\n1\n", seen)
			issued++
		}
		mustRun(t, site, "issue", "--period", "2025-03")
		require.Contains(t, mustRun(t, site, "list"), "HPC-2025-00001")
		require.Contains(t, mustRun(t, site, "verify"), "5 documents on disk as issued")
		require.NoDirExists(t, filepath.Join(site, "invoices", "2025-03", "draft"))
	}
	t.Logf("%d of 12 had been issued before the kill", issued)
}

// What a kill leaves of a document that was being drawn is gone when documents
// are drawn again; what others put beside those that are issued stays.
func TestHalfDocumentsAreRemoved(t *testing.T) {
	site := killSite(t, 10)
	mustRun(t, site, "ingest")
	mustRun(t, site, "bill", "--period", "2025-03")
	month := filepath.Join(site, invoicesDir, "2025-03")
	put := func(name, text string) string {
		name = filepath.Join(month, filepath.FromSlash(name))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		return name
	}
	inDraft, stranger := put("draft/.lab_a.xlsx.tmp-123", "PK"), put("draft/gone.html", "<p>")
	mustRun(t, site, "bill", "--period", "2025-03")
	require.NoFileExists(t, inDraft)
	require.NoFileExists(t, stranger)

	posted, half, begun := put("posted.csv", "a"), put(".period-2025-03.csv.tmp-77", "period"), put(".x.html.tmp-78", "")
	mustRun(t, site, "issue", "--period", "2025-03")
	require.FileExists(t, posted)
	require.NoFileExists(t, half)
	require.NoFileExists(t, begun)

	f, err := os.Open(put(".y.html.tmp-79", "<p>"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	mustRun(t, site, "issue", "--period", "2025-03")
	require.FileExists(t, f.Name(), "somebody writes it")
}

// A history that was made, and nothing written to it yet, is none.
func TestEmptyHistoryIsNone(t *testing.T) {
	site := killSite(t, 10)
	require.NoError(t, os.MkdirAll(filepath.Join(site, "data"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(site, historyFile), nil, 0o644))
	mustRun(t, site, "check")
	c := command(site, "list")
	text, err := c.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), "has no history yet")
	mustRun(t, site, "ingest")
	mustRun(t, site, "bill", "--period", "2025-03")
}

// A month whose documents could not be drawn when it was issued gets them from
// the next run, or issue, also where records came in since that change it.
func TestDocumentsThatWereNotDrawn(t *testing.T) {
	for _, args := range [][]string{{"run"}, {"issue", "--period", "2025-03"}} {
		site := killSite(t, 10)
		mustRun(t, site, "ingest")
		mustRun(t, site, "bill", "--period", "2025-03")
		month := filepath.Join(site, invoicesDir, "2025-03")
		inTheWay := filepath.Join(month, "period-2025-03.csv", "x")
		require.NoError(t, os.MkdirAll(inTheWay, 0o755))
		text, err := command(site, "issue", "--period", "2025-03").CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(text), "hint: 2025-03 is issued; its documents are drawn by the next run")
		require.NoError(t, os.RemoveAll(filepath.Dir(inTheWay)))

		dump, err := os.ReadFile(filepath.Join(site, "dump.txt"))
		require.NoError(t, err)
		late := bytes.ReplaceAll(dump, []byte("|100"), []byte("|200"))
		require.NoError(t, os.WriteFile(filepath.Join(site, "late.txt"), late, 0o644))
		mustRun(t, site, "ingest")
		text, _ = command(site, args...).CombinedOutput()
		require.Contains(t, string(text), "2025-03 was issued, and its documents are drawn now: 1 invoice")
		lines, err := os.ReadFile(filepath.Join(month, "period-2025-03.csv"))
		require.NoError(t, err)
		require.Contains(t, string(lines), ",0.20,", "10 core-hours at 0.02")
		workbooks, err := filepath.Glob(filepath.Join(month, "HPC-2025-00001-*.xlsx"))
		require.NoError(t, err)
		require.Len(t, workbooks, 1)
		text, _ = command(site, args...).CombinedOutput()
		require.NotContains(t, string(text), "drawn now")
	}
}
