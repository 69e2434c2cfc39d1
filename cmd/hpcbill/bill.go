package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"

	"github.com/spf13/cobra"
)

func (a *app) billCommand() *cobra.Command {
	var period string
	var noDocuments bool
	c := &cobra.Command{
		Use:   "bill --period YYYY-MM",
		Short: "rate a month and write draft documents",
		Long: `Rates every job and holding of the month, writes the drafts into
invoices/YYYY-MM/draft and prints the totals, what is held and why, and what
changed since the last draft and against the month before; of a month that is
over, also the days without records. Nothing is final until hpcbill issue.
Billing an issued month computes it again: when nothing has changed it says so,
otherwise it shows the difference and exits with 4.

Exit codes: 0 done · 1 failed · 2 configuration · 4 issued, and differs.`,
		Example: "  hpcbill bill --period 2026-03",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withPeriod(period, func(s *site, p rates.Period) error { return a.bill(c.Context(), s, p, !noDocuments) })
		},
	}
	c.Flags().StringVar(&period, "period", "", "the month, such as 2026-03")
	c.Flags().BoolVar(&noDocuments, "no-documents", false, "draft without drawing pages and workbooks: quick, for a look at the totals")
	return c
}

// bill drafts one period, or proves that an issued one is unchanged.
func (a *app) bill(ctx context.Context, s *site, p rates.Period, documents bool) error {
	if err := a.recordIngests(ctx, s); err != nil {
		return err
	}
	state, err := s.history.Period(ctx, p.String())
	if err != nil {
		return err
	}
	if state.State == history.Issued {
		return a.billIssued(ctx, s, p)
	}
	gaps := a.lookForGaps(s, p)
	defer gaps.wait()
	before, err := s.lastDraft(ctx, p)
	if err != nil {
		return err
	}
	b, err := a.draft(ctx, s, p, documents)
	if err != nil {
		return err
	}
	err = errors.Join(a.printBilling(s, b, filepath.Join(invoicesDir, p.String(), draftDir)), a.printCoverage(gaps), a.printStorage(s, b))
	if err != nil {
		return err
	}
	cut, err := s.cutDumps(p)
	if err != nil {
		return err
	}
	a.printCut(cut)
	a.noticeBalances(b.invoices)
	if before != nil {
		a.printChanges("since the last draft", s, invoice.Compare(before, b.invoices))
	}
	if err := a.printMonthBefore(ctx, s, b); err != nil {
		return err
	}
	a.printLate(s, b)
	return nil
}

// draftDir holds a period's documents until it is issued.
const draftDir = "draft"

// draft computes a period and leaves its charges, its record and, where they
// are wanted, its documents.
func (a *app) draft(ctx context.Context, s *site, p rates.Period, draw bool) (*billing, error) {
	if err := errors.Join(missedAdjustments(ctx, s.history, s.inputs), missedMovements(ctx, s.history, s.inputs)); err != nil {
		return nil, err
	}
	idle, err := s.checkWaiving(ctx)
	if err != nil {
		return nil, err
	}
	a.printUnread(s.inputs)
	a.printIdleWaivers(s.inputs, idle, func(w *idleWaiver) bool { return w.concerns(p) })
	b, err := s.compute(ctx, s.inputs, p, keepCharges(s.path(chargesDir)))
	if err != nil {
		return nil, err
	}
	a.printIdleOutages(s.inputs, p, &b.summary)
	d := documents{
		dir: s.path(filepath.Join(invoicesDir, p.String(), draftDir)), charges: s.path(chargesDir),
		period: p, language: "en", invoices: b.invoices, storage: b.storage,
	}
	if draw {
		if err := d.draw(ctx); err != nil {
			return nil, err
		}
	}
	_, err = s.history.SaveDraft(ctx, history.Draft{
		Period: p.String(), Invoices: b.invoices, Evidence: s.evidence(b), At: a.clock(), Actor: a.actor(),
	})
	return b, err
}

// billIssued computes an issued period again, keeps nothing, and compares.
func (a *app) billIssued(ctx context.Context, s *site, p rates.Period) error {
	issued, err := s.history.Invoices(ctx, history.Filter{Period: p.String()})
	if err != nil {
		return err
	}
	b, err := s.compute(ctx, s.inputs, p, nil)
	if err != nil {
		return err
	}
	if changes := invoice.Compare(issued, b.invoices); len(changes) > 0 {
		a.printChanges("since it was issued", s, changes)
		return &history.DiffersError{Period: p.String(), Changes: changes, Currency: s.config.Currency}
	}
	fmt.Fprintf(a.stdout, "%s is issued and unchanged: %s, %s\n", p, count(int64(len(issued)), "invoice"),
		s.money(b.summary.Total))
	return nil
}

// lastDraft gives the invoices of a period's newest draft, nil where there is
// none.
func (s *site) lastDraft(ctx context.Context, p rates.Period) ([]invoice.Invoice, error) {
	d, err := s.history.LastDraft(ctx, p.String())
	if errors.Is(err, history.ErrNotFound) {
		return nil, nil
	}
	return d.Invoices, err
}

// evidence is what a billing was made from.
func (s *site) evidence(b *billing) history.Evidence {
	e := history.Evidence{Program: programBuild(), Summary: b.summary}
	for _, t := range s.texts {
		if s.storage.kinds[t.name] == listingText && !b.listings[t.name] {
			continue // of other months
		}
		e.Texts = append(e.Texts, history.Text{Kind: s.kindOf(t.name), Name: t.name, Body: t.text})
	}
	for _, r := range s.known {
		e.Ingests = append(e.Ingests, historyIngest(r).ID)
	}
	return e
}

// kindOf says what a text of the inputs is.
func (in *inputs) kindOf(name string) string {
	if kind := in.storage.kinds[name]; kind != "" {
		return kind
	}
	switch name {
	case configFile:
		return "site"
	case in.config.RosterFile:
		return "roster"
	}
	for _, f := range in.namedFiles() {
		if f.name == name {
			return f.key
		}
	}
	return "card"
}

// printMonthBefore shows each group against the month before, where that one
// is known.
func (a *app) printMonthBefore(ctx context.Context, s *site, b *billing) error {
	previous := b.period.Previous()
	before, err := s.history.Invoices(ctx, history.Filter{Period: previous.String()})
	if err != nil {
		return err
	}
	if len(before) == 0 {
		if before, err = s.lastDraft(ctx, previous); err != nil || len(before) == 0 {
			return err
		}
	}
	a.printAgainst(previous, s, before, b.invoices)
	return nil
}

// count prints a number with its noun: "1 invoice", "4,110 jobs".
func count(n int64, noun string) string {
	if n != 1 {
		switch {
		case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "day"):
			noun = strings.TrimSuffix(noun, "y") + "ies"
		default:
			noun += "s"
		}
	}
	return grouped(n) + " " + noun
}
