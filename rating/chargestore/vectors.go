package chargestore

import (
	"math/big"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates/money"
)

// fill makes the columns of the rows.
func (e *encoding) fill() {
	b, vectors := e.batch, e.vectors
	for n, column := range numberColumns() {
		vectors[column].Ints = b.numbers[n]
	}
	for k := range bundleCount {
		e.fillTexts(&b.bundles[k], b.codes[k])
	}
	vectors[colJobID].Ends, vectors[colJobID].Bytes = b.ends, b.jobIDs
	b.decimals(&vectors[colQuantity], nQuantityNumerator, nQuantityDenominator, exactQuantity)
	b.decimals(&vectors[colAmount], nAmountNumerator, nAmountDenominator, exactAmount)
}

// fillTexts numbers the texts of each column of a bundle for themselves.
func (e *encoding) fillTexts(b *combinations, rows []uint32) {
	width := len(b.columns)
	if width == 1 {
		e.vectors[b.columns[0]].Index, e.vectors[b.columns[0]].Dict = rows, b.texts
		return
	}
	e.codes = resized(e.codes, b.count())
	for place, column := range b.columns {
		texts, v := &e.texts[column], &e.vectors[column]
		texts.Reset()
		for n := range e.codes {
			e.codes[n] = texts.Number(b.texts[n*width+place])
		}
		if v.Dict = texts.List; len(v.Dict) == 1 {
			v.Index = e.zeros[:len(rows)]
			continue
		}
		e.index[column] = resized(e.index[column], len(rows))
		v.Index = e.index[column]
		for i, n := range rows {
			v.Index[i] = e.codes[n]
		}
	}
}

// decimals rounds exact numbers.
func (b *batch) decimals(v *columnar.Vector, numerator, denominator, exact int) {
	v.Wide, v.Ints = v.Wide[:0], v.Ints[:0]
	for row, n := range b.numbers[numerator] {
		var x money.Exact
		ok := true
		if d := b.numbers[denominator][row]; d != noDenominator {
			x = money.Ratio(n, d)
		} else if x, ok = parseFraction(b.bundles[inExact].of(b.codes[inExact][row])[exact]); !ok {
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
