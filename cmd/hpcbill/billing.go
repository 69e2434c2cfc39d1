package main

import (
	"context"
	"errors"
	"iter"
	"slices"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rating"
)

// billing is one period computed from jobs and inputs: pure but for the
// charges that it leaves in a directory.
type billing struct {
	period   rates.Period
	invoices []invoice.Invoice
	summary  invoice.Summary
	storage  []rating.StorageOutcome
	listings map[string]bool       // the listings that storage depends on
	ledger   []invoice.LedgerEntry // what earlier periods drew and counted
	late     *late                 // of issued months
}

// compute rates the period's jobs and holdings under in and composes the
// drafts. charges takes each job's outcome.
func (s *site) compute(ctx context.Context, in *inputs, p rates.Period, charges *sink) (*billing, error) {
	ledger, err := s.ledgerBefore(ctx, in, p)
	if err != nil {
		return nil, err
	}
	l, err := s.lateFor(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.computeWith(ctx, in, p, charges, ledger, l)
}

// computeWith computes a period with what earlier ones carried over and what
// came in late of issued ones.
func (s *site) computeWith(ctx context.Context, in *inputs, p rates.Period, charges *sink, ledger []invoice.LedgerEntry, l *late) (*billing, error) {
	ledger = append(slices.Clone(ledger), invoice.EntriesOf(l.corrections)...)
	b := &billing{period: p, ledger: ledger, late: l}
	desks, err := in.desks(p)
	if err != nil {
		return nil, err
	}
	first := charges
	if in.hasTiers() {
		first = nil // what a job costs is known when its group is summed
	}
	work := &ratingWork{site: s, inputs: in, period: p, desks: desks, sink: first, pass: (*desk).add}
	if err := work.run(ctx); err != nil {
		return nil, err
	}
	rater, composer, read := gathered(desks)
	var held ingest.Storage
	if held, b.listings, err = in.storageOf(p); err == nil {
		b.storage, err = rater.Storage(held.Holdings, p)
	}
	if err != nil {
		return nil, err
	}
	for _, o := range b.storage {
		if err := composer.AddStorage(o); err != nil {
			return nil, err
		}
	}
	if err := composer.Adjust(in.adjustments); err != nil {
		return nil, err
	}
	if err := composer.Correct(l.corrections); err != nil {
		return nil, err
	}
	b.invoices, b.summary, err = composer.Compose(ledger)
	if err == nil {
		err = b.summary.CheckRead(read.jobs, read.seconds)
	}
	if err != nil {
		return nil, err
	}
	if in.hasTiers() && charges != nil {
		prices := invoice.TierPricesOf(b.invoices)
		work.sink, work.pass = charges, func(_ *desk, o *rating.Outcome) error { return prices.SettleJob(o) }
		if err := work.run(ctx); err != nil {
			return nil, err
		}
	}
	if err := invoice.TierPricesOf(b.invoices).SettleStorage(b.storage); err != nil {
		return nil, err
	}
	b.summary.Records, err = s.records()
	return b, err
}

// hasTiers reports whether a card has prices that hang on a group's whole
// period.
func (in *inputs) hasTiers() bool {
	for _, c := range in.cards {
		if c.HasTiers() {
			return true
		}
	}
	return false
}

// countsFiscalYear reports whether a card has prices that hang on what earlier
// periods were billed.
func (in *inputs) countsFiscalYear() bool {
	for _, c := range in.cards {
		if c.CountsFiscalYear() {
			return true
		}
	}
	return false
}

// chargedColumns are the columns of the job store that rating any job, its
// charges and the documents look at.
var chargedColumns = []string{
	"job_id", "user_name", "account", "partition", "qos", "job_name", "state", "elapsed_seconds", "suspended_seconds",
	"node_count", "cpus", "memory_mib", "gpus", "billing",
	"source_file", "source_line", "source_digest",
}

// neededColumns are those, and what rating by a tariff needs: the others are
// not read.
func neededColumns(n rating.Needs) []string {
	names := slices.Clone(chargedColumns)
	for _, c := range []struct {
		needed bool
		name   string
	}{
		{n.WCKey, "wckey"}, {n.Reservation, "reservation"}, {n.CancelledBy, "cancelled_by"}, {n.Eligible, "eligible_time"}, {n.Timelimit, "timelimit_seconds"},
		{n.ReqCPUs, "req_cpus"}, {n.ReqMemory, "req_memory_mib"}, {n.ReqGPUs, "req_gpus"}, {n.ReqNodes, "req_node_count"},
		{n.AllocTRES, "alloc_tres"}, {n.NodeList, "node_list"},
	} {
		if c.needed {
			names = append(names, c.name)
		}
	}
	return names
}

// jobsOf gives every job that can have a part in the period: those that ended
// in it, those still running, and, where a card bills by start or by usage,
// those that ran in it and ended later. needs is what the rater of the inputs
// looks at. Each batch is one of free's, and to be put back there.
func (s *site) jobsOf(p rates.Period, in *inputs, needs rating.Needs, free chan []ingest.Job) iter.Seq2[[]ingest.Job, error] {
	from, to := ingest.Instant(p.Start.Unix()), ingest.Instant(p.End.Unix())
	needed := neededColumns(needs)
	queries := []jobstore.Query{{From: from, To: to}, {Unfinished: true}}
	if !in.billsByEndAlone() {
		queries = append(queries, jobstore.Query{From: from, To: to, Overlapping: true})
	}
	return func(yield func([]ingest.Job, error) bool) {
		for _, q := range queries {
			q.Columns = needed
			for batch, err := range s.jobs.SelectInto(free, q) {
				if q.Overlapping { // those that ended in the period were given before
					batch = slices.DeleteFunc(batch, func(j ingest.Job) bool { return j.End < to })
				}
				if !yield(batch, err) || err != nil {
					return
				}
			}
		}
	}
}

func (in *inputs) billsByEndAlone() bool {
	for _, c := range in.cards {
		for _, v := range c.Versions {
			if v.BillBy != rates.ByEnd {
				return false
			}
		}
	}
	return true
}

// records is the first equation over every dump that was ingested.
func (s *site) records() (invoice.Records, error) {
	var r invoice.Records
	all, err := s.ingests()
	for _, in := range all {
		r.Read += in.Records
		r.Steps += in.Steps
		r.Jobs += in.New
		r.Superseded += in.Revised + in.Unchanged + in.Superseded
		r.Quarantined += in.Quarantined
	}
	return r, errors.Join(err, r.Check())
}

// ledgerBefore gives what earlier periods drew on prepaid balances and counted
// towards tiers. Periods
// that are not issued yet are composed here to know what they will draw, so
// that a draft of March shows the balance that February leaves.
func (s *site) ledgerBefore(ctx context.Context, in *inputs, p rates.Period) ([]invoice.LedgerEntry, error) {
	ledger, err := s.history.Ledger(ctx, p.String())
	if err != nil || !in.carriesOver() {
		return ledger, err
	}
	for q := in.config.FirstPeriod; q.Start.Before(p.Start); q = q.Next() {
		state, err := s.history.Period(ctx, q.String())
		if err != nil {
			return nil, err
		}
		if state.State == history.Issued {
			continue
		}
		l, err := s.lateFor(ctx, q)
		if err != nil {
			return nil, err
		}
		earlier, err := s.computeWith(ctx, in, q, nil, ledger, l)
		if err != nil {
			return nil, err
		}
		ledger = append(ledger, invoice.LedgerEntries(earlier.invoices)...)
	}
	return ledger, nil
}

// carriesOver reports whether what one period draws, counts or takes decides
// what the next one finds.
func (in *inputs) carriesOver() bool {
	return hasAllocations(in.roster) || in.countsFiscalYear() || in.reductions.CarryOver()
}

func hasAllocations(r *rates.Roster) bool {
	for _, g := range r.Groups {
		if len(g.Allocations) > 0 {
			return true
		}
	}
	return false
}
