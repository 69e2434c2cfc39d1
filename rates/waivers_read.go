package rates

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
)

// maxWaiverBytes is the longest file of waivers that is read.
const maxWaiverBytes = 16 << 20

var waiverColumns = []string{"cluster", "job", "submit", "percent", "period", "reason", "author", "date"}

// waiverJobForm is a JobID as sacct prints it, or all of an array's tasks or
// of a heterogeneous job's parts.
var waiverJobForm = regexp.MustCompile(`^(0|[1-9]\d{0,18})([_+](\*|0|[1-9]\d{0,18}))?$`)

// everyRun stands in the column submit for all runs of a requeued job.
const everyRun = "all"

// ReadWaivers reads waivers.csv: jobs, or runs of jobs, that people decided
// not to charge. Its first line names the columns, in any order; submit,
// percent and period may be left out:
//
//	cluster,job,submit,percent,period,reason,author,date
//	h2p,812,,,,node c12 lost its disk,jd,2026-03-20
//	h2p,903_*,,50,2026-03,file system was slow,jd,2026-03-20
//	h2p,977,2026-03-04T10:15:09,,,first run: bad image,jd,2026-03-20
//
// The job is what sacct prints as JobID. submit picks one run of a requeued
// job, as sacct prints it in the zone, or with an offset; "all" means every
// run. date is the day of the decision: jobs submitted after it are not meant,
// whatever their number. Two rows about the same run and month are refused.
//
// The error is Faults: everything that is wrong with the file.
func ReadWaivers(name string, text []byte, zone *time.Location) (*Waivers, error) {
	f := &waiverFile{name: name, zone: zone}
	switch {
	case len(text) > maxWaiverBytes:
		f.fault(0, "", "the file is longer than 16 MiB", "this is no file of waivers")
	case !utf8.Valid(text):
		f.fault(0, "", "is not UTF-8", "save the spreadsheet as CSV UTF-8")
	default:
		f.read(strings.TrimPrefix(string(text), "\ufeff"))
	}
	w := &Waivers{File: name, All: f.rows, clusters: map[string]*ClusterWaivers{}}
	for _, row := range f.rows {
		w.add(row)
	}
	for _, row := range f.rows {
		f.once(w, row)
	}
	if len(f.faults) > 0 {
		sortFaults(f.faults)
		return nil, f.faults
	}
	return w, nil
}

func (w *Waivers) add(row *Waiver) {
	c := w.clusters[row.Cluster]
	if c == nil {
		c = &ClusterWaivers{jobs: map[string][]*Waiver{}}
		w.clusters[row.Cluster] = c
	}
	c.jobs[row.Job] = append(c.jobs[row.Job], row)
	c.arrays = c.arrays || row.AllTasks()
}

type waiverFile struct {
	name    string
	zone    *time.Location
	columns map[string]int
	rows    []*Waiver
	faults  Faults
}

func (f *waiverFile) fault(line int, field, message, remedy string) {
	f.faults = append(f.faults, Fault{File: f.name, Line: line, Field: field, Message: message, Remedy: remedy})
}

func (f *waiverFile) read(text string) {
	rows := csv.NewReader(strings.NewReader(text))
	rows.FieldsPerRecord = -1
	if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, ";") && !strings.Contains(first, ",") {
		rows.Comma = ';'
	}
	for {
		cells, err := rows.Read()
		if err == io.EOF {
			break
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			f.fault(syntax.StartLine, "", syntax.Err.Error(), "put a text that holds quotes in quotes, and double them")
			return
		}
		line, _ := rows.FieldPos(0)
		switch {
		case strings.TrimSpace(strings.Join(cells, "")) == "":
		case f.columns != nil:
			f.row(cells, line)
		case !f.header(cells, line):
			return
		}
	}
	if f.columns == nil {
		f.fault(0, "", "is empty", "begin the file with the line "+strings.Join(waiverColumns, ","))
	}
}

// header binds the columns; it reports false where no row can be read.
func (f *waiverFile) header(cells []string, line int) bool {
	f.columns = map[string]int{}
	before := len(f.faults)
	for i, cell := range cells {
		name := strings.ToLower(strings.TrimSpace(cell))
		_, twice := f.columns[name]
		switch {
		case name == "" && strings.TrimSpace(strings.Join(cells[i:], "")) == "": // commas that a spreadsheet left
		case !slices.Contains(waiverColumns, name):
			f.fault(line, name, "unknown column", nearest.Remedy(name, waiverColumns))
		case twice:
			f.fault(line, name, "the column occurs twice", "")
		default:
			f.columns[name] = i
		}
	}
	for _, name := range []string{"cluster", "job", "reason", "author", "date"} {
		if _, ok := f.columns[name]; !ok {
			f.fault(line, name, "the column is missing", "the columns are "+strings.Join(waiverColumns, ", "))
		}
	}
	return len(f.faults) == before
}

// row reads one row after the header.
func (f *waiverFile) row(cells []string, line int) {
	before := len(f.faults)
	cell := func(name string) string {
		if i, ok := f.columns[name]; ok && i < len(cells) {
			return strings.TrimSpace(cells[i])
		}
		return ""
	}
	for i, text := range cells {
		if strings.TrimSpace(text) != "" && !f.bound(i) {
			f.fault(line, "", fmt.Sprintf("there is a cell beyond the last column: %.80q", text), "a text that holds a comma must be in quotes")
			break
		}
		if strings.ContainsFunc(text, unicode.IsControl) {
			f.fault(line, "", fmt.Sprintf("%.80q has a line break or a control character", text), "write it on one line")
		}
	}
	w := &Waiver{Line: line, Cluster: cell("cluster"), Job: cell("job"), Reason: cell("reason"), Author: cell("author"), Percent: money.Int(100)}
	for _, needed := range []string{"cluster", "job", "reason", "author", "date"} {
		if cell(needed) == "" {
			f.fault(line, needed, "is empty", "every waiver says of which job, why, who decided on it and when")
		}
	}
	if w.Job != "" && !waiverJobForm.MatchString(w.Job) {
		f.fault(line, "job", fmt.Sprintf("%.80q is not a job id", w.Job), "write the JobID that sacct prints: 812, 903_7, 600+1; 903_* is every task of an array")
	}
	f.submit(w, cell("submit"))
	f.percent(w, cell("percent"))
	f.month(w, cell("period"))
	f.date(w, cell("date"))
	if len(f.faults) == before {
		f.rows = append(f.rows, w)
	}
}

func (f *waiverFile) bound(i int) bool {
	for _, at := range f.columns {
		if at == i {
			return true
		}
	}
	return false
}

func (f *waiverFile) submit(w *Waiver, text string) {
	switch text {
	case "":
	case everyRun:
		w.EveryRun = true
	default:
		t, err := ParseInstant(text, f.zone)
		if err != nil {
			f.fault(w.Line, "submit", err.Error(), "write the time that sacct prints, such as 2026-03-04T10:15:09, or with an offset, 2026-03-04T10:15:09-05:00, or all")
		}
		w.Submit = t.Unix()
	}
}

func (f *waiverFile) percent(w *Waiver, text string) {
	if text == "" {
		return
	}
	x, err := money.ParseDecimal(strings.TrimSpace(strings.TrimSuffix(text, "%")))
	switch {
	case err != nil:
		f.fault(w.Line, "percent", err.Error(), `write a plain decimal with a point, such as "50" or "12.5"`)
	case x.Sign() <= 0 || x.Cmp(money.Int(100)) > 0:
		f.fault(w.Line, "percent", text+" is not above 0 and at most 100", "leave it empty to waive the whole")
	}
	w.Percent = x
}

func (f *waiverFile) month(w *Waiver, text string) {
	if text == "" {
		return
	}
	if _, err := ParsePeriod(text, f.zone); err != nil {
		f.fault(w.Line, "period", err.Error(), "leave it empty for the month in which the job is billed")
	}
	w.Period = text
}

func (f *waiverFile) date(w *Waiver, text string) {
	if text == "" {
		return
	}
	d, err := ParseDate(text)
	if err != nil {
		f.fault(w.Line, "date", err.Error(), "write the day of the decision, year-month-day")
		return
	}
	w.Date, w.DecidedBy = d, d.next().Midnight(f.zone).Unix()
	if w.Submit >= w.DecidedBy {
		f.fault(w.Line, "submit", fmt.Sprintf("is after %s, the day of the decision", d), "correct one of the two")
	}
}

// once refuses a second row about what an earlier one is about.
func (f *waiverFile) once(w *Waivers, row *Waiver) {
	c := w.clusters[row.Cluster]
	rivals := c.jobs[row.Job]
	if !row.AllTasks() {
		rivals = slices.Concat(rivals, c.jobs[allTasksOf(row.Job)])
	}
	for _, other := range rivals {
		if other == row || other.Line > row.Line && other.Job == row.Job || !row.overlaps(other) {
			continue
		}
		at, first := row, other
		if other.Line > row.Line {
			at, first = other, row
		}
		f.fault(at.Line, "job", fmt.Sprintf("%s/%s is waived on line %d already", row.Cluster, row.Job, first.Line),
			"keep one row for each job; submit tells runs apart, period months")
		return
	}
}

// overlaps reports whether two rows of one job can be about the same run and
// month.
func (w *Waiver) overlaps(o *Waiver) bool {
	return (w.Submit == 0 || o.Submit == 0 || w.Submit == o.Submit) && (w.Period == "" || o.Period == "" || w.Period == o.Period)
}
