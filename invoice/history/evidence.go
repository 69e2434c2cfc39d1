package history

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hpcbill/invoice"
)

// Evidence is what a period's invoices were made from.
type Evidence struct {
	Program string          // version of hpcbill
	Summary invoice.Summary // both equations, what was held and why, totals
	Texts   []Text          // cards, roster, storage, site configuration
	Ingests []string        // IDs of the ingests whose records contribute
}

// Text is a file that billed, kept whole.
type Text struct {
	Kind   string // "card", "roster", "storage", "site" …
	Name   string // the file, as it was named
	Digest string // SHA-256 of Body, hexadecimal; filled in where ""
	Body   []byte
}

// Recorded is evidence as it was kept, with when and by whom.
type Recorded struct {
	Evidence
	At           time.Time
	Actor        string
	AcceptedHeld string // the reason for which held items were left out, or ""
	Sources      []Ingest
	Entry        int64  // of the chain
	Hash         string // of that entry
}

// run keeps the evidence and opens an entry for it; the caller adds what
// belongs to it and closes it.
func (c *change) run(ctx context.Context, period, kind, acceptedHeld string, ev *Evidence) error {
	for i := range ev.Texts {
		if err := c.text(ctx, &ev.Texts[i]); err != nil {
			return err
		}
	}
	summary, err := json.Marshal(ev.Summary)
	if err != nil {
		return err
	}
	var accepted any
	if acceptedHeld != "" {
		accepted = acceptedHeld
	}
	err = c.insert(ctx, "runs", []column{
		{"period", period}, {"kind", kind}, {"summary", string(summary)}, {"held", ev.Summary.Held()}, {"accepted_held", accepted},
	})
	if err != nil {
		return err
	}
	for i, t := range ev.Texts {
		err := c.insert(ctx, "run_texts", []column{{"item", int64(i + 1)}, {"kind", t.Kind}, {"name", t.Name}, {"digest", textDigest(&t)}})
		if err != nil {
			return err
		}
	}
	for i, id := range ev.Ingests {
		if _, err := readIngest(ctx, c, id); err != nil {
			return fmt.Errorf("BUG: ingest %s is evidence but was not recorded: %w", id, err)
		}
		if err := c.insert(ctx, "run_ingests", []column{{"item", int64(i + 1)}, {"ingest", id}}); err != nil {
			return err
		}
	}
	return nil
}

func textDigest(t *Text) string {
	if t.Digest != "" {
		return t.Digest
	}
	return digest(t.Body)
}

// text keeps a text that is not kept yet, in an entry of its own.
func (c *change) text(ctx context.Context, t *Text) error {
	sum := textDigest(t)
	if sum != digest(t.Body) {
		return fmt.Errorf("BUG: %s %s: the digest is not that of the text", t.Kind, t.Name)
	}
	var n int
	err := c.QueryRowContext(ctx, "SELECT 1 FROM texts WHERE digest = ?", sum).Scan(&n)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	body := t.Body
	if body == nil {
		body = []byte{}
	}
	if err := c.insert(ctx, "texts", []column{{"digest", sum}, {"body", body}}); err != nil {
		return err
	}
	_, err = c.close(ctx, "text", sum)
	return err
}

// Evidence gives what the invoices of an issued period were made from.
func (db *DB) Evidence(ctx context.Context, period string) (Recorded, error) {
	var run int64
	err := db.read.QueryRowContext(ctx, "SELECT run FROM events WHERE period = ? AND kind = 'issued'", period).Scan(&run)
	if errors.Is(err, sql.ErrNoRows) {
		return Recorded{}, fmt.Errorf("period %s: not issued: %w", period, ErrNotFound)
	}
	if err != nil {
		return Recorded{}, fmt.Errorf("read history: %w", err)
	}
	return readRun(ctx, db.read, run)
}

// IssuedTexts gives the texts of one kind from which an issued period was made,
// without the rest of its evidence; none where it is not issued.
func (db *DB) IssuedTexts(ctx context.Context, period, kind string) ([]Text, error) {
	texts, err := collect(ctx, db.read, func(row scanner) (Text, error) {
		var t Text
		return t, row.Scan(&t.Kind, &t.Name, &t.Digest, &t.Body)
	}, `SELECT r.kind, r.name, r.digest, t.body FROM events e JOIN run_texts r ON r.entry = e.run JOIN texts t ON t.digest = r.digest
		WHERE e.period = ? AND e.kind = 'issued' AND r.kind = ? ORDER BY r.item`, period, kind)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return texts, nil
}

func readRun(ctx context.Context, q querier, run int64) (Recorded, error) {
	r := Recorded{Entry: run}
	var summary, at string
	err := q.QueryRowContext(ctx, `SELECT r.summary, coalesce(r.accepted_held, ''), e.at, e.actor, e.program, e.hash
		FROM runs r JOIN entries e ON e.entry = r.entry WHERE r.entry = ?`, run).
		Scan(&summary, &r.AcceptedHeld, &at, &r.Actor, &r.Program, &r.Hash)
	if err != nil {
		return Recorded{}, fmt.Errorf("read history: run %d: %w", run, err)
	}
	if r.At, err = parseTime(at); err != nil {
		return Recorded{}, fmt.Errorf("read history: run %d: %w", run, err)
	}
	if err := json.Unmarshal([]byte(summary), &r.Summary); err != nil {
		return Recorded{}, fmt.Errorf("read history: run %d: summary: %w", run, err)
	}
	r.Texts, err = collect(ctx, q, func(row scanner) (Text, error) {
		var t Text
		return t, row.Scan(&t.Kind, &t.Name, &t.Digest, &t.Body)
	}, "SELECT r.kind, r.name, r.digest, t.body FROM run_texts r JOIN texts t ON t.digest = r.digest WHERE r.entry = ? ORDER BY r.item", run)
	if err != nil {
		return Recorded{}, err
	}
	r.Sources, err = collect(ctx, q, scanIngest,
		"SELECT "+ingestColumns+" FROM run_ingests r JOIN ingests i ON i.id = r.ingest WHERE r.entry = ? ORDER BY r.item", run)
	for _, in := range r.Sources {
		r.Ingests = append(r.Ingests, in.ID)
	}
	return r, err
}
