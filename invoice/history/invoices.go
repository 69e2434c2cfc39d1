package history

import (
	"context"
	"fmt"
	"strings"

	"hpcbill/invoice"
)

// Filter picks invoices; what is left out picks all.
type Filter struct {
	Period   string // "2026-03"
	Group    string // ID
	Kind     string // "invoice" or "credit"
	Revision int64
}

// Invoices gives issued invoices in the order of their numbers (by serial, so
// that the 100,000th does not stand before the 2nd).
func (db *DB) Invoices(ctx context.Context, f Filter) ([]invoice.Invoice, error) {
	return selectInvoices(ctx, db.read, f)
}

func selectInvoices(ctx context.Context, q querier, f Filter) ([]invoice.Invoice, error) {
	where, args := []string{"1"}, []any{}
	add := func(column string, value any, set bool) {
		if set {
			where, args = append(where, column+" = ?"), append(args, value)
		}
	}
	add("period", f.Period, f.Period != "")
	add("group_id", f.Group, f.Group != "")
	add("kind", f.Kind, f.Kind != "")
	add("revision", f.Revision, f.Revision != 0)
	return collect(ctx, q, scanBody,
		"SELECT body FROM invoices WHERE "+strings.Join(where, " AND ")+" ORDER BY fiscal_year, series, serial", args...)
}

// Invoice gives one issued invoice. The error wraps ErrNotFound where there is
// no such number.
func (db *DB) Invoice(ctx context.Context, number string) (invoice.Invoice, error) {
	found, err := collect(ctx, db.read, scanBody, "SELECT body FROM invoices WHERE number = ?", number)
	if err != nil {
		return invoice.Invoice{}, err
	}
	if len(found) == 0 {
		return invoice.Invoice{}, fmt.Errorf("invoice %s: %w", number, ErrNotFound)
	}
	return found[0], nil
}

// Ledger gives what the invoices of periods before the given one drew and
// counted, in the order of issue; "" gives all. What a later invoice says of
// one of these periods, as a correction, is not among it.
func (db *DB) Ledger(ctx context.Context, before string) ([]invoice.LedgerEntry, error) {
	return readLedger(ctx, db.read, before)
}

func readLedger(ctx context.Context, q querier, before string) ([]invoice.LedgerEntry, error) {
	return collect(ctx, q, func(row scanner) (invoice.LedgerEntry, error) {
		var e invoice.LedgerEntry
		var units string
		err := row.Scan(&e.Kind, &e.Group, &e.Allocation, &e.Pool, &e.Card, &e.Period, &e.Meter, &e.Unit, &units)
		if err != nil {
			return e, err
		}
		e.Units, err = invoice.ParseExact(units)
		return e, err
	}, `SELECT coalesce(l.kind, ''), l.group_id, l.allocation, coalesce(l.pool, ''), coalesce(l.card, ''), l.period, l.meter, l.unit, l.units
	      FROM ledger l JOIN invoices i ON i.entry = l.entry
	     WHERE ? = '' OR l.period < ? AND i.period < ? ORDER BY l.entry, l.item`, before, before, before)
}
