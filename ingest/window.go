package ingest

import "fmt"

// window looks for the marks of sacct -T, which clips the times of jobs to
// the window that was asked for: a job that goes on beyond the window's end is
// then shown with that end and less elapsed time than it had. Such records
// would be billed short, and would not fit those of other dumps.
type window struct {
	// Of the jobs: the earliest start and the latest end, and how many have it.
	firstStart, lastEnd Instant
	starts, ends        int64

	// Of records that have an end although they run, or wait: only -T gives
	// them one, the window's. marked counts them; sameEnd says that all have
	// the same.
	marked             int64
	markStart, markEnd Instant
	sameEnd            bool
}

// How many jobs must start, and how many end, at the edges of a dump for a
// window to be suspected.
const windowJobs = 3

// see takes up a job that was read.
func (w *window) see(j *Job) {
	switch {
	case j.Start == None || j.End == None:
	case w.starts == 0 || j.Start < w.firstStart:
		w.firstStart, w.starts = j.Start, 1
	case j.Start == w.firstStart:
		w.starts++
	}
	switch {
	case j.Start == None || j.End == None:
	case j.End > w.lastEnd:
		w.lastEnd, w.ends = j.End, 1
	case j.End == w.lastEnd:
		w.ends++
	}
}

// clipped takes up a record with an end that only -T can have given it.
func (w *window) clipped(j *Job) {
	w.sameEnd = w.marked == 0 || (w.sameEnd && w.markEnd == j.End)
	w.marked++
	w.markStart, w.markEnd = j.Start, j.End
}

// refuseTruncatedTimes refuses a dump made with -T where that is certain: a
// marked record's end is the latest of all, and another record shares an edge
// with it. Where whole minutes begin and end many jobs, it warns.
func (p *parser) refuseTruncatedTimes() error {
	w := &p.window
	shared := w.marked > 1 || (w.ends > 0 && w.lastEnd == w.markEnd) || (w.starts > 0 && w.firstStart == w.markStart)
	if w.marked > 0 && w.sameEnd && w.markEnd >= w.lastEnd && shared {
		p.line = 0
		return &fault{"End", fmt.Sprintf("%d jobs that run or wait have the same end, the dump's last: it was made with sacct -T, which clips times to its window", w.marked), remedyTruncated}
	}
	if w.starts >= windowJobs && w.ends >= windowJobs && w.firstStart%60 == 0 && w.lastEnd%60 == 0 && w.firstStart < w.lastEnd {
		p.tally.add(WarnTruncatedTimes, 0)
		p.tally.counts[WarnTruncatedTimes].Count = w.starts + w.ends
	}
	return nil
}
