package chargestore

// columns are rows in memory, column by column.
type columns struct {
	n       int
	numbers [numberCount][]int64
	codes   [bundleCount][]uint32 // of the combinations of texts
	jobIDs  []byte
	ends    []uint32 // of each row's text among the job ids
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

func (c *columns) reset() { c.n, c.jobIDs = 0, c.jobIDs[:0] }

// extend makes room for more rows, whose values are to be set, and gives the
// first.
func (c *columns) extend(rows int) (first int) {
	first = c.n
	if c.n += rows; c.n <= len(c.ends) {
		return first
	}
	size := max(c.n, 2*len(c.ends))
	for k := range c.numbers {
		c.numbers[k] = lengthened(c.numbers[k], first, size)
	}
	for k := range c.codes {
		c.codes[k] = lengthened(c.codes[k], first, size)
	}
	c.ends = lengthened(c.ends, first, size)
	return first
}

// lengthened gives a slice of a size that begins with the first n of s.
func lengthened[T any](s []T, n, size int) []T {
	longer := make([]T, size)
	copy(longer, s[:n])
	return longer
}

func (c *columns) jobID(row int) []byte {
	start := uint32(0)
	if row > 0 {
		start = c.ends[row-1]
	}
	return c.jobIDs[start:c.ends[row]]
}

// pick appends rows of other columns, and gives the place of the first.
func (c *columns) pick(from *columns, rows []uint32) (first int) {
	first = c.extend(len(rows))
	for k := range c.numbers {
		to, source := c.numbers[k][first:], from.numbers[k]
		for i, row := range rows {
			to[i] = source[row]
		}
	}
	for k := range c.codes {
		to, source := c.codes[k][first:], from.codes[k]
		for i, row := range rows {
			to[i] = source[row]
		}
	}
	for i, row := range rows {
		c.jobIDs = append(c.jobIDs, from.jobID(int(row))...)
		c.ends[first+i] = uint32(len(c.jobIDs))
	}
	return first
}
