package money

import (
	"fmt"
	"sort"
	"strings"
)

// Amount is money in whole minor units (cents) of one currency, which the
// holder of the amount names.
type Amount int64

// Currency is an ISO 4217 code with its number of minor digits.
type Currency struct {
	Code   string // three capital letters
	Digits int    // 0 for JPY, 2 for most, 3 for KWD
}

// Currencies whose minor unit is not a hundredth (ISO 4217).
var minorDigits = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0,
	"UGX": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
}

// ParseCurrency reads an ISO 4217 code.
func ParseCurrency(code string) (Currency, error) {
	if len(code) != 3 || strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return Currency{}, fmt.Errorf("%q is not an ISO 4217 currency code such as USD", code)
	}
	digits, odd := minorDigits[code]
	if !odd {
		digits = 2
	}
	return Currency{Code: code, Digits: digits}, nil
}

// Amount rounds x, in major units, to the currency's minor unit. An amount
// beyond ±(2^63 − 1) minor units is an error.
func (c Currency) Amount(x Exact, mode Mode) (Amount, error) {
	n := x.scaled(c.Digits, mode)
	if !n.IsInt64() || n.Int64() < -maxInt64 {
		return 0, fmt.Errorf("%s %s is too large for an invoice", x.Decimal(c.Digits, mode), c.Code)
	}
	return Amount(n.Int64()), nil
}

// Exact gives a in major units.
func (c Currency) Exact(a Amount) Exact {
	d := int64(1)
	for range c.Digits {
		d *= 10
	}
	return Ratio(int64(a), d)
}

// Plain prints a for a machine: "-1234.50".
func (c Currency) Plain(a Amount) string { return c.Exact(a).Decimal(c.Digits, HalfEven) }

// Format prints a for a person: "-1,234.50".
func (c Currency) Format(a Amount) string { return Group(c.Plain(a)) }

// Group puts a comma between the thousands of a plain decimal.
func Group(plain string) string {
	sign := ""
	if strings.HasPrefix(plain, "-") {
		sign, plain = "-", plain[1:]
	}
	whole, fraction, point := strings.Cut(plain, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if point {
		b.WriteString("." + fraction)
	}
	return b.String()
}

// Split divides total in proportion to weights, each share a whole minor unit
// and all of them summing to total: the largest remainders get the units that
// truncation left over, ties by position. Negative totals mirror positive
// ones. Weights must not be negative and not all be 0.
func Split(total Amount, weights []Exact) ([]Amount, error) {
	if total < -maxInt64 {
		return nil, fmt.Errorf("an amount of %d minor units cannot be split", total)
	}
	sum := Exact{}
	for _, w := range weights {
		if w.Sign() < 0 {
			return nil, fmt.Errorf("a share of %s is negative", w)
		}
		sum = sum.Add(w)
	}
	if sum.Sign() == 0 {
		return nil, fmt.Errorf("the shares are all 0")
	}
	magnitude, sign := total, Amount(1)
	if total < 0 {
		magnitude, sign = -total, -1
	}
	shares, left := make([]Amount, len(weights)), magnitude
	remainders, order := make([]Exact, len(weights)), make([]int, len(weights))
	for i, w := range weights {
		part, _ := Int(int64(magnitude)).Mul(w).Quo(sum)
		whole, _ := part.Round(0, Floor).Int64()
		shares[i], remainders[i], order[i] = Amount(whole), part.Sub(Int(whole)), i
		left -= Amount(whole)
	}
	sort.SliceStable(order, func(a, b int) bool {
		return remainders[order[a]].Cmp(remainders[order[b]]) > 0
	})
	for _, i := range order[:left] {
		shares[i]++
	}
	for i := range shares {
		shares[i] *= sign
	}
	return shares, nil
}
