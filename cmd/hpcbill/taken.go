package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hpcbill/ingest/jobstore"
)

// taken returns the ingest that took a dump of this size and these bytes, nil
// where none did. Only a file whose size was seen before is read for its
// digest.
func (s *site) taken(d dump, size int64) (*jobstore.Record, error) {
	records, err := s.jobs.Ingests()
	if err != nil || d.path == "" || !slices.ContainsFunc(records, func(r jobstore.Record) bool { return r.Bytes == size }) {
		return nil, err
	}
	digest, err := fileDigest(d.path)
	if err != nil {
		return nil, err
	}
	return withDigest(records, digest), nil
}

// digestTaken is taken for a dump that was read whole.
func (s *site) digestTaken(digest string) (*jobstore.Record, error) {
	if there, err := s.jobs.Has(digest); err != nil || !there {
		return nil, err
	}
	records, err := s.jobs.Ingests()
	return withDigest(records, digest), err
}

func withDigest(records []jobstore.Record, digest string) *jobstore.Record {
	i := slices.IndexFunc(records, func(r jobstore.Record) bool { return r.Digest == digest })
	if i < 0 {
		return nil
	}
	return &records[i]
}

// passOver passes over a dump that is there. What could not be read of it then
// and is not settled still refuses it where nothing may be unreadable.
func (s *site) passOver(there *jobstore.Record, opt ingestOptions, err error) (jobstore.Record, error) {
	if err != nil {
		return jobstore.Record{}, err
	}
	record := *there
	record.Sequence = 0
	if !opt.strict || record.Quarantined == 0 {
		return record, nil
	}
	var errs []error
	for q, err := range s.jobs.Quarantined() {
		if err != nil {
			return record, err
		}
		if q.Ingest.Digest == record.Digest {
			errs = append(errs, inputError{fmt.Errorf("%s:%d: %s", q.Source.File, q.Source.Line, q.Reason), q.Hint})
		}
	}
	return record, errors.Join(errs...)
}

// zone is the name of the zone in which the dump's times are read.
func (d dump) zone() string {
	if d.options.Zone == nil {
		return time.UTC.String()
	}
	return d.options.Zone.String()
}

// passedOver are the dumps that are there already.
type passedOver struct {
	dumps    int64
	zones    otherwise // in which their times were read
	clusters otherwise // of their jobs
}

// otherwise are dumps that were taken in another way than is said now.
type otherwise struct {
	dumps          int64
	first, was, is string
}

func (o *otherwise) add(file, was, is string) {
	if o.dumps++; o.dumps == 1 {
		o.first, o.was, o.is = file, was, is
	}
}

func (p *passedOver) add(d dump, r *jobstore.Record) {
	p.dumps++
	if r.Zone != d.zone() && !strings.HasPrefix(r.Format, "sacct --json") { // there times are instants
		p.zones.add(r.File, r.Zone, d.zone())
	}
	if c := d.options.Cluster; c != "" && len(r.Clusters) > 0 && !slices.Contains(r.Clusters, c) {
		p.clusters.add(r.File, strings.Join(r.Clusters, ", "), c)
	}
}

func (p *passedOver) print(a *app) {
	if p.dumps == 0 {
		return
	}
	fmt.Fprintf(a.stdout, "%s there already\n", count(p.dumps, "dump"))
	if o := p.zones; o.dumps > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s: its times were read in %s, not in %s as is said now, and stay so (%s of this kind)\n",
			o.first, o.was, o.is, count(o.dumps, "dump"))
		fmt.Fprintln(a.stderr, "hpcbill: hint: where the zone was wrong, move data/jobs away and ingest all dumps again: jobs in two zones would be billed twice")
	}
	if o := p.clusters; o.dumps > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s: its jobs are of cluster %s, not of %s as is said now, and stay so (%s of this kind)\n",
			o.first, oneLine(o.was), oneLine(o.is), count(o.dumps, "dump"))
		fmt.Fprintln(a.stderr, "hpcbill: hint: where the cluster was wrong, move data/jobs away and ingest all dumps again: jobs on two clusters would be billed twice")
	}
}
