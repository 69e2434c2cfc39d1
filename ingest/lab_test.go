package ingest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	labDir    = "../../shared/data/slurm-lab"
	publicDir = "../../shared/data/public"
)

// external opens a file of the shared test data, or skips the test.
func external(t testing.TB, dir, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("external test data not present")
	}
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// readAll reads a whole dump; the Jobs are copies.
func readAll(t testing.TB, name string, r *os.File, opt Options) ([]Job, Report) {
	t.Helper()
	reader, err := Open(name, r, opt)
	require.NoError(t, err)
	var jobs []Job
	for batch, err := range reader.Batches() {
		require.NoError(t, err)
		jobs = append(jobs, batch...)
	}
	return jobs, reader.Report()
}

func TestLabDumps(t *testing.T) {
	for name, records := range map[string]int64{"sacct-2025-10.txt.gz": 166907, "sacct-2025-11.txt.gz": 161398} {
		_, report := readAll(t, name, external(t, labDir, name), Options{})
		require.Equal(t, records, report.Records, name)
		require.Equal(t, records, report.Jobs, name)
		require.Empty(t, report.Quarantined, name)
		t.Log(report.Warnings, report.Newest, report.FirstEnd, report.LastEnd, report.Digest)
	}
}

// The same jobs, printed in two zones, have the same instants, across the
// change of the clocks on 2025-11-02. DBIndex tells which job is which.
func TestTwoZones(t *testing.T) {
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	utc, _ := readAll(t, "utc", external(t, labDir, "sacct-2025-11.txt.gz"), Options{})
	local, report := readAll(t, "ny", external(t, labDir, "sacct-2025-11-newyork.txt.gz"), Options{Zone: newYork})
	require.Empty(t, report.Quarantined)
	byIndex := map[uint64]*Job{}
	for i := range utc {
		byIndex[utc[i].DBIndex] = &utc[i]
	}
	common, undecided := 0, 0
	for i := range local {
		got, want := &local[i], byIndex[local[i].DBIndex]
		if want == nil {
			continue
		}
		common++
		require.Equal(t, want.Submit, got.Submit, "submit of %s", got.JobID)
		require.Equal(t, want.Eligible, got.Eligible, "eligible of %s", got.JobID)
		require.Equal(t, want.ElapsedSeconds, got.ElapsedSeconds)
		if want.Start != got.Start || want.End != got.End {
			require.NotZero(t, got.Notes&NoteRepeatedHour, "%s: %d %d, want %d %d", got.JobID, got.Start, got.End, want.Start, want.End)
			require.Equal(t, want.Start-got.Start, want.End-got.End)
			undecided++
		}
	}
	require.Equal(t, 160479, common)
	// They waited in the queue before the repeated hour and ran wholly within
	// it: every time that the dump prints of them fits both readings.
	require.LessOrEqual(t, undecided, 12)
	t.Log(undecided, report.Warnings)
}
