package history

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// full makes a history with rows in every table and gives its path.
func full(t *testing.T) (*DB, string) {
	t.Helper()
	db, path := open(t)
	in := Ingest{ID: "i1", At: may, Cluster: "h2p", File: "march.txt", Digest: "abc", Records: 3, New: 3, FirstEnd: may, LastEnd: may}
	require.NoError(t, db.RecordIngest(ctx, in, "tester", "v1"))
	is := issueOf("2026-03", prepaid(draft("2026-03", "bio", 600), 1000), draft("2026-03", "chem", 5))
	is.Evidence.Ingests, is.AcceptedHeld = []string{"i1"}, "none of ours"
	_, err := db.SaveDraft(ctx, Draft{Period: is.Period, Invoices: is.Invoices, Evidence: is.Evidence, At: may, Actor: "tester"})
	require.NoError(t, err)
	_, err = db.Issue(ctx, is)
	require.NoError(t, err)
	docs := []Document{{Number: "HPC-2026-00001", Name: "bio.html", Digest: "d1", Bytes: 12}, {Name: "all.csv", Digest: "d2", Bytes: 1}}
	require.NoError(t, db.RecordDocuments(ctx, "2026-03", docs, may, "tester", "v1"))
	require.NoError(t, db.VerifyChain(ctx))
	return db, path
}

// plain opens the file as any other program would.
func plain(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=synchronous(OFF)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestEveryChangeIsRefused(t *testing.T) {
	db, path := full(t)
	other := plain(t, path)
	f := func(statement string) {
		t.Helper()
		for name, conn := range map[string]*sql.DB{"ours": db.write, "another program's": other} {
			_, err := conn.Exec(statement)
			require.Error(t, err, "%s: %s", name, statement)
		}
	}
	tables := []string{"entries"}
	for _, c := range chained {
		tables = append(tables, c.table)
	}
	for _, table := range tables {
		f("UPDATE " + table + " SET entry = entry")
		f("UPDATE OR REPLACE " + table + " SET entry = entry + 1")
		f("UPDATE OR IGNORE " + table + " SET entry = 1")
		f("DELETE FROM " + table)
		f("DELETE FROM " + table + " WHERE entry = (SELECT max(entry) FROM " + table + ")")
		f("INSERT INTO " + table + " SELECT * FROM " + table)
		f("INSERT OR REPLACE INTO " + table + " SELECT * FROM " + table)
		f("REPLACE INTO " + table + " SELECT * FROM " + table + " LIMIT 1")
	}
	// A row of a closed entry, under a free key.
	f("INSERT INTO documents (entry, item, period, name, digest, bytes) SELECT entry, item + 100, period, name, digest, bytes FROM documents")
	f("INSERT INTO ledger SELECT entry, item + 100, group_id, allocation, period, meter, unit, units FROM ledger")
	// A row of the next entry that would displace an old one by another key.
	next := "(SELECT max(entry) + 1 FROM entries)"
	f("REPLACE INTO texts SELECT " + next + ", digest, x'00' FROM texts LIMIT 1")
	f("REPLACE INTO ingests (entry, id, cluster, file, digest, ingested_at, bytes, records, steps, new, revised, unchanged, quarantined) SELECT " +
		next + ", id, 'x', 'x', 'x', 'x', 0, 0, 0, 0, 0, 0, 0 FROM ingests")
	columns := "number, kind, refers_to, reason, series, fiscal_year, serial, period, revision, run, issued_at, group_id, group_name, pi, department, class, fund, " +
		"currency, currency_digits, list_minor, list, reductions_minor, reductions, total_minor, total, jobs, content_digest, digest, body"
	insert := func(changed map[string]string) string {
		values := strings.Split(columns, ", ")
		for i, name := range values {
			if v, ok := changed[name]; ok {
				values[i] = v
			}
		}
		return "REPLACE INTO invoices (entry, " + columns + ") SELECT " + next + ", " + strings.Join(values, ", ") + " FROM invoices WHERE serial = 1"
	}
	f(insert(map[string]string{"serial": "3", "revision": "2"}))                        // the number of an old one
	f(insert(map[string]string{"number": "'X'", "revision": "2"}))                      // its serial
	f(insert(map[string]string{"number": "'X'", "serial": "3"}))                        // its place
	f(insert(map[string]string{"number": "'X'", "serial": "5", "revision": "2"}))       // a gap
	f(insert(map[string]string{"number": "'X'", "serial": "3", "revision": "4"}))       // a gap in the revisions
	f(insert(map[string]string{"number": "'X'", "serial": "3", "revision": "NULL"}))    // not even that
	f(insert(map[string]string{"number": "'X'", "serial": "1.5", "group_id": "'new'"})) // not an integer
	f("INSERT INTO events SELECT " + next + ", period, kind, run, detail FROM events")  // issued twice
	f("INSERT INTO entries SELECT entry + 1, kind, about, at, actor, program, content, 'wrong', 'new' FROM entries ORDER BY entry DESC LIMIT 1")
	f("INSERT INTO entries SELECT entry + 2, kind, about, at, actor, program, content, hash, 'new' FROM entries ORDER BY entry DESC LIMIT 1")
	f("INSERT INTO entries (kind) VALUES ('x')")
	f("INSERT INTO texts SELECT " + next + ", digest, x'00' FROM texts WHERE true ON CONFLICT DO UPDATE SET body = x'01'")
	require.NoError(t, db.VerifyChain(ctx))
}

// TestARowIsNotLaundered has another program leave a row where the next entry
// will be: it must not become part of the history.
func TestARowIsNotLaundered(t *testing.T) {
	const row = `INSERT INTO ledger SELECT (SELECT max(entry) + 1 FROM entries), item, 'chem', allocation, period, meter, unit, '-1000000', kind, card, pool FROM ledger`
	db, path := full(t)
	_, err := db.write.Exec(row)
	require.Error(t, err, "a row that nothing closes does not land")
	_, err = plain(t, path).Exec(row)
	require.NoError(t, err, "but other programs need not check foreign keys")
	var chain *ChainError
	require.ErrorAs(t, db.VerifyChain(ctx), &chain)
	_, err = db.Issue(ctx, issueOf("2026-04", draft("2026-04", "bio", 1)))
	require.ErrorAs(t, err, &chain)
	require.EqualError(t, err, "history: 1 rows of ledger stand outside the chain")
}

func TestWritableSchemaIsRefused(t *testing.T) {
	db, _ := full(t)
	_, err := db.write.Exec("PRAGMA writable_schema = 1")
	require.NoError(t, err) // SQLite says nothing, and refuses the next
	_, err = db.write.Exec("DELETE FROM sqlite_schema WHERE type = 'trigger'")
	require.Error(t, err)
	require.NoError(t, db.VerifyChain(ctx))
}

// copied gives a copy of a history to tamper with.
func copied(t *testing.T, original string) string {
	t.Helper()
	text, err := os.ReadFile(original)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// disarm drops every trigger, and gives the statements that put them back.
func disarm(t *testing.T, path string) (restore []string) {
	t.Helper()
	db := plain(t, path)
	rows, err := db.Query("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
	require.NoError(t, err)
	drop := ""
	for rows.Next() {
		var name, text string
		require.NoError(t, rows.Scan(&name, &text))
		drop += "DROP TRIGGER " + name + ";"
		restore = append(restore, text)
	}
	require.NoError(t, rows.Err())
	_, err = db.Exec("BEGIN;" + drop + "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, err)
	return restore
}

// tamper runs statements with every trigger out of the way, and puts the
// triggers back.
func tamper(t *testing.T, path string, statements ...string) {
	t.Helper()
	restore := disarm(t, path)
	db := plain(t, path)
	tx, err := db.Begin()
	require.NoError(t, err)
	for _, s := range slices.Concat(statements, restore) {
		_, err := tx.Exec(s)
		require.NoError(t, err, s)
	}
	require.NoError(t, tx.Commit())
}

// verified opens a file and verifies it.
func verified(t *testing.T, path string) error {
	t.Helper()
	db, err := OpenReadOnly(path)
	require.NoError(t, err)
	defer db.Close()
	return db.VerifyChain(ctx)
}

func TestVerifyFindsEveryChangedColumn(t *testing.T) {
	db, path := full(t)
	_, err := db.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, err)
	require.NoError(t, verified(t, copied(t, path)))
	bare := copied(t, path) // without triggers, which is found last
	disarm(t, bare)
	tables := []string{"entries"}
	for _, c := range chained {
		tables = append(tables, c.table)
	}
	for _, table := range tables {
		columns, _ := tableColumns(t, db, table)
		require.NotEmpty(t, columns)
		for _, column := range columns {
			changed := copied(t, bare)
			exec := plain(t, changed)
			_, err := exec.Exec("PRAGMA ignore_check_constraints = 1; " + fmt.Sprintf(
				`UPDATE %s SET %[2]s = CASE typeof(%[2]s) WHEN 'integer' THEN %[2]s + 1000 WHEN 'null' THEN %[3]s WHEN 'blob' THEN x'00' ELSE %[2]s || 'x' END
				  WHERE rowid = (SELECT max(rowid) FROM %[1]s)`, table, column, map[bool]string{true: "'HPC-2026-00001'", false: "1"}[column == "refers_to"]))
			require.NoError(t, err, "%s.%s", table, column)
			var chain *ChainError
			require.ErrorAs(t, verified(t, changed), &chain, "%s.%s", table, column)
			require.NotContains(t, chain.Reason, "trigger", "%s.%s", table, column)
		}
	}
}

func tableColumns(t *testing.T, db *DB, table string) (columns []string, rows int) {
	t.Helper()
	found, err := db.read.Query("SELECT * FROM " + table)
	require.NoError(t, err)
	defer found.Close()
	columns, err = found.Columns()
	require.NoError(t, err)
	for found.Next() {
		rows++
	}
	require.NoError(t, found.Err())
	require.NotZero(t, rows, table)
	return columns, rows
}

func TestVerifyNamesTheEntry(t *testing.T) {
	db, path := full(t)
	_, err := db.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, err)
	f := func(want string, statements ...string) {
		t.Helper()
		changed := copied(t, path)
		tamper(t, changed, statements...)
		require.EqualError(t, verified(t, changed), "history: "+want)
	}
	// Entries: ingest, two texts, draft, run, two invoices, issued, documents.
	f("entry 6 (invoice HPC-2026-00001): its rows are not those that were recorded",
		"UPDATE invoice_lines SET description = 'Some jobs' WHERE entry = 6 AND item = 1")
	f("entry 2 (text "+digest([]byte("card: pitt-crc\n"))+"): its rows are not those that were recorded",
		"UPDATE texts SET body = CAST('card: pitt-crC' || char(10) AS BLOB) WHERE entry = 2")
	f("entry 7 (invoice HPC-2026-00002): its rows are not those that were recorded", "DELETE FROM invoice_lines WHERE entry = 7")
	f("entry 8 (issued 2026-03): its own fields do not have its hash", "UPDATE entries SET actor = 'nobody' WHERE entry = 8")
	f("entry 5 (run 2026-03): entry 4 is missing", "DELETE FROM drafts", "DELETE FROM entries WHERE entry = 4", "DELETE FROM runs WHERE entry = 4")
	f("1 rows of texts stand outside the chain", "INSERT INTO texts VALUES (100, 'd', x'00')")
	f("trigger allow is not of this program", "CREATE TRIGGER allow BEFORE DELETE ON entries BEGIN SELECT 1; END")
	f("view v_invoices is missing or was changed", "DROP VIEW v_invoices", "CREATE VIEW v_invoices AS SELECT 1")

	open := copied(t, path)
	_, err = plain(t, open).Exec("DROP TRIGGER invoices_update")
	require.NoError(t, err)
	require.EqualError(t, verified(t, open), "history: trigger invoices_update is missing or was changed")

	// The end of a chain can be cut off without a trace in the file: what was
	// printed elsewhere shows it.
	cut := copied(t, path)
	tamper(t, cut, "DELETE FROM documents", "DELETE FROM entries WHERE kind = 'documents'")
	require.NoError(t, verified(t, cut))
	before, hash, err := db.Head(ctx)
	require.NoError(t, err)
	reader, err := OpenReadOnly(cut)
	require.NoError(t, err)
	defer reader.Close()
	after, other, err := reader.Head(ctx)
	require.NoError(t, err)
	require.Equal(t, before-1, after)
	require.NotEqual(t, hash, other)
}

func TestVerifyFindsADamagedFile(t *testing.T) {
	db, path := full(t)
	_, err := db.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	i := strings.LastIndex(string(text), "some jobs") // as a row has it
	require.Positive(t, i)
	text[i] = 'S'
	changed := filepath.Join(t.TempDir(), "damaged.db")
	require.NoError(t, os.WriteFile(changed, text, 0o600))
	require.Error(t, verified(t, changed))
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := OpenReadOnly(filepath.Join(dir, "absent.db"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Open(filepath.Join(dir, "no", "such", "folder.db"))
	require.Error(t, err)

	foreign := filepath.Join(dir, "foreign.db")
	_, err = plain(t, foreign).Exec("CREATE TABLE t (x)")
	require.NoError(t, err)
	_, err = Open(foreign)
	require.ErrorContains(t, err, "a database of another program")
	_, err = OpenReadOnly(foreign)
	require.ErrorContains(t, err, "a database of another program")

	text := filepath.Join(dir, "text.db")
	require.NoError(t, os.WriteFile(text, []byte("this is no database, but it is long enough to be taken for one: "+strings.Repeat("x", 2000)), 0o600))
	_, err = Open(text)
	require.ErrorContains(t, err, "not a database")

	empty := filepath.Join(dir, "empty.db")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, err = OpenReadOnly(empty)
	require.ErrorContains(t, err, "nothing is in the file")

	newer := filepath.Join(dir, "newer.db")
	db, err := Open(newer)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = plain(t, newer).Exec("PRAGMA user_version = 99")
	require.NoError(t, err)
	for _, opener := range []func(string) (*DB, error){Open, OpenReadOnly} {
		_, err = opener(newer)
		require.ErrorContains(t, err, "written by a newer hpcbill")
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b.db", "a?mode=memory.db", "100%.db", "50%41.db", "#1.db", "ñandú.db", "a&b=c.db", "'q\".db"} {
		path := filepath.Join(t.TempDir(), name)
		db, err := Open(path)
		require.NoError(t, err, name)
		issue(t, db, "2026-03", draft("2026-03", "bio", 1))
		require.FileExists(t, path)
		require.NoError(t, db.Close())
		require.NoError(t, verified(t, path), name)
	}
}

func TestReadOnlyWritesNothing(t *testing.T) {
	db, path := full(t)
	require.NoError(t, db.write.Close())
	reader, err := OpenReadOnly(path)
	require.NoError(t, err)
	defer reader.Close()
	_, err = reader.read.Exec("DELETE FROM entries")
	require.Error(t, err)
	_, err = reader.Issue(ctx, issueOf("2026-04", draft("2026-04", "bio", 1)))
	require.ErrorContains(t, err, "BUG: the history was opened for reading")
	db.write = nil
}
