package csvfile

import (
	"encoding/csv"
	"fmt"
	"io"

	"hpcbill/invoice"
)

// FundColumns are the names of the first row of the table of funds, in order.
// New ones are added at the end.
func FundColumns() []string {
	return []string{
		"period", "invoice", "status", "issued", "group_id", "group_name", "department", "pi", "class", "po",
		"fund", "of", "of_amount", "percent", "fixed", "amount", "currency",
	}
}

// WriteFunds writes one row for each fund that pays of an invoice, in the
// order given: what is posted to whom. An invoice that is not split has one
// row, with its one fund or none. The amounts of an invoice's rows sum to its
// total. An invoice that does not add up is an error, and then nothing is
// written.
func WriteFunds(w io.Writer, invoices []invoice.Invoice) error {
	for i := range invoices {
		if err := invoices[i].Check(); err != nil {
			return fmt.Errorf("write the funds of %q for %s: %w", invoices[i].Group.ID, invoices[i].Period, err)
		}
	}
	out := csv.NewWriter(w)
	if err := out.Write(FundColumns()); err != nil {
		return err
	}
	for i := range invoices {
		inv := &invoices[i]
		for _, f := range inv.Payers() {
			if err := out.Write(fundRow(inv, &f)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func fundRow(inv *invoice.Invoice, f *invoice.FundShare) []string {
	status := "issued"
	if inv.Number == "" {
		status = "draft"
	}
	percent, fixed := "", ""
	if f.Percent.Sign() != 0 {
		percent = decimal(f.Percent)
	}
	if f.Fixed != 0 {
		fixed = inv.Currency.Plain(f.Fixed)
	}
	g := &inv.Group
	return []string{
		text(inv.Period), text(inv.Number), status, text(inv.Issued),
		text(g.ID), text(g.Name), text(g.Department), text(g.PI), text(g.Class), text(g.PO),
		text(f.Fund), text(f.Of), inv.Currency.Plain(f.Base), percent, fixed, inv.Currency.Plain(f.Amount), text(inv.Currency.Code),
	}
}
