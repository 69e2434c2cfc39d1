package invoice

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// Adjustment is a charge or a credit that a person decided on: a row of
// adjustments.csv. It never touches what was used.
type Adjustment struct {
	// ID names the row. It is the row's own, or made of what the row says, so
	// that an edited row is another one.
	ID          string
	Group       string
	Period      string // "2026-03": the first month that it is billed in
	Description string
	Quantity    money.Exact // negative on a credit; 1 or −1 where the row gives an amount
	Unit        string      // "" where the row gives an amount
	Price       money.Exact // ≥ 0
	Code        string      // why, in a word
	Reason      string
	Author      string
	EveryMonths int    // 0 = once
	Until       string // "2026-07": the first month that it is no longer billed in; "" = no end
	Reverses    string // the reference of what it takes back, or ""
	Line        int    // of the file
}

// The codes of adjustments that name none of their own.
const (
	CodeCharge   = "charge"
	CodeCredit   = "credit"
	CodeReversal = "reversal"
)

// In reports whether the adjustment is billed in a month.
func (a *Adjustment) In(period string) bool {
	if a.EveryMonths == 0 {
		return period == a.Period
	}
	months := monthNumber(period) - monthNumber(a.Period)
	return months >= 0 && months%a.EveryMonths == 0 && (a.Until == "" || period < a.Until)
}

// monthNumber counts the months of "2026-03" since year 0.
func monthNumber(period string) int {
	year, month, _ := strings.Cut(period, "-")
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	return y*12 + m - 1
}

// Reference names the adjustment as it is billed in a month: what is billed
// more than once has the month behind its ID.
func (a *Adjustment) Reference(period string) string {
	if a.EveryMonths == 0 {
		return a.ID
	}
	return a.ID + "@" + period
}

// Exact is what the adjustment comes to, before rounding.
func (a *Adjustment) Exact() money.Exact { return a.Quantity.Mul(a.Price) }

// Adjust takes the adjustments of the period; those of others are passed over.
// Every group must be of the roster.
func (c *Composer) Adjust(all []Adjustment) error {
	for i := range all {
		a := &all[i]
		if !a.In(c.period.String()) {
			continue
		}
		g := c.groups[a.Group]
		if g == nil {
			return fmt.Errorf("BUG: an adjustment of group %q, which the roster does not have", a.Group)
		}
		g.manual = append(g.manual, a)
	}
	return nil
}

// manualLines puts the group's adjustments on its invoice, in the order of
// their file.
func (c *Composer) manualLines(g *groupSums, inv *Invoice) error {
	rows := slices.Clone(g.manual)
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Line < rows[j].Line })
	for _, a := range rows {
		l := Line{
			Position: len(inv.Lines) + 1, Kind: Manual, Description: a.Description,
			Quantity: a.Quantity, Unit: a.Unit, Price: a.Price, Exact: a.Exact(),
			Code: a.Code, Reason: a.Reason, Reference: a.Reference(inv.Period), Author: a.Author,
		}
		var err error
		if l.Amount, err = c.settings.Currency.Amount(l.Exact, c.settings.Rounding); err == nil && a.Reverses != "" {
			err = c.takeBack(&l)
		}
		if err != nil {
			return fmt.Errorf("adjustment %s: %w", a.ID, err)
		}
		inv.Lines = append(inv.Lines, l)
	}
	return nil
}

// takeBack makes the line of a reversal the opposite of what was billed. Where
// the two are not rounded to opposite amounts, as by floor and ceil, it is once
// that amount.
func (c *Composer) takeBack(l *Line) error {
	billed, err := c.settings.Currency.Amount(l.Exact.Neg(), c.settings.Rounding)
	if err != nil || l.Amount == -billed {
		return err
	}
	l.Quantity, l.Unit, l.Price, l.Amount = money.Int(1), "", c.settings.Currency.Exact(-billed), -billed
	if l.Amount < 0 {
		l.Quantity, l.Price = money.Int(-1), l.Price.Neg()
	}
	l.Exact = l.Quantity.Mul(l.Price)
	return nil
}

// MissedAdjustments gives the adjustments that belong on the invoices of an
// issued period and are not there: they were written afterwards.
func MissedAdjustments(all []Adjustment, period string, issued []Invoice) []Adjustment {
	billed := map[string]bool{}
	for i := range issued {
		for _, l := range issued[i].Lines {
			if l.Kind == Manual {
				billed[issued[i].Group.ID+"\x00"+l.Reference] = true
			}
		}
	}
	var missed []Adjustment
	for i := range all {
		if a := &all[i]; a.In(period) && !billed[a.Group+"\x00"+a.Reference(period)] {
			missed = append(missed, *a)
		}
	}
	return missed
}

// monthOf is the month in which a day lies.
func monthOf(d rates.Date) string { return d.String()[:len("2026-03")] }
