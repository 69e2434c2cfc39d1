package rating

import (
	"errors"
	"fmt"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

var (
	one  = money.Int(1)
	hour = money.Ratio(1, 3600) // of a second
)

// errNegative is why a charge below nothing is no charge.
var errNegative = errors.New("the value is negative")

// stageError is a formula without a value for this job.
type stageError struct {
	stage Stage
	meter string
	err   error
}

func (e *stageError) Error() string { return fmt.Sprintf("%s of %s: %v", e.stage, e.meter, e.err) }

func (e *stageError) Unwrap() error { return e.err }

// setLets evaluates the figures of the card that the rule needs, in the
// card's order. One that has no value is unknown: it holds the job only where
// a formula turns out to need it.
func (r *Rater) setLets(ru *rule, ex *recorder) {
	for _, let := range ru.lets {
		x, err := let.Formula.Eval(&r.values)
		if err != nil {
			r.values.SetUnknown(let.Slot, err)
			continue
		}
		r.values.Set(let.Slot, x)
		ex.formula(r, Step{Stage: LetStage, Name: let.Name, Line: let.Line}, let.Formula, x)
	}
}

// price works out one charge of a plan from the figures that are set:
//
//	duration = elapsed hours
//	units    = rate · factor · duration   (rate · factor where the rate is per job)
//	amount   = units · price
//
// unless the rule has a formula of its own. Nothing is rounded here.
func (r *Rater) price(pl *plan, i int, p part, ex *recorder) (Charge, *stageError) {
	rc, pr, v := pl.rule.Charges[i], &pl.prices[i], &r.values
	fault := func(stage Stage, err error) (Charge, *stageError) {
		return Charge{}, &stageError{stage, rc.Meter.Name, err}
	}
	stage := func(s Stage, f *formula.Formula, slot formula.Slot, x money.Exact) (money.Exact, error) {
		if f != nil {
			var err error
			if x, err = f.Eval(v); err != nil {
				return x, err
			}
			ex.formula(r, Step{Stage: s, Meter: rc.Meter.Name, Line: rc.Line}, f, x)
		}
		v.Set(slot, x)
		return x, nil
	}
	rate, err := stage(RateStage, rc.Rate, formula.Rate, money.Exact{})
	if err != nil {
		return fault(RateStage, err)
	}
	v.Set(formula.Factor, pr.factor)
	ex.factors(rc, pr)
	units := rate
	if len(rc.Factors) > 0 {
		units = units.Mul(pr.factor)
	}
	if !rc.PerJob {
		duration, err := stage(DurationStage, rc.Duration, formula.Duration, money.Int(p.elapsed).Mul(hour))
		if err != nil {
			return fault(DurationStage, err)
		}
		units = units.Mul(duration)
	}
	if units, err = stage(UnitsStage, rc.Units, formula.Units, units); err != nil {
		return fault(UnitsStage, err)
	}
	ex.units(r, rc, p, units)
	v.Set(formula.Price, pr.each)
	amount := units.Mul(pr.each)
	if rc.Amount != nil {
		if amount, err = rc.Amount.Eval(v); err != nil {
			return fault(AmountStage, err)
		}
	}
	ex.amount(r, rc, pr, units, amount)
	if units.Sign() < 0 || amount.Sign() < 0 {
		return fault(AmountStage, errNegative)
	}
	return Charge{
		Group: pl.group.ID, Meter: rc.Meter.Name, Unit: rc.Meter.Unit,
		Quantity: units, Price: pr.each, PriceLabel: pr.label, Amount: amount, Reason: pl.rule.reason,
	}, nil
}
