package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"hpcbill/invoice"
)

// VerifyChain computes every hash again and checks what hashes cannot show:
// that the schema and its triggers are in place, that no row stands outside
// the chain, that each invoice is what its columns and lines say and adds up,
// and that the numbers have no gap. The error is a ChainError about the first
// thing that does not fit.
//
// A chain that was cut at its end is whole as far as it goes: compare Head, or
// the hash of a Period, with what was printed or mailed at the time.
func (db *DB) VerifyChain(ctx context.Context) error {
	tx, err := db.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	defer tx.Rollback()
	for _, check := range []func(context.Context, querier) error{
		verifyFile, verifyEntries, verifyOwned, verifyInvoices, verifySchema,
	} {
		if err := check(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

// Head gives the number and the hash of the newest entry of the chain; 0 and
// "genesis" where there is none.
func (db *DB) Head(ctx context.Context) (number int64, hash string, err error) {
	e, err := head(ctx, db.read)
	if err != nil {
		return 0, "", fmt.Errorf("read history: %w", err)
	}
	return e.number, e.hashed, nil
}

func verifyFile(ctx context.Context, q querier) error {
	faults, err := collect(ctx, q, func(row scanner) (text string, err error) { return text, row.Scan(&text) }, "PRAGMA integrity_check(1)")
	if err != nil {
		return err
	}
	if len(faults) != 1 || faults[0] != "ok" {
		return &ChainError{Reason: "the file is damaged: " + strings.Join(faults, "; ")}
	}
	return nil
}

// verifyEntries walks the chain. Each entry's rows are read again.
func verifyEntries(ctx context.Context, q querier) error {
	entries, err := collect(ctx, q, func(row scanner) (entry, error) {
		var e entry
		return e, row.Scan(&e.number, &e.kind, &e.about, &e.at, &e.actor, &e.program, &e.content, &e.previous, &e.hashed)
	}, "SELECT entry, kind, about, at, actor, program, content, previous, hash FROM entries ORDER BY entry")
	if err != nil {
		return err
	}
	previous := genesis
	for i := range entries {
		e := &entries[i]
		fault := func(reason string) error { return &ChainError{e.number, e.kind + " " + e.about, reason} }
		if e.number != int64(i+1) {
			return fault(fmt.Sprintf("entry %d is missing", i+1))
		}
		if e.previous != previous {
			return fault("does not follow the entry before it")
		}
		if e.hash() != e.hashed {
			return fault("its own fields do not have its hash")
		}
		text, err := contentText(ctx, q, e.number)
		if err != nil {
			return fault(err.Error())
		}
		if digest(text) != e.content {
			return fault("its rows are not those that were recorded")
		}
		previous = e.hashed
	}
	return nil
}

// verifyOwned looks for rows that belong to no entry. Another program may put
// one where the next entry will be; it must not be closed into the chain.
func verifyOwned(ctx context.Context, q querier) error {
	for _, c := range chained {
		var n int64
		err := q.QueryRowContext(ctx, "SELECT count(*) FROM "+c.table+" WHERE entry < 1 OR entry > (SELECT coalesce(max(entry), 0) FROM entries)").Scan(&n)
		if err != nil {
			return fmt.Errorf("read history: %w", err)
		}
		if n > 0 {
			return &ChainError{Reason: fmt.Sprintf("%d rows of %s stand outside the chain", n, c.table)}
		}
	}
	return nil
}

// verifyInvoices checks that the columns of each invoice and of its lines say
// what its body says, that it adds up, and that its number is the next one.
func verifyInvoices(ctx context.Context, q querier) error {
	rows, err := collect(ctx, q, func(row scanner) (issuedRow, error) {
		var r issuedRow
		return r, row.Scan(&r.entry, &r.number, &r.series, &r.year, &r.serial, &r.group, &r.list, &r.reductions, &r.total, &r.digest, &r.content, &r.body)
	}, `SELECT entry, number, series, fiscal_year, serial, group_id, list_minor, reductions_minor, total_minor, digest, content_digest, body
	      FROM invoices ORDER BY series, fiscal_year, serial`)
	if err != nil {
		return err
	}
	last := make(map[string]int64)
	for _, r := range rows {
		sequence := fmt.Sprintf("%s/%d", r.series, r.year)
		if r.serial != last[sequence]+1 {
			return &ChainError{r.entry, "invoice " + r.number, fmt.Sprintf("number %d of %s is missing", last[sequence]+1, sequence)}
		}
		last[sequence] = r.serial
		if reason := r.verify(ctx, q); reason != "" {
			return &ChainError{r.entry, "invoice " + r.number, reason}
		}
	}
	return nil
}

type issuedRow struct {
	entry                   int64
	number, series          string
	year, serial            int64
	group                   string
	list, reductions, total int64
	digest, content, body   string
}

// verify gives what is wrong with an invoice, or "".
func (r *issuedRow) verify(ctx context.Context, q querier) string {
	var inv invoice.Invoice
	if err := json.Unmarshal([]byte(r.body), &inv); err != nil {
		return "its body cannot be read: " + err.Error()
	}
	switch {
	case inv.Digest() != r.digest || inv.ContentDigest() != r.content:
		return "its body does not have its digest"
	case inv.Number != r.number || inv.Group.ID != r.group || int64(inv.List+inv.Additions()) != r.list ||
		int64(inv.Reductions) != r.reductions || int64(inv.Total) != r.total:
		return "its columns are not what its body says"
	}
	if err := inv.Check(); err != nil {
		return err.Error()
	}
	var lines, sum int64
	err := q.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(amount_minor), 0) FROM invoice_lines WHERE entry = ?", r.entry).Scan(&lines, &sum)
	if err != nil {
		return err.Error()
	}
	if lines != int64(len(inv.Lines)) || sum != r.total {
		return fmt.Sprintf("%d lines of %d in all are kept, its body has %d of %d", lines, sum, len(inv.Lines), inv.Total)
	}
	return ""
}

// verifySchema compares tables, triggers and views with those that this
// program would make: a missing trigger is a door left open.
func verifySchema(ctx context.Context, q querier) error {
	fresh, err := sql.Open("sqlite", "file::memory:?_txlock=immediate")
	if err != nil {
		return err
	}
	defer fresh.Close()
	fresh.SetMaxOpenConns(1)
	if err := migrate(ctx, fresh); err != nil {
		return fmt.Errorf("BUG: the schema does not apply: %w", err)
	}
	const list = `SELECT type || ' ' || name || coalesce(': ' || sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name`
	read := func(q querier) (map[string]bool, []string, error) {
		texts, err := collect(ctx, q, func(row scanner) (text string, err error) { return text, row.Scan(&text) }, list)
		set := make(map[string]bool, len(texts))
		for _, t := range texts {
			set[t] = true
		}
		return set, texts, err
	}
	want, wanted, err := read(fresh)
	if err != nil {
		return err
	}
	got, gotten, err := read(q)
	if err != nil {
		return err
	}
	for _, text := range wanted {
		if !got[text] {
			name, _, _ := strings.Cut(text, ":")
			return &ChainError{Reason: name + " is missing or was changed"}
		}
	}
	for _, text := range gotten {
		if !want[text] {
			name, _, _ := strings.Cut(text, ":")
			return &ChainError{Reason: name + " is not of this program"}
		}
	}
	return nil
}
