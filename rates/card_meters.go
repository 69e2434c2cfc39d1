package rates

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
	"hpcbill/rates/yamldoc"
)

// meterNames makes the meters known before anything uses them.
func (v *versionLoader) meterNames(f yamldoc.Field, path string) {
	for _, e := range v.Entries(f.Value, path, "a meter with its unit and price") {
		if !identifierForm.MatchString(e.Key) {
			v.Fault(e.KeyNode, path+"."+e.Key, fmt.Sprintf("%q is not the name of a meter", e.Key), "begin with a small letter; then small letters, digits and _")
		}
		m := &Meter{Name: e.Key, Line: e.KeyNode.Line, Column: e.KeyNode.Column}
		v.version.Meters[e.Key] = m
		v.meterOrder = append(v.meterOrder, e.Key)
		v.meterAt[m] = e.KeyNode
	}
}

// meters reads units and prices, which may ask for the hardware.
func (v *versionLoader) meters(f yamldoc.Field, path string) {
	if f.Value.Kind != yaml.MappingNode {
		return // meterNames said so
	}
	seen := len(v.Faults)
	entries := v.Entries(f.Value, path, "")
	v.Faults = v.Faults[:seen] // meterNames reported the repeated keys
	for _, e := range entries {
		v.meter(v.version.Meters[e.Key], e, path+"."+e.Key)
	}
	for _, m := range v.version.Meters {
		if m.Tiers == nil || m.Tiers.Window != OfFiscalYear {
			continue
		}
		counted := m
		if other := v.version.Meters[m.Tiers.Counter]; other != nil {
			counted = other
		}
		counted.Counted = true
	}
}

func (v *versionLoader) meter(m *Meter, e yamldoc.Field, path string) {
	fields := v.Fields(e.Value, path, meterKeys.names()...)
	if fields == nil {
		return
	}
	by := ""
	var price, priceBy *yaml.Node
	for _, f := range fields {
		at := path + "." + f.Key
		switch f.Key {
		case "unit":
			m.Unit = v.label(f.Value, at)
		case "price":
			price = f.Value
		case "price_by":
			by, _ = v.Text(f.Value, at)
			priceBy = f.Value
		case "tiers":
			m.Tiers = v.tiers(f.Value, at)
		case "note":
			v.Text(f.Value, at)
		}
	}
	v.require(e.KeyNode, path, fields, "unit")
	tiered := slices.ContainsFunc(fields, func(f yamldoc.Field) bool { return f.Key == "tiers" })
	switch {
	case tiered && price != nil:
		v.Fault(price, path+".price", "the tiers give the price", "remove one of the two; a class with a price of its own needs a meter of its own")
		return
	case tiered:
		return
	case price == nil:
		v.Fault(e.KeyNode, path, "has no price", "add  price: 0  if it is counted and costs nothing")
		return
	}
	m.Price = v.price(price, by, priceBy, path)
}

// price reads one number, a table by the values of a field, or a list of
// matches.
func (v *versionLoader) price(n *yaml.Node, by string, byNode *yaml.Node, path string) Price {
	at := path + ".price"
	switch n.Kind {
	case yaml.MappingNode:
		return v.priceTable(n, by, byNode, path)
	case yaml.SequenceNode:
		if byNode != nil {
			v.Fault(byNode, path+".price_by", "goes with a table of values, not with a list of matches", "remove price_by")
		}
		return v.priceList(n, at)
	}
	if byNode != nil {
		v.Fault(byNode, path+".price_by", "has no table to choose from", "write price: {value: number, …}")
	}
	one, _ := v.decimal(n, at)
	return Price{One: one}
}

func (v *versionLoader) priceTable(n *yaml.Node, by string, byNode *yaml.Node, path string) Price {
	if by == "" {
		by = "class"
	}
	field, ok := findField(matchFields(), by)
	if !ok {
		v.Fault(byNode, path+".price_by", fmt.Sprintf("unknown field %q", by), nearest.Remedy(by, fieldNames(matchFields())))
		return Price{}
	}
	p := Price{By: by, Table: v.table(n, field, path+".price", v.decimal)}
	for i := range p.Table {
		if e := &p.Table[i]; field.kind == gpuTypeKind && e.Value == rowLabel("*") && e.Match.takesAny() {
			e.Match = Match{} // all the rest, jobs without GPUs too
		}
	}
	return p
}

// table reads the rows of a price or of a factor: values of a field.
func (v *versionLoader) table(n *yaml.Node, field matchField, path string, number func(*yaml.Node, string) (money.Exact, bool)) []PriceEntry {
	var table []PriceEntry
	entries := v.Entries(n, path, "a value of "+field.name+" and its number")
	for _, e := range entries {
		at := path + "." + e.Key
		row := PriceEntry{Value: rowLabel(e.Key), Line: e.KeyNode.Line, Column: e.KeyNode.Column}
		ok := true
		if e.Key != "*" || field.isText() { // all the rest, of numbers and dates too
			var c condition
			c, ok = v.condition(field, []*yaml.Node{e.KeyNode}, at)
			row.Match.conditions = []condition{c}
		}
		x, okNumber := number(e.Value, at)
		if !ok || !okNumber {
			continue
		}
		v.checkNodeType(e.KeyNode, at, field, e.Key)
		row.Price = x
		table = append(table, row)
	}
	if len(entries) == 0 && n.Kind == yaml.MappingNode {
		v.Fault(n, path, "is an empty table", "write  value: number  pairs")
	}
	v.checkReached(table, path)
	return table
}

// rowLabel is what a price's row is called where it is printed.
func rowLabel(value string) string {
	if value == "*" {
		return "other"
	}
	return value
}

func (v *versionLoader) checkNodeType(n *yaml.Node, path string, field matchField, value string) {
	if field.kind != textKind || field.text != NodeType || isGlob(value) || strings.HasPrefix(value, "!") {
		return
	}
	types := []string{}
	for _, h := range v.version.Hardware {
		types = append(types, h.NodeType)
	}
	if !slices.Contains(types, value) {
		v.Fault(n, path, fmt.Sprintf("no hardware: entry has the type %s", value), nearest.Remedy(value, types))
	}
}

func (v *versionLoader) priceList(n *yaml.Node, path string) Price {
	var p Price
	for i, item := range v.Items(n, path) {
		at := fmt.Sprintf("%s[%d]", path, i)
		before := len(v.Faults)
		e := PriceEntry{Line: item.Line, Column: item.Column}
		fields := v.Fields(item, at, priceKeys.names()...)
		for _, f := range fields {
			switch f.Key {
			case "match":
				e.Match = v.match(f.Value, at+".match", matchFields())
			case "price":
				e.Price, _ = v.decimal(f.Value, at+".price")
			case "label":
				e.Value = v.label(f.Value, at+".label")
			}
		}
		if fields != nil {
			v.require(item, at, fields, "price", "label")
		}
		e.Match.faulty = len(v.Faults) > before // what was meant is not known
		p.Table = append(p.Table, e)
	}
	if len(p.Table) == 0 {
		v.Fault(n, path, "is an empty list", "write  - {match: {…}, label: …, price: …}")
	}
	v.checkReached(p.Table, path)
	return p
}

// written is what the card calls a row.
func (e *PriceEntry) written() string {
	if e.Value == rowLabel("*") && e.Match.takesAny() {
		return `"*"`
	}
	return e.Value
}

// takesAny reports whether a match is that of a row "*".
func (m Match) takesAny() bool {
	return m.IsCatchAll() || len(m.conditions) == 1 && slices.Equal(m.conditions[0].wanted, []pattern{{"*", true}})
}

// checkReached reports the rows that an earlier row hides.
func (v *versionLoader) checkReached(table []PriceEntry, path string) {
	var before orderedMatches
	for _, later := range table {
		if at := before.covering(later.Match); at >= 0 {
			earlier := table[at]
			v.Fault(nodeAt(later.Line, later.Column), path, fmt.Sprintf("%s is never reached: %s on line %d comes first and matches all of it", later.written(), earlier.written(), earlier.Line), "put the narrower one first")
		}
		before.add(later.Match)
	}
}
