package columnar_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"
	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"

	"github.com/stretchr/testify/require"
)

// namedColumn is a column as somebody is told of it.
type namedColumn struct{ name, kind string }

// The README's table of the dataset is what is written: the same columns, and
// the types that their files say of themselves.
func TestReadmeTable(t *testing.T) {
	dir := t.TempDir()
	s, err := jobstore.Open(dir)
	require.NoError(t, err)
	g, err := s.Begin()
	require.NoError(t, err)
	job := ingest.Job{Cluster: "lab", JobID: "7", JobIDRaw: 7, State: ingest.Completed, Submit: 1761955200, Start: 1761955200, End: 1761958800, ElapsedSeconds: 3600}
	job.Source = ingest.Source{File: "a", Line: 2}
	require.NoError(t, g.Add([]ingest.Job{job}))
	_, err = g.Commit(jobstore.Dump{File: "a", Digest: strings.Repeat("0", 64), Bytes: 1, Newest: job.End, Records: 1,
		Format: "test", Zone: "UTC", IngestedAt: time.Unix(int64(job.End), 0).UTC()})
	require.NoError(t, err)
	require.ElementsMatch(t, writtenColumns(t, dir), readmeColumns(t))
}

// readmeColumns reads the table: names and types parted by commas, one type
// standing for all names of a row.
func readmeColumns(t *testing.T) (columns []namedColumn) {
	text, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| column | type | is |\n|---|---|---|\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		names := strings.Split(cells[1], ",")
		kinds := strings.Split(strings.Replace(cells[2], "timestamp, UTC", "timestamp", 1), ",")
		if len(kinds) != 1 {
			require.Len(t, kinds, len(names), row)
		}
		for i, name := range names {
			kind := strings.TrimSpace(kinds[min(i, len(kinds)-1)])
			columns = append(columns, namedColumn{strings.Trim(name, " `"), kind})
		}
	}
	return columns
}

// writtenColumns reads the schema of the dataset's one file.
func writtenColumns(t *testing.T, dir string) (columns []namedColumn) {
	files, err := filepath.Glob(filepath.Join(dir, "cluster=*", "month=*", "*.parquet"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	f, err := file.OpenParquetFile(files[0], false)
	require.NoError(t, err)
	defer f.Close()
	root := f.MetaData().Schema
	for i := range root.NumColumns() {
		c := root.Column(i)
		columns = append(columns, namedColumn{c.Name(), kindOf(t, c)})
	}
	return columns
}

func kindOf(t *testing.T, c *schema.Column) string {
	switch l := c.LogicalType().(type) {
	case schema.StringLogicalType:
		return "text"
	case *schema.TimestampLogicalType:
		require.True(t, l.IsAdjustedToUTC(), c.Name())
		return "timestamp"
	case *schema.IntLogicalType:
		require.EqualValues(t, 64, l.BitWidth(), c.Name())
		if !l.IsSigned() {
			return "uint64"
		}
	}
	require.Equal(t, "INT64", c.PhysicalType().String(), c.Name())
	return "int64"
}
