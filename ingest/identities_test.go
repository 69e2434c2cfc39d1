package ingest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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

// The tasks of an array share their Submit, and the components of a het job
// too: without JobIDRaw they would be revisions of one job, DBIndex or not.
func TestTasksWithoutRawID(t *testing.T) {
	for _, index := range []string{"Comment", "DBIndex", "SLUID"} {
		jobs, report := mustRead(t, lines("JobID|"+index+"|Cluster|Account|State|Submit|Start|End|Elapsed|AllocTRES",
			"9_1|71|c|a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=1",
			"9_2|72|c|a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=1",
			"6+1|73|c|a|COMPLETED|2025-03-03T08:00:00|2025-03-03T09:00:00|2025-03-03T10:00:00|01:00:00|cpu=1",
			"9_[3-5]|74|c|a|PENDING|2025-03-03T08:00:00|Unknown|Unknown|00:00:00|"), Options{})
		require.Len(t, report.Quarantined, 3, index)
		for _, q := range report.Quarantined {
			require.Contains(t, q.Hint, "dump again with JobIDRaw")
		}
		require.Equal(t, uint64(9), jobs[0].JobIDRaw) // the range has the id of the array
	}
}

// Slurm's signs for "no value" are no index and no count.
func TestSentinels(t *testing.T) {
	for _, none := range []string{"18446744073709551614", "18446744073709551615", "0", ""} {
		jobs, _ := mustRead(t, lines(layoutA+"|DBIndex", rowA()+"|"+none), Options{})
		require.Zero(t, jobs[0].DBIndex, none)
	}
	jobs, _ := mustRead(t, lines(layoutA+"|DBIndex", rowA()+"|9223372036854775808"), Options{})
	require.Equal(t, uint64(1)<<63, jobs[0].DBIndex)
	badA(t, "nothing is recorded as allocated", "NCPUS=4294967294", "AllocTRES=", "ReqTRES=")
	require.Equal(t, int64(1), oneA(t, "NNodes=4294967294").NodeCount)
	require.Equal(t, uint64(7), oneA(t, "JobID=100_4294967294", "JobIDRaw=7").JobIDRaw)
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
