package formula

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/rates/money"
)

// op is what a node of the tree does with its operands.
type op uint8

const (
	opNumber op = iota
	opFigure
	opTRES
	opAdd
	opSubtract
	opMultiply
	opDivide
	opNegate
	opMax
	opMin
	opCeil
	opFloor
	opTrunc
	opRound
	opStep
	opChoose
	opFirst
	// The rest give a truth value.
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opEqual
	opNotEqual
	opAnd
	opOr
	opNot
)

// truth reports whether a node with the operator is a condition.
func (o op) truth() bool { return o >= opLess }

// node is one operation of a formula.
type node struct {
	op       op
	operands []*node

	value money.Exact // of opNumber

	name  string // of opFigure and opTRES, as written; of a quotient its divisor
	slot  Slot
	scale money.Exact // of opFigure: what one unit of the slot is worth
	let   *node       // of opFigure: the card's own formula for it, else nil
	tres  string      // of opTRES: "gres/gpu:a100"

	figure Figure     // of opFigure and opTRES: dimension and bounds
	digits int        // of opTrunc and opRound
	mode   money.Mode // of opRound

	from, to int // where it stands, in bytes of the formula's text
}

// walk visits n and everything below it, left to right.
func (n *node) walk(visit func(*node)) {
	visit(n)
	for _, o := range n.operands {
		o.walk(visit)
	}
}

// anyBelow reports whether is holds for n or anything below it, also inside the
// card's own figures.
func (n *node) anyBelow(is func(*node) bool) bool {
	found := false
	n.walk(func(n *node) { found = found || is(n) || n.let != nil && n.let.anyBelow(is) })
	return found
}

// needs reports whether n is not to be had without the figure of a slot.
func (n *node) needs(slot Slot) bool {
	switch n.op {
	case opFigure:
		return n.let == nil && n.slot == slot || n.let != nil && n.let.needs(slot)
	case opChoose:
		return n.operands[0].needs(slot) || n.operands[1].needs(slot) && n.operands[2].needs(slot)
	case opFirst, opAnd, opOr:
		return n.operands[0].needs(slot)
	}
	return slices.ContainsFunc(n.operands, func(o *node) bool { return o.needs(slot) })
}

func (n *node) anyFigure() bool {
	found := false
	n.walk(func(n *node) { found = found || n.op == opFigure || n.op == opTRES })
	return found
}

// key is the same for two nodes exactly when they are the same expression.
func (n *node) key() string {
	switch n.op {
	case opNumber:
		return n.value.String()
	case opFigure, opTRES:
		return n.name
	}
	parts := make([]string, len(n.operands))
	for i, o := range n.operands {
		parts[i] = o.key()
	}
	return fmt.Sprintf("%d[%d %d](%s)", n.op, n.digits, n.mode, strings.Join(parts, ","))
}
