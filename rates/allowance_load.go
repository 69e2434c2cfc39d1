package rates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The most times that a rollover counts, and months that one is a newcomer.
const (
	mostRollover    = 1200
	mostFirstMonths = 1200
)

func (l *reductionsLoader) allowances(n *yaml.Node) {
	for i, item := range l.ItemsOrNone(n, "allowances") {
		path := fmt.Sprintf("allowances[%d]", i)
		a, seen := &Allowance{}, map[string]*yaml.Node{}
		fields := append(slices.Clone(scopeFields), "units", "amount", "per", "shared_by", "rollover", "prorate", "first_months")
		for _, f := range l.Fields(item, path, fields...) {
			seen[f.Key] = f.Value
			at := path + "." + f.Key
			switch f.Key {
			case "rollover":
				a.Rollover = l.rollover(f.Value, at)
			case "prorate":
				a.Prorate = GrantShare(l.oneOf(f.Value, at, grantShares[:]))
			case "first_months":
				a.FirstMonths = l.count(f.Value, at, mostFirstMonths)
			default:
				l.scope(&a.ReductionScope, f, path)
			}
		}
		l.checkScope(&a.ReductionScope, item, path)
		l.granted(a, item, seen, path)
		l.reductions.Allowances = append(l.reductions.Allowances, a)
	}
}

// granted reads what an allowance gives, and sees to it that there is one
// reading of it.
func (l *reductionsLoader) granted(a *Allowance, item *yaml.Node, seen map[string]*yaml.Node, path string) {
	const how = `write units: "10000" of one meter, or amount: "1000.00" of money`
	key := "amount"
	if seen["units"] != nil {
		key = "units"
	}
	l.need(item, seen[key], path, "units", how)
	if seen["units"] != nil && seen["amount"] != nil {
		l.Fault(seen["amount"], path+".amount", "stands beside units:", how)
	}
	a.Limit = l.limit(seen, path, key)
	if key == "units" {
		if meters := a.Meters; len(meters) == 1 && !strings.ContainsAny(meters[0], "!*?[") {
			a.Limit.Meter = meters[0]
		} else {
			l.Fault(item, path+".meter", "names not one meter, and units are of one", "name it in full, or grant money: "+how)
		}
	}
	fault := func(key, message, remedy string) {
		if seen[key] != nil {
			l.Fault(seen[key], path+"."+key, message, remedy)
		}
	}
	if a.Limit.Per == PerOnce {
		fault("prorate", "is about what is granted again and again, and this is granted once", "")
		fault("rollover", "is about what is granted again and again, and this is granted once", "")
	} else if a.Rollover != 0 && a.From.IsZero() {
		fault("rollover", "needs from:, the day from which grants add up", "add from: 2026-01-01")
	}
}

// rollover reads none, a number of times, or unlimited.
func (l *reductionsLoader) rollover(n *yaml.Node, path string) int {
	switch word, _ := l.Text(n, path); word {
	case "none":
		return 0
	case "unlimited":
		return Unlimited
	}
	return l.count(n, path, mostRollover)
}

// count reads a whole number from 1 to most.
func (l *reductionsLoader) count(n *yaml.Node, path string, most int) int {
	text, ok := l.Text(n, path)
	if !ok {
		return 0
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 || count > most {
		l.Fault(n, path, fmt.Sprintf("%q is not a whole number from 1 to %d", text, most), "")
		return 0
	}
	return count
}
