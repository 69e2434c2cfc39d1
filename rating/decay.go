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
	whole, rest := ageSeconds/d.halfLife, ageSeconds%d.halfLife
	if rest == 0 && whole < 1<<10 {
		return money.FromRat(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(whole))))
	}
	return rounded(d.exact.of(ageSeconds))
}

// Slurm is what slurmctld leaves of 1: (1 − 0.693/H)^age, its factor for every
// second. After a half-life of a week that is 0.50007.
func (d *Decay) Slurm(ageSeconds int64) money.Exact {
	if ageSeconds == 0 {
		return money.Int(1)
	}
	return rounded(d.slurm.of(ageSeconds))
}

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

// powers are base^(2^i).
type powers []*big.Float

func powersOf(base *big.Float) powers {
	p := powers{base}
	for range 62 {
		last := p[len(p)-1]
		p = append(p, newFloat().Mul(last, last))
	}
	return p
}

// of is base^n.
func (p powers) of(n int64) *big.Float {
	x := newFloat().SetInt64(1)
	for left := uint64(n); left != 0; left &= left - 1 {
		x.Mul(x, p[bits.TrailingZeros64(left)])
	}
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

// rounded is a number from 0 to 1 to 18 decimals, half up.
func rounded(x *big.Float) money.Exact {
	scaled := newFloat().Mul(x, newFloat().SetInt64(decayUnit))
	n, _ := scaled.Add(scaled, newFloat().SetFloat64(0.5)).Int64()
	return money.Ratio(n, decayUnit)
}
