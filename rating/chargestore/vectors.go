package chargestore

import (
	"math/big"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates/money"
)

// set makes the columns of rows of the intake, but for those that pick fills.
func (e *encoding) set(in *intake, rows []uint32) {
	e.rows, e.order, e.exact = in.rows, append(e.order[:0], rows...), in.bundles[inExact].combinations
	for n, column := range numberColumns() {
		e.vectors[column].Ints = in.rows.numbers[n][:in.rows.n]
	}
	for k := range bundleCount {
		e.counts[k] = in.bundles[k].count()
		for _, column := range in.bundles[k].columns {
			e.through[column], e.vectors[column].Dict = in.through[column], in.dicts[column].List
		}
	}
	v := &e.vectors[colJobID]
	v.Ends, v.Bytes = in.rows.ends[:in.rows.n], in.rows.jobIDs
}

// pick fills the columns of texts, and of decimals.
func (e *encoding) pick() {
	for k, columns := range bundledColumns() {
		used := e.pickCodes(k)
		for _, column := range columns {
			v := &e.vectors[column]
			v.Index, v.Through = e.codes[k], v.Through[:0]
			for _, code := range used {
				v.Through = append(v.Through, e.through[column][code])
			}
		}
	}
	e.decimals(&e.vectors[colQuantity], nQuantityNumerator, nQuantityDenominator, exactQuantity)
	e.decimals(&e.vectors[colAmount], nAmountNumerator, nAmountDenominator, exactAmount)
}

// pickCodes numbers the combinations of a bundle that the rows have, in their
// order.
func (e *encoding) pickCodes(k int) (used []uint32) {
	e.codes[k], e.local = resized(e.codes[k], len(e.order)), resized(e.local, e.counts[k])
	clear(e.local)
	used = e.used[:0]
	codes := e.rows.codes[k]
	for i, row := range e.order {
		code := codes[row]
		if e.local[code] == 0 {
			used = append(used, code)
			e.local[code] = uint32(len(used))
		}
		e.codes[k][i] = e.local[code] - 1
	}
	e.used = used
	return used
}

// decimals rounds exact numbers.
func (e *encoding) decimals(v *columnar.Vector, numerator, denominator, exact int) {
	v.Wide, v.Ints = v.Wide[:0], v.Ints[:0]
	numerators, denominators := e.rows.numbers[numerator], e.rows.numbers[denominator]
	for _, row := range e.order {
		var x money.Exact
		ok := true
		if d := denominators[row]; d != noDenominator {
			x = money.Ratio(numerators[row], d)
		} else if x, ok = parseFraction(e.exact.of(e.rows.codes[inExact][row])[exact]); !ok {
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
