package history

import (
	"errors"
	"fmt"
	"strings"

	"hpcbill/invoice"
	"hpcbill/rates/money"
)

// ErrNotFound is wrapped where a number or a period is not in the history.
var ErrNotFound = errors.New("not in the history")

// mostChangesShown bounds how many groups an error lists; the rest is counted.
const mostChangesShown = 10

// DiffersError is a period that is issued, where what is asked for differs
// from what was issued. Nothing was written.
type DiffersError struct {
	Period   string
	Changes  []invoice.GroupChange // from what was issued to what is asked for
	Currency money.Currency
}

func (e *DiffersError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "period %s is issued, and what is asked for differs", e.Period)
	for i, g := range e.Changes {
		if i == mostChangesShown {
			fmt.Fprintf(&b, "; and %d more groups", len(e.Changes)-i)
			break
		}
		fmt.Fprintf(&b, "; %s: %s to %s %s", g.Group, e.total(g.Before), e.total(g.After), e.Currency.Code)
		if len(g.Other) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(g.Other, ", "))
		}
	}
	return b.String()
}

func (e *DiffersError) total(inv *invoice.Invoice) string {
	if inv == nil {
		return "nothing"
	}
	return inv.Currency.Plain(inv.Total)
}

// Hint says what can be done.
func (e *DiffersError) Hint() string {
	return "an issued month is never changed: late or revised records belong on the next invoice, a mistake is corrected by a credit note"
}

// OrderError is a period that cannot be issued before or after another.
type OrderError struct {
	Period  string
	Missing string // an earlier period that is not issued, or
	Later   string // a later one that is
}

func (e *OrderError) Error() string {
	if e.Missing != "" {
		return fmt.Sprintf("issue %s: %s is not issued yet, and months are issued in order", e.Period, e.Missing)
	}
	return fmt.Sprintf("issue %s: %s is issued already, and months are issued in order", e.Period, e.Later)
}

// Hint says what can be done.
func (e *OrderError) Hint() string {
	if e.Missing != "" {
		return fmt.Sprintf("issue %s first: balances that carry over are counted month by month", e.Missing)
	}
	return "balances that carry over were counted without this month; its records belong on a later invoice"
}

// HeldError is an issue while jobs or holdings are held.
type HeldError struct {
	Period string
	Held   int64
	Causes []invoice.CauseSum
}

func (e *HeldError) Error() string {
	s := fmt.Sprintf("issue %s: %d jobs or holdings are held", e.Period, e.Held)
	for i, c := range e.Causes {
		if i == mostChangesShown {
			return s + fmt.Sprintf("; and %d more causes", len(e.Causes)-i)
		}
		s += fmt.Sprintf("; %d: %s %s", c.Count, c.Code, c.Detail)
	}
	return s
}

// Hint says what can be done.
func (e *HeldError) Hint() string {
	return "clear what is held (bill says how), or leave it out with --accept-held REASON"
}

// StaleError is a draft whose opening balance, or count of tiers, is no longer
// what the ledger says: an earlier period was issued after the draft was made.
type StaleError struct {
	Period, Group   string
	Of              string // "allocation FY26"
	Printed, Ledger money.Exact
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("issue %s: group %s: %s opens at %s in the draft, but at %s in the ledger",
		e.Period, e.Group, e.Of, e.Printed, e.Ledger)
}

// Hint says what can be done.
func (e *StaleError) Hint() string {
	return fmt.Sprintf("make the draft again: hpcbill bill --period %s", e.Period)
}

// ChainError is the first thing in the history that does not fit.
type ChainError struct {
	Entry  int64  // 0 where it is the file as a whole
	About  string // "invoice HPC-2026-00003"
	Reason string
}

func (e *ChainError) Error() string {
	if e.Entry == 0 {
		return "history: " + e.Reason
	}
	return fmt.Sprintf("history: entry %d (%s): %s", e.Entry, e.About, e.Reason)
}

// Hint says what can be done.
func (e *ChainError) Hint() string {
	return "the file was changed by other means than hpcbill, or is damaged: restore a copy and compare"
}
