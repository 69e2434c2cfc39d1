package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
)

// mostWindowDays bounds what one run of a command is asked for: slurmdbd
// refuses answers that are too long, and what has landed need not be asked for
// again.
const mostWindowDays = 31

// settleTime is how long Slurm's daemons are given to tell each other of a job:
// what an answer says of the last hour before it was asked for does not count.
const settleTime = time.Hour

// window is a span of whole days, but for the last one, which ends now.
type window struct{ from, to time.Time }

// String names the days of a window, the last one included.
func (w window) String() string {
	return w.from.Format(time.DateOnly) + ".." + w.to.Add(-time.Second).Format(time.DateOnly)
}

// series names the answers of a command source among the ingests.
func (src *sourceConfig) series() string { return "command:" + src.Cluster }

// windows are what a command is to be asked for, in order: the days since the
// first that no answer of the series covers whole, those of the look-back, and
// today up to now. Days from again on count as not covered.
func (src *sourceConfig) windows(records []jobstore.Record, first, again, now time.Time) []window {
	var taken []jobstore.Asked
	for _, r := range records {
		if r.Asked.Series == src.series() {
			taken = append(taken, settled(r))
		}
	}
	taken = joined(taken)
	lookBack := dayOf(now, src.Zone).AddDate(0, 0, -src.LookBackDays)
	var windows []window
	for day := dayOf(first, src.Zone); day.Before(now); {
		next := day.AddDate(0, 0, 1)
		asked := !day.Before(lookBack) || !again.IsZero() && !day.Before(again) || !covered(taken, day, next)
		last := len(windows) - 1
		switch {
		case !asked:
		case last >= 0 && windows[last].to.Equal(day) && day.Before(windows[last].from.AddDate(0, 0, mostWindowDays)):
			windows[last].to = next
		default:
			windows = append(windows, window{day, next})
		}
		day = next
	}
	if last := len(windows) - 1; last >= 0 && windows[last].to.After(now) {
		windows[last].to = now
	}
	return windows
}

// settled is the span of which an answer holds every record for certain.
func settled(r jobstore.Record) jobstore.Asked {
	asked := r.Asked
	asked.To = min(asked.To, ingest.Instant(r.IngestedAt.Add(-settleTime).Unix()))
	return asked
}

// joined are the spans of the answers in order, those that meet made one: a
// record stands in the answer for the time of its end.
func joined(answers []jobstore.Asked) []jobstore.Asked {
	answers = slices.Clone(answers)
	slices.SortFunc(answers, func(x, y jobstore.Asked) int { return cmp.Compare(x.From, y.From) })
	var spans []jobstore.Asked
	for _, a := range answers {
		last := len(spans) - 1
		if a.To <= a.From {
			continue
		}
		if last >= 0 && a.From <= spans[last].To {
			spans[last].To = max(spans[last].To, a.To)
			continue
		}
		spans = append(spans, a)
	}
	return spans
}

// covered reports whether one of the spans holds all of [from, to).
func covered(spans []jobstore.Asked, from, to time.Time) bool {
	return slices.ContainsFunc(spans, func(a jobstore.Asked) bool {
		return int64(a.From) <= from.Unix() && to.Unix() <= int64(a.To)
	})
}

// dayOf is the midnight before t in a zone, or the first moment of a day that
// has none.
func dayOf(t time.Time, zone *time.Location) time.Time {
	y, m, d := t.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone)
}

// queries are the runs of a command source that are due.
func (s *site) queries(src *sourceConfig, records []jobstore.Record, opt ingestOptions, now time.Time) ([]dump, error) {
	first, again := s.config.FirstPeriod.Start, time.Time{}
	if !src.Since.IsZero() {
		first = src.Since
	}
	if opt.from != "" {
		var err error
		if again, err = time.ParseInLocation(time.DateOnly, opt.from, src.Zone); err != nil {
			return nil, usageError{fmt.Errorf("--from: %q is no day", opt.from), "write it as 2026-03-01"}
		}
	}
	var dumps []dump
	for _, w := range src.windows(records, first, again, now) {
		dumps = append(dumps, dump{
			name:    src.series() + ":" + w.String(),
			options: ingest.Options{Cluster: src.Cluster, Zone: src.Zone},
			query:   &query{source: src, window: w},
		})
	}
	return dumps, nil
}

// warnOfUnknownClusters says of which clusters a command has never given a
// job: sacct answers with a header alone, and no complaint, for a cluster that
// Slurm does not know.
func (a *app) warnOfUnknownClusters(s *site) error {
	records, err := s.jobs.Ingests()
	if err != nil {
		return err
	}
	for _, src := range s.config.Sources {
		known := func(r jobstore.Record) bool { return slices.Contains(r.Clusters, src.Cluster) }
		if src.Command != nil && !slices.ContainsFunc(records, known) {
			fmt.Fprintf(a.stderr, "hpcbill: warning: %s: sacct knows no job of cluster %s, and answers so for a name that it does not know\n", src.series(), src.Cluster)
			fmt.Fprintln(a.stderr, "hpcbill: hint: sacctmgr show cluster lists the names; a user who is no operator may not see the jobs of others")
		}
	}
	return nil
}
