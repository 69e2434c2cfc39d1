package formula

import (
	"fmt"

	"hpcbill/rates/money"
)

// Bounds are the least and the greatest value that an expression can take.
// The zero value is exactly 0.
type Bounds struct {
	low, high         money.Exact
	lowOpen, highOpen bool // no bound below, above
	nonzero           bool // 0 is left out though it lies between
}

// Between gives the bounds of what lies from low to high.
func Between(low, high money.Exact) Bounds { return Bounds{low: low, high: high} }

// Times gives the bounds of a product.
func (b Bounds) Times(c Bounds) Bounds { return b.times(c) }

func upTo(most int64, scale money.Exact) Bounds {
	return Bounds{high: money.Int(most).Mul(scale)}
}

// oneUpTo is upTo without nothing: at least one of the slot's unit.
func oneUpTo(most int64, scale money.Exact) Bounds {
	return Bounds{low: scale, high: money.Int(most).Mul(scale)}
}

func exactly(x money.Exact) Bounds { return Bounds{low: x, high: x} }

// High gives the upper bound; ok is false where there is none.
func (b Bounds) High() (high money.Exact, ok bool) { return b.high, !b.highOpen }

// Low gives the lower bound; ok is false where there is none.
func (b Bounds) Low() (low money.Exact, ok bool) { return b.low, !b.lowOpen }

func (b Bounds) belowZero() bool { return b.lowOpen || b.low.Sign() < 0 }
func (b Bounds) aboveZero() bool { return b.highOpen || b.high.Sign() > 0 }

// hasZero reports whether the value can be 0.
func (b Bounds) hasZero() bool {
	if b.nonzero || !b.lowOpen && b.low.Sign() > 0 || !b.highOpen && b.high.Sign() < 0 {
		return false
	}
	return true
}

func (b Bounds) isZero() bool {
	return !b.lowOpen && !b.highOpen && b.low.Sign() == 0 && b.high.Sign() == 0
}

func (b Bounds) negated() Bounds {
	return Bounds{low: b.high.Neg(), high: b.low.Neg(), lowOpen: b.highOpen, highOpen: b.lowOpen, nonzero: b.nonzero}
}

func (b Bounds) plus(c Bounds) Bounds {
	sum := Bounds{low: b.low.Add(c.low), high: b.high.Add(c.high)}
	sum.lowOpen, sum.highOpen = b.lowOpen || c.lowOpen, b.highOpen || c.highOpen
	return sum
}

func (b Bounds) times(c Bounds) Bounds {
	product := Bounds{nonzero: !b.hasZero() && !c.hasZero()}
	if b.isZero() || c.isZero() {
		return Bounds{}
	}
	if b.lowOpen || b.highOpen || c.lowOpen || c.highOpen {
		return openProduct(b, c, product)
	}
	for i, x := range []money.Exact{b.low.Mul(c.low), b.low.Mul(c.high), b.high.Mul(c.low), b.high.Mul(c.high)} {
		if i == 0 || x.Cmp(product.low) < 0 {
			product.low = x
		}
		if i == 0 || x.Cmp(product.high) > 0 {
			product.high = x
		}
	}
	return product
}

// openProduct keeps of a product without bounds what its sign tells.
func openProduct(b, c, product Bounds) Bounds {
	product.lowOpen = b.belowZero() && c.aboveZero() || b.aboveZero() && c.belowZero()
	product.highOpen = b.aboveZero() && c.aboveZero() || b.belowZero() && c.belowZero()
	if !product.lowOpen && !b.belowZero() && !c.belowZero() {
		product.low = b.low.Mul(c.low)
	}
	return product
}

// inverted gives the bounds of 1/b for a b that cannot be 0.
func (b Bounds) inverted() Bounds {
	one := func(x money.Exact) money.Exact { q, _ := money.Int(1).Quo(x); return q }
	switch {
	case !b.lowOpen && b.low.Sign() > 0:
		inverse := Bounds{high: one(b.low), nonzero: true}
		if !b.highOpen {
			inverse.low = one(b.high)
		}
		return inverse
	case !b.highOpen && b.high.Sign() < 0:
		return b.negated().inverted().negated()
	case !b.lowOpen && b.low.Sign() == 0:
		inverse := Bounds{highOpen: true, nonzero: true}
		if !b.highOpen {
			inverse.low = one(b.high)
		}
		return inverse
	}
	return Bounds{lowOpen: true, highOpen: true, nonzero: true}
}

// either holds whatever lies in one of the two.
func (b Bounds) either(c Bounds) Bounds {
	both := b
	both.lowOpen, both.highOpen = b.lowOpen || c.lowOpen, b.highOpen || c.highOpen
	if c.low.Cmp(b.low) < 0 {
		both.low = c.low
	}
	if c.high.Cmp(b.high) > 0 {
		both.high = c.high
	}
	both.nonzero = !b.hasZero() && !c.hasZero()
	return both
}

// greatest and least are the bounds of max and min.
func (b Bounds) greatest(c Bounds) Bounds {
	m := Bounds{low: larger(b.low, c.low), high: larger(b.high, c.high), highOpen: b.highOpen || c.highOpen}
	switch {
	case b.lowOpen && c.lowOpen:
		m.lowOpen = true
	case b.lowOpen:
		m.low = c.low
	case c.lowOpen:
		m.low = b.low
	}
	m.nonzero = !b.hasZero() && !c.hasZero() || b.positive() || c.positive()
	return m
}

func (b Bounds) least(c Bounds) Bounds { return b.negated().greatest(c.negated()).negated() }

// positive reports whether the value is always above 0.
func (b Bounds) positive() bool { return !b.belowZero() && !b.hasZero() }

func larger(x, y money.Exact) money.Exact {
	if x.Cmp(y) >= 0 {
		return x
	}
	return y
}

// rounded gives the bounds after a rounding, which keeps order.
func (b Bounds) rounded(digits int, mode money.Mode) Bounds {
	r := Bounds{low: b.low.Round(digits, mode), high: b.high.Round(digits, mode), lowOpen: b.lowOpen, highOpen: b.highOpen}
	r.nonzero = b.positive() && (mode == money.Ceil || mode == money.Up)
	return r
}

// assumption is what a condition tells of an expression where it holds.
type assumption struct {
	key    string
	bounds Bounds
	next   *assumption
}

// bounds works out what every part of the tree can be, and reports divisors
// that can be 0.
func (p *parser) bounds(n *node, known *assumption) Bounds {
	b := p.unassumed(n, known)
	if known == nil {
		return b
	}
	key := n.key()
	for a := known; a != nil; a = a.next {
		if a.key == key {
			b = b.within(a.bounds)
		}
	}
	return b
}

func (p *parser) unassumed(n *node, known *assumption) Bounds {
	switch n.op {
	case opNumber:
		return exactly(n.value)
	case opFigure, opTRES:
		return n.figure.Bounds
	case opChoose:
		p.bounds(n.operands[0], known)
		yes := p.bounds(n.operands[1], assume(known, n.operands[0], true))
		no := p.bounds(n.operands[2], assume(known, n.operands[0], false))
		return yes.either(no)
	case opAnd, opOr:
		p.bounds(n.operands[0], known)
		p.bounds(n.operands[1], assume(known, n.operands[0], n.op == opAnd))
		return Bounds{high: money.Int(1)}
	}
	operands := make([]Bounds, len(n.operands))
	for i, o := range n.operands {
		operands[i] = p.bounds(o, known)
	}
	return p.combined(n, operands)
}

func (p *parser) combined(n *node, b []Bounds) Bounds {
	switch n.op {
	case opAdd:
		return b[0].plus(b[1])
	case opSubtract:
		difference := b[0].plus(b[1].negated())
		if difference.belowZero() && neverNegative(n) {
			difference.low, difference.lowOpen = money.Exact{}, false
		}
		return difference
	case opMultiply:
		return b[0].times(b[1])
	case opDivide:
		return p.quotient(n, b[0], b[1])
	case opNegate:
		return b[0].negated()
	case opCeil:
		return b[0].rounded(0, money.Ceil)
	case opFloor:
		return b[0].rounded(0, money.Floor)
	case opTrunc, opRound:
		return b[0].rounded(n.digits, n.mode)
	case opStep:
		return p.stepped(n, b[0], b[1])
	case opMax, opMin, opFirst:
		return folded(n.op, b)
	}
	return Bounds{high: money.Int(1)}
}

func folded(o op, b []Bounds) Bounds {
	all := b[0]
	for _, c := range b[1:] {
		switch o {
		case opMax:
			all = all.greatest(c)
		case opMin:
			all = all.least(c)
		default:
			zeroless := !all.hasZero() || !c.hasZero() // first(a, b) is b only where a is 0
			all = all.either(c)
			all.nonzero = zeroless
		}
	}
	return all
}

func (p *parser) quotient(n *node, over, under Bounds) Bounds {
	if under.isZero() && !n.operands[1].anyFigure() {
		p.fault(n.operands[1].from, "divides by 0", "")
		return Bounds{lowOpen: true, highOpen: true}
	}
	if under.hasZero() {
		under := n.operands[1]
		source := p.source(under)
		p.fault(under.from, fmt.Sprintf("%s can be 0, and divides", source),
			fmt.Sprintf("write max(%s, 1), or choose(%s > 0, …/%s, 0)", source, source, source))
		return Bounds{lowOpen: true, highOpen: true}
	}
	return over.times(under.inverted())
}

func (p *parser) stepped(n *node, x, quantum Bounds) Bounds {
	if !quantum.positive() {
		p.fault(n.operands[1].from, fmt.Sprintf("the quantum %s can be 0 or less", p.source(n.operands[1])), "write a number above 0")
		return Bounds{lowOpen: true, highOpen: true}
	}
	b := x.plus(Bounds{high: quantum.high, highOpen: quantum.highOpen})
	b.nonzero = x.positive()
	return b
}
