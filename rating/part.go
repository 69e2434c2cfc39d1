package rating

import (
	"math/bits"

	"hpcbill/ingest"
)

// part is a span of a job's wall time [from, until) with its share of the
// job's elapsed and suspended seconds.
type part struct {
	from, until        ingest.Instant
	elapsed, suspended int64
	last               bool // the job ends with it: where a charge per job falls
}

func wholePart(j *ingest.Job) part {
	return part{from: j.Start, until: j.End, elapsed: j.ElapsedSeconds, suspended: j.SuspendedSeconds, last: true}
}

// cut gives the part of a job that ran over [start, end) of its wall time
// which lies in [from, until). Where a suspension fell is not recorded, so it
// is spread evenly over the wall time: of the elapsed seconds up to an instant
// as many count as are in proportion, to the nearest second, half a second
// counting. A part is the difference of two such sums. So the parts of any
// division sum to the whole, a further cut changes no other part, and of two
// parts the one with the larger remainder has the odd second.
func cut(j *ingest.Job, start, end, from, until ingest.Instant) part {
	from, until = max(from, start), min(until, end)
	if from >= until {
		return part{}
	}
	if from == start && until == end {
		p := wholePart(j)
		p.until, p.last = end, j.Final()
		return p
	}
	wall := int64(end - start)
	a, b := int64(from-start), int64(until-start)
	elapsed := share(j.ElapsedSeconds, b, wall) - share(j.ElapsedSeconds, a, wall)
	suspended := b - a - elapsed
	if j.ElapsedSeconds+j.SuspendedSeconds != wall { // the record is a second off
		suspended = share(j.SuspendedSeconds, b, wall) - share(j.SuspendedSeconds, a, wall)
	}
	return part{from: from, until: until, elapsed: elapsed, suspended: suspended, last: until == end && j.Final()}
}

// share is total·at/wall to the nearest whole number, half up, for
// 0 ≤ at ≤ wall and total ≥ 0.
func share(total, at, wall int64) int64 {
	hi, lo := bits.Mul64(uint64(total), uint64(at))
	lo, carry := bits.Add64(lo, uint64(wall)/2, 0)
	quotient, _ := bits.Div64(hi+carry, lo, uint64(wall))
	return int64(quotient)
}
