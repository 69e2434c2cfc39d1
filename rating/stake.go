package rating

import (
	"slices"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// Stake is what parts of jobs that reach no group would cost at list price,
// were they some group's: the least and the most over the classes that the
// roster knows. Unpriced counts the parts of which not even that is known,
// since a rule would hold them too or tiers price them.
type Stake struct {
	Low, High money.Exact
	Unpriced  int64
}

// Add adds what other parts would cost.
func (s *Stake) Add(o Stake) {
	s.Low, s.High, s.Unpriced = s.Low.Add(o.Low), s.High.Add(o.High), s.Unpriced+o.Unpriced
}

// Known reports whether every part has a price.
func (s *Stake) Known() bool { return s.Unpriced == 0 }

// stake rates a part once for each class, as a group of it that takes every
// job.
func (r *Rater) stake(j *ingest.Job, at ingest.Instant, p part) *Stake {
	if r.anybody == nil {
		r.anybody = raterOfEachClass(r.tariff)
	}
	s := &Stake{}
	for i, c := range r.anybody {
		amount, known := c.listValue(j, at, p)
		if !known {
			return &Stake{Unpriced: 1}
		}
		if i == 0 || amount.Cmp(s.Low) < 0 {
			s.Low = amount
		}
		if i == 0 || amount.Cmp(s.High) > 0 {
			s.High = amount
		}
	}
	return s
}

// raterOfEachClass makes a Rater a class whose roster has one group.
func raterOfEachClass(t Tariff) []*Rater {
	var classes []string
	for _, g := range t.Roster.Groups {
		classes = append(classes, g.Class)
	}
	slices.Sort(classes)
	t.Outages, t.Waivers = nil, nil // list value is before reductions
	var raters []*Rater
	for _, class := range slices.Compact(classes) {
		// The ID is one that no group can have: a price of one group's own is
		// nobody else's.
		anybody := &rates.Group{ID: "?", Class: class, Mappings: []*rates.Mapping{{Cluster: "*"}}}
		t.Roster = &rates.Roster{Groups: []*rates.Group{anybody}, Precedence: []string{"cluster"}}
		raters = append(raters, NewRater(t))
	}
	return raters
}

// listValue is what a part costs before reductions, unless that is not known.
func (r *Rater) listValue(j *ingest.Job, at ingest.Instant, p part) (sum money.Exact, known bool) {
	v, _, _ := r.versionAt(j.Cluster, at)
	r.job, r.outcomes, r.charges = j, r.outcomes[:0], r.charges[:0]
	r.ratePart(j, v, at, p, nil)
	o := &r.outcomes[0]
	if o.Verdict == Held {
		return sum, false
	}
	for i := range o.Charges {
		c := &o.Charges[i]
		if c.Tiers != nil && c.Quantity.Sign() != 0 {
			return sum, false
		}
		sum = sum.Add(c.Amount)
	}
	return sum, true
}
