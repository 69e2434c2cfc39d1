package main

import (
	"context"
	"fmt"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"

	"github.com/spf13/cobra"
)

func (a *app) reportCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "report KIND",
		Short:   "what was not billed, not read, or would be otherwise",
		Example: "  hpcbill report quarantine\n  hpcbill report unbilled --period 2026-03 --format csv",
		Args:    knownVerb,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		a.siteReport("quarantine", "records that could not be read and keep their period open", (*site).reportQuarantine),
		a.siteReport("ingests", "every dump that was taken, and what became of its records", (*site).reportIngests),
		a.unbilledCommand(), a.recoveryCommand(), a.policyCommand(), a.fairshareCommand(), a.priorityCommand(),
		a.coverageCommand(), a.runawayCommand(), a.whatIfCommand(),
	)
	return c
}

// siteReport is a report over the whole site.
func (a *app) siteReport(name, short string, make func(*site) (*table, error)) *cobra.Command {
	c := &cobra.Command{Use: name, Short: short, Example: "  hpcbill report " + name, Args: noArguments}
	format := addFormat(c)
	c.RunE = func(*cobra.Command, []string) error {
		return a.printReport(*format, func(print func(*table, error) error) error {
			return a.withSite(func(s *site) error { return print(make(s)) })
		})
	}
	return c
}

// periodReport is a report over one month.
func (a *app) periodReport(name, short string, make func(*site, context.Context, rates.Period) (*table, error)) *cobra.Command {
	c := &cobra.Command{Use: name + " --period YYYY-MM", Short: short, Example: "  hpcbill report " + name + " --period 2026-03", Args: noArguments}
	format := addFormat(c)
	period := c.Flags().String("period", "", "the month, such as 2026-03")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.printReport(*format, func(print func(*table, error) error) error {
			return a.withPeriod(*period, func(s *site, p rates.Period) error { return print(make(s, c.Context(), p)) })
		})
	}
	return c
}

// printReport checks the format before anything is opened, and prints what
// the report gives.
func (a *app) printReport(format string, report func(print func(*table, error) error) error) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	return report(func(t *table, err error) error {
		if err != nil {
			return err
		}
		if len(t.rows) == 0 && format == "table" {
			_, err := fmt.Fprintln(a.stdout, "nothing to report")
			return err
		}
		return t.write(a.stdout, format)
	})
}

func (s *site) reportQuarantine() (*table, error) {
	t := &table{columns: columns("file", ">line", "reason", "hint", "end", "text")}
	for q, err := range s.jobs.Quarantined() {
		if err != nil {
			return nil, err
		}
		t.add(q.Source.File, q.Source.Line, q.Reason, q.Hint, s.local(q.End), q.Text)
	}
	return t, nil
}

func (s *site) reportIngests() (*table, error) {
	t := &table{columns: columns("file", ">records", ">steps", ">new", ">revised", ">unchanged", ">superseded", ">quarantined", "first_end", "last_end", "digest",
		"clusters", "covers_from", "covers_until")}
	records, err := s.jobs.Ingests()
	for _, r := range records {
		from, until := coveredSpan(&r)
		t.add(r.File, r.Records, r.Steps, r.New, r.Revised, r.Unchanged, r.Superseded, r.Quarantined,
			s.local(r.FirstEnd), s.local(r.LastEnd), r.Digest, strings.Join(r.Clusters, ", "), s.local(from), s.local(until))
	}
	return t, err
}

// local prints an instant in the site's zone.
func (in *inputs) local(t ingest.Instant) string {
	if t == ingest.None {
		return ""
	}
	return timeOf(t).In(in.zone()).Format("2006-01-02T15:04:05Z07:00")
}
