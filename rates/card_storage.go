package rates

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
	"hpcbill/rates/yamldoc"
)

var prorateNames = []string{"day", "none"}

func (v *versionLoader) storage(f yamldoc.Field, path string) {
	named := map[string]int{}
	for i, item := range v.Items(f.Value, path) {
		at := fmt.Sprintf("%s[%d]", path, i)
		r := v.storageRule(item, at)
		if first, twice := named[r.Name]; twice && r.Name != "" {
			v.Fault(item, at+".name", fmt.Sprintf("a storage rule on line %d is called %s too", first, r.Name), "give each rule a name of its own")
		}
		named[r.Name] = r.Line
		for _, earlier := range v.version.Storage {
			if earlier.Match.covers(r.Match) {
				v.Fault(item, at, fmt.Sprintf("%s can never match: %s on line %d comes first and matches all of it", r.Name, earlier.Name, earlier.Line), "put the narrower rule first")
				break
			}
		}
		v.version.Storage = append(v.version.Storage, r)
	}
}

func (v *versionLoader) storageRule(n *yaml.Node, path string) *StorageRule {
	r := &StorageRule{Line: n.Line}
	fields := v.Fields(n, path, storageKeys.names()...)
	if fields == nil {
		return r
	}
	var charge *yamldoc.Field
	for i, f := range fields {
		at := path + "." + f.Key
		switch f.Key {
		case "name":
			r.Name, _ = v.Text(f.Value, at)
		case "match":
			r.Match = v.match(f.Value, at, storageFields())
		case "charge":
			charge = &fields[i]
		case "exclude":
			r.Exclude, _ = v.Text(f.Value, at)
		case "prorate":
			r.Prorate = Prorate(v.choice(f.Value, at, prorateNames))
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
	if charge != nil {
		r.Charges = v.charges(charge.Value, path+".charge", formula.OfHolding, nil)
	}
	return r
}
