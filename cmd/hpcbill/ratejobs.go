package main

import (
	"context"
	"iter"
	"runtime"
	"sync"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rating"
	"hpcbill/rating/chargestore"
)

// desk rates jobs in a goroutine of its own. What several desks have summed
// comes to the same however the jobs were dealt out.
type desk struct {
	rater    *rating.Rater
	composer *invoice.Composer
	period   rates.Period
	read     readCount
	rows     chan *chargestore.Rows // free ones of its own, of one lexicon; nil where none are kept
}

// readCount is what the store gave of a period, counted from the jobs' times
// alone: what was rated must come to the same.
type readCount struct{ jobs, seconds int64 }

// mostDesks is where reading and writing, which are one each, cannot keep up.
const mostDesks = 8

// desks makes one for each core.
func (in *inputs) desks(p rates.Period) ([]*desk, error) {
	tariff, settings := in.tariff(), in.settings()
	desks := make([]*desk, min(runtime.GOMAXPROCS(0), mostDesks))
	for i := range desks {
		composer, err := invoice.NewComposer(p, settings, in.roster)
		if err != nil {
			return nil, err
		}
		desks[i] = &desk{rater: rating.NewRater(tariff), composer: composer, period: p}
	}
	return desks, nil
}

// gathered gives what all desks have summed. Only what is given may be used
// to sum on.
func gathered(desks []*desk) (*rating.Rater, *invoice.Composer, readCount) {
	first, read := desks[0], desks[0].read
	for _, d := range desks[1:] {
		first.composer.Merge(d.composer)
		read.jobs += d.read.jobs
		read.seconds += d.read.seconds
	}
	return first.rater, first.composer, read
}

// add takes what became of a job into the desk's sums.
func (d *desk) add(o *rating.Outcome) error { return d.composer.AddJob(o) }

// batch is some jobs on their way through a desk.
type batch struct {
	jobs []ingest.Job
	desk *desk             // that took it
	rows *chargestore.Rows // the desk's; nil where charges are not kept
	err  error
	done chan struct{} // closed when the desk is through with it
}

// ratingWork rates all jobs of a period: they are read in one goroutine, rated
// batch by batch at several desks, and their charges written in the order in
// which they were read.
type ratingWork struct {
	site   *site
	inputs *inputs
	period rates.Period
	desks  []*desk
	sink   *sink
	pass   func(*desk, *rating.Outcome) error // each outcome passes through it

	each sync.Mutex // for the sink's
	free chan []ingest.Job
	stop chan struct{} // closed when no more are wanted
}

func (w *ratingWork) run(ctx context.Context) error {
	if w.sink.keeps() {
		return chargestore.WriteRows(w.sink.dir, w.period.String(), w.rated(ctx))
	}
	for _, err := range w.rated(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// rated rates all jobs and yields their rows, nil where none are kept. The
// first error in the order of the jobs is what is told, however they were dealt
// out.
func (w *ratingWork) rated(ctx context.Context) iter.Seq2[*chargestore.Rows, error] {
	return func(yield func(*chargestore.Rows, error) bool) {
		n := 2*len(w.desks) + 1 // one at each desk and one before it, and one being read
		w.free, w.stop = jobstore.Batches(n), make(chan struct{})
		w.giveRows()
		dealt, inOrder := make(chan *batch, n), make(chan *batch, n)
		var running sync.WaitGroup
		running.Go(func() { w.deal(ctx, dealt, inOrder) })
		for _, d := range w.desks {
			running.Go(func() { w.work(d, dealt) })
		}
		defer func() {
			close(w.stop)
			for b := range inOrder {
				w.putBack(b)
			}
			running.Wait()
		}()
		for b := range inOrder {
			<-b.done
			more := b.err == nil && yield(b.rows, nil)
			w.putBack(b)
			if b.err != nil {
				yield(nil, b.err)
			}
			if !more {
				return
			}
		}
	}
}

// rowsOfDesk is how many rows a desk has: while some wait to be written it fills
// others.
const rowsOfDesk = 3

func (w *ratingWork) giveRows() {
	for _, d := range w.desks {
		if d.rows = nil; !w.sink.keeps() {
			continue
		}
		d.rows = make(chan *chargestore.Rows, rowsOfDesk)
		lexicon := chargestore.NewLexicon()
		for range rowsOfDesk {
			d.rows <- lexicon.NewRows()
		}
	}
}

// deal reads the jobs and deals them out.
func (w *ratingWork) deal(ctx context.Context, dealt, inOrder chan<- *batch) {
	defer close(dealt)
	defer close(inOrder)
	for jobs, err := range w.site.jobsOf(w.period, w.inputs, w.desks[0].rater.Needs(), w.free) {
		if err == nil {
			err = ctx.Err()
		}
		b := &batch{jobs: jobs, err: err, done: make(chan struct{})}
		if err != nil {
			close(b.done)
			inOrder <- b
			return
		}
		select {
		case <-w.stop:
			close(b.done)
			w.putBack(b)
			return
		default:
			dealt <- b // there is room for all
			inOrder <- b
		}
	}
}

// putBack makes what a batch used free for the next.
func (w *ratingWork) putBack(b *batch) {
	<-b.done
	if b.jobs != nil {
		w.free <- b.jobs
	}
	if b.rows != nil {
		b.desk.rows <- b.rows
	}
}

func (w *ratingWork) work(d *desk, dealt <-chan *batch) {
	for b := range dealt {
		if d.rows != nil {
			b.desk, b.rows = d, <-d.rows
			b.rows.Reset()
		}
		b.err = w.rate(d, b)
		close(b.done)
	}
}

func (w *ratingWork) rate(d *desk, b *batch) error {
	for i := range b.jobs {
		j := &b.jobs[i]
		outcomes := d.rater.Job(j, d.period)
		if seconds, some := d.rater.Read(); some {
			d.read.jobs++
			d.read.seconds += seconds
		}
		for k := range outcomes {
			if err := w.take(d, b, &outcomes[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *ratingWork) take(d *desk, b *batch, o *rating.Outcome) error {
	if err := w.pass(d, o); err != nil {
		return err
	}
	if w.sink != nil && w.sink.each != nil {
		w.each.Lock()
		defer w.each.Unlock()
		w.sink.each(o)
	}
	if b.rows == nil {
		return nil
	}
	return b.rows.Add(o)
}
