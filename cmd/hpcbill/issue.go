package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"

	"github.com/spf13/cobra"
)

func (a *app) issueCommand() *cobra.Command {
	var period, acceptHeld string
	c := &cobra.Command{
		Use:   "issue --period YYYY-MM",
		Short: "number and freeze the drafts of a month",
		Long: `Computes the drafts once more, makes sure that they are the ones that were
reviewed, numbers them, records them in the history and writes the final
documents into invoices/YYYY-MM. From then on the month is closed.

Refuses while the month is not over, an earlier month is not issued, anything is
held or quarantined in it (unless --accept-held gives the reason, which is kept),
a row of waivers.csv that may be of it meets no job, or the inputs have changed
since the draft. Issuing an issued month again draws
its documents again and changes nothing.

Exit codes: 0 done · 1 refused · 2 configuration · 4 issued, and differs.`,
		Example: "  hpcbill issue --period 2026-03",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withPeriod(period, func(s *site, p rates.Period) error {
				return a.issue(c.Context(), s, p, acceptHeld)
			})
		},
	}
	c.Flags().StringVar(&period, "period", "", "the month, such as 2026-03")
	c.Flags().StringVar(&acceptHeld, "accept-held", "", "issue although jobs are held or records quarantined, for this reason")
	return c
}

// issue freezes one period.
func (a *app) issue(ctx context.Context, s *site, p rates.Period, acceptHeld string) error {
	if p.End.After(a.now()) {
		return hinted{fmt.Errorf("%s is not over: it ends at %s", p, p.End.Format(time.RFC3339)), "a draft can be made at any time: hpcbill bill --period " + p.String()}
	}
	if err := a.recordIngests(ctx, s); err != nil {
		return err
	}
	state, err := s.history.Period(ctx, p.String())
	if err != nil {
		return err
	}
	if state.State == history.Issued {
		return a.redraw(ctx, s, p)
	}
	gaps := a.lookForGaps(s, p)
	defer gaps.wait()
	b, err := a.reviewed(ctx, s, p)
	if err != nil {
		return err
	}
	if err := errors.Join(s.refuseQuarantined(ctx, p, acceptHeld), b.late.refuseLateHeld(acceptHeld), s.refuseUnmetWaivers(ctx, p)); err != nil {
		return err
	}
	if err := a.record(ctx, s, b, acceptHeld); err != nil {
		return err
	}
	invoices, err := a.drawIssued(ctx, s, p)
	if err != nil {
		return hinted{err, p.String() + " is issued; its documents are drawn by the next run, or by hpcbill issue --period " + p.String()}
	}
	b.invoices = invoices
	err = errors.Join(a.printBilling(s, b, filepath.Join(invoicesDir, p.String())), a.printCoverage(gaps), a.printStorage(s, b))
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\n%s is issued: %s, %s\n", p, count(int64(len(invoices)), "invoice"), s.money(b.summary.Total))
	return nil
}

// redraw draws the documents of an issued period again. Its charges are
// written again too where they are gone: what is computed was just seen to be
// what was issued.
func (a *app) redraw(ctx context.Context, s *site, p rates.Period) error {
	if err := a.drawMissing(ctx, s, p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := a.billIssued(ctx, s, p); err != nil {
		return err
	}
	_, err := a.drawIssued(ctx, s, p)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := s.compute(ctx, s.inputs, p, keepCharges(s.path(chargesDir))); err != nil {
		return err
	}
	_, err = a.drawIssued(ctx, s, p)
	return err
}

// drawMissing draws the documents of an issued period where that was never
// done: whoever issued it was ended, or had no room. They are made of what the
// history has, whatever came in since.
func (a *app) drawMissing(ctx context.Context, s *site, p rates.Period) error {
	known, err := s.history.Documents(ctx, p.String())
	if err != nil || len(known) > 0 {
		return err
	}
	invoices, err := a.drawIssued(ctx, s, p)
	if err == nil {
		fmt.Fprintf(a.stdout, "%s was issued, and its documents are drawn now: %s\n", p, count(int64(len(invoices)), "invoice"))
	}
	return err
}

// reviewed computes the period again and makes sure that the result is the
// draft that people looked at.
func (a *app) reviewed(ctx context.Context, s *site, p rates.Period) (*billing, error) {
	draft, err := s.history.LastDraft(ctx, p.String())
	remedy := "hpcbill bill --period " + p.String()
	if errors.Is(err, history.ErrNotFound) {
		return nil, hinted{fmt.Errorf("%s has no draft", p), "look at one before it is issued: " + remedy}
	}
	if err != nil {
		return nil, err
	}
	b, err := s.compute(ctx, s.inputs, p, keepCharges(s.path(chargesDir)))
	if err != nil {
		return nil, err
	}
	if changes := invoice.Compare(draft.Invoices, b.invoices); len(changes) > 0 {
		a.printChanges("since the draft", s, changes)
		return nil, hinted{fmt.Errorf("the draft of %s is older than its inputs: %s would come out otherwise", p, count(int64(len(changes)), "invoice")),
			"draft it again and look at it: " + remedy}
	}
	return b, nil
}

// record numbers the drafts and keeps them, in one transaction.
func (a *app) record(ctx context.Context, s *site, b *billing, acceptHeld string) error {
	_, err := s.history.Issue(ctx, history.Issue{
		Period: b.period.String(), Invoices: b.invoices, Evidence: s.evidence(b),
		Earlier: s.earlier(b.period), AcceptedHeld: acceptHeld,
		Numbering: history.Numbering{
			Series: s.config.Invoice.Series, FiscalYearStart: time.Month(s.config.Invoice.FiscalYearStart),
		},
		At: a.clock(), Actor: a.actor(),
	})
	return err
}

// drawIssued writes the documents of an issued period from what the history
// has, and removes the drafts. A crash before it is done is mended by issuing
// the same period again.
func (a *app) drawIssued(ctx context.Context, s *site, p rates.Period) ([]invoice.Invoice, error) {
	invoices, err := s.history.Invoices(ctx, history.Filter{Period: p.String()})
	if err != nil {
		return nil, err
	}
	state, err := s.history.Period(ctx, p.String())
	if err != nil {
		return nil, err
	}
	in, _, err := s.inputsOf(ctx, p)
	if err != nil {
		return nil, err
	}
	storage, err := in.ratedStorage(p)
	if err == nil {
		err = invoice.TierPricesOf(invoices).SettleStorage(storage)
	}
	if err != nil {
		return nil, err
	}
	d := documents{
		dir: s.path(filepath.Join(invoicesDir, p.String())), charges: s.path(chargesDir),
		period: p, language: "en", invoices: invoices, storage: storage, chainHead: state.Hash,
	}
	if err := d.draw(ctx); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(d.dir, draftDir)); err != nil {
		return nil, err
	}
	return invoices, s.history.RecordDocuments(ctx, p.String(), d.written, a.clock(), a.actor(), programBuild())
}

// refuseQuarantined keeps a period open while records that may belong to it
// could not be read.
func (s *site) refuseQuarantined(ctx context.Context, p rates.Period, acceptHeld string) error {
	entries, err := s.quarantinedSince(ctx, p)
	if err != nil || len(entries) == 0 || acceptHeld != "" {
		return err
	}
	first, months := entries[0], p.String()
	if _, last := mayEnd(entries[len(entries)-1]); last < ingest.Instant(p.Start.Unix()) {
		months += " or a month before it"
	}
	return hinted{
		fmt.Errorf("%s that may belong to %s could not be read, the first at %s:%d: %s",
			count(int64(len(entries)), "record"), months, first.Source.File, first.Source.Line, first.Reason),
		"hpcbill report quarantine lists them; ingest a corrected dump of the same name, or issue with --accept-held REASON",
	}
}

// quarantinedSince gives the unsettled quarantined records that may belong to
// p, and those that came in since the last issue and may belong to a month
// before it.
func (s *site) quarantinedSince(ctx context.Context, p rates.Period) ([]jobstore.Quarantine, error) {
	entries, err := s.quarantined(p)
	if err != nil {
		return nil, err
	}
	issue, _, err := s.lastIssue(ctx)
	if err != nil || issue.known == nil {
		return entries, err
	}
	from, first := ingest.Instant(p.Start.Unix()), ingest.Instant(s.config.FirstPeriod.Start.Unix())
	for q, err := range s.jobs.Quarantined() {
		if err != nil {
			return nil, err
		}
		if _, last := mayEnd(q); last < from && last >= first && !slices.Contains(issue.known, historyIngest(*q.Ingest).ID) {
			entries = append(entries, q)
		}
	}
	return entries, nil
}

// quarantined gives the unsettled quarantined records that may belong to p.
func (s *site) quarantined(p rates.Period) ([]jobstore.Quarantine, error) {
	from, to := ingest.Instant(p.Start.Unix()), ingest.Instant(p.End.Unix())
	var in []jobstore.Quarantine
	for q, err := range s.jobs.Quarantined() {
		if err != nil {
			return nil, err
		}
		if first, last := mayEnd(q); first < to && last >= from {
			in = append(in, q)
		}
	}
	return in, nil
}

// mayEnd bounds the End of a quarantined record: by what could be read of it,
// otherwise by the ends in its dump, otherwise not at all.
func mayEnd(q jobstore.Quarantine) (first, last ingest.Instant) {
	switch {
	case q.End != ingest.None:
		return q.End, q.End
	case q.Ingest.FirstEnd != ingest.None:
		return q.Ingest.FirstEnd, q.Ingest.LastEnd
	}
	return 0, 1 << 62
}
