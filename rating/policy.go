package rating

import (
	"cmp"
	"slices"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// Policy finds the jobs and users of a period that went beyond the limits of
// the cards. What one job may be is asked of the jobs that ended in the
// period; what a user may have at the same time, of the jobs that began in it,
// to run or to wait, with whatever was there already.
//
// A job follows the version of its card that holds at its Start or, where it
// never ran, at its Submit.
type Policy struct {
	rater    *Rater // for what limits ask
	pricer   *Rater // for what jobs cost: it forgets what rater was told
	tariff   Tariff
	period   rates.Period
	from, to ingest.Instant

	beyond  []Beyond
	unknown map[boundKey]*Beyond
	users   map[userKey][]stay
}

// Beyond is a job or a user beyond a limit.
type Beyond struct {
	Card  *rates.Card
	Limit *rates.Limit
	Kind  rates.LimitKind

	Cluster, User string
	JobID         string // of one job; "" of a user and of Unknown

	// Had and Max are in the unit of the kind; of CPUs and memory per GPU they
	// are of the whole job, and Max is what its GPUs give. Of a user, Had is
	// the most at the same time and At the instant at which that began.
	Had, Max  money.Exact
	Unlimited bool // the job had no time limit
	At        ingest.Instant

	// Unknown tells that the records of these jobs do not say whether they are
	// beyond the limit.
	Unknown bool

	Jobs     int64       // that are beyond it
	Cost     money.Exact // of those, at list price, whatever period bills them; what is waived or excluded costs nothing
	Unpriced int64       // of those, how many have no price that is known: held, or not over
}

type boundKey struct {
	limit   *rates.Limit
	kind    rates.LimitKind
	cluster string
}

type userKey struct {
	boundKey
	user string
}

// stay is a job that a user has in [from, until).
type stay struct {
	from, until ingest.Instant
	id          uint64
	cost        money.Exact
	unpriced    bool
}

// NewPolicy makes a Policy for the cards of a tariff.
func NewPolicy(t Tariff, p rates.Period) *Policy {
	return &Policy{
		rater: NewRater(t), pricer: NewRater(t), tariff: t, period: p,
		from: ingest.Instant(p.Start.Unix()), to: ingest.Instant(p.End.Unix()),
		unknown: map[boundKey]*Beyond{}, users: map[userKey][]stay{},
	}
}

// Limited reports whether a version of a card that holds in the period has
// limits, and whether one counts jobs at the same time.
func (p *Policy) Limited() (some, simultaneous bool) {
	for _, c := range p.tariff.Cards {
		for _, span := range c.Spans(p.period) {
			for _, l := range span.Version.Limits {
				some = true
				for _, b := range l.Bounds {
					simultaneous = simultaneous || b.Kind.Simultaneous()
				}
			}
		}
	}
	return some, simultaneous
}

// Add looks at a job. The jobs may come in any order; those that have no time
// in the period are passed over. Nothing of j is kept.
func (p *Policy) Add(j *ingest.Job) {
	at := j.Start
	if !j.Ran() {
		at = j.Submit
	}
	v, _, _ := p.rater.versionAt(j.Cluster, at)
	if v == nil || len(v.Limits) == 0 {
		return
	}
	ended := j.Final() && p.from <= j.End && j.End < p.to
	present := !j.Final() || j.End >= p.from
	if !ended && (!present || at >= p.to && j.Submit >= p.to) {
		return
	}
	p.rater.setLimitFacts(j)
	for _, l := range v.Limits {
		matches, err := l.Match.Matches(&p.rater.facts)
		for _, b := range l.Bounds {
			f := Beyond{Card: v.card.Card, Limit: l, Kind: b.Kind, Cluster: j.Cluster, Max: b.Max}
			switch {
			case err != nil && ended && (j.Ran() || b.Kind.Simultaneous()):
				p.addUnknown(f)
			case err != nil || !matches:
			case b.Kind.Simultaneous():
				p.addStay(f, j)
			case ended && j.Ran():
				p.addJob(f, j)
			}
		}
	}
}

// setLimitFacts tells the matches of limits about a job.
func (r *Rater) setLimitFacts(j *ingest.Job) {
	f := &r.facts
	for field := range rates.TextFields {
		f.Text[field] = textOf(j, field)
	}
	r.values.Reset()
	r.setSlots(recordSlots[:], j, wholePart(j))
	f.NodeList = j.NodeList
	f.TimelimitUnlimited = j.TimelimitSeconds == ingest.NoLimit
	f.GPUTypes, f.GPUTypesKnown = gpuTypes(f.GPUTypes[:0], j)
	f.Submit, f.Start, f.End = r.moment(j.Submit), r.moment(j.Start), r.moment(j.End)
}

// addUnknown counts a job that cannot be told to be within a limit.
func (p *Policy) addUnknown(f Beyond) {
	key := boundKey{f.Limit, f.Kind, f.Cluster}
	if p.unknown[key] == nil {
		f.Unknown, f.Cluster = true, cloned(f.Cluster)
		p.unknown[key] = &f
	}
	p.unknown[key].Jobs++
}

// addJob compares one job with a limit.
func (p *Policy) addJob(f Beyond, j *ingest.Job) {
	known, each := true, int64(1)
	switch f.Kind {
	case rates.TimeLimitHours:
		// Slurm ends a job some seconds after its time limit: that is within.
		f.Unlimited = j.TimelimitSeconds == ingest.NoLimit
		f.Had = money.Ratio(j.TimelimitSeconds, 3600)
		if j.TimelimitSeconds < 0 {
			f.Had = money.Ratio(j.ElapsedSeconds, 3600)
		}
	case rates.GPUsPerJob:
		f.Had, known = money.Int(j.GPUs), j.GPUs >= 0
	case rates.CPUsPerGPU:
		f.Had, known, each = money.Int(j.CPUs), j.GPUs >= 0 && j.CPUs > 0, j.GPUs
	case rates.MemoryGiBPerGPU:
		f.Had, known, each = money.Ratio(j.MemoryMiB, 1024), j.GPUs >= 0 && j.MemoryMiB > 0, j.GPUs
	}
	if !known {
		p.addUnknown(f)
		return
	}
	f.Max = f.Max.Mul(money.Int(each))
	if f.Unlimited || f.Had.Cmp(f.Max) > 0 {
		cost, unpriced := p.cost(j)
		f.Cluster, f.User, f.JobID = cloned(j.Cluster), cloned(j.User), cloned(j.JobID)
		f.Jobs, f.Cost, f.At = 1, cost, j.Start
		if unpriced {
			f.Unpriced = 1
		}
		p.beyond = append(p.beyond, f)
	}
}

// cost is what a job costs at list price in all periods together.
func (p *Policy) cost(j *ingest.Job) (cost money.Exact, unpriced bool) {
	if !j.Ran() {
		return cost, false
	}
	if !j.Final() {
		return cost, true
	}
	for q := rates.PeriodContaining(timeOf(j.Start), p.tariff.Zone); !q.Start.After(timeOf(j.End)); q = q.Next() {
		for _, o := range p.pricer.Job(j, q) {
			unpriced = unpriced || o.Verdict == Held
			for i := range o.Charges {
				if o.Verdict == Charged {
					cost = cost.Add(o.Charges[i].Amount)
					unpriced = unpriced || o.Charges[i].Tiers != nil
				}
			}
		}
	}
	return cost, unpriced
}

// Findings gives what is beyond a limit: by card and limit, then the jobs and
// the users by cluster and name.
func (p *Policy) Findings() []Beyond {
	all := slices.Clone(p.beyond)
	for key, stays := range p.users {
		if f, some := p.sweep(key, stays); some {
			all = append(all, f)
		}
	}
	for _, f := range p.unknown {
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b Beyond) int {
		return cmp.Or(
			cmp.Compare(a.Card.File, b.Card.File), cmp.Compare(a.Limit.Line, b.Limit.Line), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.User, b.User), cmp.Compare(a.At, b.At), cmp.Compare(a.JobID, b.JobID))
	})
	return all
}
