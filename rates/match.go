package rates

import (
	"strings"
	"time"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// Match is what a rule, a hardware entry or a price asks of a job. All its
// conditions must hold; one without conditions matches everything.
type Match struct {
	conditions []condition // the cheap ones first
	faulty     bool        // a condition could not be read: nothing is concluded from it
}

// condition asks one field. One of its alternatives must hold, and none of
// what it excludes.
type condition struct {
	field matchField

	wanted, unwanted []pattern // of texts
	texts            []pattern // both, in the order of the card
	textsAt          []place   // where each stands
	ranges           []span    // of numbers, in the slot's unit, and of dates as yyyymmdd
	set              uint32    // of weekdays and hours, a bit each
}

// place is where something stands in the card's file.
type place struct{ line, column int }

// pattern is a text or a glob.
type pattern struct {
	text string
	glob bool
}

func (p pattern) matches(text string) bool {
	if p.glob {
		return globMatches(p.text, text)
	}
	return p.text == text
}

// span is a range of numbers.
type span struct {
	low, high               money.Exact
	noLow, noHigh           bool // without bound
	lowExcluded, highBefore bool // the bound itself does not belong
}

func (s span) contains(x money.Exact) bool {
	if !s.noLow {
		if c := x.Cmp(s.low); c < 0 || c == 0 && s.lowExcluded {
			return false
		}
	}
	if !s.noHigh {
		if c := x.Cmp(s.high); c > 0 || c == 0 && s.highBefore {
			return false
		}
	}
	return true
}

// IsCatchAll reports whether m matches everything.
func (m Match) IsCatchAll() bool { return len(m.conditions) == 0 }

// Matches reports whether every condition holds. The error is an
// UnknownFactError where that hangs on something the facts do not know; a
// condition that certainly fails decides before it.
func (m Match) Matches(f *Facts) (bool, error) {
	var unknown error
	for i := range m.conditions {
		holds, err := m.conditions[i].holds(f)
		if err != nil {
			unknown = err
		} else if !holds {
			return false, nil
		}
	}
	return unknown == nil, unknown
}

func (c *condition) holds(f *Facts) (bool, error) {
	switch c.field.kind {
	case textKind:
		return c.admits(f.Text[c.field.text]), nil
	case gpuTypeKind:
		return c.holdsGPUType(f)
	case nodeNameKind:
		return c.holdsNodeNames(f.NodeList)
	case numberKind:
		x, known := f.Values.Get(c.field.slot)
		if !known {
			if c.field.slot == formula.TimelimitSeconds && f.TimelimitUnlimited {
				return c.reachesInfinity(), nil
			}
			return false, &UnknownFactError{c.field.name}
		}
		return c.within(x), nil
	}
	return c.holdsMoment(f)
}

// admits reports whether a text is wanted and not unwanted.
func (c *condition) admits(text string) bool {
	for i := range c.unwanted {
		if c.unwanted[i].matches(text) {
			return false
		}
	}
	for i := range c.wanted {
		if c.wanted[i].matches(text) {
			return true
		}
	}
	return len(c.wanted) == 0
}

// holdsGPUType asks whether one of the job's types is wanted, and none is
// unwanted.
func (c *condition) holdsGPUType(f *Facts) (bool, error) {
	if !f.GPUTypesKnown {
		return false, &UnknownFactError{c.field.name}
	}
	found := len(c.wanted) == 0
	for _, t := range f.GPUTypes {
		for i := range c.unwanted {
			if c.unwanted[i].matches(t) {
				return false, nil
			}
		}
		for i := range c.wanted {
			found = found || c.wanted[i].matches(t)
		}
	}
	return found, nil
}

// holdsNodeNames asks whether every node is wanted, and none is unwanted: a job
// on nodes of two kinds is of neither.
func (c *condition) holdsNodeNames(list string) (bool, error) {
	all := true
	err := eachHost(list, func(name string) bool {
		all = c.admits(name)
		return all
	})
	if list == "" || err != nil {
		return false, &UnknownFactError{c.field.name}
	}
	return all, nil
}

func (c *condition) within(x money.Exact) bool {
	for i := range c.ranges {
		if c.ranges[i].contains(x) {
			return true
		}
	}
	return false
}

func (c *condition) reachesInfinity() bool {
	for i := range c.ranges {
		if c.ranges[i].noHigh {
			return true
		}
	}
	return false
}

func (c *condition) holdsMoment(f *Facts) (bool, error) {
	m := &f.Start
	switch c.field.name {
	case "submit":
		m = &f.Submit
	case "end":
		m = &f.End
	}
	if !m.Known {
		return false, &UnknownFactError{c.field.name}
	}
	switch c.field.kind {
	case weekdayKind:
		return c.set&(1<<uint(m.Weekday)) != 0, nil
	case hourKind:
		return c.set&(1<<uint(m.Hour)) != 0, nil
	}
	return c.within(dayNumber(m.Date)), nil
}

// dayNumber orders dates as numbers do.
func dayNumber(d Date) money.Exact {
	return money.Int(int64(d.Year)*10000 + int64(d.Month)*100 + int64(d.Day))
}

// weekdays are the names of a weekday condition, in time.Weekday's order.
var weekdays = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func weekdayOf(name string) (time.Weekday, bool) {
	name = strings.ToLower(name)
	for d, short := range weekdays {
		if name == short || name == strings.ToLower(time.Weekday(d).String()) {
			return time.Weekday(d), true
		}
	}
	return 0, false
}
