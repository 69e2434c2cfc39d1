package history

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// query gives all rows of a statement.
func query(t testing.TB, db *DB, sql string) ([]string, [][]any) {
	t.Helper()
	columns, rows, err := db.Query(ctx, sql)
	require.NoError(t, err, sql)
	var all [][]any
	for row, err := range rows {
		require.NoError(t, err, sql)
		all = append(all, row)
	}
	return columns, all
}

func TestQueryReads(t *testing.T) {
	db, _ := open(t)
	issue(t, db, "2026-03", draft("2026-03", "bio", 100), draft("2026-03", "chem", 5))
	columns, rows := query(t, db, "SELECT number, total_minor, total, issued_at FROM v_invoices")
	require.Equal(t, []string{"number", "total_minor", "total", "issued_at"}, columns)
	require.Equal(t, [][]any{
		{"HPC-2026-00001", int64(120), "1.20", "2026-05-01T06:30:00Z"},
		{"HPC-2026-00002", int64(6), "0.06", "2026-05-01T06:30:00Z"},
	}, rows)
	_, rows = query(t, db, "WITH x AS (SELECT quantity, quantity_exact, amount, description FROM v_invoice_lines) SELECT * FROM x LIMIT 1")
	require.Equal(t, [][]any{{"100.000000", "100", "1.20", "some jobs"}}, rows)
	_, rows = query(t, db, "SELECT period, state, invoices, total_minor, total, currency FROM v_periods")
	require.Equal(t, [][]any{{"2026-03", "issued", int64(2), int64(126), "1.26", "USD"}}, rows)
	_, rows = query(t, db, "SELECT group_id, list, reductions, total FROM v_group_totals")
	require.Equal(t, [][]any{{"bio", "1.20", "0.00", "1.20"}, {"chem", "0.06", "0.00", "0.06"}}, rows)
	_, rows = query(t, db, "SELECT kind FROM v_events ORDER BY entry")
	require.Equal(t, [][]any{{"text"}, {"text"}, {"run"}, {"invoice"}, {"invoice"}, {"issued"}}, rows)
	query(t, db, "EXPLAIN QUERY PLAN SELECT * FROM v_ingests")
	query(t, db, "VALUES (1), (2)")
	query(t, db, "-- a comment\nSELECT json_extract(body, '$.total') FROM invoices;")
}

func TestQueryRefusesAllElse(t *testing.T) {
	db, path := open(t)
	issue(t, db, "2026-03", draft("2026-03", "bio", 100))
	f := func(sql string) {
		t.Helper()
		_, rows, err := db.Query(ctx, sql)
		if err == nil {
			for _, rowErr := range rows {
				if rowErr != nil {
					err = rowErr
				}
			}
		}
		require.Error(t, err, sql)
	}
	f("UPDATE invoices SET total_minor = 0")
	f("DELETE FROM invoices")
	f("INSERT INTO texts VALUES (1, 'x', x'00')")
	f("REPLACE INTO entries SELECT * FROM entries")
	f("PRAGMA query_only = 0")
	f("PRAGMA table_info(invoices)")
	f("SELECT * FROM pragma_table_info('invoices')")
	f("ATTACH DATABASE '" + path + ".other' AS other")
	f("VACUUM INTO '" + path + ".copy'")
	f("CREATE TEMP TABLE x (y)")
	f("DROP TRIGGER invoices_delete")
	f("BEGIN")
	f("SELECT load_extension('x')")
	f("SELECT 1; DELETE FROM invoices")
	f("SELECT 1; ATTACH DATABASE '" + path + ".other' AS other")
	f("WITH x AS (SELECT 1) DELETE FROM invoices")
	f("EXPLAIN DELETE FROM invoices")
	f("SELECT 1; SELECT 2")
	f("SELECT 1; /* ; */ x")
	f("not sql")
	f("")
	require.NoFileExists(t, path+".other")
	require.NoFileExists(t, path+".copy")
	_, rows := query(t, db, "SELECT count(*) FROM invoices")
	require.Equal(t, [][]any{{int64(1)}}, rows)
	require.NoError(t, db.VerifyChain(ctx), "the connections are as they were")
}

func TestOneStatement(t *testing.T) {
	f := func(sql string, ok bool) {
		t.Helper()
		require.Equal(t, ok, oneStatement(sql) == nil, sql)
	}
	f("SELECT 1", true)
	f("SELECT 1;", true)
	f("SELECT 1 ; ; -- done", true)
	f("SELECT ';' || \"a;b\" || `c;d` || [e;f] /* ; */ -- ;\n", true)
	f("SELECT 'it''s; fine'", true)
	f("SELECT 1; SELECT 2", false)
	f("SELECT 1; x", false)
	f("SELECT ''; DROP TABLE x", false)
	f("SELECT 1 -- ;\n; SELECT 2", false)
	f("SELECT /* x", true)
	f("SELECT 'x; SELECT 2", true) // SQLite refuses it: the text has no end
	f("", true)
}
