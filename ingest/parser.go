package ingest

import (
	"fmt"
	"math"
	"strings"
)

const (
	// maxRecordBytes and maxRecordLines bound a record that new lines inside
	// its texts have broken.
	maxRecordBytes = 1 << 20
	maxRecordLines = 4096
	// maxJoinTries is how often lines with enough cells are tried as one record.
	maxJoinTries = 16

	// quarantineOnly is how many records, from the first, may all be
	// unreadable before the file is refused as no dump.
	quarantineOnly = 1000

	maxQuarantinedText = 4 << 10

	// mostCPUs keeps sums of CPU-seconds of steps within an int64.
	mostCPUs = 1 << 24
)

// parser turns the text of one dump into Jobs. It sees the text in blocks that
// end with a line and keeps what one block leaves open for the next.
//
// The last record read is not settled until the next one begins: a line that
// is no record of its own may still belong to its last text.
type parser struct {
	name   string
	opt    Options
	report Report
	tally  tally
	schema *schema
	clock  *clock
	line   int64 // of the physical line at hand
	hole   bool  // the block at hand holds NUL bytes

	batch    []Job
	handOver func([]Job) ([]Job, error)
	open     openRecord

	cells, spare  cells
	rejoined      cells  // the record before, which may be read again while a record of spare begins
	stamps        stamps // of the record at hand
	lastStamps    [fieldEnd - fieldSubmit + 1]stampCell
	oddState      State     // of the record at hand, where it is not one of Slurm's
	left          []reading // of the record at hand, where a time of it has two
	submitted     submissions
	columnTexts   [fieldCount]texts
	stateCells    map[string]stateCell
	lastState     stateCell // of the cell lastStateCell
	lastStateCell string
	lastName      string
	limit         lastLimit
	allocated     tresTexts
	requested     tresTexts

	window     window
	jobs       jobSet
	resizedAt  map[stepJob]Instant    // the ends of parts that a resize ended
	foundSteps map[stepJob]foundSteps // steps whose job has not been seen yet
	stepsAfter stepJob                // the job that the last steps belong to
}

type stepJob struct {
	cluster string
	id      uint64
}

type foundSteps struct{ steps, cpuSeconds int64 }

type recordKind uint8

const (
	noRecord recordKind = iota
	jobRecord
	stepRecord
	badRecord // quarantined: the last of report.Quarantined
)

// openRecord is the record that was read last.
type openRecord struct {
	kind       recordKind
	text       string
	line       int64
	step       stepJob
	cpuSeconds int64  // of a step
	oddState   State  // of a job
	incomplete bool   // a badRecord with too few cells: fragments after it are part of it
	joined     []byte // text and the lines after it that belong to it
}

func newParser(name string, opt Options, handOver func([]Job) ([]Job, error)) *parser {
	return &parser{
		name: name, opt: opt, clock: newClock(opt.Zone), handOver: handOver,
		foundSteps: map[stepJob]foundSteps{}, stateCells: map[string]stateCell{},
	}
}

// parse reads a block, and of it as much as can be told without the next. It
// returns how many bytes are done with; last says that no block follows.
func (p *parser) parse(text string, last bool) (int, error) {
	pos := 0
	if p.schema == nil {
		n, err := p.begin(text)
		if err != nil {
			return 0, err
		}
		if pos = n; p.schema == nil {
			return len(text), nil
		}
	}
	if p.hole {
		return 0, p.refuseHole(text[pos:])
	}
	for pos < len(text) {
		end, next := lineEnd(text, pos)
		p.line++
		line := p.trimmed(text[pos:end])
		if end == next && last && text[end-1] != '\r' && p.schema.mayBeCut(line) {
			p.report.Truncated = true
			f := &fault{p.schema.columns[len(p.schema.columns)-1].name, "the file ends inside this record: sacct ends every line, and this cell may go on", remedyUnended}
			return next, p.setAside(line, f, true)
		}
		if ok, err := p.plain(line); err != nil {
			return 0, err
		} else if ok {
			pos = next
			continue
		}
		n, err := p.odd(text, pos, last)
		if err != nil {
			return 0, err
		}
		if n == 0 { // the next block must tell
			p.line--
			break
		}
		pos = n
	}
	if last && len(text) > 0 && text[len(text)-1] != '\n' {
		p.tally.add(WarnNoFinalNewline, p.line)
	}
	return pos, nil
}

// refuseHole refuses text with NUL bytes, which may hide the end of one record
// and the head of another.
func (p *parser) refuseHole(text string) error {
	p.line += int64(strings.Count(text[:max(strings.IndexByte(text, 0), 0)], "\n")) + 1
	return &fault{"", "the line holds NUL bytes: a part of the file was never written", "copy the file again, or dump again; nothing of it was kept"}
}

// lineEnd returns where the line at pos ends and where the next begins.
func lineEnd(text string, pos int) (end, next int) {
	if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
		return pos + i, pos + i + 1
	}
	return len(text), len(text)
}

// trimmed takes the carriage return off a line of a file that has them.
func (p *parser) trimmed(line string) string {
	if p.schema.crlf && len(line) > 0 && line[len(line)-1] == '\r' {
		return line[:len(line)-1]
	}
	return line
}

// plain reads a line that is one record with every cell in its column. It
// reports false, having done nothing, where the line is anything else.
func (p *parser) plain(line string) (bool, error) {
	s := p.schema
	width := len(s.columns)
	most := width + 1
	if s.fold {
		most = width
	}
	c := &p.cells
	if c.split(line, s.delimiter, most) != width || (s.trailing() && c.at(int16(width-1)) != "") {
		return false, nil
	}
	if last := c.at(int16(width - 1)); (len(last) >= shortestJoined && last != p.lastName && s.joinedTo(last)) || (s.overlaps && c.leansOver(s)) {
		return false, nil
	}
	return p.record(c, line, p.line, 0)
}

// record makes a record of the cells: a job, a step, or a quarantined one. It
// reports false where a cell cannot stand in its column.
func (p *parser) record(c *cells, text string, line int64, notes Notes) (bool, error) {
	id := c.at(p.schema.at[fieldJobID])
	if !p.schema.has(fieldJobID) {
		id = c.at(p.schema.at[fieldJobIDRaw])
	}
	form := jobIDFormOf(id)
	if form == notJobID {
		return false, nil
	}
	if form == stepID {
		if !c.fit(p.schema) {
			return false, nil
		}
		return true, p.addStep(c, id, text, line)
	}
	if err := p.settle(); err != nil {
		return true, err
	}
	p.batch = p.batch[:len(p.batch)+1]
	j := &p.batch[len(p.batch)-1]
	*j = Job{JobID: id, Notes: notes}
	p.oddState = ""
	j.Source.File, j.Source.Line = p.name, line
	if f := p.job(c, form, j); f != nil {
		end := j.End
		if f.remedy == remedyTruncated {
			p.window.clipped(j)
		}
		p.batch = p.batch[:len(p.batch)-1]
		if !c.fit(p.schema) {
			return false, nil
		}
		p.quarantine(text, line, f, end)
		return true, nil
	}
	p.open = openRecord{kind: jobRecord, text: text, line: line, oddState: p.oddState}
	return true, nil
}

func (p *parser) addStep(c *cells, id, text string, line int64) error {
	if err := p.settle(); err != nil {
		return err
	}
	at := &p.schema.at
	number, ok := baseNumber(c.at(at[fieldJobIDRaw]))
	if !ok {
		number, _ = baseNumber(id)
	}
	cluster := p.columnTexts[fieldCluster].of(c.at(at[fieldCluster]), trimBlanks)
	if cluster == "" {
		cluster = p.opt.Cluster
	}
	p.open = openRecord{kind: stepRecord, text: text, line: line, step: stepJob{cluster, number}}
	if elapsed, f := p.elapsed(c, &Job{}); f == nil {
		p.open.cpuSeconds = max(elapsed, 0) * min(max(integerOr(c.at(at[fieldAllocCPUs])), 0), mostCPUs)
	}
	return nil
}

// quarantine sets the record aside. The record before must be settled.
func (p *parser) quarantine(text string, line int64, f *fault, end Instant) {
	p.report.Quarantined = append(p.report.Quarantined, Quarantined{
		Source: Source{File: p.name, Line: line},
		Reason: f.reason(), Hint: f.remedy, Text: keptText(text), End: end,
	})
	p.open = openRecord{kind: badRecord, text: text, line: line}
	if p.opt.Quarantined != nil {
		p.opt.Quarantined()
	}
}

func keptText(s string) string {
	if len(s) > maxQuarantinedText {
		s = s[:maxQuarantinedText] + "…"
	}
	return strings.Clone(strings.ToValidUTF8(s, "\ufffd"))
}

// settle closes the record that was read last: it is counted, and a full
// batch goes to the consumer.
func (p *parser) settle() error {
	if p.open.joined != nil {
		if err := p.rejoin(); err != nil {
			return err
		}
	}
	switch p.open.kind {
	case noRecord:
		return nil
	case jobRecord:
		p.report.Jobs++
		if p.open.oddState != "" {
			p.tally.addText(WarnUnknownState, p.open.line, fmt.Sprintf("states that this program does not know, the first %s", p.open.oddState))
		}
		if err := p.settleJob(); err != nil {
			return err
		}
	case stepRecord:
		p.settleStep(p.open.step, p.open.cpuSeconds)
	}
	p.open = openRecord{}
	p.report.Records++
	if p.report.Records == quarantineOnly && len(p.report.Quarantined) == quarantineOnly {
		first := p.report.Quarantined[0]
		return &Error{File: p.name, Line: first.Source.Line, Remedy: first.Hint,
			Cause: fmt.Errorf("none of the first %d records can be read; the first: %s", quarantineOnly, first.Reason)}
	}
	return nil
}

// settleJob passes on the job that was read last, or holds it back where only
// those after it can tell when it was submitted.
func (p *parser) settleJob() error {
	last := len(p.batch) - 1
	j := &p.batch[last]
	p.jobs.add(j.Cluster, j.JobIDRaw)
	s := &p.submitted
	if p.stamps.submit.later != None {
		s.held = append(s.held, heldJob{*j, p.left})
		p.batch = p.batch[:last]
		if len(s.held) < mostHeld {
			return nil
		}
		return p.letGo(math.MaxInt64)
	}
	if len(s.held) > 0 {
		after := *j
		p.batch = p.batch[:last]
		if err := p.letGo(after.Submit); err != nil {
			return err
		}
		p.batch = append(p.batch, after)
		j = &p.batch[len(p.batch)-1]
	}
	s.see(j.Submit)
	return p.passOn(j)
}

// letGo passes on the jobs held back; the next was submitted at next.
func (p *parser) letGo(next Instant) error {
	s := &p.submitted
	s.settle(next)
	for i := range s.held {
		p.batch = append(p.batch, s.held[i].job)
		if err := p.passOn(&p.batch[len(p.batch)-1]); err != nil {
			return err
		}
	}
	s.held = nil
	return nil
}

// passOn takes up what the report says of all jobs, and gives a full batch to
// the consumer.
func (p *parser) passOn(j *Job) error {
	r := &p.report
	if j.State == Resizing || p.resizedAt != nil {
		p.partOfResized(j)
	}
	if j.Start < j.Submit {
		j.startAtResize()
	}
	if j.Notes != 0 {
		p.tally.addNotes(j.Notes, j.Source.Line)
	}
	r.Newest = max(r.Newest, j.Submit, j.Start, j.End)
	if j.End != None {
		if r.FirstEnd == None || j.End < r.FirstEnd {
			r.FirstEnd = j.End
		}
		r.LastEnd = max(r.LastEnd, j.End)
	} else if j.Start != None {
		r.Newest = max(r.Newest, j.Start+Instant(j.ElapsedSeconds+j.SuspendedSeconds))
	}
	r.HasBilling = r.HasBilling || j.Billing > 0
	p.window.see(j)
	if len(p.batch) < cap(p.batch) {
		return nil
	}
	batch, err := p.handOver(p.batch)
	p.batch = batch
	return err
}

func (p *parser) settleStep(of stepJob, cpuSeconds int64) {
	p.report.Steps++
	p.report.HasSteps = true
	if of == p.stepsAfter {
		return
	}
	if p.jobs.has(of.cluster, of.id) {
		p.stepsAfter = of
		return
	}
	found := p.foundSteps[of]
	found.steps++
	found.cpuSeconds += cpuSeconds
	p.foundSteps[of] = found
}

// finish settles what is open at the end of the file.
func (p *parser) finish() error {
	if p.schema == nil {
		p.line = 0
		return &fault{"", "the file is empty", "a dump without jobs still has its header: the sacct that wrote this one did not run to its end"}
	}
	if err := p.settle(); err != nil {
		return err
	}
	if err := p.letGo(math.MaxInt64); err != nil {
		return err
	}
	if len(p.batch) > 0 {
		if _, err := p.handOver(p.batch); err != nil {
			return err
		}
	}
	if err := p.refuseTruncatedTimes(); err != nil {
		return err
	}
	for of, found := range p.foundSteps {
		if !p.jobs.has(of.cluster, of.id) {
			p.report.OrphanSteps += found.steps
			p.report.OrphanCPUSeconds += found.cpuSeconds
		}
	}
	if n := p.report.OrphanSteps; n > 0 {
		p.tally.addText(WarnOrphanSteps, 0, fmt.Sprintf("steps whose job is not in the dump, of %d CPU-seconds together", p.report.OrphanCPUSeconds))
		p.tally.counts[WarnOrphanSteps].Count = n
	}
	if f := p.clock.forms; f&(f-1) != 0 {
		p.tally.add(WarnMixedTimes, 0)
	}
	p.report.Lines = p.line
	p.report.Warnings = p.tally.list()
	return nil
}
