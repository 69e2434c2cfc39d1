package history

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"iter"

	"modernc.org/sqlite"
)

// Query runs one statement that reads, and gives its columns and rows. A value
// is an int64, a float64, a string, a []byte or nil. rows must be ranged over,
// which releases the connection; an error ends it.
//
// Nothing but reading is possible: the connection is read-only, and whatever
// is not a SELECT over the history's own tables and views (PRAGMA, ATTACH and
// all that writes) is refused when it is compiled.
func (db *DB) Query(ctx context.Context, query string) (columns []string, rows iter.Seq2[[]any, error], err error) {
	if err := oneStatement(query); err != nil {
		return nil, nil, fmt.Errorf("query history: %w", err)
	}
	conn, err := db.read.Conn(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("query history: %w", err)
	}
	release := func() {
		if authorize(conn, nil) != nil {
			conn.Raw(func(any) error { return driver.ErrBadConn }) // not to be used again
		}
		conn.Close()
	}
	if err := authorize(conn, readingOnly); err != nil {
		release()
		return nil, nil, fmt.Errorf("query history: %w", err)
	}
	found, err := conn.QueryContext(ctx, query)
	if err != nil {
		release()
		return nil, nil, fmt.Errorf("query history: %w", err)
	}
	if columns, err = found.Columns(); err == nil && len(columns) == 0 {
		err = fmt.Errorf("no statement that reads")
	}
	if err != nil {
		found.Close()
		release()
		return nil, nil, fmt.Errorf("query history: %w", err)
	}
	return columns, func(yield func([]any, error) bool) {
		defer release()
		defer found.Close()
		yieldRows(found, len(columns), yield)
	}, nil
}

func yieldRows(found *sql.Rows, columns int, yield func([]any, error) bool) {
	for found.Next() {
		values, into := make([]any, columns), make([]any, columns)
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			yield(nil, fmt.Errorf("query history: %w", err))
			return
		}
		if !yield(values, nil) {
			return
		}
	}
	if err := found.Err(); err != nil {
		yield(nil, fmt.Errorf("query history: %w", err))
	}
}

// authorize sets what statements on the connection may do; nil lifts it.
func authorize(conn *sql.Conn, allow sqlite.AuthorizerFn) error {
	return conn.Raw(func(driverConn any) error {
		registerer, ok := driverConn.(sqlite.AuthorizerRegisterer)
		if !ok {
			return fmt.Errorf("BUG: the SQLite driver has no authorizer")
		}
		return registerer.RegisterAuthorizer(allow)
	})
}

// readingOnly lets a statement read tables and call functions, no more.
func readingOnly(action sqlite.AuthorizerActionCode, _, name, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthFunction:
		if name != "load_extension" {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}
