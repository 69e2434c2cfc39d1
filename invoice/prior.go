package invoice

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"hpcbill/rates/money"
)

// Correction is what an issued month would have cost a group beyond what it
// was billed, by jobs that came in, or changed, after it was issued. The month
// itself stays as it was issued: the correction is a prior-period item of the
// next invoice.
type Correction struct {
	Group   string
	Month   string        // "2026-03": the issued month
	Invoice string        // the number of the invoice that it corrects, "" where there was none
	Amount  money.Amount  // of use and storage after reductions; negative where less is due
	Jobs    int64         // more than were charged; negative where there are fewer
	Entries []LedgerEntry // what the month draws and counts beyond what the ledger has of it, of either sign

	// CarriedOver says that the month's own records are as they were: it found
	// other balances or counts, since a month before it is corrected.
	CarriedOver bool
	// Unprinted says that it has no line on the invoice that has it, which an
	// earlier version issued: it costs nothing, and there are other lines.
	Unprinted bool
}

// Corrections compares an issued month with what it would come to today under
// the rules that billed it. settled are the invoices of later months, whose
// corrections of the month are taken off. Groups for which nothing is left are
// left out; jobs that cost nothing are something.
func Corrections(month string, issued, today, settled []Invoice) []Correction {
	byGroup := map[string]*Correction{}
	of := func(group string) *Correction {
		c := byGroup[group]
		if c == nil {
			c = &Correction{Group: group, Month: month}
			byGroup[group] = c
		}
		return c
	}
	for i := range issued {
		c := of(issued[i].Group.ID)
		c.Invoice = issued[i].Number
		c.Amount -= issued[i].List + issued[i].Reductions
		c.Jobs -= issued[i].Jobs
		c.Entries = append(c.Entries, negative(issued[i].ledgerEntries())...)
	}
	for i := range today {
		c := of(today[i].Group.ID)
		c.Amount += today[i].List + today[i].Reductions
		c.Jobs += today[i].Jobs
		c.Entries = append(c.Entries, today[i].ledgerEntries()...)
	}
	for i := range settled {
		c := of(settled[i].Group.ID)
		for _, l := range settled[i].Lines {
			if l.Kind == Prior && l.Reference == month {
				c.Amount -= l.Amount
				c.Jobs -= l.Jobs
			}
		}
		for _, e := range settled[i].Late {
			if e.Period == month {
				c.Entries = append(c.Entries, negative([]LedgerEntry{e})...)
			}
		}
	}
	var all []Correction
	for _, group := range slices.Sorted(maps.Keys(byGroup)) {
		c := byGroup[group]
		c.Entries = sumEntries(c.Entries)
		if c.Amount != 0 || c.Jobs != 0 || len(c.Entries) > 0 {
			all = append(all, *c)
		}
	}
	return all
}

func negative(entries []LedgerEntry) []LedgerEntry {
	all := slices.Clone(entries)
	for i := range all {
		all[i].Units = all[i].Units.Neg()
	}
	return all
}

// sumEntries adds up the entries that differ in nothing but their units, in
// the order in which they come; those that come to nothing are left out.
func sumEntries(entries []LedgerEntry) []LedgerEntry {
	place := map[LedgerEntry]int{}
	var sums []LedgerEntry
	for _, e := range entries {
		key := e
		key.Units = money.Exact{}
		if i, seen := place[key]; seen {
			sums[i].Units = sums[i].Units.Add(e.Units)
			continue
		}
		place[key] = len(sums)
		sums = append(sums, e)
	}
	return slices.DeleteFunc(sums, func(e LedgerEntry) bool { return e.Units.Sign() == 0 })
}

// Correct takes the corrections that this period's invoices bill. Every group
// must be of the roster.
func (c *Composer) Correct(all []Correction) error {
	for i := range all {
		g := c.groups[all[i].Group]
		if g == nil {
			return fmt.Errorf("BUG: a correction of group %q, which the roster does not have", all[i].Group)
		}
		g.prior = append(g.prior, &all[i])
	}
	return nil
}

// priorLines puts the corrections on the group's invoice, the earliest month
// first. One that costs nothing is a line, too: it has jobs that are on no other,
// or draws on a balance.
func (c *Composer) priorLines(g *groupSums, inv *Invoice, words *words) {
	rows := slices.Clone(g.prior)
	slices.SortStableFunc(rows, func(a, b *Correction) int { return strings.Compare(a.Month, b.Month) })
	for _, p := range rows {
		inv.Late = append(inv.Late, p.Entries...)
		if p.Unprinted {
			continue
		}
		l := Line{
			Position: len(inv.Lines) + 1, Kind: Prior, Code: CodeLate, Reference: p.Month, Reason: p.Invoice,
			Quantity: money.Int(1), Price: c.settings.Currency.Exact(p.Amount), Amount: p.Amount, Jobs: p.Jobs,
		}
		if p.CarriedOver {
			l.Code = CodeCarriedOver
		}
		if p.Amount < 0 {
			l.Quantity, l.Price = money.Int(-1), l.Price.Neg()
		}
		l.Exact = l.Quantity.Mul(l.Price)
		l.Description = words.prior(&l)
		inv.Lines = append(inv.Lines, l)
	}
}

// CorrectionsBilled gives the corrections that invoices have.
func CorrectionsBilled(invoices []Invoice) []Correction {
	var all []Correction
	for i := range invoices {
		inv := &invoices[i]
		months := map[string]*Correction{}
		of := func(month string) *Correction {
			if months[month] == nil {
				months[month] = &Correction{Group: inv.Group.ID, Month: month, Unprinted: true}
			}
			return months[month]
		}
		for _, l := range inv.Lines {
			if l.Kind == Prior {
				c := of(l.Reference)
				c.Unprinted = false
				c.Invoice, c.Amount, c.Jobs, c.CarriedOver = l.Reason, c.Amount+l.Amount, c.Jobs+l.Jobs, l.Code == CodeCarriedOver
			}
		}
		for _, e := range inv.Late {
			c := of(e.Period)
			c.Entries = append(c.Entries, e)
		}
		for _, month := range slices.Sorted(maps.Keys(months)) {
			all = append(all, *months[month])
		}
	}
	return all
}

// EntriesOf gives what corrections add to the ledger.
func EntriesOf(corrections []Correction) []LedgerEntry {
	var entries []LedgerEntry
	for i := range corrections {
		entries = append(entries, corrections[i].Entries...)
	}
	return entries
}
