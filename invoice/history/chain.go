package history

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
)

// How an auditor computes the chain, with any SQLite client and SHA-256:
//
// A field is written NAME=LENGTH:VALUE\n, LENGTH being the number of bytes of
// VALUE; integers are in decimal.
//
// The content of an entry is the SHA-256 of, for each of the chained tables
// below in that order, each row whose column "entry" is the entry's number, by
// "item" where the table has one: the field "table" with the table's name,
// then every column that is not NULL, in the order of the table's definition.
//
// The hash of an entry is the SHA-256 of the fields "hpcbill history" (the
// format, 1), "entry", "kind", "about", "at", "actor", "program", "content" and
// "previous" as its row in entries has them. "previous" is the hash of the
// entry before, and "genesis" in the first.

// chained are the tables whose rows belong to entries, and the order of an
// entry's rows in each.
var chained = [...]struct{ table, order string }{
	{"documents", "item"},
	{"drafts", "item"},
	{"events", "entry"},
	{"ingests", "entry"},
	{"invoice_lines", "item"},
	{"invoices", "entry"},
	{"ledger", "item"},
	{"run_ingests", "item"},
	{"run_texts", "item"},
	{"runs", "entry"},
	{"texts", "entry"},
}

const genesis = "genesis"

// entry is one link of the chain.
type entry struct {
	number                    int64
	kind, about               string
	at, actor, program        string
	content, previous, hashed string
}

func (e *entry) hash() string {
	var b bytes.Buffer
	field(&b, "hpcbill history", "1")
	field(&b, "entry", strconv.FormatInt(e.number, 10))
	field(&b, "kind", e.kind)
	field(&b, "about", e.about)
	field(&b, "at", e.at)
	field(&b, "actor", e.actor)
	field(&b, "program", e.program)
	field(&b, "content", e.content)
	field(&b, "previous", e.previous)
	return digest(b.Bytes())
}

func field(b *bytes.Buffer, name, value string) {
	b.WriteString(name)
	b.WriteByte('=')
	b.WriteString(strconv.Itoa(len(value)))
	b.WriteByte(':')
	b.WriteString(value)
	b.WriteByte('\n')
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// contentText is the text of which an entry's content is the digest.
func contentText(ctx context.Context, q querier, number int64) ([]byte, error) {
	var b bytes.Buffer
	for _, c := range chained {
		rows, err := q.QueryContext(ctx, "SELECT * FROM "+c.table+" WHERE entry = ? ORDER BY "+c.order, number)
		if err != nil {
			return nil, err
		}
		if err := rowsText(&b, c.table, rows); err != nil {
			return nil, fmt.Errorf("%s: %w", c.table, err)
		}
	}
	return b.Bytes(), nil
}

func rowsText(b *bytes.Buffer, table string, rows *sql.Rows) error {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		field(b, "table", table)
		for i, v := range values {
			switch v := v.(type) {
			case nil:
			case int64:
				field(b, columns[i], strconv.FormatInt(v, 10))
			case string:
				field(b, columns[i], v)
			case []byte:
				field(b, columns[i], string(v))
			default:
				return fmt.Errorf("column %s holds a %T", columns[i], v)
			}
		}
	}
	return rows.Err()
}

// change is one transaction that appends entries. Everything of it lands, or
// nothing does.
type change struct {
	*sql.Tx
	db             *DB
	at             string
	actor, program string
	head           entry
}

// change runs f in a transaction that nobody else can write beside.
func (db *DB) change(ctx context.Context, at time.Time, actor, program string, f func(*change) error) error {
	if db.write == nil {
		return fmt.Errorf("BUG: the history was opened for reading")
	}
	if actor == "" || at.IsZero() {
		return fmt.Errorf("BUG: an entry without time or actor")
	}
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	defer tx.Rollback()
	c := &change{Tx: tx, db: db, at: timeText(at), actor: actor, program: program}
	if c.head, err = head(ctx, tx); err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	if err := verifyOwned(ctx, tx); err != nil {
		return err // a row that waits for an entry to be closed over it
	}
	db.step("begun")
	if err := f(c); err != nil {
		return err
	}
	db.step("before commit")
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	db.step("committed")
	return nil
}

// head gives the newest entry; the zero entry has the hash "genesis".
func head(ctx context.Context, q querier) (entry, error) {
	e := entry{hashed: genesis}
	err := q.QueryRowContext(ctx, "SELECT entry, hash FROM entries ORDER BY entry DESC LIMIT 1").Scan(&e.number, &e.hashed)
	if err == sql.ErrNoRows {
		err = nil
	}
	return e, err
}

// insert adds one row to a chained table, in the entry that is being made.
func (c *change) insert(ctx context.Context, table string, columns []column) error {
	names, marks := bytes.NewBufferString("entry"), bytes.NewBufferString("?")
	values := []any{c.head.number + 1}
	for _, col := range columns {
		names.WriteString(", " + col.name)
		marks.WriteString(", ?")
		values = append(values, col.value)
	}
	_, err := c.ExecContext(ctx, "INSERT INTO "+table+" ("+names.String()+") VALUES ("+marks.String()+")", values...)
	if err != nil {
		return fmt.Errorf("write history: %s: %w", table, err)
	}
	c.db.step(table)
	return nil
}

// column is a value by the name of its column: an int64, a string, a []byte,
// or nil.
type column struct {
	name  string
	value any
}

// close seals the rows inserted since the last close into an entry, and gives
// its number.
func (c *change) close(ctx context.Context, kind, about string) (int64, error) {
	e := entry{
		number: c.head.number + 1, kind: kind, about: about,
		at: c.at, actor: c.actor, program: c.program, previous: c.head.hashed,
	}
	text, err := contentText(ctx, c, e.number)
	if err != nil {
		return 0, fmt.Errorf("read history: %w", err)
	}
	e.content = digest(text)
	e.hashed = e.hash()
	_, err = c.ExecContext(ctx, `INSERT INTO entries (entry, kind, about, at, actor, program, content, previous, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		e.number, e.kind, e.about, e.at, e.actor, e.program, e.content, e.previous, e.hashed)
	if err != nil {
		return 0, fmt.Errorf("write history: %w", err)
	}
	c.head = e
	c.db.step("entry " + kind)
	return e.number, nil
}
