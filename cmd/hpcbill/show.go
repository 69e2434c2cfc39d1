package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/invoice/html"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/spf13/cobra"
)

func (a *app) showCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "show NUMBER",
		Short:   "one past invoice, drawn again",
		Long:    "Prints an issued invoice from the history alone: as text, JSON, CSV, or the page that went out.",
		Example: "  hpcbill show HPC-2026-00001\n  hpcbill show HPC-2026-00001 --format html > invoice.html",
		Args:    oneArgument("invoice number"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if format != "html" {
				if err := checkFormat(format); err != nil {
					return usageError{fmt.Errorf("unknown format %q", format), "table, json, csv or html"}
				}
			}
			db, err := a.openHistory()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			inv, err := db.Invoice(c.Context(), args[0])
			if errors.Is(err, history.ErrNotFound) {
				return usageError{fmt.Errorf("there is no invoice %s", args[0]), "hpcbill list shows all"}
			}
			if err != nil {
				return err
			}
			if format == "html" {
				return a.showPage(c.Context(), db, inv)
			}
			return a.showInvoice(inv, format)
		},
	}
	c.Flags().StringVar(&format, "format", "table", "table, json, csv or html")
	return c
}

// showPage draws the page that went out.
func (a *app) showPage(ctx context.Context, db *history.DB, inv invoice.Invoice) error {
	state, err := db.Period(ctx, inv.Period)
	if err != nil {
		return err
	}
	evidence, err := db.Evidence(ctx, inv.Period)
	if err != nil {
		return err
	}
	in, err := recordedInputs(evidence)
	if err != nil {
		return fmt.Errorf("%s: what the history recorded: %w", inv.Period, err)
	}
	month, err := rates.ParsePeriod(inv.Period, in.zone())
	if err != nil {
		return err
	}
	storage, err := in.ratedStorage(month)
	if err != nil {
		return err
	}
	return html.Write(a.stdout, inv, html.Extras{ChainHead: state.Hash, Storage: heldBy(storage, inv.Group.ID)})
}

func (a *app) showInvoice(inv invoice.Invoice, format string) error {
	if format == "json" {
		text, err := jsonText(inv)
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "%s\n", text)
		}
		return err
	}
	t := table{columns: columns("line", "kind", "description", ">quantity", "unit", ">price", ">amount")}
	for _, l := range inv.Lines {
		quantity, unit, price := l.Quantity.Decimal(6, money.HalfEven), l.Unit, l.Price.String()
		if l.OfMoney() {
			quantity, unit, price = "", "", ""
		}
		t.add(int64(l.Position), string(l.Kind), l.Description, quantity, unit, price, inv.Currency.Plain(l.Amount))
	}
	if format == "csv" {
		return t.write(a.stdout, format)
	}
	fmt.Fprintf(a.stdout, "%s  %s  issued %s\n", inv.Number, inv.Period, inv.Issued)
	fmt.Fprintf(a.stdout, "to    %s (%s)%s\n", oneLine(inv.Group.Name), inv.Group.ID, labelled(", ", inv.Group.Department))
	fmt.Fprintf(a.stdout, "from  %s\n\n", oneLine(inv.Issuer.Name))
	if err := t.write(a.stdout, format); err != nil {
		return err
	}
	c := inv.Currency
	fmt.Fprintf(a.stdout, "\nlist %s · reductions %s · %stotal %s %s\n", c.Format(inv.List), c.Format(inv.Reductions), otherItems(&inv), c.Format(inv.Total), c.Code)
	for _, t := range inv.Taxes { // one that is included, or not owed here, is on no line
		rate := strings.ReplaceAll(t.Mode.String(), "_", " ")
		if t.Mode != invoice.TaxReverseCharge {
			rate = t.Percent.String() + " %, " + rate
		}
		fmt.Fprintf(a.stdout, "tax %s, %s, of %s: %s %s\n", oneLine(t.Name), rate, c.Format(t.Base), c.Format(t.Amount), c.Code)
	}
	if len(inv.Funds) > 0 {
		fmt.Fprintf(a.stdout, "paid from %s\n", oneLine(fundsText(&inv)))
	}
	a.printBalances(&inv)
	for _, n := range inv.Counters {
		fmt.Fprintf(a.stdout, "tiers of %s count %s since %s: %s before, %s in this period\n", n.Meter, n.Unit, n.From,
			quantity(n.Opening), quantity(n.Counted))
	}
	return nil
}

// printBalances prints what is left of balances, allowances and limits.
func (a *app) printBalances(inv *invoice.Invoice) {
	c := inv.Currency
	for _, b := range inv.Balances {
		moved := ""
		if b.Deposits.Sign() != 0 {
			moved += quantity(b.Deposits) + " deposited, "
		}
		if b.Refunds.Sign() != 0 {
			moved += quantity(b.Refunds) + " given back, "
		}
		fmt.Fprintf(a.stdout, "balance of %s: %s %s before, %s%s drawn, %s left until %s\n", oneLine(b.Allocation),
			quantity(b.Opening), b.Unit, moved, quantity(b.Drawn), quantity(b.Left), b.Until)
	}
	limits := inv.Limits()
	for i := range limits {
		p, set := &limits[i], quantity
		if p.Meter == "" { // of money
			set = func(x money.Exact) string { return money.Group(x.Decimal(c.Digits, money.HalfEven)) }
		}
		fmt.Fprintf(a.stdout, "limit of %s, %s: %s %s, %s before, %s in this period and %s of others, %s left\n", oneLine(p.Rule), oneLine(p.Holder()),
			set(p.Limit), p.Unit, set(p.Opening), set(p.Counted), set(p.Others), set(p.Left()))
	}
	for _, p := range inv.Allowances() {
		b, others := p.Balance(), ""
		if p.Others.Sign() != 0 {
			others = quantity(p.Others) + " by others, "
		}
		fmt.Fprintf(a.stdout, "allowance %s: %s of %s %s before, %s drawn, %s%s left%s\n", oneLine(p.Title()),
			quantity(b.Opening), quantity(b.Units), b.Unit, quantity(b.Drawn), others, quantity(b.Left), labelled(" until ", b.Until.String()))
	}
}

// otherItems are what is neither list price nor a reduction, where there are any.
func otherItems(inv *invoice.Invoice) string {
	if inv.Additions() == 0 {
		return ""
	}
	return "other items " + inv.Currency.Format(inv.Additions()) + " · "
}

func labelled(separator, text string) string {
	if text = strings.TrimSpace(oneLine(text)); text == "" {
		return ""
	}
	return separator + text
}
