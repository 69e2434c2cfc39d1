package rates

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/nearest"
)

// states reads {charge: [STATE, …], exclude: {STATE: REASON}, waive: {STATE:
// REASON}}. A state that is in none of them holds the job.
func (l *cardLoader) states(n *yaml.Node, path string) *States {
	s := &States{Line: n.Line}
	for _, f := range l.Fields(n, path, statesKeys.names()...) {
		at := path + "." + f.Key
		if f.Key == "charge" {
			for _, item := range l.OneOrMany(f.Value, at) {
				if text, ok := l.Text(item, at); ok {
					l.addState(s, item, at, StateEntry{Pattern: text, Fate: Charged, Line: item.Line})
				}
			}
			continue
		}
		fate := Excluded
		if f.Key == "waive" {
			fate = Waived
		}
		for _, e := range l.Entries(f.Value, at, "a state and the reason") {
			reason := l.reason(e.Value, at+"."+e.Key)
			l.addState(s, e.KeyNode, at+"."+e.Key, StateEntry{e.Key, fate, reason, e.KeyNode.Line})
		}
	}
	if len(s.Entries) == 0 && n.Kind == yaml.MappingNode {
		l.Fault(n, path, "lists no state", "write  {charge: [COMPLETED, TIMEOUT], exclude: {NODE_FAIL: system failure}}")
	}
	// A word decides before a glob, wherever it stands.
	slices.SortStableFunc(s.Entries, func(a, b StateEntry) int { return globRank(a.Pattern) - globRank(b.Pattern) })
	return s
}

func globRank(pattern string) int {
	if isGlob(pattern) {
		return 1
	}
	return 0
}

// stateFault says what is wrong with a state or a glob of states; nil where
// Slurm has such.
func stateFault(pattern string) error {
	switch {
	case slices.ContainsFunc(states, func(s string) bool { return globMatches(pattern, s) }):
		return nil
	case strings.EqualFold(pattern, "all"), strings.EqualFold(pattern, "any"):
		return &matchError{pattern + " is not a state of Slurm's", "write \"*\" for every state"}
	}
	return &matchError{pattern + " is not a state of Slurm's", nearest.Remedy(pattern, states)}
}

func (l *cardLoader) addState(s *States, n *yaml.Node, path string, e StateEntry) {
	if err := stateFault(e.Pattern); err != nil {
		l.Fault(n, path, err.Error(), remedyOf(err))
		return
	}
	for _, other := range s.Entries {
		if other.Pattern == e.Pattern {
			l.Fault(n, path, fmt.Sprintf("%s is given twice, first on line %d", e.Pattern, other.Line), "keep one of the two")
			return
		}
	}
	s.Entries = append(s.Entries, e)
}

// Of gives what becomes of a job that ended in a state. ok is false for a
// state that the card does not list: the job is held. Without states: in the
// card every state is charged.
func (s *States) Of(state string) (entry StateEntry, ok bool) {
	if s == nil {
		return StateEntry{Pattern: "*", Fate: Charged}, true
	}
	for _, e := range s.Entries {
		if globMatches(e.Pattern, state) {
			return e, true
		}
	}
	return StateEntry{}, false
}
