package history

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// capped adds a cap of 1000 a fiscal year from July, shared by a PI, to a
// draft that stays below it.
func capped(inv invoice.Invoice, opening, counted, others int64) invoice.Invoice {
	inv.Pools = []invoice.Pool{{
		Kind: invoice.Cap, Rule: "Most a year", SharedBy: rates.ByPI, Of: "Ada", Per: rates.PerFiscalYear,
		From: rates.Date{Year: 2025, Month: 7, Day: 1}, Unit: "USD",
		Limit: money.Int(1000), Opening: money.Int(opening), Counted: money.Int(counted), Others: money.Int(others),
	}}
	return inv
}

func TestLimitsReplay(t *testing.T) {
	db, _ := open(t)
	issue(t, db, "2026-01", capped(draft("2026-01", "bio", 600), 0, 6, 3), capped(draft("2026-01", "chem", 300), 0, 3, 6))
	_, err := db.Issue(ctx, issueOf("2026-02", capped(draft("2026-02", "bio", 300), 6, 3, 0)))
	require.EqualError(t, err, "issue 2026-02: group bio: what counts towards the limit of Most a year opens at 6 in the draft, but at 9 in the ledger")
	issue(t, db, "2026-02", capped(draft("2026-02", "bio", 300), 9, 3, 0))

	ledger, err := db.Ledger(ctx, "2026-02")
	require.NoError(t, err)
	require.Equal(t, []invoice.LedgerEntry{
		{Kind: invoice.Capped, Group: "bio", Allocation: "Most a year", Pool: "pi Ada", Period: "2026-01", Unit: "USD", Units: money.Int(6)},
		{Kind: invoice.Capped, Group: "chem", Allocation: "Most a year", Pool: "pi Ada", Period: "2026-01", Unit: "USD", Units: money.Int(3)},
	}, ledger)
	inv, err := db.Invoice(ctx, "HPC-2026-00003")
	require.NoError(t, err)
	require.Equal(t, "pi Ada", inv.Pools[0].Holder())
	require.NoError(t, db.VerifyChain(ctx))
}
