package chargestore

// record is a row in memory.
type record struct {
	numbers [numberCount]int64
	codes   [bundleCount]uint32 // of its texts
	idStart uint32              // of its text among the job ids
	idEnd   uint32
}

// The numbers of a row.
const (
	nJobIDRaw = iota
	nStart
	nEnd
	nFrom
	nUntil
	nElapsed
	nNodeCount
	nCPUs
	nGPUs
	nMemory
	nBilling
	nQuantityNumerator
	nQuantityDenominator
	nAmountNumerator
	nAmountDenominator
	nRuleLine
	nSourceLine
	numberCount
)

// numberColumns are the columns of a row's numbers.
func numberColumns() [numberCount]int {
	return [numberCount]int{
		nJobIDRaw: colJobIDRaw, nStart: colStart, nEnd: colEnd, nFrom: colFrom, nUntil: colUntil, nElapsed: colElapsed,
		nNodeCount: colNodeCount, nCPUs: colCPUs, nGPUs: colGPUs, nMemory: colMemory, nBilling: colBilling,
		nQuantityNumerator: colQuantityNumerator, nQuantityDenominator: colQuantityDenominator,
		nAmountNumerator: colAmountNumerator, nAmountDenominator: colAmountDenominator,
		nRuleLine: colRuleLine, nSourceLine: colSourceLine,
	}
}

// intake is rows as they come from rating, those of each group together.
// Appending allocates nothing once it has grown.
type intake struct {
	texts
	n      int
	lists  []recordList // by the number of the group
	spare  []*recordChunk
	resets int
}

// recordList is the rows of a group.
type recordList struct {
	chunks   []*recordChunk
	n        int
	unsorted bool
}

type recordChunk [32]record

func newIntake() *intake { return &intake{texts: newTexts()} }

func (in *intake) reset() {
	for i := range in.lists {
		in.release(i)
	}
	in.texts.reset()
	in.resets++
}

// release forgets the rows of a group.
func (in *intake) release(group int) {
	l := &in.lists[group]
	in.n -= l.n
	in.spare = append(in.spare, l.chunks...)
	l.chunks, l.n, l.unsorted = l.chunks[:0], 0, false
}

// place gives the place of a group's next row, and the row before it.
func (in *intake) place(group uint32) (l *recordList, before, next *record) {
	for int(group) >= len(in.lists) {
		in.lists = append(in.lists, recordList{})
	}
	l = &in.lists[group]
	at := l.n % len(recordChunk{})
	if l.n > 0 {
		last := l.n - 1
		before = &l.chunks[last/len(recordChunk{})][last%len(recordChunk{})]
	}
	if at == 0 {
		l.chunks = append(l.chunks, in.newChunk())
	}
	l.n++
	in.n++
	return l, before, &l.chunks[len(l.chunks)-1][at]
}

func (in *intake) newChunk() *recordChunk {
	if last := len(in.spare) - 1; last >= 0 {
		c := in.spare[last]
		in.spare = in.spare[:last]
		return c
	}
	return new(recordChunk)
}

// add appends row i of rows, and keeps nothing of its memory.
func (in *intake) add(rows *Rows, i int) {
	from := &rows.records[i]
	group := in.numberOf(rows, from, inGroup)
	list, before, r := in.place(group)
	r.numbers = from.numbers
	r.codes[inGroup] = group
	for k := inGroup + 1; k < bundleCount; k++ {
		r.codes[k] = in.numberOf(rows, from, k)
	}
	r.idStart = uint32(len(in.jobIDs))
	in.jobIDs = append(in.jobIDs, rows.jobID(from)...)
	r.idEnd = uint32(len(in.jobIDs))
	if before != nil && !list.unsorted {
		list.unsorted = compare(before, r, &in.texts) > 0
	}
}

// numberOf gives the number that a combination of texts of rows has here.
func (in *intake) numberOf(rows *Rows, r *record, bundle int) uint32 {
	known := &rows.known[bundle][r.codes[bundle]]
	if *known == 0 {
		*known = in.bundles[bundle].number(rows.bundles[bundle].of(r.codes[bundle])) + 1
	}
	return *known - 1
}
