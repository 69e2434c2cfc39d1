package rates

import (
	"fmt"
	"slices"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
	"hpcbill/rates/yamldoc"

	"go.yaml.in/yaml/v3"
)

// scopeFields are the keys that every rule of reductions has.
var scopeFields = []string{"name", "reason", "group", "class", "department", "pi", "meter", "cluster", "from", "until"}

func (l *reductionsLoader) discounts(n *yaml.Node) {
	for i, item := range l.ItemsOrNone(n, "discounts") {
		path := fmt.Sprintf("discounts[%d]", i)
		d, seen := &Discount{}, map[string]*yaml.Node{}
		for _, f := range l.Fields(item, path, append(slices.Clone(scopeFields), "percent", "up_to", "per", "shared_by")...) {
			seen[f.Key] = f.Value
			if f.Key == "percent" {
				d.Percent = l.percent(f.Value, path+".percent")
			} else {
				l.scope(&d.ReductionScope, f, path)
			}
		}
		l.checkScope(&d.ReductionScope, item, path)
		l.need(item, seen["percent"], path, "percent", `write  {name: University rate, class: internal, percent: "30"}`)
		if seen["up_to"] != nil {
			limit := l.limit(seen, path, "up_to")
			d.Limit = &limit
		} else {
			for _, key := range []string{"per", "shared_by"} {
				if seen[key] != nil {
					l.Fault(seen[key], path+"."+key, "is about a limit, and there is none", `add up_to: "100.00", or leave it out`)
				}
			}
		}
		l.reductions.Discounts = append(l.reductions.Discounts, d)
	}
}

func (l *reductionsLoader) caps(n *yaml.Node) {
	for i, item := range l.ItemsOrNone(n, "caps") {
		path := fmt.Sprintf("caps[%d]", i)
		c, seen := &Cap{}, map[string]*yaml.Node{}
		for _, f := range l.Fields(item, path, append(slices.Clone(scopeFields), "amount", "per", "shared_by")...) {
			seen[f.Key] = f.Value
			l.scope(&c.ReductionScope, f, path)
		}
		l.checkScope(&c.ReductionScope, item, path)
		l.need(item, seen["amount"], path, "amount", `write  {name: Most a month, class: internal, amount: "500.00", per: month}`)
		c.Limit = l.limit(seen, path, "amount")
		l.reductions.Caps = append(l.reductions.Caps, c)
	}
}

// need sees to it that a rule has a key.
func (l *reductionsLoader) need(item, value *yaml.Node, path, key, remedy string) {
	if value == nil && item.Kind == yaml.MappingNode {
		l.Fault(item, path+"."+key, "is missing", remedy)
	}
}

// scope reads a key that every rule has; others are passed over.
func (l *reductionsLoader) scope(s *ReductionScope, f yamldoc.Field, path string) {
	at := path + "." + f.Key
	switch f.Key {
	case "name":
		s.Name = l.line(f.Value, at)
	case "reason":
		s.Reason = l.line(f.Value, at)
	case "group":
		s.Groups = l.names(f.Value, at)
	case "class":
		s.Classes = l.names(f.Value, at)
	case "department":
		s.Departments = l.names(f.Value, at)
	case "pi":
		s.PIs = l.names(f.Value, at)
	case "meter":
		s.Meters = l.names(f.Value, at)
	case "cluster":
		s.Clusters = l.names(f.Value, at)
	case "from":
		s.From = l.date(f.Value, at)
	case "until":
		s.Until = l.date(f.Value, at)
	}
}

func (l *reductionsLoader) names(n *yaml.Node, path string) Names {
	names := Names(l.patterns(n, path))
	for _, name := range names {
		if name == "!" {
			l.Fault(n, path, "names nothing after the !", "")
		}
	}
	return names
}

// checkScope sees to it that a rule has a name of its own and days on which it
// holds.
func (l *reductionsLoader) checkScope(s *ReductionScope, n *yaml.Node, path string) {
	s.Line, s.Column = n.Line, n.Column
	l.checkSpan(n, path, s.From, s.Until)
	if n.Kind != yaml.MappingNode {
		return
	}
	first, taken := l.nameLine[s.Name]
	switch {
	case s.Name == "":
		l.Fault(n, path+".name", "is missing", "it is printed on every invoice that the rule reduces")
	case taken:
		l.Fault(n, path+".name", fmt.Sprintf("%q is already the name of the rule on line %d", s.Name, first), "what a rule has taken is kept by its name: give each its own")
	default:
		l.nameLine[s.Name] = n.Line
	}
}

// limit reads what a rule takes or charges at most: the key amountKey, per: and
// shared_by:.
func (l *reductionsLoader) limit(seen map[string]*yaml.Node, path, amountKey string) PoolLimit {
	limit := PoolLimit{Per: PerMonth, SharedBy: ByGroup}
	if n := seen[amountKey]; n != nil {
		limit.Amount = l.most(n, path+"."+amountKey)
	}
	if n := seen["per"]; n != nil {
		limit.Per = Per(l.oneOf(n, path+".per", limitPers[:]))
	}
	if n := seen["shared_by"]; n != nil {
		limit.SharedBy = Sharing(l.oneOf(n, path+".shared_by", limitSharings[:]))
	}
	return limit
}

// most reads an amount of money or units that may be 0.
func (l *reductionsLoader) most(n *yaml.Node, path string) money.Exact {
	amount, text, ok := decimalAt(l.File, n, path, `"500.00"`)
	if ok && amount.Sign() < 0 {
		l.Fault(n, path, fmt.Sprintf("%s is less than nothing", text), "")
	}
	return amount
}

// oneOf reads one of some words and gives its place among them.
func (l *reductionsLoader) oneOf(n *yaml.Node, path string, words []string) int {
	word, ok := l.Text(n, path)
	i := slices.Index(words, word)
	if ok && i < 0 {
		l.Fault(n, path, fmt.Sprintf("%q is none of the choices", word), nearest.Remedy(word, words))
	}
	return max(i, 0)
}
