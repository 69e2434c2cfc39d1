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
			if m.invoices, err = s.draftWith(ctx, p, ledger); err == nil {
				ledger = append(ledger[:len(ledger):len(ledger)], invoice.LedgerEntries(m.invoices)...)
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

// draftWith gives the invoices of a period that is not issued.
func (s *site) draftWith(ctx context.Context, p rates.Period, ledger []invoice.LedgerEntry) ([]invoice.Invoice, error) {
	l, err := s.lateFor(ctx, p)
	if err != nil {
		return nil, err
	}
	b, err := s.computeWith(ctx, s.inputs, p, nil, ledger, l)
	if err != nil {
		return nil, err
	}
	return b.invoices, nil
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
