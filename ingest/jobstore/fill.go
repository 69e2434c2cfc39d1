package jobstore

import (
	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// fillColumn sets one column's field of the jobs that picks name, from a page
// of that column.
func fillColumn(jobs []ingest.Job, picks []pick, column int, v *columnar.Vector) {
	switch column {
	case colJobID:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.JobID = s })
	case colJobIDRaw:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.JobIDRaw = uint64(n) })
	case colDBIndex:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.DBIndex = uint64(n) })
	case colUser:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.User = s })
	case colAccount:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.Account = s })
	case colPartition:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.Partition = s })
	case colQoS:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.QoS = s })
	case colWCKey:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.WCKey = s })
	case colReservation:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.Reservation = s })
	case colName:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.Name = s })
	case colState:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.State = ingest.State(s) })
	case colCancelledBy:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.CancelledBy = s })
	case colAllocTRES:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.AllocTRES = s })
	case colReqTRES:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.ReqTRES = s })
	case colNodeList:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.NodeList = s })
	case colFile:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.Source.File = s })
	case colDigest:
		fillTexts(jobs, picks, v, func(j *ingest.Job, s string) { j.Source.Digest = s })
	case colDumpTime, colLastSeen, colLastDigest, colLastLine: // not of the job
	default:
		fillNumber(jobs, picks, column, v)
	}
}

// fillNumber is fillColumn for most columns of numbers.
func fillNumber(jobs []ingest.Job, picks []pick, column int, v *columnar.Vector) {
	switch column {
	case colSubmit:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.Submit = ingest.Instant(n) })
	case colEligible:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.Eligible = ingest.Instant(n) })
	case colStart:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.Start = ingest.Instant(n) })
	case colEnd:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.End = ingest.Instant(n) })
	case colElapsed:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.ElapsedSeconds = n })
	case colSuspended:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.SuspendedSeconds = n })
	case colTimelimit:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.TimelimitSeconds = n })
	case colNodeCount:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.NodeCount = n })
	case colCPUs:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.CPUs = n })
	case colMemory:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.MemoryMiB = n })
	case colGPUs:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.GPUs = n })
	case colBilling:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.Billing = n })
	case colReqNodeCount:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.ReqNodeCount = n })
	case colReqCPUs:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.ReqCPUs = n })
	case colReqMemory:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.ReqMemoryMiB = n })
	case colReqGPUs:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.ReqGPUs = n })
	case colNotes:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.Notes = ingest.Notes(n) })
	case colLine:
		fillInts(jobs, picks, v, func(j *ingest.Job, n int64) { j.Source.Line = n })
	default:
		panic("BUG: no field for a column")
	}
}

func fillInts(jobs []ingest.Job, picks []pick, v *columnar.Vector, set func(*ingest.Job, int64)) {
	for _, p := range picks {
		set(&jobs[p.out], v.Ints[p.row])
	}
}

func fillTexts(jobs []ingest.Job, picks []pick, v *columnar.Vector, set func(*ingest.Job, string)) {
	if v.Index == nil {
		for _, p := range picks {
			set(&jobs[p.out], v.Dict[p.row])
		}
		return
	}
	for _, p := range picks {
		set(&jobs[p.out], v.Dict[v.Index[p.row]])
	}
}
