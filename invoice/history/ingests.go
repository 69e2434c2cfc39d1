package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Ingest is the record of one dump that was ingested, as the job store has it.
type Ingest struct {
	ID      string // the job store's, unique
	At      time.Time
	Cluster string
	File    string // as the operator named it
	Digest  string // SHA-256 of the dump as read
	Bytes   int64

	// Records is what the dump held: Steps + New + Revised + Unchanged +
	// Quarantined.
	Records, Steps, New, Revised, Unchanged, Quarantined int64

	FirstEnd, LastEnd time.Time // of its ended jobs; zero where there are none
}

// RecordIngest keeps the record of an ingest. Doing so again changes nothing;
// another record under the same ID is refused.
func (db *DB) RecordIngest(ctx context.Context, in Ingest, actor, program string) error {
	if in.ID == "" || in.Digest == "" {
		return fmt.Errorf("BUG: an ingest without ID or digest")
	}
	if old, err := readIngest(ctx, db.read, in.ID); err == nil {
		return sameIngest(old, in)
	} else if !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read history: %w", err)
	}
	return db.change(ctx, in.At, actor, program, func(c *change) error {
		if old, err := readIngest(ctx, c, in.ID); err == nil { // somebody was first
			return sameIngest(old, in)
		} else if !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("read history: %w", err)
		}
		err := c.insert(ctx, "ingests", []column{
			{"id", in.ID}, {"cluster", in.Cluster}, {"file", in.File}, {"digest", in.Digest},
			{"ingested_at", timeText(in.At)}, {"bytes", in.Bytes}, {"records", in.Records}, {"steps", in.Steps},
			{"new", in.New}, {"revised", in.Revised}, {"unchanged", in.Unchanged}, {"quarantined", in.Quarantined},
			{"first_end", optionalTime(in.FirstEnd)}, {"last_end", optionalTime(in.LastEnd)},
		})
		if err != nil {
			return err
		}
		_, err = c.close(ctx, "ingest", in.ID)
		return err
	})
}

func optionalTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return timeText(t)
}

func sameIngest(old, in Ingest) error {
	in.At, in.FirstEnd, in.LastEnd = whole(in.At), whole(in.FirstEnd), whole(in.LastEnd)
	if old != in {
		return fmt.Errorf("BUG: ingest %s is in the history with another record", in.ID)
	}
	return nil
}

// whole gives t as it is read back.
func whole(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}

const ingestColumns = `id, cluster, file, digest, ingested_at, bytes, records, steps, new, revised, unchanged, quarantined,
	coalesce(first_end, ''), coalesce(last_end, '')`

func readIngest(ctx context.Context, q querier, id string) (Ingest, error) {
	return scanIngest(q.QueryRowContext(ctx, "SELECT "+ingestColumns+" FROM ingests WHERE id = ?", id))
}

// scanner is a row or rows.
type scanner interface{ Scan(into ...any) error }

func scanIngest(row scanner) (Ingest, error) {
	var in Ingest
	var times [3]string
	err := row.Scan(&in.ID, &in.Cluster, &in.File, &in.Digest, &times[0], &in.Bytes, &in.Records, &in.Steps,
		&in.New, &in.Revised, &in.Unchanged, &in.Quarantined, &times[1], &times[2])
	if err != nil {
		return Ingest{}, err
	}
	for i, into := range []*time.Time{&in.At, &in.FirstEnd, &in.LastEnd} {
		if times[i] == "" {
			continue
		}
		if *into, err = parseTime(times[i]); err != nil {
			return Ingest{}, err
		}
	}
	return in, nil
}

// Ingests gives every ingest in the order in which they were recorded.
func (db *DB) Ingests(ctx context.Context) ([]Ingest, error) {
	return collect(ctx, db.read, scanIngest, "SELECT "+ingestColumns+" FROM ingests ORDER BY entry")
}

// collect reads all rows of a query.
func collect[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	return all, nil
}
