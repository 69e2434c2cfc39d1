package formula

import (
	"strings"

	"hpcbill/rates/money"
)

// Trace is one evaluation as a person can check it by hand.
type Trace struct {
	Formula     string // "max(cpus*0.8, mem_gib*0.102)"
	WithNumbers string // "max(4*0.8, 16*0.102)"
	Value       money.Exact
	// Decides is the operand that gave the value of the formula's max or min
	// ("cpus*0.8"), or several that are equal, joined by " and "; "" where it
	// has none, or more than one side by side.
	Decides string
}

// Trace evaluates the formula and tells how. A figure that is not known and
// was not needed keeps its name among the numbers.
func (f *Formula) Trace(v *Values) (Trace, error) {
	value, err := f.Eval(v)
	if err != nil {
		return Trace{}, err
	}
	t := Trace{Formula: strings.TrimSpace(f.Text), Value: value, Decides: f.decides(v)}
	var b strings.Builder
	at := 0
	f.root.walk(func(n *node) {
		if n.op != opFigure && n.op != opTRES {
			return
		}
		x, err := n.eval(v)
		if err != nil {
			return
		}
		b.WriteString(f.Text[at:n.from])
		b.WriteString(put(x))
		at = n.to
	})
	b.WriteString(f.Text[at:])
	t.WithNumbers = strings.TrimSpace(b.String())
	return t, nil
}

// put writes a number so that it can stand anywhere in a formula.
func put(x money.Exact) string {
	text := x.String()
	if strings.ContainsAny(text, "-/") {
		return "(" + text + ")"
	}
	return text
}

// decides finds the max or min that is not part of another one, wherever there
// is just one of them, and names what gave its value: several where they are
// equal.
func (f *Formula) decides(v *Values) string {
	n := onlyChoice(f.root, v)
	if n == nil {
		return ""
	}
	value, err := n.eval(v)
	if err != nil {
		return ""
	}
	var deciding []string
	for _, o := range n.operands {
		if x, err := o.eval(v); err == nil && x.Equal(value) {
			deciding = append(deciding, f.Text[o.from:o.to])
		}
	}
	return strings.Join(deciding, " and ")
}

// onlyChoice gives the one max or min under n, of a choose in what it takes;
// nil where there is none or several side by side.
func onlyChoice(n *node, v *Values) *node {
	switch {
	case n.op == opMax || n.op == opMin:
		return n
	case n.op == opChoose:
		holds, err := n.operands[0].holds(v)
		if err != nil {
			return nil
		}
		if holds {
			return onlyChoice(n.operands[1], v)
		}
		return onlyChoice(n.operands[2], v)
	}
	var found *node
	for _, o := range n.operands {
		if c := onlyChoice(o, v); c != nil {
			if found != nil {
				return nil
			}
			found = c
		}
	}
	return found
}
