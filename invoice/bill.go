package invoice

import (
	"errors"
	"fmt"
	"slices"

	"hpcbill/rates"
	"hpcbill/rates/money"
)

// composition is the making of a period's invoices. It goes step by step over
// all groups, not group by group, since a pool may be shared by several.
type composition struct {
	composer *Composer
	ledger   []LedgerEntry
	units    map[string]string // of meters
	bills    []*bill           // of the groups that have something to bill, by group ID

	nothingDue []string     // IDs of the others
	faults     rates.Faults // of the roster and of the rules
	pooled     map[pooledKey][]LedgerEntry
}

// bill is what one group owes, on its way from charges to an invoice.
type bill struct {
	group      *groupSums
	tiered     *tiering
	account    *accounts
	lines      []*listLine
	reductions []*reduction
	pools      []Pool
}

// invoices performs the steps of Order.
func (m *composition) invoices() ([]Invoice, error) {
	if err := m.open(); err != nil {
		return nil, err
	}
	for _, reduce := range []func() error{
		m.waive,
		m.discount,
		m.allow,
		m.cap,
		m.draw,
	} {
		if err := reduce(); err != nil {
			return nil, err
		}
	}
	var invoices []Invoice
	for _, b := range m.bills {
		if !b.due() {
			m.nothingDue = append(m.nothingDue, b.group.group.ID)
			continue
		}
		inv, err := m.finish(b)
		var fault rates.Fault
		if errors.As(err, &fault) {
			m.faults = append(m.faults, fault)
			continue
		}
		if err != nil {
			return nil, b.where(err)
		}
		invoices = append(invoices, inv)
	}
	return invoices, nil
}

// due reports whether there is anything to say: also what issued months drew and
// cost nothing, which is in no ledger before it is on an invoice.
func (b *bill) due() bool { return len(b.lines)+len(b.group.manual)+len(b.group.prior) > 0 }

func (b *bill) where(err error) error {
	return fmt.Errorf("group %s: %w", b.group.group.ID, err)
}

// open gives each group its lines at list price, rounded, and its balances.
func (m *composition) open() error {
	for _, g := range m.composer.order {
		b := &bill{group: g}
		m.bills = append(m.bills, b)
		var err error
		b.tiered, err = m.composer.priceTiers(g, g.listLines(), m.ledger, m.units)
		if err != nil {
			return b.where(err)
		}
		b.lines = b.tiered.lines
		b.account, err = m.composer.openAccounts(g, b.lines, m.ledger, m.units)
		if err != nil {
			return b.where(err)
		}
		for _, l := range b.lines {
			l.printed, err = m.composer.settings.Currency.Amount(l.amount, m.composer.settings.Rounding)
			if err != nil {
				return b.where(err)
			}
			l.due = l.printed
		}
	}
	return nil
}

func (m *composition) waive() error {
	return m.each(func(b *bill) error { return b.reduce(waivers(b.lines)) })
}

func (m *composition) draw() error {
	return m.each(func(b *bill) error {
		draws, err := b.account.draw(b.lines)
		if err != nil {
			return err
		}
		return b.reduce(draws)
	})
}

// each takes a step for every bill. What the roster lacks is kept, so that all
// of it is said at once.
func (m *composition) each(step func(*bill) error) error {
	for _, b := range m.bills {
		err := step(b)
		var fault rates.Fault
		if errors.As(err, &fault) {
			if !slices.Contains(m.faults, fault) {
				m.faults = append(m.faults, fault)
			}
			continue
		}
		if err != nil {
			return b.where(err)
		}
	}
	return nil
}

// reduce books the reductions of one step, which have been taken off the
// parts already. What is printed of a line and not reduced yet is divided
// among them and what they leave, by largest remainder: a line of which
// nothing is left prints nothing, not a cent.
func (b *bill) reduce(step []*reduction) error {
	for i, l := range b.lines {
		var some []*reduction
		var weights []money.Exact
		for _, r := range step {
			if r.of == i {
				some = append(some, r)
				weights = append(weights, r.amount)
			}
		}
		if l.due == 0 || len(some) == 0 {
			continue
		}
		shares, err := money.Split(l.due, append(weights, l.left()))
		if err != nil {
			return err
		}
		for n, r := range some {
			r.printed = shares[n]
			l.due -= shares[n]
		}
	}
	b.reductions = append(b.reductions, step...)
	return nil
}

// finish prints the lines of a bill and adds what comes after reductions.
func (m *composition) finish(b *bill) (Invoice, error) {
	c, group := m.composer, b.group.group
	inv := Invoice{
		Period: c.period.String(), Zone: c.period.Start.Location().String(),
		Issuer: c.settings.Issuer, Group: recipient(group),
		Currency: c.settings.Currency, Rounding: c.settings.Rounding, Jobs: b.group.jobs,
	}
	words := languageOf(group.Language)
	for i, l := range b.lines {
		line := l.line(i + 1)
		line.Description = words.listLine(&line, l, c.settings.Currency)
		inv.Lines = append(inv.Lines, line)
	}
	sortReductions(b.reductions)
	for _, r := range b.reductions {
		line := r.line(len(inv.Lines)+1, &inv.Lines[r.of])
		line.Description = words.reduction(&line)
		if r.rule != nil {
			line.Description = r.sentence(words, &line, m.composer.settings.Currency)
		}
		inv.Lines = append(inv.Lines, line)
	}
	if err := c.addUp(b.group, &inv, words); err != nil {
		return inv, err
	}
	inv.Balances, inv.Counters, inv.Pools = b.account.balances, b.tiered.sortedCounters(), b.pools
	if err := c.funded(group); err != nil {
		return inv, err
	}
	return inv, c.split(b.group, &inv, b.lines)
}
