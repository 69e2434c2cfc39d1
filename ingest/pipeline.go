package ingest

import (
	"errors"
	"strings"
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
	hole bool // NUL bytes are in it
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
		case l.blocks <- block{text, last, strings.IndexByte(text, 0) >= 0, err}:
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
	err := l.parseBlocks(p)
	if err == nil {
		err = p.finish()
	}
	switch {
	case err == errStopped:
	case err != nil:
		l.err = fileError(r.name, p.line, err)
	default:
		r.report = p.report
		r.report.Digest = r.source.digest()
		r.report.Bytes, r.report.TextBytes = r.source.stored.n, r.source.textRead
	}
}

// parseBlocks gives the blocks to the parser; what one leaves is put before
// the next.
func (l *pipeline) parseBlocks(p *parser) error {
	rest := ""
	for b := range l.blocks {
		if b.err != nil {
			p.line = 0
			return b.err
		}
		text := b.text
		if rest != "" {
			text = rest + text
		}
		if p.schema == nil && isJSON(text) {
			return p.parseJSON(l.from(block{text: text, last: b.last}))
		}
		p.hole = b.hole
		n, err := p.parse(text, b.last)
		if err != nil {
			return err
		}
		rest = text[n:]
		if b.last {
			return nil
		}
	}
	return errStopped
}

// from gives out a block that has been taken already, then those that are left.
func (l *pipeline) from(first block) func() (block, error) {
	taken := false
	return func() (block, error) {
		if !taken {
			taken = true
			return first, nil
		}
		b, ok := <-l.blocks
		if !ok {
			return block{}, errStopped
		}
		return b, b.err
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
