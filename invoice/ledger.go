package invoice

import (
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// LedgerEntry is what one issued period drew on one allocation, or counted
// towards tiers. Entries are only ever added; a balance or a count is never
// stored but computed from them, so that an old month run again finds what it
// found then.
type LedgerEntry struct {
	Kind        LedgerKind
	Group       string
	Allocation  string // of a draw; of a rule's limit, the rule
	Pool        string // of a rule's limit: who has it together
	Card        string // of a count
	Period      string // "2026-03"
	Meter, Unit string
	Units       money.Exact // drawn or counted, of CountedMoney money; > 0 but in a correction
}

func (e *LedgerEntry) content(w *canonicalWriter) {
	w.text("entry.kind", string(e.Kind))
	w.text("entry.group", e.Group)
	w.text("entry.allocation", e.Allocation)
	if e.Pool != "" {
		w.text("entry.pool", e.Pool)
	}
	w.text("entry.card", e.Card)
	w.text("entry.period", e.Period)
	w.text("entry.meter", e.Meter)
	w.text("entry.unit", e.Unit)
	w.text("entry.units", e.Units.String())
}

// LedgerKind is what an entry is.
type LedgerKind string

// The kinds of entry.
const (
	Drawn        LedgerKind = ""      // on a prepaid allocation
	CountedUnits LedgerKind = "units" // of a meter, over a fiscal year
	CountedMoney LedgerKind = "money" // that the units cost at list price

	// What a rule of reductions took or charged of its limit. They are the
	// kinds of its lines.
	Subsidised = LedgerKind(Discount)
	Allowed    = LedgerKind(Allowance)
	Capped     = LedgerKind(Cap)
)

// Opening is what an allocation still holds when a period begins: its units
// and what was deposited before, less what was refunded and what earlier
// periods inside its span drew. Entries of the same period
// and of later ones do not count, nor do those under the same name from
// before the allocation's first month or after its last: a yearly allocation
// may keep its name. Where one is renewed in the middle of a month, the new
// one needs a name of its own.
//
// The result is negative where a grant was lowered below what was drawn.
func Opening(group string, a *rates.Allocation, period rates.Period, ledger []LedgerEntry) money.Exact {
	granted := a.Units.Add(a.MovedBefore(rates.DateOf(period.Start, period.Start.Location())))
	return opening(group, a.Name, granted, a.From, a.Until, period.String(), ledger)
}

func opening(group, name string, units money.Exact, from, until rates.Date, period string, ledger []LedgerEntry) money.Exact {
	first, end := monthBounds(from, until)
	left := units
	for _, e := range ledger {
		// Periods are written year first, so they compare as text.
		if e.Kind == Drawn && e.Group == group && e.Allocation == name && e.Period < period && e.Period >= first && (end == "" || e.Period <= end) {
			left = left.Sub(e.Units)
		}
	}
	return left
}

// monthBounds gives the first and last month that a half-open span of days
// touches; "" is no bound.
func monthBounds(from, until rates.Date) (first, last string) {
	month := func(d rates.Date) string { return d.String()[:len("2026-03")] }
	if !from.IsZero() {
		first = month(from)
	}
	if !until.IsZero() {
		if until.Day == 1 { // the span ends with the day before
			until.Month--
			if until.Month == 0 {
				until.Year, until.Month = until.Year-1, 12
			}
		}
		last = month(until)
	}
	return first, last
}

// OpeningFrom computes again, from the ledger, what the balance printed as its
// opening should be. A difference means that the ledger has changed since the
// invoice was composed.
func (b *Balance) OpeningFrom(group, period string, ledger []LedgerEntry) money.Exact {
	return opening(group, b.Allocation, b.grantedBefore(), b.From, b.Until, period, ledger)
}

// grantedBefore is what was granted before the period.
func (b *Balance) grantedBefore() money.Exact { return b.Units.Sub(b.Deposits).Add(b.Refunds) }

// UsedBefore and UsedAfter are the parts of what was granted that were gone
// when the period began and when it ended, from 0 to 1; more than 1 where the
// balance is below nothing. Of a grant of nothing, all is gone.
func (b *Balance) UsedBefore() money.Exact { return gone(b.grantedBefore(), b.Opening) }

// UsedAfter: see UsedBefore.
func (b *Balance) UsedAfter() money.Exact { return gone(b.Units, b.Left) }

func gone(granted, left money.Exact) money.Exact {
	part, ok := granted.Sub(left).Quo(granted)
	if !ok {
		return money.Int(1)
	}
	return part
}

// LedgerEntries gives what the invoices draw and count, in their order: of
// their own period, and of issued ones what came in late.
func LedgerEntries(invoices []Invoice) []LedgerEntry {
	var entries []LedgerEntry
	for i := range invoices {
		entries = append(entries, invoices[i].ledgerEntries()...)
		entries = append(entries, invoices[i].Late...)
	}
	return entries
}

// ledgerEntries gives what the invoice draws and counts of its own period.
func (inv *Invoice) ledgerEntries() (entries []LedgerEntry) {
	for _, b := range inv.Balances {
		if b.Drawn.Sign() != 0 {
			entries = append(entries, LedgerEntry{
				Group: inv.Group.ID, Allocation: b.Allocation, Period: inv.Period,
				Meter: b.Meter, Unit: b.Unit, Units: b.Drawn,
			})
		}
	}
	for j := range inv.Counters {
		if c := &inv.Counters[j]; c.Counted.Sign() != 0 {
			entries = append(entries, c.entry(inv))
		}
	}
	for j := range inv.Pools {
		if p := &inv.Pools[j]; p.Counted.Sign() != 0 {
			entries = append(entries, p.entry(inv))
		}
	}
	return entries
}
