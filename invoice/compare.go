package invoice

import (
	"sort"
	"strings"

	"hpcbill/rates/money"
)

// GroupChange is how one group's invoice differs between two sets.
type GroupChange struct {
	Group, Name   string
	Before, After *Invoice // nil where the group has none on that side
	Lines         []LineChange
	// Other names what differs beside the lines: "recipient", "issuer",
	// "balances" …, in a fixed order.
	Other []string
}

// LineChange is a line that differs. Before is nil for a line that came, After
// for one that went. Lines that are equal but for their position or sentence
// are not listed.
type LineChange struct{ Before, After *Line }

// Delta is what the group's total changed by.
func (g *GroupChange) Delta() money.Amount {
	var delta money.Amount
	if g.After != nil {
		delta = g.After.Total
	}
	if g.Before != nil {
		delta -= g.Before.Total
	}
	return delta
}

// Compare says per group and line what changed from one set of invoices to
// another: from the last draft of a period to this one, or from a month to the
// next. Groups without a difference are left out. Numbers, issue dates,
// periods and the digests of cards are not compared.
func Compare(before, after []Invoice) []GroupChange {
	byGroup := make(map[string]*GroupChange)
	at := func(inv *Invoice) *GroupChange {
		g := byGroup[inv.Group.ID]
		if g == nil {
			g = &GroupChange{Group: inv.Group.ID}
			byGroup[inv.Group.ID] = g
		}
		g.Name = inv.Group.Name
		return g
	}
	for i := range before {
		at(&before[i]).Before = &before[i]
	}
	for i := range after {
		at(&after[i]).After = &after[i]
	}
	var changes []GroupChange
	for _, g := range byGroup {
		g.compare()
		if len(g.Lines) > 0 || len(g.Other) > 0 || g.Before == nil || g.After == nil {
			changes = append(changes, *g)
		}
	}
	sort.Slice(changes, func(i, j int) bool { return changes[i].Group < changes[j].Group })
	return changes
}

func (g *GroupChange) compare() {
	var before, after []Line
	if g.Before != nil {
		before = g.Before.Lines
	}
	if g.After != nil {
		after = g.After.Lines
	}
	g.Lines = compareLines(before, after)
	if g.Before == nil || g.After == nil {
		return
	}
	b, a := g.Before, g.After
	for _, other := range []struct {
		name   string
		differ bool
	}{
		{"issuer", b.Issuer != a.Issuer},
		{"recipient", canonicalOf(b.Group.content) != canonicalOf(a.Group.content)},
		{"zone", b.Zone != a.Zone},
		{"currency", b.Currency != a.Currency},
		{"rounding", b.Rounding != a.Rounding},
		{"balances", balancesText(b) != balancesText(a)},
		{"counters", countersText(b) != countersText(a)},
		{"late draws", lateText(b) != lateText(a)},
		{"limits", poolsText(b) != poolsText(a)},
		{"jobs", b.Jobs != a.Jobs},
		{"taxes", taxesText(b) != taxesText(a)},
		{"funds", fundsText(b) != fundsText(a)},
	} {
		if other.differ {
			g.Other = append(g.Other, other.name)
		}
	}
}

func balancesText(inv *Invoice) string {
	return canonicalOf(func(w *canonicalWriter) {
		for i := range inv.Balances {
			inv.Balances[i].content(w)
		}
	})
}

func countersText(inv *Invoice) string {
	return canonicalOf(func(w *canonicalWriter) {
		for i := range inv.Counters {
			inv.Counters[i].content(w)
		}
	})
}

func lateText(inv *Invoice) string {
	return canonicalOf(func(w *canonicalWriter) {
		for i := range inv.Late {
			inv.Late[i].content(w)
		}
	})
}

func fundsText(inv *Invoice) string {
	return canonicalOf(func(w *canonicalWriter) {
		for i := range inv.Funds {
			inv.Funds[i].content(w)
		}
	})
}

func taxesText(inv *Invoice) string {
	return canonicalOf(func(w *canonicalWriter) {
		for i := range inv.Taxes {
			inv.Taxes[i].content(w)
		}
	})
}

func canonicalOf(content func(*canonicalWriter)) string {
	var w canonicalWriter
	content(&w)
	return w.String()
}

// compareLines pairs lines that speak of the same thing, first those at the
// same price and version, then the others in order, so that a new price shows
// as one changed line.
func compareLines(before, after []Line) []LineChange {
	pairs := make([]int, len(after)) // index in before, or -1
	for i := range pairs {
		pairs[i] = -1
	}
	used := make([]bool, len(before))
	for _, name := range []func(*Line) string{strictName, looseName} {
		waiting := make(map[string][]int)
		for i := range before {
			if !used[i] {
				key := name(&before[i])
				waiting[key] = append(waiting[key], i)
			}
		}
		for i := range after {
			key := name(&after[i])
			if list := waiting[key]; pairs[i] < 0 && len(list) > 0 {
				pairs[i], used[list[0]] = list[0], true
				waiting[key] = list[1:]
			}
		}
	}
	var changes []LineChange
	for i := range after {
		switch {
		case pairs[i] < 0:
			changes = append(changes, LineChange{After: &after[i]})
		case !sameLine(&before[pairs[i]], &after[i]):
			changes = append(changes, LineChange{&before[pairs[i]], &after[i]})
		}
	}
	for i := range before {
		if !used[i] {
			changes = append(changes, LineChange{Before: &before[i]})
		}
	}
	return changes
}

func looseName(l *Line) string {
	return strings.Join([]string{string(l.Kind), l.Cluster, l.Meter, l.Unit, l.PriceLabel, l.Code, l.Reason, l.Reference}, "\x00")
}

func strictName(l *Line) string {
	return looseName(l) + "\x00" + strings.Join([]string{l.Price.String(), l.Card, l.Version.String()}, "\x00")
}

func sameLine(a, b *Line) bool {
	return strictName(a) == strictName(b) && a.Quantity.Equal(b.Quantity) && a.Exact.Equal(b.Exact) &&
		a.Amount == b.Amount && a.Jobs == b.Jobs && a.Author == b.Author && (a.Kind != Manual || a.Description == b.Description)
}
