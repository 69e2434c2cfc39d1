package rates

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"hpcbill/rates/csvdoc"
	"hpcbill/rates/money"
)

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
	f := &waiverFile{File: csvdoc.File{
		Name: name, Columns: waiverColumns, Needed: [][]string{{"cluster"}, {"job"}, {"reason"}, {"author"}, {"date"}},
		Begin: strings.Join(waiverColumns, ","),
	}, zone: zone}
	for _, row := range f.Read(text) {
		f.row(row)
	}
	w := &Waivers{File: name, All: f.rows, clusters: map[string]*ClusterWaivers{}}
	for _, row := range f.rows {
		w.add(row)
	}
	for _, row := range f.rows {
		f.once(w, row)
	}
	if len(f.Faults) > 0 {
		sortFaults(f.Faults)
		return nil, f.Faults
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
	csvdoc.File
	zone *time.Location
	rows []*Waiver
}

func (f *waiverFile) fault(line int, field, message, remedy string) {
	f.Fault(line, 0, field, message, remedy)
}

// row reads one row after the header.
func (f *waiverFile) row(row *csvdoc.Row) {
	before, line, cell := len(f.Faults), row.Line(), row.Cell
	row.OneLine()
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
	if len(f.Faults) == before {
		f.rows = append(f.rows, w)
	}
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
	w.Date, w.DecidedBy = d, d.Next().Midnight(f.zone).Unix()
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
