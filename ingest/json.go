package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The data parsers whose answers this package was written for.
const (
	firstParser = 37
	lastParser  = 45
)

// jsonColumns are the columns that a job of an answer is turned into, so that
// it is read by the same rules as a line of text.
var jsonColumns = []string{"JobID", "JobIDRaw", "DBIndex", "SLUID", "Cluster", "Account", "User", "Partition", "QOS", "WCKey",
	"Reservation", "State", "Submit", "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "TimelimitRaw", "NNodes",
	"ReqTRES", "AllocTRES", "NodeList", "JobName"}

// sonarColumns are the columns of the job lists that Sonar makes of sacct.
var sonarColumns = []string{"JobID", "JobIDRaw", "Cluster", "Account", "User", "Partition", "QOS", "Reservation", "State",
	"Submit", "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "TimelimitRaw", "NNodes", "NCPUS", "ReqCPUS", "ReqMem",
	"ReqTRES", "AllocTRES", "NodeList", "JobName"}

// isJSON reports whether a text begins as a JSON value of many.
func isJSON(text string) bool {
	text = strings.TrimLeft(strings.TrimPrefix(text, "\ufeff"), " \t\r\n")
	return text != "" && (text[0] == '{' || text[0] == '[')
}

// answer reads sacct --json and slurmrestd's slurmdb answers, one job in
// memory at a time.
type answer struct {
	p      *parser
	in     *json.Decoder
	record int64 // of the job at hand, from 1

	jobsSeen bool // a list of jobs was there, be it empty, in the document at hand
	bare     bool // the jobs are a list without an answer around it
	cells    cells
	text     []byte
}

var errNoAnswer = &fault{"jobs", "the file is JSON, but no answer of sacct --json or slurmrestd's slurmdb", remedyCommand}

// parseJSON reads one answer, or several one after the other.
func (p *parser) parseJSON(r io.Reader) error {
	a := &answer{p: p, in: json.NewDecoder(r)}
	for {
		token, err := a.in.Token()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = a.document(token)
		}
		if err != nil {
			return a.failed(err)
		}
	}
	if p.schema == nil { // no job was there to say
		p.schema = newSchema("\x00", columnsNamed(jsonColumns))
	}
	p.line = 0
	return nil
}

// failed gives an error of the decoder its words.
func (a *answer) failed(err error) error {
	var f *fault
	var e *Error
	if err == errStopped || errors.As(err, &f) || errors.As(err, &e) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &fault{"", "the answer is cut off", remedyRedump}
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return &fault{"", fmt.Sprintf("no JSON at byte %d: %s", syntax.Offset, syntax.Error()), "dump again, without +complex, and keep standard error apart"}
	}
	return err
}

// document reads one top-level value whose first token has been read. Each
// must hold jobs: beside answers, one that does not is what became of a dump
// that failed.
func (a *answer) document(token json.Token) error {
	before := a.record
	a.jobsSeen, a.bare = false, false
	var err error
	switch token {
	case json.Delim('{'):
		err = a.object(a.top)
	case json.Delim('['):
		a.bare = true
		err = a.list(a.job)
	default:
		err = &fault{"", fmt.Sprintf("%v stands where an answer is due", token), remedyCommand}
	}
	if err == nil && !a.jobsSeen && before > 0 {
		err = &fault{"jobs", "after the answer stands JSON that has no list of jobs", "dump again: one of the joined answers is none"}
	}
	if err == nil && !a.jobsSeen {
		err = errNoAnswer
	}
	return err
}

// object reads the rest of an object, a member at a time.
func (a *answer) object(member func(name string) error) error {
	for a.in.More() {
		token, err := a.in.Token()
		if err != nil {
			return err
		}
		if err := member(token.(string)); err != nil {
			return err
		}
	}
	_, err := a.in.Token()
	return err
}

// list reads the rest of a list, an element at a time.
func (a *answer) list(element func() error) error {
	for a.in.More() {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := a.in.Token()
	return err
}

// open reads the token that opens an object or a list; it reports false,
// having passed over the value, where the value is another.
func (a *answer) open(want json.Delim) (bool, error) {
	token, err := a.in.Token()
	if err != nil || token == want {
		return err == nil, err
	}
	if d, ok := token.(json.Delim); ok {
		return false, a.skipRest(d)
	}
	return false, nil
}

// skipRest passes over the rest of a value that has been opened.
func (a *answer) skipRest(json.Delim) error {
	for depth := 1; depth > 0; {
		token, err := a.in.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

// skip passes over a value.
func (a *answer) skip() error {
	token, err := a.in.Token()
	if d, ok := token.(json.Delim); ok && err == nil {
		return a.skipRest(d)
	}
	return err
}

// top reads a member of an answer.
func (a *answer) top(name string) error {
	switch name {
	case "jobs":
		ok, err := a.open('[')
		if !ok || err != nil {
			return err
		}
		a.jobsSeen = true
		return a.list(a.job)
	case "errors", "error", "error_code":
		return a.complaints(true)
	case "warnings":
		return a.complaints(false)
	case "meta":
		return a.meta()
	case "data", "attributes":
		ok, err := a.open('{')
		if !ok || err != nil {
			return err
		}
		return a.object(a.top)
	case "slurm_jobs":
		ok, err := a.open('[')
		if !ok || err != nil {
			return err
		}
		if a.p.opt.Cluster == "" {
			return &fault{"Cluster", "the records do not name it", "name the cluster of this dump (--cluster)"}
		}
		a.jobsSeen = true
		a.p.report.Format = "Sonar's list of sacct's records"
		return a.list(a.sonarJob)
	}
	return a.skip()
}

// complaints reads the errors or the warnings of an answer. An answer with an
// error may be incomplete.
func (a *answer) complaints(fatal bool) error {
	token, err := a.in.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('[') {
		return a.complaint(token, fatal)
	}
	return a.list(func() error {
		var raw json.RawMessage
		if err := a.in.Decode(&raw); err != nil {
			return err
		}
		text := keptText(string(raw))
		if fatal {
			return &fault{"errors", "the answer reports an error: " + text, remedyRedump}
		}
		a.p.tally.addText(WarnAnswer, 0, "the answer warns: "+text)
		return nil
	})
}

// complaint reads what stands in place of a list of complaints: null, an
// empty object, 0 and "" are none.
func (a *answer) complaint(token json.Token, fatal bool) error {
	d, object := token.(json.Delim)
	none := token == nil || token == "" || token == 0.0 || token == false || object && !a.in.More()
	if fatal && !none {
		return &fault{"errors", fmt.Sprintf("the answer reports an error: %.200v", token), remedyRedump}
	}
	if object {
		return a.skipRest(d)
	}
	return nil
}

var parserVersion = regexp.MustCompile(`v(\d+)\.(\d+)\.(\d+)$`)

// meta reads which data parser made the answer.
func (a *answer) meta() error {
	var raw json.RawMessage
	if err := a.in.Decode(&raw); err != nil {
		return err
	}
	var meta struct {
		Plugin  map[string]any `json:"plugin"`
		Plugins map[string]any `json:"plugins"`
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		return nil // a meta of another shape says nothing
	}
	for _, said := range []any{meta.Plugin["data_parser"], meta.Plugins["data_parser"], meta.Plugin["type"]} {
		text, _ := said.(string)
		if v := parserVersion.FindStringSubmatch(text); v != nil {
			return a.version(v)
		}
	}
	return nil
}

func (a *answer) version(v []string) error {
	a.p.report.Format = "sacct --json " + v[0]
	if v[1] != "0" || v[2] != "0" {
		return &fault{"meta", "the data parser " + v[0] + " is one that this program does not know",
			fmt.Sprintf("ask for --json=v0.0.%d, or dump with sacct -P", lastParser)}
	}
	if n, err := strconv.Atoi(v[3]); err != nil || n < firstParser || n > lastParser {
		a.p.tally.addText(WarnParserVersion, 0, "the data parser "+v[0]+" was not tried with this program")
	}
	return nil
}

// job reads one job of the list.
func (a *answer) job() error {
	p := a.p
	a.begin(jsonColumns, "sacct --json")
	var raw json.RawMessage
	if err := a.in.Decode(&raw); err != nil {
		return err
	}
	var j jsonJob
	err := json.Unmarshal(raw, &j)
	var steps stepCount
	if err == nil {
		steps, err = j.countSteps()
	}
	switch {
	case err == errNoID && a.bare && !a.jobsSeen:
		return errNoAnswer
	case err != nil:
		err = a.setAside(raw, &fault{"", strings.TrimPrefix(err.Error(), "json: "), remedyPlainField})
	case jobIDFormOf(j.id()) == stepID: // a job's number with a fraction or an exponent
		err = a.setAside(raw, &fault{"JobID", fmt.Sprintf("%.40q is no number of a job", j.id()), remedyPlainField})
	case j.JobState != nil || j.Time == nil:
		err = a.setAside(raw, &fault{"", "the object is no accounting record (slurmctld's jobs have no time.elapsed)", "ask the slurmdb end point, or sacct --json"})
	default:
		err = a.take(raw, j.cells(), string(j.Killer))
	}
	if err != nil {
		return err
	}
	a.jobsSeen = true
	return p.addSteps(steps, j.JobID.text)
}

// begin starts the next record.
func (a *answer) begin(columns []string, format string) {
	a.record++
	p := a.p
	p.line = a.record
	if p.schema == nil {
		p.schema = newSchema("\x00", columnsNamed(columns))
		p.report.HasAllocTRES = true
	}
	if p.report.Format == "" {
		p.report.Format = format
	}
}

// take makes a record of the cells, which stand in the order of the columns.
func (a *answer) take(raw []byte, values []string, cancelledBy string) error {
	p, c := a.p, &a.cells
	a.text = a.text[:0]
	c.cut = append(c.cut[:0], -1)
	c.delimiter, c.n, c.bits = 1, len(values), 0
	for _, v := range values {
		a.text = append(a.text, v...)
		c.cut = append(c.cut, int32(len(a.text)))
		a.text = append(a.text, 0)
	}
	c.text = string(a.text)
	notes := Notes(0)
	if !utf8.Valid(raw) { // the decoder has put U+FFFD there
		notes = NoteInvalidUTF8
	}
	ok, err := p.record(c, string(raw), a.record, notes)
	if err != nil {
		return err
	}
	if !ok {
		f := p.misfit(c, c.n, false)
		f.remedy = remedyPlainField
		return a.setAside(raw, f)
	}
	if p.open.kind == jobRecord {
		if j := &p.batch[len(p.batch)-1]; j.State == Cancelled && cancelledBy != "" {
			j.CancelledBy = cancelledBy
			if cancelledBy == "root" {
				j.CancelledBy = "0"
			}
		}
		p.report.HasDBIndex = p.report.HasDBIndex || p.batch[len(p.batch)-1].DBIndex != 0
	}
	p.open.text = ""
	return nil
}

func (a *answer) setAside(raw []byte, f *fault) error {
	p := a.p
	if err := p.settle(); err != nil {
		return err
	}
	p.quarantine(string(raw), a.record, f, None)
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

// sonarJob reads one record of Sonar's: sacct's columns by name, empty ones
// left out.
func (a *answer) sonarJob() error {
	a.begin(sonarColumns, "")
	var raw json.RawMessage
	if err := a.in.Decode(&raw); err != nil {
		return err
	}
	var named map[string]string
	if err := json.Unmarshal(raw, &named); err != nil {
		return a.setAside(raw, &fault{"", strings.TrimPrefix(err.Error(), "json: "), remedyPlainField})
	}
	values := make([]string, len(sonarColumns))
	for i, name := range sonarColumns {
		values[i] = named[name]
	}
	return a.take(raw, values, "")
}
