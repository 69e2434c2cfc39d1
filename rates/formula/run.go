package formula

import (
	"math/bits"

	"hpcbill/rates/money"
)

// run evaluates a program; ok is false where it has no answer.
func (p *program) run(v *Values) (x money.Exact, ok bool) {
	m := machine{values: v}
	if !p.root.wide {
		n := m.narrow(p.root)
		return money.Ratio(n, p.denominator), !m.failed
	}
	n := m.wide(p.root)
	if m.failed {
		return money.Exact{}, false
	}
	magnitude := n.magnitude()
	x = money.Ratio128(uint64(magnitude.hi), magnitude.lo, p.denominator)
	if n.hi < 0 {
		x = x.Neg()
	}
	return x, true
}

// machine is one run. After a failure its numbers mean nothing.
type machine struct {
	values *Values
	failed bool
}

func (m *machine) figure(s *step) int64 {
	v := m.values
	if v.state[s.slot] != isInt || v.ints[s.slot] > s.most {
		m.failed = true
		return 0
	}
	return v.ints[s.slot]
}

func (m *machine) tres(s *step) int64 {
	if m.values.TRES != nil {
		if n, known := m.values.TRES(s.tres); known && n >= 0 && n <= s.most {
			return n
		}
	}
	m.failed = true
	return 0
}

// narrow evaluates a step whose numerators fit 63 bits; the layout made sure
// of that for all figures that figure lets through.
func (m *machine) narrow(s *step) int64 {
	switch s.op {
	case opNumber:
		return s.constant
	case opFigure:
		return m.figure(s)
	case opTRES:
		return m.tres(s)
	case opMultiply:
		return m.narrow(s.operands[0]) * m.narrow(s.operands[1])
	case opAdd:
		return m.scaled(s, 0) + m.scaled(s, 1)
	case opSubtract:
		return m.scaled(s, 0) - m.scaled(s, 1)
	case opNegate:
		return -m.narrow(s.operands[0])
	case opRound:
		n := m.narrow(s.operands[0]) * s.scales[0]
		return roundQuotient(n, s.denominator, s.mode) * s.scales[1]
	case opChoose:
		if m.holds(s.operands[0]) {
			return m.scaled(s, 1)
		}
		return m.scaled(s, 2)
	}
	return m.pick(s)
}

func (m *machine) scaled(s *step, i int) int64 { return m.narrow(s.operands[i]) * s.scales[i] }

// pick is max, min and first.
func (m *machine) pick(s *step) int64 {
	best := m.scaled(s, 0)
	for i := 1; i < len(s.operands); i++ {
		if s.op == opFirst && best != 0 {
			break
		}
		n := m.scaled(s, i)
		if s.op == opFirst || s.op == opMax && n > best || s.op == opMin && n < best {
			best = n
		}
	}
	return best
}

// holds evaluates a condition.
func (m *machine) holds(s *step) bool {
	switch s.op {
	case opNot:
		return !m.holds(s.operands[0])
	case opAnd:
		return m.holds(s.operands[0]) && m.holds(s.operands[1])
	case opOr:
		return m.holds(s.operands[0]) || m.holds(s.operands[1])
	}
	if !s.wide {
		a, b := m.scaled(s, 0), m.scaled(s, 1)
		switch {
		case a < b:
			return compares(s.op, -1)
		case a > b:
			return compares(s.op, 1)
		}
		return compares(s.op, 0)
	}
	return compares(s.op, m.scaledWide(s, 0).compare(m.scaledWide(s, 1)))
}

// roundQuotient gives n/d as a whole number, for d > 0.
func roundQuotient(n, d int64, mode money.Mode) int64 {
	q, r := n/d, n%d
	if r != 0 && roundsAway(mode, n < 0, uint64(q)&1 != 0, compareTwice(uint64(max(r, -r)), uint64(d))) {
		if n < 0 {
			return q - 1
		}
		return q + 1
	}
	return q
}

// compareTwice compares 2·r with d, both below 2^63.
func compareTwice(r, d uint64) int {
	switch {
	case 2*r < d:
		return -1
	case 2*r > d:
		return 1
	}
	return 0
}

// roundsAway decides whether a truncated quotient with a remainder moves one
// away from zero.
func roundsAway(mode money.Mode, negative, odd bool, half int) bool {
	switch mode {
	case money.Up:
		return true
	case money.Down:
		return false
	case money.Ceil:
		return !negative
	case money.Floor:
		return negative
	case money.HalfUp:
		return half >= 0
	case money.HalfDown:
		return half > 0
	}
	return half > 0 || half == 0 && odd
}

// int128 is a number in two's complement.
type int128 struct {
	hi int64
	lo uint64
}

func extend(n int64) int128 { return int128{n >> 63, uint64(n)} }

func (a int128) plus(b int128) int128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(uint64(a.hi), uint64(b.hi), carry)
	return int128{int64(hi), lo}
}

func (a int128) negated() int128 {
	lo, borrow := bits.Sub64(0, a.lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.hi), borrow)
	return int128{int64(hi), lo}
}

func (a int128) magnitude() int128 {
	if a.hi < 0 {
		return a.negated()
	}
	return a
}

func (a int128) isZero() bool { return a.hi == 0 && a.lo == 0 }

func (a int128) compare(b int128) int {
	switch {
	case a.hi < b.hi || a.hi == b.hi && a.lo < b.lo:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// times multiplies modulo 2^128, which is exact where the product fits.
func (a int128) times(b int128) int128 {
	hi, lo := bits.Mul64(a.lo, b.lo)
	hi += uint64(a.hi)*b.lo + a.lo*uint64(b.hi)
	return int128{int64(hi), lo}
}

// over gives a/d rounded, for 0 < d < 2^63.
func (a int128) over(d int64, mode money.Mode) int128 {
	m := a.magnitude()
	high, r := bits.Div64(0, uint64(m.hi), uint64(d))
	low, r := bits.Div64(r, m.lo, uint64(d))
	q := int128{int64(high), low}
	if r != 0 && roundsAway(mode, a.hi < 0, low&1 != 0, compareTwice(r, uint64(d))) {
		q = q.plus(int128{0, 1})
	}
	if a.hi < 0 {
		return q.negated()
	}
	return q
}

// wide is narrow in 128 bits.
func (m *machine) wide(s *step) int128 {
	if !s.wide {
		return extend(m.narrow(s))
	}
	switch s.op {
	case opNumber:
		return extend(s.constant)
	case opFigure:
		return extend(m.figure(s))
	case opMultiply:
		return m.wide(s.operands[0]).times(m.wide(s.operands[1]))
	case opAdd:
		return m.scaledWide(s, 0).plus(m.scaledWide(s, 1))
	case opSubtract:
		return m.scaledWide(s, 0).plus(m.scaledWide(s, 1).negated())
	case opNegate:
		return m.wide(s.operands[0]).negated()
	case opRound:
		n := m.wide(s.operands[0]).times(extend(s.scales[0]))
		return n.over(s.denominator, s.mode).times(extend(s.scales[1]))
	case opChoose:
		if m.holds(s.operands[0]) {
			return m.scaledWide(s, 1)
		}
		return m.scaledWide(s, 2)
	}
	return m.pickWide(s)
}

func (m *machine) scaledWide(s *step, i int) int128 {
	return m.wide(s.operands[i]).times(extend(s.scales[i]))
}

func (m *machine) pickWide(s *step) int128 {
	best := m.scaledWide(s, 0)
	for i := 1; i < len(s.operands); i++ {
		if s.op == opFirst && !best.isZero() {
			break
		}
		n := m.scaledWide(s, i)
		c := n.compare(best)
		if s.op == opFirst || s.op == opMax && c > 0 || s.op == opMin && c < 0 {
			best = n
		}
	}
	return best
}
