package rates

import (
	"fmt"
	"slices"

	"hpcbill/rates/nearest"
)

// Known are the names that the site has, for the fields of a match whose values
// do not come from the cluster's records alone.
type Known struct{ Classes, Groups, Clusters []string }

// Strangers warns of what the card's last version asks for and the site does not
// have: a class, or a cluster, that is nearly one that there is, and a group that
// is none. What asks for it matches nothing, and the next rule, or no factor,
// takes its place: a wrong price that looks right.
func (c *Card) Strangers(known Known) Faults {
	if len(c.Versions) == 0 {
		return nil
	}
	v := c.Versions[len(c.Versions)-1]
	s := strangers{card: c, known: known}
	for _, r := range v.Rules {
		s.ask(r.Match)
		for _, charge := range r.Charges {
			for _, f := range charge.Factors {
				s.askRows(f.Table)
			}
		}
	}
	for _, r := range v.Storage {
		s.ask(r.Match)
	}
	for _, m := range v.Meters {
		if m.Price.By != "class" { // whose rows UnpricedClasses looks at
			s.askRows(m.Price.Table)
		}
	}
	for _, h := range v.Hardware {
		s.ask(h.Match)
	}
	for _, l := range v.Limits {
		s.ask(l.Match)
	}
	sortFaults(s.found)
	return slices.Compact(s.found) // a factor of the version is one of every charge
}

type strangers struct {
	card  *Card
	known Known
	found Faults
}

func (s *strangers) askRows(table []PriceEntry) {
	for _, e := range table {
		s.ask(e.Match)
	}
}

func (s *strangers) ask(m Match) {
	for i := range m.conditions {
		c := &m.conditions[i]
		if c.field.kind != textKind {
			continue
		}
		for n, p := range c.texts {
			s.look(c.field, p, c.textsAt[n])
		}
	}
}

func (s *strangers) look(field matchField, p pattern, at place) {
	there := func(names []string) bool { return slices.ContainsFunc(names, p.matches) }
	say := func(message, remedy string) {
		s.found = append(s.found, Fault{File: s.card.File, Line: at.line, Column: at.column, Field: field.name, Message: message, Remedy: remedy})
	}
	switch field.text {
	case GroupID:
		if !there(s.known.Groups) {
			say(fmt.Sprintf("no group is called %s", p.text), nearest.Remedy(p.text, s.known.Groups))
		}
	case Class:
		classes := append(slices.Clone(s.known.Classes), "internal", "external")
		if near, ok := nearest.Word(p.text, classes); ok && !p.glob && !there(classes) {
			say(fmt.Sprintf("no group has the class %s", p.text), fmt.Sprintf("did you mean %s?", near))
		}
	case Cluster:
		if near, ok := nearest.Word(p.text, s.known.Clusters); ok && !p.glob && !there(s.known.Clusters) {
			say(fmt.Sprintf("no cluster of this card is called %s", p.text), fmt.Sprintf("did you mean %s?", near))
		}
	}
}
