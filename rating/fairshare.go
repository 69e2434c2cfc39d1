package rating

import (
	"cmp"
	"slices"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates/money"
)

// Fairshare sums what groups and users used, each job's use decayed from its
// end to one instant. Use is that of the card's meters, whether it was billed
// or waived; what is excluded or held has none.
type Fairshare struct {
	at    ingest.Instant
	decay *Decay
	sums  map[shareKey]*shareSums
}

type shareKey struct{ meter, unit, group, user string }

type shareSums struct {
	used           money.Sum
	decayed, slurm decayedSum
}

// Share is what one user of a group used, or the whole group where User is "".
type Share struct {
	Meter, Unit, Group, User string

	Used    money.Exact // as it was
	Decayed money.Exact // with 2^(−age/H)
	Slurm   money.Exact // with Slurm's own factor
	Part    money.Exact // Decayed of the Decayed of all groups; 0 where that is 0
}

// NewFairshare makes a Fairshare of the state at an instant.
func NewFairshare(at ingest.Instant, d *Decay) *Fairshare {
	return &Fairshare{at: at, decay: d, sums: map[shareKey]*shareSums{}}
}

// Add takes what rating made of a job, or of a part of it. What ends after the
// instant is passed over.
func (f *Fairshare) Add(o *Outcome) {
	if o.Verdict != Charged && o.Verdict != Waived || o.Until > f.at {
		return
	}
	age := int64(f.at - o.Until)
	exact, whole := money.Exact{}, f.decay.isExact(age)
	units, slurm := int64(0), f.decay.slurmUnits(age)
	if whole {
		exact = f.decay.Exact(age)
	} else {
		units = unitsOf(f.decay.exact.of(age))
	}
	for i := range o.Charges {
		c := &o.Charges[i]
		key := shareKey{c.Meter, c.Unit, c.Group, o.Job.User}
		sum := f.sums[key]
		if sum == nil {
			sum = &shareSums{}
			f.sums[shareKey{c.Meter, c.Unit, c.Group, strings.Clone(o.Job.User)}] = sum
		}
		sum.used.Add(c.Quantity)
		sum.slurm.add(c.Quantity, slurm)
		if whole {
			sum.decayed.rest.Add(c.Quantity.Mul(exact))
		} else {
			sum.decayed.add(c.Quantity, units)
		}
	}
}

// Shares gives the groups of each meter, each before its users.
func (f *Fairshare) Shares() []Share {
	type total struct{ meter, unit string }
	groups, totals := map[shareKey]*Share{}, map[total]money.Exact{}
	var all []Share
	for key, sum := range f.sums {
		s := Share{Meter: key.meter, Unit: key.unit, Group: key.group, User: key.user,
			Used: sum.used.Exact(), Decayed: sum.decayed.exact(), Slurm: sum.slurm.exact()}
		if key.user != "" {
			all = append(all, s)
		}
		key.user = ""
		if groups[key] == nil {
			groups[key] = &Share{Meter: key.meter, Unit: key.unit, Group: key.group}
		}
		g := groups[key]
		g.Used, g.Decayed, g.Slurm = g.Used.Add(s.Used), g.Decayed.Add(s.Decayed), g.Slurm.Add(s.Slurm)
		t := total{key.meter, key.unit}
		totals[t] = totals[t].Add(s.Decayed)
	}
	for _, g := range groups {
		all = append(all, *g)
	}
	for i := range all {
		all[i].Part, _ = all[i].Decayed.Quo(totals[total{all[i].Meter, all[i].Unit}])
	}
	slices.SortFunc(all, func(a, b Share) int {
		return cmp.Or(cmp.Compare(a.Meter, b.Meter), cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Group, b.Group), cmp.Compare(a.User, b.User))
	})
	return all
}

// PriorityParts gives how much of the highest priority that weights allow each
// of them can give: Slurm adds weight · factor, and a factor is at most 1.
func PriorityParts(weights []money.Exact) []money.Exact {
	var sum money.Exact
	for _, w := range weights {
		sum = sum.Add(w)
	}
	parts := make([]money.Exact, len(weights))
	for i, w := range weights {
		parts[i], _ = w.Quo(sum)
	}
	return parts
}
