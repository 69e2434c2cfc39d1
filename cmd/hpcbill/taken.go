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
	dumps   int64
	zones   int64 // of them, those that were read in another zone than is said now
	first   string
	was, is string
}

func (p *passedOver) add(d dump, r *jobstore.Record) {
	p.dumps++
	if r.Zone == d.zone() || strings.HasPrefix(r.Format, "sacct --json") { // there times are instants
		return
	}
	if p.zones++; p.zones == 1 {
		p.first, p.was, p.is = r.File, r.Zone, d.zone()
	}
}

func (p *passedOver) print(a *app) {
	if p.dumps == 0 {
		return
	}
	fmt.Fprintf(a.stdout, "%s there already\n", count(p.dumps, "dump"))
	if p.zones == 0 {
		return
	}
	fmt.Fprintf(a.stderr, "hpcbill: warning: %s: its times were read in %s, not in %s as is said now, and stay so (%s of this kind)\n",
		p.first, p.was, p.is, count(p.zones, "dump"))
	fmt.Fprintln(a.stderr, "hpcbill: hint: where the zone was wrong, move data/jobs away and ingest all dumps again: jobs in two zones would be billed twice")
}
