package rating

import (
	"errors"
	"regexp"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

var errNoQuota = errors.New("no quota is set")

// useSlots are the figures of use.
var useSlots = [...]formula.Slot{formula.UsedBytes, formula.MeanBytes, formula.MaxBytes, formula.OverDays}

// priceHolding works out the charges of a holding for its days:
//
//	units  = rate · days / days of the month   (rate where nothing is prorated)
//	amount = units · price
//
// unless the rule has a formula of its own. Where the rule charges the month,
// the figures of use are of all days of the month on which the group holds
// anything there, or of the day of the snapshot.
func (r *Rater) priceHolding(o *StorageOutcome, v *version, rule *rates.StorageRule, facts *rates.Facts, s *storageMonth, reason Reason) {
	pricer := storagePricer{facts: facts, share: one, holding: o, use: s.useFor(o, rule)}
	days := o.Days
	if rule.Prorate == rates.ProrateDay && rule.Snapshot == 0 {
		pricer.share = money.Ratio(int64(o.Days), int64(s.period.Days()))
	} else {
		days = s.daysHeld(placeOf(&o.Holding))
	}
	values := facts.Values
	if values.SetInt(formula.QuotaBytes, o.Holding.QuotaBytes); o.Holding.QuotaBytes < 0 {
		values.SetUnknown(formula.QuotaBytes, errNoQuota)
	}
	pricer.use.set(values)
	values.SetInt(formula.Days, int64(days))
	values.SetInt(formula.MonthDays, int64(s.period.Days()))
	v.EvaluateLets(values)
	for _, rc := range rule.Charges {
		c, err := pricer.price(rc)
		if err != nil {
			o.Charges, o.Cause = nil, causeOfStorage(err, o, rule.Name, reason)
			return
		}
		c.Reason = reason
		c.StorageUnit = unitCounted(rc)
		if countsUse(rc) {
			c.EstimatedDays = int32(pricer.use.estimated)
		}
		o.Charges = append(o.Charges, c)
	}
	o.Charges = settleJobTiers(o.Charges)
	o.Verdict = Charged
}

var (
	figureInTB  = regexp.MustCompile(`\b(quota|used|mean|max)_tb\b`)
	figureInTiB = regexp.MustCompile(`\b(quota|used|mean|max)_tib\b`)
)

// unitCounted tells by the figures that a charge's formulas name in which unit
// they count.
func unitCounted(rc *rates.RuleCharge) ingest.StorageUnit {
	var tb, tib bool
	for _, f := range []*formula.Formula{rc.Rate, rc.Units, rc.Amount} {
		if f != nil {
			tb, tib = tb || figureInTB.MatchString(f.Text), tib || figureInTiB.MatchString(f.Text)
		}
	}
	switch {
	case tb && !tib:
		return ingest.TB
	case tib && !tb:
		return ingest.TiB
	}
	return ""
}

// countsUse reports whether a formula of the charge depends on what was used.
func countsUse(rc *rates.RuleCharge) bool {
	for _, slot := range useSlots {
		for _, f := range []*formula.Formula{rc.Rate, rc.Units, rc.Amount} {
			if f != nil && f.Uses(slot) {
				return true
			}
		}
	}
	return false
}

// storagePricer prices one holding from the figures that are set.
type storagePricer struct {
	facts   *rates.Facts
	share   money.Exact // of the month
	holding *StorageOutcome
	use     useOfDays
}

func (sp *storagePricer) price(rc *rates.RuleCharge) (Charge, error) {
	values := sp.facts.Values
	rate, err := sp.rate(rc)
	if err != nil {
		return Charge{}, &stageError{RateStage, rc.Meter.Name, err}
	}
	values.Set(formula.Rate, rate)
	values.Set(formula.Factor, one)
	units := rate.Mul(sp.share)
	if rc.PerDay {
		units = rate
	}
	if rc.Units != nil {
		if units, err = rc.Units.Eval(values); err != nil {
			return Charge{}, &stageError{UnitsStage, rc.Meter.Name, err}
		}
	}
	values.Set(formula.Units, units)
	price, label, err := rc.Meter.PriceFor(sp.facts)
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
	return Charge{
		Meter: rc.Meter.Name, Unit: rc.Meter.Unit, Quantity: units, Price: price, PriceLabel: label, Amount: amount,
		Tiers: rc.Meter.Tiers, Counted: rc.Meter.Counted,
	}, nil
}

// rate gives the value of the rate formula, or the sum of its values on each
// day of the holding.
func (sp *storagePricer) rate(rc *rates.RuleCharge) (money.Exact, error) {
	switch {
	case rc.Rate == nil:
		return money.Exact{}, nil
	case !rc.PerDay:
		return rc.Rate.Eval(sp.facts.Values)
	}
	defer sp.use.set(sp.facts.Values)
	var sum money.Exact
	o := sp.holding
	for day := o.From; day.Before(o.Until); day = dayAfter(day) {
		use := useOf(&o.Holding, day, dayAfter(day))
		use.set(sp.facts.Values)
		rate, err := rc.Rate.Eval(sp.facts.Values)
		if err != nil {
			return money.Exact{}, err
		}
		if rate.Sign() < 0 {
			return money.Exact{}, errNegative
		}
		sum = sum.Add(rate)
	}
	return sum, nil
}
