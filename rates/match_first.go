package rates

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// orderedMatches are matches of which the first that fits decides, and where
// to look for one that covers another: to compare each with all before it
// takes many seconds where a card has some thousands of rules.
//
// A match covers another only if each of its conditions covers one of the
// other's. So it is looked for under one condition, one that few of those
// before it share: under the values that it wants, or under what its globs
// begin with.
type orderedMatches struct {
	all    []Match
	values map[wantedText][]int // indices in all, rising
	globs  map[wantedText][]int // by what stands before the first wildcard
	rest   []int                // those that want no such thing
}

type wantedText struct{ field, text string }

// add puts a match after the others.
func (o *orderedMatches) add(m Match) {
	if o.values == nil {
		o.values, o.globs = map[wantedText][]int{}, map[wantedText][]int{}
	}
	at := len(o.all)
	o.all = append(o.all, m)
	var best *condition
	fewest := math.MaxInt
	for i := range m.conditions {
		c := &m.conditions[i]
		if shared, indexed := o.sharing(c); indexed && shared < fewest {
			best, fewest = c, shared
		}
	}
	if best == nil {
		o.rest = append(o.rest, at)
		return
	}
	for _, p := range best.mayCover() {
		under, key := o.under(best, p)
		if list := under[key]; len(list) == 0 || list[len(list)-1] != at {
			under[key] = append(list, at)
		}
	}
}

// sharing gives the most matches that stand where c would; indexed is false
// where it has no place.
func (o *orderedMatches) sharing(c *condition) (most int, indexed bool) {
	patterns := c.mayCover()
	for _, p := range patterns {
		under, key := o.under(c, p)
		if key.text == "" && p.glob {
			return 0, false
		}
		most = max(most, len(under[key]))
	}
	return most, len(patterns) > 0
}

// under gives where a pattern stands: a glob under what stands before its first
// wildcard.
func (o *orderedMatches) under(c *condition, p pattern) (map[wantedText][]int, wantedText) {
	if !p.glob {
		return o.values, wantedText{c.field.name, p.text}
	}
	return o.globs, wantedText{c.field.name, p.beginning()}
}

// beginning is what every text that p matches begins with.
func (p pattern) beginning() string {
	if i := strings.IndexAny(p.text, "*?"); p.glob && i >= 0 {
		return p.text[:i]
	}
	return p.text
}

// mayCover gives patterns of which one must cover any that a condition wants
// which c covers: what it wants of a text, or its numbers where it has no
// ranges. None where c may cover more.
func (c *condition) mayCover() []pattern {
	if len(c.wanted) > 0 {
		return c.wanted
	}
	var numbers []pattern
	for _, s := range c.ranges {
		if s.noLow || s.noHigh || !s.low.Equal(s.high) {
			return nil
		}
		numbers = append(numbers, pattern{text: s.low.String()})
	}
	return numbers
}

// covering gives the first of the matches that covers n, -1 where none does.
func (o *orderedMatches) covering(n Match) int {
	first := len(o.all)
	look := func(list []int) {
		for _, at := range list {
			if at >= first {
				return
			}
			if o.all[at].covers(n) {
				first = at
				return
			}
		}
	}
	look(o.rest)
	for i := range n.conditions {
		c := &n.conditions[i]
		patterns := c.mayCover()
		if len(patterns) == 0 {
			continue
		}
		p := patterns[0] // whoever covers them all covers this one
		if !p.glob {
			look(o.values[wantedText{c.field.name, p.text}])
		}
		for end := range len(p.beginning()) + 1 {
			look(o.globs[wantedText{c.field.name, p.text[:end]}])
		}
	}
	if first == len(o.all) {
		return -1
	}
	return first
}

// hiding says which of the matches take all that n matches, "" where something is
// left for it: one of them, or several that have its alternatives between them.
// named gives what a match is called, and its line.
func (o *orderedMatches) hiding(n Match, named func(at int) (string, int)) string {
	called := func(at int) string {
		name, line := named(at)
		return fmt.Sprintf("%s on line %d", name, line)
	}
	if at := o.covering(n); at >= 0 {
		return called(at) + " comes first and matches all"
	}
	var names []string
	for _, at := range o.together(n) {
		names = append(names, called(at))
	}
	if len(names) == 0 {
		return ""
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " come first and match all"
}

// together gives the matches that cover the alternatives of one of n's
// conditions, each its own: [a, b] is left nothing by a and b before it.
func (o *orderedMatches) together(n Match) []int {
	for i := range n.conditions {
		alternatives := n.conditions[i].alternatives()
		if n.faulty || len(alternatives) < 2 {
			continue
		}
		var covering []int
		for _, alternative := range alternatives {
			part := Match{conditions: slices.Clone(n.conditions)}
			part.conditions[i] = alternative
			at := o.covering(part)
			if at < 0 {
				covering = nil
				break
			}
			covering = append(covering, at)
		}
		if covering != nil {
			slices.Sort(covering)
			return slices.Compact(covering)
		}
	}
	return nil
}

// alternatives are conditions of which one holds wherever c does. Names of nodes
// have none: a job may be on nodes of two of them.
func (c *condition) alternatives() []condition {
	var all []condition
	add := func(narrow func(*condition)) {
		one := *c
		narrow(&one)
		all = append(all, one)
	}
	switch c.field.kind {
	case nodeNameKind:
	case textKind, gpuTypeKind:
		for i := range c.wanted {
			add(func(one *condition) { one.wanted = c.wanted[i : i+1] })
		}
	case weekdayKind, hourKind:
		for bit := range 32 {
			if c.set&(1<<bit) != 0 {
				add(func(one *condition) { one.set = 1 << bit })
			}
		}
	default:
		for i := range c.ranges {
			add(func(one *condition) { one.ranges = c.ranges[i : i+1] })
		}
	}
	return all
}
