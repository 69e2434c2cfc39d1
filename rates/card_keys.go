package rates

import (
	"slices"
	"strings"
)

// mapping is what a mapping of a card may hold. The loader refuses any other
// key, and the JSON Schema is made from the same list.
type mapping struct {
	name  string // of the definition in the schema
	keys  []key
	oneOf []string // keys of which one must be there
}

// key is one key of a mapping.
type key struct {
	name     string
	means    string
	is       shape
	required bool
}

// names lists the keys, in the order in which they are explained.
func (m mapping) names() []string {
	names := make([]string, len(m.keys))
	for i, k := range m.keys {
		names[i] = k.name
	}
	return names
}

// The mappings of a card.
var (
	cardKeys = mapping{name: "card", keys: []key{
		{"card", "the card's name", word, true},
		{"currency", "the ISO 4217 code of the prices", shape{"type": "string", "pattern": "^[A-Z]{3}$"}, true},
		{"source", "where the policy is published", text, false},
		{"note", "a note for people", text, false},
		{"bill_by", "where a job belongs: its end (the default), its start, or its usage, cut at every boundary", choice(billByNames), false},
		{"versions", "the rules, each from a day on", listOf(ref("version")), true},
	}}
	versionKeys = mapping{name: "version", keys: []key{
		{"from", "the first day on which the version holds", date, true},
		{"until", "the first day on which it no longer holds", date, false},
		{"note", "a note for people", text, false},
		{"bill_by", "instead of the card's bill_by", choice(billByNames), false},
		{"hardware", "node types and their facts; the first that matches a job gives its node_type", mapOf(ref("hardware")), false},
		{"let", "figures of the card, each a formula that may use those above it, or hours of the week: of the hours run, those that lie in them", mapOf(oneOf(formulaText, ref("clock"))).named(identifierForm.String()), false},
		{"meters", "what is counted, with unit and price", mapOf(ref("meter")).named(identifierForm.String()), true},
		{"factor", "factors of every rule", oneOrMany(ref("factor")), false},
		{"states", "what becomes of a job by its end state; a state that is not listed holds the job", ref("states"), false},
		{"rules", "what a job is charged; the first that matches decides", listOf(ref("rule")), false},
		{"storage", "what a holding is charged; the first that matches decides", listOf(ref("storage_rule")), false},
		{"limits", "what jobs may not go beyond, for report policy; they charge nothing, and all that match hold", listOf(ref("limit")), false},
	}}
	limitKeys = mapping{name: "limit", keys: []key{
		{"match", "the jobs that the limit is for; all where not written", ref("hardware_match"), false},
		{"time_limit_h", "the longest time limit of a job, hours", decimalText, false},
		{"gpus_per_job", "the most GPUs of a job", decimalText, false},
		{"cpus_per_gpu", "the most CPUs of a job for each of its GPUs", decimalText, false},
		{"mem_gib_per_gpu", "the most memory of a job for each of its GPUs, GiB", decimalText, false},
		{"running_per_user", "the most jobs of a user that run at the same time", decimalText, false},
		{"submitted_per_user", "the most jobs of a user that wait or run at the same time", decimalText, false},
		{"note", "a note for people", text, false},
	}}
	hardwareKeys = mapping{name: "hardware", keys: []key{
		{"type", "what match and price_by call node_type; the entry's name where not written", text, false},
		{"match", "the jobs that ran on it", ref("hardware_match"), false},
		{"cores", "cores of one node", decimalText, false},
		{"mem_gib", "memory of one node, GiB", decimalText, false},
		{"gpus", "GPUs of one node", decimalText, false},
		{"threads", "hardware threads of one core", decimalText, false},
		{"mem_per_core_gib", "memory that one core carries, GiB; mem_gib/cores where not written", decimalText, false},
		{"tres_weights", "TRESBillingWeights as slurm.conf has it, for slurm_billing; \"\" where it has none: Slurm then bills the allocated CPUs", text, false},
		{"priority_flags", "PriorityFlags as slurm.conf has it: MAX_TRES and MAX_TRES_GRES change slurm_billing", oneOrMany(text), false},
		{"note", "a note for people", text, false},
	}}
	meterKeys = mapping{name: "meter", keys: []key{
		{"unit", "the unit as printed", text, true},
		{"price", "the price of one unit: a number, a table by price_by, or a list of matches", oneOf(decimalText, mapOf(decimalText), listOf(ref("price"))), false},
		{"price_by", "the field whose value picks the price; class where not written", choice(fieldNames(matchFields())), false},
		{"tiers", "instead of price: prices by how much was used", ref("tiers"), false},
		{"note", "a note for people", text, false},
	}, oneOf: []string{"price", "tiers"}}
	priceKeys = mapping{name: "price", keys: []key{
		{"match", "for whom the price is", ref("any_match"), false},
		{"price", "the price of one unit", decimalText, true},
		{"label", "what the price is called on an invoice", text, true},
	}}
	tiersKeys = mapping{name: "tiers", keys: []key{
		{"mode", "graduated: each unit by its step; volume: the period's units by the step that they reach; bracket: by the step at which the period begins", choice(tierModes), true},
		{"counter", "what is counted: units where not written, money, or another meter of the card", text, false},
		{"window", "over what it is counted: a month, a fiscal year, or one job", choice(tierWindows), true},
		{"steps", "the prices, in rising order", listOf(ref("tier")), true},
	}}
	tierStepKeys = mapping{name: "tier", keys: []key{
		{"above", "the count above which the price holds", decimalText, true},
		{"price", "the price of one unit", decimalText, true},
	}}
	ruleKeys = mapping{name: "rule", keys: []key{
		{"name", "the rule's name, by which charges are explained", text, true},
		{"match", "the jobs that the rule is for; all where not written", ref("match"), false},
		{"charge", "the meters and their formulas", mapOf(oneOf(formulaText, ref("charge"))), false},
		{"exclude", "why the jobs are not billable", text, false},
		{"waive", "why the jobs are priced and then forgiven", text, false},
		{"factor", "factors of the rule", oneOrMany(ref("factor")), false},
		{"states", "instead of the version's states", ref("states"), false},
		{"note", "a note for people", text, false},
	}}
	chargeKeys = mapping{name: "charge", keys: []key{
		{"rate", "units an hour", formulaText, false},
		{"duration", "the hours that count; elapsed_h where not written", formulaText, false},
		{"units", "the units; rate*factor*duration where not written", formulaText, false},
		{"amount", "the money; units*price where not written", formulaText, false},
		{"per", "job: the rate is of the whole job, not of an hour; day, of storage: the rate is of each day, and the units are their sum", choice(slices.Concat(perNames, storagePerNames)), false},
		{"factor", "factors of this charge", oneOrMany(ref("factor")), false},
	}}
	storageKeys = mapping{name: "storage_rule", keys: []key{
		{"name", "the rule's name", text, true},
		{"match", "the holdings that the rule is for", ref("storage_match"), false},
		{"charge", "the meters and their formulas", mapOf(oneOf(formulaText, ref("charge"))), false},
		{"exclude", "why the holdings are not billable", text, false},
		{"prorate", "how a part of a month counts: by days (the default), as a whole month at its largest quota, or as a whole month at the quota of the 15th", choice(prorateNames), false},
		{"snapshot", "the day of the month whose quota and use stand for all of it", shape{"type": []any{"integer", "string"}, "minimum": 1, "maximum": 31, "pattern": "^([1-9]|[12][0-9]|3[01])$"}, false},
		{"factor", "not for storage: write it into the formula", shape{"not": shape{}}, false},
		{"note", "a note for people", text, false},
	}}
	statesKeys = mapping{name: "states", keys: []key{
		{"charge", "the states that are charged", oneOrMany(text), false},
		{"exclude", "the states that are not billable, each with the reason", mapOf(text), false},
		{"waive", "the states that are priced and then forgiven, each with the reason", mapOf(text), false},
	}}
)

// perNames are what a rate of jobs is of, storagePerNames what one of holdings
// is.
var (
	perNames        = []string{"hour", "job"}
	storagePerNames = []string{"month", "day"}
)

func fieldNames(fields []matchField) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// mappings lists all of them, with those that match: and factor: make of the
// fields.
func mappings() []mapping {
	matching := func(name string, fields []matchField, is func(matchField) shape) mapping {
		m := mapping{name: name}
		for _, f := range fields {
			m.keys = append(m.keys, key{name: f.name, means: f.means, is: is(f)})
		}
		return m
	}
	factor := matching("factor", jobFields(), func(matchField) shape { return mapOf(factorText) })
	factor.keys = append(factor.keys, key{name: "else", means: "the factor of what is not listed: 1 where not written, or hold", is: oneOf(factorText, choice([]string{"hold"}))})
	return []mapping{
		cardKeys, versionKeys, hardwareKeys, meterKeys, priceKeys, tiersKeys, tierStepKeys, ruleKeys, chargeKeys, storageKeys, statesKeys, limitKeys, factor,
		matching("match", jobFields(), matchFieldShape), matching("hardware_match", hardwareFields(), matchFieldShape),
		matching("clock", clockFields(), matchFieldShape), matching("storage_match", storageFields(), matchFieldShape), matching("any_match", matchFields(), matchFieldShape),
	}
}

// matchFieldShape is what a field may be asked: a value, a glob, a range or a
// comparison, or several of which one must hold.
func matchFieldShape(f matchField) shape {
	switch f.kind {
	case textKind, gpuTypeKind, nodeNameKind:
		return oneOrMany(shape{"type": []any{"string", "number", "boolean"}})
	case dateKind:
		return oneOrMany(shape{"type": "string"})
	case hourKind:
		return oneOrMany(shape{"type": []any{"integer", "string"}, "minimum": 0, "maximum": 23, "pattern": alternativePattern("0?[0-9]|1[0-9]|2[0-3]")})
	case weekdayKind:
		return oneOrMany(shape{"type": "string", "pattern": "^" + weekdayPattern + `(\s*\.\.\s*` + weekdayPattern + ")?$"})
	}
	return oneOrMany(shape{"type": []any{"number", "string"}, "minimum": 0, "pattern": alternativePattern(quotientPattern)})
}

// alternativePattern is that of numbers, ranges and comparisons of them, joined
// by &&.
func alternativePattern(number string) string {
	one := `\s*((<|<=|>|>=|!|!=|=|==)?\s*(` + number + `)|(` + number + `)\s*\.\.\s*(` + number + `))\s*`
	return "^" + one + "(&&" + one + ")*$"
}

// A decimal, and a quotient of two.
const (
	decimalPattern  = `\d+(\.\d+)?([eE][+-]?\d{1,2})?`
	quotientPattern = decimalPattern + `(\s*/\s*` + decimalPattern + `)?`
)

// weekdayPattern has both cases spelled out: the regular expressions of JSON
// Schema know no flags.
const weekdayPattern = "([Mm][Oo][Nn]|[Tt][Uu][Ee]|[Ww][Ee][Dd]|[Tt][Hh][Uu]|[Ff][Rr][Ii]|[Ss][Aa][Tt]|[Ss][Uu][Nn])[A-Za-z]*"

// shape is what a value may be, as JSON Schema says it.
type shape map[string]any

var (
	text        = shape{"type": []any{"string", "number", "boolean"}}
	word        = shape{"type": "string", "pattern": wordForm.String()}
	date        = shape{"type": "string", "pattern": `^\d{4}-\d{2}-\d{2}$`}
	decimalText = shape{"type": []any{"number", "string"}, "pattern": "^" + decimalPattern + "$", "minimum": 0}
	factorText  = shape{"type": []any{"number", "string"}, "pattern": "^" + quotientPattern + "$", "minimum": 0}
	formulaText = shape{"type": []any{"string", "number"}, "description": "a formula: numbers, names, + - * /, comparisons, && || ! and functions"}
)

func choice(words []string) shape {
	all := make([]any, len(words))
	for i, w := range words {
		all[i] = w
	}
	return shape{"enum": all}
}

func ref(name string) shape { return shape{"$ref": "#/$defs/" + name} }
func listOf(s shape) shape  { return shape{"type": "array", "items": s, "minItems": 1} }
func mapOf(s shape) shape {
	return shape{"type": "object", "additionalProperties": s, "minProperties": 1}
}

// named says how the keys of a map may be called.
func (s shape) named(pattern string) shape {
	s["propertyNames"] = shape{"pattern": pattern}
	return s
}

func oneOrMany(s shape) shape     { return oneOf(s, listOf(s)) }
func oneOf(shapes ...shape) shape { return shape{"anyOf": shapes} }
func (s shape) means(m string) shape {
	described := shape{"description": strings.ToUpper(m[:1]) + m[1:]}
	for k, v := range s {
		described[k] = v
	}
	described["description"] = strings.ToUpper(m[:1]) + m[1:]
	return described
}
