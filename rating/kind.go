package rating

import (
	"strings"

	"hpcbill/ingest"
	"hpcbill/ingest/sametext"
	"hpcbill/rates"
)

// Kind stands for outcomes that differ in numbers alone. Those that have the
// same Kind agree in
//
//   - their jobs' Cluster, User, Account, Partition, QoS and State,
//   - Verdict, Group and Cause,
//   - how many charges they have, and of each in all but Quantity and Amount.
//
// So what was worked out for one, such as the line of an invoice to which it
// adds, need not be for the next. Who changes a charge of an outcome takes its
// Kind away.
type Kind struct {
	// Number is where to keep such things. Kinds that a Rater knows at one time
	// have different ones, from 0 upwards; when there are too many it forgets
	// them all, and another Kind may have the number.
	Number int
}

// ByKind keeps what was worked out for Kinds. The zero value is ready.
type ByKind[T any] struct {
	entries []kindValue[T] // by Number
}

type kindValue[T any] struct {
	kind  *Kind
	value T
}

// Of gives what is kept for a Kind, to be filled in: T's zero value where it was
// not met, or another has taken its Number. It stays in place until the next
// call.
func (b *ByKind[T]) Of(k *Kind) *T {
	for k.Number >= len(b.entries) {
		b.entries = append(b.entries, kindValue[T]{})
	}
	e := &b.entries[k.Number]
	if e.kind != k {
		*e = kindValue[T]{kind: k}
	}
	return &e.value
}

// Forget forgets all.
func (b *ByKind[T]) Forget() { clear(b.entries) }

// kindTable is the Kinds that were met, found by where their texts lie.
type kindTable struct {
	entries []*kindEntry // by Number
	slots   []uint32     // Number + 1; open addressing
}

const (
	kindWidth = 15
	maxKinds  = 1 << (kindWidth - 1)
)

// kindEntry is what a Kind is the kind of.
type kindEntry struct {
	version *version
	epoch   int
	texts   [len(kindFields)]string // as they came
	plan    *plan
	kind    *Kind
	settled bool // nothing but figures is to be worked out for each job: see plan.settled
}

// kindFields are the texts of a job that its plan or its Kind depends on, but
// for the name, which is another for every other job.
var kindFields = [...]rates.TextField{
	rates.User, rates.Account, rates.Partition, rates.QoS, rates.State, rates.WCKey, rates.Reservation,
}

// kindTexts gives a job's texts of kindFields.
func kindTexts(j *ingest.Job) [len(kindFields)]string {
	return [...]string{j.User, j.Account, j.Partition, j.QoS, string(j.State), j.WCKey, j.Reservation}
}

// planAndKind is plan, with the Kind of those that it settles whole, or nil.
func (r *Rater) planAndKind(v *version, j *ingest.Job, at ingest.Instant) (*plan, *Kind) {
	if !v.kinds {
		return r.plan(v, j, at), nil
	}
	pl, e := r.planAndEntry(v, j, at)
	if e == nil {
		return pl, nil
	}
	return pl, e.kind
}

// planAndEntry is plan, with what the job is the kind of, under a version whose
// plans hang on texts alone; nil where the plan does not settle it.
func (r *Rater) planAndEntry(v *version, j *ingest.Job, at ingest.Instant) (*plan, *kindEntry) {
	texts := kindTexts(j)
	t, epoch := &r.kinds, r.epoch(at)
	if len(t.slots) == 0 || len(t.entries) == maxKinds {
		*t = kindTable{slots: make([]uint32, 1<<kindWidth)}
	}
	slot := sametext.Slot(texts[:], kindWidth)
	for ; t.slots[slot] != 0; slot = (slot + 1) & (1<<kindWidth - 1) {
		e := t.entries[t.slots[slot]-1]
		if e.version == v && e.epoch == epoch && sametext.Same(texts[:], e.texts[:]) {
			return e.plan, e
		}
	}
	pl := r.plan(v, j, at)
	if pl.group == nil || pl.verdict == Held {
		return pl, nil
	}
	e := &kindEntry{version: v, epoch: epoch, texts: texts, plan: pl, kind: &Kind{len(t.entries)}}
	e.settled = pl.settle() && knownState(j.State) && !strings.Contains(j.Partition, ",")
	t.entries = append(t.entries, e)
	t.slots[slot] = uint32(len(t.entries))
	return pl, e
}

// kindOf gives the outcome's Kind where it came out as its plan has it.
func kindOf(o *Outcome, pl *plan, k *Kind) *Kind {
	switch {
	case k == nil || o.Verdict != pl.verdict || pl.rule.tiers:
		return nil
	case o.Verdict != Excluded && len(o.Charges) != len(pl.rule.Charges): // some are per job
		return nil
	}
	return k
}
