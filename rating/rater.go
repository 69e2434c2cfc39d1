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

	lastCluster string // of the job before: jobs come cluster by cluster
	lastCard    *card

	// Of the job in hand, reused from job to job.
	job      *ingest.Job
	facts    rates.Facts
	values   formula.Values
	keyText  []byte
	outcomes []Outcome
	charges  []Charge
}

// recipient is the group that a job reaches, or why it reaches none.
type recipient struct {
	group   *rates.Group
	mapping *rates.Mapping
	held    Cause
}

// NewRater compiles the tariff. The cards and the roster are those that
// rates.LoadCard and rates.LoadRoster gave: what they let pass can be rated.
func NewRater(t Tariff) *Rater {
	r := &Rater{tariff: t, cards: map[string]*card{}, attributed: map[string]recipient{}}
	r.values.TRES = r.tres
	r.facts.Values = &r.values
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

// readRoster notes which texts of a job decide its group, and when.
func (r *Rater) readRoster() {
	r.rosterAsks = r.tariff.Roster.Asks()
	named := rates.Asks{Texts: 1<<rates.Account | 1<<rates.User}
	r.rosterKey = append(jobTexts(r.rosterAsks.And(named)), rates.Cluster)
	for _, d := range r.tariff.Roster.Boundaries() {
		r.boundaries = append(r.boundaries, ingest.Instant(d.Midnight(r.tariff.Zone).Unix()))
	}
}

// Job prices the part of a job that belongs to the period: the whole job or
// nothing under bill_by end and start, a cut of it under usage. A job that
// has no part in the period gives no outcome; one that is cut at a version
// boundary, or where its account moves to another group, gives several.
//
// What decides between end, start and usage is the version of the card that
// holds at the job's End, so that every second of a job is billed once
// whatever the card says in other months.
//
// The outcomes and their charges are the Rater's own and are overwritten by
// its next call.
func (r *Rater) Job(j *ingest.Job, p rates.Period) []Outcome {
	r.rate(j, p, nil)
	return r.outcomes
}

// Seconds gives the job-seconds of a job that belong to the period, and
// whether it has a part in it at all: what Tally holds against the outcomes.
// It looks at the job's times and the card's bill_by alone.
func (r *Rater) Seconds(j *ingest.Job, p rates.Period) (seconds int64, some bool) {
	s, verdict, some := r.spanIn(j, p)
	if !some || verdict != Charged {
		return 0, some && verdict != Running
	}
	if s.cut {
		return cut(j, s.start, s.end, s.from, s.until).elapsed, true
	}
	return j.ElapsedSeconds, true
}

// span is the part of a job's wall time [start, end) that a period holds.
type span struct {
	start, end, from, until ingest.Instant
	at                      ingest.Instant // what the version and the group go by, where it is not cut
	cut                     bool           // by usage
}

// spanIn tells which part of a job belongs to the period. The verdict is
// NotRun or Running for jobs that are not to be priced, else Charged.
func (r *Rater) spanIn(j *ingest.Job, p rates.Period) (s span, verdict Verdict, some bool) {
	start, end := ingest.Instant(p.Start.Unix()), ingest.Instant(p.End.Unix())
	within := func(t ingest.Instant) bool { return t != ingest.None && start <= t && t < end }
	if neverRan(j) {
		return s, NotRun, within(j.End)
	}
	s = span{start: j.Start, end: j.End, at: j.End}
	if !j.Final() {
		s.end = j.Start + ingest.Instant(max(0, j.ElapsedSeconds)+max(0, j.SuspendedSeconds))
	}
	switch by := r.billBy(j.Cluster, s.end); {
	case by == rates.ByUsage && s.end > s.start:
		s.cut, s.from, s.until = true, max(start, s.start), min(end, s.end)
		if !j.Final() && s.end < end {
			return s, Running, s.start < end
		}
		return s, Charged, s.from < s.until
	case by == rates.ByStart:
		s.at = j.Start
		if !j.Final() {
			return s, Running, within(j.Start)
		}
	case !j.Final():
		return s, Running, j.Start < end
	}
	return s, Charged, within(s.at)
}

// neverRan reports whether a job had no time at all: it was cancelled while
// pending, refused when it was submitted, or moved to another cluster of a
// federation.
func neverRan(j *ingest.Job) bool {
	if !j.Ran() {
		return true
	}
	if j.ElapsedSeconds != 0 || j.SuspendedSeconds != 0 || j.End != j.Start {
		return false
	}
	return j.State == ingest.Revoked || j.Start == j.Submit && j.State == ingest.Failed
}

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

func (r *Rater) billBy(cluster string, at ingest.Instant) rates.BillBy {
	if v, _, _ := r.versionAt(cluster, at); v != nil {
		return v.BillBy
	}
	return rates.ByEnd
}

func (r *Rater) rate(j *ingest.Job, p rates.Period, ex *recorder) {
	r.job, r.outcomes, r.charges = j, r.outcomes[:0], r.charges[:0]
	s, verdict, some := r.spanIn(j, p)
	switch {
	case !some:
	case verdict != Charged:
		o := Outcome{Job: j, Verdict: verdict, From: s.start, Until: s.end}
		if verdict == Running {
			o.Seconds = j.ElapsedSeconds
		}
		r.outcomes = append(r.outcomes, o)
	case s.cut:
		r.rateCut(j, s, ex)
	default:
		v, _, _ := r.versionAt(j.Cluster, s.at)
		r.ratePart(j, v, s.at, wholePart(j), ex)
	}
}

func (r *Rater) versionAt(cluster string, at ingest.Instant) (v *version, from, until ingest.Instant) {
	if c := r.cardOf(cluster); c != nil {
		return c.at(at)
	}
	return nil, always, never
}

// rateCut rates a span in pieces: one for each version, and for each group
// where the job moves from one to another.
func (r *Rater) rateCut(j *ingest.Job, s span, ex *recorder) {
	for at := s.from; at < s.until; {
		v, _, until := r.versionAt(j.Cluster, at)
		until = r.sameGroupUntil(j, at, min(until, s.until))
		r.ratePart(j, v, at, cut(j, s.start, s.end, at, until), ex)
		at = until
	}
}

// sameGroupUntil gives how far from an instant the job reaches the same
// group, at most until.
func (r *Rater) sameGroupUntil(j *ingest.Job, at, until ingest.Instant) ingest.Instant {
	i := r.epoch(at)
	first := r.attribute(j, at)
	for ; i < len(r.boundaries) && r.boundaries[i] < until; i++ {
		next := r.attribute(j, r.boundaries[i])
		if next.group != first.group || next.held.Code != first.held.Code {
			return r.boundaries[i]
		}
	}
	return until
}

// epoch numbers the spans between the roster's boundaries.
func (r *Rater) epoch(at ingest.Instant) int {
	if len(r.boundaries) == 0 {
		return 0
	}
	i, _ := slices.BinarySearchFunc(r.boundaries, at, func(b, at ingest.Instant) int {
		if b <= at {
			return -1
		}
		return 1
	})
	return i
}

// attribute gives the group that the job reaches at an instant, or why it
// reaches none, by the account, the user and what else the roster looks at.
func (r *Rater) attribute(j *ingest.Job, at ingest.Instant) recipient {
	r.keyText = appendKey(r.keyText[:0], j, r.rosterKey, r.epoch(at))
	if found, ok := r.attributed[string(r.keyText)]; ok {
		return found
	}
	key := string(r.keyText)
	var a rates.Attributes
	for _, f := range r.rosterKey {
		setAttribute(&a, f, strings.Clone(textOf(j, f)))
	}
	group, mapping, err := r.tariff.Roster.Attribute(a, r.dayOf(at))
	found := recipient{group, mapping, causeOfAttribution(err)}
	if len(r.attributed) == maxKept {
		clear(r.attributed)
	}
	r.attributed[key] = found
	return found
}

func setAttribute(a *rates.Attributes, f rates.TextField, text string) {
	switch f {
	case rates.Cluster:
		a.Cluster = text
	case rates.Account:
		a.Account = text
	case rates.User:
		a.User = text
	case rates.WCKey:
		a.WCKey = text
	case rates.QoS:
		a.QoS = text
	case rates.Partition:
		a.Partition = text
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
	pl := r.plan(v, j, at)
	ex.part(r, recipient{group: pl.group, mapping: pl.mapping}, pl)
	o.Verdict, o.Cause = pl.verdict, pl.cause
	if pl.group != nil {
		o.Group = pl.group.ID
	}
	switch {
	case pl.group == nil:
		o.Cause = r.attribute(j, at).held // the plan serves users that it does not tell apart
	case strings.IndexByte(j.Partition, ',') >= 0:
		o.Verdict, o.Cause = Held, causeOfPartitionList(j)
	case !knownState(j.State):
		o.Verdict, o.Cause = Held, causeOfState(v, j)
	case pl.verdict == Charged || pl.verdict == Waived:
		r.charge(&o, pl, j, p, ex)
	}
	r.outcomes = append(r.outcomes, o)
}

// charge prices every meter of the rule, or holds the job whole.
func (r *Rater) charge(o *Outcome, pl *plan, j *ingest.Job, p part, ex *recorder) {
	if pl.rule.byType {
		if t, unknown := pl.rule.unknownGPUType(j); unknown {
			o.Verdict, o.Cause = Held, causeOfGPUType(t, pl)
			return
		}
	}
	r.setRecord(pl.rule.version, j, p)
	r.setHardware(pl.rule, pl.hardware, j, ex)
	r.setLets(pl.rule, ex)
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
	o.Charges = r.charges[first:len(r.charges):len(r.charges)]
}

// Clone gives a copy that the next call of the Rater leaves alone.
func (o Outcome) Clone() Outcome {
	o.Charges = slices.Clone(o.Charges)
	return o
}
