package jobstore

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// A model of the store: the records of one raw id that it keeps, by content.
type model map[uint64]revision

func (m model) load(records []revision, at ingest.Instant, digest string) {
	for i, r := range records {
		source := ingest.Source{Digest: digest, Line: int64(i)}
		if known, ok := m[r.print]; ok {
			known.see(source, at)
			m[r.print] = known
			continue
		}
		r.Source, r.dumpTime, r.lastSeen = source, at, at
		m[r.print] = r
	}
	list := m.list()
	verdicts, _ := judge(list)
	for i, v := range verdicts {
		if v == dropped {
			delete(m, list[i].print)
		}
	}
}

func (m model) list() []revision {
	var list []revision
	for _, r := range m {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b revision) int { return cmp.Compare(a.print, b.print) })
	return list
}

func (m model) String() string {
	list := m.list()
	verdicts, _ := judge(list)
	text := ""
	for i, r := range list {
		text += fmt.Sprintf("%d: verdict %d, from %s line %d of %d, seen %d\n", r.print, verdicts[i], r.Source.Digest, r.Source.Line, r.dumpTime, r.lastSeen)
	}
	return text
}

// drawRevision makes a record of one raw id.
func drawRevision(t *rapid.T) revision {
	pick := func(name string, values ...int) int { return rapid.SampledFrom(values).Draw(t, name) }
	r := revision{}
	r.Submit = ingest.Instant(3600 * pick("submit", 1, 1, 2))
	r.DBIndex = uint64(pick("dbindex", 0, 0, 1, 2))
	r.Start = ingest.Instant(pick("start", 10000, 10000, 13600, 20000))
	r.End = r.Start + ingest.Instant(pick("length", 0, 1000, 3600, 20000))
	r.ElapsedSeconds = int64(r.End - r.Start)
	r.Account = string(rune('a' + pick("account", 0, 1)))
	switch pick("state", 0, 0, 0, 1, 1, 2, 3) {
	case 1:
		r.End = ingest.None
	case 2:
		r.Start, r.End, r.ElapsedSeconds = ingest.None, ingest.None, 0
	case 3:
		r.Start, r.ElapsedSeconds = ingest.None, 0
	}
	r.Notes = ingest.Notes(pick("notes", 0, 0, 0, int(ingest.NoteRepeatedHour), int(ingest.NoteNoSubmit)))
	r.print = columnar.Hash(fmt.Sprintf("%v", r.Job))
	return r
}

func TestWhatIsKeptSufficesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfNDistinct(rapid.Custom(drawRevision), 1, 5, func(r revision) uint64 { return r.print }).Draw(t, "records")
		type load struct {
			records []revision
			at      ingest.Instant
		}
		var loads []load
		for range rapid.IntRange(1, 5).Draw(t, "dumps") {
			loads = append(loads, load{rapid.SliceOfN(rapid.SampledFrom(records), 1, 3).Draw(t, "dump"),
				ingest.Instant(rapid.IntRange(1, 4).Draw(t, "at"))})
		}
		order := make([]int, len(loads))
		for i := range order {
			order[i] = i
		}
		after := func(order []int) string {
			m := model{}
			for _, i := range order {
				m.load(loads[i].records, loads[i].at, fmt.Sprint(i))
			}
			return m.String()
		}
		want := after(order)
		other := append(rapid.Permutation(order).Draw(t, "order"), rapid.SliceOfN(rapid.SampledFrom(order), 0, 3).Draw(t, "again")...)
		require.Equal(t, want, after(other), "%v", other)
	})
}
