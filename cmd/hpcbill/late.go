package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// late is what came in after months were issued.
type late struct {
	corrections []invoice.Correction
	held        []lateHeld
	storage     []lateStorage
	backdated   []dated
	restated    []restated
}

// lateHeld is an issued month with more jobs held than when it was issued.
type lateHeld struct {
	month string
	jobs  int64
}

// lateFor gives the corrections of issued months that the invoices of p bill:
// those that they have where p is issued; what dumps that came in since make of
// each earlier month where p is the first that is not issued; otherwise none,
// since an earlier one bills them. What came late must not vanish.
func (s *site) lateFor(ctx context.Context, p rates.Period) (*late, error) {
	state, err := s.history.Period(ctx, p.String())
	if err != nil {
		return nil, err
	}
	if state.State == history.Issued {
		issued, err := s.history.Invoices(ctx, history.Filter{Period: p.String()})
		return &late{corrections: invoice.CorrectionsBilled(issued)}, err
	}
	last, open, err := s.lastIssue(ctx)
	if err != nil || open != p.String() {
		return &late{}, err
	}
	return s.lateSince(ctx, p, last)
}

// lateSince gives what came in late of the months before p.
func (s *site) lateSince(ctx context.Context, p rates.Period, last lastIssue) (*late, error) {
	l := &late{}
	var faults []error
	var carried []invoice.LedgerEntry
	for q := s.config.FirstPeriod; q.Start.Before(p.Start); q = q.Next() {
		corrections, held, err := s.lateOf(ctx, q.String(), last, carried)
		if err != nil {
			return nil, fmt.Errorf("%s, as it was issued: %w", q, err)
		}
		for _, c := range corrections {
			if s.roster.Group(c.Group) == nil {
				faults = append(faults, rates.Fault{File: s.config.RosterFile, Field: "groups",
					Message: fmt.Sprintf("group %s is not there any more, but records of %s came in late that change its bill by %s", c.Group, c.Month, s.signed(c.Amount)),
					Remedy:  "keep the group, without rules under jobs: if it has none any more, until this is billed"})
			}
		}
		l.corrections = append(l.corrections, corrections...)
		carried = append(carried, invoice.EntriesOf(corrections)...)
		if held > 0 {
			l.held = append(l.held, lateHeld{q.String(), held})
		}
	}
	return l, errors.Join(append(faults, s.saidSince(ctx, p, l))...)
}

// saidSince finds what is said today of the storage and the rules of the months
// before p and was not when the last of them was issued.
func (s *site) saidSince(ctx context.Context, p rates.Period, l *late) error {
	if p.Start.Equal(s.config.FirstPeriod.Start) {
		return nil
	}
	recorded, err := s.history.Evidence(ctx, p.Previous().String())
	if err != nil {
		return err
	}
	sameStorage, sameRules := s.sameStorageTexts(recorded.Texts), s.sameRules(recorded.Texts)
	if sameStorage && sameRules {
		return nil // the rules of then need not be read
	}
	then, err := recordedInputs(recorded)
	if err != nil {
		return fmt.Errorf("%s, as it was issued: %w", p.Previous(), err)
	}
	if !sameRules {
		l.backdated = s.backdatedSince(p, then)
		if l.restated, err = s.restatedSince(ctx, p, then, l.backdated); err != nil {
			return err
		}
	}
	if !sameStorage {
		l.storage, err = s.storageSince(ctx, p, then)
	}
	return err
}

// lateOf compares an issued month with what the store gives of it today, under
// the rules that billed it, less what later invoices have corrected already;
// and it counts the jobs that are held beyond those that were then, if that is
// news. A month is computed only where a dump that came in since, and that the
// last issue did not bill, changed jobs of it, or where balances and counts carry
// over and the corrections of months before it, carried, change them: otherwise
// it is what it was, or was corrected to.
func (s *site) lateOf(ctx context.Context, period string, last lastIssue, carried []invoice.LedgerEntry) (corrections []invoice.Correction, held int64, err error) {
	recorded, err := s.history.Evidence(ctx, period)
	if err != nil {
		return nil, 0, err
	}
	dumps, err := s.ingests()
	if err != nil {
		return nil, 0, err
	}
	// Most months are far from every dump: their rules need not be read.
	near, err := rates.ParsePeriod(period, time.UTC)
	if err != nil {
		return nil, 0, err
	}
	near.Start, near.End = near.Start.AddDate(0, 0, -2), near.End.AddDate(0, 0, 2) // in whatever zone
	billed := slices.Concat(recorded.Ingests, last.billed(period))
	if len(carried) == 0 && !lateDumps(dumps, near, billed, false) {
		return nil, 0, nil
	}
	in, err := recordedInputs(recorded)
	if err != nil {
		return nil, 0, err
	}
	month, err := rates.ParsePeriod(period, in.zone())
	if err != nil {
		return nil, 0, err
	}
	byEndAlone := in.billsByEndAlone()
	late := lateDumps(dumps, month, billed, byEndAlone)
	if !late && (len(carried) == 0 || !in.carriesOver()) {
		return nil, 0, nil
	}
	corrections, b, err := s.corrected(ctx, in, month, carried)
	if err != nil {
		return nil, 0, err
	}
	for i := range corrections {
		corrections[i].CarriedOver = !late
	}
	if lateDumps(dumps, month, last.known, byEndAlone) {
		held = b.summary.Held() - recorded.Summary.Held()
	}
	return corrections, held, nil
}

// corrected gives what an issued month would cost beyond what it and later
// invoices have billed of it, with the balances and counts that it would have
// found if all had been known that is known today, carried among it.
func (s *site) corrected(ctx context.Context, in *inputs, month rates.Period, carried []invoice.LedgerEntry) ([]invoice.Correction, *billing, error) {
	all, err := s.history.Invoices(ctx, history.Filter{})
	if err != nil {
		return nil, nil, err
	}
	period := month.String()
	var issued, others, later []invoice.Invoice
	for _, inv := range all {
		if inv.Period == period {
			issued = append(issued, inv)
			continue
		}
		others = append(others, inv) // also later ones, which correct what was before
		if inv.Period > period {
			later = append(later, inv)
		}
	}
	ledger := slices.DeleteFunc(append(invoice.LedgerEntries(others), carried...), func(e invoice.LedgerEntry) bool { return e.Period >= period })
	b, err := s.computeWith(ctx, in, month, nil, ledger, &late{corrections: invoice.CorrectionsBilled(issued)})
	if err != nil {
		return nil, nil, err
	}
	return invoice.Corrections(period, issued, b.invoices, later), b, nil
}

// settled reports whether dumps came in after a month was issued, and later
// invoices have corrected it by all that they changed.
func (s *site) settled(ctx context.Context, in *inputs, month rates.Period, known []string) (bool, error) {
	dumps, err := s.ingests()
	if err != nil || !lateDumps(dumps, month, known, s.billsByEndAlone()) {
		return false, err
	}
	open, _, err := s.corrected(ctx, in, month, nil)
	return len(open) == 0, err
}

// lastIssue is what the last issue looked at.
type lastIssue struct {
	// known are the ingests that it knew; nil where nothing is issued. What they
	// brought that is held was refused, or accepted, then.
	known []string
	first string // the first month that the site billed then
	same  bool   // it was this program, which would come to the same
}

// billed are the ingests of which the last issue billed all that they change of
// an issued month before it, so that the month need not be computed to see
// that nothing is left: it would be from the same jobs, by the same rules and
// with the balances that came of it then.
func (l *lastIssue) billed(period string) []string {
	if !l.same || period < l.first {
		return nil
	}
	return l.known
}

// lastIssue gives what the last issue looked at, and the first month that is
// not issued.
func (s *site) lastIssue(ctx context.Context) (last lastIssue, open string, err error) {
	p := s.config.FirstPeriod
	for ; ; p = p.Next() {
		state, err := s.history.Period(ctx, p.String())
		if err != nil {
			return last, "", err
		}
		if state.State != history.Issued {
			break
		}
	}
	if p.Start.Equal(s.config.FirstPeriod.Start) {
		return last, p.String(), nil
	}
	recorded, err := s.history.Evidence(ctx, p.Previous().String())
	if err != nil {
		return last, "", err
	}
	text, err := textOf(recorded, configFile)
	if err != nil {
		return last, "", err
	}
	then, err := loadConfig(configFile, text)
	if err != nil {
		return last, "", fmt.Errorf("%s, as it was issued: %w", p.Previous(), err)
	}
	return lastIssue{recorded.Ingests, then.FirstPeriod.String(), recorded.Program == programBuild()}, p.String(), nil
}

// printLate says which issued months a bill corrects.
func (a *app) printLate(s *site, b *billing) {
	type sum struct {
		groups  int64
		by      money.Amount
		carried bool
	}
	sums := map[string]sum{}
	for _, c := range b.late.corrections {
		sums[c.Month] = sum{sums[c.Month].groups + 1, sums[c.Month].by + c.Amount, c.CarriedOver}
	}
	for _, month := range slices.Sorted(maps.Keys(sums)) {
		if sums[month].carried {
			fmt.Fprintf(a.stderr, "hpcbill: warning: %s is issued, and what months before it draw and count since change %s by %s in all: these bills have it as a correction\n",
				month, count(sums[month].groups, "invoice"), s.signed(sums[month].by))
			continue
		}
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s is issued, and jobs that came in since change %s by %s in all: these bills have it as a correction\n",
			month, count(sums[month].groups, "invoice"), s.signed(sums[month].by))
		fmt.Fprintf(a.stderr, "hpcbill: hint: hpcbill bill --period %s shows the lines; what was issued stays\n", month)
	}
	for _, h := range b.late.held {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s is issued, and %d more of its jobs or holdings are held under the rules of then\n", h.month, h.jobs)
	}
	a.printLateStorage(s, b.period, b.late.storage)
	a.printBackdated(b.period, b.late.backdated)
	a.printRestated(b.period, b.late.restated)
}

// refuseLateHeld keeps a period open while jobs of issued months that came in
// late cannot be billed.
func (l *late) refuseLateHeld(acceptHeld string) error {
	if len(l.held) == 0 || acceptHeld != "" {
		return nil
	}
	return hinted{
		fmt.Errorf("%d jobs or holdings of %s that came in after it was issued are held under the rules of then", l.held[0].jobs, l.held[0].month),
		"hpcbill bill --period " + l.held[0].month + " names them; charge them in adjustments.csv, and issue with --accept-held REASON",
	}
}

// rederive gives what was issued for a month, and what the store gives of it
// under in with the balances that the month found.
func (s *site) rederive(ctx context.Context, in *inputs, month rates.Period) (issued []invoice.Invoice, b *billing, err error) {
	issued, err = s.history.Invoices(ctx, history.Filter{Period: month.String()})
	if err != nil {
		return nil, nil, err
	}
	ledger, err := s.history.Ledger(ctx, month.String())
	if err != nil {
		return nil, nil, err
	}
	b, err = s.computeWith(ctx, in, month, nil, ledger, &late{corrections: invoice.CorrectionsBilled(issued)})
	return issued, b, err
}

// lateDumps reports whether one of the dumps that is not among the ones known
// changed jobs that the month may bill: those that ended in it, or, where they
// are not all billed by their end, those that ran in it.
func lateDumps(dumps []jobstore.Record, month rates.Period, known []string, byEndAlone bool) bool {
	from, to := ingest.Instant(month.Start.Unix()), ingest.Instant(month.End.Unix())
	for i := range dumps {
		changed := dumps[i].ChangedRuns
		if byEndAlone {
			changed = dumps[i].ChangedEnds
		}
		if changed(from, to) && !slices.Contains(known, historyIngest(dumps[i]).ID) {
			return true
		}
	}
	return false
}
