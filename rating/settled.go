package rating

import "hpcbill/ingest"

// settled is the outcome of jobs of a plan that are rated whole. It is made once:
// of each job nothing but the figures is put in.
type settled struct {
	outcome [1]Outcome
	charges []Charge
}

// settle makes the outcome of a plan's jobs, and reports whether it can be: not
// where some of them may come out in another way than the plan has it for other
// reasons than their texts or a formula without a value, nor where the price is
// found later.
func (pl *plan) settle() bool {
	if pl.settled != nil {
		return true
	}
	if pl.rule.byType || pl.rule.tiers {
		return false
	}
	s := &settled{outcome: [1]Outcome{{Verdict: pl.verdict, Group: pl.group.ID, Cause: pl.cause}}}
	if pl.verdict != Excluded {
		for i := range pl.rule.Charges {
			s.charges = append(s.charges, pl.charge(i))
		}
	}
	pl.settled = s
	return true
}

// rateSettled rates a whole job of a Kind that is settled. It gives nil where
// that is not so, and where a formula has no value.
func (r *Rater) rateSettled(j *ingest.Job, v *version, at ingest.Instant) []Outcome {
	_, e := r.planAndEntry(v, j, at)
	if e == nil || !e.settled {
		return nil
	}
	s, p := e.plan.settled, wholePart(j)
	if len(s.charges) > 0 {
		r.setFigures(e.plan, j, p, nil)
	}
	for i := range s.charges {
		units, amount, err := r.quantify(e.plan, i, p, nil)
		if err != nil {
			return nil
		}
		s.charges[i].Quantity, s.charges[i].Amount = units, amount
	}
	o := &s.outcome[0]
	o.Job, o.Kind, o.Seconds, o.From, o.Until = j, e.kind, p.elapsed, p.from, p.until
	o.Charges = s.charges[:len(s.charges):len(s.charges)]
	return s.outcome[:]
}
