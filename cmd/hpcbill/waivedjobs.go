package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/rates"
	"hpcbill/rating"
)

// idleWaiver is a row of waivers.csv that waives nothing.
type idleWaiver struct {
	row     *rates.Waiver
	message string
	hint    string
	// met says that there is a job of the month, but nothing to waive of it.
	// Else the job is not known, and may have been mistaken for another.
	met bool
}

// concerns reports whether the row may be meant for the bill of a month: a job
// that is not known may be of any.
func (w *idleWaiver) concerns(p rates.Period) bool {
	return w.row.Period == "" || w.row.Period == p.String()
}

// waivedRun is a run of a job that a row is about, with the months that bill
// it.
type waivedRun struct {
	job    ingest.Job
	months []rates.Period
}

// checkWaivedJobs looks up the jobs of waivers.csv. A fault is a row that must
// be mended before anything is billed: one that does not say which run of a
// job it means, or that was written after the month of its job was issued.
func (s *site) checkWaivedJobs(ctx context.Context) (idle []idleWaiver, err error) {
	if s.waivers == nil || len(s.waivers.All) == 0 {
		return nil, nil
	}
	found, near, err := s.findWaived(ctx)
	if err != nil {
		return nil, err
	}
	var faults []error
	months := s.issuedMonths()
	var open []*rates.Waiver // of which some run is in a month that is not issued
	for _, row := range s.waivers.All {
		runs := found[row]
		if fault := s.ambiguousWaiver(row, runs); fault != nil {
			faults = append(faults, fault)
			continue
		}
		late, settled, err := s.lateWaiver(ctx, months, row, runs)
		if err != nil {
			return nil, err
		}
		switch w, some := s.unmetWaiver(row, runs, near[row]); {
		case late != nil:
			faults = append(faults, late)
		case some:
			idle = append(idle, w)
		case !settled:
			open = append(open, row)
		}
	}
	vain, err := s.vainWaivers(open, found)
	idle = append(idle, vain...)
	slices.SortFunc(idle, func(a, b idleWaiver) int { return a.row.Line - b.row.Line })
	return idle, errors.Join(errors.Join(faults...), err)
}

// findWaived gives the runs that each row is about, and of rows without any
// the JobIDs that are nearest.
func (s *site) findWaived(ctx context.Context) (found map[*rates.Waiver][]waivedRun, near map[*rates.Waiver][]string, err error) {
	found, near = map[*rates.Waiver][]waivedRun{}, map[*rates.Waiver][]string{}
	byBase := map[string]map[string][]*rates.Waiver{} // by cluster
	for _, row := range s.waivers.All {
		if byBase[row.Cluster] == nil {
			byBase[row.Cluster] = map[string][]*rates.Waiver{}
		}
		rows, base := byBase[row.Cluster], baseOf(row.Job)
		rows[base] = append(rows[base], row)
	}
	clusters := slices.Sorted(maps.Keys(byBase))
	rater := rating.NewRater(s.tariff())
	columns := []string{"job_id", "state", "elapsed_seconds", "suspended_seconds"}
	for _, q := range []jobstore.Query{{}, {Unfinished: true}} {
		q.Clusters, q.Columns = clusters, columns
		for batch, err := range s.jobs.Select(q) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return nil, nil, err
			}
			for i := range batch {
				j := &batch[i]
				for _, row := range byBase[j.Cluster][baseOf(j.JobID)] {
					if row.Is(j.Cluster, j.JobID, int64(j.Submit)) {
						found[row] = append(found[row], waivedRun{*j, s.monthsBilling(rater, j)})
					} else if len(near[row]) < 3 {
						near[row] = append(near[row], strings.Clone(j.JobID)+" submitted "+s.local(j.Submit))
					}
				}
			}
		}
	}
	return found, near, nil
}

// baseOf is the number that a JobID begins with.
func baseOf(jobID string) string {
	if i := strings.IndexAny(jobID, "_+"); i >= 0 {
		return jobID[:i]
	}
	return jobID
}

// monthsBilling gives the months that bill a part of a job that ran.
func (s *site) monthsBilling(rater *rating.Rater, j *ingest.Job) []rates.Period {
	var months []rates.Period
	if !j.Ran() {
		return nil
	}
	for _, p := range s.periodsOf(j) {
		if _, some := rater.Seconds(j, p); some && !p.Start.Before(s.config.FirstPeriod.Start) {
			months = append(months, p)
		}
	}
	return months
}

// inMonths keeps of the months those that a row is about.
func inMonths(row *rates.Waiver, months []rates.Period) []rates.Period {
	if row.Period == "" {
		return months
	}
	return slices.DeleteFunc(slices.Clone(months), func(p rates.Period) bool { return p.String() != row.Period })
}

// ambiguousWaiver is the fault of a row that does not say which run of a
// requeued job it means.
func (s *site) ambiguousWaiver(row *rates.Waiver, runs []waivedRun) error {
	if row.Submit != 0 || row.EveryRun {
		return nil
	}
	submits := map[string][]ingest.Instant{}
	for i := range runs {
		j := &runs[i].job
		if list := submits[j.JobID]; len(inMonths(row, runs[i].months)) > 0 && !slices.Contains(list, j.Submit) {
			submits[j.JobID] = append(list, j.Submit)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(submits)) {
		if list := submits[id]; len(list) > 1 {
			var at []string
			for _, t := range list {
				at = append(at, s.local(t))
			}
			slices.Sort(at)
			return rates.Fault{File: s.waivers.File, Line: row.Line, Field: "submit",
				Message: fmt.Sprintf("%s/%s ran %d times, submitted %s", row.Cluster, id, len(list), strings.Join(at, ", ")),
				Remedy:  "write the submit time of the run that is meant, or all"}
		}
	}
	return nil
}

// lateWaiver is the fault of a row that would change an issued month; settled
// tells that all of its months are issued.
func (s *site) lateWaiver(ctx context.Context, months *issuedMonths, row *rates.Waiver, runs []waivedRun) (late error, settled bool, err error) {
	settled = len(runs) > 0
	var without []*issuedMonth // that were billed without the row
	var jobs []ingest.Job
	for i := range runs {
		for _, p := range inMonths(row, runs[i].months) {
			m, err := months.of(ctx, p)
			if err != nil {
				return nil, false, err
			}
			if m == nil {
				settled = false
			} else if !m.says(row) {
				jobs = append(jobs, runs[i].job)
				if !slices.Contains(without, m) {
					without = append(without, m)
				}
			}
		}
	}
	whole, err := s.wholeJobs(jobs)
	if err != nil {
		return nil, false, err
	}
	for _, m := range without {
		if err := m.raters(ctx); err != nil {
			return nil, false, err
		}
		for i := range whole {
			if m.waivesOtherwise(&whole[i], rating.ByWaiver, row.Line) {
				return rates.Fault{File: s.waivers.File, Line: row.Line, Field: "period",
					Message: fmt.Sprintf("%s/%s was billed in %s, which was issued without this row", row.Cluster, whole[i].JobID, m.period),
					Remedy:  "give back what is due with a credit in adjustments, and remove the row, or give it the period of a month that is not issued"}, false, nil
			}
		}
	}
	return nil, settled, nil
}

// unmetWaiver tells of a row that no job of its months is about.
func (s *site) unmetWaiver(row *rates.Waiver, runs []waivedRun, near []string) (w idleWaiver, some bool) {
	w = idleWaiver{row: row}
	name := row.Cluster + "/" + row.Job
	var billed []string
	running := false
	for i := range runs {
		if len(inMonths(row, runs[i].months)) > 0 {
			return w, false
		}
		running = running || !runs[i].job.Final()
		for _, p := range runs[i].months {
			billed = append(billed, p.String())
		}
	}
	slices.Sort(billed)
	switch {
	case len(billed) > 0:
		w.message = fmt.Sprintf("%s has no part in %s: it is billed in %s", name, row.Period, strings.Join(slices.Compact(billed), ", "))
		w.hint = "correct the period, or leave it empty"
	case running:
		w.message, w.met = name+" has not ended: there is nothing to waive yet", true
	case len(runs) > 0:
		w.message, w.met = name+" never ran, or ended before this site began to bill: there is nothing to waive", true
	case len(near) > 0:
		w.message = fmt.Sprintf("no job %s%s was ingested that was submitted by %s, but %s", name, s.submitText(row), row.Date, strings.Join(near, "; "))
		w.hint = "write the JobID as sacct prints it; 903_* is every task of an array"
	default:
		w.message = fmt.Sprintf("no job %s was ingested", name)
		w.hint = "ingest the dump that has it, correct the row, or give it the period in which the job will be billed"
	}
	return w, true
}

func (s *site) submitText(row *rates.Waiver) string {
	if row.Submit == 0 {
		return ""
	}
	return " submitted " + s.local(ingest.Instant(row.Submit))
}

// vainWaivers tells of rows whose jobs are there, but have nothing to waive:
// they are excluded, held, or waived already.
func (s *site) vainWaivers(rows []*rates.Waiver, found map[*rates.Waiver][]waivedRun) (vain []idleWaiver, err error) {
	rater := rating.NewRater(s.tariff())
	for _, row := range rows {
		var jobs []ingest.Job
		for i := range found[row] {
			jobs = append(jobs, found[row][i].job)
		}
		whole, err := s.wholeJobs(jobs)
		if err != nil {
			return nil, err
		}
		w, waives := idleWaiver{row: row, met: true}, false
		for i := range whole {
			j := &whole[i]
			for _, p := range inMonths(row, s.monthsBilling(rater, j)) {
				for _, o := range rater.Job(j, p) {
					waives = waives || o.Cause.Code == rating.ByWaiver
					w.message = fmt.Sprintf("%s/%s is %s in %s: there is nothing to waive", row.Cluster, j.JobID, o.Verdict, p)
					if o.Cause.Code != "" {
						w.message = fmt.Sprintf("%s/%s is %s in %s (%s: %s): there is nothing to waive", row.Cluster, j.JobID, o.Verdict, p, o.Cause.Code, o.Cause.Detail)
					}
				}
			}
		}
		if !waives && w.message != "" {
			vain = append(vain, w)
		}
	}
	return vain, nil
}

// wholeJobs reads all that rating needs of jobs of which the times are known.
func (s *site) wholeJobs(some []ingest.Job) ([]ingest.Job, error) {
	type span struct{ from, until ingest.Instant }
	spans := map[string]span{} // by cluster and month of the end; an open end alone
	wanted := map[[4]uint64]bool{}
	identity := func(j *ingest.Job) [4]uint64 {
		return [4]uint64{j.JobIDRaw, uint64(j.Submit), j.DBIndex, uint64(j.Start)}
	}
	for i := range some {
		j := &some[i]
		wanted[identity(j)] = true
		key := j.Cluster + "\x00"
		if j.Final() {
			key += timeOf(j.End).UTC().Format("2006-01")
		}
		at, seen := spans[key]
		if !seen {
			at = span{j.End, j.End}
		}
		spans[key] = span{min(at.from, j.End), max(at.until, j.End)}
	}
	var whole []ingest.Job
	for _, key := range slices.Sorted(maps.Keys(spans)) {
		cluster, month, _ := strings.Cut(key, "\x00")
		q := jobstore.Query{Clusters: []string{cluster}, Columns: neededColumns(rating.AnyNeeds()), Unfinished: month == "", From: spans[key].from, To: spans[key].until + 1}
		for batch, err := range s.jobs.Select(q) {
			if err != nil {
				return nil, err
			}
			for i := range batch {
				if wanted[identity(&batch[i])] {
					whole = append(whole, batch[i])
				}
			}
		}
	}
	slices.SortStableFunc(whole, func(a, b ingest.Job) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.JobIDRaw, b.JobIDRaw))
	})
	return whole, nil
}
