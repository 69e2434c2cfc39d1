package rating

import (
	"encoding/binary"
	"slices"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// maxKept is how many plans, or recipients, are kept before they are forgotten
// and made anew: a card that matches job names meets as many as there are
// jobs.
const maxKept = 1 << 16

// plan is everything about pricing a job that is settled before its figures
// are put into formulas.
type plan struct {
	group    *rates.Group
	mapping  *rates.Mapping
	hardware *rates.Hardware
	rule     *rule
	verdict  Verdict // Charged, Waived, Excluded or Held
	cause    Cause   // of all but Charged
	prices   []price // of the rule's charges
	settled  *settled
}

// price is what picked one charge's price and factors.
type price struct {
	each   money.Exact
	label  string
	factor money.Exact // the product of the chain, 1 without one
	rows   []string    // that gave the factors, "" where none did
}

// plan gives the plan for a job under a version. All jobs with the same texts
// for which the same conditions hold share one.
func (r *Rater) plan(v *version, j *ingest.Job, at ingest.Instant) *plan {
	r.keyText = appendKey(r.keyText[:0], j, v.key, r.epoch(at))
	if len(v.conditions) > 0 {
		r.appendConditions(v, j)
	}
	if found, ok := v.plans[string(r.keyText)]; ok {
		return found
	}
	key := string(r.keyText)
	r.resolve(&v.scratch, v, j, at)
	if v.scratch.verdict == Held && len(v.conditions) > 0 {
		return &v.scratch // its cause may name a number
	}
	if len(v.plans) == maxKept {
		clear(v.plans)
	}
	made := v.scratch
	made.prices = slices.Clone(made.prices)
	v.plans[key] = &made
	return &made
}

// appendConditions appends to the key which conditions hold, which do not and
// of which it is not known.
func (r *Rater) appendConditions(v *version, j *ingest.Job) {
	r.values.Reset()
	r.setSlots(v.conditionSlots, j, wholePart(j))
	r.setOddFacts(v, j)
	for _, c := range v.conditions {
		holds, err := c.Holds(&r.facts)
		switch {
		case err != nil:
			r.keyText = append(r.keyText, '?')
		case holds:
			r.keyText = append(r.keyText, '+')
		default:
			r.keyText = append(r.keyText, '-')
		}
	}
	if v.asks.GPUTypes && len(r.facts.GPUTypes) > 1 { // tables may tell its types apart
		for _, t := range r.facts.GPUTypes {
			r.keyText = append(binary.AppendUvarint(r.keyText, uint64(len(t))), t...)
		}
	}
}

// appendKey appends the texts of a job so that no two lists of texts give the
// same bytes.
func appendKey(key []byte, j *ingest.Job, fields []rates.TextField, epoch int) []byte {
	key = binary.AppendUvarint(key, uint64(epoch))
	for _, f := range fields {
		text := textOf(j, f)
		key = binary.AppendUvarint(key, uint64(len(text)))
		key = append(key, text...)
	}
	return key
}

func textOf(j *ingest.Job, f rates.TextField) string {
	switch f {
	case rates.Cluster:
		return j.Cluster
	case rates.Partition:
		return j.Partition
	case rates.QoS:
		return j.QoS
	case rates.Account:
		return j.Account
	case rates.User:
		return j.User
	case rates.WCKey:
		return j.WCKey
	case rates.Reservation:
		return j.Reservation
	case rates.State:
		return string(j.State)
	case rates.JobName:
		return j.Name
	case rates.JobID:
		return j.JobID
	case rates.CancelledBy:
		return j.CancelledBy
	}
	return ""
}

// resolve fills a plan: the group, the node type, the rule, what the end
// state means, prices and factors, in this order. The first that cannot be
// settled holds the job. It looks at no text of the job beyond those of the
// version's key, since other jobs get the same plan.
func (r *Rater) resolve(pl *plan, v *version, j *ingest.Job, at ingest.Instant) {
	*pl = plan{verdict: Held, prices: pl.prices[:0]}
	to := r.attribute(j, at)
	pl.group, pl.mapping, pl.cause = to.group, to.mapping, to.held
	if pl.cause.Code != "" {
		return
	}
	r.setFacts(v, j, pl.group)
	h, err := v.HardwareFor(&r.facts)
	if err != nil {
		pl.cause = causeOfFact(err, v, j)
		return
	}
	if pl.hardware = h; h != nil {
		r.facts.Text[rates.NodeType] = h.NodeType
	}
	ru, err := v.Select(&r.facts)
	switch {
	case err != nil:
		pl.cause = causeOfFact(err, v, j)
		return
	case ru == nil:
		pl.cause = causeOfNoRule(v, j, h)
		return
	}
	pl.rule = v.rules[ru]
	r.resolveFate(pl, v, j)
	if pl.verdict == Charged || pl.verdict == Waived {
		r.resolvePrices(pl, v, j)
	}
}

// resolveFate settles what the rule and the end state say of the job.
func (r *Rater) resolveFate(pl *plan, v *version, j *ingest.Job) {
	ru := pl.rule
	entry, listed := v.StatesOf(ru.Rule).Of(string(j.State))
	byState := ru.reason
	byState.Line = entry.Line
	switch {
	case ru.Exclude != "":
		pl.verdict, pl.cause = Excluded, Cause{Code: ByRule, Detail: ru.Exclude, Reason: ru.reason}
	case !listed:
		pl.cause = causeOfUnlistedState(ru, v.StatesOf(ru.Rule), j)
	case entry.Fate == rates.Excluded:
		pl.verdict, pl.cause = Excluded, Cause{Code: ByRule, Detail: entry.Reason, Reason: byState}
	case ru.Waive != "":
		pl.verdict, pl.cause = Waived, Cause{Code: ByRule, Detail: ru.Waive, Reason: ru.reason}
	case entry.Fate == rates.Waived:
		pl.verdict, pl.cause = Waived, Cause{Code: ByRule, Detail: entry.Reason, Reason: byState}
	default:
		pl.verdict = Charged
	}
}

func (r *Rater) resolvePrices(pl *plan, v *version, j *ingest.Job) {
	hold := func(err error, code string) {
		pl.verdict, pl.cause = Held, causeOfLookup(err, code, v, j, pl.rule)
	}
	for _, rc := range pl.rule.Charges {
		p := price{factor: one}
		var err error
		if p.each, p.label, err = rc.Meter.PriceFor(&r.facts); err != nil {
			hold(err, NoPrice)
			return
		}
		for _, f := range rc.Factors {
			x, row, err := f.Value(&r.facts)
			if err != nil {
				hold(err, NoFactor)
				return
			}
			p.factor = p.factor.Mul(x)
			p.rows = append(p.rows, row)
		}
		pl.prices = append(pl.prices, p)
	}
}

// setFacts tells the card's matches about a job. Matches see the job whole,
// also where only a part of it is priced.
func (r *Rater) setFacts(v *version, j *ingest.Job, g *rates.Group) {
	f := &r.facts
	for field := range rates.TextFields {
		f.Text[field] = textOf(j, field)
	}
	f.Text[rates.GroupID], f.Text[rates.Class] = g.ID, g.Class
	r.setRecord(v, j, wholePart(j))
	r.setOddFacts(v, j)
}

// setOddFacts sets the facts that are neither texts nor figures.
func (r *Rater) setOddFacts(v *version, j *ingest.Job) {
	f := &r.facts
	f.TimelimitUnlimited = j.TimelimitSeconds == ingest.NoLimit
	f.NodeList = j.NodeList
	if v.asks.GPUTypes {
		f.GPUTypes, f.GPUTypesKnown = gpuTypes(f.GPUTypes[:0], j)
	}
	if v.asks.Moments {
		f.Submit, f.Start, f.End = r.moment(j.Submit), r.moment(j.Start), r.moment(j.End)
	}
}

// gpuTypes lists the types of a job's GPUs. They are known only where all of
// its GPUs have one.
func gpuTypes(types []string, j *ingest.Job) (list []string, known bool) {
	sum := int64(0)
	for t, n := range j.GPUTypes() {
		if n > 0 {
			types, sum = append(types, t), sum+n
		}
	}
	return types, sum == j.GPUs
}

func (r *Rater) moment(t ingest.Instant) rates.Moment {
	if t == ingest.None {
		return rates.Moment{}
	}
	return rates.MomentOf(timeOf(t), r.tariff.Zone)
}

func timeOf(t ingest.Instant) time.Time { return time.Unix(int64(t), 0) }

// knownState reports whether Slurm's accounting has such a state.
func knownState(s ingest.State) bool {
	switch s {
	case ingest.Completed, ingest.Failed, ingest.Timeout, ingest.Cancelled, ingest.NodeFail, ingest.Preempted,
		ingest.BootFail, ingest.Deadline, ingest.OutOfMemory, ingest.Requeued, ingest.Resizing, ingest.Revoked,
		ingest.Running, ingest.Suspended, ingest.Pending,
		"SPECIAL_EXIT", "STOPPED", "LAUNCH_FAILED", "RECONFIG_FAIL", "REQUEUE_HOLD", "REQUEUE_FED", "POWER_UP_NODE",
		"COMPLETING", "CONFIGURING", "STAGE_OUT", "SIGNALING", "EXPEDITING", "RESV_DEL_HOLD":
		return true
	}
	return false
}

// unknownGPUType gives a type of GPU of the job that the rule has no weight
// for, where it counts GPUs by type: its formulas would give it nothing.
func (ru *rule) unknownGPUType(j *ingest.Job) (string, bool) {
	for t, n := range j.GPUTypes() {
		if n > 0 && !slices.Contains(ru.gpuTypes, t) {
			return t, true
		}
	}
	return "", false
}
