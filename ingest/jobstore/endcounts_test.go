package jobstore

import (
	"testing"

	"hpcbill/ingest"

	"github.com/stretchr/testify/require"
)

func TestEndCounts(t *testing.T) {
	s := newStore(t, t.TempDir())
	load(t, s, dump{"a", december, []ingest.Job{
		job(5, november+day), job(4, november+day), job(3, november), job(2, december), job(1, november-1), job(9, december-1),
		running(8, december+day, december),
	}})
	other := job(7, november+day)
	other.Cluster = "west"
	load(t, s, dump{"b", december, []ingest.Job{other, job(6, november+2*day)}})
	f := func(want map[string][]int64, edges ...ingest.Instant) {
		t.Helper()
		got, err := s.EndCounts(edges)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	f(map[string][]int64{"lab": {1, 2, 2}, "west": {0, 1, 0}}, november, november+day, november+2*day, december)
	f(map[string][]int64{"lab": {5}, "west": {1}}, november, december)
	f(map[string][]int64{"lab": {1, 6}, "west": {0, 1}}, november-day, november, december+day)
	f(map[string][]int64{"lab": {0, 2}, "west": {0, 1}}, november+day-5, november+day, november+day+1)
	f(map[string][]int64{}, 0, 1)
}
