package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/rates"

	"github.com/spf13/cobra"
)

func (a *app) coverageCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "coverage [--period YYYY-MM]",
		Short: "the records of every day, and the days that have none",
		Long: `Lists for each cluster and day of the month (of all months that this site bills
when none is given) how many records ended, started and were submitted on it, and
which dumps gave those that ended. Days that are over are flagged:

  idle          no job ended, and sacct was asked about the whole day
  none          no record that ended, between days that have some
  gap           no record that ended, between days that have many
  before-first  before the cluster's first record
  after-last    after its last one
  partial       the newest dump was made before the day was over
  few           less than a tenth of what the days around have
  no-records    the cluster has no record at all

hpcbill report ingests says which days each dump covers.`,
		Example: "  hpcbill report coverage --period 2026-03",
		Args:    noArguments,
	}
	format := addFormat(c)
	period := c.Flags().String("period", "", "one month alone, such as 2026-03")
	c.RunE = func(*cobra.Command, []string) error {
		return a.printReport(*format, func(print func(*table, error) error) error {
			if *period == "" {
				return a.withSite(func(s *site) error {
					return print(s.reportCoverage(s.config.FirstPeriod.Start, dayOf(a.now(), s.zone()).AddDate(0, 0, 1), a.now()))
				})
			}
			return a.withPeriod(*period, func(s *site, p rates.Period) error { return print(s.reportCoverage(p.Start, p.End, a.now())) })
		})
	}
	return c
}

func (s *site) reportCoverage(from, to, now time.Time) (*table, error) {
	t := &table{columns: columns("cluster", "day", ">ended", ">started", ">submitted", "flag", "note", "dumps")}
	clusters, err := s.coverage(from, to, now, true)
	for _, c := range clusters {
		for _, d := range c.days {
			if d.start.After(now) {
				break
			}
			t.add(c.cluster, d.start.Format(time.DateOnly), d.ended, d.started, d.submitted, string(d.flag), d.note,
				strings.Join(slices.Sorted(maps.Keys(d.dumps)), ", "))
		}
	}
	return t, err
}

// coveredSpan is the time of which an ingest holds the records: what sacct was
// asked for, or, of a file, from the first end in it to the latest instant
// that it knows of.
func coveredSpan(r *jobstore.Record) (from, until ingest.Instant) {
	if r.Asked != (jobstore.Asked{}) {
		return r.Asked.From, r.Asked.To
	}
	if r.FirstEnd == ingest.None {
		return r.Newest, r.Newest
	}
	return r.FirstEnd, r.Newest
}

// coverageGaps says in a line what may be missing from a period that is over,
// "" where nothing is, and whether that is more than chance.
func (s *site) coverageGaps(p rates.Period, now time.Time) (line string, serious bool, err error) {
	if p.End.After(now) {
		return "", false, nil
	}
	clusters, err := s.coverage(p.Start, p.End, now, false)
	var parts []string
	for _, c := range clusters {
		parts = append(parts, c.gaps()...)
		serious = serious || slices.ContainsFunc(c.days, func(d coveredDay) bool { return c.serious(&d) })
	}
	return strings.Join(parts, "; "), serious, err
}

// gaps says what may be missing of a cluster's days.
func (c *clusterCoverage) gaps() []string {
	if c.first == ingest.None {
		return []string{c.cluster + " has no record at all"}
	}
	var parts []string
	if days := missingDays(c.days); days != "" {
		parts = append(parts, c.cluster+" has no record that ended on "+days)
	}
	for _, d := range c.days {
		if d.flag == flagPartial {
			parts = append(parts, fmt.Sprintf("%s has no record after %s", c.cluster, c.clock(c.newest, &d)))
		}
	}
	return parts
}

// mostDaysShown bounds the days, and the runs of days, that a line names.
const mostDaysShown = 8

// missingDays names the days without records: a run of three or more by its
// ends.
func missingDays(days []coveredDay) string {
	var names []string
	left := 0
	for i := 0; i < len(days); i++ {
		if !days[i].missing() {
			continue
		}
		k := i
		for k+1 < len(days) && days[k+1].missing() {
			k++
		}
		if k < i+2 {
			k = i
		}
		switch name := days[i].start.Format(time.DateOnly); {
		case len(names) == mostDaysShown:
			left += k - i + 1
		case k > i:
			names = append(names, name+" to "+days[k].start.Format(time.DateOnly))
		default:
			names = append(names, name)
		}
		i = k
	}
	if left > 0 {
		return strings.Join(names, ", ") + " and " + count(int64(left), "day") + " more"
	}
	return strings.Join(names, ", ")
}

// gapSearch looks for days of a closed period whose records may be missing,
// while the period is computed.
type gapSearch struct {
	done   chan struct{}
	period rates.Period
	line   string
	err    error
}

func (a *app) lookForGaps(s *site, p rates.Period) *gapSearch {
	g := &gapSearch{done: make(chan struct{}), period: p}
	now := a.now()
	go func() {
		defer close(g.done)
		g.line, _, g.err = s.coverageGaps(p, now)
	}()
	return g
}

// wait waits until the store is not read any more.
func (g *gapSearch) wait() { <-g.done }

// printCoverage prints a line where there are such days.
func (a *app) printCoverage(g *gapSearch) error {
	g.wait()
	if g.err == nil && g.line != "" {
		fmt.Fprintf(a.stdout, "coverage     %s; see hpcbill report coverage --period %s\n", g.line, g.period)
	}
	return g.err
}
