package jobstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
)

// answer takes in an answer without jobs, with one unreadable record.
func answer(t *testing.T, s *Store, series, name string, from, to, end ingest.Instant) {
	t.Helper()
	g, err := s.Begin()
	require.NoError(t, err)
	d := Dump{
		File: name, Digest: dump{name: series + name, at: to}.digest(), Records: 1,
		Quarantined: []ingest.Quarantined{{Source: ingest.Source{File: name, Line: 2}, Reason: "State: odd", End: end}},
		IngestedAt:  time.Unix(int64(to), 0).UTC(),
		Asked:       Asked{Series: series, From: from, To: to},
	}
	_, err = g.Commit(d)
	require.NoError(t, err)
}

// A record that could not be read is listed until a later answer of the same
// series has to show it again.
func TestAnswersSettleEachOther(t *testing.T) {
	s := newStore(t, t.TempDir())
	f := func(want ...string) {
		t.Helper()
		var got []string
		for q, err := range s.Quarantined() {
			require.NoError(t, err)
			got = append(got, fmt.Sprintf("%s:%d", q.Source.File, q.End))
		}
		require.Equal(t, want, got)
	}
	week := november + 7*day
	answer(t, s, "lab", "first", november, week, november+2*day)
	answer(t, s, "lab", "second", november, week, ingest.None)
	f(fmt.Sprintf("second:%d", ingest.None))

	// Another series says nothing of it, and neither does a dump of a file.
	answer(t, s, "other", "third", november, week+day, november+3*day)
	load(t, s, dump{"file", week, []ingest.Job{job(1, november+day)}})
	f("second:0", fmt.Sprintf("third:%d", november+3*day))

	// A window that begins later cannot show a record whose times are unknown.
	answer(t, s, "lab", "fourth", november+day, week+day, november+day)
	f("second:0", fmt.Sprintf("third:%d", november+3*day), fmt.Sprintf("fourth:%d", november+day))

	// A record is shown where its latest time lies in the window: at its first
	// moment, and not at its end.
	answer(t, s, "lab", "fifth", november+day, week+day, week+day)
	f("second:0", fmt.Sprintf("third:%d", november+3*day), fmt.Sprintf("fifth:%d", week+day))
	answer(t, s, "lab", "sixth", november-day, week+day, week)
	f(fmt.Sprintf("third:%d", november+3*day), fmt.Sprintf("fifth:%d", week+day), fmt.Sprintf("sixth:%d", week))

	records, err := s.Ingests()
	require.NoError(t, err)
	require.Equal(t, Asked{Series: "lab", From: november, To: week}, records[0].Asked)
	require.Zero(t, records[3].Asked)
}
