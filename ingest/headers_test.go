package ingest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestC14Marks(t *testing.T) {
	jobs, _ := mustRead(t, "\ufeff"+lines(layoutA, rowA()), Options{})
	require.Len(t, jobs, 1)
	jobs, _ = mustRead(t, strings.ReplaceAll(lines(layoutA, rowA(), rowA()), "\n", "\r\n"), Options{})
	require.Equal(t, []string{"work", "work"}, names(jobs))
	refused(t, "\xff\xfeJ\x00o\x00b\x00", "UTF-16", "UTF-8", Options{})
	refused(t, "J\x00o\x00b\x00", "NUL", "UTF-8", Options{})
}

func TestC16Headers(t *testing.T) {
	jobs, report := mustRead(t, lines(layoutA, rowA(), layoutA, rowA("JobIDRaw=102")), Options{})
	require.Len(t, jobs, 2)
	require.Equal(t, int64(2), report.Records)

	jobs, report = mustRead(t, lines(layoutA, rowA(), "Cluster;JobID;State;Account;AllocTRES;Start;End;Elapsed",
		"c2;102;FAILED;lab_b;cpu=2;2025-03-03T09:00:00;2025-03-03T10:00:00;01:00:00"), Options{})
	require.Empty(t, report.Quarantined)
	require.Equal(t, "c2", jobs[1].Cluster)
	require.Equal(t, int64(2), jobs[1].CPUs)

	refused(t, lines(rowA()), "no header", "columns", Options{})
}

func TestHeaderless(t *testing.T) {
	const row = "6_1|15|lab|smp|normal|physics|labu1|1001|labu1|1001|2025-11-30T00:35:35|2025-11-30T00:35:35|2025-11-30T00:35:36|2025-11-30T00:35:46|00:00:10|0:0|COMPLETED|1|4|4|16G|billing=3,cpu=4,mem=16G,node=1|billing=3,cpu=4,mem=16G,node=1|02:00:00|cpu3|a|b"
	jobs, _ := mustRead(t, lines(row), Options{Columns: []string{"xdmod"}})
	require.Len(t, jobs, 1)
	require.Equal(t, "a|b", jobs[0].Name)
	require.Equal(t, uint64(15), jobs[0].JobIDRaw)
	require.Equal(t, int64(7200), jobs[0].TimelimitSeconds)
	jobs, _ = mustRead(t, lines(strings.ReplaceAll(row, "|", "\x1f")), Options{Columns: []string{"xdmod"}})
	require.Equal(t, "a\x1fb", jobs[0].Name)
	jobs, _ = mustRead(t, lines(layoutA, rowA()), Options{Columns: []string{"xdmod"}}) // has a header after all
	require.Len(t, jobs, 1)
	jobs, _ = mustRead(t, lines(rowA()), Options{Columns: strings.Split(layoutA, "|")})
	require.Len(t, jobs, 1)
	refused(t, lines(rowA()), "no delimiter puts the cells", "compare the declared columns", Options{Columns: []string{"xdmod"}})
	refused(t, lines(rowA()), `"Nonsense" is not a column`, "helpformat", Options{Columns: []string{"JobID", "Nonsense"}})
}

func TestC17Columns(t *testing.T) {
	one, _ := mustRead(t, lines("JobID|JobIDRaw|Account|State|Submit|Start|End|Elapsed|Reserved|AllocTRES|Cluster",
		"1|1|a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|01:00:00|cpu=4|c1"), Options{})
	two, _ := mustRead(t, lines("cluster|ALLOCTRES|end|start|submit|state|account|jobidraw|JobId|elapsed",
		"c1|cpu=4|2025-03-03T10:00:00|2025-03-03T09:00:00|2025-03-03T08:00:00|COMPLETED|a|1|1|01:00:00"), Options{})
	require.Equal(t, one, two)
	full := "JobID|Account|State|Start|End|Elapsed|AllocTRES|Cluster"
	for _, name := range []string{"JobID", "Account", "State", "Start", "End", "AllocTRES", "Cluster"} {
		without := strings.Join(strings.Split(strings.ReplaceAll("|"+full+"|", "|"+name+"|", "|Comment|"), "|")[1:9], "|")
		message := name + ": the dump has no such column"
		if name == "JobID" {
			message = "no header"
		}
		refused(t, without+"\n", message, "", Options{})
	}
	_, report := mustRead(t, full+"|Colour\n", Options{})
	require.Equal(t, WarnUnknownColumn, report.Warnings[0].Kind)
	require.Contains(t, report.Warnings[0].Text, "Colour")
}

func TestC19FixedWidth(t *testing.T) {
	refused(t, lines("JobID           JobName    Account      State ", "------------ ---------- ---------- ---------- ", "1                 job_1 test-acco+  COMPLETED "), "fixed widths", "sacct -P", Options{})
	refused(t, lines("       JobID    JobName    Account  AllocCPUS      State", "101  Simple E + lab_a 4 COMPLETED"), "fixed widths", "sacct -P", Options{})
	j := oneA(t, "Account=c++", "User=u+", "JobID=123+1")
	require.Equal(t, "c++", j.Account)
	require.Equal(t, "123+1", j.JobID)
}

func TestC22Empty(t *testing.T) {
	jobs, report := mustRead(t, layoutA+"\n", Options{})
	require.Empty(t, jobs)
	require.Zero(t, report.Records)
	refused(t, "", "the file is empty", "did not run", Options{})
	refused(t, "\n\n \n", "the file is empty", "did not run", Options{})
	refused(t, string(gzipped("")), "the file is empty", "", Options{})
}

func TestMessages(t *testing.T) {
	refused(t, "sacct: fatal: Bad job/step specified: -n\n", "a message of sacct's", "dump again", Options{})
	refused(t, lines(layoutA, rowA(), "sacct: error: slurmdbd: Unable to connect", rowA()), "dump.txt:3: a message stands among the records", "dump again", Options{})
	refused(t, lines(layoutA, "slurmdbd: connection lost"), "message", "", Options{})
	refused(t, "PartitionName=cpu AllowGroups=ALL\n", "scontrol", "rates import", Options{})
	refused(t, "<html>\n", "HTML", "", Options{})
}
