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

// Draft is a period's invoices before they are issued.
type Draft struct {
	Period   string
	Invoices []invoice.Invoice // sorted by group
	Evidence Evidence
	At       time.Time
	Actor    string
}

// SaveDraft keeps a draft beside those before it. A draft that says the same
// as the last one is not kept again. A period that is issued takes no draft
// that differs (DiffersError).
//
// saved says whether the history grew.
func (db *DB) SaveDraft(ctx context.Context, d Draft) (saved bool, err error) {
	if err := checkInvoices(d.Period, d.Invoices, &d.Evidence); err != nil {
		return false, err
	}
	err = db.change(ctx, d.At, d.Actor, d.Evidence.Program, func(c *change) error {
		if issued, err := isIssued(ctx, c, d.Period); err != nil || issued {
			if err == nil {
				_, err = sameAsIssued(ctx, c, d.Period, d.Invoices)
			}
			return err
		}
		last, err := lastDraft(ctx, c, d.Period)
		if err == nil && sameDraft(&last, &d) {
			return nil
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		saved = true
		return c.draft(ctx, &d)
	})
	return saved && err == nil, err
}

func (c *change) draft(ctx context.Context, d *Draft) error {
	if err := c.run(ctx, d.Period, "draft", "", &d.Evidence); err != nil {
		return err
	}
	for i := range d.Invoices {
		inv := &d.Invoices[i]
		body, err := encode(inv)
		if err != nil {
			return err
		}
		err = c.insert(ctx, "drafts", []column{
			{"item", int64(i + 1)}, {"group_id", inv.Group.ID}, {"total_minor", int64(inv.Total)},
			{"content_digest", inv.ContentDigest()}, {"body", body},
		})
		if err != nil {
			return err
		}
	}
	_, err := c.close(ctx, "draft", d.Period)
	return err
}

// sameDraft reports whether two drafts print the same from the same: a new
// dump or another edition of a card is worth keeping even where no invoice
// shows it.
func sameDraft(a, b *Draft) bool {
	if len(a.Invoices) != len(b.Invoices) || len(a.Evidence.Texts) != len(b.Evidence.Texts) ||
		len(a.Evidence.Ingests) != len(b.Evidence.Ingests) || a.Evidence.Program != b.Evidence.Program {
		return false
	}
	for i := range a.Invoices {
		if a.Invoices[i].Digest() != b.Invoices[i].Digest() {
			return false
		}
	}
	for i := range a.Evidence.Texts {
		x, y := &a.Evidence.Texts[i], &b.Evidence.Texts[i]
		if x.Kind != y.Kind || x.Name != y.Name || textDigest(x) != textDigest(y) {
			return false
		}
	}
	for i := range a.Evidence.Ingests {
		if a.Evidence.Ingests[i] != b.Evidence.Ingests[i] {
			return false
		}
	}
	x, xerr := json.Marshal(a.Evidence.Summary)
	y, yerr := json.Marshal(b.Evidence.Summary)
	return xerr == nil && yerr == nil && string(x) == string(y)
}

// LastDraft gives the newest draft of a period. The error wraps ErrNotFound
// where there is none.
func (db *DB) LastDraft(ctx context.Context, period string) (Draft, error) {
	return lastDraft(ctx, db.read, period)
}

func lastDraft(ctx context.Context, q querier, period string) (Draft, error) {
	var run sql.NullInt64
	err := q.QueryRowContext(ctx, "SELECT max(entry) FROM runs WHERE period = ? AND kind = 'draft'", period).Scan(&run)
	if err != nil {
		return Draft{}, fmt.Errorf("read history: %w", err)
	}
	if !run.Valid {
		return Draft{}, fmt.Errorf("draft of %s: %w", period, ErrNotFound)
	}
	recorded, err := readRun(ctx, q, run.Int64)
	if err != nil {
		return Draft{}, err
	}
	d := Draft{Period: period, Evidence: recorded.Evidence, At: recorded.At, Actor: recorded.Actor}
	d.Invoices, err = collect(ctx, q, scanBody, "SELECT body FROM drafts WHERE entry = ? ORDER BY item", run.Int64)
	return d, err
}

// scanBody reads an invoice back from its JSON.
func scanBody(row scanner) (invoice.Invoice, error) {
	var body string
	var inv invoice.Invoice
	if err := row.Scan(&body); err != nil {
		return inv, err
	}
	return inv, json.Unmarshal([]byte(body), &inv)
}

// encode gives an invoice's JSON, after making sure that it comes back whole.
func encode(inv *invoice.Invoice) (string, error) {
	body, err := json.Marshal(inv)
	if err != nil {
		return "", fmt.Errorf("invoice of %s: %w", inv.Group.ID, err)
	}
	var back invoice.Invoice
	if err := json.Unmarshal(body, &back); err != nil {
		return "", fmt.Errorf("BUG: invoice of %s does not read back: %w", inv.Group.ID, err)
	}
	if back.Digest() != inv.Digest() {
		return "", fmt.Errorf("BUG: invoice of %s reads back as another one (a text that is not UTF-8?)", inv.Group.ID)
	}
	return string(body), nil
}

// checkInvoices refuses what cannot be a period's drafts.
func checkInvoices(period string, invoices []invoice.Invoice, ev *Evidence) error {
	if _, err := time.Parse("2006-01", period); err != nil {
		return fmt.Errorf("BUG: %q is no period", period)
	}
	for i := range invoices {
		inv := &invoices[i]
		switch {
		case inv.Period != period:
			return fmt.Errorf("BUG: invoice of %s is for %s, not %s", inv.Group.ID, inv.Period, period)
		case inv.Number != "" || inv.Issued != "":
			return fmt.Errorf("BUG: the draft of %s has number %q", inv.Group.ID, inv.Number)
		case inv.Group.ID == "" || len(inv.Lines) == 0:
			return fmt.Errorf("BUG: the draft of %q has %d lines", inv.Group.ID, len(inv.Lines))
		}
	}
	if ev.Summary.Period != period {
		return fmt.Errorf("BUG: the summary is of %q, not %s", ev.Summary.Period, period)
	}
	return ev.Summary.Check(invoices)
}
