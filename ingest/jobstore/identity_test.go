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

// load takes in a dump as the store does: records that count already are only
// noted as seen, and decide nothing anew.
func (m model) load(records []revision, at ingest.Instant, digest string) {
	counting := map[uint64]bool{}
	for i, v := range m.verdicts() {
		counting[m.list()[i].print] = v == winning
	}
	contested, inDump := false, map[uint64]bool{}
	for i, r := range records {
		by := seenBy{ingest.Source{Digest: digest, Line: int64(i)}, at}
		known, ok := m[r.print]
		switch {
		case inDump[r.print]:
			continue
		case ok:
			known.see(by)
			m[r.print] = known
		default:
			r.setSource(by.source, at)
			m[r.print] = r
		}
		inDump[r.print] = true
		contested = contested || !counting[r.print]
	}
	if !contested {
		return
	}
	list := m.list()
	for i, v := range m.verdicts() {
		if v == dropped {
			delete(m, list[i].print)
		}
	}
}

func (m model) verdicts() []verdict {
	verdicts, _ := judge(m.list())
	return verdicts
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
	text := ""
	for i, v := range m.verdicts() {
		r := m.list()[i]
		text += fmt.Sprintf("%d: verdict %d, from %s line %d of %d, last %v\n", r.print, v, r.Source.Digest, r.Source.Line, r.dumpTime, r.last)
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

// The cases below are those of Slurm's accounting: what sacct prints of a job
// at different times, and of different jobs that look alike.

const (
	nine   = ingest.Instant(1_750_000_000) // nine o'clock of some day
	minute = ingest.Instant(60)
	hour   = 60 * minute
)

// run is a record of raw id 200, submitted at five to nine.
func run(state ingest.State, start, end ingest.Instant) revision {
	r := revision{Job: ingest.Job{JobIDRaw: 200, State: state, Submit: nine - 5*minute, Start: start, End: end}}
	if start != ingest.None && end != ingest.None {
		r.ElapsedSeconds = int64(end - start)
	}
	r.setSource(ingest.Source{Digest: "d"}, nine+24*hour)
	return r
}

func (r revision) submitted(at ingest.Instant) revision { r.Submit = at; return r }
func (r revision) index(n uint64) revision              { r.DBIndex = n; return r }
func (r revision) noted(n ingest.Notes) revision        { r.Notes = n; return r }
func (r revision) seenAt(t ingest.Instant) revision     { r.setSource(r.Source, t); return r }
func (r revision) on(account string) revision           { r.Account = account; return r }
func (r revision) elapsed(seconds int64) revision       { r.ElapsedSeconds = seconds; return r }

func TestWhichRecordsCount(t *testing.T) {
	// f wants the records at these positions, and no others, to count.
	f := func(name string, records []revision, want ...int) {
		t.Helper()
		for turn := range records { // in every rotation
			turned := append(slices.Clone(records[turn:]), records[:turn]...)
			for i := range turned {
				turned[i].print = columnar.Hash(fmt.Sprintf("%v", turned[i].Job))
			}
			verdicts, _ := judge(turned)
			var got []int
			for i, v := range verdicts {
				if v == winning {
					got = append(got, (i+turn)%len(records))
				}
			}
			slices.Sort(got)
			require.Equal(t, want, got, name)
		}
	}
	completed, failed := ingest.Completed, ingest.NodeFail
	f("one record", []revision{run(completed, nine, nine+hour)}, 0)
	f("a running record and its end", []revision{
		run(ingest.Running, nine, ingest.None).elapsed(600), run(completed, nine, nine+hour)}, 1)
	f("an old dump loaded after the end", []revision{
		run(completed, nine, nine+hour).seenAt(nine + 2*hour), run(ingest.Running, nine, ingest.None).elapsed(3599).seenAt(nine + 90*hour)}, 0)
	f("pending, running, ended", []revision{
		run(ingest.Pending, 0, 0), run(ingest.Running, nine, 0).elapsed(60), run(completed, nine, nine+hour)}, 2)
	f("of two running ones, that which saw more", []revision{
		run(ingest.Running, nine, 0).elapsed(700), run(ingest.Running, nine, 0).elapsed(600)}, 0)
	f("the account was changed: the later dump", []revision{
		run(completed, nine, nine+hour).on("a").seenAt(nine + 30*hour), run(completed, nine, nine+hour).on("b").seenAt(nine + 20*hour)}, 0)
	f("the later end", []revision{
		run(completed, nine, nine+2*hour).seenAt(nine + 3*hour), run(completed, nine, nine+hour).seenAt(nine + 9*hour)}, 0)
	f("requeued: each run has its Submit", []revision{
		run(failed, nine, nine+30*minute), run(completed, nine+hour, nine+3*hour).submitted(nine + 31*minute)}, 0, 1)
	f("requeued, in a dump that repeats the first Submit", []revision{
		run(failed, nine, nine+30*minute), run(completed, nine+hour, nine+3*hour)}, 0, 1)
	f("the same with indices", []revision{
		run(failed, nine, nine+30*minute).index(7), run(completed, nine+hour, nine+3*hour).index(8)}, 0, 1)
	f("requeued and running again", []revision{
		run(failed, nine, nine+30*minute), run(ingest.Running, nine+hour, 0).elapsed(60)}, 0, 1)
	f("preempted twice", []revision{
		run(ingest.Preempted, nine, nine+10*minute), run(ingest.Preempted, nine+20*minute, nine+40*minute), run(completed, nine+hour, nine+2*hour)}, 0, 1, 2)
	f("resized: the parts meet", []revision{
		run(ingest.Resizing, nine, nine+hour), run(completed, nine+hour, nine+2*hour).submitted(nine + hour)}, 0, 1)
	f("a runaway that was mended", []revision{
		run(ingest.Running, nine, 0).elapsed(900000), run(completed, nine, nine)}, 1)
	f("cancelled in the queue, beside a run", []revision{
		run(ingest.Cancelled, 0, nine+5*hour), run(completed, nine, nine+hour)}, 0, 1)
	f("the raw id came round again", []revision{
		run(completed, nine, nine+hour), run(completed, nine+900*24*hour, nine+901*24*hour).submitted(nine + 899*24*hour)}, 0, 1)
	f("a dump with DBIndex and one without", []revision{
		run(completed, nine, nine+hour).index(7).seenAt(nine + 2*hour), run(completed, nine, nine+hour).seenAt(nine + 2*hour)}, 0)
	f("one without, seen later", []revision{
		run(completed, nine, nine+hour).index(7), run(completed, nine, nine+hour).seenAt(nine + 99*hour)}, 1)
	f("one DBIndex, Submit an hour apart", []revision{
		run(completed, nine, nine+hour).index(7), run(completed, nine, nine+hour).index(7).submitted(nine - 65*minute).seenAt(nine + 2*hour)}, 0)
	f("three that meet through the second", []revision{
		run(completed, nine, nine+hour).submitted(nine - 65*minute),
		run(completed, nine, nine+hour).submitted(nine - 65*minute).index(7),
		run(completed, nine, nine+hour).index(7).seenAt(nine + 99*hour)}, 2)
	f("Submit in a repeated hour, undecided", []revision{
		run(completed, nine, nine+hour).noted(ingest.NoteRepeatedHour).seenAt(nine + 99*hour),
		run(completed, nine, nine+hour).submitted(nine - 65*minute)}, 1)
	f("the whole run in a repeated hour, undecided", []revision{
		run(completed, nine, nine+10*minute).noted(ingest.NoteRepeatedHour),
		run(completed, nine-hour, nine-50*minute).submitted(nine - 65*minute)}, 1)
	f("an hour apart without the note: two runs", []revision{
		run(completed, nine, nine+10*minute), run(completed, nine-hour, nine-50*minute).submitted(nine - 65*minute)}, 0, 1)
	f("a dump without Submit, and one with it", []revision{
		run(completed, nine, nine+hour).submitted(nine).noted(ingest.NoteNoSubmit), run(completed, nine, nine+hour).seenAt(nine + 99*hour)}, 1)
	f("two runs of a dump without Submit", []revision{
		run(failed, nine, nine+hour).submitted(nine).noted(ingest.NoteNoSubmit),
		run(completed, nine+2*hour, nine+3*hour).submitted(nine + 2*hour).noted(ingest.NoteNoSubmit)}, 0, 1)
}
