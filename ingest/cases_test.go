package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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

func TestC13CutOff(t *testing.T) {
	text := lines(layoutA, rowA(), rowA())
	jobs, report := mustRead(t, text[:len(text)-1], Options{})
	require.Len(t, jobs, 2)
	require.False(t, report.Truncated)
	require.Equal(t, WarnNoFinalNewline, report.Warnings[0].Kind)

	jobs, report = mustRead(t, text[:len(text)-60], Options{})
	require.Len(t, jobs, 1)
	require.True(t, report.Truncated)
	require.Contains(t, report.Quarantined[0].Reason, "the file ends inside this record")

	packed := gzipped(text)
	for cut := 1; cut < len(packed); cut += 7 {
		_, _, err := read(string(packed[:cut]), Options{})
		require.Error(t, err, cut)
	}
}

func gzipped(texts ...string) []byte {
	var b bytes.Buffer
	for _, text := range texts {
		w := gzip.NewWriter(&b)
		io.WriteString(w, text)
		w.Close()
	}
	return b.Bytes()
}

func TestPacked(t *testing.T) {
	text := lines(layoutA, rowA(), rowA("JobName=a|b"))
	want, plain := mustRead(t, text, Options{})
	got, report := mustRead(t, string(gzipped(text[:100], text[100:])), Options{}) // two members
	require.Equal(t, want, got)
	require.NotEqual(t, plain.Digest, report.Digest)
	require.Equal(t, int64(len(text)), report.TextBytes)

	var b bytes.Buffer
	for _, part := range []string{text[:90], text[90:]} { // two frames
		w, err := zstd.NewWriter(&b)
		require.NoError(t, err)
		io.WriteString(w, part)
		require.NoError(t, w.Close())
	}
	got, report = mustRead(t, b.String(), Options{})
	require.Equal(t, want, got)
	require.Equal(t, int64(b.Len()), report.Bytes)
	refused(t, b.String()[:b.Len()-5], "zstd", "copy the file again", Options{})
	refused(t, string(gzipped(string(gzipped(text)))), "packed twice", "unpack", Options{})
	refused(t, string(gzipped(text))+"junk", "gzip", "copy the file again", Options{})
}

func TestDigest(t *testing.T) { // SHA-256 of "JobID|…\n", by sha256sum
	_, report := mustRead(t, "JobID|Cluster|Account|State|Start|End|Elapsed|AllocTRES\n", Options{})
	require.Equal(t, "b4f5a95fc137c9ca", report.Digest[:16])
}

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

func TestC32NeverStarted(t *testing.T) {
	for _, start := range []string{"Unknown", "None", "N/A", "", "0", "1970-01-01T01:00:00"} {
		j := oneA(t, "State=CANCELLED by 1001", "Start="+start, "ElapsedRaw=0", "AllocTRES=")
		require.False(t, j.Ran(), start)
		require.Zero(t, j.ElapsedSeconds)
		require.Zero(t, j.CPUs)
		require.Equal(t, "1001", j.CancelledBy)
	}
	badA(t, "no start, but 3600 seconds elapsed", "Start=Unknown")
}

func TestC34EndBeforeStart(t *testing.T) {
	j := oneA(t, "Start=2025-03-03T10:00:00", "End=2025-03-03T09:59:30", "ElapsedRaw=0")
	require.Zero(t, j.ElapsedSeconds)
	require.Equal(t, NoteElapsedDisagrees, j.Notes)
	badA(t, `ElapsedRaw: "-1"`, "ElapsedRaw=-1")
	badA(t, "ElapsedRaw", "ElapsedRaw=4294967294")
	badA(t, "the job ran, but the cell is empty", "ElapsedRaw=")
}

func TestC35Suspended(t *testing.T) {
	j := oneA(t, "Start=2025-03-03T09:00:00", "End=2025-03-03T19:00:00", "ElapsedRaw=28800", "Suspended=02:00:00")
	require.Equal(t, int64(28800), j.ElapsedSeconds)
	require.Equal(t, int64(7200), j.SuspendedSeconds)
	require.Zero(t, j.Notes)
	j = oneA(t, "End=2025-03-03T10:00:02")
	require.Equal(t, int64(3600), j.ElapsedSeconds)
	require.Equal(t, NoteElapsedDisagrees, j.Notes)
	require.Zero(t, oneA(t, "End=2025-03-03T10:00:01").Notes)
	badA(t, "Suspended", "Suspended=soon")
}

func TestC40RepeatedHour(t *testing.T) {
	submit := "Submit=2025-10-26T01:00:00"
	j := oneA(t, submit, "Start=2025-10-26T02:30:00", "End=2025-10-26T02:45:00", "ElapsedRaw=4500")
	require.Equal(t, Instant(1761438600), j.Start) // 00:30 UTC
	require.Equal(t, Instant(1761443100), j.End)   // 01:45 UTC
	require.Zero(t, j.Notes)
	j = oneA(t, submit, "Start=2025-10-26T02:45:00", "End=2025-10-26T02:15:00", "ElapsedRaw=1800")
	require.Equal(t, Instant(1761439500), j.Start) // 00:45 UTC
	require.Equal(t, Instant(1761441300), j.End)   // 01:15 UTC
	j = oneA(t, submit, "Start=2025-10-26T02:30:00", "End=2025-10-26T02:10:00", "ElapsedRaw=1200", "Suspended=00:20:00")
	require.Equal(t, int64(2400), int64(j.End-j.Start))
	j = oneA(t, submit, "Start=2025-10-26T02:30:00", "End=2025-10-26T02:40:00", "ElapsedRaw=600")
	require.Equal(t, NoteRepeatedHour, j.Notes) // either hour
	require.Equal(t, int64(600), int64(j.End-j.Start))
	badA(t, "no time of this zone", "Start=2025-03-30T02:30:00")
	_, report := mustRead(t, lines("JobID|Cluster|Account|State|Start|End|AllocTRES", "1|c|a|COMPLETED|2025-10-26T02:30:00|2025-10-26T02:40:00|cpu=1"), Options{Zone: zone(t, "Europe/Berlin")})
	require.Contains(t, report.Quarantined[0].Reason, "clock change leaves open")
}

func TestC41MixedTimes(t *testing.T) {
	berlin := Options{Zone: zone(t, "Europe/Berlin")}
	jobs, report := mustRead(t, lines(layoutA, rowA(), rowA("Submit=2025-03-03T08:00:00+0100", "Start=1740988800", "End=2025-03-03T09:00:00Z")), berlin)
	require.Equal(t, jobs[0].Start, jobs[1].Start)
	require.Equal(t, jobs[0].End, jobs[1].End)
	require.Equal(t, WarnMixedTimes, report.Warnings[0].Kind)
}

func TestC43ElapsedDisagrees(t *testing.T) {
	const layout = "JobID|Cluster|Account|State|Submit|Start|End|ElapsedRaw|Elapsed|AllocTRES"
	const head = "1|c|a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|"
	jobs, _ := mustRead(t, lines(layout, head+"3600|01:00:00|cpu=4", head+"3600|02:00:00|cpu=4"), Options{})
	require.Zero(t, jobs[0].Notes)
	require.Equal(t, int64(3600), jobs[1].ElapsedSeconds)
	require.Equal(t, NoteElapsedDisagrees, jobs[1].Notes)
	for _, elapsed := range []string{"-16", "2982616-04:14:00", "00:54:74", "00:24.041", "soon"} {
		_, report := mustRead(t, lines(strings.ReplaceAll(layout, "ElapsedRaw", "Comment"), head+"|"+elapsed+"|cpu=4"), Options{})
		require.Len(t, report.Quarantined, 1, elapsed)
	}
}

func TestC47LeapSecond(t *testing.T) {
	jobs, report := mustRead(t, lines(layoutA, rowA("Submit=2016-12-31T22:00:00", "Start=2016-12-31T23:00:00", "End=2017-01-01T01:00:00", "ElapsedRaw=7200"),
		rowA("Submit=2016-12-31T22:00:00", "Start=2016-12-31T23:00:00", "End=2016-12-31T23:59:60", "ElapsedRaw=3600")), Options{})
	require.Equal(t, int64(7200), int64(jobs[0].End-jobs[0].Start))
	require.Equal(t, int64(3600), int64(jobs[1].End-jobs[1].Start))
	require.Equal(t, NoteLeapSecond, jobs[1].Notes)
	require.Equal(t, WarnLeapSecond, report.Warnings[0].Kind)
}

func TestC49Steps(t *testing.T) {
	text := lines(layoutA, rowA())
	for _, step := range []string{"batch", "extern", "0", "1", "interactive", "bat+"} {
		text += rowA("JobID=101."+step, "JobIDRaw=101."+step, "User=", "Partition=", "QOS=", "JobName=a|b") + "\n"
	}
	jobs, report := mustRead(t, text, Options{})
	require.Len(t, jobs, 1)
	require.Equal(t, int64(6), report.Steps)
	require.Zero(t, report.OrphanSteps)
	require.True(t, report.HasSteps)
}

func TestC50OrphanSteps(t *testing.T) {
	text := lines(layoutA, rowA("JobID=101.batch", "JobIDRaw=101.batch"), rowA("JobID=101.0", "JobIDRaw=101.0"), rowA("JobID=102.0", "JobIDRaw=102.0"), rowA("JobID=102", "JobIDRaw=102"))
	_, report := mustRead(t, text, Options{})
	require.Equal(t, int64(3), report.Steps)
	require.Equal(t, int64(2), report.OrphanSteps)
	require.Equal(t, WarnOrphanSteps, report.Warnings[0].Kind)
}

func TestC52Runs(t *testing.T) { // C53, C61: every record with a start is a run of its own
	jobs, _ := mustRead(t, lines(layoutA,
		rowA("State=NODE_FAIL", "End=2025-03-03T09:30:00", "ElapsedRaw=1800"),
		rowA("State=REQUEUED", "Submit=2025-03-03T09:31:00", "Start=2025-03-03T09:40:00", "End=2025-03-03T09:50:00", "ElapsedRaw=600"),
		rowA("State=RESIZING", "Submit=2025-03-03T09:51:00", "Start=2025-03-03T10:00:00", "End=2025-03-03T11:00:00"),
		rowA("Submit=2025-03-03T11:00:00", "Start=2025-03-03T11:00:00", "End=2025-03-03T12:00:00", "AllocTRES=cpu=8")), Options{})
	require.Len(t, jobs, 4)
	require.True(t, jobs[1].Final() && jobs[2].Final())
	require.Equal(t, int64(8), jobs[3].CPUs)
}

func TestC55Running(t *testing.T) {
	j := oneA(t, "State=RUNNING", "End=Unknown", "ElapsedRaw=18000")
	require.False(t, j.Final())
	require.Equal(t, int64(18000), j.ElapsedSeconds)
	_, report := mustRead(t, lines(layoutA, rowA("State=RUNNING", "End=Unknown", "ElapsedRaw=18000", "Suspended=00:01:00")), Options{})
	require.Equal(t, Instant(1740992400+18000+60), report.Newest) // the start and what was counted since
	require.Equal(t, None, report.LastEnd)
}

func TestC56Ranges(t *testing.T) {
	for _, id := range []string{"500_[3-10%2]", "500_[1,5]", "500_[9-11,13,16-20]", "500_[0-4:2]", "500_[1%1]"} {
		j := oneA(t, "JobID="+id, "JobIDRaw=500", "State=PENDING", "Start=Unknown", "End=Unknown", "ElapsedRaw=0", "AllocTRES=")
		require.False(t, j.Ran())
		require.Equal(t, uint64(500), j.JobIDRaw)
	}
	badA(t, "a range of array tasks has run time", "JobID=500_[1-5]", "JobIDRaw=500")
}

func TestC58Het(t *testing.T) {
	jobs, report := mustRead(t, lines(layoutA, rowA("JobID=600+0", "JobIDRaw=600"), rowA("JobID=600+0.batch", "JobIDRaw=600.batch"),
		rowA("JobID=600+1", "JobIDRaw=601", "AllocTRES=cpu=8"), rowA("JobID=600+1.0", "JobIDRaw=601.0")), Options{})
	require.Len(t, jobs, 2)
	require.Equal(t, uint64(601), jobs[1].JobIDRaw)
	require.Zero(t, report.OrphanSteps)
}

func TestC59Cluster(t *testing.T) {
	const layout = "JobID|Account|State|Submit|Start|End|Elapsed|AllocTRES"
	const row = "1|a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4"
	jobs, _ := mustRead(t, lines(layout, row), Options{Cluster: "c2"})
	require.Equal(t, "c2", jobs[0].Cluster)
	refused(t, lines(layout, row), "Cluster", "--cluster", Options{})
	jobs, _ = mustRead(t, lines(layoutA, rowA(), rowA("Cluster=")), Options{Cluster: "c2"})
	require.Equal(t, "c1", jobs[0].Cluster)
	require.Equal(t, "c2", jobs[1].Cluster)
	badA(t, "Cluster: the cell is empty", "Cluster=")
}

func TestC62Runaway(t *testing.T) {
	const layout = "JobID|Cluster|Account|State|Submit|Start|End|ElapsedRaw|Timelimit|AllocTRES"
	const head = "1|c|a|RUNNING|2023-03-03T08:00:00|2023-03-03T09:00:00|Unknown|"
	jobs, _ := mustRead(t, lines(layout, head+"63072000|1-00:00:00|cpu=64", head+"172800|1-00:00:00|cpu=64", head+"63072000|UNLIMITED|cpu=64"), Options{})
	require.Equal(t, []Notes{NoteRunaway, 0, NoteRunaway}, []Notes{jobs[0].Notes, jobs[1].Notes, jobs[2].Notes})
}

// A window from 11:40 to 12:00; the first job really began at 11:33:16.
func TestC38Truncated(t *testing.T) {
	day := func(changes ...string) string {
		return rowA(append([]string{"Submit=2025-03-03T11:00:00"}, changes...)...)
	}
	clipped := day("Start=2025-03-03T11:40:00", "End=2025-03-03T11:59:01", "ElapsedRaw=1141")
	refused(t, lines(layoutA, clipped, day("State=PENDING", "Start=2025-03-03T11:40:00", "End=2025-03-03T12:00:00", "ElapsedRaw=0")),
		"made with sacct -T", "without -T", Options{})
	refused(t, lines(layoutA, day("State=RUNNING", "Start=2025-03-03T11:50:00", "End=2025-03-03T12:00:00", "ElapsedRaw=600"),
		day("State=RUNNING", "Start=2025-03-03T11:51:00", "End=2025-03-03T12:00:00", "ElapsedRaw=540")), "made with sacct -T", "without -T", Options{})

	later := day("Start=2025-03-03T11:50:00", "End=2025-03-03T12:00:00", "ElapsedRaw=600")
	_, report := mustRead(t, lines(layoutA, clipped, clipped, clipped, later, later, later), Options{})
	require.Equal(t, WarnTruncatedTimes, report.Warnings[0].Kind)
	_, report = mustRead(t, lines(layoutA, clipped, clipped, later, later, later), Options{})
	require.Empty(t, report.Warnings)
	j := oneA(t, "State=PENDING", "End=Unknown")
	require.False(t, j.Final() || j.Ran()) // about to be started
}

func TestC73AllocAgainstReq(t *testing.T) {
	j := oneA(t, "ReqTRES=billing=1,cpu=1,mem=8G,node=1", "AllocTRES=billing=36,cpu=36,gres/gpu=4,mem=180G,node=1")
	require.Equal(t, [5]int64{36, 184320, 4, 36, 1}, [5]int64{j.CPUs, j.MemoryMiB, j.GPUs, j.Billing, j.NodeCount})
	require.Equal(t, [4]int64{1, 8192, 0, 1}, [4]int64{j.ReqCPUs, j.ReqMemoryMiB, j.ReqGPUs, j.ReqNodeCount})
}

func TestC79NoMemory(t *testing.T) {
	require.Equal(t, Unknown, oneA(t, "AllocTRES=billing=4,cpu=4,node=1").MemoryMiB)
	require.Zero(t, oneA(t, "AllocTRES=billing=4,cpu=4,mem=0,node=1").MemoryMiB)
	require.Zero(t, oneA(t, "AllocTRES=cpu=4,node=1").Billing)
}

func TestC80ReqMem(t *testing.T) {
	f := func(text string, want int64) {
		t.Helper()
		require.Equal(t, want, oneA(t, "ReqTRES=", "ReqMem="+text, "NNodes=2", "AllocTRES=cpu=32,node=2").ReqMemoryMiB, text)
	}
	f("500", 500)
	f("4Gn", 8192)
	f("4G", 4096)
	f("0n", Unknown)
	f("", Unknown)
	require.Equal(t, int64(131072), requestedMemory("4Gc", 32, 1))
}

func TestC83Nodes(t *testing.T) {
	j := oneA(t, "NNodes=3", "NCPUS=0", "AllocTRES=cpu=4,node=2")
	require.Equal(t, int64(4), j.CPUs)
	require.Equal(t, int64(2), j.NodeCount)
	require.Equal(t, NoteNodesDisagree, j.Notes)
}

func TestC88Accounts(t *testing.T) {
	for _, account := range []string{"Lab_A", "lab_a", "lab_a ", " LAB_A"} {
		require.Equal(t, "lab_a", oneA(t, "Account="+account).Account)
	}
	require.Empty(t, oneA(t, "Account=").Account) // C28: held later, not lost
}

func TestC140ZeroTask(t *testing.T) {
	j := oneA(t, "JobID=0_0", "JobIDRaw=501")
	require.Equal(t, uint64(501), j.JobIDRaw)
	require.Equal(t, NoteStrangeJobID, j.Notes)
}

func TestC142NothingAllocated(t *testing.T) {
	badA(t, "nothing is recorded as allocated", "NCPUS=0", "AllocTRES=")
	badA(t, "nothing is recorded as allocated", "NCPUS=4", "AllocTRES=") // AllocCPUS may repeat ReqTRES
	badA(t, "nothing is recorded as allocated", "NCPUS=0", "AllocTRES=energy=5")
	j := oneA(t, "NCPUS=4", "AllocTRES=", "ReqTRES=")
	require.Equal(t, [4]int64{4, Unknown, Unknown, Unknown}, [4]int64{j.CPUs, j.MemoryMiB, j.GPUs, j.Billing})
	require.Zero(t, oneA(t, "State=FAILED", "End=2025-03-03T09:00:00", "ElapsedRaw=0", "AllocTRES=").CPUs)
}

func TestMoreQuarantine(t *testing.T) {
	badA(t, "AllocTRES: mem=0.10G is not a whole number of MiB", "AllocTRES=cpu=4,mem=0.10G")
	badA(t, "Partition", "Partition=cpu,gpu")
	badA(t, "a pending job has an end", "State=PENDING")
	badA(t, "a running job has an end", "State=RUNNING")
	badA(t, "the job is COMPLETED but has no end", "End=Unknown")
	badA(t, "JobIDRaw", "JobIDRaw=99999999999999999999999")
	badA(t, "State", "State=done")
	badA(t, "Submit", "Submit=Ystday 11:00")
	_, report := mustRead(t, lines("JobID|Cluster|Account|State|Start|End|Elapsed|AllocTRES", "9_1|c|a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=1"), Options{})
	require.Contains(t, report.Quarantined[0].Hint, "JobIDRaw")
}

func TestFields(t *testing.T) {
	jobs, report := mustRead(t, lines("JobID|SLUID|Cluster|Account|User|UID|WCKey|State|Submit|Start|End|Elapsed|AllocTRES|NodeList",
		"9_1|sC8NKDVDNA0005|c|a||1001|*proj1|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=1|None assigned"), Options{})
	require.Empty(t, report.Quarantined)
	require.True(t, report.HasDBIndex)
	require.Equal(t, uint64(14147616068585127941), jobs[0].DBIndex)
	require.Equal(t, uint64(9), jobs[0].JobIDRaw)
	require.Equal(t, "1001", jobs[0].User)
	require.Equal(t, "proj1", jobs[0].WCKey)
	require.Empty(t, jobs[0].NodeList)
}

func TestNotADump(t *testing.T) {
	text := layoutA + "\n"
	for range quarantineOnly {
		text += rowA("State=none") + "\n"
	}
	refused(t, text, "none of the first 1000 records can be read", "", Options{})
}

// Records that lie across the ends of blocks are read as any other.
func TestBlocks(t *testing.T) {
	var b strings.Builder
	b.WriteString(layoutA + "\n")
	want := 0
	for i := 0; b.Len() < 5*blockBytes; i++ {
		name := strings.Repeat("x", i%97)
		if i%3 == 0 {
			name += "\nsecond line " + strings.Repeat("y", i%89) + "|z"
		}
		b.WriteString(rowA(fmt.Sprintf("JobIDRaw=%d", i), "JobName="+name) + "\n")
		want++
	}
	jobs, report := mustRead(t, b.String(), Options{})
	require.Empty(t, report.Quarantined)
	require.Len(t, jobs, want)
	line := int64(2)
	for i, j := range jobs {
		require.Equal(t, uint64(i), j.JobIDRaw)
		require.Equal(t, line, j.Source.Line)
		line += int64(1 + strings.Count(j.Name, "\n"))
	}
	require.Equal(t, line-1, report.Lines)
}

// The consumer may stop at any time.
func TestStop(t *testing.T) {
	text := layoutA + "\n" + strings.Repeat(rowA()+"\n", 20*batchJobs)
	r, err := Open("dump.txt", strings.NewReader(text), Options{})
	require.NoError(t, err)
	for batch, err := range r.Batches() {
		require.NoError(t, err)
		require.Len(t, batch, batchJobs)
		break
	}
}

func TestReadError(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(lines(layoutA, rowA())), iotestErr{})
	r, err := Open("dump.txt", broken, Options{})
	require.NoError(t, err)
	for batch, err := range r.Batches() {
		require.Empty(t, batch)
		require.ErrorContains(t, err, "dump.txt: read: disk on fire")
	}
}

type iotestErr struct{}

func (iotestErr) Read([]byte) (int, error) { return 0, errors.New("disk on fire") }

func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		lines(layoutA, rowA()), lines(layoutA+"|", rowA("JobName=a|b\nc")+"|"), lines(layoutA, rowA("JobID=1.batch"), "x", "", layoutA, rowA()),
		lines("JobID|JobName|Account|State|Start|End|Elapsed|AllocTRES|Comment|Cluster", "102|fit|0.9|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4|a\nb|c1"),
		string(gzipped(lines(layoutA, rowA()))), "{", "\ufeff\n\n", answerOf(),
		answerOf(`"array":{"job_id":90,"task_id":{"set":true,"number":7}}`, `"steps":[{"time":{"start":1}}]`, `"state":{"current":"FAILED"}`),
	} {
		f.Add(seed)
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, report, err := read(text, Options{Cluster: "c", Zone: berlin})
		if err != nil {
			require.NotContains(t, err.Error(), "BUG")
			var e *Error
			require.True(t, errors.As(err, &e), err)
			return
		}
		for i := range jobs {
			j := &jobs[i]
			require.GreaterOrEqual(t, j.ElapsedSeconds, int64(0))
			require.True(t, j.Ran() || j.ElapsedSeconds == 0)
			require.NotEmpty(t, j.Cluster)
		}
		again, second, err := read(text, Options{Cluster: "c", Zone: berlin})
		require.NoError(t, err)
		require.Equal(t, jobs, again)
		require.Equal(t, report, second)
	})
}

// parseIn parses a text in blocks of so many lines, without a Reader.
func parseIn(text string, linesPerBlock int) ([]Job, Report, error) {
	var jobs []Job
	p := newParser("dump.txt", Options{Cluster: "c"}, func(batch []Job) ([]Job, error) {
		jobs = append(jobs, batch...)
		return batch[:0], nil
	})
	p.batch = make([]Job, 0, 3)
	rest := ""
	for {
		block := text
		for i, from := 0, 0; i < linesPerBlock; i++ {
			end := strings.IndexByte(text[from:], '\n')
			if end < 0 {
				block = text
				break
			}
			from += end + 1
			block = text[:from]
		}
		text = text[len(block):]
		n, err := p.parse(rest+block, text == "")
		if err != nil {
			return nil, Report{}, err
		}
		rest = (rest + block)[n:]
		if text == "" {
			break
		}
	}
	err := p.finish()
	return jobs, p.report, err
}

// Where the blocks end changes nothing.
func FuzzBlocks(f *testing.F) {
	f.Add(lines(layoutA, rowA("JobName=a|b\nc"), "x", "", rowA("JobID=1.batch"), rowA("State=?|")), 2)
	f.Add(lines("JobID|JobName|Account|State|Start|End|Elapsed|AllocTRES|Comment|Cluster",
		"102|fit\n0.9|lab_a|COMPLETED|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=4|a\nb|c1", "7|x"), 3)
	f.Add(lines(layoutA+"|", rowA("JobName=a|b\nc")+"|", layoutA, rowA()), 1)
	f.Fuzz(func(t *testing.T, text string, linesPerBlock int) {
		if linesPerBlock < 3 || linesPerBlock > 9 { // a ruler and a stray delimiter are told from the first block
			linesPerBlock = 3
		}
		jobs, report, err := parseIn(text, 1<<30)
		if err != nil {
			return
		}
		require.Equal(t, report.Records, report.Jobs+report.Steps+int64(len(report.Quarantined)))
		again, second, err := parseIn(text, linesPerBlock)
		stray := func(w Warning) bool { return w.Kind == WarnTrailingDelim }
		if err != nil || slices.ContainsFunc(report.Warnings, stray) != slices.ContainsFunc(second.Warnings, stray) {
			return
		}
		require.Equal(t, jobs, again)
		require.Equal(t, report, second)
	})
}
