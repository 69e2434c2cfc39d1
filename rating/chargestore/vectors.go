package chargestore

import (
	"math/big"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates/money"
)

// set notes which rows of the intake are to be encoded, and what of it: the
// intake goes on.
func (e *encoding) set(in *intake, places []place) {
	e.intake, e.exact, e.commons = in, in.bundles[inExact].combinations, in.commons.list
	e.segments, e.places = in.appendSegments(e.segments[:0], e.places[:0], places)
	for _, s := range e.segments {
		s.block.left -= len(s.rows)
		s.block.readers++
	}
	in.waiting -= len(places)
	e.counts[codeCommon] = len(e.commons)
	for k := range bundleCount {
		if code, _ := codeOf(k); code != codeCommon {
			e.counts[code] = in.bundles[k].count()
		}
		for _, column := range in.bundles[k].columns {
			e.through[column], e.vectors[column].Dict = in.through[column], in.dicts[column].List
		}
	}
}

// make puts the rows together and makes the columns of them.
func (e *encoding) make() {
	e.rows.reset(len(e.places))
	for _, s := range e.segments {
		e.rows.pick(&s.block.records, s.rows)
	}
	for n, column := range numberColumns() {
		e.vectors[column].Ints = e.rows.numbers[n][:e.rows.n]
	}
	v := &e.vectors[colJobID]
	v.Ends, v.Bytes = e.rows.ends[:e.rows.n], e.rows.jobIDs
	e.decimals(&e.vectors[colQuantity], nQuantityNumerator, nQuantityDenominator, exactQuantity)
	e.decimals(&e.vectors[colAmount], nAmountNumerator, nAmountDenominator, exactAmount)
	e.texts()
}

// texts makes the columns of texts. The codes are numbered anew.
func (e *encoding) texts() {
	all := bundledColumns()
	for code := range codeCount {
		codes, used := e.renumber(code)
		for bundle, columns := range all {
			of, place := codeOf(bundle)
			if of != code {
				continue
			}
			for _, column := range columns {
				v, through := &e.vectors[column], e.through[column]
				v.Index, v.Through = codes, v.Through[:0]
				for _, number := range used {
					if code == codeCommon {
						number = e.commons[number][place]
					}
					v.Through = append(v.Through, through[number])
				}
			}
		}
	}
}

// renumber numbers the codes that the rows have, in their order.
func (e *encoding) renumber(code int) (codes, used []uint32) {
	e.local = resized(e.local, e.counts[code])
	clear(e.local)
	used, codes = e.used[:0], e.rows.codes[code][:e.rows.n]
	for i, number := range codes {
		if e.local[number] == 0 {
			used = append(used, number)
			e.local[number] = uint32(len(used))
		}
		codes[i] = e.local[number] - 1
	}
	e.used = used
	return codes, used
}

// decimals rounds exact numbers.
func (e *encoding) decimals(v *columnar.Vector, numerator, denominator, exact int) {
	v.Wide, v.Ints = resized(v.Wide, e.rows.n), resized(v.Ints, e.rows.n)
	numerators, denominators := e.rows.numbers[numerator], e.rows.numbers[denominator]
	for row := range e.rows.n {
		var x money.Exact
		ok := true
		if d := denominators[row]; d != noDenominator {
			x = money.Ratio(numerators[row], d)
		} else if x, ok = parseFraction(e.exact.of(e.rows.codes[codeExact][row])[exact]); !ok {
			v.Wide[row], v.Ints[row] = columnar.Int128{}, noDecimal
			continue
		}
		high, low, fits := x.Fixed(decimalPlaces, decimalDigits, money.HalfEven)
		there := int64(noDecimal)
		if fits {
			there = 1
		}
		v.Wide[row], v.Ints[row] = columnar.Int128{High: high, Low: low}, there
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
