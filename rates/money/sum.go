package money

import (
	"math/big"
	"math/bits"
)

// mostCommon bounds the common denominator of a Sum, so that one odd number
// does not make it useless for all that follow.
const mostCommon = 1 << 56

// Sum adds many exact numbers faster than Exact.Add: their numerators are
// added in 128 bits over a common denominator, which grows only when a number
// does not fit it. It is exact however many numbers it takes, of any size. The
// zero value is the sum of nothing.
type Sum struct {
	hi   int64 // of the numerator, two's complement
	lo   uint64
	den  int64 // 0 in the zero value
	rest Exact // what did not fit

	// The denominator that was added last, mostly also that of the next, and
	// how often it goes into den; 0 where nothing is known.
	last, times int64
}

// Add adds x.
func (s *Sum) Add(x Exact) {
	num, den, ok := x.small()
	if !ok || den != s.last && !s.adapt(den) {
		s.rest = s.rest.Add(x)
		return
	}
	if num == 0 {
		return
	}
	if factor := s.times; factor != 1 {
		hi, lo := bits.Mul64(uint64(abs(num)), uint64(factor)) // both below 2^63, so hi is below 2^62
		s.add(int64(hi), lo, num < 0)
		return
	}
	s.add(0, uint64(abs(num)), num < 0)
}

// AddSum adds what t holds.
func (s *Sum) AddSum(t Sum) { s.Add(t.Exact()) }

// adapt makes the common denominator a multiple of den; false means that it
// would be too large.
func (s *Sum) adapt(den int64) bool {
	if den > mostCommon {
		return false
	}
	if s.den == 0 {
		s.den, s.last, s.times = den, den, 1
		return true
	}
	if times := s.den / den; times*den == s.den {
		s.last, s.times = den, times
		return true
	}
	factor := den / gcd(s.den, den)
	common, ok := mul(s.den, factor)
	if !ok || common > mostCommon {
		return false
	}
	s.scale(factor)
	s.den, s.last, s.times = common, den, common/den
	return true
}

// scale multiplies the numerator by a positive factor.
func (s *Sum) scale(factor int64) {
	negative := s.hi < 0
	hi, lo := s.magnitude()
	high, low := bits.Mul64(lo, uint64(factor))
	over, top := bits.Mul64(hi, uint64(factor))
	sum, carry := bits.Add64(top, high, 0)
	if over != 0 || carry != 0 || sum > maxInt64 {
		s.flush()
		return
	}
	s.hi, s.lo = 0, 0
	s.add(int64(sum), low, negative)
}

// add adds or subtracts a magnitude below 2^127.
func (s *Sum) add(hi int64, lo uint64, negative bool) {
	for range 2 {
		var low, carry, high uint64
		if negative {
			low, carry = bits.Sub64(s.lo, lo, 0)
			high, _ = bits.Sub64(uint64(s.hi), uint64(hi), carry)
		} else {
			low, carry = bits.Add64(s.lo, lo, 0)
			high, _ = bits.Add64(uint64(s.hi), uint64(hi), carry)
		}
		// An overflow shows as a result that lies on the wrong side of the
		// old numerator. After a flush that is 0, so the second round fits.
		if before := s.hi; negative && int64(high) <= before || !negative && int64(high) >= before {
			s.hi, s.lo = int64(high), low
			return
		}
		s.flush()
	}
}

// flush moves what the numerator holds into the rest.
func (s *Sum) flush() {
	s.rest = s.rest.Add(s.held())
	s.hi, s.lo = 0, 0
}

// magnitude gives the numerator without its sign.
func (s *Sum) magnitude() (hi, lo uint64) {
	if s.hi >= 0 {
		return uint64(s.hi), s.lo
	}
	low, borrow := bits.Sub64(0, s.lo, 0)
	high, _ := bits.Sub64(0, uint64(s.hi), borrow)
	return high, low
}

// held gives the numerator over the denominator.
func (s *Sum) held() Exact {
	if s.den == 0 {
		return Exact{}
	}
	hi, lo := s.magnitude()
	n := new(big.Int).SetUint64(hi)
	n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(lo))
	if s.hi < 0 {
		n.Neg(n)
	}
	return fromBig(new(big.Rat).SetFrac(n, big.NewInt(s.den)))
}

// Exact gives the sum.
func (s *Sum) Exact() Exact { return s.rest.Add(s.held()) }
