package history

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChainByHand works out the first entry from the format's description.
func TestChainByHand(t *testing.T) {
	db, _ := open(t)
	at := time.Date(2026, 4, 1, 10, 0, 0, 999, time.FixedZone("", 2*3600))
	in := Ingest{ID: "i1", At: at, Cluster: "h2p", File: "ñ.txt", Digest: "abc", Bytes: 10, Records: 3, New: 3}
	require.NoError(t, db.RecordIngest(ctx, in, "ana", "v1"))

	content := digest([]byte("table=7:ingests\nentry=1:1\nid=2:i1\ncluster=3:h2p\nfile=6:ñ.txt\ndigest=3:abc\n" +
		"ingested_at=20:2026-04-01T08:00:00Z\nbytes=2:10\nrecords=1:3\nsteps=1:0\nnew=1:3\nrevised=1:0\nunchanged=1:0\nquarantined=1:0\n"))
	first := digest([]byte("hpcbill history=1:1\nentry=1:1\nkind=6:ingest\nabout=2:i1\nat=20:2026-04-01T08:00:00Z\nactor=3:ana\nprogram=2:v1\n" +
		"content=64:" + content + "\nprevious=7:genesis\n"))
	number, hash, err := db.Head(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(1), number)
	require.Equal(t, first, hash)

	in.ID = "i2"
	require.NoError(t, db.RecordIngest(ctx, in, "ana", "v1"))
	_, rows := query(t, db, "SELECT previous, hash FROM entries ORDER BY entry")
	require.Equal(t, "genesis", rows[0][0])
	require.Equal(t, first, rows[0][1])
	require.Equal(t, first, rows[1][0])
}

// TestViewsStay pins the columns that auditors rely on.
func TestViewsStay(t *testing.T) {
	db, _ := full(t)
	f := func(view string, want ...string) {
		t.Helper()
		columns, rows := query(t, db, "SELECT * FROM "+view)
		require.Equal(t, want, columns)
		require.NotEmpty(t, rows)
	}
	f("v_invoices", "number", "kind", "refers_to", "reason", "series", "fiscal_year", "serial", "period", "revision", "issued_at",
		"group_id", "group_name", "pi", "department", "class", "fund", "currency", "list_minor", "list", "reductions_minor", "reductions",
		"total_minor", "total", "jobs", "digest", "run", "entry", "additions_minor", "additions")
	f("v_invoice_lines", "number", "period", "group_id", "group_name", "currency", "position", "kind", "cluster", "meter", "unit",
		"price_label", "description", "quantity", "quantity_exact", "price", "exact", "amount_minor", "amount", "jobs", "code", "reason",
		"reduces", "card", "card_digest", "version", "reference", "author")
	f("v_invoice_funds", "number", "period", "group_id", "group_name", "department", "pi", "currency", "item", "fund", "of", "of_amount",
		"percent", "fixed", "amount")
	f("v_periods", "period", "state", "drafted_at", "issued_at", "issued_by", "held", "accepted_held", "invoices", "credits", "currency",
		"total_minor", "total", "hash")
	f("v_events", "entry", "at", "kind", "about", "period", "detail", "actor", "program", "content", "previous", "hash")
	f("v_ingests", "id", "cluster", "file", "digest", "ingested_at", "bytes", "records", "steps", "new", "revised", "unchanged",
		"quarantined", "first_end", "last_end", "entry")
	f("v_group_totals", "period", "group_id", "group_name", "department", "fund", "currency", "documents", "list_minor", "list",
		"reductions_minor", "reductions", "total_minor", "total", "additions_minor", "additions")
}

func TestViewsShowMoneyAndTimeAsText(t *testing.T) {
	db, _ := full(t)
	_, rows := query(t, db, `SELECT list, reductions, total, typeof(total_minor), typeof(total), issued_at, typeof(issued_at) FROM v_invoices WHERE group_id = 'bio'`)
	require.Equal(t, [][]any{{"7.20", "-7.20", "0.00", "integer", "text", "2026-05-01T06:30:00Z", "text"}}, rows)
	_, rows = query(t, db, "SELECT list, reductions, total FROM v_group_totals WHERE group_id = 'bio'")
	require.Equal(t, [][]any{{"7.20", "-7.20", "0.00"}}, rows)
	_, rows = query(t, db, "SELECT quantity, quantity_exact, amount_minor, amount, reduces FROM v_invoice_lines WHERE kind = 'prepaid'")
	require.Equal(t, [][]any{{"-600.000000", "-600", int64(-720), "-7.20", int64(1)}}, rows)
	_, rows = query(t, db, "SELECT fund, typeof(fund) FROM v_invoices LIMIT 1")
	require.Equal(t, [][]any{{"00123", "text"}}, rows)
	_, rows = query(t, db, "SELECT state, drafted_at, issued_at, issued_by, accepted_held, invoices, credits, total FROM v_periods")
	require.Equal(t, [][]any{{"issued", "2026-05-01T06:30:00Z", "2026-05-01T06:30:00Z", "tester", "none of ours", int64(2), int64(0), "0.06"}}, rows)
	_, rows = query(t, db, "SELECT kind, about, detail FROM v_events WHERE kind = 'issued'")
	require.Equal(t, [][]any{{"issued", "2026-03", "2 invoices, 0.06 USD"}}, rows)
}
