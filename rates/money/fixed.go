package money

import (
	"math/big"
	"math/bits"
)

// Fraction gives x as num/den in lowest terms, den positive. ok is false, and
// Rat has to be asked, where one of them does not fit 63 bits.
func (x Exact) Fraction() (num, den int64, ok bool) {
	if num, den, ok = x.small(); ok {
		num, den = lowest(num, den)
	}
	return num, den, ok
}

// largest power of ten in a word.
const maxWordPlaces = 18

// Fixed gives x·10^places, rounded by mode, as a number of 128 bits in two's
// complement. ok is false where it has more than digits digits (38 at most),
// the precision of the decimal column that it is for.
func (x Exact) Fixed(places, digits int, mode Mode) (hi int64, lo uint64, ok bool) {
	if num, den, small := x.small(); small && mode == HalfEven && places >= 0 && places <= maxWordPlaces {
		h, l := scaledHalfEven(uint64(abs(num)), uint64(den), places)
		if !below(h, l, digits) {
			return 0, 0, false
		}
		if num < 0 {
			low, borrow := bits.Sub64(0, l, 0)
			high, _ := bits.Sub64(0, h, borrow)
			return int64(high), low, true
		}
		return int64(h), l, true
	}
	n := x.scaled(places, mode)
	if n.CmpAbs(pow10(digits)) >= 0 {
		return 0, 0, false
	}
	low := new(big.Int).And(n, new(big.Int).SetUint64(1<<64-1))
	return new(big.Int).Rsh(n, 64).Int64(), low.Uint64(), true
}

// scaledHalfEven is scaled for half-even and words: num·10^places/den, which
// has less than 127 bits.
func scaledHalfEven(num, den uint64, places int) (hi, lo uint64) {
	power := uint64(1)
	for range places {
		power *= 10
	}
	hi, lo = bits.Mul64(num, power)
	q1, r := uint64(0), hi
	if hi >= den {
		q1, r = hi/den, hi%den
	}
	q0, r := bits.Div64(r, lo, den)
	if r > den-r || r == den-r && q0&1 == 1 {
		var carry uint64
		q0, carry = bits.Add64(q0, 1, 0)
		q1 += carry
	}
	return q1, q0
}

// below reports whether a number of 128 bits has at most digits digits.
func below(hi, lo uint64, digits int) bool {
	if hi>>31 == 0 && digits >= 30 {
		return true // below 2^95, which is below 10^29
	}
	v := new(big.Int).SetUint64(hi)
	v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(lo))
	return v.Cmp(pow10(digits)) < 0
}
