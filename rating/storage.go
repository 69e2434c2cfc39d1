package rating

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// Storage prices the holdings of a period: each for the days of the period
// that it covers, cut where the card's version changes. Holdings outside the
// period give nothing. The outcomes are in the order of the holdings and are
// the caller's to keep.
//
// Two holdings of one group on one file system that cover the same day are an
// error: the day would be charged twice.
func (r *Rater) Storage(holdings []ingest.Holding, p rates.Period) ([]StorageOutcome, error) {
	if err := overlapping(holdings); err != nil {
		return nil, err
	}
	var outcomes []StorageOutcome
	for i := range holdings {
		outcomes = r.holding(outcomes, holdings, i, p)
	}
	return outcomes, nil
}

// place is where a holding is.
type place struct{ group, filesystem string }

func placeOf(h *ingest.Holding) place { return place{h.Group, h.Filesystem} }

func overlapping(holdings []ingest.Holding) error {
	last := map[place]*ingest.Holding{}
	order := make([]*ingest.Holding, len(holdings))
	for i := range holdings {
		order[i] = &holdings[i]
	}
	slices.SortStableFunc(order, func(a, b *ingest.Holding) int { return compareDays(rates.Date(a.From), rates.Date(b.From)) })
	var errs []error
	for _, h := range order {
		if before := last[placeOf(h)]; before != nil && (before.Until.IsZero() || h.From.Before(before.Until)) {
			errs = append(errs, fmt.Errorf("%s:%d: the quota of %s on %s overlaps with line %d",
				h.Source.File, h.Source.Line, h.Group, h.Filesystem, before.Source.Line))
		}
		last[placeOf(h)] = h
	}
	return errors.Join(errs...)
}

func compareDays(a, b rates.Date) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}

// holding appends the outcomes of the i-th holding.
func (r *Rater) holding(outcomes []StorageOutcome, all []ingest.Holding, i int, p rates.Period) []StorageOutcome {
	h := all[i]
	from, until := daysWithin(&h, p)
	if !from.Before(until) {
		return outcomes
	}
	c := r.storageCard(h.Filesystem)
	for from.Before(until) {
		o := StorageOutcome{Holding: h, Verdict: Held, From: from, Until: until}
		var v *version
		if c != nil {
			var to ingest.Instant
			v, _, to = c.at(r.midnight(from, always))
			if to < r.midnight(until, never) {
				o.Until = r.dayOf(to)
			}
		}
		o.Days = daysBetween(o.From, o.Until)
		r.rateHolding(&o, c, v, all, i, p)
		outcomes = append(outcomes, o)
		from = o.Until
	}
	return outcomes
}

// daysWithin gives the days of the period that a holding covers, half-open.
func daysWithin(h *ingest.Holding, p rates.Period) (from, until rates.Date) {
	from, until = rates.Date{Year: p.Year, Month: int(p.Month), Day: 1}, dayAfter(p)
	if hf := rates.Date(h.From); from.Before(hf) {
		from = hf
	}
	if hu := rates.Date(h.Until); !hu.IsZero() && hu.Before(until) {
		until = hu
	}
	return from, until
}

func dayAfter(p rates.Period) rates.Date {
	y, m, d := time.Date(p.Year, p.Month+1, 1, 0, 0, 0, 0, time.UTC).Date()
	return rates.Date{Year: y, Month: int(m), Day: d}
}

// daysBetween counts calendar days: a day of 23 hours is a day.
func daysBetween(from, until rates.Date) int {
	const secondsOfDay = 86400
	return int((until.Midnight(time.UTC).Unix() - from.Midnight(time.UTC).Unix()) / secondsOfDay)
}

func (r *Rater) storageCard(filesystem string) *card {
	for i, s := range r.tariff.Storage {
		if rates.GlobMatches(s.Filesystem, filesystem) {
			return r.storage[i]
		}
	}
	return nil
}

func (r *Rater) rateHolding(o *StorageOutcome, c *card, v *version, all []ingest.Holding, i int, p rates.Period) {
	h := &o.Holding
	group := r.tariff.Roster.Group(h.Group)
	switch {
	case group == nil:
		o.Cause = causeOfNoHolder(h, r.tariff.Roster)
		return
	case c == nil:
		o.Cause = Cause{Code: NoCard, Detail: "filesystem=" + h.Filesystem,
			Hint: "name a rate card for this file system under storage: in hpcbill.yaml"}
		return
	case v == nil:
		o.Cause = Cause{Code: NoVersion, Detail: fmt.Sprintf("card=%s filesystem=%s", c.Name, h.Filesystem),
			Hint: "add a version for that time to " + c.File, Reason: Reason{Card: c.Name, CardDigest: c.Digest, File: c.File}}
		return
	}
	facts := &rates.Facts{Values: &formula.Values{}}
	facts.Text[rates.Filesystem], facts.Text[rates.GroupID], facts.Text[rates.Class] = h.Filesystem, group.ID, group.Class
	rule, err := v.SelectStorage(facts)
	if err != nil || rule == nil {
		o.Cause = Cause{Code: NoRule, Detail: fmt.Sprintf("filesystem=%s class=%s", h.Filesystem, group.Class),
			Hint: fmt.Sprintf("add a storage rule that matches it to the version of %s in %s, line %d", v.From, c.File, v.Line), Reason: versionReason(v)}
		return
	}
	reason := versionReason(v)
	reason.Rule, reason.Line = rule.Name, rule.Line
	switch {
	case rule.Exclude != "":
		o.Verdict, o.Cause = Excluded, Cause{Code: ByRule, Detail: rule.Exclude, Reason: reason}
	case rule.Prorate == rates.ProrateNone && !r.standsForMonth(o, all, i, p):
		o.Verdict, o.Cause = Excluded, Cause{Code: ByRule, Detail: "the month is charged at its largest quota", Reason: reason}
	default:
		r.priceHolding(o, v, rule, facts, p, reason)
	}
	for n := range o.Charges {
		o.Charges[n].Group = group.ID
	}
}

// standsForMonth reports whether a holding is the one whose quota counts for
// the whole month where nothing is prorated: the largest, the earliest of
// those; and of its parts under several versions the last.
func (r *Rater) standsForMonth(o *StorageOutcome, all []ingest.Holding, i int, p rates.Period) bool {
	if _, until := daysWithin(&o.Holding, p); o.Until != until {
		return false
	}
	for n := range all {
		other := &all[n]
		if n == i || placeOf(other) != placeOf(&o.Holding) {
			continue
		}
		if from, until := daysWithin(other, p); !from.Before(until) {
			continue
		}
		if other.QuotaBytes > o.Holding.QuotaBytes || other.QuotaBytes == o.Holding.QuotaBytes && other.From.Before(o.Holding.From) {
			return false
		}
	}
	return true
}

// priceHolding works out the charges of a holding for its days:
//
//	units  = rate · days / days of the month   (rate where nothing is prorated)
//	amount = units · price
//
// unless the rule has a formula of its own.
func (r *Rater) priceHolding(o *StorageOutcome, v *version, rule *rates.StorageRule, facts *rates.Facts, p rates.Period, reason Reason) {
	values, share := facts.Values, money.Int(1)
	if rule.Prorate == rates.ProrateDay {
		share = money.Ratio(int64(o.Days), int64(p.Days()))
	}
	values.SetInt(formula.QuotaBytes, o.Holding.QuotaBytes)
	values.SetInt(formula.UsedBytes, o.Holding.UsedBytes)
	noSeries := errors.New("storage is known by its quota and last sample only")
	values.SetUnknown(formula.MeanBytes, noSeries)
	values.SetUnknown(formula.MaxBytes, noSeries)
	values.SetInt(formula.Days, int64(o.Days))
	values.SetInt(formula.MonthDays, int64(p.Days()))
	v.EvaluateLets(values)
	for _, rc := range rule.Charges {
		c, err := priceStorage(rc, facts, share)
		if err != nil {
			o.Charges, o.Cause = nil, causeOfStorage(err, o, rule.Name, reason)
			return
		}
		c.Reason = reason
		o.Charges = append(o.Charges, c)
	}
	o.Verdict = Charged
}

// priceStorage works out one charge from the figures that are set.
func priceStorage(rc *rates.RuleCharge, facts *rates.Facts, share money.Exact) (Charge, error) {
	values := facts.Values
	stage := func(s Stage, f *formula.Formula, slot formula.Slot, x money.Exact) (money.Exact, error) {
		if f != nil {
			var err error
			if x, err = f.Eval(values); err != nil {
				return x, &stageError{s, rc.Meter.Name, err}
			}
		}
		values.Set(slot, x)
		return x, nil
	}
	rate, err := stage(RateStage, rc.Rate, formula.Rate, money.Exact{})
	if err != nil {
		return Charge{}, err
	}
	values.Set(formula.Factor, one)
	units, err := stage(UnitsStage, rc.Units, formula.Units, rate.Mul(share))
	if err != nil {
		return Charge{}, err
	}
	price, label, err := rc.Meter.PriceFor(facts)
	if err != nil {
		return Charge{}, err
	}
	values.Set(formula.Price, price)
	amount := units.Mul(price)
	if rc.Amount != nil {
		if amount, err = rc.Amount.Eval(values); err != nil {
			return Charge{}, &stageError{AmountStage, rc.Meter.Name, err}
		}
	}
	if units.Sign() < 0 || amount.Sign() < 0 {
		return Charge{}, &stageError{AmountStage, rc.Meter.Name, errNegative}
	}
	return Charge{Meter: rc.Meter.Name, Unit: rc.Meter.Unit, Quantity: units, Price: price, PriceLabel: label, Amount: amount}, nil
}

func causeOfNoHolder(h *ingest.Holding, roster *rates.Roster) Cause {
	return Cause{
		Code: NoGroup, Detail: fmt.Sprintf("group=%s filesystem=%s", h.Group, h.Filesystem),
		Hint: fmt.Sprintf("%s line %d names a group that %s does not have", h.Source.File, h.Source.Line, roster.File),
	}
}

func causeOfStorage(err error, o *StorageOutcome, rule string, reason Reason) Cause {
	c := Cause{Code: BadFormula, Detail: fmt.Sprintf("rule=%s filesystem=%s: %v", rule, o.Holding.Filesystem, err), Reason: reason,
		Hint: fmt.Sprintf("guard the formula in the rule at line %d of %s", reason.Line, reason.File)}
	var unknown *formula.UnknownFigureError
	switch {
	case errors.As(err, &unknown):
		c.Code, c.Detail = UnknownFigure, fmt.Sprintf("%s filesystem=%s group=%s", unknown.Name, o.Holding.Filesystem, o.Holding.Group)
		c.Hint = fmt.Sprintf("the rule at line %d of %s needs it and %v", reason.Line, reason.File, unknown)
	case errors.Is(err, rates.ErrNotListed):
		c.Code, c.Detail, c.Hint = NoPrice, err.Error(), "add it to the table in "+reason.File
	}
	return c
}
