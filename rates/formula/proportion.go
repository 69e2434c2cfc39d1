package formula

import "slices"

// PartTimes lists the times of a job of which those of its parts sum to the
// whole, where it is cut.
func PartTimes() []Slot { return []Slot{ElapsedSeconds, SuspendedSeconds, CalendarDays} }

// growth is what becomes of an expression where a job is cut: none of these,
// one or, of 0, two.
type growth uint8

const (
	unchanged growth = 1 << iota // each part has the whole job's value
	summing                      // the values of the parts sum to the whole job's
	repeating                    // a term of it is unchanged, and another summing
)

// SumsOverParts reports whether the values that the formula has for the parts
// of a job sum to the one that it has for the whole job, whatever the cuts.
// earlier says the same of what an earlier stage gives, by its slot.
func (f *Formula) SumsOverParts(earlier func(Slot) bool) bool {
	return f.root.growth(earlier)&summing != 0
}

// RepeatsInParts reports whether each part of a job would have something that
// the whole job has once.
func (f *Formula) RepeatsInParts(earlier func(Slot) bool) bool {
	g := f.root.growth(earlier)
	return g&summing == 0 && g != 0
}

func (n *node) growth(earlier func(Slot) bool) growth {
	switch n.op {
	case opNumber:
		if n.value.Sign() == 0 {
			return unchanged | summing
		}
		return unchanged
	case opTRES:
		return unchanged
	case opFigure:
		switch {
		case n.let != nil:
			return n.let.growth(earlier)
		case slices.Contains(PartTimes(), n.slot) || n.isClock() || earlier(n.slot):
			return summing
		}
		return unchanged
	}
	of := make([]growth, len(n.operands))
	all := unchanged | summing
	for i, o := range n.operands {
		of[i] = o.growth(earlier)
		all &= of[i]
	}
	sums, repeats := false, false
	switch n.op {
	case opAdd, opSubtract, opNegate:
		sums = all&summing != 0
		repeats = !sums && all&unchanged == 0 && of[0] != 0 && of[len(of)-1] != 0
	case opMultiply:
		sums = of[0]&summing != 0 && of[1]&unchanged != 0 || of[1]&summing != 0 && of[0]&unchanged != 0
		repeats = of[0]&repeating != 0 && of[1]&unchanged != 0 || of[1]&repeating != 0 && of[0]&unchanged != 0
	case opDivide:
		sums = of[0]&summing != 0 && of[1]&unchanged != 0
		repeats = of[0]&repeating != 0 && of[1]&unchanged != 0
	case opChoose:
		sums = of[0]&unchanged != 0 && of[1]&of[2]&summing != 0
	}
	g := all & unchanged
	if sums {
		g |= summing
	}
	if repeats {
		g |= repeating
	}
	return g
}
