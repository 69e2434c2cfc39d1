package chargestore

// batch is rows column by column: a block of a run, or the rows of a row
// group.
type batch struct {
	n       int
	numbers [numberCount][]int64
	codes   [bundleCount][]uint32
	ends    []uint32 // of the job ids
	texts
}

func newBatch() *batch { return &batch{texts: newTexts()} }

func (b *batch) reset() {
	b.n, b.ends = 0, b.ends[:0]
	for i := range b.numbers {
		b.numbers[i] = b.numbers[i][:0]
	}
	for i := range b.codes {
		b.codes[i] = b.codes[i][:0]
	}
	b.texts.reset()
}

func (b *batch) record(i int) (r record) {
	for n := range r.numbers {
		r.numbers[n] = b.numbers[n][i]
	}
	for k := range r.codes {
		r.codes[k] = b.codes[k][i]
	}
	r.idStart, r.idEnd = b.idStart(i), b.ends[i]
	return r
}

func (b *batch) idStart(i int) uint32 {
	if i == 0 {
		return 0
	}
	return b.ends[i-1]
}

// copyRows appends rows from … to of the block that c has in hand.
func (b *batch) copyRows(c *cursor, from, to int) {
	for n := range b.numbers {
		b.numbers[n] = append(b.numbers[n], c.block.numbers[n][from:to]...)
	}
	for k := range bundleCount {
		source, merged := &c.block.bundles[k], c.merged[k]
		for _, code := range c.block.codes[k][from:to] {
			if merged[code] == 0 {
				merged[code] = b.bundles[k].number(source.of(code)) + 1
			}
			b.codes[k] = append(b.codes[k], merged[code]-1)
		}
	}
	start := c.block.idStart(from)
	shift := uint32(len(b.jobIDs)) - start
	for _, end := range c.block.ends[from:to] {
		b.ends = append(b.ends, end+shift)
	}
	b.jobIDs = append(b.jobIDs, c.block.jobIDs[start:c.block.ends[to-1]]...)
	b.n += to - from
}
