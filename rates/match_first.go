package rates

import (
	"math"
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
