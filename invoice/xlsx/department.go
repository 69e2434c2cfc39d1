package xlsx

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates"
)

// WriteDepartment writes the workbook that a period is charged back with: the
// sheets Summary, with a row for each invoice, Lines, Usage by user, and
// Balances. It reads jobs once and keeps only their sums by user.
//
// jobs are all the charges that the usage lines of the invoices were made of,
// waived ones included: invoices whose usage lines, before rounding, are not
// exactly the sum of their group's jobs are refused, and so are those that do
// not add up or are of another period. After an error, also one that jobs
// yields, nothing has been written.
func WriteDepartment(w io.Writer, period string, invoices []invoice.Invoice, jobs iter.Seq2[JobRow, error]) error {
	if err := writeDepartment(w, period, invoices, jobs); err != nil {
		return fmt.Errorf("draw the department workbook for %s: %w", period, err)
	}
	return nil
}

func writeDepartment(w io.Writer, period string, invoices []invoice.Invoice, jobs iter.Seq2[JobRow, error]) error {
	issuer, issued := "", ""
	for i := range invoices {
		inv := &invoices[i]
		if inv.Period != period {
			return fmt.Errorf("the invoice of %q is for %s", inv.Group.ID, inv.Period)
		}
		if err := inv.Check(); err != nil {
			return err
		}
		issuer, issued = inv.Issuer.Name, max(issued, inv.Issued)
	}
	users, err := byUser(jobs)
	if err != nil {
		return err
	}
	if err := users.agree(invoices); err != nil {
		return err
	}
	b := newBook()
	defer b.file.Close()
	summary := b.newSheet("Summary", landscape, summaryColumns)
	lines := b.writeLines(invoices, append(slices.Clone(groupColumns), lineColumns...), false)
	summary.writeSummary(invoices, lines)
	b.writeUsers(period, invoices, users)
	b.writeFunds(invoices)
	b.writeBalances(invoices)
	b.writeLimits(invoices)
	return b.save(w, properties(issuer, "Chargeback "+period, period, issued))
}

// writeBalances writes the sheet Balances: every prepaid allocation and every
// allowance of every group.
func (b *book) writeBalances(invoices []invoice.Invoice) {
	const opening, deposited, refunded, drawn, others = 11, 12, 13, 14, 15
	s := b.newSheet("Balances", landscape, []column{
		{"Period", 9, plain}, {"Group", 16, plain}, {"Group name", 28, plain}, {"Allocation", 20, plain},
		{"Meter", 14, plain}, {"Unit", 12, plain}, {"From", 12, date}, {"Until (excluded)", 12, date}, {"Beyond is", 11, plain},
		{"Granted", 18, quantity}, {"At the start", 18, quantity}, {"Deposited", 18, quantity}, {"Given back", 18, quantity}, {"Drawn", 18, quantity}, {"Drawn by others", 18, quantity}, {"Left", 18, quantity}, {"Beyond", 18, quantity},
		{"Kind", 12, plain}, {"Shared by", 24, plain}, {"Granted before", 18, quantity},
	})
	s.heading()
	for i := range invoices {
		inv := &invoices[i]
		add := func(a invoice.Balance, kind, beyond string, p invoice.Pool) {
			row := s.rows + 1
			left := cellName(opening, row) + "+" + cellName(deposited, row)
			for _, less := range []int{refunded, drawn, others} {
				left += "-" + cellName(less, row)
			}
			s.add(inv.Period, text(inv.Group.ID), text(inv.Group.Name), text(a.Allocation),
				text(a.Meter), text(a.Unit), day(ingest.Date(a.From)), day(ingest.Date(a.Until)), text(beyond),
				number(a.Units), number(a.Opening), number(a.Deposits), number(a.Refunds), number(a.Drawn), number(p.Others),
				formula{left, number(a.Left)}, number(a.Beyond), text(kind), text(p.Of), number(p.Carried))
		}
		for _, a := range inv.Balances {
			add(a, "prepaid", overdraft(a.Overdraft), invoice.Pool{Of: inv.Group.ID})
		}
		for _, p := range inv.Allowances() {
			add(p.Balance(), "allowance", "billed", p)
		}
	}
	s.table("Balances")
	s.close()
}

func overdraft(o rates.Overdraft) string {
	if o == rates.OverdraftWaive {
		return "forgiven"
	}
	return "billed"
}
