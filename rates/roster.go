package rates

import (
	"sort"
	"sync"
)

// Roster is who is billed, and how jobs reach them. It never changes after it
// is loaded; its methods may be called from several goroutines.
type Roster struct {
	Groups []*Group // sorted by ID
	// Precedence is the order in which the kinds of mapping are tried: the
	// first kind that reaches a group decides. LoadRoster fills it in with the
	// one kind in use where the file declares no order.
	Precedence []string

	// FundPattern is the regular expression that every fund matches as a
	// whole; "" asks for none. FundCodes, where the file lists them, are all
	// the funds that may be charged.
	FundPattern string
	FundCodes   []*FundCode

	File   string
	Digest string // SHA-256 of Text, hexadecimal
	Text   []byte

	indexOnce sync.Once
	byKind    []kindIndex // in the order of Precedence
}

// Group is who receives an invoice.
type Group struct {
	ID         string // the key everywhere; never shown without its name
	Name       string
	PI         string
	Department string
	Class      string // "internal", "external" …: picks prices
	Contacts   []string
	Address    string
	PO         string
	Fund       string // the fund or cost-centre code, always text; "" where Funds says who pays
	Language   string // "en" (default) or "es"
	Currency   string // "" is that of the site, and no other is billed
	Since      Date   // the day from which it is there; zero where the roster does not say

	TaxID       string       // the recipient's own, printed where there is one
	Funds       []*FundSplit // in the file's order; none where one Fund pays, or none is named
	Mappings    []*Mapping
	Allocations []*Allocation // in the order in which they are drawn: earliest end first
	Line        int
}

// Mapping is a dated way by which jobs reach a group. Every field that is
// set must match. A rule of the roster that lists several values is kept as
// one Mapping for each, all with the rule's line.
type Mapping struct {
	Account, User, WCKey, QoS, Partition, Cluster string // literals or globs; "" matches all
	From, Until                                   Date   // half-open; zero = no bound
	Line, Column                                  int

	group *Group
}

// Group gives the group with that ID, or nil.
func (r *Roster) Group(id string) *Group {
	i := sort.Search(len(r.Groups), func(i int) bool { return r.Groups[i].ID >= id })
	if i < len(r.Groups) && r.Groups[i].ID == id {
		return r.Groups[i]
	}
	return nil
}

// Boundaries gives the days at which some mapping begins or ends, in order:
// between two of them every job reaches the same group.
func (r *Roster) Boundaries() []Date {
	seen := map[Date]bool{{}: true}
	var days []Date
	for _, g := range r.Groups {
		for _, m := range g.Mappings {
			for _, d := range []Date{m.From, m.Until} {
				if !seen[d] {
					seen[d] = true
					days = append(days, d)
				}
			}
		}
	}
	sort.Slice(days, func(i, j int) bool { return days[i].Before(days[j]) })
	return days
}
