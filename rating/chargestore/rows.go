package chargestore

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/ingest"
	"hpcbill/ingest/sametext"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// Rows is what Write keeps of some outcomes. Whoever rates makes them, and so
// does the greater part of the work: of several Rows each may be made by a
// goroutine of its own. Used again they allocate nothing once they have grown.
type Rows struct {
	texts
	records
	bases   []basis // numbers of inBasis that were given lately
	kinds   rating.ByKind[kindCodes]
	byMeter []int

	rememberedBytes int // see the constant

	lastSource   [2]string
	sourceNumber uint32
	sourceKnown  bool

	// What the intake that takes the rows knows of the texts.
	intake       *intake
	resets       int                   // that it had
	known        [bundleCount][]uint32 // by the number here: the number there + 1, or 0
	knownCommons []uint32              // likewise
}

// NewRows makes rows of nothing.
func NewRows() *Rows {
	rows := &Rows{texts: newTexts(), bases: make([]basis, rememberedBases), rememberedBytes: rememberedTextBytes}
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
func (rows *Rows) Len() int { return len(rows.rows) }

// Reset forgets all rows. The texts are remembered as long as they are not too
// many, since the next rows will mostly have the same.
func (rows *Rows) Reset() {
	rows.records.reset()
	if rows.bytes() > rows.rememberedBytes {
		rows.texts.reset()
		clear(rows.bases)
		rows.kinds.Forget()
		rows.sourceKnown = false
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
		clear(rows.knownCommons)
		rows.intake, rows.resets = in, in.resets
	}
	for k := range rows.known {
		rows.known[k] = lengthenedTo(rows.known[k], rows.bundles[k].count())
	}
	rows.knownCommons = lengthenedTo(rows.knownCommons, len(rows.commons.list))
}

// lengthenedTo appends zeros until there are n numbers.
func lengthenedTo(s []uint32, n int) []uint32 {
	return append(s, make([]uint32, max(0, n-len(s)))...)
}

// numberIn gives the number that a combination has in the intake.
func (rows *Rows) numberIn(in *intake, bundle int, number uint32) uint32 {
	known := &rows.known[bundle][number]
	if *known == 0 {
		*known = in.numberOf(bundle, rows.bundles[bundle].of(number)) + 1
	}
	return *known - 1
}

// translate turns codes of the rows' into those of the intake.
func (rows *Rows) translate(in *intake, records []record) {
	for i := range records {
		codes := &records[i].codes
		known := &rows.knownCommons[codes[codeCommon]]
		if *known == 0 {
			c := rows.commons.list[codes[codeCommon]]
			for place := range c {
				c[place] = rows.numberIn(in, place, c[place])
			}
			*known = in.numberOfCommon(c) + 1
		}
		codes[codeCommon] = *known - 1
		codes[codeName] = rows.numberIn(in, inName, codes[codeName])
		codes[codeExact] = rows.numberIn(in, inExact, codes[codeExact])
		codes[codeSource] = rows.numberIn(in, inSource, codes[codeSource])
	}
}

// Add appends the rows of an outcome, by meter, and keeps nothing of its
// memory but texts, which never change. A charge whose price hangs on the whole
// period and was not filled in is refused.
func (rows *Rows) Add(o *rating.Outcome) error {
	if err := settled(o); err != nil {
		return err
	}
	known := rows.codesOf(o)
	switch len(o.Charges) {
	case 0:
		rows.addRow(o, &rating.Charge{Group: o.Group, Reason: o.Cause.Reason}, false, known, 0)
	case 1:
		rows.addRow(o, &o.Charges[0], true, known, 0)
	default:
		rows.byMeter = rows.byMeter[:0]
		for i := range o.Charges {
			rows.byMeter = append(rows.byMeter, i)
		}
		slices.SortStableFunc(rows.byMeter, func(x, y int) int { return strings.Compare(o.Charges[x].Meter, o.Charges[y].Meter) })
		for _, i := range rows.byMeter {
			rows.addRow(o, &o.Charges[i], true, known, i)
		}
	}
	return nil
}

// kindCodes are the codes that the rows of a Kind have: codeCommon + 1 of each
// charge, or of the row that has none; 0 where it is not known.
type kindCodes [2]uint32

// codesOf gives what is known of the codes of the outcome's rows, to be filled
// in; nil where they are looked for one by one.
func (rows *Rows) codesOf(o *rating.Outcome) []uint32 {
	if o.Kind == nil || len(o.Charges) > len(kindCodes{}) {
		return nil
	}
	return rows.kinds.Of(o.Kind)[:]
}

// common gives the code of what hangs on the outcome's Kind.
func (rows *Rows) common(o *rating.Outcome, c *rating.Charge, charged bool) uint32 {
	j := o.Job
	return rows.numberOfCommon(common{
		inGroup:  rows.bundles[inGroup].number([]string{c.Group}),
		inOrigin: rows.bundles[inOrigin].number([]string{j.Cluster, j.User, j.Account, j.Partition, j.QoS, string(j.State)}),
		inBasis:  rows.basis(o, c, charged),
	})
}

// addRow appends the row of charge i of an outcome, or of an outcome without
// one. known has what its Kind has in common, if it has one.
func (rows *Rows) addRow(o *rating.Outcome, c *rating.Charge, charged bool, known []uint32, i int) {
	row := rows.extend()
	j, n := o.Job, &row.numbers
	n[nJobIDRaw] = int64(j.JobIDRaw)
	n[nStart], n[nEnd] = int64(j.Start), int64(j.End)
	n[nFrom], n[nUntil] = int64(ingest.None), int64(ingest.None)
	if o.From != j.Start || o.Until != j.End {
		n[nFrom], n[nUntil] = int64(o.From), int64(o.Until)
	}
	n[nElapsed] = o.Seconds
	n[nNodeCount] = j.NodeCount
	n[nCPUs], n[nGPUs] = j.CPUs, j.GPUs
	n[nMemory], n[nBilling] = j.MemoryMiB, j.Billing
	n[nRuleLine], n[nSourceLine] = int64(c.Reason.Line), j.Source.Line
	rows.jobIDs = append(rows.jobIDs, j.JobID...)
	row.jobIDEnd = uint32(len(rows.jobIDs))

	common := uint32(0) // + 1
	if known != nil {
		common = known[i]
	}
	if common == 0 {
		common = rows.common(o, c, charged) + 1
		if known != nil {
			known[i] = common
		}
	}
	row.codes[codeCommon] = common - 1
	row.codes[codeName] = rows.bundles[inName].number([]string{j.Name})
	row.codes[codeSource] = rows.source(&j.Source)
	rows.addNumbers(row, c, charged)
}

// source gives the number of a dump, mostly that of the row before.
func (rows *Rows) source(of *ingest.Source) uint32 {
	texts := [...]string{of.File, of.Digest}
	if !rows.sourceKnown || !sametext.Same(texts[:], rows.lastSource[:]) {
		rows.lastSource, rows.sourceKnown = texts, true
		rows.sourceNumber = rows.bundles[inSource].number(texts[:])
	}
	return rows.sourceNumber
}

// addNumbers sets the quantity and the amount of a row.
func (rows *Rows) addNumbers(row *record, c *rating.Charge, charged bool) {
	row.codes[codeExact] = noExact
	if !charged {
		row.noFraction(nQuantityNumerator, nQuantityDenominator)
		row.noFraction(nAmountNumerator, nAmountDenominator)
		return
	}
	quantity := row.fraction(nQuantityNumerator, nQuantityDenominator, c.Quantity)
	amount := row.fraction(nAmountNumerator, nAmountDenominator, c.Amount)
	if quantity != "" || amount != "" {
		row.codes[codeExact] = rows.bundles[inExact].number([]string{quantity, amount})
	}
}

// fraction sets an exact number, and gives it as text where two words do not
// hold it.
func (row *record) fraction(numerator, denominator int, x money.Exact) (text string) {
	n, d, ok := x.Fraction()
	if !ok {
		row.noFraction(numerator, denominator)
		return x.Rat().String()
	}
	row.numbers[numerator], row.numbers[denominator] = n, d
	return ""
}

func (row *record) noFraction(numerator, denominator int) {
	row.numbers[numerator], row.numbers[denominator] = noNumerator, noDenominator
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
