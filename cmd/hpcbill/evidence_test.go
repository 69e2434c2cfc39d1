package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A dump that lands while a month is computed is not among those that it is
// known to be made of: were it, what it brings would never be looked at again.
func TestADumpThatLandsInTheMeantime(t *testing.T) {
	s, ctx := openDemo(t), context.Background()
	a := &app{stdin: bytes.NewReader(nil), stdout: io.Discard, stderr: os.Stderr, now: time.Now, getenv: func(string) string { return "" }, siteDir: s.dir}
	require.NoError(t, a.recordIngests(ctx, s))
	before := s.evidence(&billing{}).Ingests
	require.NotEmpty(t, before)

	dump := filepath.Join(t.TempDir(), "late.txt")
	require.NoError(t, os.WriteFile(dump, []byte("JobID|JobIDRaw|Cluster|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES\n"+
		"9|9|"+s.clusterNames()[0]+"|u|x|smp|COMPLETED|2026-03-03T08:00:00|2026-03-03T09:00:00|2026-03-03T10:00:00|3600|cpu=4\n"), 0o644))
	require.Equal(t, exitDone, a.run(ctx, []string{"--site", s.dir, "ingest", dump}))
	ingests, err := s.jobs.Ingests()
	require.NoError(t, err)
	require.Len(t, ingests, len(before)+1)
	require.Equal(t, before, s.evidence(&billing{}).Ingests)

	require.NoError(t, a.recordIngests(ctx, s))
	require.Len(t, s.evidence(&billing{}).Ingests, len(before)+1)
}

// What is known of the dumps is read once, however many issued months are
// looked at for late ones: afterwards the files could as well say anything.
func TestIngestsAreReadOnce(t *testing.T) {
	s, ctx := openDemo(t), context.Background()
	p, err := s.period(demoPeriod)
	require.NoError(t, err)
	known, err := s.ingests()
	require.NoError(t, err)
	require.NotEmpty(t, known)

	files, err := filepath.Glob(filepath.Join(s.path(jobsDir), "*", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		require.NoError(t, os.WriteFile(f, nil, 0o644))
	}
	_, err = s.jobs.Ingests()
	require.Error(t, err)

	_, _, err = s.lateOf(ctx, demoPeriod, lastIssue{}, nil)
	require.NoError(t, err)
	b, err := s.compute(ctx, s.inputs, p.Next(), nil)
	require.NoError(t, err)
	var read int64
	for _, r := range known {
		read += r.Records
	}
	require.Equal(t, read, b.summary.Records.Read)
}
