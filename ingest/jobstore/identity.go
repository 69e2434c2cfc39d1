package jobstore

import (
	"cmp"
	"slices"

	"hpcbill/ingest"
)

// Which records are revisions of one job, and which of them counts.
//
// Slurm's database has at most one row for a raw job id and a Submit, and one
// for a DBIndex; a requeued or resized job gets a new row with a new Submit
// and a new DBIndex. So records of one cluster and raw id are the same job
// when their DBIndex or their Submit agree. Three things soften "agree", all
// of them harmless where dumps are sound:
//
//   - Records that ended and whose runs do not overlap are different runs,
//     whatever their Submit says, unless their DBIndex is the same: some dumps
//     repeat the first Submit in every run.
//   - A stamp in the hour that a clock change repeats may be an hour off
//     (NoteRepeatedHour).
//   - Where a dump has no Submit (NoteNoSubmit), Start stands for it.
//
// Everything here is a function of the set of records alone, so the order in
// which dumps are loaded does not matter. For that the set has to be known:
// what a later ingest could need is kept beside the dataset (see retained).

const secondsPerHour = 3600

// uncertain are the notes that say that a record's Submit may not be what
// another dump has for it.
const uncertain = ingest.NoteRepeatedHour | ingest.NoteNoSubmit

// verdict says what becomes of a record among the records of its raw id.
type verdict uint8

const (
	dropped  verdict = iota // can never matter again
	retained                // lost, but a later record may make it count, or need it to tell jobs apart
	winning                 // is the job, in the dataset
)

// judge gives the verdict of each of the records, all of one cluster and raw
// id and all different, and the number of the job that each belongs to. It
// looks at nothing of them but what decidingColumns names.
func judge(records []revision) (verdicts []verdict, jobs []int) {
	verdicts = make([]verdict, len(records))
	jobs = groupRecords(records)
	best := map[int]int{}
	for i, job := range jobs {
		if b, ok := best[job]; !ok || outranks(&records[i], &records[b]) {
			best[job] = i
		}
	}
	for i, job := range jobs {
		b := best[job]
		switch {
		case i == b:
			verdicts[i] = winning
		case records[i].Final() || !records[b].Final() && !replaced(records, i):
			verdicts[i] = retained
		}
	}
	return verdicts, jobs
}

// replaced reports whether another unfinished record says all that i could
// say of which records belong together, and outranks it.
func replaced(records []revision, i int) bool {
	return slices.ContainsFunc(records, func(r revision) bool {
		return !r.Final() && sameKeys(&r, &records[i]) && outranks(&r, &records[i])
	})
}

// sameKeys reports whether any record that belongs with a belongs with b.
func sameKeys(a, b *revision) bool {
	return a.DBIndex == b.DBIndex && a.Submit == b.Submit && a.Start == b.Start && a.Notes&uncertain == b.Notes&uncertain
}

// outranks reports whether a counts rather than b, both being revisions of
// one job: final beats unfinished; then stamps that are certain beat those of
// a repeated hour; then the later End, or of unfinished ones the one that saw
// more of the run; then the later dump; then the one that has a DBIndex; then
// the place where they stood last. To be seen once more never lowers a rank,
// so that a record which counts needs no second look when a dump repeats it.
func outranks(a, b *revision) bool { return rank(a, b) > 0 }

func rank(a, b *revision) int {
	return cmp.Or(
		cmp.Compare(min(a.End, 1), min(b.End, 1)), // None is 0
		cmp.Compare(b.Notes&ingest.NoteRepeatedHour, a.Notes&ingest.NoteRepeatedHour),
		cmp.Compare(a.End, b.End),
		cmp.Compare(observed(a), observed(b)),
		cmp.Compare(a.last.dumpTime, b.last.dumpTime),
		cmp.Compare(min(a.DBIndex, 1), min(b.DBIndex, 1)),
		cmp.Compare(a.last.source.Digest, b.last.source.Digest),
		cmp.Compare(a.last.source.Line, b.last.source.Line),
		cmp.Compare(a.print, b.print),
	)
}

// observed is the instant up to which an unfinished record saw its job run; 0
// for a final one.
func observed(r *revision) int64 {
	if r.Final() || !r.Ran() {
		return 0
	}
	return int64(r.Start) + r.ElapsedSeconds + r.SuspendedSeconds
}

// groupRecords gives each record the number of the job it belongs to. Numbers
// count from 0 in no particular order.
func groupRecords(records []revision) []int {
	jobs := newPartition(len(records))
	var finals, others []int
	for i := range records {
		if records[i].Final() {
			finals = append(finals, i)
		} else {
			others = append(others, i)
		}
	}
	joinFinals(records, finals, jobs)
	loose := others[:0]
	for _, i := range others {
		if final, ok := finalOf(records, finals, i); ok {
			jobs.join(i, final)
		} else {
			loose = append(loose, i)
		}
	}
	byKey := func(same func(a, b *revision) bool, order func(a, b *revision) int) {
		slices.SortFunc(loose, func(a, b int) int { return order(&records[a], &records[b]) })
		for i := 1; i < len(loose); i++ {
			if same(&records[loose[i-1]], &records[loose[i]]) {
				jobs.join(loose[i-1], loose[i])
			}
		}
	}
	byKey(sameDBIndex, func(a, b *revision) int { return cmp.Compare(a.DBIndex, b.DBIndex) })
	byKey(func(a, b *revision) bool { return a.Submit == b.Submit }, bySubmit)
	joinOdd(records, loose, jobs)
	return jobs.numbers()
}

// see notes that a dump had this very record. A final record is said to stand
// where it was seen first; an unfinished one where it was seen last, since of
// those that lost nothing is kept. In one dump it stands in the first line.
func (r *revision) see(by seenBy) {
	switch order := by.compare(&r.last); {
	case order > 0:
		r.last = by
	case order == 0:
		r.last.source.Line = min(r.last.source.Line, by.source.Line)
	}
	if !r.Final() {
		r.Source, r.dumpTime = r.last.source, r.last.dumpTime
		return
	}
	first := seenBy{r.Source, r.dumpTime}
	switch order := by.compare(&first); {
	case order < 0:
		r.Source, r.dumpTime = by.source, by.dumpTime
	case order == 0:
		r.Source.Line = min(r.Source.Line, by.source.Line)
	}
}

// compare orders dumps by the time they were made.
func (s *seenBy) compare(other *seenBy) int {
	return cmp.Or(cmp.Compare(s.dumpTime, other.dumpTime), cmp.Compare(s.source.Digest, other.source.Digest))
}

func sameDBIndex(a, b *revision) bool { return a.DBIndex != 0 && a.DBIndex == b.DBIndex }

func bySubmit(a, b *revision) int {
	return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.Start, b.Start))
}

// joinFinals joins records that ended: by DBIndex; by Submit where their runs
// overlap, or neither ran.
func joinFinals(records []revision, finals []int, jobs partition) {
	slices.SortFunc(finals, func(a, b int) int { return cmp.Compare(records[a].DBIndex, records[b].DBIndex) })
	for i := 1; i < len(finals); i++ {
		if sameDBIndex(&records[finals[i-1]], &records[finals[i]]) {
			jobs.join(finals[i-1], finals[i])
		}
	}
	// In the order of Start within a Submit, runs that overlap are neighbours
	// of the run with the latest End so far.
	slices.SortFunc(finals, func(a, b int) int { return bySubmit(&records[a], &records[b]) })
	for i, latest := 1, 0; i < len(finals); i++ {
		a, b := &records[finals[latest]], &records[finals[i]]
		if a.Submit == b.Submit && overlap(a, b) {
			jobs.join(finals[latest], finals[i])
		}
		if a.Submit != b.Submit || a.Ran() != b.Ran() || b.endOfRun() > a.endOfRun() {
			latest = i
		}
	}
	joinOdd(records, finals, jobs)
}

// overlap reports whether two records may be of one run: whether the time
// that the one ran meets the time that the other did. A run without length
// is taken as its first second. An unfinished run has no end; a record that
// never started meets only such others, and every unfinished one.
func overlap(a, b *revision) bool {
	switch {
	case !a.Ran() || !b.Ran():
		return a.Ran() == b.Ran() || !a.Ran() && !a.Final() || !b.Ran() && !b.Final()
	case a.Final() && a.endOfRun() <= b.Start:
		return false
	case b.Final() && b.endOfRun() <= a.Start:
		return false
	}
	return true
}

func (r *revision) endOfRun() ingest.Instant { return max(r.End, r.Start+1) }

// mostOdd bounds the records of one raw id that are compared pair by pair; no
// sound dump comes near it.
const mostOdd = 1000

// joinOdd joins the records whose Submit is known to be uncertain, by what
// else they have in common.
func joinOdd(records []revision, among []int, jobs partition) {
	if len(among) > mostOdd || !slices.ContainsFunc(among, func(i int) bool { return records[i].Notes&uncertain != 0 }) {
		return
	}
	for n, i := range among {
		for _, k := range among[:n] {
			if sameDespiteSubmit(&records[i], &records[k]) {
				jobs.join(i, k)
			}
		}
	}
}

// sameDespiteSubmit reports whether two records are of one job although their
// Submit differs, since one of them says that it may.
func sameDespiteSubmit(a, b *revision) bool {
	notes := a.Notes | b.Notes
	if a.DBIndex != 0 && b.DBIndex != 0 && a.DBIndex != b.DBIndex {
		return false
	}
	if notes&ingest.NoteRepeatedHour != 0 && sameDespiteHour(a, b) {
		return true
	}
	if notes&ingest.NoteNoSubmit == 0 {
		return false
	}
	if a.Ran() || b.Ran() {
		return a.Start == b.Start
	}
	return a.End == b.End
}

// sameDespiteHour reports whether two records differ by the hour that a clock
// change repeats: in Submit, or in their whole run.
func sameDespiteHour(a, b *revision) bool {
	submit, start := a.Submit-b.Submit, a.Start-b.Start
	hourOff := func(d ingest.Instant) bool { return d == secondsPerHour || d == -secondsPerHour }
	if overlap(a, b) {
		return hourOff(submit)
	}
	return hourOff(start) && a.End-b.End == start && (submit == 0 || submit == start)
}

// finalOf finds the ended record whose past the unfinished record i shows: of
// the same DBIndex, or else of the same Submit and a run that i's can have
// become. Of several, the one with i's Start, or else the latest.
func finalOf(records []revision, finals []int, i int) (int, bool) {
	r, found, score := &records[i], -1, 0
	for _, k := range finals {
		f, s := &records[k], 0
		switch {
		case sameDBIndex(r, f):
			s = 4
		case overlap(r, f) && (r.Submit == f.Submit || sameDespiteSubmit(r, f)):
			s = 2
		default:
			continue
		}
		if r.Start == f.Start {
			s++
		}
		if s > score || s == score && rank(f, &records[found]) > 0 {
			found, score = k, s
		}
	}
	return found, found >= 0
}

// partition is a set of sets: the parent of each element.
type partition []int

func newPartition(n int) partition {
	p := make(partition, n)
	for i := range p {
		p[i] = i
	}
	return p
}

func (p partition) find(i int) int {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

func (p partition) join(i, k int) { p[p.find(i)] = p.find(k) }

func (p partition) numbers() []int {
	numbers, of := make([]int, len(p)), map[int]int{}
	for i := range p {
		root := p.find(i)
		if _, ok := of[root]; !ok {
			of[root] = len(of)
		}
		numbers[i] = of[root]
	}
	return numbers
}
