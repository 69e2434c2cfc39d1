package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
)

// Coverage is whether the records of every day are there. A dump that nobody
// made, or that was cut short, is the commonest wrong invoice, and only its
// absence shows.

// coverageFlag says what is strange about a day.
type coverageFlag string

// The flags of a day that is over. A day without any is one on which jobs
// ended as on the days around it.
const (
	flagIdle        coverageFlag = "idle"         // no job ended, and sacct was asked: that is so
	flagNoRecords   coverageFlag = "no-records"   // the cluster has no record at all
	flagBeforeFirst coverageFlag = "before-first" // before its first record that ended
	flagAfterLast   coverageFlag = "after-last"   // after its last one
	flagNone        coverageFlag = "none"         // no record that ended, between days that have some
	flagGap         coverageFlag = "gap"          // the same, between days that have many
	flagPartial     coverageFlag = "partial"      // the newest dump was made before the day was over
	flagFew         coverageFlag = "few"          // less than a tenth of what the days around have
)

const (
	// neighbourDays is how many days before and after a day it is compared
	// with: a week has its weekend.
	neighbourDays = 7
	// manyEnded is how many records a day must be expected to have for none to
	// be no chance; enoughEnded the same for fewer than a tenth.
	manyEnded, enoughEnded = 10, 100
)

// coveredDay is what the store holds of one day of a cluster.
type coveredDay struct {
	start, end time.Time

	ended, started, submitted int64
	dumps                     map[string]bool // that gave the records that ended

	asked bool  // an answer of sacct holds the whole day
	usual int64 // how many end on the days around; 0 = it cannot be told
	flag  coverageFlag
	note  string
}

// missing reports whether records of the day may be missing.
func (d *coveredDay) missing() bool { return d.ended == 0 && d.flag != "" && d.flag != flagIdle }

// clusterCoverage is what the store holds of a cluster, day by day.
type clusterCoverage struct {
	cluster string
	days    []coveredDay // without a gap, with neighbourDays more at both ends

	first, last ingest.Instant // End of its first and its last record of all; None where none has ended
	newest      ingest.Instant // the latest instant that one of its dumps knows of
	dumps       []jobstore.Record
	answers     []jobstore.Asked // of those that sacct gave
	expected    bool             // a source is there for it
}

// coverage reads what the store holds of the days of [from, to), of each
// cluster that is configured or has records. Where not whole, only what ended
// is counted, which reads little more than those days.
func (s *site) coverage(from, to, now time.Time, whole bool) ([]*clusterCoverage, error) {
	from, to = from.AddDate(0, 0, -neighbourDays), to.AddDate(0, 0, neighbourDays)
	clusters, err := s.coveredClusters(from, to)
	if err != nil {
		return nil, err
	}
	if whole {
		err = s.countDays(clusters, from, to)
	} else {
		err = s.countEnded(clusters, from, to)
	}
	if err != nil {
		return nil, err
	}
	var list []*clusterCoverage
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		c := clusters[name]
		c.judge(now)
		c.days = c.days[neighbourDays : len(c.days)-neighbourDays]
		list = append(list, c)
	}
	return list, nil
}

// countDays counts on each day what ended, started and was submitted on it, and
// which dumps gave what ended.
func (s *site) countDays(clusters map[string]*clusterCoverage, from, to time.Time) error {
	first, end := ingest.Instant(from.Unix()), ingest.Instant(to.Unix())
	queries := []jobstore.Query{
		{From: first, To: end, Columns: []string{"source_file"}},
		// What was submitted or started on these days may end on any later one.
		{From: end, To: 1 << 62, Columns: []string{"start_time"}},
		{Unfinished: true, Columns: []string{"start_time"}},
	}
	for _, q := range queries {
		for batch, err := range s.jobs.Select(q) {
			if err != nil {
				return err
			}
			for i := range batch {
				if c := clusters[batch[i].Cluster]; c != nil { // else it has just been made
					c.count(&batch[i])
				}
			}
		}
	}
	return nil
}

// countEnded counts what ended on each day alone.
func (s *site) countEnded(clusters map[string]*clusterCoverage, from, to time.Time) error {
	var edges []ingest.Instant
	for _, d := range daysOf(from, to, s.zone()) {
		edges = append(edges, ingest.Instant(d.start.Unix()))
	}
	edges = append(edges, ingest.Instant(to.Unix()))
	counts, err := s.jobs.EndCounts(edges)
	for name, ended := range counts {
		if c := clusters[name]; c != nil { // else it has just been made
			for i, n := range ended {
				c.days[i].ended += n
			}
		}
	}
	return err
}

// coveredClusters makes the days of each cluster, and what the store knows of
// it without reading a job.
func (s *site) coveredClusters(from, to time.Time) (map[string]*clusterCoverage, error) {
	clusters := map[string]*clusterCoverage{}
	of := func(name string) *clusterCoverage {
		if clusters[name] == nil {
			clusters[name] = &clusterCoverage{cluster: name, days: daysOf(from, to, s.zone())}
		}
		return clusters[name]
	}
	for _, c := range s.config.Clusters {
		of(c.Name)
	}
	for _, src := range s.config.Sources {
		if src.Cluster != "" {
			of(src.Cluster).expected = true
		}
	}
	months, err := s.jobs.Months()
	if err != nil {
		return nil, err
	}
	for _, m := range months {
		c := of(m.Cluster)
		if m.FirstEnd != ingest.None && (c.first == ingest.None || m.FirstEnd < c.first) {
			c.first = m.FirstEnd
		}
		c.last = max(c.last, m.LastEnd)
	}
	records, err := s.jobs.Ingests()
	for _, r := range records {
		for name, c := range clusters {
			c.takeUp(name, r)
		}
	}
	return clusters, err
}

// daysOf are the days from from to to, both midnights of the zone.
func daysOf(from, to time.Time, zone *time.Location) []coveredDay {
	var days []coveredDay
	for day := dayOf(from, zone); day.Before(to); {
		next := day.AddDate(0, 0, 1)
		days = append(days, coveredDay{start: day, end: next, dumps: map[string]bool{}})
		day = next
	}
	return days
}

// takeUp notes what an ingest says of a cluster.
func (c *clusterCoverage) takeUp(name string, r jobstore.Record) {
	series := (&sourceConfig{Cluster: name}).series()
	if !slices.Contains(r.Clusters, name) && r.Asked.Series != series {
		return
	}
	c.dumps = append(c.dumps, r)
	c.newest = max(c.newest, r.Newest)
	if r.Asked.Series != series {
		return
	}
	c.newest = max(c.newest, r.Asked.To)
	c.answers = append(c.answers, settled(r))
}

// count counts a job on the days of its times.
func (c *clusterCoverage) count(j *ingest.Job) {
	if d := c.day(j.Submit); d != nil {
		d.submitted++
	}
	if d := c.day(j.Start); d != nil {
		d.started++
	}
	if d := c.day(j.End); d != nil {
		d.ended++
		if j.Source.File != "" {
			d.dumps[j.Source.File] = true
		}
	}
}

// day finds the day of an instant, nil where it is none of them.
func (c *clusterCoverage) day(at ingest.Instant) *coveredDay {
	i := sort.Search(len(c.days), func(i int) bool { return c.days[i].end.Unix() > int64(at) })
	if i == len(c.days) || int64(at) < c.days[i].start.Unix() {
		return nil
	}
	return &c.days[i]
}

// judge flags the days that are over.
func (c *clusterCoverage) judge(now time.Time) {
	spans := joined(c.answers)
	for i := range c.days {
		d := &c.days[i]
		d.asked = covered(spans, d.start, d.end)
		if d.end.After(now) {
			continue
		}
		d.usual = c.usual(i)
		left := d.end.Unix() - max(int64(c.newest), d.start.Unix())
		switch {
		case d.ended == 0:
			c.judgeEmpty(d)
		case d.asked:
		case left > 0 && d.usual*left >= manyEnded*(d.end.Unix()-d.start.Unix()):
			d.flag, d.note = flagPartial, fmt.Sprintf("no dump knows of anything after %s", c.clock(c.newest, d))+d.around()
		case d.usual >= enoughEnded && d.ended*10 < d.usual:
			d.flag, d.note = flagFew, "few records that ended"+d.around()
		}
	}
}

// around says what the days around are like, where that is many.
func (d *coveredDay) around() string {
	if d.usual < manyEnded {
		return ""
	}
	return fmt.Sprintf("; the days around have about %s", grouped(d.usual))
}

// judgeEmpty flags a day on which no job ended.
func (c *clusterCoverage) judgeEmpty(d *coveredDay) {
	switch {
	case c.first == ingest.None && c.newest == ingest.None:
		d.flag, d.note = flagNoRecords, "the cluster has no record at all"
	case d.asked && c.first != ingest.None:
		d.flag, d.note = flagIdle, "sacct was asked: no job ended"
	case c.first == ingest.None:
		d.flag, d.note = flagNoRecords, "the cluster has no record that ended"
	case int64(c.first) >= d.end.Unix():
		d.flag, d.note = flagBeforeFirst, "before the cluster's first record"
	case int64(c.last) < d.start.Unix():
		d.flag, d.note = flagAfterLast, fmt.Sprintf("after the cluster's last record, of %s", c.clock(c.last, d))+d.around()
	case d.usual >= manyEnded:
		d.flag, d.note = flagGap, "no record that ended"+d.around()
	default:
		d.flag, d.note = flagNone, "no record that ended"
	}
	if spans := c.spanning(d); len(spans) > 0 && d.flag != flagIdle && d.flag != flagNoRecords {
		d.note += "; " + strings.Join(spans, ", ") + " has records before and after"
	}
}

// usual is how many jobs end on a day like the i-th: the median of the days
// around it that have any; 0 where fewer than three of them do.
func (c *clusterCoverage) usual(i int) int64 {
	var around []int64
	for k := max(0, i-neighbourDays); k <= i+neighbourDays && k < len(c.days); k++ {
		if k != i && c.days[k].ended > 0 {
			around = append(around, c.days[k].ended)
		}
	}
	if len(around) < 3 {
		return 0
	}
	slices.Sort(around)
	return around[(len(around)-1)/2]
}

// mostSpansShown bounds the dumps that a note names.
const mostSpansShown = 2

// spanning names dumps that have records that ended before the day and after
// it: whoever made them asked for the day too, most likely.
func (c *clusterCoverage) spanning(d *coveredDay) []string {
	var names []string
	for _, r := range c.dumps {
		if r.FirstEnd != ingest.None && int64(r.FirstEnd) < d.start.Unix() && int64(r.LastEnd) >= d.end.Unix() && !slices.Contains(names, r.File) {
			names = append(names, r.File)
		}
	}
	slices.SortFunc(names, cmp.Compare)
	return names[:min(len(names), mostSpansShown)]
}

// clock prints an instant in the zone of the day.
func (c *clusterCoverage) clock(at ingest.Instant, d *coveredDay) string {
	return timeOf(at).In(d.start.Location()).Format(time.RFC3339)
}

// serious reports whether the day keeps a machine from issuing: what is
// missing is more than chance.
func (c *clusterCoverage) serious(d *coveredDay) bool {
	switch d.flag {
	case flagGap, flagPartial:
		return true
	case flagAfterLast:
		return d.usual >= manyEnded
	case flagNoRecords:
		return c.expected
	}
	return false
}
