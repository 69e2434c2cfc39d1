package rates

import "encoding/json"

// Schema is the JSON Schema of a rate card, for editors: what the loader
// allows, made from the same lists. It tells shapes and names; what formulas
// say, and how the parts go together, only LoadCard checks.
func Schema() []byte {
	definitions := shape{}
	for _, m := range mappings() {
		definitions[m.name] = m.schema()
	}
	root := shape{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "hpcbill rate card",
		"$ref":    "#/$defs/card",
		"$defs":   definitions,
	}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("BUG: the schema of rate cards cannot be written: " + err.Error())
	}
	return append(out, '\n')
}

func (m mapping) schema() shape {
	properties, required := shape{}, []string{}
	for _, k := range m.keys {
		properties[k.name] = k.is.means(k.means)
		if k.required {
			required = append(required, k.name)
		}
	}
	s := shape{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	var either []shape
	for _, name := range m.oneOf {
		either = append(either, shape{"required": []string{name}})
	}
	if either != nil {
		s["anyOf"] = either
	}
	return s
}
