package chargestore

// batch is the rows of a row group column by column.
type batch struct {
	n       int
	numbers [numberCount][]int64
	codes   [bundleCount][]uint32
	bundles [bundleCount]combinations
	jobIDs  []byte
	ends    []uint32              // of the job ids
	merged  [bundleCount][]uint32 // by the number in the intake: the number in the batch + 1
}

func newBatch() *batch {
	b := &batch{}
	for k, columns := range bundledColumns() {
		b.bundles[k].columns = columns
	}
	return b
}

// set makes the columns of rows of an intake.
func (b *batch) set(rows []*record, from *texts) {
	b.n = len(rows)
	for n := range b.numbers {
		column := resized(b.numbers[n], b.n)
		for i, r := range rows {
			column[i] = r.numbers[n]
		}
		b.numbers[n] = column
	}
	for k := range b.codes {
		b.setCodes(k, rows, &from.bundles[k].combinations)
	}
	b.jobIDs, b.ends = b.jobIDs[:0], resized(b.ends, b.n)
	for i, r := range rows {
		b.jobIDs = append(b.jobIDs, from.jobID(r)...)
		b.ends[i] = uint32(len(b.jobIDs))
	}
}

// setCodes numbers the combinations of a bundle anew, in the order in which the
// rows have them: a row group lists no text that none of its rows has.
func (b *batch) setCodes(k int, rows []*record, from *combinations) {
	to, merged, codes := &b.bundles[k], resized(b.merged[k], from.count()), resized(b.codes[k], b.n)
	clear(merged)
	clear(to.texts)
	to.texts = to.texts[:0]
	for i, r := range rows {
		code := r.codes[k]
		if merged[code] == 0 {
			to.texts = append(to.texts, from.of(code)...)
			merged[code] = uint32(to.count())
		}
		codes[i] = merged[code] - 1
	}
	b.merged[k], b.codes[k] = merged, codes
}

// resized gives a slice of n, with what was in it or not.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
