package main

import (
	"context"
	"errors"
	"fmt"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rating"
)

// checkLateOutages finds outages that would change issued months: they were
// written, or came to say something else, afterwards. Only jobs that ran in
// such a window are looked at.
func (s *site) checkLateOutages(ctx context.Context) error {
	if s.outages == nil || len(s.outages.All) == 0 || s.history == nil {
		return nil
	}
	periods, err := s.history.Periods(ctx)
	if err != nil {
		return err
	}
	months := s.issuedMonths()
	beyond := !s.billsByEndAlone() // jobs billed before their end may meet a window after the month
	lacking := map[*rates.Outage][]*issuedMonth{}
	open := ""
	for _, p := range periods {
		month, err := rates.ParsePeriod(p.Period, s.zone())
		if err != nil {
			return err
		}
		if p.State == history.Issued {
			open = max(open, month.Next().String())
		}
		if p.State != history.Issued || !s.someOutageReaches(month, beyond) {
			continue
		}
		m, err := months.of(ctx, month)
		if err != nil {
			return err
		}
		for _, o := range s.outages.All {
			if reaches(o, month, beyond) && !m.has(o) {
				lacking[o] = append(lacking[o], m)
			}
		}
	}
	var faults []error
	for _, o := range s.outages.All {
		if len(lacking[o]) == 0 {
			continue
		}
		err := s.lateOutage(ctx, o, lacking[o], open)
		var fault rates.Fault
		if err != nil && !errors.As(err, &fault) {
			return err
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func (s *site) someOutageReaches(month rates.Period, beyond bool) bool {
	for _, o := range s.outages.All {
		if reaches(o, month, beyond) {
			return true
		}
	}
	return false
}

// reaches reports whether an outage can change the bill of a month.
func reaches(o *rates.Outage, month rates.Period, beyond bool) bool {
	return !month.Start.Before(o.BilledFrom) && (beyond || o.From < month.End.Unix())
}

// lateOutage counts the jobs of which the outage would waive something else in
// months that were issued without it. open is the first month that is not
// issued.
func (s *site) lateOutage(ctx context.Context, o *rates.Outage, months []*issuedMonth, open string) error {
	met := make([]int64, len(months))
	for _, m := range months {
		if err := m.raters(ctx); err != nil {
			return err
		}
	}
	for _, q := range []jobstore.Query{
		{From: ingest.Instant(o.From) - 1, To: ingest.Instant(o.Until), Overlapping: true}, // a second more: killed jobs end with the beginning
		{Unfinished: true},
	} {
		q.Columns = neededColumns(rating.AnyNeeds())
		for batch, err := range s.jobs.Select(q) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			for i := range batch {
				if batch[i].Start >= ingest.Instant(o.Until) {
					continue
				}
				for n, m := range months {
					if m.waivesOtherwise(&batch[i], rating.ByOutage, o.Line) {
						met[n]++
					}
				}
			}
		}
	}
	for n, m := range months {
		if met[n] > 0 {
			return rates.Fault{File: s.outages.File, Line: o.Line, Field: o.Name,
				Message: fmt.Sprintf("it would waive something of %s of %s, which was issued without it", count(met[n], "job"), m.period),
				Remedy:  "give back what is due with a credit in adjustments, and write  billed_from: " + open + "  on the outage"}
		}
	}
	return nil
}
