package invoice

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// OverheadRule adds a percentage to what is left of a bill after reductions
// and adjustments.
type OverheadRule struct {
	Name        string
	Classes     []string // of the groups that it is added to; none is all
	Percent     money.Exact
	From, Until rates.Date // half-open; the last day of the period decides
	Line        int        // of the site's configuration
}

// TaxRule taxes a bill, overhead included where Of has it.
type TaxRule struct {
	Name        string
	Classes     []string // of the groups that are taxed; none is all
	Of          []Kind   // what is taxed: Usage, Storage, Manual, Overhead; reductions go with what they reduce, corrections with use
	Percent     money.Exact
	Mode        TaxMode
	Note        string     // printed under the total
	From, Until rates.Date // half-open; the last day of the period decides
	Line        int
}

// Taxable are the kinds of line that a tax may be on.
func Taxable() []Kind { return []Kind{Usage, Storage, Manual, Overhead} }

// TaxMode says where the tax is.
type TaxMode uint8

// The modes of TaxMode.
const (
	TaxExclusive     TaxMode = iota // added to the bill
	TaxInclusive                    // contained in the prices, and shown
	TaxReverseCharge                // owed by the recipient, and said
)

var taxModes = [...]string{"exclusive", "inclusive", "reverse_charge"}

// String is the mode as the configuration writes it.
func (m TaxMode) String() string { return taxModes[m] }

// ParseTaxMode reads a mode as the configuration writes it.
func ParseTaxMode(text string) (TaxMode, error) {
	i := slices.Index(taxModes[:], text)
	if i < 0 {
		return 0, fmt.Errorf("%q is not one of %s", text, strings.Join(taxModes[:], ", "))
	}
	return TaxMode(i), nil
}

// TaxSum is one tax of an invoice, computed once on everything that it is of
// and rounded once.
type TaxSum struct {
	Name    string
	Percent money.Exact
	Mode    TaxMode
	Of      []Kind
	Base    money.Amount // what is taxed, without this tax
	Amount  money.Amount // 0 of a reverse charge
	Note    string
}

// holds reports whether a rule is for a class of group on a day.
func holds(classes []string, from, until rates.Date, class string, day rates.Date) bool {
	return (len(classes) == 0 || slices.Contains(classes, class)) &&
		(from.IsZero() || !day.Before(from)) && (until.IsZero() || day.Before(until))
}

// addOverhead puts the overhead of the group's class on its invoice. Every
// rule is of the same sum: what the lines before come to.
func (c *Composer) addOverhead(inv *Invoice, words *words) error {
	base, err := inv.sumOfKinds([]Kind{Usage, Storage, Manual})
	if err != nil || base == 0 {
		return err
	}
	for _, r := range c.settings.Overhead {
		if !holds(r.Classes, r.From, r.Until, inv.Group.Class, c.lastDay()) {
			continue
		}
		if _, err := inv.addPercentage(Overhead, CodeOverhead, r.Name, r.Percent, base, words); err != nil {
			return err
		}
	}
	return nil
}

// addTaxes computes the taxes of the group's class: those on top are lines of
// the invoice, and all are in its block of totals.
func (c *Composer) addTaxes(inv *Invoice, words *words) error {
	for _, r := range c.settings.Tax {
		if !holds(r.Classes, r.From, r.Until, inv.Group.Class, c.lastDay()) {
			continue
		}
		sum, err := inv.tax(TaxSum{Name: r.Name, Percent: r.Percent, Mode: r.Mode, Of: r.Of, Note: r.Note})
		if err != nil {
			return err
		}
		if sum.Base == 0 && sum.Amount == 0 {
			continue
		}
		inv.Taxes = append(inv.Taxes, sum)
		if r.Mode == TaxExclusive {
			if _, err := inv.addPercentage(Tax, CodeTax, r.Name, r.Percent, sum.Base, words); err != nil {
				return err
			}
		}
	}
	return nil
}

// lastDay is the last day of the period.
func (c *Composer) lastDay() rates.Date {
	return rates.DateOf(c.period.End.Add(-1), c.period.Start.Location())
}

// addPercentage adds a line of a percentage of an amount.
func (inv *Invoice) addPercentage(kind Kind, code, name string, percent money.Exact, base money.Amount, words *words) (money.Amount, error) {
	price := percent.Mul(money.Ratio(1, 100))
	l := Line{
		Position: len(inv.Lines) + 1, Kind: kind, Code: code, Unit: inv.Currency.Code,
		Quantity: inv.Currency.Exact(base), Price: price, Exact: inv.Currency.Exact(base).Mul(price),
		Description: fmt.Sprintf(words.percentage, name, words.inFull(percent), words.number(inv.Currency.Plain(base)), inv.Currency.Code),
	}
	var err error
	l.Amount, err = inv.Currency.Amount(l.Exact, inv.Rounding)
	inv.Lines = append(inv.Lines, l)
	return l.Amount, err
}

// tax computes a tax on the lines of the invoice.
func (inv *Invoice) tax(t TaxSum) (TaxSum, error) {
	gross, err := inv.sumOfKinds(t.Of)
	if err != nil {
		return t, err
	}
	t.Base = gross
	switch t.Mode {
	case TaxExclusive:
		t.Amount, err = inv.Currency.Amount(inv.Currency.Exact(gross).Mul(t.Percent).Mul(money.Ratio(1, 100)), inv.Rounding)
	case TaxInclusive:
		share, _ := t.Percent.Quo(t.Percent.Add(money.Int(100)))
		t.Amount, err = inv.Currency.Amount(inv.Currency.Exact(gross).Mul(share), inv.Rounding)
		t.Base -= t.Amount
	}
	return t, err
}

// sumOfKinds is what the lines of the kinds come to as printed, with what
// reduces them. A correction of an issued month counts as use.
func (inv *Invoice) sumOfKinds(kinds []Kind) (money.Amount, error) {
	var sum money.Amount
	for i := range inv.Lines {
		kind := inv.Lines[i].Kind
		if of := inv.Lines[i].Of; of > 0 && of <= len(inv.Lines) {
			kind = inv.Lines[of-1].Kind
		}
		if kind == Prior {
			kind = Usage
		}
		if slices.Contains(kinds, kind) {
			var err error
			if sum, err = addAmounts(sum, inv.Lines[i].Amount); err != nil {
				return 0, err
			}
		}
	}
	return sum, nil
}

// Net is the total without the taxes in it.
func (inv *Invoice) Net() money.Amount {
	net := inv.Total
	for _, t := range inv.Taxes {
		net -= t.Amount
	}
	return net
}

// checkTaxes reports whether overhead and taxes are what the lines make of
// them.
func (inv *Invoice) checkTaxes(bug func(string, ...any)) {
	base, err := inv.sumOfKinds([]Kind{Usage, Storage, Manual})
	var added []TaxSum
	for _, t := range inv.Taxes {
		again, taxErr := inv.tax(t)
		if err = firstError(err, taxErr); again.Base != t.Base || again.Amount != t.Amount {
			bug("%s of %s %% is %d on %d, not %d on %d", t.Name, t.Percent, again.Amount, again.Base, t.Amount, t.Base)
		}
		if t.Mode == TaxExclusive {
			added = append(added, t)
		}
	}
	if err != nil {
		bug("%v", err)
	}
	for i := range inv.Lines {
		l := &inv.Lines[i]
		switch {
		case l.Kind == Overhead && !l.Quantity.Equal(inv.Currency.Exact(base)):
			bug("line %d is overhead of %s, but the lines before come to %d", l.Position, l.Quantity, base)
		case l.Kind != Tax:
		case len(added) == 0 || added[0].Amount != l.Amount || !inv.Currency.Exact(added[0].Base).Equal(l.Quantity):
			bug("line %d is a tax that the totals do not have", l.Position)
		default:
			added = added[1:]
		}
	}
	if len(added) > 0 {
		bug("%s is in the totals and no line", added[0].Name)
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *TaxSum) content(w *canonicalWriter) {
	w.text("tax.name", t.Name)
	w.text("tax.percent", t.Percent.String())
	w.text("tax.mode", t.Mode.String())
	w.int("tax.of", int64(len(t.Of)))
	for _, k := range t.Of {
		w.text("tax.kind", string(k))
	}
	w.int("tax.base", int64(t.Base))
	w.int("tax.amount", int64(t.Amount))
	w.text("tax.note", t.Note)
}

type taxJSON struct {
	Name    string    `json:"name"`
	Percent exactText `json:"percent"`
	Mode    string    `json:"mode"`
	Of      []Kind    `json:"of"`
	Base    string    `json:"base"`
	Amount  string    `json:"amount"`
	Note    string    `json:"note,omitempty"`
}

func (t *TaxSum) toJSON(c money.Currency) taxJSON {
	return taxJSON{t.Name, exactText{t.Percent}, t.Mode.String(), t.Of, c.Plain(t.Base), c.Plain(t.Amount), t.Note}
}

func (j *taxJSON) sum(c money.Currency) (TaxSum, error) {
	t := TaxSum{Name: j.Name, Percent: j.Percent.Exact, Of: j.Of, Note: j.Note}
	var errs [3]error
	t.Mode, errs[0] = ParseTaxMode(j.Mode)
	t.Base, errs[1] = parseAmount(j.Base, c)
	t.Amount, errs[2] = parseAmount(j.Amount, c)
	return t, firstError(errs[:]...)
}
