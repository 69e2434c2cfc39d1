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
	// Decides is the operand that gave the value where the formula is a max
	// or a min ("cpus*0.8"), else "".
	Decides string
}

// Trace evaluates the formula and tells how. A figure that is not known and
// was not needed keeps its name among the numbers.
func (f *Formula) Trace(v *Values) (Trace, error) {
	value, err := f.Eval(v)
	if err != nil {
		return Trace{}, err
	}
	t := Trace{Formula: strings.TrimSpace(f.Text), Value: value, Decides: f.decides(v, value)}
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

func (f *Formula) decides(v *Values, value money.Exact) string {
	if f.root.op != opMax && f.root.op != opMin {
		return ""
	}
	for _, o := range f.root.operands {
		if x, err := o.eval(v); err == nil && x.Equal(value) {
			return f.Text[o.from:o.to]
		}
	}
	return ""
}
