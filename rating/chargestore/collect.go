package chargestore

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rating"
)

// What is taken in before it is sorted and spooled.
const (
	runRows      = 128 << 10
	runTextBytes = 32 << 20
)

// handful is outcomes that were copied out of the rater's memory, on their
// way to another goroutine.
type handful struct {
	outcomes []rating.Outcome
	jobs     []ingest.Job
	charges  []rating.Charge
}

const (
	handfulJobs = 512
	handfuls    = 4
)

func newHandful() *handful {
	return &handful{
		outcomes: make([]rating.Outcome, 0, handfulJobs), jobs: make([]ingest.Job, 0, handfulJobs),
		charges: make([]rating.Charge, 0, 2*handfulJobs),
	}
}

// add copies an outcome; false when it was the last that there is room for.
func (h *handful) add(o *rating.Outcome) (more bool) {
	h.jobs = append(h.jobs, *o.Job)
	first := len(h.charges)
	h.charges = append(h.charges, o.Charges...)
	h.outcomes = append(h.outcomes, *o)
	kept := &h.outcomes[len(h.outcomes)-1]
	kept.Job, kept.Charges = &h.jobs[len(h.jobs)-1], h.charges[first:]
	return len(h.jobs) < handfulJobs
}

func (h *handful) reset() {
	h.outcomes, h.jobs, h.charges = h.outcomes[:0], h.jobs[:0], h.charges[:0]
}

// collect takes in the outcomes and spools them in sorted runs: rating goes on
// while another goroutine does that.
func (w *writing) collect(outcomes iter.Seq2[rating.Outcome, error]) (err error) {
	free, full, done := make(chan *handful, handfuls), make(chan *handful, handfuls), make(chan error, 1)
	for range handfuls {
		free <- newHandful()
	}
	go func() { done <- w.spoolAll(full, free) }()
	defer func() {
		close(full)
		err = errors.Join(err, <-done)
	}()
	h := <-free
	for o, err := range outcomes {
		if err != nil {
			return err
		}
		if h.add(&o) {
			continue
		}
		full <- h
		if h = <-free; w.failed.Load() {
			return nil // done says why
		}
	}
	full <- h
	return nil
}

// spoolAll takes handfuls in until there are no more. After an error it only
// hands them back.
func (w *writing) spoolAll(full <-chan *handful, free chan<- *handful) (failed error) {
	in := newIntake()
	for h := range full {
		if failed == nil {
			failed = w.takeIn(in, h)
			w.failed.Store(failed != nil)
		}
		h.reset()
		free <- h
	}
	if failed == nil {
		failed = w.spoolRows(in)
	}
	return failed
}

// settled refuses a charge whose price hangs on the whole period and was not
// filled in: its amount of 0 would read as if it were free.
func settled(o *rating.Outcome) error {
	for i := range o.Charges {
		if c := &o.Charges[i]; c.Tiers != nil {
			return fmt.Errorf("BUG: job %s/%s: %s is priced by tiers, and nobody did", o.Job.Cluster, o.Job.JobID, c.Meter)
		}
	}
	return nil
}

func (w *writing) takeIn(in *intake, h *handful) error {
	for i := range h.outcomes {
		if err := settled(&h.outcomes[i]); err != nil {
			return err
		}
		in.add(&h.outcomes[i])
		if in.n >= w.runRows || in.texts.bytes() >= runTextBytes {
			if err := w.spoolRows(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// spoolRows writes what was taken in as a run.
func (w *writing) spoolRows(in *intake) error {
	if in.n == 0 {
		return nil
	}
	for g, name := range in.bundles[inGroup].texts {
		w.counts[strings.Clone(name)] += in.lists[g].n
	}
	if err := w.spool.write(&in.texts, in.sorted()); err != nil {
		return err
	}
	in.reset()
	return nil
}
