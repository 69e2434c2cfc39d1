package main

import (
	"context"
	"fmt"
	"iter"
	"math"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"

	"github.com/spf13/cobra"
)

const policyLong = `Lists the jobs and users of a month that went beyond the limits: of the rate
cards, with what they had, the limit, and what those jobs cost at list price.

  limits:
    - {match: {qos: debug}, time_limit_h: 1, gpus_per_job: 4,
       running_per_user: 1, submitted_per_user: 4}
    - {match: {partition: gpu}, cpus_per_gpu: 4, mem_gib_per_gpu: 20}

What one job may be is asked of the jobs that ended in the month: its time limit
(its run time where the record has none), its GPUs, and the CPUs and memory that
its GPUs carry (no GPU carries none). What a user may have at the same time is asked of
the jobs that began to run, or to wait, in the month: those that came on top of
as many as are allowed are beyond, whatever they ended as. A job follows the
version of the card that holds at its start. Limits charge nothing.

The cost is of the whole jobs, whatever month bills them. unpriced counts those
among them that are not in it, since theirs is not known: they are held, still
running, or priced by tiers.
Where a record does not say what a limit asks for, a row "unknown" counts it.`

func (a *app) policyCommand() *cobra.Command {
	c := a.periodReport("policy", "jobs and users beyond the limits of the cards, and what those jobs cost", (*site).reportPolicy)
	c.Long = policyLong
	return c
}

func (s *site) reportPolicy(ctx context.Context, p rates.Period) (*table, error) {
	policy := rating.NewPolicy(s.tariff(), p)
	some, simultaneous := policy.Limited()
	if !some {
		return nil, usageError{fmt.Errorf("no rate card has limits in %s", p), "write them under  limits:  of a version, as hpcbill help report policy shows"}
	}
	for batch, err := range s.jobsPresent(p, simultaneous) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		for i := range batch {
			policy.Add(&batch[i])
		}
	}
	t := &table{columns: columns("limit", "where", "cluster", "user", "job", ">had", ">allowed", ">jobs", ">cost", ">unpriced", "since")}
	for _, f := range policy.Findings() {
		cost, err := s.listText(f.Cost)
		if err != nil {
			return nil, err
		}
		had, unpriced, since := plainNumber(f.Had), any(f.Unpriced), s.local(f.At)
		if f.Unlimited {
			had = "unlimited"
		}
		if f.Unknown {
			had, unpriced = unknownText, f.Jobs
		}
		if f.Unknown || f.Unpriced == f.Jobs {
			cost = unknownText
		}
		t.add(f.Kind.String(), fmt.Sprintf("%s:%d", f.Card.File, f.Limit.Line), f.Cluster, f.User, f.JobID, had, plainNumber(f.Max), f.Jobs, cost, unpriced, since)
	}
	return t, nil
}

// plainNumber prints a figure of a job: whole where it is.
func plainNumber(x money.Exact) string {
	if x.IsInt() {
		return x.String()
	}
	return x.Decimal(4, money.HalfUp)
}

// jobsPresent gives the jobs that ended in a period and, where jobs at the same
// time are counted, those that were there and ended later, or have not ended.
func (s *site) jobsPresent(p rates.Period, later bool) iter.Seq2[[]ingest.Job, error] {
	from, to := ingest.Instant(p.Start.Unix()), ingest.Instant(p.End.Unix())
	if !later {
		return s.jobs.Jobs(from, to)
	}
	return func(yield func([]ingest.Job, error) bool) {
		for _, q := range []jobstore.Query{{From: from, To: math.MaxInt64}, {Unfinished: true}} {
			for batch, err := range s.jobs.Select(q) {
				if !yield(batch, err) || err != nil {
					return
				}
			}
		}
	}
}
