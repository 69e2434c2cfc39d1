package formula

import "hpcbill/rates/money"

// isClock reports whether a node is a figure of Scope.Clock: of the card's own,
// the ones without a formula.
func (n *node) isClock() bool {
	return n.op == opFigure && n.let == nil && n.slot >= LetSlot(0)
}

// shares are what an expression counts of the hours run, and of those in each
// clock, by slot: of elapsed_h - night/2 they are 1 and -1/2.
type shares map[Slot]money.Exact

// sharesOf gives the shares of an expression that has nothing else in it.
func sharesOf(n *node) (shares, bool) {
	switch n.op {
	case opFigure:
		return shares{n.slot: money.Int(1)}, n.isClock() || n.let == nil && n.slot == ElapsedSeconds
	case opNegate:
		return scaledShares(n.operands[0], money.Int(-1))
	case opMultiply:
		if x, ok := constantOf(n.operands[1]); ok {
			return scaledShares(n.operands[0], x)
		}
		x, ok := constantOf(n.operands[0])
		if !ok {
			return nil, false
		}
		return scaledShares(n.operands[1], x)
	case opDivide:
		x, ok := constantOf(n.operands[1])
		if !ok || x.Sign() == 0 {
			return nil, false
		}
		inverse, _ := money.Int(1).Quo(x)
		return scaledShares(n.operands[0], inverse)
	case opAdd, opSubtract:
		sum, ok := sharesOf(n.operands[0])
		sign := money.Int(1)
		if n.op == opSubtract {
			sign = money.Int(-1)
		}
		others, okay := scaledShares(n.operands[1], sign)
		if !ok || !okay {
			return nil, false
		}
		for slot, x := range others {
			sum[slot] = sum[slot].Add(x)
		}
		return sum, true
	}
	return nil, false
}

func scaledShares(n *node, by money.Exact) (shares, bool) {
	s, ok := sharesOf(n)
	for slot, x := range s {
		s[slot] = x.Mul(by)
	}
	return s, ok
}

// neverNegative reports whether a sum of hours run and hours of clocks cannot be
// below 0: no clock has more hours than were run.
func neverNegative(n *node) bool {
	s, ok := sharesOf(n)
	if !ok {
		return false
	}
	least := s[ElapsedSeconds]
	for slot, x := range s {
		if slot != ElapsedSeconds && x.Sign() < 0 {
			least = least.Add(x)
		}
	}
	return least.Sign() >= 0
}
