package money

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// MaxDigits is how many digits a decimal in a card or a CSV file may have
// before and after its point together, and how large its exponent may be:
// more is refused, never rounded.
const MaxDigits = 40

// ErrDecimal is wrapped by every error of ParseDecimal.
var ErrDecimal = errors.New("not a decimal number")

// ParseDecimal reads a plain or scientific decimal ("0.0000087890625", "9e-7",
// "-12.50") exactly. Signs other than a leading '-', separators, blanks,
// "NaN", hexadecimal and a missing digit before or after the point are
// refused.
func ParseDecimal(text string) (Exact, error) {
	mantissa, exponent, err := splitDecimal(text)
	if err != nil {
		return Exact{}, err
	}
	r, ok := new(big.Rat).SetString(mantissa)
	if !ok {
		return Exact{}, fmt.Errorf("%w: %q", ErrDecimal, text)
	}
	scale := new(big.Rat).SetInt(pow10(max(exponent, -exponent)))
	if exponent < 0 {
		return fromBig(r.Quo(r, scale)), nil
	}
	return fromBig(r.Mul(r, scale)), nil
}

// splitDecimal checks the grammar  -?D+(.D+)?([eE][+-]?D{1,2})?  and gives the
// mantissa's text and the exponent.
func splitDecimal(text string) (mantissa string, exponent int, err error) {
	bad := fmt.Errorf("%w: %q", ErrDecimal, text)
	s := strings.TrimPrefix(text, "-")
	mantissa = text
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e := s[i+1:]
		mantissa = text[:len(text)-len(s)+i]
		s = s[:i]
		negative := strings.HasPrefix(e, "-")
		e = strings.TrimPrefix(strings.TrimPrefix(e, "-"), "+")
		if len(e) == 0 || len(e) > 2 || !digits(e) {
			return "", 0, bad
		}
		for _, c := range e {
			exponent = exponent*10 + int(c-'0')
		}
		if exponent > MaxDigits {
			return "", 0, fmt.Errorf("%w: %q has an exponent beyond %d", ErrDecimal, text, MaxDigits)
		}
		if negative {
			exponent = -exponent
		}
	}
	whole, fraction, point := strings.Cut(s, ".")
	if !digits(whole) || point && !digits(fraction) {
		return "", 0, bad
	}
	if len(whole)+len(fraction) > MaxDigits {
		return "", 0, fmt.Errorf("%w: %q has more than %d digits", ErrDecimal, text, MaxDigits)
	}
	return mantissa, exponent, nil
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) > 0
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// Decimal prints x with exactly places digits after the point, rounded by
// mode: "6.400000". Zero never prints a sign.
func (x Exact) Decimal(places int, mode Mode) string {
	n := x.scaled(places, mode)
	s := new(big.Int).Abs(n).String()
	if places > 0 {
		if len(s) <= places {
			s = strings.Repeat("0", places-len(s)+1) + s
		}
		s = s[:len(s)-places] + "." + s[len(s)-places:]
	}
	if n.Sign() < 0 {
		s = "-" + s
	}
	return s
}

// String prints x in full: as a decimal where it has a finite one ("13.056"),
// otherwise as a fraction in lowest terms ("80047/1800").
func (x Exact) String() string {
	r := x.Rat()
	if places, ok := finite(r.Denom()); ok {
		return x.Decimal(places, HalfEven)
	}
	return r.RatString()
}

// MarshalText gives String's text, so that JSON has the exact number and no
// float.
func (x Exact) MarshalText() ([]byte, error) { return []byte(x.String()), nil }

// finite reports whether a fraction with denominator den, in lowest terms, has
// a finite decimal expansion, and how many places it needs.
func finite(den *big.Int) (places int, ok bool) {
	d, m := new(big.Int).Set(den), new(big.Int)
	count := func(p int64) int {
		n, q := 0, new(big.Int)
		for {
			q.QuoRem(d, big.NewInt(p), m)
			if m.Sign() != 0 {
				return n
			}
			d.Set(q)
			n++
		}
	}
	twos, fives := count(2), count(5)
	return max(twos, fives), d.IsInt64() && d.Int64() == 1
}
