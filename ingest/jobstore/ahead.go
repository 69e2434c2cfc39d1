package jobstore

import (
	"fmt"

	"hpcbill/ingest"
)

// ahead carries batches from the goroutine that reads them to the one that asked
// for them: while one is looked at the next is made.
type ahead struct {
	free chan []ingest.Job // to be written into
	full chan []ingest.Job
	stop chan struct{} // closed when no more are wanted
	err  error         // set before full is closed
}

// how many batches there are: one is looked at, one is made, one waits.
const batches = 3

// Batches makes n batches for SelectInto.
func Batches(n int) chan []ingest.Job {
	free := make(chan []ingest.Job, n)
	for range n {
		free <- make([]ingest.Job, 0, batchJobs)
	}
	return free
}

func newAhead(free chan []ingest.Job) *ahead {
	return &ahead{free: free, full: make(chan []ingest.Job, cap(free)), stop: make(chan struct{})}
}

// read runs what puts the batches.
func (a *ahead) read(all func() error) {
	if err := all(); err != nil {
		a.err = fmt.Errorf("read jobs: %w", err)
	}
	close(a.full)
}

// put hands a batch over and gives an empty one.
func (a *ahead) put(jobs []ingest.Job) (next []ingest.Job, more bool) {
	a.full <- jobs // has room for all that there are
	return a.take()
}

// take gives an empty batch.
func (a *ahead) take() (next []ingest.Job, more bool) {
	select {
	case <-a.stop:
		return nil, false
	case next = <-a.free:
		return next[:0], true
	}
}

// deliver yields the batches until there are no more, or no more are wanted;
// nothing reads any more when it returns.
func (a *ahead) deliver(yield func([]ingest.Job, error) bool) {
	defer func() {
		close(a.stop)
		for jobs := range a.full { // until the reader has ended
			a.free <- jobs
		}
	}()
	for jobs := range a.full {
		if !yield(jobs, nil) {
			return
		}
	}
	if a.err != nil {
		yield(nil, a.err)
	}
}
