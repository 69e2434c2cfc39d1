package jobstore

import (
	"strings"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// revision is one record of a job as the store knows it: what the dump said,
// and when it was seen.
type revision struct {
	ingest.Job // Source is where the record was seen first

	dumpTime ingest.Instant // of the dump that Source names
	lastSeen ingest.Instant // of the newest dump that has this very record
	print    uint64         // fingerprint of all but Source
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
}

// The columns that rows keeps as numbers, and as numbered texts.
var (
	intColumns = [...]int{colJobIDRaw, colDBIndex, colSubmit, colEligible, colStart, colEnd, colElapsed,
		colSuspended, colTimelimit, colNodeCount, colCPUs, colMemory, colGPUs, colBilling, colReqNodeCount,
		colReqCPUs, colReqMemory, colReqGPUs, colNotes, colLine, colDumpTime, colLastSeen}
	textColumns = [...]int{colUser, colAccount, colPartition, colQoS, colWCKey, colReservation, colName,
		colState, colCancelledBy, colAllocTRES, colReqTRES, colNodeList, colFile, colDigest}
)

// firstCapacity is enough for a batch of the reader's.
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

// add appends a job as a dump has it. What is known of the dump only at its
// end is filled in by setDump.
func (r *rows) add(j *ingest.Job) {
	r.append(j, noDigest, 0, 0)
}

// noDigest stands for the digest of a dump that is still being read.
var noDigest = strings.Repeat("?", 64)

func (r *rows) addRevision(v *revision) {
	r.append(&v.Job, v.Source.Digest, v.dumpTime, v.lastSeen)
}

func (r *rows) append(j *ingest.Job, digest string, dumpTime, lastSeen ingest.Instant) {
	n := r.n
	if n == r.capacity {
		r.grow()
	}
	r.cluster[n] = r.clusters.Number(j.Cluster)
	r.jobIDs = append(r.jobIDs, j.JobID...)
	r.ends[n] = uint32(len(r.jobIDs))
	r.ints[colJobIDRaw][n] = int64(j.JobIDRaw)
	r.ints[colDBIndex][n] = int64(j.DBIndex)
	r.ints[colSubmit][n] = int64(j.Submit)
	r.ints[colEligible][n] = int64(j.Eligible)
	r.ints[colStart][n] = int64(j.Start)
	r.ints[colEnd][n] = int64(j.End)
	r.ints[colElapsed][n] = j.ElapsedSeconds
	r.ints[colSuspended][n] = j.SuspendedSeconds
	r.ints[colTimelimit][n] = j.TimelimitSeconds
	r.ints[colNodeCount][n] = j.NodeCount
	r.ints[colCPUs][n] = j.CPUs
	r.ints[colMemory][n] = j.MemoryMiB
	r.ints[colGPUs][n] = j.GPUs
	r.ints[colBilling][n] = j.Billing
	r.ints[colReqNodeCount][n] = j.ReqNodeCount
	r.ints[colReqCPUs][n] = j.ReqCPUs
	r.ints[colReqMemory][n] = j.ReqMemoryMiB
	r.ints[colReqGPUs][n] = j.ReqGPUs
	r.ints[colNotes][n] = int64(j.Notes)
	r.ints[colLine][n] = j.Source.Line
	r.ints[colDumpTime][n] = int64(dumpTime)
	r.ints[colLastSeen][n] = int64(lastSeen)
	r.index[colUser][n] = r.texts[colUser].Number(j.User)
	r.index[colAccount][n] = r.texts[colAccount].Number(j.Account)
	r.index[colPartition][n] = r.texts[colPartition].Number(j.Partition)
	r.index[colQoS][n] = r.texts[colQoS].Number(j.QoS)
	r.index[colWCKey][n] = r.texts[colWCKey].Number(j.WCKey)
	r.index[colReservation][n] = r.texts[colReservation].Number(j.Reservation)
	r.index[colName][n] = r.texts[colName].Number(j.Name)
	r.index[colState][n] = r.texts[colState].Number(string(j.State))
	r.index[colCancelledBy][n] = r.texts[colCancelledBy].Number(j.CancelledBy)
	r.index[colAllocTRES][n] = r.texts[colAllocTRES].Number(j.AllocTRES)
	r.index[colReqTRES][n] = r.texts[colReqTRES].Number(j.ReqTRES)
	r.index[colNodeList][n] = r.texts[colNodeList].Number(j.NodeList)
	r.index[colFile][n] = r.texts[colFile].Number(j.Source.File)
	r.index[colDigest][n] = r.texts[colDigest].Number(digest)
	r.prints[n] = r.print(n, j.JobID)
	r.n++
}

// Odd numbers without structure, from the digits of π.
const (
	key0 = 0x243F6A8885A308D3
	key1 = 0x13198A2E03707345
	key2 = 0xA4093822299F31D1
)

// print gives the fingerprint of a row: 64 bits of everything that the dump
// said of the job, but not of where it stood. It is in the indices on disk,
// so it never changes.
func (r *rows) print(i int, jobID string) uint64 {
	hash := func(col int) uint64 { return r.texts[col].Hashes[r.index[col][i]] }
	number := func(col int) uint64 { return uint64(r.ints[col][i]) }
	h := columnar.Fold(r.clusters.Hashes[r.cluster[i]]^key0, columnar.Hash(jobID)^key1)
	h += columnar.Fold(number(colJobIDRaw)^0x452821E638D01377, number(colDBIndex)^0xBE5466CF34E90C6D)
	h += columnar.Fold(number(colSubmit)^0xC0AC29B7C97C50DD, number(colEligible)^0x3F84D5B5B5470917)
	h += columnar.Fold(number(colStart)^0x9216D5D98979FB1B, number(colEnd)^0xD1310BA698DFB5AD)
	h += columnar.Fold(number(colElapsed)^0x2FFD72DBD01ADFB7, number(colSuspended)^0xB8E1AFED6A267E97)
	h += columnar.Fold(number(colTimelimit)^0xBA7C9045F12C7F99, number(colNodeCount)^0x24A19947B3916CF7)
	h += columnar.Fold(number(colCPUs)^0x0801F2E2858EFC17, number(colMemory)^0x636920D871574E69)
	h += columnar.Fold(number(colGPUs)^0xA458FEA3F4933D7F, number(colBilling)^0x0D95748F728EB659)
	h += columnar.Fold(number(colReqNodeCount)^0x718BCD5882154AEF, number(colReqCPUs)^0x7B54A41DC25A59B5)
	h += columnar.Fold(number(colReqMemory)^0x9C30D5392AF26013, number(colReqGPUs)^0xC5D1B023286085F1)
	h += columnar.Fold(number(colNotes)^0xCA417918B8DB38EF, hash(colUser)^0x8E79DCB0603A180F)
	h += columnar.Fold(hash(colAccount)^0x6C9E0E8BB01E8A3F, hash(colPartition)^0xD71577C1BD314B27)
	h += columnar.Fold(hash(colQoS)^0x78AF2FDA55605C61, hash(colWCKey)^0xE65525F3AA55AB95)
	h += columnar.Fold(hash(colReservation)^0x5748986263E81441, hash(colName)^0x55CA396A2AAB10B7)
	h += columnar.Fold(hash(colState)^0xB4CC5C341141E8CF, hash(colCancelledBy)^0xA15486AF7C72E993)
	h += columnar.Fold(hash(colAllocTRES)^0xB3EE1411636FBC2B, hash(colReqTRES)^0x2BA9C55D741831F7)
	h += columnar.Fold(hash(colNodeList)^0xCE5C3E169B87931F, key2)
	return columnar.Fold(h^key1, h>>32^key2)
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

// jobID gives the text of a row; it shares the batch's memory.
func (r *rows) jobID(i uint32) string {
	start := uint32(0)
	if i > 0 {
		start = r.ends[i-1]
	}
	return string(r.jobIDs[start:r.ends[i]])
}

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
	return revision{
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
		dumpTime: ingest.Instant(r.ints[colDumpTime][i]), lastSeen: ingest.Instant(r.ints[colLastSeen][i]),
		print: r.prints[i],
	}
}
