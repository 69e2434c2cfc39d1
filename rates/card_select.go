package rates

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// VersionAt gives the version that holds on a day, nil where none does.
func (c *Card) VersionAt(day Date) *Version {
	for i := len(c.Versions) - 1; i >= 0; i-- {
		if v := c.Versions[i]; day.within(v.From, v.Until) {
			return v
		}
	}
	return nil
}

// HardwareFor gives the first hardware entry that matches, nil where none
// does. The facts need no NodeType: the caller sets it from the answer, and
// the figures with Fill.
func (v *Version) HardwareFor(f *Facts) (*Hardware, error) {
	for _, h := range v.Hardware {
		if matches, err := h.Match.Matches(f); matches || err != nil {
			return h, err
		}
	}
	return nil, nil
}

// EvaluateLets sets the card's own figures, in their order. A figure that
// cannot be worked out for this job becomes unknown, with its cause, and is an
// error only for a formula that needs it.
func (v *Version) EvaluateLets(values *formula.Values) {
	for _, let := range v.Lets {
		x, err := let.Formula.Eval(values)
		if err != nil {
			values.SetUnknown(let.Slot, err)
			continue
		}
		if let.Clock != nil { // all hours, for want of a time: the slot is in seconds
			x = x.Mul(money.Int(3600))
		}
		values.Set(let.Slot, x)
	}
}

// Select gives the first rule that matches, nil where none does: the job is
// held. The error is an UnknownFactError where that hangs on something that
// is not known of the job.
func (v *Version) Select(f *Facts) (*Rule, error) {
	for _, r := range v.Rules {
		matches, err := r.Match.Matches(f)
		if err != nil {
			return nil, err
		}
		if matches {
			return r, nil
		}
	}
	return nil, nil
}

// SelectStorage gives the first storage rule that matches, nil where none
// does.
func (v *Version) SelectStorage(f *Facts) (*StorageRule, error) {
	for _, r := range v.Storage {
		matches, err := r.Match.Matches(f)
		if err != nil {
			return nil, err
		}
		if matches {
			return r, nil
		}
	}
	return nil, nil
}

// StatesOf gives the states that hold for a rule: its own, or the version's.
func (v *Version) StatesOf(r *Rule) *States {
	if r.States != nil {
		return r.States
	}
	return v.States
}

// ErrNotListed is wrapped by the error of a lookup that finds no row: the job
// is held.
var ErrNotListed = errors.New("not listed")

// NotListedError says what a table has no row for.
type NotListedError struct {
	What  string // "price of su", "factor"
	Field string // the field of the table, "" where rows match for themselves
	Value string // what the job has there
}

// Error names the field and the job's value.
func (e *NotListedError) Error() string {
	if e.Field == "" {
		return "no " + e.What + " is listed for this job"
	}
	return "no " + e.What + " is listed for " + e.Field + "=" + e.Value
}

// Is makes errors.Is(err, ErrNotListed) true.
func (e *NotListedError) Is(target error) bool { return target == ErrNotListed }

// PriceFor gives the price for a job or holding and the label of the row that gave
// it, "" where there is one price for all. The error wraps ErrNotListed or
// formula.ErrUnknownFigure.
func (m *Meter) PriceFor(f *Facts) (price money.Exact, label string, err error) {
	if len(m.Price.Table) == 0 {
		return m.Price.One, "", nil
	}
	e, err := lookUp(m.Price.Table, f, "price of "+m.Name)
	if err != nil {
		return money.Exact{}, "", err
	}
	if e == nil {
		return money.Exact{}, "", &NotListedError{"price of " + m.Name, m.Price.By, f.valueOf(m.Price.By)}
	}
	return e.Price, e.Value, nil
}

// Value gives the factor for a job and the row that gave it, "" where no row
// did. The error wraps ErrNotListed or formula.ErrUnknownFigure.
func (x *Factor) Value(f *Facts) (factor money.Exact, row string, err error) {
	e, err := lookUp(x.Table, f, "factor")
	switch {
	case err != nil:
		return money.Exact{}, "", err
	case e != nil:
		return e.Price, e.Value, nil
	case x.ElseHold:
		return money.Exact{}, "", &NotListedError{"factor", x.Field, f.valueOf(x.Field)}
	}
	return x.Else, "", nil
}

// TwoRowsError says that the GPUs of a job are of several types, to which the
// table gives different numbers: none of them is that of the job.
type TwoRowsError struct {
	What  string // as in NotListedError
	Types []string
}

// Error names the types.
func (e *TwoRowsError) Error() string {
	return fmt.Sprintf("the %s differs for gpu_type=%s", e.What, strings.Join(e.Types, " and "))
}

// Is makes errors.Is(err, ErrNotListed) true: there is no one number.
func (e *TwoRowsError) Is(target error) bool { return target == ErrNotListed }

// lookUp gives the first row that matches, nil where none does.
func lookUp(table []PriceEntry, f *Facts, what string) (*PriceEntry, error) {
	if len(f.GPUTypes) < 2 || !slices.ContainsFunc(table, func(e PriceEntry) bool { return e.Match.Asks().GPUTypes }) {
		return firstRow(table, f)
	}
	one := *f
	var found *PriceEntry
	for i := range f.GPUTypes {
		one.GPUTypes = f.GPUTypes[i : i+1]
		e, err := firstRow(table, &one)
		if err != nil {
			return nil, err
		}
		if i > 0 && e != found && (e == nil || found == nil || !e.Price.Equal(found.Price)) {
			return nil, &TwoRowsError{what, f.GPUTypes}
		}
		found = e
	}
	return found, nil
}

func firstRow(table []PriceEntry, f *Facts) (*PriceEntry, error) {
	for i := range table {
		matches, err := table[i].Match.Matches(f)
		if err != nil {
			return nil, err
		}
		if matches {
			return &table[i], nil
		}
	}
	return nil, nil
}

// valueOf is what the facts have in a field, for a message.
func (f *Facts) valueOf(name string) string {
	field, ok := findField(matchFields(), name)
	switch {
	case !ok:
		return ""
	case field.kind == textKind:
		return f.Text[field.text]
	case field.kind == gpuTypeKind:
		return strings.Join(f.GPUTypes, " and ")
	case field.kind == numberKind:
		x, _ := f.Values.Get(field.slot)
		q, _ := x.Quo(money.Int(field.per))
		return q.String()
	}
	return "?"
}
