package rates

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Attributes are the fields of a job by which it reaches a group.
type Attributes struct {
	Cluster, Account, User, WCKey, QoS, Partition string
}

// mappingKinds are the fields that give a mapping its kind, in the order that
// holds among mappings of one set of fields. "cluster" is the kind of a
// mapping that names nothing else.
var mappingKinds = []string{"wckey", "user", "qos", "partition", "account", "cluster"}

// AttributionError says why a job reaches no group.
type AttributionError struct {
	Attributes Attributes
	Mappings   []*Mapping // the rules that disagree; none where no rule matches
	roster     *Roster
}

// Ambiguous reports whether several groups claim the job, rather than none.
func (e *AttributionError) Ambiguous() bool { return len(e.Mappings) > 0 }

// Error names the account and the user, or the rules that disagree.
func (e *AttributionError) Error() string {
	who := e.Attributes.String()
	if !e.Ambiguous() {
		return "no group for " + who
	}
	claims := make([]string, len(e.Mappings))
	for i, m := range e.Mappings {
		claims[i] = fmt.Sprintf("group %s (line %d)", m.group.ID, m.Line)
	}
	return who + " reaches " + strings.Join(claims, " and ")
}

// Hint says what to write in the roster.
func (e *AttributionError) Hint() string {
	if e.Ambiguous() {
		return fmt.Sprintf("give the value itself, without a wildcard, to the group that should have it in %s", e.roster.File)
	}
	if m, kind := e.nearMiss(); m != nil {
		return fmt.Sprintf("line %d of %s has %s %q where the job has %q: names are compared as they are written",
			m.Line, e.roster.File, kind, m.field(kind), e.Attributes.field(kind))
	}
	if dated := e.otherDays(); len(dated) > 0 {
		return fmt.Sprintf("%s in %s; the day on which a job is billed decides: let a rule hold on it", strings.Join(dated, " and "), e.roster.File)
	}
	var ways []string
	for _, kind := range e.kindsToMap() {
		value := e.Attributes.field(kind)
		if !plainScalar.MatchString(value) || strings.EqualFold(value, "null") {
			value = strconv.Quote(value)
		}
		ways = append(ways, fmt.Sprintf(" {%s: %s} ", kind, value))
	}
	if len(ways) == 0 {
		return "add a rule under jobs: of the group it belongs to in " + e.roster.File
	}
	return fmt.Sprintf("add %s under jobs: of the group it belongs to in %s", strings.Join(ways, "or"), e.roster.File)
}

// nearMiss finds a mapping whose value differs from the job's only in case or
// blanks.
func (e *AttributionError) nearMiss() (*Mapping, string) {
	for _, kind := range e.roster.Precedence {
		value := strings.TrimSpace(e.Attributes.field(kind))
		for _, g := range e.roster.Groups {
			for _, m := range g.Mappings {
				if value != "" && strings.EqualFold(strings.TrimSpace(m.field(kind)), value) && m.field(kind) != e.Attributes.field(kind) {
					return m, kind
				}
			}
		}
	}
	return nil, ""
}

// otherDays says which mappings would take the job on another day, in the
// order of the file: all of them, so that jobs of several days that reach no
// group are told the same.
func (e *AttributionError) otherDays() []string {
	var found []*Mapping
	for _, g := range e.roster.Groups {
		for _, m := range g.Mappings {
			anyDay := *m
			anyDay.From, anyDay.Until = Date{}, Date{}
			if anyDay.matches(&e.Attributes, Date{}) {
				found = append(found, m)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *Mapping) int { return a.Line - b.Line })
	var texts []string
	for _, m := range found {
		days := ""
		if !m.From.IsZero() {
			days += " from " + m.From.String()
		}
		if !m.Until.IsZero() {
			days += " until " + m.Until.String()
		}
		texts = append(texts, fmt.Sprintf("it is group %s's%s by line %d", m.group.ID, days, m.Line))
	}
	return texts
}

// plainScalar are values that mean themselves in YAML without quotes.
var plainScalar = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// kindsToMap are the kinds by which this roster maps jobs and that the job has
// a value for, in the roster's order.
func (e *AttributionError) kindsToMap() []string {
	var kinds []string
	for _, kind := range e.roster.Precedence {
		if e.Attributes.field(kind) != "" {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 && e.Attributes.Account != "" {
		kinds = append(kinds, "account")
	}
	return kinds
}

// String lists the fields that are set: "account=chem user=u1 cluster=h2p".
func (a Attributes) String() string {
	var parts []string
	for _, kind := range []string{"account", "user", "wckey", "qos", "partition", "cluster"} {
		if v := a.field(kind); v != "" {
			parts = append(parts, kind+"="+v)
		}
	}
	if len(parts) == 0 {
		return "a job without account and user"
	}
	return strings.Join(parts, " ")
}

// ParseAttributes reads what String lists. It is not ok with anything else, and
// with values that hold blanks.
func ParseAttributes(text string) (a Attributes, ok bool) {
	m := Mapping{}
	for part := range strings.SplitSeq(text, " ") {
		kind, value, has := strings.Cut(part, "=")
		if !has || !slices.Contains(mappingKinds, kind) {
			return Attributes{}, false
		}
		*m.fieldRef(kind) = value
	}
	return m.Attributes(), true
}

func (a *Attributes) field(kind string) string {
	switch kind {
	case "account":
		return a.Account
	case "user":
		return a.User
	case "wckey":
		return a.WCKey
	case "qos":
		return a.QoS
	case "partition":
		return a.Partition
	case "cluster":
		return a.Cluster
	}
	panic("BUG: no such kind of mapping: " + kind)
}

// Attributes is what the mapping asks for, on its days: what a job has that it
// matches, where they are no globs.
func (m *Mapping) Attributes() Attributes {
	return Attributes{m.Cluster, m.Account, m.User, m.WCKey, m.QoS, m.Partition}
}

func (m *Mapping) field(kind string) string {
	a := m.Attributes()
	return a.field(kind)
}

// kind is the first of the precedence that m names, "cluster" where it names
// only that.
func (m *Mapping) kind(precedence []string) string {
	for _, kind := range precedence {
		if m.field(kind) != "" {
			return kind
		}
	}
	return ""
}

// kindIndex holds the mappings of one kind.
type kindIndex struct {
	kind     string
	literals map[string][]*Mapping
	globs    []*Mapping
}

func (r *Roster) index() []kindIndex {
	r.indexOnce.Do(func() {
		precedence := r.Precedence
		if len(precedence) == 0 {
			precedence = mappingKinds
		}
		for _, kind := range precedence {
			r.byKind = append(r.byKind, r.indexKind(kind, precedence))
		}
	})
	return r.byKind
}

func (r *Roster) indexKind(kind string, precedence []string) kindIndex {
	index := kindIndex{kind: kind, literals: map[string][]*Mapping{}}
	for _, g := range r.Groups {
		for _, m := range g.Mappings {
			m.group = g
			if m.kind(precedence) != kind {
				continue
			}
			if value := m.field(kind); isGlob(value) {
				index.globs = append(index.globs, m)
			} else {
				index.literals[value] = append(index.literals[value], m)
			}
		}
	}
	return index
}

// Attribute gives the group that a job reaches on that day, and the mapping
// by which it does. The kinds of mapping are tried in the roster's
// precedence; within a kind a literal value beats a wildcard. A job that
// reaches no group, or two by equal right, gives an *AttributionError.
//
// The day is the one that decides where the job is billed: the day of its
// End, of its Start, or of the part that is rated.
func (r *Roster) Attribute(a Attributes, day Date) (*Group, *Mapping, error) {
	byKind := r.index()
	for i := range byKind {
		index := &byKind[i]
		value := a.field(index.kind)
		if value == "" {
			continue
		}
		for _, candidates := range [2][]*Mapping{index.literals[value], index.globs} {
			found, rival := pick(candidates, &a, day)
			if rival != nil {
				return nil, nil, &AttributionError{Attributes: a, Mappings: []*Mapping{found, rival}, roster: r}
			}
			if found != nil {
				return found.group, found, nil
			}
		}
	}
	return nil, nil, &AttributionError{Attributes: a, roster: r}
}

// pick gives the first candidate that matches, and the first that matches too
// and leads to another group.
func pick(candidates []*Mapping, a *Attributes, day Date) (found, rival *Mapping) {
	for _, m := range candidates {
		if !m.matches(a, day) {
			continue
		}
		if found == nil {
			found = m
		} else if m.group != found.group {
			return found, m
		}
	}
	return found, nil
}

func (m *Mapping) matches(a *Attributes, day Date) bool {
	return day.within(m.From, m.Until) &&
		matchesPattern(m.Account, a.Account) && matchesPattern(m.User, a.User) &&
		matchesPattern(m.WCKey, a.WCKey) && matchesPattern(m.QoS, a.QoS) &&
		matchesPattern(m.Partition, a.Partition) && matchesPattern(m.Cluster, a.Cluster)
}

// matchesPattern reports whether a value satisfies a literal, a glob or "".
// What is empty satisfies no pattern: a job without account is nobody's, not
// everybody's.
func matchesPattern(pattern, value string) bool {
	switch {
	case pattern == "":
		return true
	case value == "":
		return false
	case isGlob(pattern):
		return globMatches(pattern, value)
	}
	return pattern == value
}

// String tells what the mapping asks for: "account=chem_* cluster=h2p until 2025-12-31".
func (m *Mapping) String() string {
	s := m.Attributes().String()
	if !m.From.IsZero() {
		s += " from " + m.From.String()
	}
	if !m.Until.IsZero() {
		s += " until " + m.Until.String()
	}
	return s
}
