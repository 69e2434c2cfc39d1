// Package money holds exact numbers: quantities and prices as rationals,
// amounts as whole minor units of a currency, and the named roundings between
// them.
//
// No float enters or leaves this package, and nothing here rounds unless its
// name says so.
package money

import (
	"math/big"
	"math/bits"
)

// Exact is an exact rational number of any size. The zero value is 0. An
// Exact never changes after it is made and may be copied freely.
//
// Numbers whose numerator and denominator fit 63 bits, which nearly all do,
// are kept in two machine words; larger ones fall back to math/big, so no
// operation overflows.
type Exact struct {
	num, den int64    // den > 0, or 0 for the zero value (read as 1); num > −2^63; not always in lowest terms
	big      *big.Rat // set instead of num and den when they do not fit
}

// Int gives n.
func Int(n int64) Exact { return Ratio(n, 1) }

// Ratio gives num/den exactly. It panics when den is not positive: a
// denominator comes from our own code, never from input.
func Ratio(num, den int64) Exact {
	if den <= 0 {
		panic("BUG: money.Ratio needs a positive denominator")
	}
	if num < -maxInt64 {
		return fromBig(big.NewRat(num, den)) // no machine word holds its negative
	}
	return Exact{num: num, den: den}
}

// Ratio128 gives (hi·2^64 + lo)/den for a non-negative numerator, the form in
// which the compiled formulas produce their result.
func Ratio128(hi, lo uint64, den int64) Exact {
	if den <= 0 {
		panic("BUG: money.Ratio128 needs a positive denominator")
	}
	if hi == 0 && lo <= maxInt64 {
		return Exact{num: int64(lo), den: den}
	}
	n := new(big.Int).SetUint64(hi)
	n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(lo))
	return fromBig(new(big.Rat).SetFrac(n, big.NewInt(den)))
}

// FromRat gives the value of r, which is copied.
func FromRat(r *big.Rat) Exact { return fromBig(new(big.Rat).Set(r)) }

const maxInt64 = 1<<63 - 1

func fromBig(r *big.Rat) Exact {
	if r.Num().IsInt64() && r.Denom().IsInt64() && r.Num().Int64() != -maxInt64-1 {
		return Exact{num: r.Num().Int64(), den: r.Denom().Int64()}
	}
	return Exact{big: r}
}

// Rat gives x as a new big.Rat in lowest terms.
func (x Exact) Rat() *big.Rat {
	if x.big != nil {
		return new(big.Rat).Set(x.big)
	}
	if x.den == 0 {
		return new(big.Rat)
	}
	return big.NewRat(x.num, x.den)
}

// small reports whether x is kept in two words, and gives them.
func (x Exact) small() (num, den int64, ok bool) {
	if x.big != nil {
		return 0, 0, false
	}
	if x.den == 0 {
		return 0, 1, true
	}
	return x.num, x.den, true
}

// Add gives x + y.
func (x Exact) Add(y Exact) Exact {
	xn, xd, xok := x.small()
	yn, yd, yok := y.small()
	if xok && yok {
		if xd == yd {
			if n, ok := add(xn, yn); ok {
				return Exact{num: n, den: xd}
			}
		} else if a, ok := mul(xn, yd); ok {
			if b, ok := mul(yn, xd); ok {
				if n, ok := add(a, b); ok {
					if d, ok := mul(xd, yd); ok {
						return reduced(n, d)
					}
				}
			}
		}
	}
	return fromBig(x.Rat().Add(x.Rat(), y.Rat()))
}

// Neg gives −x.
func (x Exact) Neg() Exact {
	if n, d, ok := x.small(); ok {
		return Exact{num: -n, den: d}
	}
	return fromBig(x.Rat().Neg(x.big))
}

// Sub gives x − y.
func (x Exact) Sub(y Exact) Exact { return x.Add(y.Neg()) }

// Mul gives x · y.
func (x Exact) Mul(y Exact) Exact {
	xn, xd, xok := x.small()
	yn, yd, yok := y.small()
	if xok && yok {
		if n, ok := mul(xn, yn); ok {
			if d, ok := mul(xd, yd); ok {
				if d <= roomy && abs(n) <= roomy {
					return Exact{num: n, den: d}
				}
				return reduced(n, d)
			}
		}
		// Operands that still have common factors may be why it does not fit.
		xn, yd = lowest(xn, yd)
		yn, xd = lowest(yn, xd)
		if n, ok := mul(xn, yn); ok {
			if d, ok := mul(xd, yd); ok {
				return reduced(n, d)
			}
		}
	}
	return fromBig(x.Rat().Mul(x.Rat(), y.Rat()))
}

// roomy is how large a product may be without being brought to lowest terms:
// most are multiplied but once more, by a price.
const roomy = 1 << 46

// Quo gives x / y. ok is false, and the result 0, when y is 0.
func (x Exact) Quo(y Exact) (q Exact, ok bool) {
	if y.Sign() == 0 {
		return Exact{}, false
	}
	if n, d, small := y.small(); small {
		if n < 0 {
			n, d = -n, -d
		}
		return x.Mul(Exact{num: d, den: n}), true
	}
	return fromBig(x.Rat().Quo(x.Rat(), y.Rat())), true
}

// Sign is −1, 0 or +1.
func (x Exact) Sign() int {
	if x.big != nil {
		return x.big.Sign()
	}
	return int(sign(x.num))
}

// Cmp is −1, 0 or +1 as x is less than, equal to or greater than y.
func (x Exact) Cmp(y Exact) int {
	xn, xd, xok := x.small()
	yn, yd, yok := y.small()
	if xok && yok {
		if xd == yd {
			return int(sign(compare(xn, yn)))
		}
		if a, ok := mul(xn, yd); ok {
			if b, ok := mul(yn, xd); ok {
				return int(sign(compare(a, b)))
			}
		}
	}
	return x.Rat().Cmp(y.Rat())
}

// Equal reports whether x and y are the same number.
func (x Exact) Equal(y Exact) bool { return x.Cmp(y) == 0 }

// IsInt reports whether x is a whole number.
func (x Exact) IsInt() bool {
	if n, d, ok := x.small(); ok {
		return n%d == 0
	}
	return x.big.IsInt()
}

// Int64 gives x when it is a whole number that fits 64 bits.
func (x Exact) Int64() (n int64, ok bool) {
	if num, den, small := x.small(); small {
		if num%den != 0 {
			return 0, false
		}
		return num / den, true
	}
	if x.big.IsInt() && x.big.Num().IsInt64() {
		return x.big.Num().Int64(), true
	}
	return 0, false
}

// reduced keeps sums of unlike fractions from growing: the common factor is
// taken out at once.
func reduced(n, d int64) Exact {
	n, d = lowest(n, d)
	return Exact{num: n, den: d}
}

// lowest takes out the common factor of two numbers.
func lowest(n, d int64) (int64, int64) {
	if g := gcd(abs(n), d); g > 1 {
		return n / g, d / g
	}
	return n, d
}

// gcd gives the greatest common divisor of a ≥ 0 and b > 0, by halving and
// subtracting, which is faster than dividing: Stein, J. Comp. Phys. 1 (1967).
func gcd(a, b int64) int64 {
	if a %= b; a == 0 {
		return b
	}
	x, y := uint64(a), uint64(b)
	twos := bits.TrailingZeros64(x | y)
	x >>= bits.TrailingZeros64(x)
	for y != 0 {
		y >>= bits.TrailingZeros64(y)
		if x > y {
			x, y = y, x
		}
		y -= x
	}
	return int64(x << twos)
}

// add and mul report false on overflow; −2^63 counts as overflow, so that
// negation never does.
func add(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0) && s != -maxInt64-1
}

func mul(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(abs(a)), uint64(abs(b)))
	if hi != 0 || lo > maxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(lo), true
	}
	return int64(lo), true
}

func abs(a int64) int64 {
	if a < 0 {
		return -a
	}
	return a
}

func compare(a, b int64) int64 {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func sign(a int64) int64 { return compare(a, 0) }
