package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"hpcbill/invoice/history"
	"hpcbill/rates"

	"github.com/spf13/cobra"
)

func (a *app) runCommand() *cobra.Command {
	var period string
	c := &cobra.Command{
		Use:   "run",
		Short: "ingest, bill, and issue if the site says so",
		Long: `Does what the scheduler does: ingests the configured sources, then bills every
closed month since first_period that is not issued (or the one that --period
names), and issues each in which nothing is held, quarantined or plainly missing
(hpcbill report coverage) when hpcbill.yaml says  invoice: {issue: automatic}.`,
		Example: "  hpcbill run\n  hpcbill run --period 2026-03",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if period == "" {
				return a.catchUp(c.Context())
			}
			return a.withPeriod(period, func(s *site, p rates.Period) error {
				return a.runPeriods(c.Context(), s, []rates.Period{p})
			})
		},
	}
	c.Flags().StringVar(&period, "period", "", "one month alone, such as 2026-03")
	return c
}

// catchUp bills every closed period that the history lacks.
func (a *app) catchUp(ctx context.Context) error {
	return a.withSite(func(s *site) error {
		return a.runPeriods(ctx, s, closedPeriods(s.config.FirstPeriod, a.now()))
	})
}

func (a *app) runPeriods(ctx context.Context, s *site, periods []rates.Period) error {
	if err := a.ingestSources(ctx, s, ingestOptions{}); err != nil {
		return err
	}
	billed := 0
	for _, p := range periods {
		state, err := s.history.Period(ctx, p.String())
		if err != nil {
			return err
		}
		if state.State == history.Issued {
			if err := a.drawMissing(ctx, s, p); err != nil {
				return err
			}
			continue
		}
		billed++
		if err := a.bill(ctx, s, p, true); err != nil {
			return err
		}
		if err := a.issueIfClear(ctx, s, p); err != nil {
			return err
		}
	}
	if billed == 0 {
		fmt.Fprintln(a.stdout, "every closed month is issued")
	}
	return nil
}

// issueIfClear issues a drafted period where the site wants that and nothing
// stands in its way; what does is said and waits for a person.
func (a *app) issueIfClear(ctx context.Context, s *site, p rates.Period) error {
	if !s.config.Invoice.IssueOnRun || p.End.After(a.now()) {
		return nil
	}
	draft, err := s.history.LastDraft(ctx, p.String())
	if err != nil {
		return err
	}
	if held := draft.Evidence.Summary.Held(); held > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: %s is not issued: %s held\n", p, count(held, "item"))
		return nil
	}
	quarantined, err := s.quarantinedSince(ctx, p)
	if err != nil {
		return err
	}
	if len(quarantined) > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: %s is not issued: %s quarantined\n", p, count(int64(len(quarantined)), "record"))
		return nil
	}
	l, err := s.lateFor(ctx, p)
	if err != nil {
		return err
	}
	if err := cmp.Or(l.refuseLateHeld(""), l.refuseSaidLate()); err != nil {
		fmt.Fprintf(a.stderr, "hpcbill: %s is not issued: %v\n", p, err)
		return nil
	}
	if err := s.refuseUnmetWaivers(ctx, p); err != nil {
		fmt.Fprintf(a.stderr, "hpcbill: %s is not issued: %v\n", p, err)
		return nil
	}
	gaps, serious, err := s.coverageGaps(p, a.now())
	if err != nil {
		return err
	}
	if serious {
		fmt.Fprintf(a.stderr, "hpcbill: %s is not issued: %s\n", p, gaps)
		fmt.Fprintf(a.stderr, "hpcbill: hint: ingest the dumps that are missing; if there were no jobs, hpcbill issue --period %s\n", p)
		return nil
	}
	cut, err := s.cutDumps(p)
	if err != nil {
		return err
	}
	if len(cut) > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: %s is not issued: %s may have been cut off\n", p, oneLine(cut[0].File))
		return nil
	}
	unlisted, err := s.unlistedPlaces(p)
	if err != nil {
		return err
	}
	if len(unlisted) > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: %s is not issued: no listing of the month shows %s\n", p, oneLine(strings.Join(unlisted, ", ")))
		fmt.Fprintf(a.stderr, "hpcbill: hint: list what is held there; if it is what it was, hpcbill issue --period %s\n", p)
		return nil
	}
	return a.issue(ctx, s, p, "")
}
