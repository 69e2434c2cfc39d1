package invoice

import (
	"fmt"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// Pool is the limit of a rule over the time that it is counted in, as one
// period leaves it: what a subsidy takes off at most, or what is charged at
// most under a cap. Several groups may have it together.
type Pool struct {
	Kind     Kind   // of the rule's lines
	Rule     string // its name
	SharedBy rates.Sharing
	Of       string      // the group, PI, department or class that has it; "" of all
	Per      rates.Per   // after which time it begins anew
	From     rates.Date  // the first day of that time; zero where it never began
	Meter    string      // "" of money
	Unit     string      // the meter's, or the currency
	Limit    money.Exact // with what is carried over
	Opening  money.Exact // counted towards it before this period, by all who have it
	Counted  money.Exact // in this period, of this group
	Others   money.Exact // in this period, of the others

	// Of an allowance alone.
	Until   rates.Date  // the first day after that time; zero where it never ends
	Carried money.Exact // in Limit: what grants of earlier times left to it
	Since   rates.Date  // from which day grants add up; zero where they do not
	Earlier money.Exact // counted from Since until From
}

// Left is what remains of the limit, not less than nothing: it may have been
// lowered below what was counted.
func (p *Pool) Left() money.Exact {
	left := p.Limit.Sub(p.Opening).Sub(p.Counted).Sub(p.Others)
	if left.Sign() < 0 {
		return money.Exact{}
	}
	return left
}

// Holder names who has the pool, apart from everybody else: "pi Ada Lovelace".
func (p *Pool) Holder() string {
	if p.Of == "" {
		return p.SharedBy.String()
	}
	return p.SharedBy.String() + " " + p.Of
}

// newPool is the pool of a rule that a group has, before the period.
func (m *composition) newPool(kind Kind, rule *rates.ReductionScope, limit *rates.PoolLimit, g *rates.Group) (Pool, error) {
	c := m.composer
	p := Pool{
		Kind: kind, Rule: rule.Name, SharedBy: limit.SharedBy, Of: limit.SharedBy.Of(g), Per: limit.Per, From: rule.From,
		Unit: c.settings.Currency.Code, Limit: limit.Amount,
	}
	fault := func(field, message string) error {
		return rates.Fault{File: c.settings.Reductions.File, Line: rule.Line, Column: rule.Column, Field: field, Message: message}
	}
	if p.Of == "" && limit.SharedBy != rates.ByAll {
		return p, fault("shared_by", fmt.Sprintf("%s is shared by %s, and group %s has none", rule.Name, limit.SharedBy, g.ID))
	}
	if limit.Meter == "" && !limit.Amount.Round(c.settings.Currency.Digits, money.Down).Equal(limit.Amount) {
		return p, fault("", fmt.Sprintf("an amount of %s has more digits than %s", limit.Amount, c.settings.Currency.Code))
	}
	if c.settings.FiscalYearStart == 0 && (limit.Per == rates.PerQuarter || limit.Per == rates.PerFiscalYear) {
		return p, fmt.Errorf("BUG: a limit per %s, and nobody says when a fiscal year begins", limit.Per)
	}
	if first, ok := limit.Per.First(c.period, c.settings.FiscalYearStart); ok {
		p.From = rates.Date{Year: first.Year, Month: int(first.Month), Day: 1}
	}
	p.Opening = p.OpeningFrom(c.period.String(), m.entriesOf(&p))
	return p, nil
}

// pooledKey tells the entries of one pool from others.
type pooledKey struct {
	kind       LedgerKind
	rule, pool string
}

// entriesOf gives the ledger's entries of a pool: a centre of many groups has
// as many pools, and years of entries.
func (m *composition) entriesOf(p *Pool) []LedgerEntry {
	if m.pooled == nil {
		m.pooled = make(map[pooledKey][]LedgerEntry)
		for _, e := range m.ledger {
			if e.Pool != "" {
				key := pooledKey{e.Kind, e.Allocation, e.Pool}
				m.pooled[key] = append(m.pooled[key], e)
			}
		}
	}
	return m.pooled[pooledKey{LedgerKind(p.Kind), p.Rule, p.Holder()}]
}

// OpeningFrom computes again, from the ledger, what was counted towards the
// pool before the period, by whatever group. A difference means that the ledger
// has changed since the invoice was composed.
func (p *Pool) OpeningFrom(period string, ledger []LedgerEntry) money.Exact {
	first := ""
	if !p.From.IsZero() {
		first = monthOf(p.From)
	}
	holder := p.Holder()
	var sum money.Exact
	for _, e := range ledger {
		if e.Kind == LedgerKind(p.Kind) && e.Allocation == p.Rule && e.Pool == holder && e.Period >= first && e.Period < period {
			sum = sum.Add(e.Units)
		}
	}
	return sum
}

// entry is what the pool adds to the ledger.
func (p *Pool) entry(inv *Invoice) LedgerEntry {
	return LedgerEntry{
		Kind: LedgerKind(p.Kind), Group: inv.Group.ID, Allocation: p.Rule, Pool: p.Holder(), Period: inv.Period,
		Meter: p.Meter, Unit: p.Unit, Units: p.Counted,
	}
}

// checkPools reports whether the lines of rules with a limit take what their
// pools say, and no more than the limit.
func (inv *Invoice) checkPools(bug func(string, ...any)) {
	taken := make(map[string]money.Exact)
	for _, l := range inv.Lines {
		switch {
		case l.Code == CodeAllowance && l.Quantity.Sign() != 0:
			taken[l.Reason] = taken[l.Reason].Sub(l.Quantity)
		case l.Code == CodeSubsidy || l.Code == CodeCap || l.Code == CodeAllowance:
			taken[l.Reason] = taken[l.Reason].Sub(inv.Currency.Exact(l.Amount))
		}
	}
	for i := range inv.Pools {
		p := &inv.Pools[i]
		sum := p.Opening.Add(p.Counted).Add(p.Others)
		some := taken[p.Rule].Sign() > 0
		switch {
		case p.Counted.Add(p.Others).Sign() > 0 && sum.Cmp(p.Limit) > 0:
			bug("%s: %s is more than %s", p.Rule, sum, p.Limit)
		case p.Kind != Cap && !taken[p.Rule].Equal(p.Counted):
			bug("%s: the lines take %s, its limit says %s", p.Rule, taken[p.Rule], p.Counted)
		case p.Kind == Cap && some && sum.Cmp(p.Limit) < 0:
			bug("%s: %s is taken off although only %s of %s is charged", p.Rule, taken[p.Rule], sum, p.Limit)
		}
		delete(taken, p.Rule)
	}
	if len(taken) > 0 {
		bug("reductions by %d rules without their limits", len(taken))
	}
}

func poolsText(inv *Invoice) string {
	return canonicalOf(func(w *canonicalWriter) {
		for i := range inv.Pools {
			inv.Pools[i].content(w)
		}
	})
}

func (p *Pool) content(w *canonicalWriter) {
	w.text("pool.kind", string(p.Kind))
	w.text("pool.rule", p.Rule)
	w.text("pool.shared_by", p.SharedBy.String())
	w.text("pool.of", p.Of)
	w.text("pool.per", p.Per.String())
	w.text("pool.from", p.From.String())
	w.text("pool.meter", p.Meter)
	w.text("pool.unit", p.Unit)
	w.text("pool.limit", p.Limit.String())
	w.text("pool.opening", p.Opening.String())
	w.text("pool.counted", p.Counted.String())
	w.text("pool.others", p.Others.String())
	for _, f := range []struct{ name, value string }{
		{"pool.until", p.Until.String()}, {"pool.carried", p.Carried.String()}, {"pool.since", p.Since.String()}, {"pool.earlier", p.Earlier.String()},
	} {
		if f.value != "" && f.value != "0" {
			w.text(f.name, f.value)
		}
	}
}

type poolJSON struct {
	Kind     Kind       `json:"kind"`
	Rule     string     `json:"rule"`
	SharedBy string     `json:"shared_by"`
	Of       string     `json:"of,omitempty"`
	Per      string     `json:"per"`
	From     dateText   `json:"from"`
	Meter    string     `json:"meter,omitempty"`
	Unit     string     `json:"unit"`
	Limit    exactText  `json:"limit"`
	Opening  exactText  `json:"opening"`
	Counted  exactText  `json:"counted"`
	Others   exactText  `json:"others"`
	Until    *dateText  `json:"until,omitempty"`
	Carried  *exactText `json:"carried,omitempty"`
	Since    *dateText  `json:"since,omitempty"`
	Earlier  *exactText `json:"earlier,omitempty"`
}

func (p *Pool) toJSON() poolJSON {
	return poolJSON{
		Kind: p.Kind, Rule: p.Rule, SharedBy: p.SharedBy.String(), Of: p.Of, Per: p.Per.String(), From: dateText{p.From},
		Meter: p.Meter, Unit: p.Unit, Limit: exactText{p.Limit}, Opening: exactText{p.Opening}, Counted: exactText{p.Counted}, Others: exactText{p.Others},
		Until: dateOrNone(p.Until), Carried: textOrNone(p.Carried), Since: dateOrNone(p.Since), Earlier: textOrNone(p.Earlier),
	}
}

func (j *poolJSON) pool() (Pool, error) {
	p := Pool{
		Kind: j.Kind, Rule: j.Rule, Of: j.Of, From: j.From.Date, Meter: j.Meter, Unit: j.Unit,
		Limit: j.Limit.Exact, Opening: j.Opening.Exact, Counted: j.Counted.Exact, Others: j.Others.Exact,
		Until: j.Until.orZero(), Carried: j.Carried.orZero(), Since: j.Since.orZero(), Earlier: j.Earlier.orZero(),
	}
	var errs [2]error
	p.SharedBy, errs[0] = rates.ParseSharing(j.SharedBy)
	p.Per, errs[1] = rates.ParsePer(j.Per)
	return p, firstError(errs[:]...)
}
