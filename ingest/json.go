package ingest

import (
	"fmt"
	"strings"
)

// jsonColumns are the columns that a job of an answer is turned into, so that
// it is read by the same rules as a line of text.
var jsonColumns = []string{"JobID", "JobIDRaw", "DBIndex", "SLUID", "Cluster", "Account", "User", "Partition", "QOS", "WCKey",
	"Reservation", "State", "Submit", "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "TimelimitRaw", "NNodes",
	"ReqTRES", "AllocTRES", "NodeList", "JobName"}

// isJSON reports whether a text begins as a JSON value of many.
func isJSON(text string) bool {
	text = strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n")
	return text != "" && (text[0] == '{' || text[0] == '[')
}

// answer reads sacct --json and slurmrestd's slurmdb answers, one job in
// memory at a time.
type answer struct {
	stream
	p *parser

	record   int64 // of the job at hand, from 1
	job      jsonJob
	sacct    *schema // of jsonColumns
	sonar    *schema // of sonarColumns
	jobsSeen bool    // a list of jobs was there, be it empty, in the document at hand
	bare     bool    // the jobs are a list without an answer around it
	values   []string
	line     []byte
	cells    cells
}

var errNoAnswer = &fault{"jobs", "the file is JSON, but no answer of sacct --json or slurmrestd's slurmdb", remedyCommand}

// parseJSON reads one answer, or several one after the other. next gives the
// blocks of the text, which may end anywhere.
func (p *parser) parseJSON(next func() (block, error)) error {
	a := &answer{p: p, stream: stream{next: next, longest: maxValueBytes}}
	return a.read()
}

func (a *answer) read() error {
	p := a.p
	for {
		more, err := a.document()
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if p.schema == nil { // no job was there to say
		p.schema = newSchema("\x00", columnsNamed(jsonColumns))
	}
	p.line = 0
	return nil
}

// document reads one top-level value; it reports false at the end of the file.
// Each value must hold jobs: beside answers, one that does not is what became
// of a dump that failed.
func (a *answer) document() (bool, error) {
	more, err := a.begins()
	if !more || err != nil {
		return false, err
	}
	before := a.record
	a.jobsSeen, a.bare = false, a.kind() == '['
	if a.bare {
		err = a.eachElement(a.readJob)
	} else {
		err = a.eachMember(a.top)
	}
	switch {
	case err != nil || a.jobsSeen:
		return true, err
	case before > 0:
		return false, &fault{"jobs", "after the answer stands JSON that has no list of jobs", "dump again: one of the joined answers is none"}
	}
	return false, errNoAnswer
}

// begins goes to the next top-level value, an object or a list; it reports
// false at the end of the file.
func (a *answer) begins() (bool, error) {
	for {
		for a.space(a.at) < 0 {
			if a.ended && a.block == "" {
				return false, nil
			}
			if err := a.more(len(a.text)); err != nil {
				return false, err
			}
		}
		a.at = a.space(a.at)
		if c := a.kind(); c == '{' || c == '[' {
			return true, nil
		}
		if err := a.whole(a.mark); err != nil {
			return false, err
		}
	}
}

// mark passes over the byte order mark at the head of a file.
func (a *answer) mark() {
	const mark = "\ufeff"
	switch rest := a.text[a.at:]; {
	case strings.HasPrefix(rest, mark):
		a.at += len(mark)
	case strings.HasPrefix(mark, rest):
		a.ends()
	default:
		a.bad(a.at, "stands where an answer is due")
	}
}

// top reads a member of an answer.
func (a *answer) top(name string) error {
	switch name {
	case "jobs":
		ok, err := a.opens('[')
		if !ok || err != nil {
			return err
		}
		a.jobsSeen = true
		return a.eachElement(a.readJob)
	case "errors", "error", "error_code":
		return a.complaints(true)
	case "warnings":
		return a.complaints(false)
	case "meta":
		return a.meta()
	case "data", "attributes":
		ok, err := a.opens('{')
		if !ok || err != nil {
			return err
		}
		return a.eachMember(a.top)
	case "slurm_jobs":
		ok, err := a.opens('[')
		if !ok || err != nil {
			return err
		}
		if a.p.opt.Cluster == "" {
			return &fault{"Cluster", "the records do not name it", "name the cluster of this dump (--cluster)"}
		}
		a.jobsSeen = true
		a.p.report.Format = "Sonar's list of sacct's records"
		return a.eachElement(a.readSonarJob)
	}
	return a.pass()
}

// complaints reads the errors or the warnings of an answer. An answer with an
// error may be incomplete.
func (a *answer) complaints(fatal bool) error {
	if a.kind() == '[' {
		return a.eachElement(func() error { return a.complaint(fatal, false) })
	}
	return a.complaint(fatal, true)
}

// saysNothing reports whether a value stands for an empty list of complaints.
func saysNothing(value string) bool {
	switch value {
	case "null", "false", `""`:
		return true
	}
	return strings.Trim(value, "{ \t\r\n}") == "" || strings.Trim(value, "-0.") == ""
}

// complaint reads one of a list of complaints, or what stands for all.
func (a *answer) complaint(fatal, all bool) error {
	said := ""
	if err := a.whole(func() { said = a.raw() }); err != nil || (all && saysNothing(said)) {
		return err
	}
	said = keptText(said)
	if fatal {
		return &fault{"errors", "the answer reports an error: " + said, remedyRedump}
	}
	a.p.tally.addText(WarnAnswer, 0, "the answer warns: "+said)
	return nil
}

// readJob reads one job of the list.
func (a *answer) readJob() error {
	a.begin(&a.sacct, jsonColumns, "sacct --json")
	j, raw := &a.job, ""
	err := a.whole(func() {
		from := a.at
		j.read(&a.scanner)
		raw = a.text[from:a.at]
	})
	if err != nil {
		return err
	}
	if !j.hasID() && a.bare && !a.jobsSeen {
		return errNoAnswer
	}
	a.jobsSeen = true
	steps, f := j.countSteps(), a.odd
	switch {
	case f != nil:
		steps = stepCount{}
	case !j.hasID():
		f = &fault{"", "the object has no job_id", remedyPlainField}
	case j.jobState.there() || !j.time.there():
		f = &fault{"", "the object is no accounting record (slurmctld's jobs have no time.elapsed)", "ask the slurmdb end point, or sacct --json"}
	default:
		a.values = j.cells(a.values[:0])
		if id := a.values[0]; jobIDFormOf(id) == stepID { // a number with a fraction or an exponent
			f = &fault{"JobID", fmt.Sprintf("%.40q is no number of a job", id), remedyPlainField}
			break
		}
		f, err = a.take(raw, j.killer.text)
	}
	if f != nil {
		err = a.setAside(raw, f, j.endIn(a.p.clock, f))
	}
	if err != nil {
		return err
	}
	return a.p.addSteps(steps, j.id.text)
}

// begin starts the next record.
func (a *answer) begin(of **schema, columns []string, format string) {
	a.record++
	p := a.p
	p.line = a.record
	if *of == nil {
		*of = newSchema("\x00", columnsNamed(columns))
		p.report.HasAllocTRES = true
	}
	p.schema = *of
	if p.report.Format == "" {
		p.report.Format = format
	}
}

// take makes a record of the values, which stand in the order of the columns.
// A fault says why it is none.
func (a *answer) take(raw, cancelledBy string) (*fault, error) {
	p, c := a.p, &a.cells
	a.line = a.line[:0]
	c.cut = append(c.cut[:0], -1)
	c.delimiter, c.n, c.bits = 1, len(a.values), 0
	for _, v := range a.values {
		a.line = append(a.line, v...)
		c.cut = append(c.cut, int32(len(a.line)))
		a.line = append(a.line, 0)
	}
	c.text = string(a.line)
	for i := 0; i < len(c.text); i++ {
		c.bits |= uint64(c.text[i])
	}
	ok, err := p.record(c, raw, a.record, 0)
	if err != nil {
		return nil, err
	}
	if !ok {
		f := p.misfit(c, c.n, false)
		f.remedy = remedyPlainField
		return f, nil
	}
	if p.open.kind == jobRecord {
		if j := &p.batch[len(p.batch)-1]; j.State == Cancelled && cancelledBy != "" {
			j.CancelledBy = strings.Clone(strings.ToValidUTF8(cancelledBy, "\ufffd"))
			if cancelledBy == "root" {
				j.CancelledBy = "0"
			}
		}
		p.report.HasDBIndex = p.report.HasDBIndex || p.batch[len(p.batch)-1].DBIndex != 0
	}
	p.open.text = ""
	return nil, nil
}

// setAside quarantines a record after settling the one before it.
func (a *answer) setAside(raw string, f *fault, end Instant) error {
	if err := a.p.settle(); err != nil {
		return err
	}
	a.p.quarantine(raw, a.record, f, end)
	return nil
}

// addSteps counts the steps of the job that was read last.
func (p *parser) addSteps(steps stepCount, job string) error {
	if steps.all == 0 {
		return nil
	}
	p.report.HasSteps = true
	p.report.Steps += steps.all
	p.report.Records += steps.all
	for range steps.foreign {
		p.tally.addText(WarnForeignSteps, p.line, "steps whose times are not their job's: of an older job with the same id, the first of job "+job)
	}
	return nil
}
