package invoice

import (
	"fmt"
	"math/big"
	"strings"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// longestExact bounds the text of an exact number that is read back.
const longestExact = 4096

// ParseExact reads what money.Exact.String prints: a decimal of any length,
// or numerator/denominator.
func ParseExact(text string) (money.Exact, error) {
	bad := fmt.Errorf("%q is not an exact number such as 13.056 or 80047/1800", text)
	numerator, denominator, fraction := strings.Cut(text, "/")
	whole, decimals, point := strings.Cut(strings.TrimPrefix(numerator, "-"), ".")
	switch {
	case len(text) > longestExact || !isDigits(whole),
		point && (fraction || !isDigits(decimals)),
		fraction && (!isDigits(denominator) || strings.Trim(denominator, "0") == ""):
		return money.Exact{}, bad
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return money.Exact{}, bad
	}
	return money.FromRat(r), nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// exactText carries an exact number through JSON as text.
type exactText struct{ money.Exact }

func (x exactText) MarshalText() ([]byte, error) { return []byte(x.String()), nil }

func (x *exactText) UnmarshalText(text []byte) (err error) {
	x.Exact, err = ParseExact(string(text))
	return err
}

// dateText carries a day through JSON as 2026-03-31, no day as "".
type dateText struct{ rates.Date }

func (d dateText) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *dateText) UnmarshalText(text []byte) (err error) {
	d.Date = rates.Date{}
	if len(text) > 0 {
		d.Date, err = rates.ParseDate(string(text))
	}
	return err
}

// modeText carries a rounding through JSON by its name.
type modeText struct{ money.Mode }

func (m modeText) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

func (m *modeText) UnmarshalText(text []byte) (err error) {
	m.Mode, err = money.ParseMode(string(text))
	return err
}

// textOrNone leaves out a number of nothing, as texts from before there were
// such numbers do.
func textOrNone(x money.Exact) *exactText {
	if x.Sign() == 0 {
		return nil
	}
	return &exactText{x}
}

func (t *exactText) orZero() money.Exact {
	if t == nil {
		return money.Exact{}
	}
	return t.Exact
}

// dateOrNone leaves out a day that there is not.
func dateOrNone(d rates.Date) *dateText {
	if d.IsZero() {
		return nil
	}
	return &dateText{d}
}

func (t *dateText) orZero() rates.Date {
	if t == nil {
		return rates.Date{}
	}
	return t.Date
}

// plainOrNone leaves out an amount of nothing, as texts from before there were
// such amounts do.
func plainOrNone(c money.Currency, a money.Amount) string {
	if a == 0 {
		return ""
	}
	return c.Plain(a)
}

func parseAmountOrNone(text string, c money.Currency) (money.Amount, error) {
	if text == "" {
		return 0, nil
	}
	return parseAmount(text, c)
}

// parseAmount reads money as Currency.Plain prints it.
func parseAmount(text string, c money.Currency) (money.Amount, error) {
	x, err := ParseExact(text)
	if err != nil {
		return 0, err
	}
	if !x.Round(c.Digits, money.Down).Equal(x) {
		return 0, fmt.Errorf("%q has more digits than %s", text, c.Code)
	}
	return c.Amount(x, money.Down)
}
