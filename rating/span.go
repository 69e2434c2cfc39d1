package rating

import (
	"hpcbill/ingest"
	"hpcbill/rates"
)

// span is the part of a job's wall time [start, end) that a period holds. Its
// verdict is NotRun or Running for jobs that are not to be priced, else Charged.
type span struct {
	some                    bool // the period holds any
	verdict                 Verdict
	start, end, from, until ingest.Instant
	at                      ingest.Instant // what the version and the group go by, where it is not cut
	cut                     bool           // by usage
}

// spanIn tells which part of a job belongs to the period.
func (r *Rater) spanIn(j *ingest.Job, p rates.Period) span {
	start, end := ingest.Instant(p.Start.Unix()), ingest.Instant(p.End.Unix())
	within := func(t ingest.Instant) bool { return t != ingest.None && start <= t && t < end }
	if neverRan(j) {
		return span{verdict: NotRun, some: within(j.End)}
	}
	s := span{start: j.Start, end: j.End, at: j.End, verdict: Charged}
	if !j.Final() {
		s.end = j.Start + ingest.Instant(max(0, j.ElapsedSeconds)+max(0, j.SuspendedSeconds))
	}
	switch by := r.billBy(j); {
	case by == rates.ByUsage && s.end > s.start:
		s.cut, s.from, s.until = true, max(start, s.start), min(end, s.end)
		s.some = s.from < s.until
		if !j.Final() && s.end < end {
			s.verdict, s.some = Running, s.start < end
		}
	case by == rates.ByStart:
		s.at = j.Start
		s.some = within(s.at)
		if !j.Final() {
			s.verdict = Running
		}
	case !j.Final():
		s.verdict, s.some = Running, j.Start < end
	default:
		s.some = within(s.at)
	}
	return s
}

// seconds gives the job-seconds in the span, and whether the job has a part in
// it.
func (s *span) seconds(j *ingest.Job) (seconds int64, some bool) {
	switch {
	case !s.some || s.verdict != Charged:
		return 0, s.some && s.verdict != Running
	case s.cut:
		return cut(j, s.start, s.end, s.from, s.until).elapsed, true
	}
	return j.ElapsedSeconds, true
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
