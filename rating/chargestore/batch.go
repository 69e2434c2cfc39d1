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

// how many rows are turned into columns at once: what the processor's nearest
// memory holds.
const blockRows = 64

// set makes the columns of rows of an intake.
func (b *batch) set(rows []*record, from *texts) {
	b.n = len(rows)
	for n := range b.numbers {
		b.numbers[n] = resized(b.numbers[n], b.n)
	}
	for k := range b.codes {
		b.codes[k], b.merged[k] = resized(b.codes[k], b.n), resized(b.merged[k], from.bundles[k].count())
		clear(b.merged[k])
		clear(b.bundles[k].texts)
		b.bundles[k].texts = b.bundles[k].texts[:0]
	}
	b.jobIDs, b.ends = b.jobIDs[:0], resized(b.ends, b.n)
	for start := 0; start < b.n; start += blockRows {
		block := rows[start:min(start+blockRows, b.n)]
		for n := range b.numbers {
			column := b.numbers[n][start:]
			for i, r := range block {
				column[i] = r.numbers[n]
			}
		}
		for k := range b.codes {
			b.setCodes(k, b.codes[k][start:], block, &from.bundles[k].combinations)
		}
		for i, r := range block {
			b.jobIDs = append(b.jobIDs, from.jobID(r)...)
			b.ends[start+i] = uint32(len(b.jobIDs))
		}
	}
}

// setCodes numbers the combinations of a bundle anew, in the order in which the
// rows have them: a row group lists no text that none of its rows has.
func (b *batch) setCodes(k int, codes []uint32, rows []*record, from *combinations) {
	to, merged := &b.bundles[k], b.merged[k]
	for i, r := range rows {
		code := r.codes[k]
		if merged[code] == 0 {
			to.texts = append(to.texts, from.of(code)...)
			merged[code] = uint32(to.count())
		}
		codes[i] = merged[code] - 1
	}
}

// resized gives a slice of n, with what was in it or not.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
