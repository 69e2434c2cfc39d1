package main

import (
	"fmt"
	"slices"
	"strconv"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// money prints an amount with its currency: "1,234.50 USD".
func (in *inputs) money(a money.Amount) string {
	c := in.config.Currency
	return c.Format(a) + " " + c.Code
}

func grouped(n int64) string { return money.Group(strconv.FormatInt(n, 10)) }

// printBilling prints what finance looks at first: a row a group, the two
// equations, and what is held with its remedy.
func (a *app) printBilling(s *site, b *billing, dir string) error {
	c := s.config.Currency
	t := table{columns: columns("group", ">list", ">reductions", ">other_items", ">total", "document")}
	for _, inv := range b.invoices {
		t.add(inv.Group.ID, c.Format(inv.List), c.Format(inv.Reductions), c.Format(inv.Additions()), c.Format(inv.Total), dir+"/"+stem(&inv)+".html")
	}
	sum := &b.summary
	t.add("total "+c.Code, c.Format(sum.List), c.Format(sum.Reductions), c.Format(sum.Total-sum.List-sum.Reductions), c.Format(sum.Total), "")
	if sum.Total == sum.List+sum.Reductions && !slices.ContainsFunc(b.invoices, func(inv invoice.Invoice) bool { return inv.Additions() != 0 }) {
		t.drop("other_items")
	}
	fmt.Fprintf(a.stdout, "%s\n\n%s\n", b.period, t.text())
	a.printEquations(&b.summary)
	a.printNothingDue(b.summary.NothingDue)
	return a.printHeld(s.inputs, b.summary.HeldCauses())
}

// printEquations shows that nothing vanished on the way.
func (a *app) printEquations(sum *invoice.Summary) {
	r, j, x := sum.Records, sum.Jobs, sum.Seconds
	fmt.Fprintf(a.stdout, "records      %s read = %s jobs + %s steps + %s superseded + %s quarantined (all dumps)\n",
		grouped(r.Read), grouped(r.Jobs), grouped(r.Steps), grouped(r.Superseded), grouped(r.Quarantined))
	fmt.Fprintf(a.stdout, "jobs         %s in the period = %s billed + %s waived + %s excluded + %s held + %s not run%s\n",
		grouped(j.Read), grouped(j.Billed), grouped(j.Waived), grouped(j.Excluded), grouped(j.Held), grouped(j.NotRun), running(j.Running))
	fmt.Fprintf(a.stdout, "job-seconds  %s read = %s billed + %s waived + %s excluded + %s held%s\n",
		grouped(x.Read+x.Running), grouped(x.Billed), grouped(x.Waived), grouped(x.Excluded), grouped(x.Held), running(x.Running))
	if h := sum.Storage; h.Read > 0 {
		fmt.Fprintf(a.stdout, "holdings     %s of storage = %s billed + %s waived + %s excluded + %s held\n",
			grouped(h.Read), grouped(h.Billed), grouped(h.Waived), grouped(h.Excluded), grouped(h.Held))
	}
}

// running is the term of what still runs, where there is any.
func running(n int64) string {
	if n == 0 {
		return ""
	}
	return " + " + grouped(n) + " still running"
}

func (a *app) printNothingDue(groups []string) {
	if len(groups) == 0 {
		return
	}
	fmt.Fprintf(a.stdout, "nothing due  ")
	for i, g := range groups {
		if i > 0 {
			fmt.Fprint(a.stdout, ", ")
		}
		fmt.Fprint(a.stdout, g)
	}
	fmt.Fprintln(a.stdout)
}

// printHeld lists what cannot be billed yet, each with what clears it.
func (a *app) printHeld(in *inputs, causes []invoice.CauseSum) error {
	if len(causes) == 0 {
		fmt.Fprintln(a.stdout, "held         nothing")
		return nil
	}
	fmt.Fprintln(a.stdout, "\nheld: an issue waits for these")
	for _, c := range causes {
		what := count(c.Count, "job") + ", " + hours(c.Seconds) + " h"
		if c.Storage {
			what = count(c.Count, "holding")
		}
		if c.Stake != nil {
			stake, err := in.stakeText(c.Stake)
			if err != nil {
				return err
			}
			what += ", list value " + stake
			if c.Stake.Known() {
				what += " " + in.config.Currency.Code
			}
		}
		fmt.Fprintf(a.stdout, "  %s: %s (%s)\n", c.Code, oneLine(c.Detail), what)
		if c.Hint != "" {
			fmt.Fprintf(a.stdout, "    hint: %s\n", oneLine(c.Hint))
		}
	}
	return nil
}

// hours prints seconds as hours to two places.
func hours(seconds int64) string {
	return money.Group(money.Ratio(seconds, 3600).Decimal(2, money.HalfEven))
}

// mostChangesShown bounds the lines that a comparison prints.
const mostChangesShown = 20

// printChanges shows what differs between two states of a period, by group
// and line.
func (a *app) printChanges(since string, s *site, changes []invoice.GroupChange) {
	if len(changes) == 0 {
		fmt.Fprintf(a.stdout, "\nno change %s\n", since)
		return
	}
	fmt.Fprintf(a.stdout, "\nchanges %s\n", since)
	for i, g := range changes {
		if i == mostChangesShown {
			fmt.Fprintf(a.stdout, "  … and %s more\n", count(int64(len(changes)-i), "group"))
			return
		}
		fmt.Fprintf(a.stdout, "  %s: %s\n", g.Group, s.signed(g.Delta()))
		for _, l := range g.Lines {
			fmt.Fprintf(a.stdout, "    %s\n", lineChange(s, l))
		}
		if slices.Contains(g.Other, "funds") {
			fmt.Fprintf(a.stdout, "    funds: %s\n", oneLine(fundsText(g.After)))
		}
	}
}

// signed prints a difference with its sign.
func (in *inputs) signed(a money.Amount) string {
	if a > 0 {
		return "+" + in.money(a)
	}
	return in.money(a)
}

func lineChange(s *site, l invoice.LineChange) string {
	switch {
	case l.Before == nil:
		return fmt.Sprintf("new: %s, %s", oneLine(l.After.Description), s.money(l.After.Amount))
	case l.After == nil:
		return fmt.Sprintf("gone: %s, %s", oneLine(l.Before.Description), s.money(l.Before.Amount))
	}
	if l.After.OfMoney() {
		return fmt.Sprintf("%s, %s: %s → %s", oneLine(l.After.Reason), oneLine(l.After.Meter), s.money(l.Before.Amount), s.money(l.After.Amount))
	}
	return fmt.Sprintf("%s: %s → %s %s, %s → %s", oneLine(l.After.Meter),
		quantity(l.Before.Quantity), quantity(l.After.Quantity), l.After.Unit, s.money(l.Before.Amount), s.money(l.After.Amount))
}

// quantity prints a quantity to six places, as documents do.
func quantity(x money.Exact) string { return money.Group(x.Decimal(6, money.HalfEven)) }

// printAgainst shows each group's total beside another month's.
func (a *app) printAgainst(month rates.Period, s *site, before, after []invoice.Invoice) {
	c := s.config.Currency
	t := table{columns: columns("group", ">"+month.String(), ">this_month", ">difference")}
	for _, pair := range pairTotals(before, after) {
		t.add(pair.group, c.Format(pair.before), c.Format(pair.after), s.signed(pair.after-pair.before))
	}
	fmt.Fprintf(a.stdout, "\nagainst the month before\n%s", t.text())
}
