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
	columns
	bases   []basis // numbers of inBasis that were given lately
	kinds   rating.ByKind[kindCodes]
	byMeter []int

	lastSource   [2]string
	sourceNumber uint32
	sourceKnown  bool

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
		rows.intake, rows.resets = in, in.resets
	}
	for k := range rows.known {
		for len(rows.known[k]) < rows.bundles[k].count() {
			rows.known[k] = append(rows.known[k], 0)
		}
	}
}

// codeIn gives the number that a combination has in the intake.
func (rows *Rows) codeIn(in *intake, bundle int, code uint32) uint32 {
	known := &rows.known[bundle][code]
	if *known == 0 {
		*known = in.numberOf(bundle, rows.bundles[bundle].of(code)) + 1
	}
	return *known - 1
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

// kindCodes are the codes that the rows of a Kind have in common: of each
// charge, or of the row that has none.
type kindCodes [2]commonCodes

type commonCodes struct {
	known                bool
	group, origin, basis uint32
}

// codesOf gives what is known of the codes of the outcome's rows, to be filled
// in; nil where they are looked for one by one.
func (rows *Rows) codesOf(o *rating.Outcome) []commonCodes {
	if o.Kind == nil || len(o.Charges) > len(kindCodes{}) {
		return nil
	}
	return rows.kinds.Of(o.Kind)[:]
}

// common gives the codes that hang on the outcome's Kind.
func (rows *Rows) common(o *rating.Outcome, c *rating.Charge, charged bool) commonCodes {
	j := o.Job
	return commonCodes{
		known:  true,
		group:  rows.bundles[inGroup].number([]string{c.Group}),
		origin: rows.bundles[inOrigin].number([]string{j.Cluster, j.User, j.Account, j.Partition, j.QoS, string(j.State)}),
		basis:  rows.basis(o, c, charged),
	}
}

// addRow appends the row of charge i of an outcome, or of an outcome without
// one. known has what its Kind has in common, if it has one.
func (rows *Rows) addRow(o *rating.Outcome, c *rating.Charge, charged bool, known []commonCodes, i int) {
	j, row := o.Job, rows.extend(1)
	rows.numbers[nJobIDRaw][row] = int64(j.JobIDRaw)
	rows.numbers[nStart][row], rows.numbers[nEnd][row] = int64(j.Start), int64(j.End)
	from, until := ingest.None, ingest.None
	if o.From != j.Start || o.Until != j.End {
		from, until = o.From, o.Until
	}
	rows.numbers[nFrom][row], rows.numbers[nUntil][row] = int64(from), int64(until)
	rows.numbers[nElapsed][row] = o.Seconds
	rows.numbers[nNodeCount][row] = j.NodeCount
	rows.numbers[nCPUs][row], rows.numbers[nGPUs][row] = j.CPUs, j.GPUs
	rows.numbers[nMemory][row], rows.numbers[nBilling][row] = j.MemoryMiB, j.Billing
	rows.numbers[nRuleLine][row], rows.numbers[nSourceLine][row] = int64(c.Reason.Line), j.Source.Line
	rows.jobIDs = append(rows.jobIDs, j.JobID...)
	rows.ends[row] = uint32(len(rows.jobIDs))

	common := commonCodes{}
	if known != nil {
		common = known[i]
	}
	if !common.known {
		common = rows.common(o, c, charged)
		if known != nil {
			known[i] = common
		}
	}
	rows.codes[inGroup][row], rows.codes[inOrigin][row], rows.codes[inBasis][row] = common.group, common.origin, common.basis
	rows.codes[inName][row] = rows.bundles[inName].number([]string{j.Name})
	rows.codes[inSource][row] = rows.source(&j.Source)
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
func (rows *Rows) addNumbers(row int, c *rating.Charge, charged bool) {
	rows.codes[inExact][row] = noExact
	if !charged {
		rows.noFraction(row, nQuantityNumerator, nQuantityDenominator)
		rows.noFraction(row, nAmountNumerator, nAmountDenominator)
		return
	}
	quantity := rows.fraction(row, nQuantityNumerator, nQuantityDenominator, c.Quantity)
	amount := rows.fraction(row, nAmountNumerator, nAmountDenominator, c.Amount)
	if quantity != "" || amount != "" {
		rows.codes[inExact][row] = rows.bundles[inExact].number([]string{quantity, amount})
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
