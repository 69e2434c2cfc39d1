package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Document is a file that was written for an issued period.
type Document struct {
	Number string // of the invoice; "" where the document is the period's
	Name   string // path below the period's folder
	Digest string // SHA-256 of the bytes, hexadecimal
	Bytes  int64
}

// RecordDocuments keeps which documents were written for an issued period.
// Recording the same ones again changes nothing; a document that came out
// otherwise is recorded anew beside the old.
func (db *DB) RecordDocuments(ctx context.Context, period string, documents []Document, at time.Time, actor, program string) error {
	return db.change(ctx, at, actor, program, func(c *change) error {
		issued, err := isIssued(ctx, c, period)
		if err != nil {
			return err
		}
		if !issued {
			return fmt.Errorf("documents of %s: not issued: %w", period, ErrNotFound)
		}
		known, err := readDocuments(ctx, c, period)
		if err != nil {
			return err
		}
		item := int64(0)
		sorted := slices.SortedFunc(slices.Values(documents), func(a, b Document) int { return strings.Compare(a.Name, b.Name) })
		for _, d := range sorted {
			if slices.Contains(known, d) {
				continue
			}
			item++
			var number any
			if d.Number != "" {
				number = d.Number
			}
			err := c.insert(ctx, "documents", []column{
				{"item", item}, {"period", period}, {"number", number}, {"name", d.Name}, {"digest", d.Digest}, {"bytes", d.Bytes},
			})
			if err != nil {
				return err
			}
		}
		if item == 0 {
			return nil
		}
		_, err = c.close(ctx, "documents", period)
		return err
	})
}

// Documents gives the documents recorded for a period, the newest of each
// name, by name.
func (db *DB) Documents(ctx context.Context, period string) ([]Document, error) {
	return readDocuments(ctx, db.read, period)
}

func readDocuments(ctx context.Context, q querier, period string) ([]Document, error) {
	return collect(ctx, q, func(row scanner) (Document, error) {
		var d Document
		return d, row.Scan(&d.Number, &d.Name, &d.Digest, &d.Bytes)
	}, `SELECT coalesce(number, ''), name, digest, bytes FROM documents d
	     WHERE period = ? AND entry = (SELECT max(entry) FROM documents WHERE period = d.period AND name = d.name)
	     ORDER BY name`, period)
}
