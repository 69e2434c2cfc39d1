package invoice

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// FundShare is what one fund pays of an invoice. The shares of an invoice sum
// to its total, and those of one part of it to what the part comes to.
type FundShare struct {
	Fund    string
	Of      string       // the part of the invoice: "meter gpu_hours", "user u1, u2"; "" for the rest, or for all of it
	Base    money.Amount // what the part comes to
	Percent money.Exact  // of Base less what fixed amounts pay of it; 0 where the share is fixed
	Fixed   money.Amount // what the fund pays at most; 0 where the share is a percentage
	Amount  money.Amount
}

// scopeOf is the place, in scopes, of what a user used of a meter: the first
// scope that takes it. There is one scope, or none, for most groups.
func scopeOf(scopes []rates.FundScope, user, meter string) int {
	for i := range scopes {
		if scopes[i].Takes(user, meter) {
			return i
		}
	}
	return 0
}

// funded refuses a period in which nobody pays for the group on some day, with
// a rates.Fault.
func (c *Composer) funded(g *rates.Group) error {
	zone := c.period.Start.Location()
	days := c.roster.UnfundedDays(g, rates.DateOf(c.period.Start, zone), rates.DateOf(c.period.End, zone))
	if len(days) == 0 {
		return nil
	}
	return UnfundedFault(c.roster, g, days, " in "+c.period.String())
}

// UnfundedFault says that nobody pays for a group on some days.
func UnfundedFault(r *rates.Roster, g *rates.Group, days []rates.Days, billed string) rates.Fault {
	texts := make([]string, len(days))
	for i, d := range days {
		texts[i] = d.String()
	}
	return rates.Fault{File: r.File, Line: g.Line, Field: "funds",
		Message: fmt.Sprintf("group %s is billed%s, but no fund pays on %s", g.ID, billed, strings.Join(texts, ", ")),
		Remedy:  "let a fund of the group hold on these days, or give its rules under jobs: the from: and until: between which it has jobs"}
}

// split divides the total among the funds in force on the last day of the
// period: first it is told apart by the scopes that the splits name, each
// printed line where its charges are, then each part goes to its funds.
func (c *Composer) split(g *groupSums, inv *Invoice, lines []*listLine) error {
	if len(g.scopes) == 0 {
		return nil
	}
	parts, err := partsOfScopes(inv, lines, len(g.scopes))
	if err != nil {
		return err
	}
	for i := range g.scopes {
		scope := &g.scopes[i]
		if parts[i] == 0 && !scope.Rest() {
			continue
		}
		shares, err := c.shares(scope, parts[i])
		if err != nil {
			return err
		}
		inv.Funds = append(inv.Funds, shares...)
	}
	inv.Group.Fund = inv.onlyFund()
	return nil
}

// onlyFund is the one fund that pays everything, "" where there are several.
func (inv *Invoice) onlyFund() string {
	fund := inv.Funds[0].Fund
	for _, f := range inv.Funds[1:] {
		if f.Fund != fund {
			return ""
		}
	}
	return fund
}

// partsOfScopes divides the total by scope. What remains of a list line after
// its reductions goes to the scopes of its charges, in proportion; an
// adjustment is of the rest, the last scope; overhead and tax go with what they
// are added to.
func partsOfScopes(inv *Invoice, lines []*listLine, scopes int) ([]money.Amount, error) {
	parts := make([]money.Amount, scopes)
	if scopes == 1 {
		parts[0] = inv.Total
		return parts, nil
	}
	due := make([]money.Amount, len(lines))
	var added money.Amount
	for i := range inv.Lines {
		switch l := &inv.Lines[i]; {
		case l.Of > 0 && l.Of <= len(lines):
			due[l.Of-1] += l.Amount
		case i < len(lines):
			due[i] += l.Amount
		case l.Kind == Overhead || l.Kind == Tax:
			added += l.Amount
		default:
			parts[scopes-1] += l.Amount
		}
	}
	for i, l := range lines {
		weights := l.weights(scopes)
		if due[i] == 0 {
			continue
		}
		shares, err := money.Split(due[i], weights)
		if err != nil {
			return nil, err
		}
		for s, share := range shares {
			parts[s] += share
		}
	}
	return parts, spread(added, parts)
}

// spread adds an amount to the parts in proportion to those that are positive;
// where none is, to the last.
func spread(added money.Amount, parts []money.Amount) error {
	weights, some := make([]money.Exact, len(parts)), false
	for i, p := range parts {
		weights[i] = money.Int(max(0, int64(p)))
		some = some || p > 0
	}
	if !some {
		weights[len(parts)-1] = money.Int(1)
	}
	shares, err := money.Split(added, weights)
	for i, share := range shares {
		parts[i] += share
	}
	return err
}

// weights are what is left to pay of a line, by scope; of a line of which
// nothing is left by that reckoning, everything is of the rest.
func (l *listLine) weights(scopes int) []money.Exact {
	weights := make([]money.Exact, scopes)
	sum := money.Exact{}
	for _, p := range l.parts {
		if left := p.left(); left.Sign() > 0 {
			weights[p.scope] = weights[p.scope].Add(left)
			sum = sum.Add(left)
		}
	}
	if sum.Sign() == 0 {
		weights[scopes-1] = money.Int(1)
	}
	return weights
}

// shares divides what a scope comes to among its splits.
func (c *Composer) shares(scope *rates.FundScope, base money.Amount) ([]FundShare, error) {
	shares := make([]FundShare, len(scope.Splits))
	for i, s := range scope.Splits {
		fixed, err := c.settings.Currency.Amount(s.Amount, c.settings.Rounding)
		if err != nil {
			return nil, err
		}
		if !c.settings.Currency.Exact(fixed).Equal(s.Amount) {
			return nil, rates.Fault{File: c.roster.File, Line: s.Line, Column: s.Column, Field: "funds",
				Message: fmt.Sprintf("an amount of %s has more digits than %s", s.Amount, c.settings.Currency.Code)}
		}
		shares[i] = FundShare{Fund: s.Fund, Of: scope.String(), Base: base, Percent: s.PercentIn(scope), Fixed: fixed}
	}
	return shares, divide(shares)
}

// divide fills in what each share pays of their base: the fixed amounts in
// their order, as far as it goes, then the percentages of what is left by
// largest remainder. A credit goes to the percentages alone.
func divide(shares []FundShare) error {
	left := shares[0].Base
	weights := make([]money.Exact, len(shares))
	for i := range shares {
		s := &shares[i]
		weights[i] = s.Percent
		s.Amount = max(0, min(s.Fixed, left))
		left -= s.Amount
	}
	percents, err := money.Split(left, weights)
	if err != nil {
		return err
	}
	for i := range shares {
		shares[i].Amount += percents[i]
	}
	return nil
}

// Payers are the shares of the invoice, also where it is not split: then the
// group's one fund, or none, pays everything.
func (inv *Invoice) Payers() []FundShare {
	if len(inv.Funds) > 0 {
		return inv.Funds
	}
	return []FundShare{{Fund: inv.Group.Fund, Base: inv.Total, Percent: money.Int(100), Amount: inv.Total}}
}

// AnySplit reports whether one of the invoices is paid by several shares.
func AnySplit(invoices []Invoice) bool {
	return slices.ContainsFunc(invoices, func(inv Invoice) bool { return len(inv.Funds) > 0 })
}

// checkFunds reports whether the shares sum to the total, and each is what its
// percentage makes of the part that it is of.
func (inv *Invoice) checkFunds(bug func(string, ...any)) {
	var paid money.Amount
	for first := 0; first < len(inv.Funds); {
		next := first
		var part money.Amount
		for next < len(inv.Funds) && inv.Funds[next].Of == inv.Funds[first].Of {
			part += inv.Funds[next].Amount
			if inv.Funds[next].Base != inv.Funds[first].Base {
				bug("fund %s pays of %d, fund %s of %d", inv.Funds[first].Fund, inv.Funds[first].Base, inv.Funds[next].Fund, inv.Funds[next].Base)
			}
			next++
		}
		again := append([]FundShare{}, inv.Funds[first:next]...)
		if err := divide(again); err != nil {
			bug("the funds cannot pay %d: %v", again[0].Base, err)
		}
		for i := range again {
			if again[i].Amount != inv.Funds[first+i].Amount {
				bug("fund %s pays %d, its share is %d", again[i].Fund, inv.Funds[first+i].Amount, again[i].Amount)
			}
		}
		if part != inv.Funds[first].Base {
			bug("the funds pay %d of %d", part, inv.Funds[first].Base)
		}
		paid += part
		first = next
	}
	if len(inv.Funds) > 0 && paid != inv.Total {
		bug("the funds pay %d, the total is %d", paid, inv.Total)
	}
}

func (f *FundShare) content(w *canonicalWriter) {
	w.text("fund.code", f.Fund)
	w.text("fund.of", f.Of)
	w.int("fund.base", int64(f.Base))
	w.text("fund.percent", f.Percent.String())
	w.int("fund.fixed", int64(f.Fixed))
	w.int("fund.amount", int64(f.Amount))
}

type fundJSON struct {
	Fund    string     `json:"fund"`
	Of      string     `json:"of,omitempty"`
	Base    string     `json:"base"`
	Percent *exactText `json:"percent,omitempty"`
	Fixed   string     `json:"fixed,omitempty"`
	Amount  string     `json:"amount"`
}

func (f *FundShare) toJSON(c money.Currency) fundJSON {
	j := fundJSON{Fund: f.Fund, Of: f.Of, Base: c.Plain(f.Base), Amount: c.Plain(f.Amount)}
	if f.Percent.Sign() != 0 {
		j.Percent = &exactText{f.Percent}
	}
	if f.Fixed != 0 {
		j.Fixed = c.Plain(f.Fixed)
	}
	return j
}

func (j *fundJSON) share(c money.Currency) (f FundShare, err error) {
	f.Fund, f.Of = j.Fund, j.Of
	if j.Percent != nil {
		f.Percent = j.Percent.Exact
	}
	if f.Base, err = parseAmount(j.Base, c); err != nil {
		return f, err
	}
	if j.Fixed != "" {
		if f.Fixed, err = parseAmount(j.Fixed, c); err != nil {
			return f, err
		}
	}
	f.Amount, err = parseAmount(j.Amount, c)
	return f, err
}
