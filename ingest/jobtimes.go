package ingest

import "fmt"

// times reads the four times, the elapsed and the suspended time of a record.
func (p *parser) times(c *cells, j *Job) *fault {
	at := &p.schema.at
	s := &p.stamps
	*s = stamps{}
	if !p.stamp(c, fieldSubmit, &s.submit, j) {
		return badStamp("Submit", c.at(at[fieldSubmit]))
	}
	if !p.stamp(c, fieldEligible, &s.eligible, j) {
		return badStamp("Eligible", c.at(at[fieldEligible]))
	}
	if !p.stamp(c, fieldStart, &s.start, j) {
		return badStamp("Start", c.at(at[fieldStart]))
	}
	if !p.stamp(c, fieldEnd, &s.end, j) {
		return badStamp("End", c.at(at[fieldEnd]))
	}
	j.Submit, j.Eligible, j.Start, j.End = s.submit.at, s.eligible.at, s.start.at, s.end.at
	elapsed, f := p.elapsed(c, j)
	if f != nil {
		return f
	}
	if cell := c.at(at[fieldSuspended]); cell != "" && cell != "00:00:00" {
		seconds, ok := parseSpan(cell)
		if !ok {
			return &fault{"Suspended", fmt.Sprintf("%.40q is no span of time", cell), remedyPlainField}
		}
		j.SuspendedSeconds = seconds
	}
	if s.repeated() {
		of := spans{elapsed: elapsed, suspended: j.SuspendedSeconds, planned: Unknown}
		if seconds, ok := parseSpan(c.at(at[fieldPlanned])); ok {
			of.planned = seconds
		}
		if f := p.settleRepeated(s, of, j); f != nil {
			return f
		}
	}
	return p.agree(elapsed, j)
}

// stamp reads one of the times, where the dump has its column.
func (p *parser) stamp(c *cells, f field, into *stamp, j *Job) bool {
	i := p.schema.at[f]
	if i < 0 {
		return true
	}
	cell, last := c.at(i), &p.lastStamps[f-fieldSubmit]
	if cell != last.cell {
		read, ok := p.clock.parse(cell)
		if !ok {
			return false
		}
		*last = stampCell{cell, read}
	}
	*into = last.stamp
	if into.leap {
		j.Notes |= NoteLeapSecond
	}
	return true
}

// stampCell is a cell and the time that it says: the tasks of an array were
// submitted, and often started, at the same second. "" says none.
type stampCell struct {
	cell  string
	stamp stamp
}

func badStamp(name, cell string) *fault {
	return &fault{name, fmt.Sprintf("%.40q is no time of this zone", cell), remedyTimes}
}

// parseSpan reads a duration, or whole seconds.
func parseSpan(s string) (int64, bool) {
	if seconds, milli, ok := parseDuration(s); ok {
		return seconds, milli == 0
	}
	seconds, ok := parseDigits(s)
	return seconds, ok && seconds <= maxElapsedSeconds
}

// elapsed reads ElapsedRaw, or Elapsed; Unknown where the dump has neither or
// the cell is empty.
func (p *parser) elapsed(c *cells, j *Job) (int64, *fault) {
	at := &p.schema.at
	raw, text := c.at(at[fieldElapsedRaw]), c.at(at[fieldElapsed])
	if raw != "" {
		seconds, ok := parseDigits(raw)
		if !ok || seconds > maxElapsedSeconds {
			return 0, &fault{"ElapsedRaw", fmt.Sprintf("%.40q is no number of seconds", raw), remedyPlainField}
		}
		if text != "" {
			if shown, milli, ok := parseDuration(text); !ok || milli != 0 || shown != seconds {
				j.Notes |= NoteElapsedDisagrees
			}
		}
		return seconds, nil
	}
	if text == "" {
		return Unknown, nil
	}
	seconds, milli, ok := parseDuration(text)
	if !ok || milli != 0 {
		return 0, &fault{"Elapsed", fmt.Sprintf("%.40q is no span of time", text), remedyPlainField}
	}
	return seconds, nil
}

// settleRepeated decides between the readings of times in the hour that a
// clock change repeats, by the record alone.
func (p *parser) settleRepeated(s *stamps, of spans, j *Job) *fault {
	p.left = s.readings(of)
	if !oneLength(p.left) && of.elapsed == Unknown && j.Start != None && j.End != None {
		return &fault{"Start", "the clock change leaves open how long the job ran, and the dump has no Elapsed", remedyTimes}
	}
	j.read(p.left)
	return nil
}

// agree checks the times against the elapsed time, which counts where they
// differ, and fills in what the dump leaves out.
func (p *parser) agree(elapsed int64, j *Job) *fault {
	if j.Submit == None { // no column, or nothing in it: runs must be told apart
		if j.Submit = j.Start; j.Submit == None {
			j.Submit = j.End
		}
		j.Notes |= NoteNoSubmit
	}
	span := int64(j.End-j.Start) - j.SuspendedSeconds
	switch {
	case j.Start == None:
		if elapsed > 0 {
			return &fault{"Start", fmt.Sprintf("no start, but %d seconds elapsed", elapsed), remedyPlainField}
		}
		return nil
	case j.State == Pending && j.End != None:
		return &fault{"End", "a pending job has an end", remedyTruncated}
	case j.State == Pending: // about to be started, or requeued: it holds nothing yet
		j.Start = None
		return nil
	case j.End == None && !j.State.waiting():
		return &fault{"End", fmt.Sprintf("the job is %s but has no end", j.State), remedyPlainField}
	case j.End == None:
		j.ElapsedSeconds = max(elapsed, 0)
		return nil
	case j.State == Running || j.State == Suspended:
		return &fault{"End", "a running job has an end", remedyTruncated}
	case elapsed == Unknown && (p.schema.has(fieldElapsed) || p.schema.has(fieldElapsedRaw)):
		return &fault{"Elapsed", "the job ran, but the cell is empty", remedyPlainField}
	case elapsed == Unknown && span < 0:
		return &fault{"End", "the end is before the start, and the dump has no Elapsed", remedyTimes}
	case elapsed == Unknown:
		elapsed = span
	}
	if elapsed > 0 && j.End < j.Submit && p.stamps.submit.later == None {
		return &fault{"Submit", "the job ran, and ended before it was submitted", remedyPlainField}
	}
	j.ElapsedSeconds = elapsed
	if d := span - elapsed; d < -1 || d > 1 {
		j.Notes |= NoteElapsedDisagrees
	}
	return nil
}

// startAtResize takes from a later part of a resized job what is the part's
// before it. Such a part is submitted, eligible and started when the job is
// resized, but whatever updates the job afterwards (a new time limit is
// enough) has slurmctld send the start of the whole job once more: sacct then
// prints that start, and an elapsed time from it on. Suspended is the part's
// own, and nothing else starts before it is submitted.
func (j *Job) startAtResize() {
	if j.Start == None || j.Notes&(NoteRepeatedHour|NoteElapsedDisagrees) != 0 {
		return
	}
	j.ElapsedSeconds = max(j.ElapsedSeconds-int64(j.Submit-j.Start), 0)
	j.Start = j.Submit
	j.Notes |= NoteResizedStart
}

// partOfResized gives a later part of a resized job its Submit where the dump
// has none, so that it begins where the part before it ended: with the start of
// the whole job in its place the two would be one run, all of the later part's
// size.
func (p *parser) partOfResized(j *Job) {
	of := stepJob{j.Cluster, j.JobIDRaw}
	at, later := p.resizedAt[of]
	if later && j.Notes&NoteNoSubmit != 0 && j.Start != None && j.Start < at && (j.End == None || at <= j.End) {
		j.Submit = at
	}
	if j.State != Resizing || j.End == None {
		return
	}
	if p.resizedAt == nil {
		p.resizedAt = map[stepJob]Instant{}
	}
	p.resizedAt[of] = j.End
}
