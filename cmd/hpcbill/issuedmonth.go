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

// issuedMonth is an issued month under the rules that billed it, and under the
// same with the outages and waivers of today.
type issuedMonth struct {
	period    rates.Period
	in        *inputs
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
	recorded, err := s.history.Evidence(ctx, p.String())
	if err != nil {
		return nil, err
	}
	in, err := recordedInputs(recorded)
	if err != nil {
		return nil, err
	}
	then := in.tariff()
	now := then
	now.Outages, now.Waivers = s.outages, s.waivers
	return &issuedMonth{p, in, rating.NewRater(then), rating.NewRater(now)}, nil
}

// says reports whether the month was billed with a row that says the same.
func (m *issuedMonth) says(w *rates.Waiver) bool {
	return m.in.waivers != nil && slices.ContainsFunc(m.in.waivers.All, w.Says)
}

// has reports whether the month was billed with an outage that says the same.
func (m *issuedMonth) has(o *rates.Outage) bool {
	return m.in.outages != nil && slices.ContainsFunc(m.in.outages.All, func(w *rates.Outage) bool { return w.Digest == o.Digest })
}

// waivesOtherwise reports whether what is waived of a job for a cause of the
// code and the line would be another today.
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
