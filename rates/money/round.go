package money

import (
	"fmt"
	"math/big"
)

// Mode names a rounding. Every rounding in the program is one of these, said
// by a card, by the invoice settings or by the display of a number.
type Mode uint8

// The roundings. "Up" and "down" are away from and toward zero, as money
// means them; "ceil" and "floor" are toward +∞ and −∞.
const (
	HalfEven Mode = iota // to the nearest, a tie to the even digit (banker's)
	HalfUp               // to the nearest, a tie away from zero (commercial)
	HalfDown             // to the nearest, a tie toward zero
	Up                   // away from zero
	Down                 // toward zero (truncation)
	Ceil                 // toward +∞
	Floor                // toward −∞
)

var modeNames = [...]string{"half_even", "half_up", "half_down", "up", "down", "ceil", "floor"}

// String is the mode's name in a card or in hpcbill.yaml.
func (m Mode) String() string { return modeNames[m] }

// ParseMode reads a mode's name.
func ParseMode(name string) (Mode, error) {
	for m, n := range modeNames {
		if n == name {
			return Mode(m), nil
		}
	}
	return 0, fmt.Errorf("unknown rounding %q: one of %v", name, modeNames)
}

// Round gives x rounded to places digits after the point (negative places
// round to tens, hundreds …).
func (x Exact) Round(places int, mode Mode) Exact {
	n := new(big.Rat).SetInt(x.scaled(places, mode))
	if places >= 0 {
		return fromBig(n.Quo(n, new(big.Rat).SetInt(pow10(places))))
	}
	return fromBig(n.Mul(n, new(big.Rat).SetInt(pow10(-places))))
}

// scaled is the one place where a number is rounded: it gives x·10^places as
// a whole number.
func (x Exact) scaled(places int, mode Mode) *big.Int {
	r := x.Rat()
	num, den := r.Num(), r.Denom()
	if places >= 0 {
		num = new(big.Int).Mul(num, pow10(places))
	} else {
		den = new(big.Int).Mul(den, pow10(-places))
	}
	q, m := new(big.Int).QuoRem(num, den, new(big.Int)) // toward zero
	if m.Sign() == 0 {
		return q
	}
	if roundsAway(mode, num.Sign(), q, m, den) {
		q.Add(q, big.NewInt(int64(num.Sign())))
	}
	return q
}

// roundsAway decides whether a truncated quotient q with remainder m ≠ 0 of a
// number of the given sign moves one away from zero.
func roundsAway(mode Mode, sign int, q, m, den *big.Int) bool {
	switch mode {
	case Up:
		return true
	case Down:
		return false
	case Ceil:
		return sign > 0
	case Floor:
		return sign < 0
	}
	twice := new(big.Int).Lsh(new(big.Int).Abs(m), 1)
	switch twice.Cmp(den) {
	case 1:
		return true
	case -1:
		return false
	}
	switch mode {
	case HalfUp:
		return true
	case HalfDown:
		return false
	}
	return q.Bit(0) == 1
}
