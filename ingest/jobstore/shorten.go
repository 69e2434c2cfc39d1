package jobstore

import (
	"errors"

	"hpcbill/ingest/jobstore/columnar"
)

// partsAtOnce is how many parts are looked through, or written again, at a time.
const partsAtOnce = 2

// shortener writes parts again without some of their rows, a few at a time, and
// hands over those rows in the order in which the parts were begun.
type shortener struct {
	writers chan *partWriter
	results []*shortened
	handed  int // of the results
}

type shortened struct {
	part  *newPart
	taken columnar.Page // the rows that went, until they were handed over
	err   error
	done  chan struct{}
	hand  func(*columnar.Page) error
}

func newShortener(s *Store) *shortener {
	h := &shortener{writers: make(chan *partWriter, partsAtOnce)}
	for i := range partsAtOnce {
		h.writers <- s.newPartWriter("shorter-" + number(i))
	}
	return h
}

// start begins with a part, as soon as there is a writer for it and the rows of
// those before it were handed over.
func (h *shortener) start(p *part, name string, going []key, hand func(*columnar.Page) error) error {
	w := <-h.writers
	result := &shortened{done: make(chan struct{}), hand: hand}
	h.results = append(h.results, result)
	go func() {
		result.part, result.err = w.without(p, name, going, &result.taken)
		h.writers <- w
		close(result.done)
	}()
	return h.handOver(partsAtOnce)
}

// handOver hands over the rows of all parts but the last few.
func (h *shortener) handOver(butLast int) error {
	for h.handed < len(h.results)-butLast {
		r := h.results[h.handed]
		h.handed++
		if <-r.done; r.err != nil {
			return r.err
		}
		if err := r.hand(&r.taken); err != nil {
			return err
		}
		r.taken = columnar.Page{}
	}
	return nil
}

// wait waits for all parts. failed is what kept them from being begun, or nil.
func (h *shortener) wait(failed error) error {
	if failed == nil {
		failed = h.handOver(0)
	}
	for range partsAtOnce {
		failed = errors.Join(failed, (<-h.writers).settle())
	}
	return failed
}

// parts gives the new parts, in the order in which they were begun.
func (h *shortener) parts() []*newPart {
	parts := make([]*newPart, len(h.results))
	for i, r := range h.results {
		parts[i] = r.part
	}
	return parts
}
