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

// Dumps that were joined badly: what follows must not be read by the columns
// of the first, nor pass for the last name of it.
func TestJoined(t *testing.T) {
	first := lines(layoutA, rowA("JobID=100", "JobIDRaw=100"))
	cut := strings.TrimSuffix(first, "\n")
	other := func(delimiter string) string { return strings.ReplaceAll(rowA(), "|", delimiter) }
	f := func(text string, quarantined int, reason string) {
		t.Helper()
		jobs, report := mustRead(t, text, Options{})
		require.Equal(t, uint64(100), jobs[0].JobIDRaw)
		require.Len(t, jobs, 1)
		require.Len(t, report.Quarantined, quarantined)
		require.Contains(t, report.Quarantined[0].Reason, reason)
		require.Contains(t, report.Quarantined[0].Hint, "join them with their headers")
	}
	// no new line between: the header stands in the name
	refused(t, cut+lines(layoutA, rowA()), "dump.txt:2: a header stands inside this line", "new line between", Options{})
	refused(t, cut+lines(strings.Replace(layoutA, "User|Account", "Account|User", 1), rowA()), "dump.txt:2: a header stands inside", "new line between", Options{})
	refused(t, lines(layoutA+"|")+rowA()+"|"+lines(layoutA+"|", rowA()+"|"), "dump.txt:2: a header stands inside", "new line between", Options{})
	refused(t, first+"b"+lines(layoutA, rowA()), "dump.txt:3: a header stands inside", "new line between", Options{})
	refused(t, string(gzipped(cut, first)), "dump.txt:2: a header stands inside", "new line between", Options{})
	refused(t, cut+strings.ReplaceAll(lines(layoutA, rowA()), "|", ";"), "dump.txt:2: a header stands inside", "new line between", Options{})
	// no header between, nor a new line
	for _, glued := range []string{rowA(), other(";"), "7 1740985200 1740988800 FAILED", "7:CANCELLED by 7:1740985200:1740988800"} {
		_, report := mustRead(t, cut+glued+"\n", Options{})
		require.Equal(t, "a text of this record has the times of another record", report.Quarantined[0].Reason)
		require.Contains(t, report.Quarantined[0].Hint, "join them with their headers")
	}
	// no header between
	f(first+lines(other(";"), other("\x1f"), other("|||")), 3, "the times of a record")
	f(first+lines("c1;7;a;1740985200;1740988800;1740992400;cpu=4"), 1, "the times of a record")
	f(first+lines("c1|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|cpu=4"), 1, "6 cells where 19 are due, in a line that has the times")
	refused(t, first+lines("{", ` "jobs": [`, `  {"job_id": 7}]}`), "dump.txt:4: an answer in JSON stands among the lines", "by itself", Options{})
	// nobody can have joined anything to a dump with a delimiter of its own
	forged := strings.Join([]string{"train", rowA("Account=lab_b"), `{"job_id":7}`}, "\n")
	jobs, report := mustRead(t, strings.ReplaceAll(strings.ReplaceAll(lines(layoutA, rowA("JobName=NAME")), "|", "\x1fd6q"), "NAME", forged), Options{Drawn: "\x1fd6q"})
	require.Empty(t, report.Quarantined)
	require.Equal(t, []string{forged}, names(jobs))
	// the times of a simulation are the user's
	for _, name := range []string{"wrf_2025-11-03T00:00:00_2025-11-04T00:00:00", "2025-11-03T00:00:00/2025-11-04T00:00:00", "from 1740985200 to 1740988800", "FAILED 2025-11-03T00:00:00", "AFAILED 1740985200 1740988800"} {
		jobs, report := mustRead(t, lines(layoutA, rowA("JobName="+name), rowA("JobIDRaw=102", "JobName="+name)), Options{})
		require.Empty(t, report.Quarantined)
		require.Equal(t, []string{name, name}, names(jobs))
	}
	// one time in a name is the user's
	jobs, _ = mustRead(t, lines(layoutA, rowA("JobName=run of\n2025-03-03T09:00:00 (1740988800x)")), Options{})
	require.Equal(t, []string{"run of\n2025-03-03T09:00:00 (1740988800x)"}, names(jobs))
}

// The names of columns may be the name of a job. Where what follows goes on by
// the columns that hold, it is one; a header of other columns that the records
// after it fit as well may be either, and decides nothing.
func TestJobsNamedLikeColumns(t *testing.T) {
	swapped := strings.Replace(layoutA, "User|Account", "Account|User", 1)
	f := func(name string) {
		t.Helper()
		array := []string{rowA("JobIDRaw=102", "JobName="+name), rowA("JobIDRaw=103", "JobName="+name)}
		for _, after := range [][]string{nil, {rowA("JobIDRaw=104")}, {rowA("JobIDRaw=104", "JobName="+name)}} {
			jobs, report := mustRead(t, lines(append(append([]string{layoutA, rowA()}, array...), after...)...), Options{})
			require.Empty(t, report.Quarantined)
			require.Len(t, jobs, 3+len(after))
			require.Equal(t, []string{"work", name, name}, names(jobs)[:3])
			require.Equal(t, []string{"u1", "lab_a"}, []string{jobs[2].User, jobs[2].Account})
		}
	}
	f("JobID State Account Start End")
	f("JobID|State|Account|Start|End")
	f("x|JobID|State|Account|Start|End|AllocTRES|Cluster|y")
	f("JobID,JobIDRaw,Cluster,User,Account,Partition,QOS,State,Submit,Start,End,AllocTRES,JobName")

	// in a column before others
	const header = "JobID|JobIDRaw|Cluster|JobName|Account|State|Submit|Start|End|ElapsedRaw|AllocTRES"
	row := func(id, name string) string {
		return id + "|" + id + "|c1|" + name + "|a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|3600|cpu=4"
	}
	jobs, _ := mustRead(t, lines(header, row("1", "JobID|State|Account|Start|End"), row("2", "work")), Options{})
	require.Equal(t, []string{"JobID|State|Account|Start|End", "work"}, names(jobs))

	// after a new line within the name
	jobs, report := mustRead(t, lines(layoutA, rowA("JobName=x\nJobID|State|Account|Start|End|AllocTRES|Cluster"), rowA("JobIDRaw=102")), Options{})
	require.Empty(t, report.Quarantined)
	require.Equal(t, []string{"x\nJobID|State|Account|Start|End|AllocTRES|Cluster", "work"}, names(jobs))
	for _, after := range []string{rowA("JobIDRaw=102"), "7\n" + rowA("JobIDRaw=102")} {
		refused(t, lines(layoutA, rowA("JobName=x\n"+swapped), after), "dump.txt:3: a header of other columns stands here, and the record after it fits those before, too",
			"by itself", Options{})
	}
	// columns of other names that are read alike are no others
	jobs, _ = mustRead(t, lines(layoutA, rowA(), strings.Replace(layoutA, "NCPUS", "AllocCPUS", 1), rowA("JobIDRaw=102")), Options{})
	require.Len(t, jobs, 2)
	refused(t, lines(layoutA, rowA("JobName=x"+swapped), rowA("JobIDRaw=102")), "dump.txt:2: a header stands inside this line", "by itself", Options{})
}

// Records that lack a column must not fill up the free text of one another:
// half of the jobs would be lost.
func TestJoinedOneColumnLess(t *testing.T) {
	for _, header := range []string{"JobID|Comment|Cluster|Account|State|Submit|Start|End|Elapsed|AllocTRES", "Cluster|Comment|JobID|Account|State|Submit|Start|End|Elapsed|AllocTRES"} {
		row := func(id, comment string) string {
			return strings.NewReplacer("JobID", id, "Comment|", comment, "Cluster", "c1").Replace(header[:strings.Index(header, "|Account")]) +
				"|lab_a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4"
		}
		jobs, report := mustRead(t, lines(header, row("1", "x|"), row("2", ""), row("3", ""), row("4", ""), row("5", "a\nb|"), row("6", "|")), Options{})
		require.Len(t, report.Quarantined, 3)
		require.Equal(t, []int64{3, 4, 5}, []int64{report.Quarantined[0].Source.Line, report.Quarantined[1].Source.Line, report.Quarantined[2].Source.Line})
		require.Contains(t, report.Quarantined[0].Reason, "9 cells where 10 are due")
		require.Equal(t, []string{"1", "5", "6"}, []string{jobs[0].JobID, jobs[1].JobID, jobs[2].JobID})
	}
}

// Lines end as they like, and differently in each of the joined dumps.
func TestLineEnds(t *testing.T) {
	const header = "JobID|JobIDRaw|Cluster|JobName|Account|State|Submit|Start|End|ElapsedRaw|AllocTRES"
	const row = "1|1|c1|work|a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|3600|cpu=4"
	f := func(text string, jobs int) {
		t.Helper()
		read, report := mustRead(t, text, Options{})
		require.Empty(t, report.Quarantined)
		require.Len(t, read, jobs)
		for _, j := range read {
			require.Equal(t, "work", j.Name)
			require.Equal(t, int64(4), j.CPUs)
		}
	}
	windows := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	for _, text := range []string{lines(header, row), lines(layoutA, rowA())} {
		head, rows, _ := strings.Cut(text, "\n")
		f(text+windows(text), 2)
		f(windows(text)+text, 2)
		f(head+"\n"+windows(rows), 1)
		f(head+"\r\n"+rows, 1)
		f(strings.TrimSuffix(windows(text), "\n"), 1)
	}
}

func TestBeforeTheHeader(t *testing.T) {
	refused(t, "Last login: Mon Mar  3 08:00\n\n"+lines(layoutA, rowA()), "dump.txt:1: text stands before the header, which is line 3", "logins", Options{})
	refused(t, `"JobID";"State";"Account";"Cluster"`+"\n", "the names stand in quotes", "as it printed it", Options{})
	refused(t, "---\njobs:\n- account: a\n", "YAML", "--json", Options{})
	refused(t, "jobs:\n- account: a\n", "YAML", "--json", Options{})
	refused(t, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document", "", Options{})
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
	for _, line := range []string{"bash: line 1: sacct: command not found", "/bin/sh: 1: sacct: not found", "./dump.sh: line 3: 4711 Killed   sacct -a -P", "srun: error: timeout"} {
		refused(t, lines(layoutA, rowA(), line), "dump.txt:3: a message stands among the records", "standard error apart", Options{})
	}
	// standard error got between two blocks of standard output
	row := rowA()
	refused(t, lines(layoutA, row[:40]+"sacct: error: slurmdbd: lost", row[40:]), "dump.txt:2: a message stands among the records", "dump again", Options{})
	_, report := mustRead(t, lines(layoutA, row+"sacct: error: lost", "rk"), Options{}) // it may be a name
	require.Contains(t, report.Quarantined[0].Reason, "a message stands among the records")
	refused(t, "PartitionName=cpu AllowGroups=ALL\n", "scontrol", "rates import", Options{})
	refused(t, "<html>\n", "HTML", "", Options{})
}
