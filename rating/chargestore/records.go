package chargestore

// record is a row in memory. What a row has stands together, since rows of a
// group are gathered from many places.
type record struct {
	numbers [numberCount]int64
	codes   [codeCount]uint32
	jobID   jobID
}

// records are rows that came one after the other.
type records struct {
	rows    []record
	longIDs longIDs
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

func (r *records) reset() { r.rows, r.longIDs = r.rows[:0], r.longIDs[:0] }

// pick appends rows of other records, and gives the place of the first.
func (r *records) pick(from *records, rows []uint32) (first int) {
	first = len(r.rows)
	for _, row := range rows {
		r.rows = append(r.rows, from.rows[row])
		if id := &r.rows[len(r.rows)-1].jobID; id.long() {
			id.set(&r.longIDs, string(from.longIDs.text(id)))
		}
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
		c.jobIDs = r.jobID.appendTo(c.jobIDs, from.longIDs)
		c.ends[n] = uint32(len(c.jobIDs))
		c.n++
	}
}
