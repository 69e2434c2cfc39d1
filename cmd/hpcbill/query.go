package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func (a *app) queryCommand() *cobra.Command {
	var format *string
	c := &cobra.Command{
		Use:   `query "SELECT …"`,
		Short: "read-only SQL over the history",
		Long: `Runs one statement that reads over the history and its documented views:
v_invoices, v_invoice_lines, v_periods, v_events, v_ingests, v_group_totals,
v_invoice_funds.
Money is there in whole minor units and as text, quantities as exact text.`,
		Example: `  hpcbill query "SELECT period, group_id, total FROM v_group_totals"`,
		Args:    oneArgument("SQL statement"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := checkFormat(*format); err != nil {
				return err
			}
			db, err := a.openHistory()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, db.Close()) }()
			names, rows, err := db.Query(c.Context(), args[0])
			if err != nil {
				return usageError{err, "the views are listed by hpcbill help query"}
			}
			t := table{columns: columns(names...)}
			for row, err := range rows {
				if err != nil {
					return err
				}
				t.add(row...)
			}
			return t.write(a.stdout, *format)
		},
	}
	format = addFormat(c)
	return c
}
