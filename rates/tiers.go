package rates

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
)

// Tiers are prices that change with how much was used, counted over a window:
// of the meter's own units, of the money they cost at list price, or of the
// units of another meter of the card. A group's count is of all clusters and
// file systems that the card prices, and of what is billed, not of what is
// waived.
type Tiers struct {
	Mode    TierMode
	Counter string // CountUnits, CountMoney or the name of another meter
	Window  TierWindow
	Steps   []TierStep // by Above, the first above 0
	Line    int
}

// The counters that are not another meter.
const (
	CountUnits = "units"
	CountMoney = "money"
)

// TierMode says which units a step prices.
type TierMode uint8

// The modes of tiers.
const (
	// Graduated: each unit by the step in which it lies.
	Graduated TierMode = iota
	// Volume: all units of the period by the step that the count reaches with
	// them. What earlier periods were billed stays as it is.
	Volume
	// Bracket: all units of the period by the step in which the count stands
	// when the period begins.
	Bracket
)

// TierWindow says over what the counter runs.
type TierWindow uint8

// The windows of tiers.
const (
	OfMonth TierWindow = iota
	OfFiscalYear
	OfOneJob // or one holding's month: the counter is of the one charge
)

// TierStep is a price for what lies above a count.
type TierStep struct {
	Above money.Exact
	Price money.Exact

	Line, Column int

	unread bool // its count has a fault
}

var (
	tierModes   = []string{"graduated", "volume", "bracket"}
	tierWindows = []string{"month", "fiscal_year", "job"}
)

// TierSlice is the share of some units that one step prices.
type TierSlice struct {
	Step  int // its index
	Units money.Exact
}

// Slices divides units among the steps, in the order in which they are
// counted. before is the count when they begin and reached what it is when the
// period is over. There is at least one slice, of 0 units where there are none.
func (t *Tiers) Slices(before, reached, units money.Exact) []TierSlice {
	switch {
	case t.Window == OfOneJob && t.Mode != Graduated, t.Mode == Volume:
		return []TierSlice{{t.reachedBy(reached), units}}
	case t.Mode == Bracket:
		return []TierSlice{{t.stepAt(before), units}}
	}
	var slices []TierSlice
	for step := t.stepAt(before); ; step++ {
		take := units
		if step+1 < len(t.Steps) {
			room := t.Steps[step+1].Above.Sub(before)
			if t.Counter == CountMoney {
				room, _ = room.Quo(t.Steps[step].Price) // no price of 0: the card was refused
			}
			if room.Cmp(take) < 0 {
				take = room
			}
			before = t.Steps[step+1].Above
		}
		slices = append(slices, TierSlice{step, take})
		if units = units.Sub(take); units.Sign() <= 0 {
			return slices
		}
	}
}

// String tells the steps: "graduated: first 1000 at 0.05, above 1000 at 0.04".
func (t *Tiers) String() string {
	steps := make([]string, len(t.Steps))
	for i, s := range t.Steps {
		steps[i] = t.Label(i) + " at " + s.Price.String()
	}
	counted := ""
	if t.Counter != CountUnits {
		counted = " of " + t.Counter
	}
	return tierModes[t.Mode] + counted + ": " + strings.Join(steps, ", ")
}

// String is the window in words: "month", "fiscal year", "job".
func (w TierWindow) String() string { return strings.ReplaceAll(tierWindows[w], "_", " ") }

// Amount prices units as Slices divides them.
func (t *Tiers) Amount(before, reached, units money.Exact) money.Exact {
	var amount money.Exact
	for _, s := range t.Slices(before, reached, units) {
		amount = amount.Add(s.Units.Mul(t.Steps[s.Step].Price))
	}
	return amount
}

// stepAt is the step of the unit that comes after a count.
func (t *Tiers) stepAt(count money.Exact) int {
	at := 0
	for i, s := range t.Steps[1:] {
		if s.Above.Cmp(count) <= 0 {
			at = i + 1
		}
	}
	return at
}

// reachedBy is the step of the last unit of a count.
func (t *Tiers) reachedBy(count money.Exact) int {
	at := 0
	for i, s := range t.Steps[1:] {
		if s.Above.Cmp(count) < 0 {
			at = i + 1
		}
	}
	return at
}

// Label names a step for the column of prices: "first 1000", "next 9000" and
// "above 10000" of graduated tiers, "up to 1000", "1000 to 10000" and "above
// 10000" of the others.
func (t *Tiers) Label(step int) string {
	from, last := t.Steps[step].Above, step+1 == len(t.Steps)
	switch {
	case last && step == 0:
		return "all"
	case last:
		return "above " + from.String()
	}
	to := t.Steps[step+1].Above
	switch {
	case t.Mode == Graduated && step == 0:
		return "first " + to.String()
	case t.Mode == Graduated:
		return "next " + to.Sub(from).String()
	case step == 0:
		return "up to " + to.String()
	}
	return from.String() + " to " + to.String()
}

// CountsFiscalYear reports whether a version of the card has tiers whose count
// runs over the fiscal year, so that a period's prices depend on what earlier
// periods were billed.
func (c *Card) CountsFiscalYear() bool {
	return c.anyTiers(func(t *Tiers) bool { return t.Window == OfFiscalYear })
}

// HasTiers reports whether a version of the card has tiers whose prices are
// known only when a group's whole period is summed.
func (c *Card) HasTiers() bool {
	return c.anyTiers(func(t *Tiers) bool { return t.Window != OfOneJob })
}

func (c *Card) anyTiers(is func(*Tiers) bool) bool {
	for _, v := range c.Versions {
		for _, m := range v.Meters {
			if m.Tiers != nil && is(m.Tiers) {
				return true
			}
		}
	}
	return false
}

// tiers reads {mode: …, counter: …, window: …, steps: [{above: 0, price: …}, …]}.
func (v *versionLoader) tiers(n *yaml.Node, path string) *Tiers {
	t := &Tiers{Counter: CountUnits, Line: n.Line}
	before := len(v.Faults)
	fields := v.Fields(n, path, tiersKeys.names()...)
	if fields == nil {
		return nil
	}
	for _, f := range fields {
		at := path + "." + f.Key
		switch f.Key {
		case "mode":
			t.Mode = TierMode(v.choice(f.Value, at, tierModes))
		case "counter":
			t.Counter = v.tierCounter(f.Value, at)
		case "window":
			t.Window = TierWindow(v.choice(f.Value, at, tierWindows))
		case "steps":
			for i, item := range v.Items(f.Value, at) {
				t.Steps = append(t.Steps, v.tierStep(item, fmt.Sprintf("%s[%d]", at, i)))
			}
		}
	}
	v.require(n, path, fields, "mode", "window", "steps")
	for i, s := range t.Steps {
		switch {
		case i == 0 && s.Above.Sign() != 0:
			v.Fault(nodeAt(s.Line, s.Column), path+".steps", "the first step does not begin above 0", "write above: 0")
		case s.unread || i > 0 && t.Steps[i-1].unread:
		case i > 0 && s.Above.Cmp(t.Steps[i-1].Above) <= 0:
			v.Fault(nodeAt(s.Line, s.Column), path+".steps", fmt.Sprintf("above %s does not come after above %s", s.Above, t.Steps[i-1].Above), "write the steps in rising order")
		case t.Counter == CountMoney && i+1 < len(t.Steps) && s.Price.Sign() == 0:
			v.Fault(nodeAt(s.Line, s.Column), path+".steps", "a step of price 0 is never left: its units cost nothing, and money is what is counted", "count units")
		}
	}
	if len(t.Steps) == 0 && len(v.Faults) == before {
		v.Fault(n, path+".steps", "has no step", "write  - {above: 0, price: …}")
	}
	if len(v.Faults) == before {
		v.tierMode(t, n, path)
		v.samePrices(t, path)
	}
	return t
}

// samePrices warns of steps at which nothing changes.
func (v *versionLoader) samePrices(t *Tiers, path string) {
	for i, s := range t.Steps {
		if i > 0 && s.Price.Equal(t.Steps[i-1].Price) {
			v.warn(nodeAt(s.Line, s.Column), path+".steps", fmt.Sprintf("above %s the price is that of the step before", s.Above), "")
		}
	}
}

// tierMode refuses modes that say nothing with their counter or window.
func (v *versionLoader) tierMode(t *Tiers, n *yaml.Node, path string) {
	ofMeter := t.Counter != CountUnits && t.Counter != CountMoney
	switch {
	case ofMeter && t.Mode == Graduated:
		v.Fault(n, path+".mode", fmt.Sprintf("graduated tiers count the meter's own units or money, not %s", t.Counter), "write mode: volume, or mode: bracket")
	case t.Counter == CountMoney && t.Mode == Volume:
		v.Fault(n, path+".mode", "a volume counted in money depends on the price that it sets", "count units, or write mode: graduated")
	case t.Mode == Bracket && t.Window == OfMonth:
		v.Fault(n, path+".mode", "the count of a month begins at 0, where the first step always holds", "write mode: volume, or window: fiscal_year")
	case t.Window == OfOneJob && t.Counter == CountMoney && t.Mode == Bracket:
		v.Fault(n, path+".mode", "the money of one job depends on the price that it sets", "count units, or write mode: graduated")
	case t.Window == OfOneJob && v.version.BillBy == ByUsage:
		v.Fault(n, path+".window", "tiers of one job need whole jobs, and bill_by: usage cuts them", "bill by end or start, or count over the month")
	}
}

func (v *versionLoader) tierCounter(n *yaml.Node, path string) string {
	text, ok := v.Text(n, path)
	known := []string{CountUnits, CountMoney}
	for _, name := range v.meterOrder {
		known = append(known, name)
		ok = ok && text != name
	}
	if ok && text != CountUnits && text != CountMoney {
		v.Fault(n, path, fmt.Sprintf("unknown counter %q", text), nearest.Remedy(text, known))
	}
	return text
}

func (v *versionLoader) tierStep(n *yaml.Node, path string) TierStep {
	s := TierStep{Line: n.Line, Column: n.Column, unread: true}
	fields := v.Fields(n, path, tierStepKeys.names()...)
	for _, f := range fields {
		at := path + "." + f.Key
		if f.Key == "above" {
			var ok bool
			s.Above, ok = v.decimal(f.Value, at)
			s.unread = !ok
		} else {
			s.Price, _ = v.decimal(f.Value, at)
		}
	}
	if fields != nil {
		v.require(n, path, fields, "above", "price")
	}
	return s
}
