package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"hpcbill/invoice"
	"hpcbill/rates/money"
)

// Issue is a period that is to be issued.
type Issue struct {
	Period   string
	Invoices []invoice.Invoice // drafts, sorted by group; none where nothing is due
	Evidence Evidence

	// Earlier are the periods that must be issued before this one: the closed
	// months since the site began to bill.
	Earlier []string
	// AcceptedHeld is the reason for which held jobs and holdings are left
	// out; "" refuses to issue while there are any.
	AcceptedHeld string

	Numbering Numbering
	At        time.Time
	Actor     string
}

// Issue numbers the drafts and records them with their evidence, all or
// nothing, and gives them back as issued. From then on the period is closed.
//
// Issuing the same drafts again gives back what was issued, unchanged; other
// drafts for an issued period are refused (DiffersError), as are periods out
// of order (OrderError), held items without a reason (HeldError) and drafts
// made before an earlier period was issued (StaleError).
func (db *DB) Issue(ctx context.Context, is Issue) ([]invoice.Invoice, error) {
	if err := checkInvoices(is.Period, is.Invoices, &is.Evidence); err != nil {
		return nil, err
	}
	if err := is.Numbering.Check(); err != nil {
		return nil, err
	}
	var issued []invoice.Invoice
	err := db.change(ctx, is.At, is.Actor, is.Evidence.Program, func(c *change) error {
		done, err := isIssued(ctx, c, is.Period)
		if err != nil {
			return err
		}
		if done {
			issued, err = sameAsIssued(ctx, c, is.Period, is.Invoices)
			return err
		}
		if err := is.allowed(ctx, c); err != nil {
			return err
		}
		issued, err = c.issue(ctx, &is)
		return err
	})
	if err != nil {
		return nil, err
	}
	return issued, nil
}

func isIssued(ctx context.Context, q querier, period string) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, "SELECT count(*) FROM events WHERE period = ? AND kind = 'issued'", period).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("read history: %w", err)
	}
	return n > 0, nil
}

// sameAsIssued gives what was issued for the period when the drafts say the
// same, whatever words a newer program finds for it.
func sameAsIssued(ctx context.Context, q querier, period string, drafts []invoice.Invoice) ([]invoice.Invoice, error) {
	issued, err := selectInvoices(ctx, q, Filter{Period: period, Kind: "invoice", Revision: 1})
	if err != nil {
		return nil, err
	}
	byGroup := slices.Clone(issued)
	slices.SortFunc(byGroup, func(a, b invoice.Invoice) int { return strings.Compare(a.Group.ID, b.Group.ID) })
	changes := invoice.Compare(byGroup, drafts)
	if len(changes) == 0 {
		return issued, nil
	}
	differs := &DiffersError{Period: period, Changes: changes}
	for _, inv := range slices.Concat(byGroup, drafts) {
		differs.Currency = inv.Currency
	}
	return nil, differs
}

// allowed refuses an issue out of order, with held items, or on balances that
// have moved.
func (is *Issue) allowed(ctx context.Context, c *change) error {
	issued, err := collect(ctx, c, func(row scanner) (period string, err error) { return period, row.Scan(&period) },
		"SELECT period FROM events WHERE kind = 'issued' ORDER BY period")
	if err != nil {
		return err
	}
	if n := len(issued); n > 0 && issued[n-1] > is.Period {
		i, _ := slices.BinarySearch(issued, is.Period)
		return &OrderError{Period: is.Period, Later: issued[i]}
	}
	earlier := slices.Sorted(slices.Values(is.Earlier))
	for _, p := range earlier {
		if _, found := slices.BinarySearch(issued, p); !found && p < is.Period {
			return &OrderError{Period: is.Period, Missing: p}
		}
	}
	if held := is.Evidence.Summary.Held(); held > 0 && is.AcceptedHeld == "" {
		return &HeldError{Period: is.Period, Held: held, Causes: is.Evidence.Summary.HeldCauses()}
	}
	ledger, err := readLedger(ctx, c, is.Period)
	if err != nil {
		return err
	}
	for i := range is.Invoices {
		ledger = append(ledger, is.Invoices[i].Late...)
	}
	for i := range is.Invoices {
		inv := &is.Invoices[i]
		for j := range inv.Balances {
			b := &inv.Balances[j]
			if left := b.OpeningFrom(inv.Group.ID, is.Period, ledger); !left.Equal(b.Opening) {
				return &StaleError{is.Period, inv.Group.ID, "allocation " + b.Allocation, b.Opening, left}
			}
		}
		for j := range inv.Pools {
			p := &inv.Pools[j]
			if counted := p.OpeningFrom(is.Period, ledger); !counted.Equal(p.Opening) {
				return &StaleError{is.Period, inv.Group.ID, "what counts towards the limit of " + p.Rule, p.Opening, counted}
			}
			if counted := p.EarlierFrom(ledger); !counted.Equal(p.Earlier) {
				return &StaleError{is.Period, inv.Group.ID, "what was counted before of " + p.Rule, p.Earlier, counted}
			}
		}
		for j := range inv.Counters {
			c := &inv.Counters[j]
			if counted := c.OpeningFrom(inv.Group.ID, is.Period, ledger); !counted.Equal(c.Opening) {
				return &StaleError{is.Period, inv.Group.ID, "what is counted of " + c.Meter, c.Opening, counted}
			}
		}
	}
	return nil
}

func (c *change) issue(ctx context.Context, is *Issue) ([]invoice.Invoice, error) {
	if err := c.run(ctx, is.Period, "issue", is.AcceptedHeld, &is.Evidence); err != nil {
		return nil, err
	}
	run, err := c.close(ctx, "run", is.Period)
	if err != nil {
		return nil, err
	}
	issued := slices.Clone(is.Invoices)
	var total money.Amount
	for i := range issued {
		if err := c.number(ctx, &issued[i], is.Numbering, run); err != nil {
			return nil, err
		}
		total += issued[i].Total
	}
	err = c.insert(ctx, "events", []column{
		{"period", is.Period}, {"kind", "issued"}, {"run", run},
		{"detail", fmt.Sprintf("%d invoices, %s %s", len(issued), is.Evidence.Summary.Currency.Plain(total), is.Evidence.Summary.Currency.Code)},
	})
	if err != nil {
		return nil, err
	}
	_, err = c.close(ctx, "issued", is.Period)
	return issued, err
}

// number gives a draft the next number of its series and records it.
func (c *change) number(ctx context.Context, inv *invoice.Invoice, n Numbering, run int64) error {
	year, err := n.FiscalYear(inv.Period)
	if err != nil {
		return err
	}
	var serial int
	err = c.QueryRowContext(ctx, "SELECT coalesce(max(serial), 0) + 1 FROM invoices WHERE series = ? AND fiscal_year = ?", n.Series, year).Scan(&serial)
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	content := inv.ContentDigest()
	inv.Number, inv.Issued = n.Number(year, serial), c.at
	body, err := encode(inv)
	if err != nil {
		return err
	}
	plain, g, additions := inv.Currency.Plain, &inv.Group, inv.Additions()
	columns := []column{
		{"number", inv.Number}, {"kind", "invoice"}, {"series", n.Series}, {"fiscal_year", int64(year)}, {"serial", int64(serial)},
		{"period", inv.Period}, {"revision", int64(1)}, {"run", run}, {"issued_at", inv.Issued},
		{"group_id", g.ID}, {"group_name", g.Name}, {"pi", g.PI}, {"department", g.Department}, {"class", g.Class}, {"fund", g.Fund},
		{"currency", inv.Currency.Code}, {"currency_digits", int64(inv.Currency.Digits)},
		{"list_minor", int64(inv.List + additions)}, {"list", plain(inv.List)},
		{"reductions_minor", int64(inv.Reductions)}, {"reductions", plain(inv.Reductions)},
		{"total_minor", int64(inv.Total)}, {"total", plain(inv.Total)}, {"jobs", inv.Jobs},
		{"content_digest", content}, {"digest", inv.Digest()}, {"body", body},
	}
	if additions != 0 {
		columns = append(columns, column{"additions_minor", int64(additions)}, column{"additions", plain(additions)})
	}
	if err := c.insert(ctx, "invoices", columns); err != nil {
		return err
	}
	if err := c.lines(ctx, inv); err != nil {
		return err
	}
	if err := c.draws(ctx, inv); err != nil {
		return err
	}
	_, err = c.close(ctx, "invoice", inv.Number)
	return err
}

// quantityPlaces is how many digits the readable quantity of a line has after
// its point; the exact one stands beside it.
const quantityPlaces = 6

func (c *change) lines(ctx context.Context, inv *invoice.Invoice) error {
	for i := range inv.Lines {
		if err := c.insert(ctx, "invoice_lines", lineColumns(&inv.Lines[i], inv.Currency)); err != nil {
			return err
		}
	}
	return nil
}

func lineColumns(l *invoice.Line, currency money.Currency) []column {
	var reduces any
	if l.Of > 0 {
		reduces = int64(l.Of)
	}
	columns := []column{
		{"item", int64(l.Position)}, {"kind", string(l.Kind)}, {"cluster", l.Cluster}, {"meter", l.Meter}, {"unit", l.Unit},
		{"price_label", l.PriceLabel}, {"description", l.Description},
		{"quantity", l.Quantity.Decimal(quantityPlaces, money.HalfEven)}, {"quantity_exact", l.Quantity.String()},
		{"price", l.Price.String()}, {"exact", l.Exact.String()},
		{"amount_minor", int64(l.Amount)}, {"amount", currency.Plain(l.Amount)}, {"jobs", l.Jobs},
		{"code", l.Code}, {"reason", l.Reason}, {"reduces", reduces},
		{"card", l.Card}, {"card_digest", l.CardDigest}, {"version", l.Version.String()},
	}
	if l.Reference != "" {
		columns = append(columns, column{"reference", l.Reference}, column{"author", l.Author})
	}
	return columns
}

// draws records what an invoice draws on allocations and counts towards tiers.
func (c *change) draws(ctx context.Context, inv *invoice.Invoice) error {
	for i, e := range invoice.LedgerEntries([]invoice.Invoice{*inv}) {
		columns := []column{
			{"item", int64(i + 1)}, {"group_id", e.Group}, {"allocation", e.Allocation}, {"period", e.Period},
			{"meter", e.Meter}, {"unit", e.Unit}, {"units", e.Units.String()},
		}
		if e.Pool != "" {
			columns = append(columns, column{"pool", e.Pool})
		}
		if e.Kind != invoice.Drawn {
			columns = append(columns, column{"kind", string(e.Kind)}, column{"card", e.Card})
		}
		err := c.insert(ctx, "ledger", columns)
		if err != nil {
			return err
		}
	}
	return nil
}
