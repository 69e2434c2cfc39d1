package chargestore

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// Rows is what Write keeps of some outcomes. Whoever rates makes them, and so
// does the greater part of the work: of several Rows each may be made by a
// goroutine of its own. Used again they allocate nothing once they have grown.
type Rows struct {
	texts
	columns
	bases   []basis // numbers of inBasis that were given lately
	byMeter []int

	// What the intake that takes the rows knows of the texts.
	intake *intake
	resets int                   // that it had
	known  [bundleCount][]uint32 // by the number here: the number there + 1, or 0
}

// NewRows makes rows of nothing.
func NewRows() *Rows {
	rows := &Rows{texts: newTexts(), bases: make([]basis, rememberedBases)}
	rows.begin()
	return rows
}

// noExact is the number of the combination of inExact that says nothing, as
// nearly all do.
const noExact = 0

func (rows *Rows) begin() {
	if rows.bundles[inExact].number([]string{"", ""}) != noExact {
		panic("BUG: texts that are not new")
	}
}

// Len is how many rows there are.
func (rows *Rows) Len() int { return rows.n }

// Reset forgets all rows. The texts are remembered as long as they are not too
// many, since the next rows will mostly have the same.
func (rows *Rows) Reset() {
	rows.columns.reset()
	if rows.bytes() > rememberedTextBytes {
		rows.texts.reset()
		clear(rows.bases)
		rows.intake = nil
		rows.begin()
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
// memory but texts, which never change. A charge whose price hangs on the whole
// period and was not filled in is refused.
func (rows *Rows) Add(o *rating.Outcome) error {
	if err := settled(o); err != nil {
		return err
	}
	switch len(o.Charges) {
	case 0:
		rows.addRow(o, &rating.Charge{Group: o.Group, Reason: o.Cause.Reason}, false)
	case 1:
		rows.addRow(o, &o.Charges[0], true)
	default:
		rows.byMeter = rows.byMeter[:0]
		for i := range o.Charges {
			rows.byMeter = append(rows.byMeter, i)
		}
		slices.SortStableFunc(rows.byMeter, func(x, y int) int { return strings.Compare(o.Charges[x].Meter, o.Charges[y].Meter) })
		for _, i := range rows.byMeter {
			rows.addRow(o, &o.Charges[i], true)
		}
	}
	return nil
}

func (rows *Rows) addRow(o *rating.Outcome, c *rating.Charge, charged bool) {
	j, row := o.Job, rows.extend(1)
	set := func(number int, value int64) { rows.numbers[number][row] = value }
	set(nJobIDRaw, int64(j.JobIDRaw))
	set(nStart, int64(j.Start))
	set(nEnd, int64(j.End))
	from, until := ingest.None, ingest.None
	if o.From != j.Start || o.Until != j.End {
		from, until = o.From, o.Until
	}
	set(nFrom, int64(from))
	set(nUntil, int64(until))
	set(nElapsed, o.Seconds)
	set(nNodeCount, j.NodeCount)
	set(nCPUs, j.CPUs)
	set(nGPUs, j.GPUs)
	set(nMemory, j.MemoryMiB)
	set(nBilling, j.Billing)
	set(nRuleLine, int64(c.Reason.Line))
	set(nSourceLine, j.Source.Line)
	rows.jobIDs = append(rows.jobIDs, j.JobID...)
	rows.ends[row] = uint32(len(rows.jobIDs))
	code := func(bundle int, texts ...string) { rows.codes[bundle][row] = rows.bundles[bundle].number(texts) }
	code(inGroup, c.Group)
	code(inOrigin, j.Cluster, j.User, j.Account, j.Partition, j.QoS, string(j.State))
	code(inName, j.Name)
	code(inSource, j.Source.File, j.Source.Digest)
	rows.codes[inBasis][row] = rows.basis(o, c, charged)
	quantity, amount := "", ""
	if charged {
		quantity = rows.fraction(row, nQuantityNumerator, nQuantityDenominator, c.Quantity)
		amount = rows.fraction(row, nAmountNumerator, nAmountDenominator, c.Amount)
	} else {
		rows.noFraction(row, nQuantityNumerator, nQuantityDenominator)
		rows.noFraction(row, nAmountNumerator, nAmountDenominator)
	}
	rows.codes[inExact][row] = noExact
	if quantity != "" || amount != "" {
		code(inExact, quantity, amount)
	}
}

// fraction sets an exact number, and gives it as text where two words do not
// hold it.
func (rows *Rows) fraction(row, numerator, denominator int, x money.Exact) (text string) {
	n, d, ok := x.Fraction()
	if !ok {
		rows.noFraction(row, numerator, denominator)
		return x.Rat().String()
	}
	rows.numbers[numerator][row], rows.numbers[denominator][row] = n, d
	return ""
}

func (rows *Rows) noFraction(row, numerator, denominator int) {
	rows.numbers[numerator][row], rows.numbers[denominator][row] = noNumerator, noDenominator
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
