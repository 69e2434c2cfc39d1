package rating

import (
	"cmp"
	"slices"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

func cloned(text string) string { return strings.Clone(text) }

// addStay notes from when to when a user had a job: running from Start to End,
// submitted from Submit to End. A job whose record has no End stays to the end
// of the period. What a user has at no instant of the period is passed over.
func (p *Policy) addStay(f Beyond, j *ingest.Job) {
	s := stay{from: j.Start, until: j.End, id: j.JobIDRaw}
	if f.Kind == rates.SubmittedPerUser {
		s.from = j.Submit
	}
	if !j.Final() {
		s.until = p.to
	}
	if s.from == ingest.None || s.from >= s.until || s.from >= p.to || s.until <= p.from {
		return
	}
	if s.from >= p.from {
		s.cost, s.unpriced = p.cost(j)
	}
	key := userKey{boundKey{f.Limit, f.Kind, f.Cluster}, j.User}
	if p.users[key] == nil {
		key.cluster, key.user = cloned(key.cluster), cloned(key.user)
	}
	p.users[key] = append(p.users[key], s)
}

// sweep goes through a user's jobs in the order in which they began. A job is
// beyond the limit when with it there are more than the limit; one that ends
// at the instant at which another begins is gone.
func (p *Policy) sweep(key userKey, stays []stay) (f Beyond, some bool) {
	slices.SortFunc(stays, func(a, b stay) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.id, b.id), cmp.Compare(a.until, b.until))
	})
	ends := make([]ingest.Instant, len(stays))
	for i, s := range stays {
		ends[i] = s.until
	}
	slices.Sort(ends)
	f = Beyond{Limit: key.limit, Kind: key.kind, Cluster: key.cluster, User: key.user}
	f.Card, f.Max = p.cardOf(key.boundKey)
	ended, most := 0, int64(0)
	for i, s := range stays {
		for ends[ended] <= s.from {
			ended++
		}
		now := int64(i + 1 - ended)
		if s.from < p.from || money.Int(now).Cmp(f.Max) <= 0 {
			continue
		}
		f.Jobs++
		f.Cost = f.Cost.Add(s.cost)
		if s.unpriced {
			f.Unpriced++
		}
		if now > most {
			most, f.At = now, s.from
		}
	}
	f.Had = money.Int(most)
	return f, f.Jobs > 0
}

// cardOf gives the card of a limit and its figure.
func (p *Policy) cardOf(key boundKey) (*rates.Card, money.Exact) {
	i := slices.IndexFunc(key.limit.Bounds, func(b rates.Bound) bool { return b.Kind == key.kind })
	return p.rater.cards[key.cluster].Card, key.limit.Bounds[i].Max
}
