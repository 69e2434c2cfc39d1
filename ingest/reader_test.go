package ingest

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
		"9|sC8NKDVDNA0005|c|a||1001|*proj1|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=1|None assigned"), Options{})
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
	f.Add(lines(layoutA, rowA("JobName=x\nJobID|State|Account|Start|End|AllocTRES|Cluster"), rowA("JobName=JobID State Account Start End"), "", rowA()), 3)
	f.Add(lines(layoutA, rowA(), "Cluster;JobID;State;Account;AllocTRES;Start;End;Elapsed", "x",
		"c2;102;FAILED;lab_b;cpu=2;2025-03-03T09:00:00;2025-03-03T10:00:00;01:00:00"), 3)
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
