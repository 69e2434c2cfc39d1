package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"hpcbill/rating"

	"github.com/stretchr/testify/require"
)

// openDemo makes the demo's site and gives it opened.
func openDemo(t *testing.T) *site {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	a := &app{stdin: bytes.NewReader(nil), stdout: io.Discard, stderr: io.Discard, now: time.Now, getenv: func(string) string { return "" }}
	require.Equal(t, exitDone, a.run(context.Background(), []string{"demo", dir}))
	a.siteDir = dir
	s, err := a.openSite()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close()) })
	return s
}

func TestRatingJobs(t *testing.T) {
	s := openDemo(t)
	t.Run("many desks as one", func(t *testing.T) { testManyDesks(t, s) })
	t.Run("ends on an error", func(t *testing.T) { testRatingEnds(t, s) })
}

// However many cores rate, the charges have the same bytes and the invoices
// say the same.
func testManyDesks(t *testing.T, s *site) {
	p, err := s.period(demoPeriod)
	require.NoError(t, err)
	bill := func(cores int) (charges, invoices []byte, seen int) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		to := keepCharges(t.TempDir())
		to.each = func(*rating.Outcome) { seen++ }
		b, err := s.compute(context.Background(), s.inputs, p, to)
		require.NoError(t, err)
		charges, err = os.ReadFile(filepath.Join(to.dir, "period="+demoPeriod, "charges-"+demoPeriod+".parquet"))
		require.NoError(t, err)
		invoices, err = json.Marshal(b.invoices)
		require.NoError(t, err)
		summary, err := json.Marshal(b.summary)
		require.NoError(t, err)
		return charges, append(invoices, summary...), seen
	}
	charges, invoices, seen := bill(1)
	require.NotZero(t, seen)
	for _, cores := range []int{2, 3, 8} {
		c, i, n := bill(cores)
		require.True(t, bytes.Equal(charges, c), "%d cores", cores)
		require.Equal(t, string(invoices), string(i), "%d cores", cores)
		require.Equal(t, seen, n)
	}
}

// What cannot be rated ends the work at once: nothing waits for anything.
func testRatingEnds(t *testing.T, s *site) {
	p, err := s.period(demoPeriod)
	require.NoError(t, err)
	for _, cores := range []int{1, 4} {
		before := runtime.GOMAXPROCS(cores)
		desks, err := s.desks(p)
		require.NoError(t, err)
		to := keepCharges(t.TempDir())
		work := &ratingWork{site: s, inputs: s.inputs, period: p, desks: desks, sink: to,
			pass: func(*desk, *rating.Outcome) error { return io.ErrNoProgress }}
		require.ErrorIs(t, work.run(context.Background()), io.ErrNoProgress)

		ended, end := context.WithCancel(context.Background())
		end()
		work.pass = (*desk).add
		require.ErrorIs(t, work.run(ended), context.Canceled)
		entries, err := os.ReadDir(to.dir)
		require.NoError(t, err)
		require.Empty(t, entries)
		runtime.GOMAXPROCS(before)
	}
}
