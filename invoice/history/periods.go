package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"hpcbill/rates/money"
)

// State is how far a period has come.
type State string

// The states of a period. Nothing leads back.
const (
	Untouched State = "open"    // nothing is kept of it
	Drafted   State = "drafted" // there is a draft
	Issued    State = "issued"  // numbered and closed
)

// Period is what the history knows of one period.
type Period struct {
	Period       string
	State        State
	Drafted      time.Time // of the last draft; zero where there is none
	Issued       time.Time // zero while not issued
	IssuedBy     string
	Invoices     int64
	Total        money.Amount // of its invoices and credit notes
	Currency     string
	Held         int64  // jobs and holdings held at the issue, or at the last draft
	AcceptedHeld string // the reason for which they were left out
	// Hash is that of the chain's entry that closed the period: whoever kept
	// it elsewhere can prove that nothing up to there has changed.
	Hash string
}

const periodColumns = `period, state, coalesce(drafted_at, ''), coalesce(issued_at, ''), coalesce(issued_by, ''), invoices,
	coalesce(total_minor, 0), coalesce(currency, ''), coalesce(held, 0), coalesce(accepted_held, ''), coalesce(hash, '')`

func scanPeriod(row scanner) (Period, error) {
	var p Period
	var drafted, issued string
	err := row.Scan(&p.Period, &p.State, &drafted, &issued, &p.IssuedBy, &p.Invoices, &p.Total, &p.Currency,
		&p.Held, &p.AcceptedHeld, &p.Hash)
	if err == nil && drafted != "" {
		p.Drafted, err = parseTime(drafted)
	}
	if err == nil && issued != "" {
		p.Issued, err = parseTime(issued)
	}
	return p, err
}

// Period gives the state of a period; one that is not known is open.
func (db *DB) Period(ctx context.Context, period string) (Period, error) {
	p, err := scanPeriod(db.read.QueryRowContext(ctx, "SELECT "+periodColumns+" FROM v_periods WHERE period = ?", period))
	if errors.Is(err, sql.ErrNoRows) {
		return Period{Period: period, State: Untouched}, nil
	}
	if err != nil {
		return Period{}, fmt.Errorf("read history: %w", err)
	}
	return p, nil
}

// Periods gives every period that is not open, in order.
func (db *DB) Periods(ctx context.Context) ([]Period, error) {
	return collect(ctx, db.read, scanPeriod, "SELECT "+periodColumns+" FROM v_periods")
}
