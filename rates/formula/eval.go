package formula

import (
	"fmt"

	"hpcbill/rates/money"
)

// Eval gives the formula's value. The error wraps ErrUnknownFigure where a
// figure that the formula needs is not known, and ErrDivisionByZero where a
// divisor is 0; the branch of choose that is not taken needs nothing. A card's
// own figures (Scope.Let) may be worked out from the figures that they are
// made of, so their slots must hold what their formulas give for v.
func (f *Formula) Eval(v *Values) (money.Exact, error) {
	if f.program != nil {
		if x, ok := f.program.run(v); ok {
			return x, nil
		}
	}
	return f.root.eval(v)
}

func (n *node) eval(v *Values) (money.Exact, error) {
	switch n.op {
	case opNumber:
		return n.value, nil
	case opFigure:
		x, known := v.Get(n.slot)
		if !known {
			return money.Exact{}, &UnknownFigureError{n.name, v.causes[n.slot]}
		}
		return x.Mul(n.scale), nil
	case opTRES:
		return n.evalTRES(v)
	case opChoose:
		yes, err := n.operands[0].holds(v)
		if err != nil {
			return money.Exact{}, err
		}
		if yes {
			return n.operands[1].eval(v)
		}
		return n.operands[2].eval(v)
	case opFirst:
		return n.evalFirst(v)
	case opMax, opMin:
		return n.evalExtreme(v)
	}
	return n.evalArithmetic(v)
}

func (n *node) evalTRES(v *Values) (money.Exact, error) {
	if v.TRES != nil {
		if count, known := v.TRES(n.tres); known {
			return money.Int(count), nil
		}
	}
	return money.Exact{}, &UnknownFigureError{Name: n.name}
}

func (n *node) evalFirst(v *Values) (x money.Exact, err error) {
	for _, o := range n.operands {
		if x, err = o.eval(v); err != nil || x.Sign() != 0 {
			return x, err
		}
	}
	return x, nil
}

func (n *node) evalExtreme(v *Values) (money.Exact, error) {
	best, err := n.operands[0].eval(v)
	if err != nil {
		return best, err
	}
	for _, o := range n.operands[1:] {
		x, err := o.eval(v)
		if err != nil {
			return x, err
		}
		if c := x.Cmp(best); c > 0 && n.op == opMax || c < 0 && n.op == opMin {
			best = x
		}
	}
	return best, nil
}

func (n *node) evalArithmetic(v *Values) (money.Exact, error) {
	x, err := n.operands[0].eval(v)
	if err != nil {
		return x, err
	}
	switch n.op {
	case opNegate:
		return x.Neg(), nil
	case opCeil:
		return x.Round(0, money.Ceil), nil
	case opFloor:
		return x.Round(0, money.Floor), nil
	case opTrunc, opRound:
		return x.Round(n.digits, n.mode), nil
	}
	y, err := n.operands[1].eval(v)
	if err != nil {
		return y, err
	}
	switch n.op {
	case opAdd:
		return x.Add(y), nil
	case opSubtract:
		return x.Sub(y), nil
	case opMultiply:
		return x.Mul(y), nil
	case opDivide, opStep:
		q, ok := x.Quo(y)
		if !ok {
			return q, fmt.Errorf("%w: %s is 0", ErrDivisionByZero, n.operands[1].name)
		}
		if n.op == opStep {
			return q.Round(0, money.Ceil).Mul(y), nil
		}
		return q, nil
	}
	panic(fmt.Sprintf("BUG: formula operator %d has no value", n.op))
}

// holds evaluates a condition.
func (n *node) holds(v *Values) (bool, error) {
	switch n.op {
	case opNot:
		yes, err := n.operands[0].holds(v)
		return !yes, err
	case opAnd, opOr:
		yes, err := n.operands[0].holds(v)
		if err != nil || yes == (n.op == opOr) {
			return yes, err
		}
		return n.operands[1].holds(v)
	}
	x, err := n.operands[0].eval(v)
	if err != nil {
		return false, err
	}
	y, err := n.operands[1].eval(v)
	if err != nil {
		return false, err
	}
	return compares(n.op, x.Cmp(y)), nil
}

func compares(o op, c int) bool {
	switch o {
	case opLess:
		return c < 0
	case opLessEqual:
		return c <= 0
	case opGreater:
		return c > 0
	case opGreaterEqual:
		return c >= 0
	case opEqual:
		return c == 0
	}
	return c != 0
}
