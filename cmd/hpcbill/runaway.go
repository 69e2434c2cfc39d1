package main

import (
	"fmt"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates/money"

	"github.com/spf13/cobra"
)

func (a *app) runawayCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "runaway",
		Short: "jobs that run past their limit, or whose end never came",
		Long: `Lists the records without an end of jobs that started: those more than a day
past their time limit (more than a year where they have none), and those that no
longer stand in the newest dumps of their cluster. Slurm shows a job that it has
lost as RUNNING for ever (sacctmgr show runawayjobs); one whose dump is missing
looks the same here. Neither is billed before it ends.`,
		Example: "  hpcbill report runaway",
		Args:    noArguments,
	}
	format := addFormat(c)
	c.RunE = func(*cobra.Command, []string) error {
		return a.printReport(*format, func(print func(*table, error) error) error {
			return a.withSite(func(s *site) error { return print(s.reportRunaway(a.now())) })
		})
	}
	return c
}

// lostAfter is how much newer than the last dump with a running job the
// cluster's newest one must be for the job to be lost.
const lostAfter = ingest.Instant(24 * 3600)

func (s *site) reportRunaway(now time.Time) (*table, error) {
	t := &table{columns: columns("cluster", "job_id", "user", "account", "partition", "state", "start", ">limit_hours",
		">elapsed_hours", ">age_days", ">cores", ">gpus", "last_seen", "why")}
	newest, made, err := s.dumpTimes()
	if err != nil {
		return nil, err
	}
	for batch, err := range s.jobs.Unfinished() {
		if err != nil {
			return nil, err
		}
		for i := range batch {
			j := &batch[i]
			seen := made[j.Source.Digest]
			why := ""
			switch {
			case !j.Ran():
				continue
			case newest[j.Cluster] > seen+lostAfter:
				why = fmt.Sprintf("not in the dumps since: the newest is of %s", s.local(newest[j.Cluster]))
			case j.Notes&ingest.NoteRunaway != 0:
				why = "past its limit: see sacctmgr show runawayjobs"
			default:
				continue
			}
			age := max(now.Unix()-int64(j.Start), 0) / (24 * 3600)
			t.add(j.Cluster, j.JobID, j.User, j.Account, j.Partition, string(j.State), s.local(j.Start), limitHours(j.TimelimitSeconds),
				plainHours(j.ElapsedSeconds), age, known(j.CPUs), known(j.GPUs), s.local(seen), why)
		}
	}
	return t, nil
}

// dumpTimes gives when the newest dump of each cluster was made, and when each
// dump was, as far as its records show.
func (s *site) dumpTimes() (newest map[string]ingest.Instant, made map[string]ingest.Instant, err error) {
	newest, made = map[string]ingest.Instant{}, map[string]ingest.Instant{}
	records, err := s.jobs.Ingests()
	for _, r := range records {
		at := max(r.Newest, r.Asked.To)
		made[r.Digest] = max(made[r.Digest], at)
		for _, cluster := range r.Clusters {
			newest[cluster] = max(newest[cluster], at)
		}
	}
	return newest, made, err
}

func limitHours(seconds int64) any {
	switch seconds {
	case ingest.NoLimit:
		return "none"
	case ingest.Unknown:
		return nil
	}
	return plainHours(seconds)
}

// plainHours prints seconds as hours to two places, for programs to read too.
func plainHours(seconds int64) string { return money.Ratio(seconds, 3600).Decimal(2, money.HalfEven) }

// known is a count, nil where the cluster does not record it.
func known(n int64) any {
	if n == ingest.Unknown {
		return nil
	}
	return n
}
