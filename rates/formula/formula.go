// Package formula reads and evaluates the formulas of rate cards in exact
// rationals.
//
// A formula is arithmetic over named figures of a job or a holding, such as
//
//	max(cpus*0.8, mem_gib*0.102)
//
// written with + - * /, parentheses, comparisons, && || ! and the functions
// max, min, ceil, floor, trunc, round, step, choose, first, gpu and tres.
// Numbers are exact decimals. Go's own expression parser reads the text; this
// package walks its tree, allows only what is above, and checks names, units
// and divisors, so that what parses can be relied on.
//
// The package owns the language. It does not know jobs: their figures come in
// a Values.
package formula

import "hpcbill/rates/money"

// MaxTextBytes is the longest formula that is read.
const MaxTextBytes = 1000

// Formula is one formula of a card, parsed and checked. It never changes and
// may be used from several goroutines.
type Formula struct {
	Text string // as the card has it, line breaks as blanks

	root      *node
	dimension Dimension
	bounds    Bounds
	program   *program // nil where the formula needs fractions
}

// Dimension tells what kind of quantity the formula gives.
func (f *Formula) Dimension() Dimension { return f.dimension }

// Bounds tells between which values the formula's value lies for any job
// within the bounds of its figures.
func (f *Formula) Bounds() Bounds { return f.bounds }

// CanBeNegative reports whether the bounds of the figures leave room for a
// value below 0.
func (f *Formula) CanBeNegative() bool { return f.bounds.belowZero() }

// Constant gives the value of a formula that names no figure.
func (f *Formula) Constant() (x money.Exact, ok bool) {
	if f.root.anyFigure() {
		return money.Exact{}, false
	}
	x, err := f.Eval(&Values{})
	return x, err == nil
}

// IsNegative reports whether the value is below 0 whatever the job is.
func (f *Formula) IsNegative() bool {
	high, bounded := f.bounds.High()
	return bounded && high.Sign() < 0
}

// Uses reports whether the formula names the figure of a slot.
func (f *Formula) Uses(slot Slot) bool {
	found := false
	f.root.walk(func(n *node) { found = found || n.op == opFigure && n.slot == slot })
	return found
}

// DependsOn reports whether the figure of a slot is in the formula, named or in
// one of the card's own figures that it names.
func (f *Formula) DependsOn(slot Slot) bool {
	return f.root.anyBelow(func(n *node) bool {
		return n.op == opFigure && n.let == nil && (n.slot == slot || n.isClock() && slot == ElapsedSeconds)
	})
}

// Needs reports whether the formula has no value without the figure of a slot,
// whatever the other figures are.
func (f *Formula) Needs(slot Slot) bool { return f.root.needs(slot) }

// DependsOnEnergy is DependsOn for the TRES energy.
func (f *Formula) DependsOnEnergy() bool {
	return f.root.anyBelow(func(n *node) bool { return n.op == opTRES && n.tres == Energy })
}

// UsesTRES reports whether the formula asks for a TRES by name.
func (f *Formula) UsesTRES() bool {
	found := false
	f.root.walk(func(n *node) { found = found || n.op == opTRES })
	return found
}

// Figures lists the names that the formula uses, in the order in which they
// first stand in it.
func (f *Formula) Figures() []string {
	var names []string
	seen := map[string]bool{}
	f.root.walk(func(n *node) {
		if (n.op == opFigure || n.op == opTRES) && !seen[n.name] {
			seen[n.name] = true
			names = append(names, n.name)
		}
	})
	return names
}
