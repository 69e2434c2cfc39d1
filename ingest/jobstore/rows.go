package jobstore

import (
	"strings"
	"unsafe"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// revision is one record of a job as the store knows it: what the dump said,
// and when it was seen.
type revision struct {
	ingest.Job // Source is where the record was seen first

	dumpTime ingest.Instant // of the dump that Source names
	last     seenBy         // the newest dump that has this very record
	print    uint64         // fingerprint of all but Source
}

// setSource makes a dump the one where the record was seen, first and last.
func (v *revision) setSource(source ingest.Source, dumpTime ingest.Instant) {
	v.Source, v.dumpTime, v.last = source, dumpTime, seenBy{source, dumpTime}
}

// setLast is the opposite of lastColumns.
func (v *revision) setLast(seen ingest.Instant, digest string, line int64) {
	v.last = seenBy{ingest.Source{Digest: digest, Line: line}, seen}
	if digest == "" {
		v.last.source = v.Source
	}
}

// lastColumns gives what the files keep of last: its place only where it is
// not the source.
func (v *revision) lastColumns() (seen ingest.Instant, digest string, line int64) {
	if v.last.source.Digest == v.Source.Digest && v.last.source.Line == v.Source.Line {
		return v.last.dumpTime, "", 0
	}
	return v.last.dumpTime, v.last.source.Digest, v.last.source.Line
}

// rows is a batch of revisions in memory, column by column, as Parquet wants
// them. Appending allocates nothing once the columns have grown.
type rows struct {
	n        int
	capacity int // of every column
	clusters columnar.Texts
	cluster  []uint32
	ints     [columnCount][]int64
	texts    [columnCount]columnar.Texts
	index    [columnCount][]uint32
	ends     []uint32 // of the texts in jobIDs
	prints   []uint64
	jobIDs   []byte
	one      [1]ingest.Job // being appended
}

// The columns that rows keeps as numbers, and as numbered texts.
var (
	intColumns = [...]int{colJobIDRaw, colDBIndex, colSubmit, colEligible, colStart, colEnd, colElapsed,
		colSuspended, colTimelimit, colNodeCount, colCPUs, colMemory, colGPUs, colBilling, colReqNodeCount,
		colReqCPUs, colReqMemory, colReqGPUs, colNotes, colLine, colDumpTime, colLastSeen, colLastLine}
	textColumns = [...]int{colUser, colAccount, colPartition, colQoS, colWCKey, colReservation, colName,
		colState, colCancelledBy, colAllocTRES, colReqTRES, colNodeList, colFile, colDigest, colLastDigest}
)

// firstCapacity is enough for a few batches of the reader's.
const firstCapacity = 4096

// grow makes room for more rows: the columns have the same length always, of
// which the first n are in use.
func (r *rows) grow() {
	switch {
	case r.capacity == 0:
		r.capacity = firstCapacity
	case r.capacity < maxPartRows:
		r.capacity = min(4*r.capacity, maxPartRows)
	default:
		r.capacity *= 2
	}
	for _, c := range intColumns {
		r.ints[c] = lengthen(r.ints[c], r.capacity)
	}
	for _, c := range textColumns {
		r.index[c] = lengthen(r.index[c], r.capacity)
	}
	r.cluster, r.ends, r.prints = lengthen(r.cluster, r.capacity), lengthen(r.ends, r.capacity), lengthen(r.prints, r.capacity)
}

func lengthen[T any](s []T, n int) []T {
	longer := make([]T, n)
	copy(longer, s)
	return longer
}

func (r *rows) reset() {
	r.n = 0
	r.clusters.Reset()
	r.jobIDs = r.jobIDs[:0]
	for _, c := range textColumns {
		r.texts[c].Reset()
	}
}

// add appends jobs as a dump has them. What is known of the dump only at its
// end is filled in by setDump. The jobs are few enough to stay in the cache
// while one column after another takes its field from them.
func (r *rows) add(jobs []ingest.Job) {
	first := r.reserve(len(jobs))
	r.addNumbers(jobs, first)
	r.addTexts(jobs, first)
	digest, nothing := r.texts[colDigest].Number(noDigest), r.texts[colLastDigest].Number("")
	for i := first; i < first+len(jobs); i++ {
		r.index[colDigest][i], r.index[colLastDigest][i] = digest, nothing
		r.ints[colDumpTime][i], r.ints[colLastSeen][i], r.ints[colLastLine][i] = 0, 0, 0
	}
	r.n += len(jobs)
	r.addPrints(first, len(jobs))
}

// reserve makes room for n rows and gives the position of the first.
func (r *rows) reserve(n int) int {
	for r.n+n > r.capacity {
		r.grow()
	}
	return r.n
}

// noDigest stands for the digest of a dump that is still being read.
var noDigest = strings.Repeat("?", 64)

// addRevision appends a revision.
func (r *rows) addRevision(v *revision) {
	r.one[0] = v.Job
	first := r.reserve(1)
	r.addNumbers(r.one[:], first)
	r.addTexts(r.one[:], first)
	seen, digest, line := v.lastColumns()
	r.ints[colDumpTime][first], r.ints[colLastSeen][first], r.ints[colLastLine][first] = int64(v.dumpTime), int64(seen), line
	r.index[colDigest][first] = r.texts[colDigest].Number(v.Source.Digest)
	r.index[colLastDigest][first] = r.texts[colLastDigest].Number(digest)
	r.n++
	r.addPrints(first, 1)
}

// addRow appends a row of another batch.
func (r *rows) addRow(from *rows, row uint32) {
	n := r.reserve(1)
	for _, c := range intColumns {
		r.ints[c][n] = from.ints[c][row]
	}
	for _, c := range textColumns {
		r.index[c][n] = r.texts[c].Number(from.texts[c].List[from.index[c][row]])
	}
	r.cluster[n] = r.clusters.Number(from.clusters.List[from.cluster[row]])
	r.jobIDs = append(r.jobIDs, from.jobIDs[from.startOf(row):from.ends[row]]...)
	r.ends[n], r.prints[n] = uint32(len(r.jobIDs)), from.prints[row]
	r.n++
}

// startOf gives where the JobID of a row begins.
func (r *rows) startOf(row uint32) uint32 {
	if row == 0 {
		return 0
	}
	return r.ends[row-1]
}

// addNumbers takes the fields that stand together in a job at the same time.
func (r *rows) addNumbers(jobs []ingest.Job, first int) {
	r.addTimes(jobs, first)
	r.addCounts(jobs, first)
	column := func(col int) []int64 { return r.ints[col][first:][:len(jobs)] }
	rawID, index, notes, line := column(colJobIDRaw), column(colDBIndex), column(colNotes), column(colLine)
	for i := range jobs {
		j := &jobs[i]
		rawID[i], index[i] = int64(j.JobIDRaw), int64(j.DBIndex)
		notes[i], line[i] = int64(j.Notes), j.Source.Line
	}
}

func (r *rows) addTimes(jobs []ingest.Job, first int) {
	column := func(col int) []int64 { return r.ints[col][first:][:len(jobs)] }
	submit, eligible, start, end := column(colSubmit), column(colEligible), column(colStart), column(colEnd)
	elapsed, suspended, timelimit := column(colElapsed), column(colSuspended), column(colTimelimit)
	for i := range jobs {
		j := &jobs[i]
		submit[i], eligible[i], start[i], end[i] = int64(j.Submit), int64(j.Eligible), int64(j.Start), int64(j.End)
		elapsed[i], suspended[i], timelimit[i] = j.ElapsedSeconds, j.SuspendedSeconds, j.TimelimitSeconds
	}
}

func (r *rows) addCounts(jobs []ingest.Job, first int) {
	column := func(col int) []int64 { return r.ints[col][first:][:len(jobs)] }
	nodes, cpus, memory, gpus, billing := column(colNodeCount), column(colCPUs), column(colMemory), column(colGPUs), column(colBilling)
	reqNodes, reqCPUs, reqMemory, reqGPUs := column(colReqNodeCount), column(colReqCPUs), column(colReqMemory), column(colReqGPUs)
	for i := range jobs {
		j := &jobs[i]
		nodes[i], cpus[i], memory[i], gpus[i], billing[i] = j.NodeCount, j.CPUs, j.MemoryMiB, j.GPUs, j.Billing
		reqNodes[i], reqCPUs[i], reqMemory[i], reqGPUs[i] = j.ReqNodeCount, j.ReqCPUs, j.ReqMemoryMiB, j.ReqGPUs
	}
}

// addTexts takes one text after another, each by its place in a Job: to ask a
// function for every field of every job would take half as long again.
func (r *rows) addTexts(jobs []ingest.Job, first int) {
	var j ingest.Job
	put := func(col int, offset uintptr) { putTexts(r.index[col][first:], &r.texts[col], jobs, offset) }
	put(colUser, unsafe.Offsetof(j.User))
	put(colAccount, unsafe.Offsetof(j.Account))
	put(colPartition, unsafe.Offsetof(j.Partition))
	put(colQoS, unsafe.Offsetof(j.QoS))
	put(colWCKey, unsafe.Offsetof(j.WCKey))
	put(colReservation, unsafe.Offsetof(j.Reservation))
	put(colName, unsafe.Offsetof(j.Name))
	put(colState, unsafe.Offsetof(j.State))
	put(colCancelledBy, unsafe.Offsetof(j.CancelledBy))
	put(colAllocTRES, unsafe.Offsetof(j.AllocTRES))
	put(colReqTRES, unsafe.Offsetof(j.ReqTRES))
	put(colNodeList, unsafe.Offsetof(j.NodeList))
	put(colFile, unsafe.Offsetof(j.Source)+unsafe.Offsetof(j.Source.File))
	putTexts(r.cluster[first:], &r.clusters, jobs, unsafe.Offsetof(j.Cluster))

	for i := range jobs {
		r.jobIDs = append(r.jobIDs, jobs[i].JobID...)
		r.ends[first+i] = uint32(len(r.jobIDs))
	}
}

// putTexts numbers the texts that stand at an offset in the jobs.
func putTexts(dst []uint32, texts *columnar.Texts, jobs []ingest.Job, offset uintptr) {
	dst = dst[:len(jobs)]
	last, number := "", uint32(0)
	for i := range jobs {
		// The jobs of a user stand together, and a reader has each text once.
		s := *(*string)(unsafe.Add(unsafe.Pointer(&jobs[i]), offset))
		if i == 0 || len(s) != len(last) || unsafe.StringData(s) != unsafe.StringData(last) {
			last, number = s, texts.Number(s)
		}
		dst[i] = number
	}
}

// Odd numbers without structure, from the digits of π.
const (
	key0 = 0x243F6A8885A308D3
	key1 = 0x13198A2E03707345
	key2 = 0xA4093822299F31D1
)

// addPrints works out the fingerprints of n rows: 64 bits of everything that
// the dump said of each job, but not of where it stood. They are in the
// indices on disk, so that they never change.
func (r *rows) addPrints(first, n int) {
	prints := r.prints[first : first+n]
	start := r.startOf(uint32(first))
	for i := range prints {
		end := r.ends[first+i]
		jobID := unsafe.String(unsafe.SliceData(r.jobIDs[start:end]), end-start)
		prints[i] = columnar.Fold(r.clusters.Hashes[r.cluster[first+i]]^key0, columnar.Hash(jobID)^key1)
		start = end
	}
	for _, p := range printPairs {
		mixColumns(prints, r.wordsOf(p.a, first), r.wordsOf(p.b, first), p.keyA, p.keyB)
	}
	for i, h := range prints {
		prints[i] = columnar.Fold(h^key1, h>>32^key2)
	}
}

// words are the values of a column as 64 bits each: a number, or the hash of
// a text.
type words struct {
	ints   []int64
	index  []uint32
	hashes []uint64
}

func (r *rows) wordsOf(col, first int) words {
	if r.ints[col] != nil {
		return words{ints: r.ints[col][first:]}
	}
	return words{index: r.index[col][first:], hashes: r.texts[col].Hashes}
}

// mixColumns mixes two columns into the fingerprints.
func mixColumns(prints []uint64, a, b words, keyA, keyB uint64) {
	switch {
	case a.ints != nil && b.ints != nil:
		x, y := a.ints[:len(prints)], b.ints[:len(prints)]
		for i := range prints {
			prints[i] += columnar.Fold(uint64(x[i])^keyA, uint64(y[i])^keyB)
		}
	case a.ints != nil:
		x, y := a.ints[:len(prints)], b.index[:len(prints)]
		for i := range prints {
			prints[i] += columnar.Fold(uint64(x[i])^keyA, b.hashes[y[i]]^keyB)
		}
	default:
		x, y := a.index[:len(prints)], b.index[:len(prints)]
		for i := range prints {
			prints[i] += columnar.Fold(a.hashes[x[i]]^keyA, b.hashes[y[i]]^keyB)
		}
	}
}

// printPairs are the columns that make a fingerprint, two by two, and the
// numbers that tell them apart. They are part of the format.
var printPairs = [...]struct {
	a, b       int
	keyA, keyB uint64
}{
	{colJobIDRaw, colDBIndex, 0x452821E638D01377, 0xBE5466CF34E90C6D},
	{colSubmit, colEligible, 0xC0AC29B7C97C50DD, 0x3F84D5B5B5470917},
	{colStart, colEnd, 0x9216D5D98979FB1B, 0xD1310BA698DFB5AD},
	{colElapsed, colSuspended, 0x2FFD72DBD01ADFB7, 0xB8E1AFED6A267E97},
	{colTimelimit, colNodeCount, 0xBA7C9045F12C7F99, 0x24A19947B3916CF7},
	{colCPUs, colMemory, 0x0801F2E2858EFC17, 0x636920D871574E69},
	{colGPUs, colBilling, 0xA458FEA3F4933D7F, 0x0D95748F728EB659},
	{colReqNodeCount, colReqCPUs, 0x718BCD5882154AEF, 0x7B54A41DC25A59B5},
	{colReqMemory, colReqGPUs, 0x9C30D5392AF26013, 0xC5D1B023286085F1},
	{colNotes, colUser, 0xCA417918B8DB38EF, 0x8E79DCB0603A180F},
	{colAccount, colPartition, 0x6C9E0E8BB01E8A3F, 0xD71577C1BD314B27},
	{colQoS, colWCKey, 0x78AF2FDA55605C61, 0xE65525F3AA55AB95},
	{colReservation, colName, 0x5748986263E81441, 0x55CA396A2AAB10B7},
	{colState, colCancelledBy, 0xB4CC5C341141E8CF, 0xA15486AF7C72E993},
	{colAllocTRES, colReqTRES, 0xB3EE1411636FBC2B, 0x2BA9C55D741831F7},
	{colNodeList, colNodeList, 0xCE5C3E169B87931F, key2},
}

// setDump fills in what is known of a dump once it was read whole, in the
// rows that add appended.
func (r *rows) setDump(digest string, dumpTime ingest.Instant) {
	for i, text := range r.texts[colDigest].List {
		if text == noDigest {
			r.texts[colDigest].List[i] = digest
		}
	}
	for i, seen := range r.ints[colLastSeen][:r.n] {
		if seen == 0 {
			r.ints[colDumpTime][i], r.ints[colLastSeen][i] = int64(dumpTime), int64(dumpTime)
		}
	}
}

// vectors shows the columns to the Parquet writer.
func (r *rows) vectors() []columnar.Vector {
	v := make([]columnar.Vector, columnCount)
	for _, c := range intColumns {
		v[c].Ints = r.ints[c][:r.n]
	}
	for _, c := range textColumns {
		v[c].Index, v[c].Dict = r.index[c][:r.n], r.texts[c].List
	}
	v[colJobID].Ends, v[colJobID].Bytes = r.ends[:r.n], r.jobIDs
	return v
}

// jobID gives the JobID of a row.
func (r *rows) jobID(row uint32) string { return string(r.jobIDs[r.startOf(row):r.ends[row]]) }

// less orders rows as they stand in a file: by End, JobIDRaw, Submit, and
// then by what makes two rows differ at all.
func (r *rows) less(a, b uint32) bool {
	for _, c := range [...]int{colEnd, colJobIDRaw, colSubmit, colDBIndex} {
		if x, y := r.ints[c][a], r.ints[c][b]; x != y {
			return uint64(x) < uint64(y)
		}
	}
	return r.prints[a] < r.prints[b]
}

// revision takes a row out, its texts copied.
func (r *rows) revision(i uint32) revision {
	text := func(col int) string { return strings.Clone(r.texts[col].List[r.index[col][i]]) }
	v := revision{
		Job: ingest.Job{
			Cluster: strings.Clone(r.clusters.List[r.cluster[i]]), JobID: r.jobID(i),
			JobIDRaw: uint64(r.ints[colJobIDRaw][i]), DBIndex: uint64(r.ints[colDBIndex][i]),
			User: text(colUser), Account: text(colAccount), Partition: text(colPartition), QoS: text(colQoS),
			WCKey: text(colWCKey), Reservation: text(colReservation), Name: text(colName),
			State: ingest.State(text(colState)), CancelledBy: text(colCancelledBy),
			Submit: ingest.Instant(r.ints[colSubmit][i]), Eligible: ingest.Instant(r.ints[colEligible][i]),
			Start: ingest.Instant(r.ints[colStart][i]), End: ingest.Instant(r.ints[colEnd][i]),
			ElapsedSeconds: r.ints[colElapsed][i], SuspendedSeconds: r.ints[colSuspended][i],
			TimelimitSeconds: r.ints[colTimelimit][i],
			NodeCount:        r.ints[colNodeCount][i], CPUs: r.ints[colCPUs][i], MemoryMiB: r.ints[colMemory][i],
			GPUs: r.ints[colGPUs][i], Billing: r.ints[colBilling][i],
			ReqNodeCount: r.ints[colReqNodeCount][i], ReqCPUs: r.ints[colReqCPUs][i],
			ReqMemoryMiB: r.ints[colReqMemory][i], ReqGPUs: r.ints[colReqGPUs][i],
			AllocTRES: text(colAllocTRES), ReqTRES: text(colReqTRES), NodeList: text(colNodeList),
			Notes:  ingest.Notes(r.ints[colNotes][i]),
			Source: ingest.Source{File: text(colFile), Digest: text(colDigest), Line: r.ints[colLine][i]},
		},
		dumpTime: ingest.Instant(r.ints[colDumpTime][i]), print: r.prints[i],
	}
	v.setLast(ingest.Instant(r.ints[colLastSeen][i]), text(colLastDigest), r.ints[colLastLine][i])
	return v
}
