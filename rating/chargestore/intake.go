package chargestore

import (
	"slices"
	"strings"

	"hpcbill/rates/money"
	"hpcbill/rating"
)

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
	n       int
	lists   []recordList // by the number of the group
	spare   []*recordChunk
	bases   []basis // numbers of inBasis that were given lately
	byMeter []int
}

// recordList is the rows of a group.
type recordList struct {
	chunks   []*recordChunk
	n        int
	unsorted bool
}

type recordChunk [32]record

func newIntake() *intake { return &intake{texts: newTexts(), bases: make([]basis, rememberedBases)} }

func (in *intake) reset() {
	for i := range in.lists {
		in.release(i)
	}
	in.texts.reset()
	clear(in.bases)
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

// add appends the rows of an outcome, by meter, and keeps nothing of its
// memory.
func (in *intake) add(o *rating.Outcome) {
	switch len(o.Charges) {
	case 0:
		in.addRecord(o, &rating.Charge{Group: o.Group, Reason: o.Cause.Reason}, false)
	case 1:
		in.addRecord(o, &o.Charges[0], true)
	default:
		in.byMeter = in.byMeter[:0]
		for i := range o.Charges {
			in.byMeter = append(in.byMeter, i)
		}
		slices.SortStableFunc(in.byMeter, func(x, y int) int { return strings.Compare(o.Charges[x].Meter, o.Charges[y].Meter) })
		for _, i := range in.byMeter {
			in.addRecord(o, &o.Charges[i], true)
		}
	}
}

func (in *intake) addRecord(o *rating.Outcome, c *rating.Charge, charged bool) {
	j := o.Job
	number := func(bundle int, texts ...string) uint32 { return in.bundles[bundle].number(texts) }
	group := number(inGroup, c.Group)
	list, before, r := in.place(group)
	r.idStart = uint32(len(in.jobIDs))
	in.jobIDs = append(in.jobIDs, j.JobID...)
	r.idEnd = uint32(len(in.jobIDs))
	r.numbers = [numberCount]int64{
		nJobIDRaw: int64(j.JobIDRaw), nStart: int64(j.Start), nEnd: int64(j.End),
		nElapsed: o.Seconds, nNodeCount: j.NodeCount, nCPUs: j.CPUs, nGPUs: j.GPUs, nMemory: j.MemoryMiB, nBilling: j.Billing,
		nQuantityNumerator: noNumerator, nQuantityDenominator: noDenominator,
		nAmountNumerator: noNumerator, nAmountDenominator: noDenominator,
		nRuleLine: int64(c.Reason.Line), nSourceLine: j.Source.Line,
	}
	if o.From != j.Start || o.Until != j.End {
		r.numbers[nFrom], r.numbers[nUntil] = int64(o.From), int64(o.Until)
	}
	exact := [2]string{}
	if charged {
		exact[exactQuantity] = r.fraction(nQuantityNumerator, nQuantityDenominator, c.Quantity)
		exact[exactAmount] = r.fraction(nAmountNumerator, nAmountDenominator, c.Amount)
	}
	r.codes = [bundleCount]uint32{
		inGroup:  group,
		inOrigin: number(inOrigin, j.Cluster, j.User, j.Account, j.Partition, j.QoS, string(j.State)),
		inName:   number(inName, j.Name),
		inBasis:  in.basis(o, c, charged),
		inExact:  number(inExact, exact[:]...),
		inSource: number(inSource, j.Source.File, j.Source.Digest),
	}
	if before != nil && !list.unsorted {
		list.unsorted = compare(before, r, &in.texts) > 0
	}
}

// fraction sets an exact number, and gives it as text where two words do not
// hold it.
func (r *record) fraction(numerator, denominator int, x money.Exact) (text string) {
	n, d, ok := x.Fraction()
	if !ok {
		return x.Rat().String()
	}
	r.numbers[numerator], r.numbers[denominator] = lowest(n, d)
	return ""
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
func (in *intake) basis(o *rating.Outcome, c *rating.Charge, charged bool) uint32 {
	num, den, _ := c.Price.Fraction()
	h := uint64(c.Reason.Line)<<8 ^ uint64(len(c.Meter))<<4 ^ uint64(len(o.Cause.Detail)) ^ uint64(o.Verdict)<<20
	h = (h ^ uint64(num)<<1 ^ uint64(den)) * 0x9E3779B97F4A7C15
	e := &in.bases[h>>54&(rememberedBases-1)]
	if e.known && e.price == c.Price && e.verdict == o.Verdict && e.meter == c.Meter && e.label == c.PriceLabel &&
		e.reason == c.Reason && e.unit == c.Unit && e.code == o.Cause.Code && e.detail == o.Cause.Detail {
		return e.number
	}
	price := ""
	if charged {
		price = c.Price.String()
	}
	r := &c.Reason
	n := in.bundles[inBasis].number([]string{o.Verdict.String(), o.Cause.Code, o.Cause.Detail, c.Meter, c.Unit, price,
		c.PriceLabel, r.Card, r.CardDigest, r.Version.String(), r.Rule, r.File})
	*e = basis{o.Verdict, o.Cause.Code, o.Cause.Detail, c.Meter, c.Unit, c.PriceLabel, c.Price, *r, true, n}
	return n
}
