package formula

import "hpcbill/rates/money"

// assume adds what a condition tells where it is true, or where it is false:
// in choose(gpus > 0, cpus/gpus, 0) the divisor cannot be 0.
func assume(known *assumption, condition *node, is bool) *assumption {
	switch condition.op {
	case opNot:
		return assume(known, condition.operands[0], !is)
	case opAnd, opOr:
		if is == (condition.op == opAnd) {
			return assume(assume(known, condition.operands[0], is), condition.operands[1], is)
		}
		return known
	}
	o := condition.op
	if !is {
		o = opposites[o]
	}
	left, right := condition.operands[0], condition.operands[1]
	if right.op == opNumber {
		known = &assumption{left.key(), told(o, right.value), known}
	}
	if left.op == opNumber {
		known = &assumption{right.key(), told(mirrored[o], left.value), known}
	}
	return known
}

var opposites = map[op]op{
	opLess: opGreaterEqual, opGreaterEqual: opLess, opGreater: opLessEqual, opLessEqual: opGreater,
	opEqual: opNotEqual, opNotEqual: opEqual,
}

var mirrored = map[op]op{
	opLess: opGreater, opGreater: opLess, opLessEqual: opGreaterEqual, opGreaterEqual: opLessEqual,
	opEqual: opEqual, opNotEqual: opNotEqual,
}

// told is what "x o number" says of x.
func told(o op, number money.Exact) Bounds {
	b := Bounds{low: number, high: number}
	switch o {
	case opGreater, opGreaterEqual:
		b.highOpen = true
	case opLess, opLessEqual:
		b.lowOpen = true
	case opNotEqual:
		b.lowOpen, b.highOpen = true, true
	}
	b.nonzero = number.Sign() == 0 && (o == opGreater || o == opLess || o == opNotEqual)
	return b
}

// within narrows b to what c allows too. Where the two exclude each other,
// which makes the branch dead, b stays.
func (b Bounds) within(c Bounds) Bounds {
	n := b
	n.nonzero = b.nonzero || c.nonzero
	if !c.lowOpen && (b.lowOpen || c.low.Cmp(b.low) > 0) {
		n.low, n.lowOpen = c.low, false
	}
	if !c.highOpen && (b.highOpen || c.high.Cmp(b.high) < 0) {
		n.high, n.highOpen = c.high, false
	}
	if !n.lowOpen && !n.highOpen && n.low.Cmp(n.high) > 0 {
		return b
	}
	return n
}
