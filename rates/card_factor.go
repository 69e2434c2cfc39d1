package rates

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/money"
	"hpcbill/rates/yamldoc"
)

// readFactors reads a factor chain.
func (v *versionLoader) readFactors(n *yaml.Node, path string) []*Factor {
	var factors []*Factor
	for i, item := range v.OneOrMany(n, path) {
		at := fmt.Sprintf("%s[%d]", path, i)
		if n.Kind == yaml.MappingNode {
			at = path
		}
		factors = append(factors, v.readFactor(item, at))
	}
	return factors
}

// readFactor reads {FIELD: {VALUE: NUMBER, …}, else: 1|hold}.
func (v *versionLoader) readFactor(n *yaml.Node, path string) *Factor {
	factor := &Factor{Else: money.Int(1), Line: n.Line}
	names := append([]string{"else"}, fieldNames(jobFields())...)
	var table *yamldoc.Field
	fields := v.Fields(n, path, names...)
	for i, f := range fields {
		switch {
		case f.Key == "else":
			v.readElse(factor, f.Value, path+".else")
		case table != nil:
			v.Fault(f.KeyNode, path+"."+f.Key, "a second field in one factor", "write one list entry for each field: they are multiplied")
		default:
			table = &fields[i]
		}
	}
	if table == nil {
		if fields != nil {
			v.Fault(n, path, "names no field", "write  - {qos: {high: 2, low: 0.5}}")
		}
		return factor
	}
	field, _ := findField(jobFields(), table.Key)
	factor.Field = table.Key
	factor.Table = v.table(table.Value, field, path+"."+table.Key, v.factorNumber)
	return factor
}

func (v *versionLoader) readElse(factor *Factor, n *yaml.Node, path string) {
	switch n.Value {
	case "hold":
		factor.ElseHold = true
		return
	case "held", "holds", "Hold", "error", "fault":
		v.Fault(n, path, fmt.Sprintf("unknown choice %q", n.Value), "write hold, or a number")
		return
	}
	if x, ok := v.factorNumber(n, path); ok {
		factor.Else = x
	}
}
