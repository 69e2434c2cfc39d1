package main

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rating"

	"github.com/spf13/cobra"
)

// reportKinds are the reports that there are, with what each shows.
var reportKinds = [][2]string{
	{"quarantine", "records that could not be read and keep their period open"},
	{"unbilled", "what was not billed in a period, by cause, with job-seconds"},
	{"ingests", "every dump that was taken, and what became of its records"},
}

func (a *app) reportCommand() *cobra.Command {
	var period string
	var format *string
	long := "Reports:\n"
	for _, k := range reportKinds {
		long += fmt.Sprintf("  %-12s %s\n", k[0], k[1])
	}
	c := &cobra.Command{
		Use:     "report KIND",
		Short:   "quarantine, unbilled, ingests",
		Long:    strings.TrimRight(long, "\n"),
		Example: "  hpcbill report quarantine\n  hpcbill report unbilled --period 2026-03 --format csv",
		Args:    oneArgument("report"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkFormat(*format); err != nil {
				return err
			}
			print := func(t *table, err error) error {
				if err != nil {
					return err
				}
				return t.write(a.stdout, *format)
			}
			switch args[0] {
			case "quarantine":
				return a.withSite(func(s *site) error { return print(s.reportQuarantine()) })
			case "ingests":
				return a.withSite(func(s *site) error { return print(s.reportIngests()) })
			case "unbilled":
				return a.withPeriod(period, func(s *site, p rates.Period) error { return print(s.reportUnbilled(c.Context(), p)) })
			}
			return usageError{fmt.Errorf("no report %q", args[0]), "see hpcbill help report"}
		},
	}
	c.Flags().StringVar(&period, "period", "", "the month, such as 2026-03 (unbilled)")
	format = addFormat(c)
	return c
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
	t := &table{columns: columns("file", ">records", ">steps", ">new", ">revised", ">unchanged", ">superseded", ">quarantined", "first_end", "last_end", "digest")}
	records, err := s.jobs.Ingests()
	for _, r := range records {
		t.add(r.File, r.Records, r.Steps, r.New, r.Revised, r.Unchanged, r.Superseded, r.Quarantined,
			s.local(r.FirstEnd), s.local(r.LastEnd), r.Digest)
	}
	return t, err
}

// reportUnbilled computes the period and lists every cause for which
// something was not billed; the seconds and those billed make the whole.
func (s *site) reportUnbilled(ctx context.Context, p rates.Period) (*table, error) {
	b, err := s.compute(ctx, s.inputs, p, forget)
	if err != nil {
		return nil, err
	}
	t := &table{columns: columns("verdict", "what", "cause", "detail", ">count", ">seconds", "hint")}
	causes := b.summary.Causes
	sort.SliceStable(causes, func(i, j int) bool { return causes[i].Verdict > causes[j].Verdict })
	for _, cause := range causes {
		what := "jobs"
		if cause.Storage {
			what = "holdings"
		}
		t.add(cause.Verdict.String(), what, cause.Code, cause.Detail, cause.Count, cause.Seconds, cause.Hint)
	}
	t.add(rating.NotRun.String(), "jobs", "never started", "", b.summary.Jobs.NotRun, int64(0), "")
	t.add(rating.Running.String(), "jobs", "not ended", "", b.summary.Jobs.Running, b.summary.Seconds.Running, "")
	return t, nil
}

// local prints an instant in the site's zone.
func (in *inputs) local(t ingest.Instant) string {
	if t == ingest.None {
		return ""
	}
	return timeOf(t).In(in.zone()).Format("2006-01-02T15:04:05Z07:00")
}
