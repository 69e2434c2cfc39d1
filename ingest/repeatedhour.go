package ingest

// stamps are the four times of a record, each with its second reading where
// it lies in the hour that a clock change repeats.
type stamps struct {
	submit, eligible, start, end stamp
}

func (s *stamps) repeated() bool {
	return s.submit.later|s.eligible.later|s.start.later|s.end.later != None
}

// resolve picks among the readings of the stamps those in which the times are
// in order and End − Start − Suspended is the elapsed time (within a second;
// Unknown where the dump has none). Submit that is still open is not before
// previousSubmit, since sacct prints records by their submission. sure is
// false where more than one reading is left: the earliest is then taken.
// spans says whether the readings that are left differ in End − Start.
func (s *stamps) resolve(elapsed, suspended int64, previousSubmit Instant) (best [4]Instant, sure, spans bool) {
	type reading struct{ at [4]Instant }
	var left []reading
	try := func(accept func([4]Instant) bool) {
		for _, submit := range s.submit.readings() {
			for _, eligible := range s.eligible.readings() {
				for _, start := range s.start.readings() {
					for _, end := range s.end.readings() {
						at := [4]Instant{submit, eligible, start, end}
						if accept(at) {
							left = append(left, reading{at})
						}
					}
				}
			}
		}
	}
	fits := func(at [4]Instant) bool {
		if at[2] == None || at[3] == None || elapsed == Unknown {
			return true
		}
		d := int64(at[3]-at[2]) - suspended - elapsed
		return d >= -1 && d <= 1
	}
	try(func(at [4]Instant) bool { return inOrder(at) && fits(at) && at[0] >= previousSubmit })
	if len(left) == 0 {
		try(func(at [4]Instant) bool { return inOrder(at) && fits(at) })
	}
	if len(left) == 0 {
		try(fits)
	}
	if len(left) == 0 {
		try(inOrder)
	}
	if len(left) == 0 {
		return [4]Instant{s.submit.at, s.eligible.at, s.start.at, s.end.at}, false, true
	}
	best = left[0].at
	for _, r := range left[1:] {
		if r.at[3]-r.at[2] != best[3]-best[2] {
			spans = true
		}
	}
	return best, len(left) == 1, spans
}

// readings returns the one or two instants of the stamp, the earlier first.
func (s stamp) readings() []Instant {
	if s.later == None {
		return []Instant{s.at}
	}
	return []Instant{s.at, s.later}
}

// inOrder reports whether the times that are known follow one another.
func inOrder(at [4]Instant) bool {
	last := None
	for _, t := range at {
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
