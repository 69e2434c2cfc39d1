package main

import (
	"context"
	"fmt"
	"slices"

	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// printLate names the issued months that would come out otherwise today,
// because dumps came in since that hold new or revised jobs of them: what came
// late must not vanish.
func (a *app) printLate(ctx context.Context, s *site) error {
	periods, err := s.history.Periods(ctx)
	if err != nil {
		return err
	}
	for _, p := range periods {
		if p.State != history.Issued {
			continue
		}
		changes, err := s.lateChanges(ctx, p.Period)
		if err != nil {
			return fmt.Errorf("%s, as it was issued: %w", p.Period, err)
		}
		if len(changes) == 0 {
			continue
		}
		var by money.Amount
		for i := range changes {
			by += changes[i].Delta()
		}
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s is issued, and jobs that came in since change %s by %s in all\n",
			p.Period, count(int64(len(changes)), "invoice"), s.signed(by))
		fmt.Fprintf(a.stderr, "hpcbill: hint: hpcbill bill --period %s shows the lines; what was issued stays\n", p.Period)
	}
	return nil
}

// lateChanges compares an issued month with what the store gives of it today,
// under the rules that billed it. A month is computed only where a dump that
// came in since can hold jobs of it.
func (s *site) lateChanges(ctx context.Context, period string) ([]invoice.GroupChange, error) {
	recorded, err := s.history.Evidence(ctx, period)
	if err != nil {
		return nil, err
	}
	in, err := recordedInputs(recorded)
	if err != nil {
		return nil, err
	}
	month, err := rates.ParsePeriod(period, in.zone())
	if err != nil {
		return nil, err
	}
	late, err := s.lateDumps(month, recorded.Ingests)
	if err != nil || !late {
		return nil, err
	}
	issued, b, err := s.rederive(ctx, in, month)
	if err != nil {
		return nil, err
	}
	return invoice.Compare(issued, b.invoices), nil
}

// rederive gives what was issued for a month, and what the store gives of it
// under in with the balances that the month found.
func (s *site) rederive(ctx context.Context, in *inputs, month rates.Period) (issued []invoice.Invoice, b *billing, err error) {
	issued, err = s.history.Invoices(ctx, history.Filter{Period: month.String()})
	if err != nil {
		return nil, nil, err
	}
	ledger, err := s.history.Ledger(ctx, month.String())
	if err != nil {
		return nil, nil, err
	}
	b, err = s.computeWith(ctx, in, month, nil, ledger)
	return issued, b, err
}

// lateDumps reports whether a dump that is not among the ones known brought
// jobs whose ends reach into the month.
func (s *site) lateDumps(month rates.Period, known []string) (bool, error) {
	records, err := s.jobs.Ingests()
	if err != nil {
		return false, err
	}
	for _, r := range records {
		reaches := int64(r.FirstEnd) < month.End.Unix() && int64(r.LastEnd) >= month.Start.Unix()
		if r.New+r.Revised > 0 && reaches && !slices.Contains(known, historyIngest(r).ID) {
			return true, nil
		}
	}
	return false, nil
}
