package history

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// counting adds a counter of the fiscal year from July to a draft.
func counting(inv invoice.Invoice, opening int64) invoice.Invoice {
	inv.Counters = []invoice.Counter{{
		Card: "pitt-crc", Meter: "su", Unit: "SU", From: rates.Date{Year: 2025, Month: 7, Day: 1},
		Opening: money.Int(opening), Counted: inv.Lines[0].Quantity,
	}, {
		Card: "pitt-crc", Meter: "su", Money: true, Unit: "USD", From: rates.Date{Year: 2025, Month: 7, Day: 1},
		Opening: money.Int(opening).Mul(inv.Lines[0].Price), Counted: inv.Lines[0].Exact,
	}}
	return inv
}

func TestCountsReplay(t *testing.T) {
	db, _ := open(t)
	issue(t, db, "2026-01", counting(draft("2026-01", "bio", 600), 0))
	_, err := db.Issue(ctx, issueOf("2026-02", counting(draft("2026-02", "bio", 300), 0)))
	require.EqualError(t, err, "issue 2026-02: group bio: what is counted of su opens at 0 in the draft, but at 600 in the ledger")
	issue(t, db, "2026-02", counting(draft("2026-02", "bio", 300), 600))

	ledger, err := db.Ledger(ctx, "2026-02")
	require.NoError(t, err)
	require.Equal(t, []invoice.LedgerEntry{
		{Kind: invoice.CountedUnits, Group: "bio", Card: "pitt-crc", Period: "2026-01", Meter: "su", Unit: "SU", Units: money.Int(600)},
		{Kind: invoice.CountedMoney, Group: "bio", Card: "pitt-crc", Period: "2026-01", Meter: "su", Unit: "USD", Units: money.Ratio(36, 5)},
	}, ledger)
	inv, err := db.Invoice(ctx, "HPC-2026-00002")
	require.NoError(t, err)
	require.Len(t, inv.Counters, 2)
}

// A history that was written before there were counts is brought up to date
// by opening it, and every entry of it still has its digest.
func TestAnOlderHistoryVerifies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	steps, err := migrations()
	require.NoError(t, err)
	file := plain(t, path)
	_, err = file.Exec(steps[0].text + "; PRAGMA application_id = 0x68706362; PRAGMA user_version = 1")
	require.NoError(t, err)
	old := &DB{path: path, write: file, read: file, step: func(string) {}}
	first := issueOf("2026-01", prepaid(draft("2026-01", "bio", 600), 1000))
	require.NoError(t, old.change(ctx, may, "tester", "v1", func(c *change) error {
		_, err := c.issue(ctx, &first)
		return err
	}))
	_, head, err := old.Head(ctx)
	require.NoError(t, err)
	_, err = OpenReadOnly(path)
	require.ErrorContains(t, err, "the history has schema 1; a verb that writes (such as ingest) brings it to schema")

	db, err := Open(path)
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.VerifyChain(ctx))
	_, now, err := db.Head(ctx)
	require.NoError(t, err)
	require.Equal(t, head, now)
	ledger, err := db.Ledger(ctx, "")
	require.NoError(t, err)
	require.Equal(t, []invoice.LedgerEntry{
		{Group: "bio", Allocation: "FY26", Period: "2026-01", Meter: "su", Unit: "SU", Units: money.Int(600)},
	}, ledger)
	issue(t, db, "2026-02", counting(prepaid(draft("2026-02", "bio", 300), 400), 0))
}
