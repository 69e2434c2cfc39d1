package chargestore

import (
	"math/big"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates/money"
)

// set notes which rows of the intake are to be encoded, and what of it: the
// intake goes on.
func (e *encoding) set(in *intake, places []place) {
	e.intake, e.exact = in, in.bundles[inExact].combinations
	e.commons, e.odds, e.spans, e.shapes = in.commons.list, in.odds.list, in.spans.list, in.shapes.list
	e.segments, e.places = in.appendSegments(e.segments[:0], e.places[:0], places)
	for _, s := range e.segments {
		s.block.left -= len(s.rows)
		s.block.readers++
	}
	in.waiting -= len(places)
	e.counts = [...]int{codeCommon: len(e.commons), codeName: in.bundles[inName].count(), codeOdd: len(e.odds), codeShape: len(e.shapes)}
	for k := range bundleCount {
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
	e.coded()
}

// coded makes the columns that the rows have by a code. The codes are numbered
// anew.
func (e *encoding) coded() {
	for code := range codeCount {
		codes, used := e.renumber(code)
		for bundle, columns := range bundledColumns() {
			of, place := codeOf(bundle)
			if of != code {
				continue
			}
			for _, column := range columns {
				v, through := &e.vectors[column], e.through[column]
				v.Index, v.Through = codes, v.Through[:0]
				for _, number := range used {
					v.Through = append(v.Through, through[e.combination(code, number, place)])
				}
			}
		}
		e.numbers(code, codes, used)
	}
}

// numbers makes the columns of numbers that hang on a code.
func (e *encoding) numbers(code int, codes, used []uint32) {
	switch code {
	case codeCommon:
		e.number(colRuleLine, codes, used, func(n uint32) int64 { return int64(e.commons[n].ruleLine) })
	case codeOdd:
		e.number(colFrom, codes, used, func(n uint32) int64 { return int64(e.spans[e.odds[n].span].from) })
		e.number(colUntil, codes, used, func(n uint32) int64 { return int64(e.spans[e.odds[n].span].until) })
	case codeShape:
		for i, column := range shapeColumns() {
			e.number(column, codes, used, func(n uint32) int64 { return e.shapes[n].fields()[i] })
		}
	}
}

// combination gives the number of a combination that stands at a place of what
// a code is of.
func (e *encoding) combination(code int, number uint32, place int) uint32 {
	switch code {
	case codeCommon:
		return e.commons[number].bundled[place]
	case codeOdd:
		return e.odds[number].bundled[place]
	}
	return number
}

// number makes a column of numbers of what each code that is used stands for.
func (e *encoding) number(column int, codes, used []uint32, of func(uint32) int64) {
	v := &e.vectors[column]
	v.Index, v.Ints = codes, v.Ints[:0]
	for _, number := range used {
		v.Ints = append(v.Ints, of(number))
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
		} else if x, ok = parseFraction(e.exact.of(e.odds[e.rows.codes[codeOdd][row]].bundled[oddExact])[exact]); !ok {
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
