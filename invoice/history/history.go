// Package history issues invoices: it gives them their numbers and keeps them,
// with the evidence of what they were made from, in an SQLite file that only
// grows. It is the only package that knows SQLite.
//
// It owns the order of periods, the sequence of numbers and the chain of
// digests. It does not compose invoices, draw documents or read a clock: times
// and actors come in.
//
// # What protects the file
//
// Triggers refuse UPDATE, DELETE, REPLACE and every INSERT that leaves a gap or
// adds to a closed entry. Whoever can write the file can drop the triggers:
// then the chain shows it (VerifyChain), and, since a chain can be cut at its
// end, the hash of an issue belongs on paper or in a mail as well (Period.Hash).
package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
)

// busyTimeoutMilliseconds is how long one process waits for another's write.
const busyTimeoutMilliseconds = 10_000

// readers is how many queries may run at once.
const readers = 4

// DB is the history of one site. It may be used by several goroutines.
type DB struct {
	path string
	// write has one connection, read-only ones are apart: a reader never waits
	// for a writer. write is nil where the history was opened for reading.
	write, read *sql.DB
	// step is told the name of each point that a write passes, in tests.
	step func(point string)
}

// Open opens the history at path for reading and writing, and creates it or
// brings it up to this program's schema where need be. The folder must exist.
func Open(path string) (*DB, error) {
	write, err := connect(path, url.Values{
		"mode":    {"rwc"},
		"_txlock": {"immediate"},
		"_pragma": {
			fmt.Sprintf("busy_timeout(%d)", busyTimeoutMilliseconds), "journal_mode(WAL)", "synchronous(FULL)",
			"foreign_keys(1)", "trusted_schema(0)", "recursive_triggers(1)",
		},
	})
	if err != nil {
		return nil, fmt.Errorf("open history %s: %w", path, err)
	}
	write.SetMaxOpenConns(1)
	if err := migrate(context.Background(), write); err != nil {
		return nil, errors.Join(fmt.Errorf("open history %s: %w", path, err), write.Close())
	}
	db, err := openReaders(path)
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	db.write = write
	return db, nil
}

// OpenReadOnly opens an existing history; nothing is created or brought up to
// date. The error wraps fs.ErrNotExist where there is none.
func OpenReadOnly(path string) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open history: %w", err)
	}
	db, err := openReaders(path)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(context.Background(), db.read); err != nil {
		return nil, errors.Join(fmt.Errorf("open history %s: %w", path, err), db.Close())
	}
	return db, nil
}

func openReaders(path string) (*DB, error) {
	values := url.Values{
		"mode":    {"ro"},
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", busyTimeoutMilliseconds), "query_only(1)", "trusted_schema(0)"},
	}
	read, err := connect(path, values)
	if err != nil && onReadOnlyMedium(path) {
		values.Set("immutable", "1")
		read, err = connect(path, values)
	}
	if err != nil {
		return nil, fmt.Errorf("open history %s: %w", path, err)
	}
	read.SetMaxOpenConns(readers)
	return &DB{path: path, read: read, step: func(string) {}}, nil
}

// onReadOnlyMedium reports whether SQLite cannot make the shared memory that
// reading a write-ahead log needs, and there is no log to be read: a copy in a
// folder that cannot be written. With a log, reading the file alone would
// miss what is in it.
func onReadOnlyMedium(path string) bool {
	_, err := os.Stat(path + "-wal")
	return errors.Is(err, fs.ErrNotExist)
}

// connect opens path by URI (SQLite ignores the parameters of a plain path)
// and tries the connection.
func connect(path string, values url.Values) (*sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	values.Set("_defensive", "1")
	values.Set("_dqs", "0")
	uri := url.URL{Scheme: "file", Path: filepath.ToSlash(absolute), RawQuery: values.Encode()}
	connector, err := sqlite.NewConnector(uri.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	var n int
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Close releases the file.
func (db *DB) Close() error {
	err := db.read.Close()
	if db.write != nil {
		err = errors.Join(err, db.write.Close())
	}
	return err
}

// timeText is how every time is stored: RFC 3339, UTC, whole seconds.
func timeText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func parseTime(text string) (time.Time, error) { return time.Parse(time.RFC3339, text) }
