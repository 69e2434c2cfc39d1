package rates

import (
	"slices"
	"strings"

	"hpcbill/rates/money"
)

// Waiver is a row of waivers.csv: what a person decided to forgive of a job.
type Waiver struct {
	Cluster string
	// Job is the JobID as sacct prints it, "812", "903_7", "600+1", or every
	// task of an array or part of a heterogeneous job: "903_*", "600+*".
	Job string
	// Submit tells the runs of a requeued job apart: seconds since 1970 UTC; 0
	// for the only run. EveryRun is for all of them.
	Submit   int64
	EveryRun bool
	Percent  money.Exact // of what is left to pay; above 0, at most 100
	Period   string      // "2026-03": the one month whose bill it changes; "" = each in which the job is
	Reason   string
	Author   string
	Date     Date // of the decision
	// DecidedBy is the end of that day, seconds since 1970 UTC: a job that was
	// submitted later is another one, whatever its number.
	DecidedBy int64
	Line      int
}

// AllTasks reports whether the row is about every task of an array, or every
// part of a heterogeneous job.
func (w *Waiver) AllTasks() bool { return strings.HasSuffix(w.Job, "*") }

// Is reports whether the row is about the job with this JobID that was
// submitted at an instant, 0 where that is not known.
func (w *Waiver) Is(cluster, jobID string, submit int64) bool {
	if w.Cluster != cluster || w.Job != jobID && (!w.AllTasks() || w.Job != allTasksOf(jobID)) {
		return false
	}
	return w.runs(submit)
}

func (w *Waiver) runs(submit int64) bool {
	return submit < w.DecidedBy && (w.Submit == 0 || w.Submit == submit)
}

// Says reports whether two rows say the same of bills.
func (w *Waiver) Says(o *Waiver) bool {
	return w.Cluster == o.Cluster && w.Job == o.Job && w.Submit == o.Submit && w.EveryRun == o.EveryRun &&
		w.Percent.Equal(o.Percent) && w.Period == o.Period && w.Reason == o.Reason && w.DecidedBy == o.DecidedBy
}

// allTasksOf gives "903_*" of "903_7", "600+*" of "600+1", "" of "812".
func allTasksOf(jobID string) string {
	i := strings.IndexAny(jobID, "_+")
	if i < 0 {
		return ""
	}
	return jobID[:i+1] + "*"
}

// Waivers is a waivers.csv.
type Waivers struct {
	File string
	All  []*Waiver // in the order of the file

	clusters map[string]*ClusterWaivers
}

// Cluster gives the rows of a cluster, nil where there are none.
func (w *Waivers) Cluster(name string) *ClusterWaivers {
	if w == nil {
		return nil
	}
	return w.clusters[name]
}

// ClusterWaivers are the rows about the jobs of one cluster.
type ClusterWaivers struct {
	jobs   map[string][]*Waiver // by Job
	arrays bool                 // some are about all tasks
}

// Of gives the row about the run of a job, submitted at an instant, in the
// bill of a month, nil where there is none. There is at most one: ReadWaivers
// refuses a second.
func (c *ClusterWaivers) Of(jobID string, submit int64, month func() string) *Waiver {
	if row := rowAbout(c.jobs[jobID], submit, month); row != nil || !c.arrays {
		return row
	}
	return rowAbout(c.jobs[allTasksOf(jobID)], submit, month)
}

func rowAbout(rows []*Waiver, submit int64, month func() string) *Waiver {
	i := slices.IndexFunc(rows, func(w *Waiver) bool { return w.runs(submit) && (w.Period == "" || w.Period == month()) })
	if i < 0 {
		return nil
	}
	return rows[i]
}
