package chargestore

import (
	"cmp"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/ingest"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// Rows of a group come by cluster, end, id, part and meter, also where they
// came in no order, have no end, or an id that no int64 holds.
func TestRowsOfAGroupAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.OneOf(rapid.SampledFrom([]ingest.Instant{ingest.None, -1, 1772366400}), rapid.Map(rapid.Int64Range(1772366400, 1772366420), func(x int64) ingest.Instant { return ingest.Instant(x) }))
		raw := rapid.OneOf(rapid.Uint64Range(0, 5), rapid.SampledFrom([]uint64{math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}))
		ids := rapid.SampledFrom([]string{"", "7", "123456789012345", "1234567890123456", "1_[" + strings.Repeat("1,", 200) + "2]"})
		var outcomes []rating.Outcome
		for range rapid.IntRange(1, 60).Draw(t, "outcomes") {
			j := smpJob(raw.Draw(t, "raw"))
			j.Cluster, j.End, j.JobID = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "cluster"), end.Draw(t, "end"), ids.Draw(t, "id")
			o := outcomeOf(j)
			o.Group = rapid.SampledFrom([]string{"", "g", "h"}).Draw(t, "group")
			if rapid.IntRange(0, 2).Draw(t, "part") == 0 {
				o.From = j.Start + ingest.Instant(rapid.Int64Range(0, 2).Draw(t, "from"))
			}
			for _, meter := range rapid.SampledFrom([][]string{nil, {"m"}, {"n", "m"}}).Draw(t, "meters") {
				c := smpCharge(money.Int(1), money.Int(1))
				c.Group, c.Meter = o.Group, meter
				o.Charges = append(o.Charges, c)
			}
			outcomes = append(outcomes, o)
		}
		dir, err := os.MkdirTemp("", "charges")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		w := writing{keptRows: 1000, keptTextBytes: keptTextBytes, at: func(string) {}}
		require.NoError(t, w.write(dir, march, desksOf(t, outcomes, 2, 7, rapid.Uint64().Draw(t, "seed"))))
		require.Equal(t, rowsTold(outcomes), readTold(t, dir))
		var rows []Row
		for row, err := range Read(dir, march, "") {
			require.NoError(t, err)
			rows = append(rows, row)
		}
		require.True(t, slices.IsSortedFunc(rows, func(a, b Row) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Job.Cluster, b.Job.Cluster), cmp.Compare(uint64(a.Job.End), uint64(b.Job.End)),
				cmp.Compare(a.Job.JobIDRaw, b.Job.JobIDRaw), cmp.Compare(partOf(&a), partOf(&b)), cmp.Compare(a.Charge.Meter, b.Charge.Meter))
		}))
	})
}

// partOf is where the part of a job begins that a row is of, 0 where it is all of
// it.
func partOf(row *Row) uint64 {
	if row.From == row.Job.Start && row.Until == row.Job.End {
		return 0
	}
	return uint64(row.From)
}
