package formula

import (
	"errors"
	"fmt"

	"hpcbill/rates/money"
)

// ErrUnknownFigure is wrapped by the error of a formula that needs a figure
// which is not known for this job. The job cannot be priced: it is held.
var ErrUnknownFigure = errors.New("figure not known")

// ErrDivisionByZero is wrapped by the error of a formula that divides by 0.
var ErrDivisionByZero = errors.New("division by zero")

// UnknownFigureError says which figure a formula lacked.
type UnknownFigureError struct {
	Name  string // as the formula has it
	Cause error  // why, where another formula should have given it; else nil
}

// Error names the figure.
func (e *UnknownFigureError) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s is not known: %v", e.Name, e.Cause)
	}
	return fmt.Sprintf("%s is not recorded", e.Name)
}

// Is makes errors.Is(err, ErrUnknownFigure) true.
func (e *UnknownFigureError) Is(target error) bool { return target == ErrUnknownFigure }

// Unwrap gives the cause.
func (e *UnknownFigureError) Unwrap() error { return e.Cause }

// Values are the figures of one job or holding, by slot. Every figure starts
// as unknown. A Values is reused from job to job with Reset, and belongs to
// one goroutine.
type Values struct {
	// TRES gives the allocated count of a TRES by its name ("gres/gpu:a100",
	// "license/matlab"), 0 for one that the job certainly does not have, and
	// false where it cannot be told: AllocTRES was not recorded, or the
	// record counts GPUs without saying their type. nil knows nothing.
	TRES func(name string) (count int64, known bool)

	state  [MaxSlots]state
	ints   [MaxSlots]int64
	exacts [MaxSlots]money.Exact
	causes map[Slot]error
}

type state uint8

const (
	unknown state = iota
	isInt
	isExact
)

// Reset makes every figure unknown again. TRES stays.
func (v *Values) Reset() {
	v.state = [MaxSlots]state{}
	clear(v.causes)
}

// SetInt sets a figure to a whole number of the slot's unit. A negative
// number is how records say "unknown" or "no limit": it makes the figure
// unknown.
func (v *Values) SetInt(slot Slot, n int64) {
	if n < 0 {
		v.state[slot] = unknown
		return
	}
	v.state[slot], v.ints[slot] = isInt, n
}

// Set sets a figure to any number of the slot's unit.
func (v *Values) Set(slot Slot, x money.Exact) {
	if n, whole := x.Int64(); whole && n >= 0 {
		v.state[slot], v.ints[slot] = isInt, n
		return
	}
	v.state[slot], v.exacts[slot] = isExact, x
}

// SetUnknown makes a figure unknown and keeps why.
func (v *Values) SetUnknown(slot Slot, cause error) {
	v.state[slot] = unknown
	if v.causes == nil {
		v.causes = map[Slot]error{}
	}
	v.causes[slot] = cause
}

// Get gives a figure in the slot's unit.
func (v *Values) Get(slot Slot) (x money.Exact, known bool) {
	switch v.state[slot] {
	case isInt:
		return money.Int(v.ints[slot]), true
	case isExact:
		return v.exacts[slot], true
	}
	return money.Exact{}, false
}
