package chargestore

import (
	"math/big"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates/money"
)

// vectors shows the rows of b to the Parquet writer.
func (b *batch) vectors(vectors []columnar.Vector) {
	for _, column := range numberColumns() {
		vectors[column].Ints = b.numbers[column]
	}
	for k := range bundleCount {
		b.bundles[k].vectors(b.codes[k], vectors)
	}
	vectors[colJobID].Ends, vectors[colJobID].Bytes = b.ends, b.jobIDs
	b.decimals(&vectors[colQuantity], colQuantityNumerator, colQuantityDenominator, exactQuantity)
	b.decimals(&vectors[colAmount], colAmountNumerator, colAmountDenominator, exactAmount)
}

// decimals rounds exact numbers.
func (b *batch) decimals(v *columnar.Vector, numerator, denominator, exact int) {
	v.Wide, v.Ints = v.Wide[:0], v.Ints[:0]
	for row, n := range b.numbers[numerator] {
		var x money.Exact
		ok := true
		if d := b.numbers[denominator][row]; d != noDenominator {
			x = money.Ratio(n, d)
		} else if x, ok = parseFraction(b.text(inExact, exact, row)); !ok {
			v.Wide, v.Ints = append(v.Wide, columnar.Int128{}), append(v.Ints, noDecimal)
			continue
		}
		high, low, fits := x.Fixed(decimalPlaces, decimalDigits, money.HalfEven)
		there := int64(noDecimal)
		if fits {
			there = 1
		}
		v.Wide, v.Ints = append(v.Wide, columnar.Int128{High: high, Low: low}), append(v.Ints, there)
	}
}

// parseFraction reads what fraction gave as text.
func parseFraction(text string) (money.Exact, bool) {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return money.Exact{}, false
	}
	return money.FromRat(r), true
}
