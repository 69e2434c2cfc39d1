package jobstore

import (
	"errors"
	"sync"
)

// shortenedAtOnce is how many parts are written again at a time.
const shortenedAtOnce = 2

// shortener writes parts again without some of their rows, a few at a time.
type shortener struct {
	writers chan *partWriter
	running sync.WaitGroup
	results []*shortened
}

type shortened struct {
	part *newPart
	err  error
}

func newShortener(s *Store) *shortener {
	h := &shortener{writers: make(chan *partWriter, shortenedAtOnce)}
	for i := range shortenedAtOnce {
		h.writers <- s.newPartWriter("shorter-" + number(i))
	}
	return h
}

// start begins with a part, as soon as there is a writer for it.
func (h *shortener) start(p *part, name string, going, kept []key) {
	result, w := &shortened{}, <-h.writers
	h.results = append(h.results, result)
	h.running.Go(func() {
		result.part, result.err = w.without(p, name, going, kept)
		h.writers <- w
	})
}

// wait waits for all parts.
func (h *shortener) wait() error {
	h.running.Wait()
	var failed error
	for range shortenedAtOnce {
		failed = errors.Join(failed, (<-h.writers).settle())
	}
	for _, r := range h.results {
		failed = errors.Join(failed, r.err)
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
