package chargestore

import (
	"math/big"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates/money"
)

// set makes the columns of rows of the intake, but for the rounded ones.
func (e *encoding) set(in *intake, rows []uint32) {
	e.rows, e.order, e.exact = in.rows, append(e.order[:0], rows...), in.bundles[inExact].combinations
	for n, column := range numberColumns() {
		e.vectors[column].Ints = in.rows.numbers[n][:in.rows.n]
	}
	for k := range bundleCount {
		for _, column := range in.bundles[k].columns {
			v := &e.vectors[column]
			v.Index, v.Through, v.Dict = in.rows.codes[k][:in.rows.n], in.through[column], in.dicts[column].List
		}
	}
	v := &e.vectors[colJobID]
	v.Ends, v.Bytes = in.rows.ends[:in.rows.n], in.rows.jobIDs
}

// decimals rounds exact numbers.
func (e *encoding) decimals(v *columnar.Vector, numerator, denominator, exact int) {
	v.Picked, v.Wide, v.Ints = true, v.Wide[:0], v.Ints[:0]
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
