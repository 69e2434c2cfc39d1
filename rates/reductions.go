package rates

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"

	"hpcbill/rates/money"
	"hpcbill/rates/yamldoc"

	"go.yaml.in/yaml/v3"
)

// Reductions are what a site takes off bills by rule: discounts and subsidies
// of classes, allowances, and caps. They never change after they are loaded.
type Reductions struct {
	Discounts  []*Discount  // in the order in which they are applied: that of the file
	Allowances []*Allowance // likewise
	Caps       []*Cap       // likewise

	File   string
	Digest string // SHA-256 of Text, hexadecimal
	Text   []byte
}

// Discount takes a percentage off what is left to pay. One with a limit is a
// subsidy.
type Discount struct {
	ReductionScope
	Percent money.Exact // above 0, up to 100
	// Limit is the most that it takes; nil takes the percentage of everything.
	Limit *PoolLimit
}

// Cap is the most that is charged; what is above it is taken off.
type Cap struct {
	ReductionScope
	Limit PoolLimit
}

// ReductionScope says what a rule of reductions is of. All that it names must
// match.
type ReductionScope struct {
	Name   string // its own among the rules of the file: balances are kept by name
	Reason string // printed; "" = none

	Groups, Classes, Departments, PIs Names // whose bills
	Meters, Clusters                  Names // which lines of them; Clusters are file systems too

	From, Until  Date // half-open; zero = no bound
	Line, Column int
}

// Applies reports whether the rule is of the group's bills.
func (s *ReductionScope) Applies(g *Group) bool {
	return s.Groups.Admit(g.ID) && s.Classes.Admit(g.Class) && s.Departments.Admit(g.Department) && s.PIs.Admit(g.PI)
}

// Takes reports whether the rule is of what was used of the meter on the
// cluster or file system.
func (s *ReductionScope) Takes(cluster, meter string) bool {
	return s.Clusters.Admit(cluster) && s.Meters.Admit(meter)
}

// HoldsIn reports whether the rule holds on some day of a period.
func (s *ReductionScope) HoldsIn(p Period) bool {
	zone := p.Start.Location()
	return Days{s.From, s.Until}.overlaps(DateOf(p.Start, zone), DateOf(p.End, zone))
}

// LoadReductions reads a file of reductions. file names it in faults. The
// error is Faults: everything that is wrong with it, in the order of its
// lines, and no reductions.
//
//	discounts:
//	  - {name: University rate, class: internal, percent: "30"}
//	  - {name: BU subsidy, department: "Boston University", percent: "100", up_to: "100.00", per: month, shared_by: pi}
//	  - {name: Grand opening, cluster: new, meter: "!gpu_*", percent: "50", from: 2026-03-01, until: 2026-03-08}
//	allowances:
//	  - {name: Free tier, class: internal, meter: su, units: "10000", per: quarter, rollover: 1, from: 2026-01-01}
//	  - {name: New PI credit, pi: "?*", amount: "1000.00", per: once, shared_by: pi, first_months: 6}
//	caps:
//	  - {name: Most a month, class: internal, amount: "500.00", per: month, shared_by: group}
//
// A rule says whose bills it is of (group, class, department, pi) and which
// lines of them (meter; cluster, which is a file system for storage), each a
// text, a glob, a list of them, or with a ! what it is not; what it does not
// name is any. Texts are compared letter by letter. from: is the first day on
// which it holds, until: the first on which it no longer does; what was used
// counts on the day when it ended.
//
// Discounts are applied in the file's order, each to what those before it
// left. up_to: and amount: are limits per month, quarter, fiscal_year (quarters
// are those of the fiscal year) or once (over all the time that the rule
// holds), of each group, or shared by the groups of a pi, a department, a
// class, or by all to whom the rule applies.
//
// An allowance grants units: of one meter, or an amount: of money. What is not
// used stays usable for rollover: further times (none, a number, unlimited), the
// oldest first. A time of which it holds in a part alone gets all of it, or with
// prorate: month or day the share of its months or days, of money rounded down.
// first_months: makes it one for groups that are new by the since: of
// groups.yaml.
func LoadReductions(file string, text []byte) (*Reductions, error) {
	y := &yamldoc.File{Name: file}
	digest := sha256.Sum256(text)
	l := &reductionsLoader{
		rosterLoader: rosterLoader{File: y}, nameLine: map[string]int{},
		reductions: &Reductions{File: file, Digest: hex.EncodeToString(digest[:]), Text: text},
	}
	if root := y.Parse(text); root != nil {
		l.load(root)
	}
	if len(y.Faults) > 0 {
		sort.SliceStable(y.Faults, func(i, j int) bool {
			a, b := y.Faults[i], y.Faults[j]
			return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
		})
		return nil, y.Faults
	}
	return l.reductions, nil
}

// Scopes gives what every rule is of, in the order of the file's sections.
func (r *Reductions) Scopes() []*ReductionScope {
	if r == nil {
		return nil
	}
	var all []*ReductionScope
	for _, d := range r.Discounts {
		all = append(all, &d.ReductionScope)
	}
	for _, a := range r.Allowances {
		all = append(all, &a.ReductionScope)
	}
	for _, c := range r.Caps {
		all = append(all, &c.ReductionScope)
	}
	return all
}

// Limits gives the limits of the rules that have one, beside their rules.
func (r *Reductions) Limits() (rules []*ReductionScope, limits []*PoolLimit) {
	if r == nil {
		return nil, nil
	}
	for _, d := range r.Discounts {
		if d.Limit != nil {
			rules, limits = append(rules, &d.ReductionScope), append(limits, d.Limit)
		}
	}
	for _, a := range r.Allowances {
		rules, limits = append(rules, &a.ReductionScope), append(limits, &a.Limit)
	}
	for _, c := range r.Caps {
		rules, limits = append(rules, &c.ReductionScope), append(limits, &c.Limit)
	}
	return rules, limits
}

// CarryOver reports whether what one month takes decides what is left for the
// next.
func (r *Reductions) CarryOver() bool {
	_, limits := r.Limits()
	for _, l := range limits {
		if l.Per != PerMonth {
			return true
		}
	}
	return r != nil && slices.ContainsFunc(r.Allowances, func(a *Allowance) bool { return a.Rollover != 0 })
}

// reductionsLoader turns the YAML nodes into Reductions, keeping every fault.
type reductionsLoader struct {
	rosterLoader // reads dates, texts and percentages
	reductions   *Reductions
	nameLine     map[string]int
}

func (l *reductionsLoader) load(root *yaml.Node) {
	for _, f := range l.Fields(root, "", "discounts", "allowances", "caps") {
		switch f.Key {
		case "discounts":
			l.discounts(f.Value)
		case "allowances":
			l.allowances(f.Value)
		case "caps":
			l.caps(f.Value)
		}
	}
}
