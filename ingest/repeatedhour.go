package ingest

import "math"

// stamps are the four times of a record, each with its second reading where
// it lies in the hour that a clock change repeats.
type stamps struct {
	submit, eligible, start, end stamp
}

func (s *stamps) repeated() bool {
	return s.submit.later|s.eligible.later|s.start.later|s.end.later != None
}

// reading is one way to read Submit, Eligible, Start and End.
type reading [4]Instant

// spans are the lengths of time that a record gives beside its times; Unknown
// where it does not.
type spans struct {
	elapsed, suspended int64
	planned            int64 // from Eligible to Start, or to End where it never started
}

// readings are those among the ways to read the stamps that the record itself
// leaves: the times are in order, and a second at most from the spans. Where a
// record contradicts itself, it is the elapsed time that counts, then the
// order. The earliest stands first.
func (s *stamps) readings(of spans) (left []reading) {
	for _, accept := range [...]func(*reading) bool{
		func(r *reading) bool { return r.inOrder() && of.ran(r) && of.waited(r) },
		func(r *reading) bool { return r.inOrder() && of.ran(r) },
		of.ran,
		(*reading).inOrder,
	} {
		for _, submit := range s.submit.either() {
			for _, eligible := range s.eligible.either() {
				for _, start := range s.start.either() {
					for _, end := range s.end.either() {
						if r := (reading{submit, eligible, start, end}); accept(&r) {
							left = append(left, r)
						}
					}
				}
			}
		}
		if left != nil {
			return left
		}
	}
	return nil
}

// either returns the one or two instants of the stamp, the earlier first.
func (s stamp) either() []Instant {
	if s.later == None {
		return []Instant{s.at}
	}
	return []Instant{s.at, s.later}
}

// ran reports whether End − Start − Suspended can be the elapsed time.
func (of spans) ran(r *reading) bool {
	return r[2] == None || r[3] == None || of.elapsed == Unknown || near(int64(r[3]-r[2])-of.suspended, of.elapsed)
}

// waited reports whether the job can have waited from Eligible on as long as
// Planned says.
func (of spans) waited(r *reading) bool {
	until := r[2]
	if until == None {
		until = r[3]
	}
	return r[1] == None || until == None || of.planned == Unknown || near(int64(until-r[1]), of.planned)
}

func near(a, b int64) bool { return a-b >= -1 && a-b <= 1 }

// inOrder reports whether the times that are known follow one another.
func (r *reading) inOrder() bool {
	last := None
	for _, t := range r {
		if t == None {
			continue
		}
		if t < last {
			return false
		}
		last = t
	}
	return true
}

// oneLength reports whether End − Start is the same in all of the readings.
func oneLength(left []reading) bool {
	for _, r := range left {
		if r[3]-r[2] != left[0][3]-left[0][2] {
			return false
		}
	}
	return len(left) > 0
}

// read gives the job the earliest of the readings that are left, and the note
// where there are others. (A local time is of the same day and hour of the
// clock in both its readings, and so is priced the same.)
func (j *Job) read(left []reading) {
	j.Notes &^= NoteRepeatedHour
	if len(left) != 1 {
		j.Notes |= NoteRepeatedHour
	}
	if len(left) == 0 {
		return
	}
	j.Submit, j.Eligible = left[0][0], left[0][1]
	if j.Start != None {
		j.Start = left[0][2]
	}
	if j.End != None {
		j.End = left[0][3]
	}
}

// mostHeld bounds the jobs of one repeated hour that are held back.
const mostHeld = 1 << 16

// heldJob is a job that was submitted in the repeated hour.
type heldJob struct {
	job  Job
	left []reading
}

// submissions decide in which of the two hours jobs were submitted by the
// jobs before and after them, since sacct prints them in the order of Submit.
// They are held back until one is met that was submitted after both hours.
type submissions struct {
	newest   Instant // no job that follows was submitted before
	unsorted bool    // the dump is in another order, which then says nothing
	held     []heldJob
}

// see notes a Submit that has one reading.
func (s *submissions) see(submit Instant) {
	s.unsorted = s.unsorted || submit < s.newest
	s.newest = max(s.newest, submit)
}

// settle decides about the jobs held back, of which none was submitted after
// next.
func (s *submissions) settle(next Instant) {
	least, most := s.bounds(next)
	for i := range s.held {
		h := &s.held[i]
		if s.unsorted || h.left == nil {
			continue
		}
		var left []reading
		for _, r := range h.left {
			if r[0] >= least[i] && r[0] <= most[i] {
				left = append(left, r)
			}
		}
		h.job.read(left)
	}
}

// bounds are the first and the last Submit of every job held back with which
// the dump is in the order of Submit. Where there is none, it is unsorted.
func (s *submissions) bounds(next Instant) (least, most []Instant) {
	least, most = make([]Instant, len(s.held)), make([]Instant, len(s.held))
	at := s.newest
	for i, h := range s.held {
		first := Instant(math.MaxInt64)
		for _, r := range h.left {
			if r[0] >= at {
				first = min(first, r[0])
			}
		}
		if first != math.MaxInt64 {
			at = first
		}
		s.unsorted = s.unsorted || (first == math.MaxInt64 && h.left != nil)
		least[i] = at
	}
	s.unsorted = s.unsorted || at > next
	s.newest = max(s.newest, at)
	at = next
	for i := len(s.held) - 1; i >= 0; i-- {
		last := None
		for _, r := range s.held[i].left {
			if r[0] <= at {
				last = max(last, r[0])
			}
		}
		if last != None {
			at = last
		}
		most[i] = at
	}
	return least, most
}
