package invoice

import (
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// pooling is the step of one rule with a limit, over all bills: a subsidy, which
// takes its percentage until the limit is reached, or a cap, which takes what
// is beyond.
//
// A limit is a sum of whole minor units and is met to the minor unit, so both
// work on the printed amounts. What a subsidy would take of a line is its share
// by largest remainder, as of a discount without a limit. Where the groups that
// share a limit would go beyond it, it is divided among them in proportion to
// what each would take or be charged, by largest remainder, ties in the order
// of their IDs. Within a bill the lines have it in printed order.
type pooling struct {
	kind    Kind
	code    string
	order   int // of the rule
	rule    *rates.ReductionScope
	limit   *rates.PoolLimit
	percent money.Exact // of a subsidy; 100 of a cap and an allowance
	// allowance is the rule where the limit is that of an allowance of money.
	allowance *rates.Allowance
}

// claim is what one bill counts towards a limit if there is room.
type claim struct {
	bill   *bill
	lines  []lineClaim
	amount money.Amount // of all lines
}

// lineClaim is what a rule would take or charge of one line.
type lineClaim struct {
	line   int
	amount money.Amount // > 0
	parts  []*part
	exact  []money.Exact // parallel to parts; amount is what is printed of their sum
}

// sharedPool is a pool with those who have it.
type sharedPool struct {
	pool   Pool
	claims []*claim
}

// pool performs the step.
func (m *composition) pool(s *pooling) error {
	pools, err := m.claims(s)
	if err != nil {
		return err
	}
	for _, p := range pools {
		if err := m.grant(s, p); err != nil {
			return err
		}
	}
	return nil
}

// claims gives the pools of the rule with what the bills claim of them, in the
// order of the bills.
func (m *composition) claims(s *pooling) ([]*sharedPool, error) {
	var pools []*sharedPool
	byHolder := make(map[string]*sharedPool)
	err := m.each(func(b *bill) error {
		if !s.rule.Applies(b.group.group) {
			return nil
		}
		c, err := s.claim(b, m.composer.period)
		if err != nil || c.amount == 0 {
			return err
		}
		pool, ok, err := m.openPool(s, b.group.group)
		if err != nil || !ok {
			return err
		}
		p := byHolder[pool.Holder()]
		if p == nil {
			p = &sharedPool{pool: pool}
			byHolder[pool.Holder()] = p
			pools = append(pools, p)
		}
		p.claims = append(p.claims, c)
		return nil
	})
	return pools, err
}

// openPool is the pool of the rule that a group has; ok is false where there is
// none in the period.
func (m *composition) openPool(s *pooling, g *rates.Group) (Pool, bool, error) {
	if s.allowance != nil {
		return m.openAllowance(s.allowance, g)
	}
	p, err := m.newPool(s.kind, s.rule, s.limit, g)
	return p, true, err
}

// claim gives what the rule would take or charge of a bill.
func (s *pooling) claim(b *bill, period rates.Period) (*claim, error) {
	c := &claim{bill: b}
	for i, l := range b.lines {
		parts := b.subject(s.rule, l, period)
		if l.due <= 0 || len(parts) == 0 {
			continue
		}
		lc := lineClaim{line: i, parts: parts}
		var sum money.Exact
		for _, p := range parts {
			x := percentage(p.left(), s.percent)
			lc.exact = append(lc.exact, x)
			sum = sum.Add(x)
		}
		shares, err := money.Split(l.due, []money.Exact{sum, l.left().Sub(sum)})
		if err != nil {
			return nil, err
		}
		if lc.amount = shares[0]; lc.amount == 0 {
			continue
		}
		c.lines = append(c.lines, lc)
		if c.amount, err = addAmounts(c.amount, lc.amount); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// grant divides what is left of a pool among the bills, and books what the rule
// takes of each.
func (m *composition) grant(s *pooling, p *sharedPool) error {
	c := m.composer.settings.Currency
	var all money.Amount
	var err error
	claimed, weights := make([]money.Amount, len(p.claims)), make([]money.Exact, len(p.claims))
	for i, cl := range p.claims {
		claimed[i], weights[i] = cl.amount, money.Int(int64(cl.amount))
		if all, err = addAmounts(all, cl.amount); err != nil {
			return err
		}
	}
	room, err := c.Amount(p.pool.Left(), money.Down)
	if err != nil {
		return err
	}
	granted, total := claimed, all
	if room < all {
		total = room
		if granted, err = money.Split(room, weights); err != nil {
			return err
		}
	}
	for i, cl := range p.claims {
		pool := p.pool
		pool.Counted, pool.Others = c.Exact(granted[i]), c.Exact(total-granted[i])
		cl.bill.pools = append(cl.bill.pools, pool)
		s.book(cl, granted[i])
	}
	return nil
}

// book takes off a bill what is granted of a subsidy, or what is not granted of
// its charges under a cap.
func (s *pooling) book(cl *claim, granted money.Amount) {
	for _, lc := range cl.lines {
		take := min(lc.amount, granted)
		granted -= take
		if s.kind == Cap {
			take = lc.amount - take
		}
		if take == 0 {
			continue
		}
		r := &reduction{
			kind: s.kind, code: s.code, reason: s.rule.Name, of: lc.line, order: s.order,
			rule: s.rule, percent: s.percent, limit: s.limit, printed: take,
		}
		share := money.Ratio(int64(take), int64(lc.amount))
		for i, p := range lc.parts {
			off := lc.exact[i].Mul(share)
			p.reduced = p.reduced.Add(off)
			r.amount = r.amount.Add(off)
		}
		cl.bill.lines[lc.line].due -= take
		cl.bill.reductions = append(cl.bill.reductions, r)
	}
}

// cap takes off what is above the most that is charged, by each cap in the
// file's order.
func (m *composition) cap() error {
	rules := m.composer.settings.Reductions
	if rules == nil {
		return nil
	}
	for order, c := range rules.Caps {
		err := m.pool(&pooling{
			kind: Cap, code: CodeCap, order: order, rule: &c.ReductionScope, limit: &c.Limit, percent: money.Int(100),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
