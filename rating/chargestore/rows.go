package chargestore

import (
	"fmt"

	"hpcbill/rates/money"
	"hpcbill/rating"
)

// Rows is what Write keeps of some outcomes. Whoever rates makes them, and so
// does the greater part of the work: several goroutines may make some at once,
// each with a Lexicon of its own. Used again they allocate nothing once they have
// grown.
type Rows struct {
	records
	lexicon *Lexicon
	wording wording
}

// NewRows makes rows of nothing, whose texts stand in the lexicon. Rows of one
// lexicon are filled one after another, never two at a time, but those that are
// full may wait as long as they like.
func (l *Lexicon) NewRows() *Rows { return &Rows{lexicon: l} }

// Len is how many rows there are.
func (rows *Rows) Len() int { return len(rows.rows) }

// Reset forgets all rows.
func (rows *Rows) Reset() {
	rows.records.reset()
	rows.wording = wording{}
	rows.lexicon.forget()
}

// Add appends the rows of an outcome, by meter, and keeps nothing of its
// memory but texts, which never change. A charge whose price hangs on the whole
// period and was not filled in is refused.
func (rows *Rows) Add(o *rating.Outcome) error {
	if err := settled(o); err != nil {
		return err
	}
	if len(rows.longIDs) > mostLongIDs {
		return fmt.Errorf("job %s/%.20s: the job ids of %d rows have more than %d bytes", o.Job.Cluster, o.Job.JobID, len(rows.rows), mostLongIDs)
	}
	known := rows.lexicon.codesOf(o)
	switch len(o.Charges) {
	case 0:
		rows.addRow(o, &rating.Charge{Group: o.Group, Reason: o.Cause.Reason}, false, known, 0)
	case 1:
		rows.addRow(o, &o.Charges[0], true, known, 0)
	default:
		for _, i := range rows.lexicon.byMeters(o.Charges) {
			rows.addRow(o, &o.Charges[i], true, known, i)
		}
	}
	rows.lexicon.tell(&rows.wording)
	return nil
}

// addRow appends the row of charge i of an outcome, or of an outcome without
// one. known has what its Kind has in common, if it has one.
func (rows *Rows) addRow(o *rating.Outcome, c *rating.Charge, charged bool, known []uint32, i int) {
	row := rows.extend()
	j, n := o.Job, &row.numbers
	n[nJobIDRaw] = int64(j.JobIDRaw)
	n[nStart], n[nEnd] = int64(j.Start), int64(j.End)
	n[nElapsed] = o.Seconds
	n[nSourceLine] = j.Source.Line
	row.jobID.set(&rows.longIDs, j.JobID)

	common := uint32(0) // + 1
	if known != nil {
		common = known[i]
	}
	if common == 0 {
		common = rows.lexicon.common(o, c, charged) + 1
		if known != nil {
			known[i] = common
		}
	}
	row.codes[codeCommon] = common - 1
	row.codes[codeName] = rows.lexicon.bundles[inName].number([]string{j.Name})
	row.codes[codeShape] = rows.lexicon.shape(j)
	exact := row.addFractions(c, charged)
	row.codes[codeOdd] = rows.lexicon.odd(&j.Source, exact, spanOf(o))
}

// spanOf gives the part of the job that was rated.
func spanOf(o *rating.Outcome) span {
	if o.From == o.Job.Start && o.Until == o.Job.End {
		return wholeJob
	}
	return span{o.From, o.Until}
}

// addFractions sets the quantity and the amount of a row. What two words do not
// hold is given as text.
func (row *record) addFractions(c *rating.Charge, charged bool) (exact [2]string) {
	if !charged {
		row.noFraction(nQuantityNumerator, nQuantityDenominator)
		row.noFraction(nAmountNumerator, nAmountDenominator)
		return exact
	}
	exact[exactQuantity] = row.fraction(nQuantityNumerator, nQuantityDenominator, c.Quantity)
	exact[exactAmount] = row.fraction(nAmountNumerator, nAmountDenominator, c.Amount)
	return exact
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
