package history

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// applicationID marks the file as a history of hpcbill ("hpcb").
const applicationID = 0x68706362

//go:embed schema/*.sql
var schemaFiles embed.FS

// migration is one numbered step of the schema. Steps are never edited once
// released; new ones add tables, or columns that may be NULL, so that the
// digests of old rows stay as they are.
type migration struct {
	version int
	name    string
	text    string
}

// migrations gives the steps in order, which the file names number from 1.
func migrations() ([]migration, error) {
	files, err := schemaFiles.ReadDir("schema")
	if err != nil {
		return nil, err
	}
	var steps []migration
	for i, f := range files {
		number, _, _ := strings.Cut(f.Name(), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("BUG: schema file %s should be number %d", f.Name(), i+1)
		}
		text, err := schemaFiles.ReadFile(path.Join("schema", f.Name()))
		if err != nil {
			return nil, err
		}
		steps = append(steps, migration{version, f.Name(), string(text)})
	}
	return steps, nil
}

// versionOf reads which step a file has reached; 0 is an empty file.
func versionOf(ctx context.Context, q querier) (int, error) {
	var version, application, tables int
	for _, read := range []struct {
		pragma string
		into   *int
	}{
		{"PRAGMA user_version", &version}, {"PRAGMA application_id", &application},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := q.QueryRowContext(ctx, read.pragma).Scan(read.into); err != nil {
			return 0, err
		}
	}
	if application != applicationID && (tables > 0 || version > 0) {
		return 0, fmt.Errorf("the file is a database of another program")
	}
	return version, nil
}

// querier is what *sql.DB and *sql.Tx have in common.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// migrate applies the steps that the file lacks, all or none.
func migrate(ctx context.Context, db *sql.DB) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	if version, err := versionOf(ctx, db); err == nil && version == len(steps) {
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	version, err := versionOf(ctx, tx) // again, since another process may have been first
	if err != nil {
		return err
	}
	if version > len(steps) {
		return newerError(version, len(steps))
	}
	if version == len(steps) {
		return nil
	}
	for _, step := range steps[version:] {
		if _, err := tx.ExecContext(ctx, step.text); err != nil {
			return fmt.Errorf("schema %s: %w", step.name, err)
		}
	}
	for _, pragma := range []string{
		fmt.Sprintf("PRAGMA application_id = %d", applicationID), fmt.Sprintf("PRAGMA user_version = %d", len(steps)),
	} {
		if _, err := tx.ExecContext(ctx, pragma); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// checkVersion refuses a file that this program cannot read.
func checkVersion(ctx context.Context, db *sql.DB) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	version, err := versionOf(ctx, db)
	switch {
	case err != nil:
		return err
	case version > len(steps):
		return newerError(version, len(steps))
	case version == 0: // whoever made the file was ended before it had anything in it
		return fmt.Errorf("nothing is in the file: %w", fs.ErrNotExist)
	case version < len(steps):
		return fmt.Errorf("the history has schema %d; a verb that writes (such as ingest) brings it to schema %d", version, len(steps))
	}
	return nil
}

func newerError(version, known int) error {
	return fmt.Errorf("the history has schema %d, this program knows %d: it was written by a newer hpcbill", version, known)
}
