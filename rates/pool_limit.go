package rates

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"hpcbill/rates/money"
)

// PoolLimit is how much a rule takes or charges at most, over which time, and
// who has it together.
type PoolLimit struct {
	Amount   money.Exact // major units, or units of Meter; ≥ 0
	Meter    string      // whose units; "" of money
	Per      Per
	SharedBy Sharing
}

// Per is the time after which a limit begins anew.
type Per uint8

// The times of Per.
const (
	PerMonth Per = iota
	PerQuarter
	PerFiscalYear
	PerOnce // never: one limit for all the time that the rule holds
)

var limitPers = [...]string{"month", "quarter", "fiscal_year", "once"}

// String is the time as a file writes it.
func (p Per) String() string { return limitPers[p] }

// ParsePer reads what String prints.
func ParsePer(text string) (Per, error) {
	i := slices.Index(limitPers[:], text)
	if i < 0 {
		return 0, fmt.Errorf("%q is no time of a limit", text)
	}
	return Per(i), nil
}

// First gives the month in which the time begins that period lies in: quarters
// are those of the fiscal year, which begins with the month start. Of PerOnce
// there is none, and ok is false.
func (p Per) First(period Period, start time.Month) (first Period, ok bool) {
	switch p {
	case PerMonth:
		return period, true
	case PerFiscalYear:
		return period.FiscalYear(start), true
	case PerQuarter:
		first = period
		for range (int(period.Month) - int(start) + 12) % 3 {
			first = first.Previous()
		}
		return first, true
	}
	return Period{}, false
}

// months is how long the time is; 0 of PerOnce.
func (p Per) months() int {
	return [...]int{PerMonth: 1, PerQuarter: 3, PerFiscalYear: 12, PerOnce: 0}[p]
}

// Sharing says who has a limit together.
type Sharing uint8

// The choices of Sharing.
const (
	ByGroup Sharing = iota // each group has its own
	ByPI
	ByDepartment
	ByClass
	ByAll // all to whom the rule applies have one
)

var limitSharings = [...]string{"group", "pi", "department", "class", "all"}

// String is the choice as a file writes it.
func (s Sharing) String() string { return limitSharings[s] }

// ParseSharing reads what String prints.
func ParseSharing(text string) (Sharing, error) {
	i := slices.Index(limitSharings[:], text)
	if i < 0 {
		return 0, fmt.Errorf("%q says of nobody who shares a limit", text)
	}
	return Sharing(i), nil
}

// Of names whom a group shares a limit with: its PI, its department …; "" where
// the roster does not say, and for ByAll.
func (s Sharing) Of(g *Group) string {
	switch s {
	case ByPI:
		return g.PI
	case ByDepartment:
		return g.Department
	case ByClass:
		return g.Class
	case ByAll:
		return ""
	}
	return g.ID
}

// Names are texts and globs of which one must match; those that begin with !
// must not. None admits everything, and only such with ! everything else.
// Texts are compared letter by letter.
type Names []string

// Admit reports whether a text is among them.
func (n Names) Admit(text string) bool {
	asked, found := false, false
	for _, name := range n {
		pattern, unwanted := strings.CutPrefix(name, "!")
		matches := globMatches(pattern, text)
		if unwanted && matches {
			return false
		}
		asked, found = asked || !unwanted, found || !unwanted && matches
	}
	return found || !asked
}

// Patterns are the texts and globs, without the !.
func (n Names) Patterns() []string {
	patterns := make([]string, len(n))
	for i, name := range n {
		patterns[i] = strings.TrimPrefix(name, "!")
	}
	return patterns
}
