package formula

import (
	"math/big"

	"hpcbill/rates/money"
)

// program is a formula compiled to integers: every part of it is a whole
// number over a denominator that is known beforehand, so that a value is a few
// machine multiplications. Figures enter as the whole numbers of their records.
//
// A program gives no answer where it cannot: a figure that is unknown, a
// fraction, or beyond the bounds that its arithmetic was laid out for. The
// rational evaluation then decides, and both always agree.
type program struct {
	root        *step
	denominator int64
}

// step is one operation of a program, on numerators.
type step struct {
	op       op
	operands []*step
	scales   []int64 // what each operand is multiplied by first, for a common denominator

	constant    int64 // of opNumber
	slot        Slot
	tres        string
	most        int64 // of opFigure and opTRES: the largest count the layout is for
	denominator int64 // of roundings: that of the operand
	mode        money.Mode

	wide bool // the numerator may need more than 63 bits
}

// laidOut is a step with what is known of its numerator.
type laidOut struct {
	*step
	denominator int64
	size        *big.Int // the numerator's magnitude is at most this
}

// What a denominator and a numerator may grow to.
var (
	mostDenominator = big.NewInt(1 << 62)
	mostNarrow      = big.NewInt(1<<63 - 1)
	mostWide        = new(big.Int).Lsh(big.NewInt(1), 126)
)

// compile lays a tree out in integers; nil where it has a part that needs
// fractions, such as a division by a figure.
func compile(root *node) *program {
	l, ok := layOut(root)
	if !ok {
		return nil
	}
	return &program{l.step, l.denominator}
}

func layOut(n *node) (laidOut, bool) {
	switch n.op {
	case opNumber:
		return constant(n.value)
	case opFigure:
		if n.let != nil {
			return layOut(n.let)
		}
		return layOutFigure(n)
	case opTRES:
		high, _ := n.figure.Bounds.High()
		most, whole := high.Int64()
		return laidOut{&step{op: opTRES, tres: n.tres, most: most}, 1, big.NewInt(most)}, whole
	case opDivide:
		return layOutQuotient(n)
	case opStep:
		return layOutStep(n)
	}
	operands := make([]laidOut, len(n.operands))
	for i, o := range n.operands {
		l, ok := layOut(o)
		if !ok {
			return laidOut{}, false
		}
		operands[i] = l
	}
	return combine(n, operands)
}

func combine(n *node, operands []laidOut) (laidOut, bool) {
	switch n.op {
	case opMultiply:
		return product(operands[0], operands[1])
	case opNegate:
		s := &step{op: opNegate, operands: []*step{operands[0].step}}
		return finished(s, operands[0].denominator, operands[0].size)
	case opCeil:
		return rounded(operands[0], 0, money.Ceil)
	case opFloor:
		return rounded(operands[0], 0, money.Floor)
	case opTrunc, opRound:
		return rounded(operands[0], n.digits, n.mode)
	case opAnd, opOr, opNot:
		s := &step{op: n.op}
		for _, o := range operands {
			s.operands = append(s.operands, o.step)
		}
		return finished(s, 1, big.NewInt(1))
	case opChoose:
		return alike(n.op, operands[1:], operands[0].step)
	}
	return alike(n.op, operands, nil)
}

// constant is a number of the formula.
func constant(x money.Exact) (laidOut, bool) {
	r := x.Rat()
	if !r.Num().IsInt64() || r.Denom().Cmp(mostDenominator) > 0 {
		return laidOut{}, false
	}
	s := &step{op: opNumber, constant: r.Num().Int64()}
	return finished(s, r.Denom().Int64(), new(big.Int).Abs(r.Num()))
}

// layOutFigure takes the whole number of a slot times the figure's scale.
func layOutFigure(n *node) (laidOut, bool) {
	high, bounded := n.figure.Bounds.High()
	if !bounded || n.figure.Bounds.belowZero() {
		return laidOut{}, false
	}
	most := new(big.Rat).Quo(high.Rat(), n.scale.Rat())
	count := new(big.Int).Quo(most.Num(), most.Denom())
	scale := n.scale.Rat()
	if !count.IsInt64() || !scale.Num().IsInt64() || scale.Denom().Cmp(mostDenominator) > 0 {
		return laidOut{}, false
	}
	s := &step{op: opFigure, slot: n.slot, most: count.Int64()}
	figure, _ := finished(s, 1, count)
	factor, ok := constant(n.scale)
	if !ok {
		return laidOut{}, false
	}
	return product(figure, factor)
}

func product(a, b laidOut) (laidOut, bool) {
	denominator := new(big.Int).Mul(big.NewInt(a.denominator), big.NewInt(b.denominator))
	if b.op == opNumber && b.constant == 1 {
		a.denominator = denominator.Int64()
		return a, denominator.Cmp(mostDenominator) <= 0
	}
	if denominator.Cmp(mostDenominator) > 0 {
		return laidOut{}, false
	}
	s := &step{op: opMultiply, operands: []*step{a.step, b.step}}
	return finished(s, denominator.Int64(), new(big.Int).Mul(a.size, b.size))
}

// layOutQuotient multiplies by the inverse of a constant.
func layOutQuotient(n *node) (laidOut, bool) {
	a, ok := layOut(n.operands[0])
	x, constantDivisor := constantOf(n.operands[1])
	if !ok || !constantDivisor {
		return laidOut{}, false
	}
	inverse, ok := money.Int(1).Quo(x)
	if !ok {
		return laidOut{}, false
	}
	b, ok := constant(inverse)
	if !ok {
		return laidOut{}, false
	}
	return product(a, b)
}

// layOutStep is ceil(x/quantum)·quantum for a constant quantum.
func layOutStep(n *node) (laidOut, bool) {
	quantum, ok := constantOf(n.operands[1])
	if !ok {
		return laidOut{}, false
	}
	q := &node{op: opNumber, value: quantum}
	steps := &node{op: opCeil, operands: []*node{{op: opDivide, operands: []*node{n.operands[0], q}}}}
	return layOut(&node{op: opMultiply, operands: []*node{steps, q}})
}

func constantOf(n *node) (money.Exact, bool) {
	if n.op == opFigure && n.let != nil {
		return constantOf(n.let)
	}
	constant := true
	n.walk(func(m *node) { constant = constant && m.op != opFigure && m.op != opTRES })
	if !constant {
		return money.Exact{}, false
	}
	x, err := n.eval(&Values{})
	return x, err == nil
}

// rounded divides out the denominator, by a mode, but for the digits kept.
func rounded(a laidOut, digits int, mode money.Mode) (laidOut, bool) {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(digits, -digits))), nil)
	if power.Cmp(mostDenominator) > 0 {
		return laidOut{}, false
	}
	up, down := power, big.NewInt(1)
	if digits < 0 {
		up, down = down, power
	}
	divisor := new(big.Int).Mul(big.NewInt(a.denominator), down)
	if divisor.Cmp(mostDenominator) > 0 {
		return laidOut{}, false
	}
	scaled := new(big.Int).Mul(a.size, up)
	if scaled.Cmp(mostWide) > 0 {
		return laidOut{}, false
	}
	size := new(big.Int).Quo(scaled, divisor)
	size.Add(size, big.NewInt(1)).Mul(size, down)
	s := &step{
		op: opRound, operands: []*step{a.step}, scales: []int64{up.Int64(), down.Int64()},
		denominator: divisor.Int64(), mode: mode,
	}
	s.wide = scaled.Cmp(mostNarrow) > 0
	l, ok := finished(s, up.Int64(), size)
	return l, ok
}

// alike brings operands to a common denominator and puts the operation on
// their numerators.
func alike(o op, operands []laidOut, condition *step) (laidOut, bool) {
	common := big.NewInt(1)
	for _, l := range operands {
		d := big.NewInt(l.denominator)
		common.Mul(common, new(big.Int).Quo(d, new(big.Int).GCD(nil, nil, common, d)))
	}
	if common.Cmp(mostDenominator) > 0 {
		return laidOut{}, false
	}
	s := &step{op: o}
	if condition != nil {
		s.operands, s.scales = append(s.operands, condition), append(s.scales, 1)
	}
	size, largest := big.NewInt(0), big.NewInt(0)
	for _, l := range operands {
		scale := common.Int64() / l.denominator
		s.operands, s.scales = append(s.operands, l.step), append(s.scales, scale)
		scaled := new(big.Int).Mul(l.size, big.NewInt(scale))
		if scaled.Cmp(largest) > 0 {
			largest = scaled
		}
		size.Add(size, scaled)
	}
	denominator := common.Int64()
	switch {
	case o.truth():
		s.wide = largest.Cmp(mostNarrow) > 0
		return finished(s, 1, largest)
	case o != opAdd && o != opSubtract:
		size = largest
	}
	return finished(s, denominator, size)
}

// finished notes whether a step needs 128 bits, which it does where one of
// its operands does.
func finished(s *step, denominator int64, size *big.Int) (laidOut, bool) {
	s.wide = s.wide || size.Cmp(mostNarrow) > 0
	for _, o := range s.operands {
		s.wide = s.wide || o.wide
	}
	return laidOut{s, denominator, size}, size.Cmp(mostWide) <= 0
}
