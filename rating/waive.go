package rating

import (
	"fmt"
	"slices"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// waiving takes off priced parts of jobs what outages and people forgive.
//
// A part is rated whole, whatever its formulas, and then its charges are
// shared by elapsed seconds: what outages waive of its time first, then the
// percentage that a waiver takes of what is left. The shares sum to the part,
// to the last digit.
type waiving struct {
	outages *rates.Outages // nil = none
	waivers *rates.Waivers // nil = none

	causes  map[*rates.Outage]Cause
	decided map[*rates.Waiver]Cause

	period  rates.Period
	month   string // the period's name, made when it is asked for
	asMonth func() string

	cluster string // of the job before
	rows    *rates.ClusterWaivers

	// Of the part in hand, reused from part to part.
	near   []*rates.Outage
	shares []waivedShare
	left   waivedShare // what is not waived yet
}

// waivedShare is what one cause takes off a part.
type waivedShare struct {
	cause   Cause
	seconds int64
	of      money.Exact // the charges: 1 is all
	outage  *rates.Outage
	waiver  *rates.Waiver
}

func newWaiving(t *Tariff) *waiving {
	w := &waiving{causes: map[*rates.Outage]Cause{}, decided: map[*rates.Waiver]Cause{}}
	if t.Outages != nil && len(t.Outages.All) > 0 {
		w.outages = t.Outages
		for _, o := range t.Outages.All {
			w.causes[o] = Cause{Code: ByOutage, Detail: o.Name + ": " + o.Reason,
				Reason: Reason{Rule: o.Name, File: t.Outages.File, Line: o.Line}}
		}
	}
	if t.Waivers != nil && len(t.Waivers.All) > 0 {
		w.waivers = t.Waivers
		for _, row := range t.Waivers.All {
			c := Cause{Code: ByWaiver, Detail: row.Reason, Reason: Reason{File: t.Waivers.File, Line: row.Line}}
			if !row.Percent.Equal(hundred) {
				c.Detail += " (" + row.Percent.String() + " %)"
			}
			w.decided[row] = c
		}
	}
	if w.outages == nil && w.waivers == nil {
		return nil
	}
	w.asMonth = func() string {
		if w.month == "" {
			w.month = w.period.String()
		}
		return w.month
	}
	return w
}

var hundred = money.Int(100)

// begin notes the period in which the next parts are billed.
func (w *waiving) begin(p rates.Period) {
	if w.period != p {
		w.period, w.month = p, ""
	}
}

// waive takes off the outcome made last, which is charged, what is forgiven of
// it: that becomes outcomes of its own. some is false where nothing is, and the
// outcome is as it was.
func (r *Rater) waive(pl *plan, j *ingest.Job, p part, ex *recorder) (some bool) {
	w := r.waiving
	w.shares, w.left = w.shares[:0], waivedShare{seconds: p.elapsed, of: one}
	if w.outages != nil {
		if cause, unknown := r.waiveOutages(pl, j, p); unknown {
			o := &r.outcomes[len(r.outcomes)-1]
			o.Verdict, o.Cause, o.Charges = Held, cause, nil
			return true
		}
	}
	if w.waivers != nil && w.left.of.Sign() > 0 {
		w.waiveByRow(j)
	}
	if len(w.shares) == 0 {
		return false
	}
	r.divide(pl, p, ex)
	return true
}

// take moves a share of what is left to a cause.
func (w *waiving) take(s waivedShare) {
	w.shares = append(w.shares, s)
	w.left.seconds -= s.seconds
	w.left.of = w.left.of.Sub(s.of)
}

// waiveByRow takes off what a row of waivers.csv forgives: its percentage of
// the charges exactly, of the seconds to the nearest one.
func (w *waiving) waiveByRow(j *ingest.Job) {
	if w.cluster != j.Cluster || w.rows == nil {
		w.cluster, w.rows = j.Cluster, w.waivers.Cluster(j.Cluster)
		if w.rows == nil {
			return
		}
	}
	row := w.rows.Of(j.JobID, int64(j.Submit), w.asMonth)
	if row == nil {
		return
	}
	s := waivedShare{cause: w.decided[row], seconds: w.left.seconds, of: w.left.of, waiver: row}
	if !row.Percent.Equal(hundred) {
		part := row.Percent.Mul(money.Ratio(1, 100))
		s.of = s.of.Mul(part)
		s.seconds, _ = money.Int(s.seconds).Mul(part).Round(0, money.HalfUp).Int64()
	}
	w.take(s)
}

// divide puts the shares in the place of the outcome that they divide.
func (r *Rater) divide(pl *plan, p part, ex *recorder) {
	w, at := r.waiving, len(r.outcomes)-1
	whole := r.outcomes[at]
	r.outcomes = r.outcomes[:at]
	if w.left.of.Sign() > 0 {
		rest := whole
		rest.Seconds, rest.Charges = w.left.seconds, r.share(pl, whole.Charges, one.Sub(w.left.of), one)
		r.outcomes = append(r.outcomes, rest)
	}
	before := money.Exact{}
	for i := range w.shares {
		s := &w.shares[i]
		o, upTo := whole, before.Add(s.of)
		o.Verdict, o.Cause, o.Seconds, o.Charges = Waived, s.cause, s.seconds, r.share(pl, whole.Charges, before, upTo)
		r.outcomes = append(r.outcomes, o)
		before = upTo
	}
	ex.waived(r, p)
}

// share gives of each charge what lies between two fractions of it. Those
// that tiers will price have no amount yet.
func (r *Rater) share(pl *plan, charges []Charge, before, upTo money.Exact) []Charge {
	first := len(r.charges)
	for i := range charges {
		c := charges[i]
		proportional := slices.Contains(pl.rule.proportional, c.Meter)
		between := func(x money.Exact) money.Exact {
			return upToFraction(x, upTo, proportional).Sub(upToFraction(x, before, proportional))
		}
		byPrice := c.Amount.Equal(c.Quantity.Mul(c.Price))
		c.Quantity = between(c.Quantity)
		if c.Amount = between(c.Amount); byPrice {
			c.Amount = c.Quantity.Mul(c.Price)
		}
		r.charges = append(r.charges, c)
	}
	return r.charges[first:len(r.charges):len(r.charges)]
}

// sharePlaces are the digits after the point up to which a charge is divided
// that is not in proportion to time. Exact shares of many such jobs, each with
// its own number of seconds, would sum to fractions of thousands of digits.
const sharePlaces = 12

// upToFraction gives a fraction of x: exactly where x is in proportion to
// time, else cut off after sharePlaces. A share is the difference of two of
// these, so that the shares of x sum to x.
func upToFraction(x, fraction money.Exact, proportional bool) money.Exact {
	part := x.Mul(fraction)
	if proportional || fraction.Equal(one) {
		return part
	}
	return part.Round(sharePlaces, money.Down)
}

// waived tells what was taken off a part and why: what stays charged goes on
// in the part's own steps, what is waived beside it has its own.
func (ex *recorder) waived(r *Rater, p part) {
	if ex == nil {
		return
	}
	w := r.waiving
	if w.left.of.Sign() > 0 {
		ex.add(Step{Stage: WaiveStage, Says: fmt.Sprintf("%d of %d seconds stay charged", w.left.seconds, p.elapsed)})
	}
	for i := range w.shares {
		if i > 0 || w.left.of.Sign() > 0 {
			ex.parts = append(ex.parts, PartExplanation{})
		}
		s := &w.shares[i]
		step := Step{Stage: WaiveStage, Name: s.cause.Reason.Rule, File: s.cause.Reason.File, Line: s.cause.Reason.Line}
		switch {
		case s.outage != nil:
			local := func(at int64) string {
				return timeOf(ingest.Instant(at)).In(r.tariff.Zone).Format("2006-01-02 15:04:05 -0700")
			}
			step.Says = fmt.Sprintf("outage %s from %s until %s, %s: %d of %d seconds",
				s.outage.Name, local(s.outage.From), local(s.outage.Until), s.outage.Mode, s.seconds, p.elapsed)
		default:
			step.Says = fmt.Sprintf("%s decided on %s: %s %% of what was left, %d of %d seconds",
				s.waiver.Author, s.waiver.Date, s.waiver.Percent, s.seconds, p.elapsed)
		}
		ex.add(step)
	}
}
