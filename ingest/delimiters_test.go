package ingest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestC01DelimiterInName(t *testing.T) {
	const layout = "JobID|User|Account|State|Start|End|AllocTRES|JobName"
	jobs, _ := mustRead(t, lines(layout, "101|u1|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|billing=4,cpu=4|fit a|b|c"), Options{Cluster: "c1"})
	require.Equal(t, []string{"fit a|b|c"}, names(jobs))
	require.Equal(t, int64(3600), jobs[0].ElapsedSeconds)
	require.Equal(t, int64(4), jobs[0].CPUs)

	const middle = "JobID|JobName|Account|State|Start|End|Elapsed|AllocTRES"
	jobs, report := mustRead(t, lines(middle, "102|fit|0.9|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4"), Options{Cluster: "c1"})
	require.Equal(t, []string{"fit|0.9"}, names(jobs))
	require.Equal(t, "lab_a", jobs[0].Account)
	require.NotZero(t, jobs[0].Notes&NoteReanchored)
	require.Equal(t, WarnReanchored, report.Warnings[0].Kind)
}

// Two free texts side by side: either may hold the delimiter.
func TestC01TwoReadings(t *testing.T) {
	const layout = "JobID|WCKey|JobName|Account|State|Start|End|Elapsed|AllocTRES"
	jobs, report := mustRead(t, lines(layout,
		"101|k|a|b|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4",
		"102|k|ab|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4"), Options{Cluster: "c1"})
	require.Equal(t, []string{"ab"}, names(jobs))
	require.Contains(t, report.Quarantined[0].Reason, "more than one reading fits")
}

// Texts that nothing is read from may share their pieces as they like.
func TestC01IgnoredTexts(t *testing.T) {
	const layout = "JobID|JobName|Account|State|Start|End|Elapsed|AllocTRES|Comment|SubmitLine"
	jobs, report := mustRead(t, lines(layout, "101|n|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4|a|b|c|d"), Options{Cluster: "c1"})
	require.Empty(t, report.Quarantined)
	require.Equal(t, []string{"n"}, names(jobs))
}

// A delimiter that stands inside sacct's own values cuts them short: the GPUs
// of a job would pass for its name.
func TestDelimiterOfValues(t *testing.T) {
	f := func(delimiter, column string) {
		t.Helper()
		refused(t, strings.ReplaceAll(lines(layoutA, rowA("AllocTRES=billing=4,cpu=4,gres/gpu=2,node=1")), "|", delimiter),
			fmt.Sprintf("dump.txt:1: %s: the delimiter %q stands inside the values", column, delimiter), "sacct -P", Options{})
	}
	f(",", "ReqTRES")
	f(":", "Submit")
	f("-", "Submit")
	f("=", "ReqTRES")
	refused(t, lines("JobID,JobIDRaw,Cluster,Account,State,Submit,Start,End,NCPUS,AllocTRES,JobName",
		`1,1,c1,a,COMPLETED,2025-03-03T08:00:00,2025-03-03T09:00:00,2025-03-03T10:00:00,4,"billing=4,cpu=4,gres/gpu=2",work`), "AllocTRES: the delimiter", "spreadsheet", Options{})
	refused(t, lines(rowA()), "AllocTRES: the delimiter", "", Options{Columns: []string{"JobID", "Cluster", "Account", "State", "Start", "End", "AllocTRES"}, Delimiter: "="})
	jobs, _ := mustRead(t, lines("JobID,JobIDRaw,Cluster,Account,State,Submit,Start,End,ElapsedRaw,NCPUS,JobName", // no TRES, no harm
		"1,1,c1,a,COMPLETED,2025-03-03T08:00:00,2025-03-03T09:00:00,2025-03-03T10:00:00,3600,4,a,b"), Options{})
	require.Equal(t, []string{"a,b"}, names(jobs))
	require.Equal(t, Unknown, jobs[0].GPUs)
}

// "k|||lab_a" with the delimiter ||: the account is lab_a or |lab_a.
func TestDelimiterOverlaps(t *testing.T) {
	f := func(delimiter, wckey string, quarantined int) {
		t.Helper()
		row := "1|1|c1|WCKEY|lab_a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|3600|cpu=4"
		text := strings.ReplaceAll(lines("JobID|JobIDRaw|Cluster|WCKey|Account|State|Submit|Start|End|ElapsedRaw|AllocTRES", row), "|", delimiter)
		jobs, report := mustRead(t, strings.ReplaceAll(text, "WCKEY", wckey), Options{})
		require.Len(t, report.Quarantined, quarantined, wckey)
		for _, j := range jobs {
			require.Equal(t, [2]string{wckey, "lab_a"}, [2]string{j.WCKey, j.Account})
		}
	}
	f("||", "k", 0)
	f("||", "", 0)
	f("||", "a|b", 0)
	f("||", "k|", 1)
	f("^|^", "k^", 0)
	f("^|^", "k^|", 1)
	f(";;", "k;", 1)
	f("<->", "k<-", 0)
}

func TestC02FieldCount(t *testing.T) {
	jobs, report := mustRead(t, lines("JobID|Account|State|Start|End|Elapsed|AllocTRES",
		"101|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4",
		"102|lab_a|x|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4",
		"103|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4"), Options{Cluster: "c1"})
	require.Len(t, jobs, 2)
	require.Equal(t, "8 cells where 7 are due", report.Quarantined[0].Reason)
	require.Equal(t, int64(3), report.Quarantined[0].Source.Line)
	require.Equal(t, Instant(1740996000), report.Quarantined[0].End)
}

// With the name last, surplus cells are its own: what is wrong is said.
func TestC02WrongCell(t *testing.T) {
	require.Contains(t, badA(t, `Start: "2025-03-03T09:00" cannot stand`, "Start=2025-03-03T09:00", "JobName=a|b").Hint, "SLURM_TIME_FORMAT")
	badA(t, `JobID: "x1" cannot stand`, "JobID=x1", "JobName=a|b|c")
}

func TestC04StrayDelimiter(t *testing.T) {
	jobs, report := mustRead(t, lines(layoutA, rowA()+"|", rowA("JobID=102", "JobIDRaw=102", "JobName=a|b")+"|"), Options{})
	require.Equal(t, []string{"work", "a|b"}, names(jobs))
	require.Equal(t, int64(1), report.Warnings[0].Count)
	require.Equal(t, WarnTrailingDelim, report.Warnings[0].Kind)
}

func TestParsable(t *testing.T) { // sacct -p
	jobs, report := mustRead(t, lines(layoutA+"|", rowA()+"|", rowA("JobName=a|b")+"|", rowA("JobName=a\nb")+"|"), Options{})
	require.Equal(t, []string{"work", "a|b", "a\nb"}, names(jobs))
	require.Equal(t, "sacct -p", report.Format)
	require.Equal(t, int64(5), report.Lines)
}

func TestC05Delimiters(t *testing.T) {
	for _, d := range []string{"^|^", "|||", "|#", ";;", "\x1f", "\t", ";", "%%%", "<->"} {
		text := strings.ReplaceAll(lines(layoutA, rowA("JobName=NAME")), "|", d)
		jobs, report := mustRead(t, strings.ReplaceAll(text, "NAME", "a|b"), Options{})
		require.Empty(t, report.Quarantined, d)
		require.Equal(t, []string{"a|b"}, names(jobs), d)
	}
	jobs, _ := mustRead(t, strings.ReplaceAll(lines(layoutA, rowA()), "|", "ZZ"), Options{Delimiter: "ZZ"})
	require.Equal(t, []string{"work"}, names(jobs))
}

func TestC07NewLine(t *testing.T) {
	const layout = "JobID|State|Start|End|Elapsed|AllocTRES|JobName|Account"
	const tail = "COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4|"
	jobs, report := mustRead(t, lines(layout, "101|"+tail+"first line\nsecond line|lab_a", "102|"+tail+"x|lab_b"), Options{Cluster: "c1"})
	require.Equal(t, []string{"first line\nsecond line", "x"}, names(jobs))
	require.Equal(t, "lab_a", jobs[0].Account)
	require.Equal(t, int64(4), jobs[1].Source.Line)
	require.Equal(t, int64(4), report.Lines)

	// joining cannot reach the columns: that record alone is set aside
	jobs, report = mustRead(t, lines(layout, "101|"+tail+"first\nsecond", "", "102|"+tail+"x|lab_b"), Options{Cluster: "c1"})
	require.Equal(t, []string{"x"}, names(jobs))
	require.Len(t, report.Quarantined, 1)
	require.Contains(t, report.Quarantined[0].Text, "first\nsecond")

	// the name stands last
	jobs, _ = mustRead(t, lines(layoutA, rowA("JobName=line one\nline two\n\nline | three"), rowA("JobIDRaw=102")), Options{})
	require.Equal(t, []string{"line one\nline two\nline | three", "work"}, names(jobs))
	require.Equal(t, int64(6), jobs[1].Source.Line)
}

// New lines in two texts of one record, and of the next.
func TestC07TwoTexts(t *testing.T) {
	const tail = "|lab_a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4|c\nd"
	jobs, report := mustRead(t, lines("JobID|JobName|Account|State|Submit|Start|End|Elapsed|AllocTRES|WCKey",
		"102|a\nb"+tail, "103|e\nf"+tail, "104|g"+tail), Options{Cluster: "c1"})
	require.Empty(t, report.Quarantined)
	require.Equal(t, []string{"a\nb", "e\nf", "g"}, names(jobs))
	require.Equal(t, []uint64{102, 103, 104}, []uint64{jobs[0].JobIDRaw, jobs[1].JobIDRaw, jobs[2].JobIDRaw})
	require.Equal(t, "c\nd", jobs[1].WCKey)
}

func TestC08LooksLikeRecord(t *testing.T) {
	const layout = "JobID|SubmitLine|Account|State|Start|End|Elapsed|AllocTRES|JobName"
	const tail = "|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4|n"
	jobs, report := mustRead(t, lines(layout, "101|sbatch --wrap \"echo\n102 done\""+tail, "103|x"+tail), Options{Cluster: "c1"})
	require.Empty(t, report.Quarantined)
	require.Equal(t, uint64(101), jobs[0].JobIDRaw)
	require.Equal(t, uint64(103), jobs[1].JobIDRaw)
	jobs, _ = mustRead(t, lines(layoutA, rowA("JobName=echo\n102 done"), rowA("JobName=sbatch \\n")), Options{})
	require.Equal(t, []string{"echo\n102 done", "sbatch \\n"}, names(jobs))
}

func TestC10Quotes(t *testing.T) {
	jobs, _ := mustRead(t, lines(layoutA, rowA(`JobName=12" disk test`), rowA(`JobName="a`), rowA(), rowA(`JobName=b"`)), Options{})
	require.Equal(t, []string{`12" disk test`, `"a`, "work", `b"`}, names(jobs))
}

func TestC11NotUTF8(t *testing.T) {
	jobs, report := mustRead(t, lines(layoutA, rowA("JobName=m\xfcll"), rowA("JobName=aàb")), Options{})
	require.Equal(t, []string{"m\ufffdll", "aàb"}, names(jobs))
	require.Equal(t, NoteInvalidUTF8, jobs[0].Notes)
	require.Zero(t, jobs[1].Notes)
	require.Equal(t, WarnInvalidUTF8, report.Warnings[0].Kind)
}

// Two accounts must not become one by their bytes being replaced.
func TestC11Account(t *testing.T) {
	q := badA(t, `Account: "m\xfcll" is not UTF-8`, "Account=m\xfcll")
	require.Contains(t, q.Text, "m\ufffdll")
	require.Equal(t, "müll", oneA(t, "Account=MÜLL").Account)
}

func TestRequestUnknown(t *testing.T) {
	j := oneA(t, "ReqTRES=cpu=4,mem=0.10G", "ReqMem=")
	require.Equal(t, [2]int64{Unknown, Unknown}, [2]int64{j.ReqCPUs, j.ReqMemoryMiB})
	require.Equal(t, int64(8192), j.MemoryMiB)
}
