package main

import (
	"context"

	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"
)

// month is what one period billed, or would bill now.
type month struct {
	period   rates.Period
	issued   bool
	invoices []invoice.Invoice
	ledger   []invoice.LedgerEntry // what carried over into it
}

// months gives every period from first to last: as it was issued or, where it
// is not, as it would be billed now. Each is computed once, though what one
// draws on a balance decides what the next finds there.
func (s *site) months(ctx context.Context, first, last rates.Period) ([]month, error) {
	ledger, err := s.history.Ledger(ctx, last.String())
	if err != nil {
		return nil, err
	}
	from := first
	if s.carriesOver() {
		from = s.config.FirstPeriod
	}
	var months []month
	for p := from; !p.Start.After(last.Start); p = p.Next() {
		m := month{period: p, ledger: ledger}
		state, err := s.history.Period(ctx, p.String())
		if err != nil {
			return nil, err
		}
		if m.issued = state.State == history.Issued; m.issued {
			m.invoices, err = s.history.Invoices(ctx, history.Filter{Period: p.String()})
		} else {
			var b *billing
			if b, err = s.computeWith(ctx, s.inputs, p, nil, ledger); err == nil {
				m.invoices = b.invoices
				ledger = append(ledger[:len(ledger):len(ledger)], invoice.LedgerEntries(b.invoices)...)
			}
		}
		if err != nil {
			return nil, err
		}
		if !p.Start.Before(first.Start) {
			months = append(months, m)
		}
	}
	return months, nil
}

// fiscalYear gives the number of the fiscal year that a period is in, which is
// that of the calendar year in which it ends, and its first month.
func (c *config) fiscalYear(p rates.Period) (year int, first rates.Period) {
	first = p
	for int(first.Month) != c.Invoice.FiscalYearStart {
		first = first.Previous()
	}
	last := first
	for range 11 {
		last = last.Next()
	}
	return last.Year, first
}
