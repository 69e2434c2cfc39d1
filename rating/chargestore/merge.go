package chargestore

import "sort"

// merge reads the runs of a spool as one, in order.
type merge struct {
	cursors []*cursor // a heap by their next rows
}

func newMerge(s *spool) (*merge, error) {
	m := &merge{}
	for _, run := range s.runs {
		c := &cursor{spool: s, ahead: run, block: newBatch()}
		if _, err := c.read(); err != nil { // no run is empty
			return nil, err
		}
		m.cursors = append(m.cursors, c)
	}
	for i := len(m.cursors)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return m, nil
}

// take replaces the rows of out by the next n.
func (m *merge) take(out *batch, n int) error {
	out.reset()
	for _, c := range m.cursors {
		c.forget()
	}
	for out.n < n {
		c := m.cursors[0]
		end := m.until(min(c.block.n, c.next+n-out.n))
		out.copyRows(c, c.next, end)
		more, err := c.skip(end)
		if err != nil {
			return err
		}
		if !more {
			last := len(m.cursors) - 1
			m.cursors[0] = m.cursors[last]
			m.cursors = m.cursors[:last]
		}
		m.sink(0)
	}
	return nil
}

// until gives how many rows of the first cursor's block, at most end, come
// before those of all others; at least one.
func (m *merge) until(end int) int {
	c := m.cursors[0]
	var other *cursor
	for i := 1; i <= 2 && i < len(m.cursors); i++ {
		if other == nil || less(m.cursors[i], other) {
			other = m.cursors[i]
		}
	}
	if other == nil {
		return end
	}
	from := c.next + 1
	return from + sort.Search(end-from, func(i int) bool {
		r := c.block.record(from + i)
		return compare(&r, &c.block.texts, &other.head, &other.block.texts) > 0
	})
}

func less(a, b *cursor) bool {
	return compare(&a.head, &a.block.texts, &b.head, &b.block.texts) < 0
}

// sink brings a cursor to its place in the heap.
func (m *merge) sink(i int) {
	for {
		least := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(m.cursors) && less(m.cursors[child], m.cursors[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.cursors[i], m.cursors[least] = m.cursors[least], m.cursors[i]
		i = least
	}
}
