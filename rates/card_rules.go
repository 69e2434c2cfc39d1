package rates

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
	"hpcbill/rates/nearest"
	"hpcbill/rates/yamldoc"
)

func (v *versionLoader) rules(f yamldoc.Field, path string) {
	named := map[string]int{}
	var before orderedMatches
	for i, item := range v.Items(f.Value, path) {
		r := v.rule(item, fmt.Sprintf("%s[%d]", path, i))
		if first, twice := named[r.Name]; twice && r.Name != "" {
			v.Fault(item, fmt.Sprintf("%s[%d].name", path, i), fmt.Sprintf("a rule on line %d is called %s too", first, r.Name), "give each rule a name of its own: charges are explained by it")
		}
		named[r.Name] = r.Line
		if hiding := before.hiding(r.Match, func(at int) (string, int) { return v.version.Rules[at].Name, v.version.Rules[at].Line }); hiding != "" {
			v.Fault(item, fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%s can never match: %s of it", r.Name, hiding), "put the narrower rule first")
		}
		before.add(r.Match)
		v.version.Rules = append(v.version.Rules, r)
	}
}

func (v *versionLoader) rule(n *yaml.Node, path string) *Rule {
	r := &Rule{Line: n.Line}
	fields := v.Fields(n, path, ruleKeys.names()...)
	if fields == nil {
		return r
	}
	var charge *yamldoc.Field
	factors := v.factors
	for i, f := range fields {
		at := path + "." + f.Key
		switch f.Key {
		case "name":
			r.Name = v.label(f.Value, at)
		case "match":
			r.Match = v.match(f.Value, at, jobFields())
		case "charge":
			charge = &fields[i]
		case "exclude":
			r.Exclude = v.reason(f.Value, at)
		case "waive":
			r.Waive = v.reason(f.Value, at)
		case "factor":
			factors = append(factors[:len(factors):len(factors)], v.readFactors(f.Value, at)...)
		case "states":
			r.States = v.readStates(f.Value, at)
		case "note":
			v.Text(f.Value, at)
		}
	}
	v.require(n, path, fields, "name")
	switch {
	case charge != nil && r.Exclude != "":
		v.Fault(charge.KeyNode, path+".charge", "a rule that excludes jobs cannot charge them", "write waive: instead of exclude: to price a job and forgive it")
	case charge == nil && r.Waive != "":
		v.Fault(n, path, "waives what it does not price", "add  charge: …  or write exclude: instead of waive:")
	case charge == nil && r.Exclude == "":
		v.Fault(n, path, "neither charges nor excludes", "add  charge: {METER: FORMULA}  or  exclude: REASON")
	}
	if charge != nil {
		r.Charges = v.charges(charge.Value, path+".charge", formula.OfJob, factors)
	}
	return r
}

func (v *versionLoader) charges(n *yaml.Node, path string, subject formula.Subject, factors []*Factor) []*RuleCharge {
	var charges []*RuleCharge
	entries := v.Entries(n, path, "a meter and its formula")
	for _, e := range entries {
		at := path + "." + e.Key
		meter, ok := v.version.Meters[e.Key]
		if !ok {
			v.Fault(e.KeyNode, at, fmt.Sprintf("unknown meter %s", e.Key), v.nearestMeter(e))
			continue
		}
		v.charged[meter] = true
		charges = append(charges, v.charge(meter, e, at, subject, factors))
	}
	if len(entries) == 0 && n.Kind == yaml.MappingNode {
		v.Fault(n, path, "charges no meter", "write  {METER: FORMULA}, or exclude: REASON for what is free")
	}
	v.jobCounters(n, path, charges)
	return charges
}

// jobCounters refuses tiers that count another meter of one job where the rule
// does not charge it.
func (v *versionLoader) jobCounters(n *yaml.Node, path string, charges []*RuleCharge) {
	for _, c := range charges {
		t := c.Meter.Tiers
		if t == nil || t.Window != OfOneJob || v.version.Meters[t.Counter] == nil {
			continue
		}
		if !slices.ContainsFunc(charges, func(other *RuleCharge) bool { return other.Meter.Name == t.Counter }) {
			v.Fault(n, path+"."+c.Meter.Name, fmt.Sprintf("its tiers count %s of the job, which the rule does not charge", t.Counter), fmt.Sprintf("charge %s too, at a price of 0", t.Counter))
		}
	}
}

func (v *versionLoader) nearestMeter(e yamldoc.Field) string {
	if e.Value.Tag == "!!null" && strings.HasSuffix(e.Key, ")") {
		return "put the formula in quotes: a comma ends a value inside { }"
	}
	names := []string{}
	for name := range v.version.Meters {
		names = append(names, name)
	}
	if len(names) == 0 {
		return "declare it under meters:"
	}
	sort.Strings(names)
	return nearest.Remedy(e.Key, names)
}

func (v *versionLoader) charge(meter *Meter, e yamldoc.Field, path string, subject formula.Subject, factors []*Factor) *RuleCharge {
	c := &chargeLoader{versionLoader: v, subject: subject, path: path, charge: &RuleCharge{Meter: meter, Factors: factors, Line: e.KeyNode.Line, Column: e.KeyNode.Column}}
	if e.Value.Kind != yaml.MappingNode {
		c.formulas = map[formula.Stage]*yaml.Node{formula.RateStage: e.Value}
	} else if !c.readFields(e.Value) {
		return c.charge
	}
	c.pricedBy(e.KeyNode)
	c.charge.Rate = c.stage(formula.RateStage, path)
	c.charge.Duration = c.stage(formula.DurationStage, path)
	c.charge.Units = c.stage(formula.UnitsStage, path)
	c.charge.Amount = c.stage(formula.AmountStage, path)
	before := len(v.Faults)
	if meter.Tiers != nil && c.charge.Amount != nil {
		v.Fault(c.formulas[formula.AmountStage], path+".amount", "the tiers of the meter make the amount, of the whole period's units", "remove the formula, or the tiers")
	}
	c.check()
	if len(v.Faults) == before {
		c.checkSize(e.KeyNode)
	}
	return c.charge
}

// pricedBy refuses a table of prices by what the charged never have, but for a
// row that takes the rest.
func (c *chargeLoader) pricedBy(n *yaml.Node) {
	fields, what := jobFields(), "a job"
	if c.subject == formula.OfHolding {
		fields, what = storageFields(), "storage"
	}
	p := c.charge.Meter.Price
	if _, has := findField(fields, p.By); has || p.By == "" {
		return
	}
	rest := slices.ContainsFunc(p.Table, func(e PriceEntry) bool { return e.Match.IsCatchAll() || e.Value == rowLabel("*") })
	if _, known := findField(matchFields(), p.By); known && len(p.Table) > 0 && !rest {
		c.Fault(n, c.path, fmt.Sprintf("%s has no %s, by which %s is priced", what, p.By, c.charge.Meter.Name), "give it a meter of its own, or the table a row  \"*\": …")
	}
}

// chargeLoader reads the formulas of one meter of a rule.
type chargeLoader struct {
	*versionLoader
	subject  formula.Subject
	path     string
	charge   *RuleCharge
	formulas map[formula.Stage]*yaml.Node
}

func (c *chargeLoader) readFields(n *yaml.Node) bool {
	c.formulas = map[formula.Stage]*yaml.Node{}
	before := len(c.Faults)
	fields := c.Fields(n, c.path, chargeKeys.names()...)
	for _, f := range fields {
		at := c.path + "." + f.Key
		switch f.Key {
		case "rate":
			c.formulas[formula.RateStage] = f.Value
		case "duration":
			c.formulas[formula.DurationStage] = f.Value
		case "units":
			c.formulas[formula.UnitsStage] = f.Value
		case "amount":
			c.formulas[formula.AmountStage] = f.Value
		case "per":
			c.readPer(f.Value, at)
		case "factor":
			factors := c.charge.Factors
			c.charge.Factors = append(factors[:len(factors):len(factors)], c.readFactors(f.Value, at)...)
		}
	}
	if c.formulas[formula.RateStage] == nil && c.formulas[formula.UnitsStage] == nil {
		if len(c.Faults) > before {
			return false // a misspelt key may be the missing one
		}
		c.Fault(n, c.path, "has neither rate nor units", "write  rate: units an hour, or  units: what the whole job counts")
		return false
	}
	return true
}

// readPer reads what the rate is of.
func (c *chargeLoader) readPer(n *yaml.Node, path string) {
	if c.subject == formula.OfHolding {
		c.charge.PerDay = c.choice(n, path, storagePerNames) == 1
		return
	}
	c.charge.PerJob = c.choice(n, path, perNames) == 1
}

// stage reads one formula, with what the stages before it give.
func (c *chargeLoader) stage(stage formula.Stage, path string) *formula.Formula {
	n := c.formulas[stage]
	if n == nil {
		return nil
	}
	if len(c.formulas) > 1 || stage != formula.RateStage || c.charge.PerJob {
		path += "." + stage.String()
	}
	scope := c.scope(c.subject, stage)
	if c.formulas[formula.RateStage] == nil {
		scope = scope.Hide("rate", "is not written for this charge", "")
	}
	if c.charge.PerJob || c.subject == formula.OfHolding {
		scope = scope.Hide("duration", "is not part of this charge", "")
	}
	if c.charge.PerDay && stage == formula.RateStage {
		scope = scope.Hide("days", "is not a figure of one day", "").Hide("over_days", "is not a figure of one day", "")
		for _, name := range []string{"mean_tb", "mean_tib", "max_tb", "max_tib"} {
			scope = scope.Hide(name, "is not a figure of one day", "used_tb is that day's use")
		}
	}
	f := c.formula(n, path, c.narrowed(scope))
	if f == nil {
		return nil
	}
	what := "a job"
	if c.subject == formula.OfHolding {
		what = "a holding"
	}
	switch {
	case f.IsNegative():
		c.Fault(n, path, "is always below 0: every "+strings.TrimPrefix(what, "a ")+" would be held", "a credit is an adjustment, not a charge")
	case f.CanBeNegative():
		c.warn(n, path, "can be below 0: "+what+" for which it is, is held", "write max(0, …)")
	}
	if c.subject == formula.OfHolding {
		c.storageUnits(n, path, f)
	}
	return f
}

// check looks at how the formulas go together: what is written must be used,
// and an hour must be counted once.
func (c *chargeLoader) check() {
	charge := c.charge
	if charge.Rate != nil && charge.Rate.Dimension().HasHours() && !charge.PerJob && c.subject == formula.OfJob {
		c.Fault(c.formulas[formula.RateStage], c.path, "a rate is units an hour, and this has hours in it already", "leave the hours out: they are multiplied in; or write it as units:, or with per: job")
	}
	if d := charge.Duration; d != nil {
		n := c.formulas[formula.DurationStage]
		switch {
		case c.subject == formula.OfHolding:
			c.Fault(n, c.path+".duration", "storage has no duration", "use days and month_days in  units:")
		case charge.PerJob:
			c.Fault(n, c.path+".duration", "a charge per job has no duration", "remove one of the two")
		case !d.Dimension().IsHours():
			c.Fault(n, c.path+".duration", fmt.Sprintf("is not a time but %s", d.Dimension()), "a duration is in hours, such as max(elapsed_h, 0.25)")
		case !slices.ContainsFunc(timeSlots[:], d.DependsOn):
			c.warn(n, c.path+".duration", "counts the same hours for every job, however long it ran", "write elapsed_h into it, or  per: job  for a fee")
		default:
			c.checkTimeUnit(n)
		}
	}
	c.checkEnergy(c.formulas[formula.RateStage])
	c.checkParts()
	if charge.Units == nil {
		return
	}
	c.unused("rate", charge.Rate != nil, formula.Rate)
	c.unused("duration", charge.Duration != nil, formula.Duration)
	c.unused("factor", len(charge.Factors) > 0, formula.Factor)
}

// timeSlots are the times of a job.
var timeSlots = [...]formula.Slot{formula.ElapsedSeconds, formula.SuspendedSeconds, formula.TimelimitSeconds, formula.WaitSeconds, formula.CalendarDays}

func (c *chargeLoader) unused(name string, written bool, slot formula.Slot) {
	if written && !c.charge.Units.Uses(slot) {
		c.Fault(c.formulas[formula.UnitsStage], c.path+".units", fmt.Sprintf("does not use the %s that is written beside it", name), fmt.Sprintf("multiply by %s, or remove it", name))
	}
}
