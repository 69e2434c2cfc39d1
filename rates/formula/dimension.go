package formula

import (
	"fmt"
	"slices"
	"strings"
)

// Dimension is what kind of quantity an expression is.
//
// A number written in the card converts: what it multiplies or divides may be
// compared with anything, which is how "max(cpus*0.8, mem_gib*0.102)" weighs
// cores against memory. Hours are remembered all the same, since a rate must
// not have them and a duration must be them.
type Dimension struct {
	kind      kind
	exponents [bases]int8
}

type kind uint8

const (
	measured     kind = iota // the exponents say what it is
	number                   // written in the card: goes with anything
	converted                // a coefficient made the exponents, but for hours, its own affair
	undetermined             // not known: goes with anything
)

// The bases of a dimension. Counts are cores, CPUs and GPUs; nodes and other
// plain figures have none.
const (
	baseHours = iota
	baseCount
	baseGiB
	baseMiB
	baseGB
	baseTB
	baseTiB
	bases
)

var baseNames = [bases]string{"hours", "cores or GPUs", "GiB", "MiB", "GB", "TB", "TiB"}

func of(base int) Dimension {
	var d Dimension
	d.exponents[base] = 1
	return d
}

var (
	plain    = Dimension{}
	literal  = Dimension{kind: number}
	anything = Dimension{kind: undetermined}
	hours    = of(baseHours)
	count    = of(baseCount)
	inGiB    = of(baseGiB)
	inMiB    = of(baseMiB)
	inGB     = of(baseGB)
	inTB     = of(baseTB)
	inTiB    = of(baseTiB)
	perCore  = inGiB.times(count, -1)
)

// IsHours reports whether d can be a span of time: hours, or a number.
func (d Dimension) IsHours() bool {
	switch d.kind {
	case number, undetermined:
		return true
	case converted:
		return d.exponents[baseHours] == 1
	}
	return d == hours
}

// Is reports whether d is one of a measure by its name, such as "TiB", with no
// other beside it.
func (d Dimension) Is(measure string) bool {
	base := slices.Index(baseNames[:], measure)
	return base >= 0 && d == of(base)
}

// HasHours reports whether time is part of d.
func (d Dimension) HasHours() bool { return d.kind != undetermined && d.exponents[baseHours] != 0 }

// String describes d for a message: "GiB", "GiB × hours", "a number".
func (d Dimension) String() string {
	var over, under []string
	for base, e := range d.exponents {
		for range e {
			over = append(over, baseNames[base])
		}
		for range -e {
			under = append(under, baseNames[base])
		}
	}
	s := strings.Join(over, " × ")
	if len(under) > 0 {
		s = strings.TrimSpace(s + " per " + strings.Join(under, " per "))
	}
	switch {
	case d.kind == converted && s == "":
		return "a weighted figure"
	case d.kind == converted:
		return "a weighted figure × " + s
	case s == "":
		return "a number"
	}
	return s
}

// times is the dimension of a product (sign 1) or a quotient (sign −1).
func (d Dimension) times(e Dimension, sign int8) Dimension {
	if d.kind == undetermined || e.kind == undetermined {
		return anything
	}
	if d.kind == number && e.kind == number {
		return literal
	}
	var product Dimension
	if d.kind != measured || e.kind != measured {
		product.kind = converted
	}
	for i := range product.exponents {
		if i == baseHours || product.kind == measured {
			product.exponents[i] = d.exponents[i] + sign*e.exponents[i]
		}
	}
	return product
}

// with is the dimension of a sum, or of whichever of two is chosen. ok is
// false where the two are not the same kind of quantity.
func (d Dimension) with(e Dimension) (both Dimension, ok bool) {
	switch {
	case d.kind == undetermined || e.kind == undetermined:
		return anything, true
	case d.kind == number:
		return e, true
	case e.kind == number:
		return d, true
	case d.kind == converted || e.kind == converted:
		both.kind = converted
		both.exponents[baseHours] = max(d.exponents[baseHours], e.exponents[baseHours])
		return both, true
	case d.exponents[baseHours] != e.exponents[baseHours]:
		return Dimension{}, false
	case d.isBare():
		return e, true
	case e.isBare():
		return d, true
	}
	return d, d == e
}

// isBare reports whether nothing but hours is measured.
func (d Dimension) isBare() bool {
	for base, e := range d.exponents {
		if base != baseHours && e != 0 {
			return false
		}
	}
	return true
}

// dimensions works out what every part of the tree is, and reports what is
// put together and does not belong together.
func (p *parser) dimensions(n *node) Dimension {
	operands := make([]Dimension, len(n.operands))
	for i, o := range n.operands {
		operands[i] = p.dimensions(o)
	}
	switch n.op {
	case opNumber:
		return literal
	case opFigure, opTRES:
		return n.figure.Dimension
	case opMultiply:
		return operands[0].times(operands[1], 1)
	case opDivide:
		return operands[0].times(operands[1], -1)
	case opNegate, opCeil, opFloor, opTrunc, opRound:
		return operands[0]
	case opNot, opAnd, opOr:
		return literal
	case opChoose:
		return p.together(n, operands[1:], n.operands[1:])
	}
	both := p.together(n, operands, n.operands)
	if n.op.truth() {
		return literal
	}
	return both
}

func (p *parser) together(n *node, dimensions []Dimension, operands []*node) Dimension {
	both := dimensions[0]
	for i, d := range dimensions[1:] {
		sum, ok := both.with(d)
		if !ok {
			p.unlike(n, operands[0], both, operands[i+1], d)
			return anything
		}
		both = sum
	}
	return both
}

func (p *parser) unlike(n, left *node, l Dimension, right *node, r Dimension) {
	hint := fmt.Sprintf("multiply one by what it is worth of the other, as in %s*0.25 (or *1)", p.source(right))
	if l.Is("TB") && r.Is("TiB") || l.Is("TiB") && r.Is("TB") {
		hint = "use the figures in TB or those in TiB alone: each is there in both, converted exactly"
	}
	if l.exponents[baseHours] != r.exponents[baseHours] {
		hint = "hours go only with hours: multiply both sides by the time, or neither"
	}
	p.fault(right.from, fmt.Sprintf("%s (%s) and %s (%s) are not the same kind of figure",
		p.source(left), l, p.source(right), r), hint)
}
