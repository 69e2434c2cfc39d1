package rates

import (
	"fmt"
	"sort"
	"strings"

	"hpcbill/rates/money"

	"go.yaml.in/yaml/v3"
)

// Allocation is a prepaid balance of one meter's units with an end date.
type Allocation struct {
	Name        string
	Meter       string
	Units       money.Exact // when it begins
	From, Until Date        // half-open
	Overdraft   Overdraft
	Movements   []Movement // deposits and refunds, by day
	Line        int
}

// Movement is units that are added to an allocation on a day, or taken out of
// it. They count from the beginning of that day.
type Movement struct {
	On        Date
	Units     money.Exact // > 0 of a deposit, < 0 of a refund
	Reference string
	Line      int
}

// Overdraft says what happens beyond the balance.
type Overdraft uint8

// The choices of Overdraft.
const (
	OverdraftBill  Overdraft = iota // billed at the card's price (the default)
	OverdraftWaive                  // forgiven, and shown
	OverdraftWarn                   // billed, and said aloud
)

// overdrafts are the choices as the roster writes them, in the order of their
// numbers.
var overdrafts = [...]string{"bill", "waive", "warn"}

// String is the choice as the roster writes it.
func (o Overdraft) String() string { return overdrafts[o] }

// ParseOverdraft reads what String prints.
func ParseOverdraft(word string) (Overdraft, error) {
	for i, name := range overdrafts {
		if name == word {
			return Overdraft(i), nil
		}
	}
	return 0, fmt.Errorf("unknown overdraft %q", word)
}

// MovedBefore is what deposits have added to the allocation before a day, less
// what refunds have taken out of it.
func (a *Allocation) MovedBefore(day Date) money.Exact {
	var sum money.Exact
	for _, m := range a.Movements {
		if m.On.Before(day) {
			sum = sum.Add(m.Units)
		}
	}
	return sum
}

var allocationFields = []string{"name", "meter", "units", "from", "until", "overdraft", "deposits", "refunds"}

func (l *rosterLoader) allocation(n *yaml.Node, path string) *Allocation {
	a := &Allocation{Line: n.Line}
	seen := map[string]bool{}
	var deposits, refunds []Movement
	for _, f := range l.Fields(n, path, allocationFields...) {
		at := path + "." + f.Key
		seen[f.Key] = true
		switch f.Key {
		case "name":
			a.Name = l.line(f.Value, at)
		case "meter":
			a.Meter = l.word(f.Value, at)
		case "units":
			a.Units = l.units(f.Value, at)
		case "from":
			a.From = l.date(f.Value, at)
		case "until":
			a.Until = l.date(f.Value, at)
		case "overdraft":
			a.Overdraft = l.overdraft(f.Value, at)
		case "deposits":
			deposits = l.movements(f.Value, at)
		case "refunds":
			refunds = l.movements(f.Value, at)
		}
	}
	if n.Kind == yaml.MappingNode {
		for _, needed := range allocationFields[:5] {
			if !seen[needed] {
				l.Fault(n, path+"."+needed, "is missing", "an allocation needs name, meter, units, from and until")
			}
		}
	}
	l.checkSpan(n, path, a.From, a.Until)
	for i := range refunds {
		refunds[i].Units = refunds[i].Units.Neg()
	}
	a.Movements = append(deposits, refunds...)
	l.checkMovements(a, path)
	return a
}

// checkMovements puts the movements in the order of their days, deposits
// first, and refuses those on a day on which there is no balance.
func (l *rosterLoader) checkMovements(a *Allocation, path string) {
	sort.SliceStable(a.Movements, func(i, j int) bool { return a.Movements[i].On.Before(a.Movements[j].On) })
	for _, m := range a.Movements {
		if m.On.IsZero() || m.On.within(a.From, a.Until) {
			continue
		}
		field := "deposits"
		if m.Units.Sign() < 0 {
			field = "refunds"
		}
		l.Faults = append(l.Faults, Fault{File: l.Name, Line: m.Line, Field: path + "." + field,
			Message: fmt.Sprintf("%s is outside the days of the allocation, %s", m.On, Days{a.From, a.Until}),
			Remedy:  "date it within from: and until:, or begin another allocation"})
	}
}

// movements reads deposits or refunds, each with units above 0.
func (l *rosterLoader) movements(n *yaml.Node, path string) []Movement {
	var all []Movement
	for i, item := range l.ItemsOrNone(n, path) {
		at, before := fmt.Sprintf("%s[%d]", path, i), len(l.Faults)
		m := l.movement(movementNode(item), at)
		if m.Units.Sign() == 0 && len(l.Faults) == before {
			l.Fault(item, at+".units", "are none", "write the units that are moved, above 0")
		}
		all = append(all, m)
	}
	return all
}

func (l *rosterLoader) movement(n *yaml.Node, path string) Movement {
	m := Movement{Line: n.Line}
	seen := map[string]bool{}
	for _, f := range l.Fields(n, path, "date", "units", "reference") {
		at := path + "." + f.Key
		seen[f.Key] = true
		switch f.Key {
		case "date":
			m.On = l.date(f.Value, at)
		case "units":
			m.Units = l.units(f.Value, at)
		case "reference":
			m.Reference = l.line(f.Value, at)
		}
	}
	if n.Kind == yaml.MappingNode {
		for _, needed := range []string{"date", "units"} {
			if !seen[needed] {
				l.Fault(n, path+"."+needed, "is missing", `write it as {date: 2026-03-31, units: "500"}, or in a cell as 2026-03-31 500`)
			}
		}
	}
	return m
}

// movementNode gives a cell of a spreadsheet, "2026-03-31 500 PO 47", the form
// of a movement.
func movementNode(n *yaml.Node) *yaml.Node {
	words := strings.SplitN(strings.TrimSpace(n.Value), " ", 3)
	if n.Kind != yaml.ScalarNode || len(words) < 2 {
		return n
	}
	m := &yaml.Node{Kind: yaml.MappingNode, Line: n.Line, Column: n.Column}
	for i, key := range []string{"date", "units", "reference"}[:len(words)] {
		addPair(m, key, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: words[i], Line: n.Line, Column: n.Column})
	}
	return m
}

func (l *rosterLoader) units(n *yaml.Node, path string) money.Exact {
	units, text, ok := decimalAt(l.File, n, path, `"10000" or "2.5"`)
	if ok && units.Sign() < 0 {
		l.Fault(n, path, fmt.Sprintf("%s units are fewer than none", text), "")
	}
	return units
}

func (l *rosterLoader) overdraft(n *yaml.Node, path string) Overdraft {
	word, ok := l.Text(n, path)
	if !ok {
		return OverdraftBill
	}
	o, err := ParseOverdraft(word)
	if err != nil {
		l.Fault(n, path, err.Error(), "bill: use beyond the balance is billed; warn: it is billed and said aloud; waive: it is forgiven and shown")
	}
	return o
}

// orderAllocations puts a group's allocations in the order in which they are
// drawn: the earliest end first, so that what would lapse is used.
func (l *rosterLoader) orderAllocations(g *Group, path string) {
	for i, a := range g.Allocations {
		for _, b := range g.Allocations[:i] {
			if a.Name == b.Name && a.Name != "" {
				l.Faults = append(l.Faults, Fault{File: l.Name, Line: a.Line, Field: path + ".allocations",
					Message: fmt.Sprintf("allocation %q is already defined on line %d", a.Name, b.Line),
					Remedy:  "balances are kept by name: give each its own"})
			}
		}
	}
	sort.SliceStable(g.Allocations, func(i, j int) bool {
		a, b := g.Allocations[i], g.Allocations[j]
		if a.Until != b.Until {
			return a.Until.Before(b.Until)
		}
		if a.From != b.From {
			return a.From.Before(b.From)
		}
		return a.Name < b.Name
	})
}
