package rates

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
	"hpcbill/rates/yamldoc"
)

// versionLoader reads one version of a card.
type versionLoader struct {
	*cardLoader
	version    *Version
	hidden     map[string]hiddenName // names that the version cannot give
	factors    []*Factor             // of every rule
	meterOrder []string              // the meters' names, as the card has them
	charged    map[*Meter]bool       // meters that a rule charges
	meterAt    map[*Meter]*yaml.Node
	lies       []hardwareRange // between what the hardware's figures lie
}

// hiddenName says why a formula cannot use a name, and what to do about it.
type hiddenName struct{ why, remedy string }

func (l *cardLoader) version(n *yaml.Node, path string, billBy BillBy) *Version {
	v := &versionLoader{
		cardLoader: l, version: &Version{BillBy: billBy, Meters: map[string]*Meter{}, Line: n.Line, Column: n.Column},
		hidden: map[string]hiddenName{}, charged: map[*Meter]bool{}, meterAt: map[*Meter]*yaml.Node{},
	}
	fields := l.Fields(n, path, versionKeys.names()...)
	if fields == nil {
		return v.version
	}
	l.require(n, path, fields, "from", "meters")
	// What is used is read before what uses it, wherever it stands.
	v.read(fields, path, map[string]func(yamldoc.Field, string){
		"from":    func(f yamldoc.Field, at string) { v.version.From = l.date(f.Value, at) },
		"until":   func(f yamldoc.Field, at string) { v.version.Until = l.date(f.Value, at) },
		"note":    func(f yamldoc.Field, at string) { l.Text(f.Value, at) },
		"bill_by": func(f yamldoc.Field, at string) { v.version.BillBy = l.billBy(f.Value, at) },
		"meters":  v.meterNames,
	})
	v.read(fields, path, map[string]func(yamldoc.Field, string){"hardware": v.hardware})
	v.offerHardware()
	v.read(fields, path, map[string]func(yamldoc.Field, string){"let": v.readLets})
	v.read(fields, path, map[string]func(yamldoc.Field, string){
		"meters": v.meters,
		"states": func(f yamldoc.Field, at string) { v.version.States = v.readStates(f.Value, at) },
		"factor": func(f yamldoc.Field, at string) { v.factors = v.readFactors(f.Value, at) },
	})
	v.read(fields, path, map[string]func(yamldoc.Field, string){"rules": v.rules, "storage": v.storage, "limits": v.limits})
	v.finish(n, path)
	return v.version
}

func (v *versionLoader) read(fields []yamldoc.Field, path string, readers map[string]func(yamldoc.Field, string)) {
	for _, f := range fields {
		if reader, ok := readers[f.Key]; ok {
			reader(f, path+"."+f.Key)
		}
	}
}

// finish checks the version as a whole.
func (v *versionLoader) finish(n *yaml.Node, path string) {
	version := v.version
	if !version.Until.IsZero() && !version.From.Before(version.Until) {
		v.Fault(n, path+".until", fmt.Sprintf("%s is not after %s", version.Until, version.From), "until: is the first day on which the version no longer holds")
	}
	if len(version.Rules) == 0 && len(version.Storage) == 0 {
		v.Fault(n, path, "has no rules and no storage: it charges nothing", "add  rules:  or  storage:")
	}
	v.missingFacts(path)
	v.unusedLets(path)
	v.gpusForAll(path)
	for meter, at := range v.meterAt {
		if !v.charged[meter] {
			v.warn(at, path+".meters."+meter.Name, "no rule charges this meter", "")
		}
	}
}

// letValue reads a formula, or the clock whose hours a figure counts; nil after a
// fault.
func (v *versionLoader) letValue(n *yaml.Node, path string) (*formula.Formula, *Clock) {
	if n.Kind != yaml.MappingNode {
		return v.formula(n, path, v.scope(formula.OfJob, formula.LetStage)), nil
	}
	clock := v.clock(n, path)
	if clock == nil {
		return nil, nil
	}
	return clockFormula(), clock
}

// gpusForAll warns of GPUs that a rule for all jobs prices by their type: those
// without any have no price, of none, and are held.
func (v *versionLoader) gpusForAll(path string) {
	gpus, _ := findField(jobFields(), "gpus")
	without := Match{conditions: []condition{{field: gpus, ranges: []span{{}}}}}
	for i, r := range v.version.Rules {
		if r.Match.covers(without) {
			for _, c := range r.Charges {
				if p := c.Meter.Price; p.By == "gpu_type" && !slices.ContainsFunc(p.Table, func(e PriceEntry) bool { return e.Match.IsCatchAll() }) {
					v.warn(nodeAt(c.Line, c.Column), fmt.Sprintf("%s.rules[%d].charge.%s", path, i, c.Meter.Name), "jobs without GPUs have no type of GPU, by which this is priced: they are held",
						"charge GPUs in a rule of their own, with  match: {gpus: \"> 0\"}")
				}
			}
			return
		}
	}
}

// unusedLets warns of figures that no formula names: what was to use them has
// another name in it.
func (v *versionLoader) unusedLets(path string) {
	if len(v.Faults) > 0 {
		return // a formula with a fault may be the one
	}
	formulas := v.version.formulas()
	for _, let := range v.version.Lets {
		if !slices.ContainsFunc(formulas, func(f *formula.Formula) bool { return f.Uses(let.Slot) }) {
			v.warn(nodeAt(let.Line, let.Column), path+".let."+let.Name, "no formula uses this figure", "")
		}
	}
}

// formulas lists all that the version has.
func (v *Version) formulas() []*formula.Formula {
	var all []*formula.Formula
	for _, let := range v.Lets {
		all = append(all, let.Formula)
	}
	add := func(charges []*RuleCharge) {
		for _, c := range charges {
			all = append(all, c.Rate, c.Duration, c.Units, c.Amount)
		}
	}
	for _, r := range v.Rules {
		add(r.Charges)
	}
	for _, r := range v.Storage {
		add(r.Charges)
	}
	return slices.DeleteFunc(all, func(f *formula.Formula) bool { return f == nil })
}

// readLets reads let:, in the order in which its figures are evaluated.
func (v *versionLoader) readLets(f yamldoc.Field, path string) {
	entries := v.Entries(f.Value, path, "a name and its formula")
	for _, e := range entries {
		if !formula.IsReserved(e.Key) {
			v.hidden[e.Key] = hiddenName{why: "stands further down under let: a figure can use those above it", remedy: "move it up"}
		}
	}
	for _, e := range entries {
		at := path + "." + e.Key
		if slices.Contains(versionKeys.names(), e.Key) && (e.Value.Kind != yaml.ScalarNode || yamldoc.IsBlank(e.Value)) {
			v.Fault(e.KeyNode, at, "is a key of the version, and stands under let:", "indent it, and what belongs to it, no further than let:")
			return
		}
		if !identifierForm.MatchString(e.Key) {
			v.Fault(e.KeyNode, at, fmt.Sprintf("%q is not a name that a formula can use", e.Key), "begin with a small letter; then small letters, digits and _")
			continue
		}
		if formula.IsReserved(e.Key) {
			v.Fault(e.KeyNode, at, e.Key+" has a meaning of its own in formulas", "choose another name")
			continue
		}
		if len(v.version.Lets) == formula.MaxLets {
			v.Fault(e.KeyNode, at, fmt.Sprintf("a version has at most %d let: figures", formula.MaxLets), "")
			return
		}
		parsed, clock := v.letValue(e.Value, at)
		if parsed == nil {
			v.hidden[e.Key] = hiddenName{why: "is a let: figure with a fault", remedy: fmt.Sprintf("mend it on line %d", e.KeyNode.Line)}
			continue
		}
		delete(v.hidden, e.Key)
		v.version.Lets = append(v.version.Lets, &Let{Name: e.Key, Formula: parsed, Clock: clock, Slot: formula.LetSlot(len(v.version.Lets)), Line: e.KeyNode.Line, Column: e.KeyNode.Column})
	}
}
