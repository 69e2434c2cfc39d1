package rating

import (
	"hpcbill/ingest"
	"hpcbill/rates"
)

// span is the part of a job's wall time [start, end) that a period holds.
type span struct {
	start, end, from, until ingest.Instant
	at                      ingest.Instant // what the version and the group go by, where it is not cut
	cut                     bool           // by usage
}

// spanIn tells which part of a job belongs to the period. The verdict is
// NotRun or Running for jobs that are not to be priced, else Charged.
func (r *Rater) spanIn(j *ingest.Job, p rates.Period) (s span, verdict Verdict, some bool) {
	start, end := ingest.Instant(p.Start.Unix()), ingest.Instant(p.End.Unix())
	within := func(t ingest.Instant) bool { return t != ingest.None && start <= t && t < end }
	if neverRan(j) {
		return s, NotRun, within(j.End)
	}
	s = span{start: j.Start, end: j.End, at: j.End}
	if !j.Final() {
		s.end = j.Start + ingest.Instant(max(0, j.ElapsedSeconds)+max(0, j.SuspendedSeconds))
	}
	switch by := r.billBy(j); {
	case by == rates.ByUsage && s.end > s.start:
		s.cut, s.from, s.until = true, max(start, s.start), min(end, s.end)
		if !j.Final() && s.end < end {
			return s, Running, s.start < end
		}
		return s, Charged, s.from < s.until
	case by == rates.ByStart:
		s.at = j.Start
		if !j.Final() {
			return s, Running, within(j.Start)
		}
	case !j.Final():
		return s, Running, j.Start < end
	}
	return s, Charged, within(s.at)
}

// neverRan reports whether a job had no time at all: it was cancelled while
// pending, refused when it was submitted, or moved to another cluster of a
// federation.
func neverRan(j *ingest.Job) bool {
	if !j.Ran() {
		return true
	}
	if j.ElapsedSeconds != 0 || j.SuspendedSeconds != 0 || j.End != j.Start {
		return false
	}
	return j.State == ingest.Revoked || j.Start == j.Submit && j.State == ingest.Failed
}

// billBy tells what the card says of a job: the version that holds at its
// Start, or the first after it. The Start is known as long as the job runs,
// so that a month which was billed before the job ended stays as it was.
func (r *Rater) billBy(j *ingest.Job) rates.BillBy {
	if c := r.cardOf(j.Cluster); c != nil {
		for _, v := range c.versions {
			if j.Start < v.until {
				return v.BillBy
			}
		}
	}
	return rates.ByEnd
}
