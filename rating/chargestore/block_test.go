package chargestore

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rating"
)

// drawIntake takes in jobs with numbers of any size.
func drawIntake(t *rapid.T) *intake {
	in := newIntake()
	for range rapid.IntRange(1, 300).Draw(t, "jobs") {
		j := smpJob(rapid.Uint64().Draw(t, "raw"))
		number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1, 5), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
		j.CPUs, j.MemoryMiB, j.Source.Line = number.Draw(t, "cpus"), number.Draw(t, "memory"), number.Draw(t, "line")
		j.JobID, j.User, j.Name = rapid.String().Draw(t, "id"), rapid.String().Draw(t, "user"), rapid.String().Draw(t, "name")
		o := outcomeOf(j)
		o.Group = rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "group")
		in.add(&o)
	}
	return in
}

func TestBlocksGiveTheirRowsBack(t *testing.T) {
	var encoder blockEncoder
	var decoder blockDecoder
	b := newBatch()
	rapid.Check(t, func(t *rapid.T) {
		in := drawIntake(t)
		sorted := in.sorted()
		block := encoder.encode(&in.texts, sorted)
		require.NoError(t, decoder.decode(b, block))
		require.Equal(t, len(sorted), b.n)
		for i, want := range sorted {
			got := b.record(i)
			require.Equal(t, want.numbers, got.numbers)
			require.Zero(t, compare(want, &in.texts, &got, &b.texts))
			if i > 0 {
				require.LessOrEqual(t, compare(sorted[i-1], &in.texts, want, &in.texts), 0)
			}
		}
	})
}

func TestADamagedBlockIsAnError(t *testing.T) {
	in := newIntake()
	o := outcomeOf(smpJob(1))
	in.add(&o)
	var encoder blockEncoder
	var decoder blockDecoder
	block := encoder.encode(&in.texts, in.sorted())
	for i := range block {
		block[i] ^= 1
		require.ErrorIs(t, decoder.decode(newBatch(), block), errBlock, i)
		require.ErrorIs(t, decoder.decode(newBatch(), block[:i]), errBlock, i)
		block[i] ^= 1
	}
	require.NoError(t, decoder.decode(newBatch(), block))
}

// TestAFullDiskEndsTheRating has a temporary file that nothing can be written
// to: the rating that goes on meanwhile is stopped.
func TestAFullDiskEndsTheRating(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "spool"))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	w := writing{runRows: 10, spool: &spool{file: f}, counts: map[string]int{}}
	rated := 0
	err = w.collect(func(yield func(rating.Outcome, error) bool) {
		for rated < 1_000_000 && yield(outcomeOf(smpJob(uint64(rated))), nil) {
			rated++
		}
	})
	require.ErrorIs(t, err, os.ErrClosed)
	require.Less(t, rated, 1_000_000)
}
