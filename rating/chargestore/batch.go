package chargestore

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// batch is rows in memory, column by column. Appending allocates nothing once
// the columns have grown.
type batch struct {
	n      int
	ints   [columnCount][]int64
	wide   [columnCount][]columnar.Int128
	texts  [columnCount]columnar.Texts
	index  [columnCount][]uint32
	jobIDs []byte
	ends   []uint32

	// The texts of prices and versions that were printed already.
	prices   map[money.Exact]string
	versions map[rates.Date]string
	order    []uint32
}

func newBatch() *batch {
	return &batch{prices: map[money.Exact]string{}, versions: map[rates.Date]string{}}
}

func (b *batch) reset() {
	b.n = 0
	b.jobIDs, b.ends = b.jobIDs[:0], b.ends[:0]
	for c := range columnCount {
		b.ints[c], b.wide[c], b.index[c] = b.ints[c][:0], b.wide[c][:0], b.index[c][:0]
		b.texts[c].Reset()
	}
}

// add appends the rows of an outcome.
func (b *batch) add(o *rating.Outcome) error {
	if len(o.Charges) == 0 {
		return b.addRow(o, &rating.Charge{Group: o.Group, Reason: o.Cause.Reason})
	}
	for i := range o.Charges {
		if err := b.addRow(o, &o.Charges[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) addRow(o *rating.Outcome, c *rating.Charge) error {
	b.addJob(o.Job)
	b.text(colGroup, c.Group)
	b.text(colVerdict, o.Verdict.String())
	b.text(colCause, o.Cause.Code)
	b.text(colCauseDetail, o.Cause.Detail)
	b.int(colFrom, int64(o.From))
	b.int(colUntil, int64(o.Until))
	b.int(colElapsed, o.Seconds)
	b.text(colMeter, c.Meter)
	b.text(colUnit, c.Unit)
	b.text(colPrice, b.price(c.Price))
	b.text(colPriceLabel, c.PriceLabel)
	b.text(colCard, c.Reason.Card)
	b.text(colCardDigest, c.Reason.CardDigest)
	b.text(colCardVersion, b.version(c.Reason.Version))
	b.text(colRule, c.Reason.Rule)
	b.text(colRuleFile, c.Reason.File)
	b.int(colRuleLine, int64(c.Reason.Line))
	b.n++
	if err := b.exact(colQuantity, c.Quantity); err != nil {
		return fmt.Errorf("job %s/%s: meter %s: quantity: %w", o.Job.Cluster, o.Job.JobID, c.Meter, err)
	}
	if err := b.exact(colAmount, c.Amount); err != nil {
		return fmt.Errorf("job %s/%s: meter %s: amount: %w", o.Job.Cluster, o.Job.JobID, c.Meter, err)
	}
	return nil
}

func (b *batch) addJob(j *ingest.Job) {
	b.jobIDs = append(b.jobIDs, j.JobID...)
	b.ends = append(b.ends, uint32(len(b.jobIDs)))
	b.text(colCluster, j.Cluster)
	b.text(colUser, j.User)
	b.text(colAccount, j.Account)
	b.text(colPartition, j.Partition)
	b.text(colQoS, j.QoS)
	b.text(colState, string(j.State))
	b.text(colName, j.Name)
	b.text(colSourceFile, j.Source.File)
	b.text(colSourceDigest, j.Source.Digest)
	b.int(colJobIDRaw, int64(j.JobIDRaw))
	b.int(colStart, int64(j.Start))
	b.int(colEnd, int64(j.End))
	b.int(colNodeCount, j.NodeCount)
	b.int(colCPUs, j.CPUs)
	b.int(colGPUs, j.GPUs)
	b.int(colMemory, j.MemoryMiB)
	b.int(colBilling, j.Billing)
	b.int(colSourceLine, j.Source.Line)
}

func (b *batch) int(col int, v int64) { b.ints[col] = append(b.ints[col], v) }

func (b *batch) text(col int, s string) { b.index[col] = append(b.index[col], b.texts[col].Number(s)) }

// exact appends a number in its three forms: col rounded, the next two as a
// fraction, the one after them as text where the fraction is too large.
func (b *batch) exact(col int, x money.Exact) error {
	hi, lo, ok := x.Fixed(decimalPlaces, decimalDigits, money.HalfEven)
	if !ok {
		return fmt.Errorf("%s does not fit decimal(%d,%d)", x.Decimal(0, money.HalfEven), decimalDigits, decimalPlaces)
	}
	b.wide[col] = append(b.wide[col], columnar.Int128{High: hi, Low: lo})
	num, den, ok := x.Fraction()
	text := ""
	if !ok {
		num, den, text = 0, notInLine, x.Rat().String()
	}
	b.int(col+1, num)
	b.int(col+2, den)
	b.text(col+3, text)
	return nil
}

// price prints a price, once for each different one.
func (b *batch) price(x money.Exact) string {
	if _, _, ok := x.Fraction(); !ok {
		return x.String() // a pointer inside: no key of a map
	}
	text, ok := b.prices[x]
	if !ok {
		text = x.String()
		b.prices[x] = text
	}
	return text
}

func (b *batch) version(d rates.Date) string {
	text, ok := b.versions[d]
	if !ok {
		if !d.IsZero() {
			text = fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
		}
		b.versions[d] = text
	}
	return text
}

// vectors shows the columns to the Parquet writer.
func (b *batch) vectors() []columnar.Vector {
	v := make([]columnar.Vector, columnCount)
	for c := range v {
		v[c].Ints, v[c].Wide = b.ints[c], b.wide[c]
		if len(b.index[c]) > 0 {
			v[c].Index, v[c].Dict = b.index[c], b.texts[c].List
		}
	}
	v[colJobID].Ends, v[colJobID].Bytes = b.ends, b.jobIDs
	return v
}

// byGroup gives the rows by the names of their groups, those of one group in
// the order in which they came.
func (b *batch) byGroup() []uint32 {
	names := b.texts[colGroup].List
	sorted := make([]uint32, len(names))
	for i := range sorted {
		sorted[i] = uint32(i)
	}
	slices.SortFunc(sorted, func(x, y uint32) int { return cmp.Compare(names[x], names[y]) })
	counts := make([]int, len(names))
	for _, g := range b.index[colGroup] {
		counts[g]++
	}
	next, at := make([]int, len(names)), 0
	for _, g := range sorted {
		next[g], at = at, at+counts[g]
	}
	b.order = slices.Grow(b.order[:0], b.n)[:b.n]
	for row, g := range b.index[colGroup] {
		b.order[next[g]] = uint32(row)
		next[g]++
	}
	return b.order
}

// ratOf reads what exact wrote as text.
func ratOf(text string) (money.Exact, bool) {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return money.Exact{}, false
	}
	return money.FromRat(r), true
}
