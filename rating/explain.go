package rating

import (
	"fmt"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// Explanation is the calculation of one job in one period, as a person can
// check it by hand.
type Explanation struct {
	Job    *ingest.Job
	Period rates.Period
	Parts  []PartExplanation // none where the job has no part in the period
}

// PartExplanation is one outcome with the stages that led to it.
type PartExplanation struct {
	Outcome Outcome
	Steps   []Step
}

// Step is one stage that applied. Numbers are in text: Value is exact, a
// decimal or, where that would not end, a fraction; Rounded is then the same
// to six places.
type Step struct {
	Stage       Stage  `json:"stage"`
	Meter       string `json:"meter,omitempty"`        // of the stages of one meter
	Name        string `json:"name,omitempty"`         // of the group, rule or let
	Says        string `json:"says,omitempty"`         // what was decided, in words
	Formula     string `json:"formula,omitempty"`      // "max(cpus*0.8, mem_gib*0.102)"
	WithNumbers string `json:"with_numbers,omitempty"` // "max(4*0.8, 16*0.102)"
	Decides     string `json:"decides,omitempty"`      // the operand of max or min that gave the value
	Value       string `json:"value,omitempty"`
	Rounded     string `json:"rounded,omitempty"`
	Unit        string `json:"unit,omitempty"`
	File        string `json:"file,omitempty"`
	Line        int    `json:"line,omitempty"`
}

// Explain prices a job as Job does and tells how. It keeps nothing of the
// Rater's buffers.
func (r *Rater) Explain(j *ingest.Job, p rates.Period) Explanation {
	ex := &recorder{}
	r.rate(j, p, ex)
	e := Explanation{Job: j, Period: p, Parts: ex.parts}
	for i, o := range r.outcomes {
		if i == len(e.Parts) {
			e.Parts = append(e.Parts, PartExplanation{})
		}
		e.Parts[i].Outcome = o.Clone()
	}
	return e
}

// recorder keeps the steps while a job is rated; there is none, but nil, when
// nobody asked for them.
type recorder struct {
	parts []PartExplanation
	file  string // of the card
}

func (ex *recorder) add(s Step) {
	steps := &ex.parts[len(ex.parts)-1].Steps
	if s.File == "" && s.Line > 0 {
		s.File = ex.file
	}
	*steps = append(*steps, s)
}

// number sets a step's value.
func (s Step) number(x money.Exact) Step {
	s.Value = x.String()
	if strings.Contains(s.Value, "/") {
		s.Rounded = x.Decimal(6, money.HalfEven)
	}
	return s
}

// part begins a part and tells what was settled before any formula.
func (ex *recorder) part(r *Rater, to recipient, pl *plan) {
	if ex == nil {
		return
	}
	ex.parts = append(ex.parts, PartExplanation{})
	if m, g := to.mapping, to.group; m != nil {
		ex.add(Step{
			Stage: AttributeStage, Name: g.ID, File: r.tariff.Roster.File, Line: m.Line,
			Says: fmt.Sprintf("group %s (%s, %s) by %s", g.ID, g.Name, g.Class, m),
		})
	}
	if pl == nil || pl.rule == nil {
		return
	}
	ex.file = pl.rule.version.card.File
	says := fmt.Sprintf("rule %s of card %s, version of %s", pl.rule.Name, pl.rule.reason.Card, pl.rule.version.From)
	if pl.hardware != nil {
		says += ", node type " + pl.hardware.NodeType
	}
	switch pl.verdict {
	case Excluded:
		says += ": not billable, " + pl.cause.Detail
	case Waived:
		says += ": priced and forgiven, " + pl.cause.Detail
	}
	ex.add(Step{Stage: SelectRuleStage, Name: pl.rule.Name, Line: pl.rule.Line, Says: says})
}

// formula tells how a formula came to its value.
func (ex *recorder) formula(r *Rater, s Step, f *formula.Formula, x money.Exact) {
	if ex == nil {
		return
	}
	s.Formula = f.Text
	if t, err := f.Trace(&r.values); err == nil {
		s.Formula, s.WithNumbers, s.Decides = t.Formula, t.WithNumbers, t.Decides
	}
	ex.add(s.number(x))
}

// figure tells of a figure that stands in for one that was not recorded.
func (ex *recorder) figure(name, says string, x money.Exact, line int) {
	if ex != nil {
		ex.add(Step{Stage: LetStage, Name: name, Says: says, Line: line}.number(x))
	}
}

// factors tells which row of each table gave its factor, and their product.
func (ex *recorder) factors(rc *rates.RuleCharge, pr *price) {
	if len(rc.Factors) == 0 {
		return
	}
	var says []string
	for i, f := range rc.Factors {
		row, factor := "not listed", f.Else
		for _, e := range f.Table {
			if pr.rows[i] != "" && e.Value == pr.rows[i] {
				row, factor = e.Value, e.Price
				break
			}
		}
		if row = f.Field + " " + row; len(rc.Factors) > 1 {
			row += ": " + factor.String()
		}
		says = append(says, row)
	}
	ex.add(Step{Stage: FactorStage, Meter: rc.Meter.Name, Line: rc.Factors[0].Line, Says: strings.Join(says, ", ")}.number(pr.factor))
}

// units tells how the units follow from the rate where no formula says it.
func (ex *recorder) units(r *Rater, rc *rates.RuleCharge, p part, units money.Exact) {
	if rc.Units != nil {
		return
	}
	s := Step{Stage: UnitsStage, Meter: rc.Meter.Name, Line: rc.Line, Unit: rc.Meter.Unit, Formula: "rate"}
	put := func(name string, slot formula.Slot) {
		x, _ := r.values.Get(slot)
		s.Formula += name
		s.WithNumbers += " * " + x.String()
	}
	rate, _ := r.values.Get(formula.Rate)
	s.WithNumbers = rate.String()
	if len(rc.Factors) > 0 {
		put(" * factor", formula.Factor)
	}
	switch {
	case rc.PerJob:
	case rc.Duration != nil:
		put(" * duration", formula.Duration)
	default:
		put(" * elapsed_h", formula.Duration)
		s.Says = fmt.Sprintf("%d s are %s h", p.elapsed, money.Ratio(p.elapsed, secondsOfHour))
	}
	ex.add(s.number(units))
}

// tiers tells the prices of meters with tiers: of one job what they make, of
// a period what they are.
func (ex *recorder) tiers(ru *rates.Rule, charges []Charge) {
	if ex == nil {
		return
	}
	for _, rc := range ru.Charges {
		t := rc.Meter.Tiers
		if t == nil {
			continue
		}
		at := Step{Stage: PriceStage, Meter: rc.Meter.Name, Line: t.Line, Unit: "per " + rc.Meter.Unit}
		if t.Window != rates.OfOneJob {
			at.Says = "by what the group uses in the " + t.Window.String() + ": " + t.String()
			ex.add(at)
			continue
		}
		for _, c := range charges {
			if c.Meter == rc.Meter.Name {
				at.Says = "tier " + c.PriceLabel
				ex.add(at.number(c.Price))
				s := Step{Stage: AmountStage, Meter: c.Meter, Line: rc.Line, Formula: "units * price", WithNumbers: fmt.Sprintf("%s * %s", c.Quantity, c.Price)}
				ex.add(s.number(c.Amount))
			}
		}
	}
}

// amount tells the price and what it makes.
func (ex *recorder) amount(r *Rater, rc *rates.RuleCharge, pr *price, units, amount money.Exact) {
	says, line := "for all", rc.Meter.Line
	for _, row := range rc.Meter.Price.Table {
		if row.Value == pr.label {
			says, line = "for "+pr.label, row.Line
			break
		}
	}
	ex.add(Step{Stage: PriceStage, Meter: rc.Meter.Name, Line: line, Unit: "per " + rc.Meter.Unit, Says: says}.number(pr.each))
	s := Step{Stage: AmountStage, Meter: rc.Meter.Name, Line: rc.Line}
	if rc.Amount != nil {
		ex.formula(r, s, rc.Amount, amount)
		return
	}
	s.Formula, s.WithNumbers = "units * price", fmt.Sprintf("%s * %s", units, pr.each)
	ex.add(s.number(amount))
}
