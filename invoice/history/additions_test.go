package history

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/rates/money"
)

// An invoice of 1.20 for use, a credit of 0.50 and two funds.
func TestAdjustmentsAndFundsAreKept(t *testing.T) {
	db, _ := open(t)
	inv := draft("2026-03", "chem", 100)
	inv.Lines = append(inv.Lines, invoice.Line{
		Position: 2, Kind: invoice.Manual, Description: "Refund", Quantity: money.Int(-1), Price: money.Ratio(1, 2), Exact: money.Ratio(-1, 2),
		Amount: -50, Code: invoice.CodeCredit, Reason: "late node", Reference: "adj-1", Author: "jd",
	})
	inv.Manual, inv.Total = -50, 70
	inv.Group.Fund = ""
	inv.Funds = []invoice.FundShare{
		{Fund: "0012", Base: 70, Percent: money.Ratio(200, 3), Amount: 47}, {Fund: "0044", Base: 70, Percent: money.Ratio(100, 3), Amount: 23},
	}
	is := issueOf("2026-03", inv, draft("2026-03", "zoo", 10))
	is.Evidence.Summary.Manual = -50
	issued, err := db.Issue(ctx, is)
	require.NoError(t, err)
	require.NoError(t, db.VerifyChain(ctx))
	again, err := db.Issue(ctx, is)
	require.NoError(t, err)
	require.Len(t, again, 2)
	require.Equal(t, issued[0].Digest(), again[0].Digest())

	_, rows := query(t, db, "SELECT list_minor, list, reductions, additions_minor, additions, total_minor, total, fund FROM v_invoices")
	require.Equal(t, [][]any{
		{int64(120), "1.20", "0.00", int64(-50), "-0.50", int64(70), "0.70", ""},
		{int64(12), "0.12", "0.00", int64(0), "0", int64(12), "0.12", "00123"},
	}, rows)
	_, rows = query(t, db, "SELECT list, additions, total FROM v_group_totals WHERE group_id = 'chem'")
	require.Equal(t, [][]any{{"1.20", "-0.50", "0.70"}}, rows)
	_, rows = query(t, db, "SELECT amount, reason, reference, author FROM v_invoice_lines WHERE kind = 'manual'")
	require.Equal(t, [][]any{{"-0.50", "late node", "adj-1", "jd"}}, rows)
	_, rows = query(t, db, "SELECT group_id, fund, of_amount, percent, fixed, amount FROM v_invoice_funds")
	require.Equal(t, [][]any{
		{"chem", "0012", "0.70", "200/3", nil, "0.47"}, {"chem", "0044", "0.70", "100/3", nil, "0.23"},
		{"zoo", "00123", "0.12", "100", nil, "0.12"},
	}, rows)
}
