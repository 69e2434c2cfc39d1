package invoice

import (
	"fmt"
	"sort"

	"hpcbill/rates/money"
	"hpcbill/rating"
)

// Summary accounts for everything that went into a period's invoices: the two
// conservation equations, what was not billed and why, and the totals.
type Summary struct {
	Period   string
	Currency money.Currency

	// Records is counted where dumps are read and filled in by the caller;
	// left 0 it says nothing.
	Records Records
	Jobs    JobCounts
	Seconds JobSeconds
	Storage HoldingCounts
	Causes  []CauseSum // of what was waived, excluded and held, by cause

	Meters     []MeterSum  // by kind, meter and unit, charged and waived
	Charges    money.Exact // all charges before rounding, as they came in
	List       money.Amount
	Reductions money.Amount
	Manual     money.Amount
	Prior      money.Amount
	Overhead   money.Amount
	Tax        money.Amount
	Total      money.Amount
	Invoices   int
	NothingDue []string // IDs of the groups that get no invoice
}

// Records is the first equation: every record read is one of four things.
type Records struct {
	Read        int64 // in the dumps
	Jobs        int64 // kept
	Steps       int64 // parts of a job, which Slurm counts in the job
	Superseded  int64 // an older or equal record of a job that is kept
	Quarantined int64 // unreadable
}

// Check reports whether Read = Jobs + Steps + Superseded + Quarantined.
func (r Records) Check() error {
	if sum := r.Jobs + r.Steps + r.Superseded + r.Quarantined; sum != r.Read {
		return fmt.Errorf("BUG: %d records read, but %d jobs + %d steps + %d superseded + %d quarantined = %d",
			r.Read, r.Jobs, r.Steps, r.Superseded, r.Quarantined, sum)
	}
	return nil
}

// JobCounts are the jobs taken, by verdict: Read is the sum of the others. A
// job in parts with several verdicts counts as held, or else as billed, or else
// as waived.
type JobCounts struct{ Read, Billed, Waived, Excluded, Held, NotRun, Running int64 }

// JobSeconds is the second equation: every second that a job ran in the
// period is billed, waived, excluded or held. The seconds of jobs that had not
// ended belong to a later period: they stand beside the equation.
type JobSeconds struct{ Read, Billed, Waived, Excluded, Held, Running int64 }

// HoldingCounts are the storage holdings taken, by verdict.
type HoldingCounts struct{ Read, Billed, Waived, Excluded, Held int64 }

// CauseSum is what one cause kept from being billed. Stake is what it would
// cost at list price, where only the group is not known; otherwise what is held
// could not be priced, and is nil.
type CauseSum struct {
	Verdict rating.Verdict // Waived, Excluded or Held
	Storage bool           // holdings rather than jobs
	Code    string
	Detail  string
	Hint    string // what clears it
	Count   int64
	Seconds int64 // 0 for storage
	Stake   *rating.Stake
}

// stake adds what is at stake in another part.
func (c *CauseSum) stake(s *rating.Stake) {
	if s == nil {
		return
	}
	if c.Stake == nil {
		c.Stake = &rating.Stake{}
	}
	c.Stake.Add(*s)
}

// MeterSum is a meter over all groups.
type MeterSum struct {
	Kind     Kind // Usage or Storage
	Meter    string
	Unit     string
	Quantity money.Exact
	Amount   money.Exact // at list price, before rounding
}

// causeSum is a CauseSum that is being counted.
type causeSum struct {
	CauseSum
	sequence int64 // of the last job or holding counted
}

type causeKey struct {
	verdict      rating.Verdict
	storage      bool
	code, detail string
}

// of gives the count of a verdict.
func (c *JobCounts) of(v rating.Verdict) *int64 {
	return [...]*int64{&c.Billed, &c.Waived, &c.Excluded, &c.Held, &c.NotRun, &c.Running}[v]
}

// recount moves a job in parts to the verdict of its next part where that one
// weighs more: held, since somebody has to act, then billed, then waived, then
// excluded.
func (c *JobCounts) recount(counted *rating.Verdict, next rating.Verdict) {
	weight := [...]int{rating.Held: 4, rating.Charged: 3, rating.Waived: 2, rating.Excluded: 1, rating.NotRun: 0, rating.Running: 0}
	if weight[next] <= weight[*counted] {
		return
	}
	*c.of(*counted)--
	*c.of(next)++
	*counted = next
}

// add leaves the seconds of a job that never ran out of every term but Read,
// so that such seconds, which there cannot be, break the equation.
func (s *JobSeconds) add(v rating.Verdict, seconds int64) {
	if v == rating.Running {
		s.Running += seconds
		return
	}
	s.Read += seconds
	switch v {
	case rating.Charged:
		s.Billed += seconds
	case rating.Waived:
		s.Waived += seconds
	case rating.Excluded:
		s.Excluded += seconds
	case rating.Held:
		s.Held += seconds
	}
}

func (c *HoldingCounts) add(v rating.Verdict) {
	c.Read++
	switch v {
	case rating.Charged:
		c.Billed++
	case rating.Waived:
		c.Waived++
	case rating.Excluded:
		c.Excluded++
	case rating.Held:
		c.Held++
	}
}

func (c *JobCounts) merge(o JobCounts) {
	c.Read, c.Billed, c.Waived = c.Read+o.Read, c.Billed+o.Billed, c.Waived+o.Waived
	c.Excluded, c.Held = c.Excluded+o.Excluded, c.Held+o.Held
	c.NotRun, c.Running = c.NotRun+o.NotRun, c.Running+o.Running
}

func (s *JobSeconds) merge(o JobSeconds) {
	s.Read, s.Billed, s.Waived = s.Read+o.Read, s.Billed+o.Billed, s.Waived+o.Waived
	s.Excluded, s.Held, s.Running = s.Excluded+o.Excluded, s.Held+o.Held, s.Running+o.Running
}

func (c *HoldingCounts) merge(o HoldingCounts) {
	c.Read, c.Billed, c.Waived = c.Read+o.Read, c.Billed+o.Billed, c.Waived+o.Waived
	c.Excluded, c.Held = c.Excluded+o.Excluded, c.Held+o.Held
}

// summary gives what is known before there are invoices.
func (c *Composer) summary() Summary {
	s := Summary{
		Period: c.period.String(), Currency: c.settings.Currency,
		Jobs: c.jobs, Seconds: c.seconds, Storage: c.storage, Charges: c.charges.Exact(),
	}
	for _, cause := range c.causes {
		s.Causes = append(s.Causes, cause.CauseSum)
	}
	sort.Slice(s.Causes, func(i, j int) bool { return s.Causes[i].less(&s.Causes[j]) })
	meters := make(map[[3]string]*MeterSum)
	for _, g := range c.order {
		for key, line := range g.lines {
			id := [3]string{string(key.kind), key.meter, key.unit}
			m := meters[id]
			if m == nil {
				m = &MeterSum{Kind: key.kind, Meter: key.meter, Unit: key.unit}
				meters[id] = m
			}
			for i := range line.parts {
				m.Quantity = m.Quantity.Add(line.parts[i].quantity.Exact())
				m.Amount = m.Amount.Add(line.parts[i].amount.Exact())
			}
		}
	}
	for _, m := range meters {
		s.Meters = append(s.Meters, *m)
	}
	sort.Slice(s.Meters, func(i, j int) bool { return s.Meters[i].less(&s.Meters[j]) })
	return s
}

// addTiers adds what tiers made of one group's charges, which came in without
// a price.
func (s *Summary) addTiers(t *tiering) {
	s.Charges = s.Charges.Add(t.amount)
	for _, l := range t.lines {
		if l.step == 0 {
			continue
		}
		for i := range s.Meters {
			if m := &s.Meters[i]; m.Kind == l.kind && m.Meter == l.meter && m.Unit == l.unit {
				m.Amount = m.Amount.Add(l.amount)
			}
		}
	}
}

// less puts what is held first, as what a person has to act on, then the
// largest causes.
func (c *CauseSum) less(o *CauseSum) bool {
	if c.Verdict != o.Verdict {
		return c.Verdict > o.Verdict
	}
	if c.Storage != o.Storage {
		return o.Storage
	}
	if c.Seconds != o.Seconds {
		return c.Seconds > o.Seconds
	}
	if c.Count != o.Count {
		return c.Count > o.Count
	}
	if c.Code != o.Code {
		return c.Code < o.Code
	}
	return c.Detail < o.Detail
}

func (m *MeterSum) less(o *MeterSum) bool {
	if m.Kind != o.Kind {
		return m.Kind.rank() < o.Kind.rank()
	}
	if m.Meter != o.Meter {
		return m.Meter < o.Meter
	}
	return m.Unit < o.Unit
}

func (s *Summary) addInvoices(invoices []Invoice) error {
	for i := range invoices {
		for _, sum := range []struct {
			to   *money.Amount
			plus money.Amount
		}{{&s.List, invoices[i].List}, {&s.Reductions, invoices[i].Reductions}, {&s.Manual, invoices[i].Manual},
			{&s.Prior, invoices[i].Prior},
			{&s.Overhead, invoices[i].Overhead}, {&s.Tax, invoices[i].Tax}, {&s.Total, invoices[i].Total}} {
			var err error
			if *sum.to, err = addAmounts(*sum.to, sum.plus); err != nil {
				return err
			}
		}
	}
	s.Invoices = len(invoices)
	return nil
}

// Held reports how many jobs and holdings are held: an issue waits for them.
func (s *Summary) Held() int64 { return s.Jobs.Held + s.Storage.Held }

// HeldCauses are the causes of what is held.
func (s *Summary) HeldCauses() []CauseSum {
	var held []CauseSum
	for _, c := range s.Causes {
		if c.Verdict == rating.Held {
			held = append(held, c)
		}
	}
	return held
}
