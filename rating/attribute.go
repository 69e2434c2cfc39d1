package rating

import (
	"slices"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"
)

// recipient is the group that a job reaches, or why it reaches none.
type recipient struct {
	group   *rates.Group
	mapping *rates.Mapping
	held    Cause
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
