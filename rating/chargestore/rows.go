package chargestore

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/rates/money"
	"hpcbill/rating"
)

// Rows is what Write keeps of some outcomes. Whoever rates makes them, and so
// does the greater part of the work: of several Rows each may be made by a
// goroutine of its own. Used again they allocate nothing once they have grown.
type Rows struct {
	texts
	records []record
	bases   []basis // numbers of inBasis that were given lately
	byMeter []int

	// What the intake that takes the rows knows of the texts.
	intake *intake
	resets int                   // that it had
	known  [bundleCount][]uint32 // by the number here: the number there + 1, or 0
}

// NewRows makes rows of nothing.
func NewRows() *Rows { return &Rows{texts: newTexts(), bases: make([]basis, rememberedBases)} }

// Len is how many rows there are.
func (rows *Rows) Len() int { return len(rows.records) }

// Reset forgets all rows. The texts are remembered as long as they are not too
// many, since the next rows will mostly have the same.
func (rows *Rows) Reset() {
	rows.records, rows.jobIDs = rows.records[:0], rows.jobIDs[:0]
	if rows.texts.bytes() > rememberedTextBytes {
		rows.texts.reset()
		clear(rows.bases)
		rows.intake = nil
	}
}

// how many bytes of texts are remembered from rows to rows.
const rememberedTextBytes = 4 << 20

// meet prepares the rows for being taken by an intake.
func (rows *Rows) meet(in *intake) {
	if rows.intake != in || rows.resets != in.resets {
		for k := range rows.known {
			clear(rows.known[k])
		}
		rows.intake, rows.resets = in, in.resets
	}
	for k := range rows.known {
		for len(rows.known[k]) < rows.bundles[k].count() {
			rows.known[k] = append(rows.known[k], 0)
		}
	}
}

// Add appends the rows of an outcome, by meter, and keeps nothing of its
// memory but texts, which never change. A charge whose price hangs on the whole period and was not filled in
// is refused.
func (rows *Rows) Add(o *rating.Outcome) error {
	if err := settled(o); err != nil {
		return err
	}
	switch len(o.Charges) {
	case 0:
		rows.addRecord(o, &rating.Charge{Group: o.Group, Reason: o.Cause.Reason}, false)
	case 1:
		rows.addRecord(o, &o.Charges[0], true)
	default:
		rows.byMeter = rows.byMeter[:0]
		for i := range o.Charges {
			rows.byMeter = append(rows.byMeter, i)
		}
		slices.SortStableFunc(rows.byMeter, func(x, y int) int { return strings.Compare(o.Charges[x].Meter, o.Charges[y].Meter) })
		for _, i := range rows.byMeter {
			rows.addRecord(o, &o.Charges[i], true)
		}
	}
	return nil
}

func (rows *Rows) addRecord(o *rating.Outcome, c *rating.Charge, charged bool) {
	j := o.Job
	number := func(bundle int, texts ...string) uint32 { return rows.bundles[bundle].number(texts) }
	rows.records = append(rows.records, record{})
	r := &rows.records[len(rows.records)-1]
	r.idStart = uint32(len(rows.jobIDs))
	rows.jobIDs = append(rows.jobIDs, j.JobID...)
	r.idEnd = uint32(len(rows.jobIDs))
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
		inGroup:  number(inGroup, c.Group),
		inOrigin: number(inOrigin, j.Cluster, j.User, j.Account, j.Partition, j.QoS, string(j.State)),
		inName:   number(inName, j.Name),
		inBasis:  rows.basis(o, c, charged),
		inExact:  number(inExact, exact[:]...),
		inSource: number(inSource, j.Source.File, j.Source.Digest),
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

// settled refuses a charge whose price hangs on the whole period and was not
// filled in: its amount of 0 would read as if it were free.
func settled(o *rating.Outcome) error {
	for i := range o.Charges {
		if c := &o.Charges[i]; c.Tiers != nil {
			return fmt.Errorf("BUG: job %s/%s: %s is priced by tiers, and nobody did", o.Job.Cluster, o.Job.JobID, c.Meter)
		}
	}
	return nil
}
