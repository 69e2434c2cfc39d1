package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"hpcbill/ingest/jobstore"
	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"

	"github.com/spf13/cobra"
)

func (a *app) verifyCommand() *cobra.Command {
	var period string
	var all bool
	c := &cobra.Command{
		Use:   "verify [NUMBER | --period YYYY-MM | --all]",
		Short: "re-derive what was issued and compare it to the cent",
		Long: `Checks the history's chain, then rates the jobs of the period again from
Parquet under the cards, roster and quotas that the history recorded when it was
issued, and compares every line to the cent. Documents on disk are compared with
the digests that were recorded. Without an argument every issued period is
verified.

Exit codes: 0 everything agrees · 1 something does not.`,
		Example: "  hpcbill verify HPC-2026-00001\n  hpcbill verify --all",
		Args:    atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			number := ""
			if len(args) == 1 {
				number = args[0]
			}
			if number != "" && (period != "" || all) || period != "" && all {
				return usageError{errors.New("a number, --period and --all exclude each other"), "see hpcbill help verify"}
			}
			return a.verify(c.Context(), number, period)
		},
	}
	c.Flags().StringVar(&period, "period", "", "one month, such as 2026-03")
	c.Flags().BoolVar(&all, "all", false, "every issued month (the default)")
	return c
}

func (a *app) verify(ctx context.Context, number, period string) (err error) {
	db, err := a.openHistory()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := db.VerifyChain(ctx); err != nil {
		return err
	}
	entries, head, err := db.Head(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "chain: %s, head %s\n", count(entries, "entry"), head)
	if number != "" {
		inv, err := db.Invoice(ctx, number)
		if errors.Is(err, history.ErrNotFound) {
			return usageError{fmt.Errorf("there is no invoice %s", number), "hpcbill list shows all"}
		}
		if err != nil {
			return err
		}
		period = inv.Period
	}
	periods, err := db.Periods(ctx)
	if err != nil {
		return err
	}
	found := false
	var known []jobstore.Record // of all ingests, which are read with the first month
	var failed []error
	for _, p := range periods {
		if p.State == history.Issued && (period == "" || period == p.Period) {
			found = true
			failed = append(failed, a.verifyPeriod(ctx, db, p, number, &known))
		}
	}
	if !found && period != "" {
		return usageError{fmt.Errorf("%s is not issued", period), "hpcbill list shows what is"}
	}
	return errors.Join(failed...)
}

// verifyPeriod makes an issued period again from what was recorded of it.
func (a *app) verifyPeriod(ctx context.Context, db *history.DB, p history.Period, number string, known *[]jobstore.Record) error {
	evidence, err := db.Evidence(ctx, p.Period)
	if err != nil {
		return err
	}
	in, err := recordedInputs(evidence)
	if err != nil {
		return fmt.Errorf("%s: what the history recorded: %w", p.Period, err)
	}
	s, err := openStores(a.siteDir, in)
	if err != nil {
		return err
	}
	defer s.close()
	s.known = *known
	if *known, err = s.ingests(); err != nil {
		return err
	}
	month, err := rates.ParsePeriod(p.Period, in.zone())
	if err != nil {
		return err
	}
	issued, b, err := s.rederive(ctx, in, month)
	if err != nil {
		return err
	}
	changes := invoice.Compare(issued, b.invoices)
	settled := false
	if len(changes) > 0 {
		if settled, err = s.settled(ctx, in, month, evidence.Ingests); err != nil {
			return err
		}
	}
	a.printVerified(issued, changes, settled, number)
	if settled {
		changes = nil
	}
	return errors.Join(a.disagreement(s, p, changes, evidence), a.verifyDocuments(ctx, db, s, p.Period))
}

// recordedInputs makes the inputs of an issued period from the texts that
// billed it.
func recordedInputs(e history.Recorded) (*inputs, error) {
	read := func(name string) ([]byte, error) { return textOf(e, name) }
	match := func(pattern string) (names []string, err error) {
		for _, t := range e.Texts {
			if ok, _ := path.Match(pattern, t.Name); ok {
				names = append(names, t.Name)
			}
		}
		return names, nil
	}
	return readInputs(siteTexts{read, match, true})
}

// textOf gives one of the texts that billed an issued period.
func textOf(e history.Recorded, name string) ([]byte, error) {
	i := slices.IndexFunc(e.Texts, func(t history.Text) bool { return t.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return e.Texts[i].Body, nil
}

func (a *app) printVerified(issued []invoice.Invoice, changes []invoice.GroupChange, settled bool, number string) {
	for _, inv := range issued {
		if number != "" && inv.Number != number {
			continue
		}
		word := "agrees"
		if slices.ContainsFunc(changes, func(c invoice.GroupChange) bool { return c.Group == inv.Group.ID }) {
			word = "DIFFERS"
			if settled {
				word = "agrees with what later invoices correct"
			}
		}
		fmt.Fprintf(a.stdout, "%s  %s  %s  %s %s  %s\n", inv.Number, inv.Period, inv.Group.ID,
			inv.Currency.Format(inv.Total), inv.Currency.Code, word)
	}
}

// disagreement says how a period differs and whether records that came in
// since can be the reason.
func (a *app) disagreement(s *site, p history.Period, changes []invoice.GroupChange, e history.Recorded) error {
	if len(changes) == 0 {
		return nil
	}
	a.printChanges("since it was issued", s, changes)
	hint := "no dump came in since it was issued: data/jobs is not what it was"
	records, err := s.ingests()
	if err != nil {
		return err
	}
	late := 0
	for _, r := range records {
		if !slices.Contains(e.Ingests, historyIngest(r).ID) {
			late++
		}
	}
	if late > 0 {
		hint = fmt.Sprintf("%s came in since it was issued and may hold jobs of that month", count(int64(late), "dump"))
	}
	return hinted{fmt.Errorf("%s: %s cannot be derived again", p.Period, count(int64(len(changes)), "invoice")), hint}
}

// verifyDocuments compares the files on disk with what was recorded of them.
func (a *app) verifyDocuments(ctx context.Context, db *history.DB, s *site, period string) error {
	documents, err := db.Documents(ctx, period)
	if err != nil {
		return err
	}
	var errs []error
	for _, d := range documents {
		name := filepath.Join(invoicesDir, period, d.Name)
		digest, err := fileDigest(s.path(name))
		remedy := "draw the documents again: hpcbill issue --period " + period
		switch {
		case errors.Is(err, fs.ErrNotExist):
			errs = append(errs, hinted{fmt.Errorf("%s is missing", name), remedy})
		case err != nil:
			errs = append(errs, err)
		case digest != d.Digest:
			errs = append(errs, hinted{fmt.Errorf("%s is not the document that was issued", name), remedy})
		}
	}
	if len(errs) == 0 && len(documents) > 0 {
		fmt.Fprintf(a.stdout, "%s  %s on disk as issued\n", period, count(int64(len(documents)), "document"))
	}
	return errors.Join(errs...)
}

func fileDigest(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
