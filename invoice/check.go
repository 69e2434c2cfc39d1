package invoice

import (
	"errors"
	"fmt"

	"hpcbill/rates/money"
)

// Check reports whether everything adds up: both equations, the charges that
// came in against the lines before rounding, and every total against its
// lines. What does not is our own mistake and is worded "BUG:".
func (s *Summary) Check(invoices []Invoice) error {
	errs := []error{s.Records.Check(), s.Jobs.check(), s.Seconds.check(), s.Storage.check()}
	var exact money.Exact
	var list, reductions, manual, prior, overhead, tax, total money.Amount
	for i := range invoices {
		inv := &invoices[i]
		if i > 0 && invoices[i-1].Group.ID >= inv.Group.ID {
			errs = append(errs, fmt.Errorf("BUG: invoices of %s and %s out of order", invoices[i-1].Group.ID, inv.Group.ID))
		}
		errs = append(errs, inv.Check())
		for _, l := range inv.Lines {
			if l.Kind.Lists() {
				exact = exact.Add(l.Exact)
			}
		}
		list, reductions, manual, total = list+inv.List, reductions+inv.Reductions, manual+inv.Manual, total+inv.Total
		prior, overhead, tax = prior+inv.Prior, overhead+inv.Overhead, tax+inv.Tax
	}
	if !exact.Equal(s.Charges) {
		errs = append(errs, fmt.Errorf("BUG: charges of %s came in, but the lines hold %s before rounding", s.Charges, exact))
	}
	if list != s.List || reductions != s.Reductions || manual != s.Manual || prior != s.Prior || overhead != s.Overhead || tax != s.Tax || total != s.Total || len(invoices) != s.Invoices {
		errs = append(errs, fmt.Errorf("BUG: the summary's totals are not those of its %d invoices", len(invoices)))
	}
	return errors.Join(errs...)
}

func (c JobCounts) check() error {
	if sum := c.Billed + c.Waived + c.Excluded + c.Held + c.NotRun + c.Running; sum != c.Read {
		return fmt.Errorf("BUG: %d jobs read, but %d billed + %d waived + %d excluded + %d held + %d not run + %d running = %d",
			c.Read, c.Billed, c.Waived, c.Excluded, c.Held, c.NotRun, c.Running, sum)
	}
	return nil
}

func (s JobSeconds) check() error {
	if sum := s.Billed + s.Waived + s.Excluded + s.Held; sum != s.Read {
		return fmt.Errorf("BUG: %d job-seconds read, but %d billed + %d waived + %d excluded + %d held = %d",
			s.Read, s.Billed, s.Waived, s.Excluded, s.Held, sum)
	}
	return nil
}

func (c HoldingCounts) check() error {
	if sum := c.Billed + c.Waived + c.Excluded + c.Held; sum != c.Read {
		return fmt.Errorf("BUG: %d holdings read, but %d billed + %d waived + %d excluded + %d held = %d",
			c.Read, c.Billed, c.Waived, c.Excluded, c.Held, sum)
	}
	return nil
}

// CheckRead compares the jobs and job-seconds taken with those that somebody
// else counted, who did not go through rating. Jobs that still run are not
// among them: they belong to no period yet.
func (s *Summary) CheckRead(jobs, seconds int64) error {
	if taken := s.Jobs.Read - s.Jobs.Running; taken != jobs || s.Seconds.Read != seconds {
		return fmt.Errorf("BUG: the store has %d jobs and %d job-seconds in %s, but %d and %d were accounted for",
			jobs, seconds, s.Period, taken, s.Seconds.Read)
	}
	return nil
}

// Check reports whether an invoice adds up: each line is what rounding makes
// of its exact amount, reductions are shares of the lines they reduce, the
// sums are those of the lines, and the balances those of the draws.
func (inv *Invoice) Check() error {
	var errs []error
	bug := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("BUG: invoice of %s for %s: %s", inv.Group.ID, inv.Period, fmt.Sprintf(format, args...)))
	}
	reduced := make([]money.Amount, len(inv.Lines)+1)
	var sums Invoice
	for i := range inv.Lines {
		l := &inv.Lines[i]
		if l.Position != i+1 {
			bug("line %d stands at %d", l.Position, i+1)
		}
		*sums.sumOf(l.Kind) += l.Amount
		sums.Total += l.Amount
		if l.Kind.Reduces() {
			inv.checkReduction(l, reduced, bug)
			continue
		}
		if !l.Kind.Lists() && (l.Of != 0 || !l.Quantity.Mul(l.Price).Equal(l.Exact)) {
			bug("line %d is %s × %s, not %s", l.Position, l.Quantity, l.Price, l.Exact)
		}
		if rounded, err := inv.Currency.Amount(l.Exact, inv.Rounding); err != nil || rounded != l.Amount {
			bug("line %d is %s but prints %d", l.Position, l.Exact, l.Amount)
		}
	}
	for i, l := range inv.Lines {
		if l.Kind.Lists() && l.Amount+reduced[i+1] < 0 {
			bug("line %d is reduced by more than it is", l.Position)
		}
	}
	if sums.List != inv.List || sums.Reductions != inv.Reductions || sums.Total != inv.Total {
		bug("lines sum to %d and %d, the invoice says %d, %d and %d", sums.List, sums.Reductions, inv.List, inv.Reductions, inv.Total)
	}
	if sums.Manual != inv.Manual || sums.Prior != inv.Prior || sums.Overhead != inv.Overhead || sums.Tax != inv.Tax {
		bug("its adjustments, corrections, overhead and tax sum to %d, %d, %d and %d, the invoice says %d, %d, %d and %d",
			sums.Manual, sums.Prior, sums.Overhead, sums.Tax, inv.Manual, inv.Prior, inv.Overhead, inv.Tax)
	}
	inv.checkTaxes(bug)
	inv.checkBalances(bug)
	inv.checkPools(bug)
	inv.checkFunds(bug)
	return errors.Join(errs...)
}

func (inv *Invoice) checkReduction(l *Line, reduced []money.Amount, bug func(string, ...any)) {
	if l.Of < 1 || l.Of > len(inv.Lines) || !inv.Lines[l.Of-1].Kind.Lists() {
		bug("line %d reduces line %d, which is no list line", l.Position, l.Of)
		return
	}
	if l.Amount > 0 {
		bug("line %d is a reduction and positive", l.Position)
	}
	if l.Kind.OfMoney() && (l.Quantity.Sign() != 0 || l.Price.Sign() != 0) {
		bug("line %d takes off money, and %s at %s too", l.Position, l.Quantity, l.Price)
	}
	reduced[l.Of] += l.Amount
}

func (inv *Invoice) checkBalances(bug func(string, ...any)) {
	drawn := make(map[string]money.Exact)
	for _, l := range inv.Lines {
		if l.Kind == Prepaid {
			drawn[l.Reason] = drawn[l.Reason].Sub(l.Quantity)
		}
	}
	for _, b := range inv.Balances {
		if !drawn[b.Allocation].Equal(b.Drawn) {
			bug("allocation %s: the lines draw %s, the balance says %s", b.Allocation, drawn[b.Allocation], b.Drawn)
		}
		if !b.Opening.Add(b.Deposits).Sub(b.Refunds).Sub(b.Drawn).Equal(b.Left) {
			bug("allocation %s: %s and deposits of %s less refunds of %s and %s is not %s", b.Allocation, b.Opening, b.Deposits, b.Refunds, b.Drawn, b.Left)
		}
		delete(drawn, b.Allocation)
	}
	if len(drawn) > 0 {
		bug("draws on %d allocations without a balance", len(drawn))
	}
}

// addAmounts refuses a sum beyond 64 bits.
func addAmounts(a, b money.Amount) (money.Amount, error) {
	sum := a + b
	if (sum > a) != (b > 0) {
		return 0, fmt.Errorf("the amounts sum to more than 64 bits hold")
	}
	return sum, nil
}
