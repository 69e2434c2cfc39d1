package rates

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/money"
)

// Tiers are prices that change with how much was used: of units, of money or
// of another meter, counted over a window.
type Tiers struct {
	Mode    TierMode
	Counter string // "units", "money" or the name of another meter
	Window  TierWindow
	Steps   []TierStep // by Above, the first above 0
	Line    int
}

// TierMode says which units a step prices.
type TierMode uint8

// The modes of tiers.
const (
	Graduated TierMode = iota // each unit by the step in which it lies
	Volume                    // all units by the step that the last one reaches
	Bracket                   // all units of a charge by the step at which it begins
)

// TierWindow says over what the counter runs.
type TierWindow uint8

// The windows of tiers.
const (
	OfMonth TierWindow = iota
	OfFiscalYear
	OfOneJob
)

// TierStep is a price for what lies above a count.
type TierStep struct {
	Above money.Exact
	Price money.Exact
	Line  int
}

var (
	tierModes   = []string{"graduated", "volume", "bracket"}
	tierWindows = []string{"month", "fiscal_year", "job"}
)

// Amount prices units of which the counter stood at before when they began.
// Under Volume it is what they add to the price of the whole, which can be
// less than nothing where they reach a cheaper step.
func (t *Tiers) Amount(before, units money.Exact) money.Exact {
	switch t.Mode {
	case Bracket:
		return units.Mul(t.stepAt(before).Price)
	case Volume:
		whole := func(count money.Exact) money.Exact { return count.Mul(t.reachedBy(count).Price) }
		return whole(before.Add(units)).Sub(whole(before))
	}
	amount, end := money.Exact{}, before.Add(units)
	for i, s := range t.Steps {
		from, to := s.Above, end
		if from.Cmp(before) < 0 {
			from = before
		}
		if i+1 < len(t.Steps) && t.Steps[i+1].Above.Cmp(end) < 0 {
			to = t.Steps[i+1].Above
		}
		if to.Cmp(from) > 0 {
			amount = amount.Add(to.Sub(from).Mul(s.Price))
		}
	}
	return amount
}

// stepAt is the step of the unit that comes after a count.
func (t *Tiers) stepAt(count money.Exact) TierStep {
	at := t.Steps[0]
	for _, s := range t.Steps[1:] {
		if s.Above.Cmp(count) <= 0 {
			at = s
		}
	}
	return at
}

// reachedBy is the step of the last unit of a count.
func (t *Tiers) reachedBy(count money.Exact) TierStep {
	at := t.Steps[0]
	for _, s := range t.Steps[1:] {
		if s.Above.Cmp(count) < 0 {
			at = s
		}
	}
	return at
}

// tiers reads {mode: …, counter: …, window: …, steps: [{above: 0, price: …}, …]}.
func (v *versionLoader) tiers(n *yaml.Node, path string) *Tiers {
	t := &Tiers{Counter: "units", Line: n.Line}
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
			v.Fault(&yaml.Node{Line: s.Line}, path+".steps", "the first step does not begin above 0", "write above: 0")
		case i > 0 && s.Above.Cmp(t.Steps[i-1].Above) <= 0:
			v.Fault(&yaml.Node{Line: s.Line}, path+".steps", fmt.Sprintf("above %s does not come after above %s", s.Above, t.Steps[i-1].Above), "write the steps in rising order")
		}
	}
	return t
}

func (v *versionLoader) tierCounter(n *yaml.Node, path string) string {
	text, ok := v.Text(n, path)
	known := []string{"units", "money"}
	for _, name := range v.meterOrder {
		known = append(known, name)
		ok = ok && text != name
	}
	if ok && text != "units" && text != "money" {
		v.Fault(n, path, fmt.Sprintf("unknown counter %q", text), suggestWord(text, known))
	}
	return text
}

func (v *versionLoader) tierStep(n *yaml.Node, path string) TierStep {
	s := TierStep{Line: n.Line}
	fields := v.Fields(n, path, tierStepKeys.names()...)
	for _, f := range fields {
		at := path + "." + f.Key
		if f.Key == "above" {
			s.Above, _ = v.decimal(f.Value, at)
		} else {
			s.Price, _ = v.decimal(f.Value, at)
		}
	}
	if fields != nil {
		v.require(n, path, fields, "above", "price")
	}
	return s
}
