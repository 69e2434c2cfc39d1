package chargestore

import "sort"

// merge reads the runs of a spool as one, in order.
type merge struct {
	cursors []*cursor // a heap by their next rows
}

func newMerge(s *spool) (*merge, error) {
	m := &merge{}
	for _, run := range s.runs {
		c := &cursor{spool: s, ahead: run, batch: newBatch()}
		if some, err := c.next(); err != nil || !some {
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
		end := m.until(min(c.batch.n, c.row+n-out.n))
		out.copyRows(c, c.row, end)
		if c.row = end; end == c.batch.n {
			more, err := c.next()
			if err != nil {
				return err
			}
			if !more {
				last := len(m.cursors) - 1
				m.cursors[0] = m.cursors[last]
				m.cursors = m.cursors[:last]
			}
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
	from := c.row + 1
	return from + sort.Search(end-from, func(i int) bool {
		return compareRows(c.batch, from+i, other.batch, other.row) > 0
	})
}

func less(a, b *cursor) bool { return compareRows(a.batch, a.row, b.batch, b.row) < 0 }

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

// copyRows appends rows from … to of the block that c has in hand.
func (b *batch) copyRows(c *cursor, from, to int) {
	for _, column := range numberColumns() {
		b.numbers[column] = append(b.numbers[column], c.batch.numbers[column][from:to]...)
	}
	for k := range bundleCount {
		source, merged := &c.batch.bundles[k], c.merged[k]
		for _, code := range c.batch.codes[k][from:to] {
			if merged[code] == 0 {
				merged[code] = b.bundles[k].number(source.of(code)) + 1
			}
			b.codes[k] = append(b.codes[k], merged[code]-1)
		}
	}
	for row := from; row < to; row++ {
		b.jobIDs = append(b.jobIDs, c.batch.jobID(row)...)
		b.ends = append(b.ends, uint32(len(b.jobIDs)))
	}
	b.n += to - from
}
