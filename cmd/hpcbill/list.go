package main

import (
	"errors"
	"fmt"

	"hpcbill/invoice/history"

	"github.com/spf13/cobra"
)

func (a *app) listCommand() *cobra.Command {
	var (
		filter history.Filter
		format *string
	)
	c := &cobra.Command{
		Use:     "list",
		Short:   "list past invoices",
		Example: "  hpcbill list\n  hpcbill list --period 2026-03 --format csv",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if err := checkFormat(*format); err != nil {
				return err
			}
			db, err := a.openHistory()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			invoices, err := db.Invoices(c.Context(), filter)
			if err != nil {
				return err
			}
			t := table{columns: columns("number", "period", "group", "name", "issued", ">list", ">reductions", ">other_items", ">total", "currency")}
			for _, inv := range invoices {
				cur := inv.Currency
				t.add(inv.Number, inv.Period, inv.Group.ID, inv.Group.Name, inv.Issued,
					cur.Plain(inv.List), cur.Plain(inv.Reductions), cur.Plain(inv.Additions()), cur.Plain(inv.Total), cur.Code)
			}
			if len(invoices) == 0 && *format == "table" {
				_, err := fmt.Fprintln(a.stdout, "no invoice is issued")
				return err
			}
			return t.write(a.stdout, *format)
		},
	}
	c.Flags().StringVar(&filter.Period, "period", "", "of one month")
	c.Flags().StringVar(&filter.Group, "group", "", "of one group")
	format = addFormat(c)
	return c
}
