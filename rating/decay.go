package rating

import (
	"math/big"
	"math/bits"

	"hpcbill/rates/money"
)

// Decay halves what was used with every half-life. Its factors are for showing
// how a scheduler sees past use; nothing is charged by them. They are exact
// where they can be, and else rounded to 18 decimals from 320 bits, so that
// they are the same on every machine.
type Decay struct {
	halfLife     int64
	exact, slurm powers
}

// decayBits is the precision of factors before they are rounded: raising to a
// power of 2^40 seconds loses 40 of them, 18 decimals need 60.
const decayBits = 320

// decayUnit is 18 decimals.
const decayUnit = 1e18

// NewDecay makes a Decay with a half-life in seconds, which is above 0.
func NewDecay(halfLifeSeconds int64) *Decay {
	// Slurm's factor of a second is 1 − 0.693/H, ln 2 being 0.6931….
	slurm := big.NewRat(1000*halfLifeSeconds-693, 1000*halfLifeSeconds)
	return &Decay{
		halfLife: halfLifeSeconds,
		exact:    powersOf(halved(big.NewRat(1, halfLifeSeconds))),
		slurm:    powersOf(newFloat().SetRat(slurm)),
	}
}

// Exact is what is left of 1 after so many seconds: 2^(−age/H). After a whole
// number of half-lives it is exact.
func (d *Decay) Exact(ageSeconds int64) money.Exact {
	if whole := ageSeconds / d.halfLife; d.isExact(ageSeconds) {
		return money.FromRat(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(whole))))
	}
	return rounded(d.exact.of(ageSeconds))
}

// isExact reports whether a factor needs no rounding.
func (d *Decay) isExact(ageSeconds int64) bool {
	return ageSeconds%d.halfLife == 0 && ageSeconds/d.halfLife < 1<<10
}

// Slurm is what slurmctld leaves of 1: (1 − 0.693/H)^age, its factor for every
// second. After a half-life of a week that is 0.50007.
func (d *Decay) Slurm(ageSeconds int64) money.Exact {
	return money.Ratio(d.slurmUnits(ageSeconds), decayUnit)
}

func (d *Decay) slurmUnits(ageSeconds int64) int64 { return unitsOf(d.slurm.of(ageSeconds)) }

// FairshareFactor is Slurm's classic factor 2^(−U/S) of a part U of all use
// and a share S of the machine, 0 without a share. It is rounded to 18
// decimals.
func FairshareFactor(used, share money.Exact) money.Exact {
	x, ok := used.Quo(share)
	if !ok || share.Sign() < 0 || used.Sign() < 0 {
		return money.Exact{}
	}
	return rounded(halved(x.Rat()))
}

// powers raises a base to any power. It keeps what it computed: the low bits
// of an exponent and the others are looked up apart.
type powers struct {
	squares   []*big.Float // base^(2^i)
	low, high map[int64]*big.Float
	product   *big.Float
}

// lowBits parts exponents so that both halves of 2^25 seconds, a year, have as
// many values.
const lowBits = 12

func powersOf(base *big.Float) powers {
	p := powers{squares: []*big.Float{base}, low: map[int64]*big.Float{}, high: map[int64]*big.Float{}, product: newFloat()}
	for i := range 62 {
		p.squares = append(p.squares, newFloat().Mul(p.squares[i], p.squares[i]))
	}
	return p
}

// of is base^n; the next call overwrites it.
func (p *powers) of(n int64) *big.Float {
	low := n & (1<<lowBits - 1)
	return p.product.Mul(p.kept(p.low, low), p.kept(p.high, n-low))
}

func (p *powers) kept(in map[int64]*big.Float, n int64) *big.Float {
	if x := in[n]; x != nil {
		return x
	}
	if len(in) == maxKept {
		clear(in)
	}
	x := newFloat().SetInt64(1)
	for left := uint64(n); left != 0; left &= left - 1 {
		x.Mul(x, p.squares[bits.TrailingZeros64(left)])
	}
	in[n] = x
	return x
}

// halved is 2^(−x) for x ≥ 0. The fraction of x is taken bit by bit: 2^(−1/2)
// is the root of a half, 2^(−1/4) the root of that.
func halved(x *big.Rat) *big.Float {
	whole := new(big.Int).Quo(x.Num(), x.Denom())
	if !whole.IsInt64() || whole.Int64() > 1<<20 {
		return newFloat()
	}
	rest := new(big.Rat).Sub(x, new(big.Rat).SetInt(whole))
	result, root := newFloat().SetInt64(1), newFloat().SetFloat64(0.5)
	for range decayBits {
		root = newFloat().Sqrt(root)
		rest.Add(rest, rest)
		if rest.Cmp(big.NewRat(1, 1)) >= 0 {
			rest.Sub(rest, big.NewRat(1, 1))
			result.Mul(result, root)
		}
		if rest.Sign() == 0 {
			break
		}
	}
	return result.SetMantExp(result, -int(whole.Int64()))
}

func newFloat() *big.Float { return new(big.Float).SetPrec(decayBits) }

// rounded is a number from 0 to 1 to 18 decimals.
func rounded(x *big.Float) money.Exact { return money.Ratio(unitsOf(x), decayUnit) }

// unitsOf rounds a number from 0 to 1 to decayUnit, half up.
func unitsOf(x *big.Float) int64 {
	scaled := newFloat().Mul(x, newFloat().SetInt64(2*decayUnit))
	n, _ := scaled.Int64()
	return (n + 1) / 2
}

// decayedSum adds quantities, each times a factor in units of decayUnit. What
// has one denominator is added as integers: there are few denominators, and
// reducing every product to lowest terms would take most of the time.
type decayedSum struct {
	numerators map[int64]*big.Int // by denominator
	rest       money.Sum
	product    big.Int
}

func (s *decayedSum) add(quantity money.Exact, units int64) {
	numerator, denominator, small := quantity.Fraction()
	if !small {
		s.rest.Add(quantity.Mul(money.Ratio(units, decayUnit)))
		return
	}
	sum := s.numerators[denominator]
	if sum == nil {
		if s.numerators == nil {
			s.numerators = map[int64]*big.Int{}
		}
		sum = new(big.Int)
		s.numerators[denominator] = sum
	}
	s.product.SetInt64(numerator)
	sum.Add(sum, s.product.Mul(&s.product, big.NewInt(units)))
}

func (s *decayedSum) exact() money.Exact {
	sum := s.rest.Exact()
	for denominator, numerator := range s.numerators {
		one := new(big.Rat).SetFrac(numerator, new(big.Int).Mul(big.NewInt(denominator), big.NewInt(decayUnit)))
		sum = sum.Add(money.FromRat(one))
	}
	return sum
}
