package ingest

import (
	"errors"
	"sync"
)

const (
	// stagesAhead is how many blocks and batches may wait for the next stage.
	stagesAhead = 2
	// mostBatches is one in each hand and those that wait.
	mostBatches = stagesAhead + 2
)

// pipeline runs the reading and the parsing of one dump, each in a goroutine.
type pipeline struct {
	blocks  chan block
	batches chan []Job
	free    chan []Job // batches that the consumer has given back
	quit    chan struct{}
	made    int // batches made so far
	running sync.WaitGroup
	err     error // set before batches is closed
}

type block struct {
	text string
	last bool
	err  error
}

var errStopped = errors.New("stopped")

func newPipeline(r *Reader) *pipeline {
	l := &pipeline{
		blocks:  make(chan block, stagesAhead),
		batches: make(chan []Job, stagesAhead),
		free:    make(chan []Job, mostBatches),
		quit:    make(chan struct{}),
	}
	l.running.Add(2)
	go l.read(r.source)
	go l.parse(r)
	return l
}

func (l *pipeline) read(s *source) {
	defer l.running.Done()
	defer close(l.blocks)
	defer s.close()
	for {
		text, last, err := s.next()
		select {
		case l.blocks <- block{text, last, err}:
		case <-l.quit:
			return
		}
		if last || err != nil {
			return
		}
	}
}

func (l *pipeline) parse(r *Reader) {
	defer l.running.Done()
	defer close(l.batches)
	p := newParser(r.name, r.opt, l.handOver)
	p.batch = l.newBatch()
	rest := ""
	for b := range l.blocks {
		if b.err != nil {
			l.err = fileError(r.name, 0, b.err)
			return
		}
		text := b.text
		if rest != "" {
			text = rest + text
		}
		n, err := p.parse(text, b.last)
		if err != nil {
			if err != errStopped {
				l.err = fileError(r.name, p.line, err)
			}
			return
		}
		rest = text[n:]
		if !b.last {
			continue
		}
		if err := p.finish(); err != nil {
			if err != errStopped {
				l.err = fileError(r.name, 0, err)
			}
			return
		}
		r.report = p.report
		r.report.Digest = r.source.digest()
		r.report.Bytes, r.report.TextBytes = r.source.stored.n, r.source.textRead
	}
}

// handOver gives a batch to the consumer and returns an empty one.
func (l *pipeline) handOver(batch []Job) ([]Job, error) {
	select {
	case l.batches <- batch:
	case <-l.quit:
		return nil, errStopped
	}
	select {
	case next := <-l.free:
		return next, nil
	default:
	}
	if l.made < mostBatches {
		return l.newBatch(), nil
	}
	select {
	case next := <-l.free:
		return next, nil
	case <-l.quit:
		return nil, errStopped
	}
}

func (l *pipeline) newBatch() []Job {
	l.made++
	return make([]Job, 0, batchJobs)
}

// stop ends the goroutines; it returns when they have ended.
func (l *pipeline) stop() {
	close(l.quit)
	l.running.Wait()
}
