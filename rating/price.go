package rating

import (
	"errors"
	"fmt"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

const secondsOfHour = 3600

var one = money.Int(1)

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
func (r *Rater) setLets(ru *rule, j *ingest.Job, p part, ex *recorder) {
	for _, let := range ru.lets {
		if let.Clock != nil {
			seconds, err := r.clockSeconds(let.Clock, j, p)
			if err != nil {
				r.values.SetUnknown(let.Slot, err)
				continue
			}
			r.values.SetInt(let.Slot, seconds)
			ex.figure(let.Name, "of the hours run, those of "+let.Clock.Text, money.Ratio(seconds, secondsOfHour), let.Line)
			continue
		}
		x, err := let.Formula.Eval(&r.values)
		if err != nil {
			r.values.SetUnknown(let.Slot, err)
			continue
		}
		r.values.Set(let.Slot, x)
		ex.formula(r, Step{Stage: LetStage, Name: let.Name, Line: let.Line}, let.Formula, x)
	}
}

// price works out one charge of a plan from the figures that are set.
func (r *Rater) price(c *Charge, pl *plan, i int, p part, ex *recorder) *stageError {
	units, amount, err := r.quantify(pl, i, p, ex)
	*c = pl.charge(i)
	c.Quantity, c.Amount = units, amount
	return err
}

// charge gives one charge of a plan but for its figures.
func (pl *plan) charge(i int) Charge {
	m, pr := pl.rule.Charges[i].Meter, &pl.prices[i]
	return Charge{
		Group: pl.group.ID, Meter: m.Name, Unit: m.Unit, Price: pr.each, PriceLabel: pr.label, Reason: pl.rule.reason,
		Tiers: m.Tiers, Counted: m.Counted,
	}
}

// quantify gives the figures of one charge:
//
//	duration = elapsed hours
//	units    = rate · factor · duration   (rate · factor where the rate is per job)
//	amount   = units · price
//
// unless the rule has a formula of its own. Nothing is rounded here.
func (r *Rater) quantify(pl *plan, i int, p part, ex *recorder) (units, amount money.Exact, failed *stageError) {
	rc, pr := pl.rule.Charges[i], &pl.prices[i]
	s := staging{r: r, rc: rc, ex: ex, keep: pl.rule.staged[i] || ex != nil}
	rate := s.stage(RateStage, rc.Rate, formula.Rate, money.Exact{})
	s.set(formula.Factor, pr.factor)
	if ex != nil && s.err == nil {
		ex.factors(rc, pr)
	}
	units = rate
	if len(rc.Factors) > 0 {
		units = units.Mul(pr.factor)
	}
	if !rc.PerJob {
		units = units.Mul(s.stage(DurationStage, rc.Duration, formula.Duration, money.Ratio(p.elapsed, secondsOfHour)))
	}
	units = s.stage(UnitsStage, rc.Units, formula.Units, units)
	if ex != nil && s.err == nil {
		ex.units(r, rc, p, units)
	}
	s.set(formula.Price, pr.each)
	amount = units.Mul(pr.each)
	if rc.Amount != nil {
		amount = s.eval(AmountStage, rc.Amount)
	}
	if ex != nil && s.err == nil && rc.Meter.Tiers == nil {
		ex.amount(r, rc, pr, units, amount)
	}
	if s.err == nil && (units.Sign() < 0 || amount.Sign() < 0) {
		s.err = &stageError{AmountStage, rc.Meter.Name, errNegative}
	}
	return units, amount, s.err
}

// staging evaluates the stages of one charge up to the first that fails.
type staging struct {
	r    *Rater
	rc   *rates.RuleCharge
	ex   *recorder
	keep bool // later formulas may use what a stage gives
	err  *stageError
}

// stage gives the value of the stage's formula, or x where it has none.
func (s *staging) stage(stage Stage, f *formula.Formula, slot formula.Slot, x money.Exact) money.Exact {
	if f != nil {
		if x = s.eval(stage, f); s.err == nil && s.ex != nil {
			s.ex.formula(s.r, Step{Stage: stage, Meter: s.rc.Meter.Name, Line: s.rc.Line}, f, x)
		}
	}
	s.set(slot, x)
	return x
}

func (s *staging) eval(stage Stage, f *formula.Formula) money.Exact {
	if s.err != nil {
		return money.Exact{}
	}
	x, err := f.Eval(&s.r.values)
	if err != nil {
		s.err = &stageError{stage, s.rc.Meter.Name, err}
	}
	return x
}

func (s *staging) set(slot formula.Slot, x money.Exact) {
	if s.keep && s.err == nil {
		s.r.values.Set(slot, x)
	}
}
