package chargestore

// record is a row in memory. What a row has stands together, since rows of a
// group are gathered from many places.
type record struct {
	numbers  [numberCount]int64
	codes    [codeCount]uint32
	jobIDEnd uint32 // of its text among the job ids
}

// records are rows that came one after the other.
type records struct {
	rows   []record
	jobIDs []byte
}

// The codes of a row.
const (
	codeCommon = iota // of a common
	codeName          // of a combination of inName
	codeOdd           // of an odd
	codeShape         // of a shape
	codeCount
)

// The numbers of a row.
const (
	nJobIDRaw = iota
	nStart
	nEnd
	nElapsed
	nQuantityNumerator
	nQuantityDenominator
	nAmountNumerator
	nAmountDenominator
	nSourceLine
	numberCount
)

// numberColumns are the columns of a row's numbers.
func numberColumns() [numberCount]int {
	return [numberCount]int{
		nJobIDRaw: colJobIDRaw, nStart: colStart, nEnd: colEnd, nElapsed: colElapsed,
		nQuantityNumerator: colQuantityNumerator, nQuantityDenominator: colQuantityDenominator,
		nAmountNumerator: colAmountNumerator, nAmountDenominator: colAmountDenominator,
		nSourceLine: colSourceLine,
	}
}

// extend appends a row, all of which is to be set.
func (r *records) extend() *record {
	if n := len(r.rows); n < cap(r.rows) {
		r.rows = r.rows[:n+1]
	} else {
		r.rows = append(r.rows, record{})
	}
	return &r.rows[len(r.rows)-1]
}

func (r *records) reset() { r.rows, r.jobIDs = r.rows[:0], r.jobIDs[:0] }

func (r *records) jobID(row int) []byte { return r.jobIDsOf(row, row+1) }

// jobIDsOf gives the job ids of rows from one to another, which are some.
func (r *records) jobIDsOf(from, to int) []byte {
	start := uint32(0)
	if from > 0 {
		start = r.rows[from-1].jobIDEnd
	}
	return r.jobIDs[start:r.rows[to-1].jobIDEnd]
}

// pick appends rows of other records, and gives the place of the first.
func (r *records) pick(from *records, rows []uint32) (first int) {
	first = len(r.rows)
	for _, row := range rows {
		r.rows = append(r.rows, from.rows[row])
		r.jobIDs = append(r.jobIDs, from.jobID(int(row))...)
		r.rows[len(r.rows)-1].jobIDEnd = uint32(len(r.jobIDs))
	}
	return first
}

// columns are the rows of a row group.
type columns struct {
	n       int
	numbers [numberCount][]int64
	codes   [codeCount][]uint32
	jobIDs  []byte
	ends    []uint32 // of each row's text among the job ids
}

// reset makes room for n rows.
func (c *columns) reset(n int) {
	c.n, c.jobIDs, c.ends = 0, c.jobIDs[:0], resized(c.ends, n)
	for k := range c.numbers {
		c.numbers[k] = resized(c.numbers[k], n)
	}
	for k := range c.codes {
		c.codes[k] = resized(c.codes[k], n)
	}
}

// pick puts rows of some records after those that are there.
func (c *columns) pick(from *records, rows []uint32) {
	for _, row := range rows {
		r, n := &from.rows[row], c.n
		for k := range c.numbers {
			c.numbers[k][n] = r.numbers[k]
		}
		for k := range c.codes {
			c.codes[k][n] = r.codes[k]
		}
		c.jobIDs = append(c.jobIDs, from.jobID(int(row))...)
		c.ends[n] = uint32(len(c.jobIDs))
		c.n++
	}
}
