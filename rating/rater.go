package rating

import (
	"slices"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
)

// Rater prices jobs and holdings by one tariff. Its answers depend on the
// tariff, the job and the period alone, never on what it rated before. A
// Rater belongs to one goroutine; several Raters may share a Tariff.
type Rater struct {
	tariff  Tariff
	cards   map[string]*card // by cluster
	storage []*card          // beside Tariff.Storage

	rosterKey  []rates.TextField    // what attribution looks at
	rosterAsks rates.Asks           // the same
	boundaries []ingest.Instant     // where attribution may change
	attributed map[string]recipient // by the texts of rosterKey and the span between boundaries
	kinds      kindTable

	slurmCount rates.TRESCount // allocatedCount
	waiving    *waiving        // nil where the tariff has no outages and no waivers

	anybody []*Rater // of each class, for what is at stake in jobs of no group; made when the first is met

	lastCluster string // of the job before: jobs come cluster by cluster
	lastCard    *card

	// Of the job in hand, reused from job to job.
	job      *ingest.Job
	span     span
	facts    rates.Facts
	values   formula.Values
	keyText  []byte
	outcomes []Outcome
	charges  []Charge
}

// NewRater compiles the tariff. The cards and the roster are those that
// rates.LoadCard and rates.LoadRoster gave: what they let pass can be rated.
func NewRater(t Tariff) *Rater {
	r := &Rater{tariff: t, cards: map[string]*card{}, attributed: map[string]recipient{}}
	r.values.TRES, r.slurmCount = r.tres, r.allocatedCount
	r.facts.Values = &r.values
	r.waiving = newWaiving(&t)
	r.readRoster()
	for cluster, c := range t.Cards {
		r.cards[cluster] = r.compile(cluster, c)
	}
	r.lastCard = r.cards[""]
	for _, s := range t.Storage {
		r.storage = append(r.storage, r.compile("", s.Card))
	}
	return r
}

// Job prices the part of a job that belongs to the period: the whole job or
// nothing under bill_by end and start, a cut of it under usage. A job that
// has no part in the period gives no outcome; one that is cut at a version
// boundary, or where its account moves to another group, gives several. So
// does one of which an outage or a waiver takes a part: what stays charged,
// then what is waived, by cause, over the same span of time.
//
// What decides between end, start and usage is the version of the card that
// holds at the job's Start, so that every second of a job is billed once
// whatever the card says later.
//
// The outcomes and their charges are the Rater's own, and its next call
// overwrites of them what differs from job to job. So they may be changed in two
// things alone: the Kind, and the price of a charge that tiers left without one.
// Who keeps one, or changes more, takes a Clone.
func (r *Rater) Job(j *ingest.Job, p rates.Period) []Outcome {
	return r.rate(j, p, nil)
}

// Seconds gives the job-seconds of a job that belong to the period, and
// whether it has a part in it at all: what Tally holds against the outcomes.
// It looks at the job's times and the card's bill_by alone.
func (r *Rater) Seconds(j *ingest.Job, p rates.Period) (seconds int64, some bool) {
	s := r.spanIn(j, p)
	return s.seconds(j)
}

// Read gives what Seconds gives of the job and the period that Job was given
// last.
func (r *Rater) Read() (seconds int64, some bool) { return r.span.seconds(r.job) }

// cardOf gives the card of a cluster, or nil.
func (r *Rater) cardOf(cluster string) *card {
	if cluster == r.lastCluster {
		return r.lastCard
	}
	c := r.cards[cluster]
	if c != nil {
		r.lastCluster, r.lastCard = c.cluster, c
	}
	return c
}

func (r *Rater) rate(j *ingest.Job, p rates.Period, ex *recorder) []Outcome {
	r.job, r.outcomes, r.charges = j, r.outcomes[:0], r.charges[:0]
	if r.waiving != nil {
		r.waiving.begin(p)
	}
	r.span = r.spanIn(j, p)
	s := &r.span
	switch {
	case !s.some:
	case s.verdict != Charged:
		o := Outcome{Job: j, Verdict: s.verdict, From: s.start, Until: s.end}
		if s.verdict == Running {
			o.Seconds = j.ElapsedSeconds
		}
		r.outcomes = append(r.outcomes, o)
	case s.cut:
		r.rateCut(j, s, ex)
	default:
		v, _, _ := r.versionAt(j.Cluster, s.at)
		if ex == nil && v != nil && v.kinds && r.waiving == nil {
			if settled := r.rateSettled(j, v, s.at); settled != nil {
				return settled
			}
		}
		r.ratePart(j, v, s.at, wholePart(j), ex)
	}
	return r.outcomes
}

func (r *Rater) versionAt(cluster string, at ingest.Instant) (v *version, from, until ingest.Instant) {
	if c := r.cardOf(cluster); c != nil {
		return c.at(at)
	}
	return nil, always, never
}

// rateCut rates a span in pieces: one for each version, and for each group
// where the job moves from one to another.
func (r *Rater) rateCut(j *ingest.Job, s *span, ex *recorder) {
	for at := s.from; at < s.until; {
		v, _, until := r.versionAt(j.Cluster, at)
		until = r.sameGroupUntil(j, at, min(until, s.until))
		r.ratePart(j, v, at, cut(j, s.start, s.end, at, until), ex)
		at = until
	}
}

// ratePart prices one part of a job under one version; v is nil where the
// card has none.
func (r *Rater) ratePart(j *ingest.Job, v *version, at ingest.Instant, p part, ex *recorder) {
	o := Outcome{Job: j, Verdict: Held, Seconds: p.elapsed, From: p.from, Until: p.until}
	if v == nil {
		to := r.attribute(j, at)
		o.Cause = r.causeOfNoVersion(j, at)
		if to.group != nil {
			o.Group = to.group.ID
		}
		ex.part(r, to, nil)
		r.outcomes = append(r.outcomes, o)
		return
	}
	pl, kind := r.planAndKind(v, j, at)
	ex.part(r, recipient{group: pl.group, mapping: pl.mapping}, pl)
	o.Verdict, o.Cause = pl.verdict, pl.cause
	if pl.group != nil {
		o.Group = pl.group.ID
	}
	switch {
	case pl.group == nil:
		o.Cause = r.attribute(j, at).held // the plan serves users that it does not tell apart
		o.Stake = r.stake(j, at, p)
	case strings.IndexByte(j.Partition, ',') >= 0:
		o.Verdict, o.Cause = Held, causeOfPartitionList(j)
	case !knownState(j.State):
		o.Verdict, o.Cause = Held, causeOfState(v, j)
	case pl.verdict == Charged || pl.verdict == Waived:
		r.charge(&o, pl, j, p, ex)
	}
	if r.waiving == nil || o.Verdict != Charged {
		o.Kind = kindOf(&o, pl, kind)
		r.outcomes = append(r.outcomes, o)
		return
	}
	r.outcomes = append(r.outcomes, o)
	if at := len(r.outcomes) - 1; !r.waive(pl, j, p, ex) {
		r.outcomes[at].Kind = kindOf(&o, pl, kind)
	}
}

// charge prices every meter of the rule, or holds the job whole.
func (r *Rater) charge(o *Outcome, pl *plan, j *ingest.Job, p part, ex *recorder) {
	if pl.rule.byType {
		if t, unknown := pl.rule.unknownGPUType(j); unknown {
			o.Verdict, o.Cause = Held, causeOfGPUType(t, pl)
			return
		}
	}
	r.setFigures(pl, j, p, ex)
	first := len(r.charges)
	for i, rc := range pl.rule.Charges {
		if rc.PerJob && !p.last {
			continue
		}
		r.charges = append(r.charges, Charge{})
		if err := r.price(&r.charges[len(r.charges)-1], pl, i, p, ex); err != nil {
			r.charges = r.charges[:first]
			o.Verdict, o.Cause = Held, causeOfStage(err, pl, j)
			return
		}
	}
	if pl.rule.tiers {
		r.charges = append(r.charges[:first], settleJobTiers(r.charges[first:])...)
		ex.tiers(pl.rule.Rule, r.charges[first:])
	}
	o.Charges = r.charges[first:len(r.charges):len(r.charges)]
}

// Clone gives a copy that the next call of the Rater leaves alone.
func (o Outcome) Clone() Outcome {
	o.Charges = slices.Clone(o.Charges)
	return o
}
