package main

import (
	"context"
	"fmt"
	"slices"

	"hpcbill/ingest"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rating"
)

// issuedMonth is an issued month with the outages and waivers that billed it.
type issuedMonth struct {
	period  rates.Period
	site    *site
	outages *rates.Outages // nil = none
	waivers *rates.Waivers // nil = none

	// Made when a job has to be rated: under the rules that billed the month,
	// and under the same with the outages and waivers of today.
	then, now *rating.Rater
}

// issuedMonths gives the issued months of a site, each when it is asked for.
type issuedMonths struct {
	site  *site
	known map[string]*issuedMonth // nil where a month is not issued
}

func (s *site) issuedMonths() *issuedMonths {
	return &issuedMonths{s, map[string]*issuedMonth{}}
}

// of gives a month, nil where it is not issued.
func (all *issuedMonths) of(ctx context.Context, p rates.Period) (*issuedMonth, error) {
	m, seen := all.known[p.String()]
	if seen || all.site.history == nil {
		return m, nil
	}
	state, err := all.site.history.Period(ctx, p.String())
	if err == nil && state.State == history.Issued {
		m, err = all.site.readIssued(ctx, p)
	}
	if err != nil {
		return nil, fmt.Errorf("%s, as it was issued: %w", p, err)
	}
	all.known[p.String()] = m
	return m, nil
}

func (s *site) readIssued(ctx context.Context, p rates.Period) (*issuedMonth, error) {
	m := &issuedMonth{period: p, site: s}
	for _, kind := range []string{outagesKind, waiversKind} {
		texts, err := s.history.IssuedTexts(ctx, p.String(), kind)
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			if kind == outagesKind {
				m.outages, err = rates.LoadOutages(t.Name, t.Body, s.zone())
			} else {
				m.waivers, err = rates.ReadWaivers(t.Name, t.Body, s.zone())
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// raters makes the raters of the month.
func (m *issuedMonth) raters(ctx context.Context) error {
	if m.then != nil {
		return nil
	}
	recorded, err := m.site.history.Evidence(ctx, m.period.String())
	if err != nil {
		return err
	}
	in, err := recordedInputs(recorded)
	if err != nil {
		return fmt.Errorf("%s, as it was issued: %w", m.period, err)
	}
	tariff := in.tariff()
	m.then = rating.NewRater(tariff)
	tariff.Outages, tariff.Waivers = m.site.outages, m.site.waivers
	m.now = rating.NewRater(tariff)
	return nil
}

// says reports whether the month was billed with a row that says the same.
func (m *issuedMonth) says(w *rates.Waiver) bool {
	return m.waivers != nil && slices.ContainsFunc(m.waivers.All, w.Says)
}

// has reports whether the month was billed with an outage that says the same.
func (m *issuedMonth) has(o *rates.Outage) bool {
	return m.outages != nil && slices.ContainsFunc(m.outages.All, func(w *rates.Outage) bool { return w.Digest == o.Digest })
}

// waivesOtherwise reports whether what is waived of a job for a cause of the
// code and the line would be another today. The raters must be made.
func (m *issuedMonth) waivesOtherwise(j *ingest.Job, code string, line int) bool {
	now := waivedBy(m.now.Job(j, m.period), code, func(c *rating.Cause) bool { return c.Reason.Line == line })
	if len(now) == 0 {
		return false
	}
	then := waivedBy(m.then.Job(j, m.period), code, func(*rating.Cause) bool { return true })
	return slices.ContainsFunc(now, func(share string) bool { return !slices.Contains(then, share) })
}

// waivedBy says what the causes of a code waive of a job.
func waivedBy(outcomes []rating.Outcome, code string, of func(*rating.Cause) bool) []string {
	var shares []string
	for i := range outcomes {
		o := &outcomes[i]
		if o.Verdict != rating.Waived || o.Cause.Code != code || !of(&o.Cause) {
			continue
		}
		share := fmt.Sprint(o.From, o.Until, o.Seconds, o.Cause.Detail)
		for _, c := range o.Charges {
			share += fmt.Sprint(" ", c.Meter, c.Quantity, c.Amount)
		}
		shares = append(shares, share)
	}
	return shares
}
