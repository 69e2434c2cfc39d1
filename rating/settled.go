package rating

import (
	"strings"

	"hpcbill/ingest"
)

// settled is the outcome of a Kind's jobs, each of which is rated whole. It is
// made once: of each job nothing but the figures is put in.
type settled struct {
	outcome [1]Outcome
	charges []Charge
}

// settle makes the outcome of jobs like j; nil where some of them may come out in
// another way than their plan has it for other reasons than a formula without a
// value, or where the price is found later.
func settle(e *kindEntry, j *ingest.Job) *settled {
	pl := e.plan
	if strings.IndexByte(j.Partition, ',') >= 0 || !knownState(j.State) || pl.rule.byType || pl.rule.tiers {
		return nil
	}
	s := &settled{outcome: [1]Outcome{{Verdict: pl.verdict, Group: pl.group.ID, Cause: pl.cause}}}
	if pl.verdict != Excluded {
		for i := range pl.rule.Charges {
			s.charges = append(s.charges, pl.charge(i))
		}
	}
	for i := range s.charges {
		if s.charges[i].Tiers != nil {
			return nil
		}
	}
	return s
}

// rateSettled rates a whole job of a Kind that is settled. It gives nil where
// that is not so, and where a formula has no value.
func (r *Rater) rateSettled(j *ingest.Job, v *version, at ingest.Instant) []Outcome {
	e := r.kindEntry(v, j, at)
	if e == nil || e.settled == nil {
		return nil
	}
	s, p := e.settled, wholePart(j)
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
