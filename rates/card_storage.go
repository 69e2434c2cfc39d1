package rates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
	"hpcbill/rates/yamldoc"
)

var prorateNames = []string{"day", "none", "half_month"}

// HalfMonth is the last day of a month on which a change counts for all of it
// under ProrateHalfMonth.
const HalfMonth = 15

func (v *versionLoader) storage(f yamldoc.Field, path string) {
	named := map[string]int{}
	var before orderedMatches
	for i, item := range v.Items(f.Value, path) {
		at := fmt.Sprintf("%s[%d]", path, i)
		r := v.storageRule(item, at)
		if first, twice := named[r.Name]; twice && r.Name != "" {
			v.Fault(item, at+".name", fmt.Sprintf("a storage rule on line %d is called %s too", first, r.Name), "give each rule a name of its own")
		}
		named[r.Name] = r.Line
		if hiding := before.hiding(r.Match, func(at int) (string, int) { return v.version.Storage[at].Name, v.version.Storage[at].Line }); hiding != "" {
			v.Fault(item, at, fmt.Sprintf("%s can never match: %s of it", r.Name, hiding), "put the narrower rule first")
		}
		before.add(r.Match)
		v.version.Storage = append(v.version.Storage, r)
	}
}

func (v *versionLoader) storageRule(n *yaml.Node, path string) *StorageRule {
	r := &StorageRule{Line: n.Line}
	fields := v.Fields(n, path, storageKeys.names()...)
	if fields == nil {
		return r
	}
	var charge, prorate, snapshot *yamldoc.Field
	for i, f := range fields {
		at := path + "." + f.Key
		switch f.Key {
		case "name":
			r.Name = v.label(f.Value, at)
		case "match":
			r.Match = v.match(f.Value, at, storageFields())
		case "charge":
			charge = &fields[i]
		case "exclude":
			r.Exclude = v.reason(f.Value, at)
		case "prorate":
			r.Prorate, prorate = Prorate(v.choice(f.Value, at, prorateNames)), &fields[i]
		case "snapshot":
			r.Snapshot, snapshot = v.dayOfMonth(f.Value, at), &fields[i]
		case "factor":
			v.Fault(f.KeyNode, at, "storage has no factors", "write the factor into the formula: quota_tb*1.5")
		case "note":
			v.Text(f.Value, at)
		}
	}
	v.require(n, path, fields, "name")
	switch {
	case charge != nil && r.Exclude != "":
		v.Fault(charge.KeyNode, path+".charge", "a rule that excludes storage cannot charge it", "keep one of the two")
	case charge == nil && r.Exclude == "":
		v.Fault(n, path, "neither charges nor excludes", "add  charge: {METER: FORMULA}  or  exclude: REASON")
	}
	if snapshot != nil && prorate != nil {
		v.Fault(prorate.KeyNode, path+".prorate", "a snapshot stands for the whole month", "keep one of snapshot and prorate")
	}
	if charge != nil {
		r.Charges = v.charges(charge.Value, path+".charge", formula.OfHolding, nil)
	}
	for _, c := range r.Charges {
		if c.Rate != nil && c.Units == nil && r.Prorate == ProrateDay && snapshot == nil && c.Rate.DependsOn(formula.Days) {
			v.Fault(nodeAt(c.Line, c.Column), path+".charge."+c.Meter.Name, "counts days, and prorate: day multiplies by days/month_days", "leave days out; or write it as units:, which are not prorated")
		}
		if c.PerDay && (prorate != nil || snapshot != nil) {
			v.Fault(nodeAt(c.Line, c.Column), path+".charge."+c.Meter.Name, "is charged per day, and the rule counts by the month", "remove prorate and snapshot from the rule, or per: day")
		}
	}
	return r
}

// dayOfMonth reads a day from 1 to 31.
func (v *versionLoader) dayOfMonth(n *yaml.Node, path string) int {
	text, ok := v.Text(n, path)
	if !ok {
		return 0
	}
	day, err := strconv.Atoi(text)
	if err != nil || day < 1 || day > 31 {
		v.Fault(n, path, fmt.Sprintf("%q is not a day of the month", text), "write a number from 1 to 31; a shorter month has its last day instead")
		return 0
	}
	return day
}

// storageUnits warns of a meter that says TB and is counted in TiB, or the
// other way round.
func (c *chargeLoader) storageUnits(n *yaml.Node, path string, f *formula.Formula) {
	counted, other := "TB", "TiB"
	if f.Dimension().Is("TiB") {
		counted, other = "TiB", "TB"
	} else if !f.Dimension().Is("TB") {
		return
	}
	words := strings.FieldsFunc(c.charge.Meter.Unit, func(r rune) bool { return !unicode.IsLetter(r) })
	if slices.Contains(words, other) {
		c.warn(n, path, fmt.Sprintf("counts %s in %s, whose unit is %s", counted, c.charge.Meter.Name, c.charge.Meter.Unit), fmt.Sprintf("use the figures in %s, or name the unit after what is counted", other))
	}
}
