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

func newAhead() *ahead {
	a := &ahead{free: make(chan []ingest.Job, batches), full: make(chan []ingest.Job, batches), stop: make(chan struct{})}
	for range batches {
		a.free <- make([]ingest.Job, 0, batchJobs)
	}
	return a
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
	more := true
	defer func() {
		close(a.stop)
		for range a.full { // until the reader has ended
		}
	}()
	for jobs := range a.full {
		if more = yield(jobs, nil); !more {
			return
		}
		a.free <- jobs
	}
	if a.err != nil {
		yield(nil, a.err)
	}
}
