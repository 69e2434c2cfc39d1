package rates

import (
	"fmt"
	"slices"

	"hpcbill/rates/formula"
)

// Asks is what deciding something asks of the facts. What hangs on texts
// alone is decided once for all jobs with the same texts.
type Asks struct {
	Texts    uint32 // a bit for each TextField: 1<<Partition
	Numbers  bool
	GPUTypes bool
	Nodes    bool // the names of the nodes
	Moments  bool // a date, a weekday or an hour
}

// TextsOnly reports whether nothing but texts is asked.
func (a Asks) TextsOnly() bool { return !a.Numbers && !a.GPUTypes && !a.Nodes && !a.Moments }

// And is what a and b ask together.
func (a Asks) And(b Asks) Asks {
	return Asks{a.Texts | b.Texts, a.Numbers || b.Numbers, a.GPUTypes || b.GPUTypes, a.Nodes || b.Nodes, a.Moments || b.Moments}
}

// Asks tells which facts decide whether m matches.
func (m Match) Asks() Asks {
	var a Asks
	for i := range m.conditions {
		a = a.And(m.conditions[i].field.asks())
	}
	return a
}

// Patterns lists the values and globs that m wants, or does not want, of a
// text.
func (m Match) Patterns(f TextField) []string {
	var list []string
	for i := range m.conditions {
		if c := &m.conditions[i]; c.field.kind == textKind && c.field.text == f {
			for _, p := range slices.Concat(c.wanted, c.unwanted) {
				list = append(list, p.text)
			}
		}
	}
	return list
}

// Condition is one condition of a match on something other than a text.
type Condition struct{ c *condition }

// Holds reports whether it holds; the error is an UnknownFactError.
func (c Condition) Holds(f *Facts) (bool, error) { return c.c.holds(f) }

// Slot is the figure that the condition looks at, where it looks at one.
func (c Condition) Slot() (slot formula.Slot, ok bool) {
	return c.c.field.slot, c.c.field.kind == numberKind
}

// Key is the same for two conditions exactly when they ask the same.
func (c Condition) Key() string { return fmt.Sprintf("%+v", *c.c) }

// Conditions lists the conditions of m on something other than a text.
func (m Match) Conditions() []Condition {
	var list []Condition
	for i := range m.conditions {
		if m.conditions[i].field.kind != textKind {
			list = append(list, Condition{&m.conditions[i]})
		}
	}
	return list
}

// Matches lists every match that decides what the version makes of a job.
func (v *Version) Matches() []Match {
	var all []Match
	table := func(entries []PriceEntry) {
		for _, e := range entries {
			all = append(all, e.Match)
		}
	}
	for _, h := range v.Hardware {
		all = append(all, h.Match)
	}
	for _, r := range v.Rules {
		all = append(all, r.Match)
		for _, c := range r.Charges {
			table(c.Meter.Price.Table)
			for _, f := range c.Factors {
				table(f.Table)
			}
		}
	}
	return all
}

func (f matchField) asks() Asks {
	switch f.kind {
	case textKind:
		return Asks{Texts: 1 << f.text}
	case numberKind:
		return Asks{Numbers: true}
	case gpuTypeKind:
		return Asks{GPUTypes: true}
	case nodeNameKind:
		return Asks{Nodes: true}
	}
	return Asks{Moments: true}
}

// Asks tells which texts of a job decide what group it reaches.
func (r *Roster) Asks() Asks {
	texts := map[string]TextField{
		"account": Account, "user": User, "wckey": WCKey, "qos": QoS, "partition": Partition, "cluster": Cluster,
	}
	var a Asks
	for _, g := range r.Groups {
		for _, m := range g.Mappings {
			for _, kind := range mappingKinds {
				if m.field(kind) != "" {
					a.Texts |= 1 << texts[kind]
				}
			}
		}
	}
	return a
}
