package ingest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A damaged record is never taken for more of the name before it.
func TestDamagedRecordIsNotSwallowed(t *testing.T) {
	f := func(damaged string) {
		t.Helper()
		jobs, report := mustRead(t, lines(layoutA, rowA(), damaged, rowA("JobID=103", "JobIDRaw=103")), Options{})
		require.Len(t, jobs, 2)
		require.Equal(t, "work", jobs[0].Name)
		require.Len(t, report.Quarantined, 1)
		require.Equal(t, int64(3), report.Quarantined[0].Source.Line)
	}
	row := rowA("JobID=102", "JobIDRaw=102")
	cells := strings.Split(row, "|")
	for i := range cells { // one cell is lost
		f(strings.Join(append(append([]string(nil), cells[:i]...), cells[i+1:]...), "|"))
	}
	f("x" + row)                               // no job id
	f(strings.Join(cells[:12], "|"))           // the end is lost
	f(strings.Join(cells[6:], "|"))            // the start is lost
	f(strings.Replace(row, "2025", "20x5", 1)) // a cell is no date
}

// A part of a file that was never written, as after a crash, is not passed
// over.
func TestHoleInFile(t *testing.T) {
	rows := []string{layoutA}
	for range 60 {
		rows = append(rows, rowA())
	}
	whole := lines(rows...)
	hole := strings.Repeat("\x00", 4096)
	refused(t, whole+hole+"\n"+rowA()+"\n", "never written", "again", Options{})
	refused(t, whole+rowA()[:60]+hole+rowA()[90:]+"\n", "never written", "again", Options{})
	refused(t, whole+hole, "never written", "again", Options{})
}

// Runs whose Submit is not printed are told apart by their start.
func TestEmptySubmit(t *testing.T) {
	jobs, _ := mustRead(t, lines(layoutA, rowA("Submit=", "State=REQUEUED"),
		rowA("Submit=Unknown", "Start=2025-03-03T11:00:00", "End=2025-03-03T12:00:00")), Options{})
	require.Equal(t, jobs[0].Start, jobs[0].Submit)
	require.Equal(t, jobs[1].Start, jobs[1].Submit)
	require.Equal(t, NoteNoSubmit, jobs[0].Notes)
}

// GPUs in a form that sacct does not print are not none.
func TestOtherFormsOfGPUs(t *testing.T) {
	for _, tres := range []string{"cpu=4,gres:gpu=2", "cpu=4,gres:gpu:a100=2", "cpu=4,gpu=2", "cpu=4,gpu:a100=2", "cpu=4,GRES/gpu=2", "cpu=4,gres/GPU:a100=2"} {
		badA(t, "where GPUs are gres/gpu", "AllocTRES="+tres)
	}
	require.Zero(t, oneA(t, "AllocTRES=cpu=4,gres/gpumem=40G,gres/gpuutil=9,gres/shard:gpu=4").GPUs)
}

func TestCarriageReturnAlone(t *testing.T) {
	refused(t, strings.ReplaceAll(lines(layoutA, rowA()), "\n", "\r"), "carriage return alone", "tr ", Options{})
}
