package chargestore

import (
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// numberColumns are the columns that a batch keeps as numbers.
func numberColumns() []int {
	return []int{colJobIDRaw, colStart, colEnd, colFrom, colUntil, colElapsed, colNodeCount, colCPUs, colGPUs, colMemory,
		colBilling, colQuantityNumerator, colQuantityDenominator, colAmountNumerator, colAmountDenominator, colRuleLine, colSourceLine}
}

// batch is rows in memory, column by column. Appending allocates nothing once
// the columns have grown.
type batch struct {
	n       int
	numbers [columnCount][]int64 // of numberColumns
	bundles [bundleCount]bundle
	codes   [bundleCount][]uint32
	jobIDs  []byte
	ends    []uint32 // of the texts in jobIDs

	bases []basis // numbers of inBasis that were given lately
}

func newBatch() *batch {
	b := &batch{}
	for i, columns := range bundledColumns() {
		b.bundles[i].columns = columns
	}
	return b
}

func (b *batch) reset() {
	b.n, b.jobIDs, b.ends = 0, b.jobIDs[:0], b.ends[:0]
	for i := range b.numbers {
		b.numbers[i] = b.numbers[i][:0]
	}
	for i := range b.bundles {
		b.bundles[i].reset()
		b.codes[i] = b.codes[i][:0]
	}
	clear(b.bases)
}

// textBytes is how much memory the texts take.
func (b *batch) textBytes() int {
	sum := len(b.jobIDs)
	for i := range b.bundles {
		sum += b.bundles[i].bytes
	}
	return sum
}

// jobID gives the text of a row.
func (b *batch) jobID(row int) []byte {
	start := uint32(0)
	if row > 0 {
		start = b.ends[row-1]
	}
	return b.jobIDs[start:b.ends[row]]
}

// text gives a text of a row by its place in a bundle.
func (b *batch) text(bundle, place, row int) string {
	return b.bundles[bundle].of(b.codes[bundle][row])[place]
}

// add appends the rows of an outcome, and keeps nothing of its memory.
func (b *batch) add(o *rating.Outcome) {
	if len(o.Charges) == 0 {
		b.addRow(o, &rating.Charge{Group: o.Group, Reason: o.Cause.Reason}, false)
		return
	}
	for i := range o.Charges {
		b.addRow(o, &o.Charges[i], true)
	}
}

func (b *batch) addRow(o *rating.Outcome, c *rating.Charge, charged bool) {
	j := o.Job
	b.jobIDs = append(b.jobIDs, j.JobID...)
	b.ends = append(b.ends, uint32(len(b.jobIDs)))
	b.number(colJobIDRaw, int64(j.JobIDRaw))
	b.number(colStart, int64(j.Start))
	b.number(colEnd, int64(j.End))
	b.number(colFrom, int64(o.From))
	b.number(colUntil, int64(o.Until))
	b.number(colElapsed, o.Seconds)
	b.number(colNodeCount, j.NodeCount)
	b.number(colCPUs, j.CPUs)
	b.number(colGPUs, j.GPUs)
	b.number(colMemory, j.MemoryMiB)
	b.number(colBilling, j.Billing)
	b.number(colRuleLine, int64(c.Reason.Line))
	b.number(colSourceLine, j.Source.Line)
	exact := [2]string{}
	if charged {
		exact[exactQuantity] = b.fraction(colQuantityNumerator, colQuantityDenominator, c.Quantity)
		exact[exactAmount] = b.fraction(colAmountNumerator, colAmountDenominator, c.Amount)
	} else {
		b.noFraction(colQuantityNumerator, colQuantityDenominator)
		b.noFraction(colAmountNumerator, colAmountDenominator)
	}
	b.code(inGroup, c.Group)
	b.code(inOrigin, j.Cluster, j.User, j.Account, j.Partition, j.QoS, string(j.State))
	b.code(inName, j.Name)
	b.codes[inBasis] = append(b.codes[inBasis], b.basis(o, c, charged))
	b.code(inExact, exact[:]...)
	b.code(inSource, j.Source.File, j.Source.Digest)
	b.n++
}

func (b *batch) number(column int, v int64) { b.numbers[column] = append(b.numbers[column], v) }

func (b *batch) code(bundle int, texts ...string) {
	b.codes[bundle] = append(b.codes[bundle], b.bundles[bundle].number(texts))
}

// fraction appends an exact number, and gives it as text where the columns do
// not hold it.
func (b *batch) fraction(numerator, denominator int, x money.Exact) (text string) {
	n, d, ok := x.Fraction()
	if !ok {
		b.noFraction(numerator, denominator)
		return x.Rat().String()
	}
	n, d = lowest(n, d)
	b.number(numerator, n)
	b.number(denominator, d)
	return ""
}

func (b *batch) noFraction(numerator, denominator int) {
	b.number(numerator, noNumerator)
	b.number(denominator, noDenominator)
}

// lowest gives n/d in lowest terms.
func lowest(n, d int64) (int64, int64) {
	x, y := d, n%d
	for y != 0 {
		x, y = y, x%y
	}
	if x < 0 {
		x = -x
	}
	return n / x, d / x
}

// basis is a combination of inBasis as rating gives it, with its number: to
// find it again without printing its price.
type basis struct {
	verdict            rating.Verdict
	code, detail       string
	meter, unit, label string
	price              money.Exact
	reason             rating.Reason
	known              bool
	number             uint32
}

// how many bases are remembered; a power of two.
const rememberedBases = 1 << 10

// basis gives the number of what the row was charged by.
func (b *batch) basis(o *rating.Outcome, c *rating.Charge, charged bool) uint32 {
	if b.bases == nil {
		b.bases = make([]basis, rememberedBases)
	}
	num, den, _ := c.Price.Fraction()
	h := uint64(c.Reason.Line)<<8 ^ uint64(len(c.Meter))<<4 ^ uint64(len(o.Cause.Detail)) ^ uint64(o.Verdict)<<20
	h = (h ^ uint64(num)<<1 ^ uint64(den)) * 0x9E3779B97F4A7C15
	e := &b.bases[h>>54&(rememberedBases-1)]
	if e.known && e.price == c.Price && e.verdict == o.Verdict && e.meter == c.Meter && e.label == c.PriceLabel &&
		e.reason == c.Reason && e.unit == c.Unit && e.code == o.Cause.Code && e.detail == o.Cause.Detail {
		return e.number
	}
	price := ""
	if charged {
		price = c.Price.String()
	}
	r := &c.Reason
	n := b.bundles[inBasis].number([]string{o.Verdict.String(), o.Cause.Code, o.Cause.Detail, c.Meter, c.Unit, price,
		c.PriceLabel, r.Card, r.CardDigest, r.Version.String(), r.Rule, r.File})
	*e = basis{o.Verdict, o.Cause.Code, o.Cause.Detail, c.Meter, c.Unit, c.PriceLabel, c.Price, *r, true, n}
	return n
}
