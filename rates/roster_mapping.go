package rates

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// maxMappings bounds what the lists of one rule may multiply to.
const maxMappings = 100_000

var mappingFields = []string{"account", "user", "wckey", "qos", "partition", "cluster", "from", "until"}

// mappings reads one rule of jobs:. Lists are multiplied out, so that each
// Mapping holds one value a field.
func (l *rosterLoader) mappings(n *yaml.Node, path string) []*Mapping {
	rule := Mapping{Line: n.Line, Column: n.Column}
	values := map[string][]string{}
	named := false
	for _, f := range l.Fields(n, path, mappingFields...) {
		at := path + "." + f.Key
		switch f.Key {
		case "from":
			rule.From = l.date(f.Value, at)
		case "until":
			rule.Until = l.date(f.Value, at)
		default:
			named = true
			values[f.Key] = l.patterns(f.Value, at)
		}
	}
	if !named && n.Kind == yaml.MappingNode {
		l.Fault(n, path, "names no field of a job", "name at least one of "+strings.Join(mappingFields[:6], ", "))
	}
	l.checkSpan(n, path, rule.From, rule.Until)
	expanded := []*Mapping{&rule}
	for _, kind := range mappingKinds {
		expanded = multiply(expanded, kind, values[kind])
		if len(expanded) > maxMappings {
			l.Fault(n, path, fmt.Sprintf("its lists multiply to more than %d combinations", maxMappings), "write several rules")
			return nil
		}
	}
	return expanded
}

func multiply(mappings []*Mapping, kind string, values []string) []*Mapping {
	if len(values) == 0 {
		return mappings
	}
	var out []*Mapping
	for _, m := range mappings {
		for _, v := range values {
			next := *m
			*next.fieldRef(kind) = v
			out = append(out, &next)
		}
	}
	return out
}

func (m *Mapping) fieldRef(kind string) *string {
	switch kind {
	case "wckey":
		return &m.WCKey
	case "user":
		return &m.User
	case "qos":
		return &m.QoS
	case "partition":
		return &m.Partition
	case "account":
		return &m.Account
	case "cluster":
		return &m.Cluster
	}
	panic("BUG: no such kind of mapping: " + kind)
}

// patterns reads a value, or a list of values.
func (l *rosterLoader) patterns(n *yaml.Node, path string) []string {
	var patterns []string
	for _, item := range l.OneOrMany(n, path) {
		p, ok := l.Text(item, path)
		if !ok {
			continue
		}
		if p != strings.TrimSpace(p) || strings.ContainsFunc(p, unicode.IsControl) {
			l.Fault(item, path, fmt.Sprintf("%q begins or ends with a blank or holds a control character", p), "")
			continue
		}
		patterns = append(patterns, p)
	}
	if len(patterns) == 0 && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		l.Fault(n, path, "is an empty list", "leave the field out to match every value")
	}
	return patterns
}

func (l *rosterLoader) checkSpan(n *yaml.Node, path string, from, until Date) {
	if !from.IsZero() && !until.IsZero() && !from.Before(until) {
		l.Fault(n, path, fmt.Sprintf("holds from %s until %s, which is no day", from, until), "until is the first day on which it no longer holds")
	}
}

// checkKinds sees to it that the order between kinds of mapping is declared
// where it matters.
func (l *rosterLoader) checkKinds(declared bool) (ok bool) {
	ok = true
	var first *Mapping
	for m := range l.mappingsByLine() {
		if declared {
			if m.kind(l.roster.Precedence) == "" && m.namedKinds()[0] == "cluster" {
				l.roster.Precedence = append(l.roster.Precedence, "cluster")
			} else if m.kind(l.roster.Precedence) == "" {
				ok = false
				l.mappingFault(m, fmt.Sprintf("goes by %s, which precedence: does not list", strings.Join(m.namedKinds(), " and ")),
					"add it to precedence: at its place")
			}
			continue
		}
		if first == nil {
			first = m
			l.roster.Precedence = m.namedKinds()[:1]
		}
		if a, b := first.namedKinds(), m.namedKinds(); !slices.Equal(a, b) {
			l.mappingFault(m, fmt.Sprintf("goes by %s where line %d goes by %s, and no order between them is declared",
				strings.Join(b, " and "), first.Line, strings.Join(a, " and ")),
				fmt.Sprintf("say which decides where both match, for example  precedence: [%s]", strings.Join(unionKinds(a, b), ", ")))
			return false
		}
	}
	return ok
}

// namedKinds are the fields that m names, without the cluster where there is
// another.
func (m *Mapping) namedKinds() []string {
	var kinds []string
	for _, kind := range mappingKinds {
		if m.field(kind) != "" && (kind != "cluster" || len(kinds) == 0) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func unionKinds(a, b []string) []string {
	var kinds []string
	for _, kind := range mappingKinds {
		if slices.Contains(a, kind) || slices.Contains(b, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// mappingsByLine gives the mappings that name something, as the file has them.
func (l *rosterLoader) mappingsByLine() func(yield func(*Mapping) bool) {
	var all []*Mapping
	for _, g := range l.roster.Groups {
		for _, m := range g.Mappings {
			if len(m.namedKinds()) > 0 {
				all = append(all, m)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Mapping) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return slices.Values(all)
}

// checkOverlaps finds literal values that two rules claim at the same time:
// which of them decides would depend on nothing that a reader can see.
func (l *rosterLoader) checkOverlaps() {
	byValue := map[[2]string][]*Mapping{}
	reported := map[[2]int]bool{}
	for m := range l.mappingsByLine() {
		kind := m.kind(l.roster.Precedence)
		if kind == "" || isGlob(m.field(kind)) {
			continue
		}
		key := [2]string{kind, m.field(kind)}
		for _, other := range byValue[key] {
			lines := [2]int{other.Line, m.Line}
			if !m.overlaps(other) || reported[lines] {
				continue
			}
			reported[lines] = true
			if other.group == m.group {
				l.mappingFault(m, fmt.Sprintf("%s %s reaches group %s already by line %d", kind, key[1], m.group.ID, other.Line), "remove one of the two")
			} else {
				l.mappingFault(m, fmt.Sprintf("%s %s reaches group %s here and group %s by line %d", kind, key[1], m.group.ID, other.group.ID, other.Line),
					"keep one, or part them by cluster: or by from: and until:")
			}
		}
		byValue[key] = append(byValue[key], m)
	}
}

// overlaps reports whether some job on some day satisfies both. Two wildcards
// are taken to be apart: jobs that both claim are held when they occur.
func (m *Mapping) overlaps(other *Mapping) bool {
	if !m.Until.IsZero() && !other.From.IsZero() && !other.From.Before(m.Until) ||
		!other.Until.IsZero() && !m.From.IsZero() && !m.From.Before(other.Until) {
		return false
	}
	for _, kind := range mappingKinds {
		a, b := m.field(kind), other.field(kind)
		switch {
		case a == "" || b == "" || a == b:
		case isGlob(a) && isGlob(b):
			return false
		case !matchesPattern(a, b) && !matchesPattern(b, a):
			return false
		}
	}
	return true
}

func (l *rosterLoader) mappingFault(m *Mapping, message, remedy string) {
	l.Faults = append(l.Faults, Fault{File: l.Name, Line: m.Line, Column: m.Column, Field: "jobs", Message: message, Remedy: remedy})
}
