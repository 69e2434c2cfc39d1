package main

import (
	"fmt"
	"strings"
	"time"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// outlook is what becomes of a balance at the rate at which it is drawn.
type outlook string

// The outlooks.
const (
	noRate  outlook = "no rate" //  nothing was drawn, or no day has passed
	lasts   outlook = "lasts"   // until it ends by itself, or a hundred years
	runsOut outlook = "runs out"
	usedUp  outlook = "used up"
)

// balanceUsage is a balance with the rate at which it is drawn.
type balanceUsage struct {
	invoice.Balance
	kind    string      // of a balance: prepaid or allowance
	title   string      // its name, and who shares it
	holder  string      // who has it together; "" for the group alone
	others  money.Exact // drawn by the others of them
	perDay  money.Exact // units drawn a day in this period
	outlook outlook
	runsOut rates.Date // of the outlook "runs out"
}

// longestOutlookDays bounds a date that is computed from a rate.
const longestOutlookDays = 36525

// balance looks at how fast a balance is drawn.
func (u *usageReport) balance(b invoice.Balance) balanceUsage {
	return u.rated(balanceUsage{Balance: b, kind: "prepaid", title: b.Allocation})
}

// allowance looks at how fast an allowance is drawn, by all who share it.
func (u *usageReport) allowance(p *invoice.Pool) balanceUsage {
	use := balanceUsage{Balance: p.Balance(), kind: "allowance", title: p.Title(), others: p.Others}
	if p.SharedBy != rates.ByGroup {
		use.holder = p.Holder()
	}
	return u.rated(use)
}

func (u *usageReport) rated(use balanceUsage) balanceUsage {
	b := &use.Balance
	use.outlook = noRate
	drawn := b.Drawn.Add(use.others)
	from, until := dateOf(u.period.Start), u.asOf
	if from.Before(b.From) {
		from = b.From
	}
	if !b.Until.IsZero() && b.Until.Before(until) {
		until = b.Until
	}
	days := daysBetween(from, until)
	rated := days > 0 && drawn.Sign() > 0
	if rated {
		use.perDay, _ = drawn.Quo(money.Int(int64(days)))
		use.outlook = lasts
	}
	if b.Left.Sign() <= 0 {
		use.outlook = usedUp
		return use
	}
	if !rated {
		return use
	}
	left, _ := b.Left.Quo(use.perDay)
	whole, ok := left.Round(0, money.Floor).Int64()
	if !ok || whole > longestOutlookDays {
		return use
	}
	day := addDays(u.asOf, int(whole))
	if b.Until.IsZero() || day.Before(b.Until) {
		use.outlook, use.runsOut = runsOut, day
	}
	return use
}

func dateOf(t time.Time) rates.Date { return rates.DateOf(t, t.Location()) }

// daysBetween counts calendar days, whatever their hours.
func daysBetween(from, until rates.Date) int {
	return int(until.Midnight(time.UTC).Sub(from.Midnight(time.UTC)) / (24 * time.Hour))
}

func addDays(d rates.Date, days int) rates.Date {
	return dateOf(d.Midnight(time.UTC).AddDate(0, 0, days))
}

// percentOf prints a part of 1 in percent, to one place and never more than it
// is.
func percentOf(part money.Exact) string {
	return part.Mul(money.Int(100)).Decimal(1, money.Down)
}

// barCells is the width of a bar.
const barCells = 20

// bar draws a part of 1. A cell is full when all of it is used.
func bar(part money.Exact) string {
	cells, ok := part.Mul(money.Int(barCells)).Round(0, money.Down).Int64()
	if !ok {
		cells = barCells
	}
	n := int(min(barCells, max(0, cells)))
	return strings.Repeat("█", n) + strings.Repeat("░", barCells-n)
}

// noticePercents are the thresholds that run and bill report.
var noticePercents = [...]int64{75, 90, 100}

// noticeBalances says which balances crossed a threshold in the period: the
// highest of each, and what several groups share once.
func (a *app) noticeBalances(invoices []invoice.Invoice) {
	shared := map[string]bool{}
	for i := range invoices {
		inv := &invoices[i]
		for _, b := range inv.Balances {
			a.warnOverdrawn(inv.Group.ID, inv.Period, &b)
			a.noticeBalance(inv.Group.ID, inv.Period, &b)
		}
		for _, p := range inv.Allowances() {
			who, b := inv.Group.ID, p.Balance()
			if p.SharedBy != rates.ByGroup {
				who = oneLine(p.Holder())
			}
			if !shared[p.Rule+"\x00"+who] {
				a.noticeBalance(who, inv.Period, &b)
			}
			shared[p.Rule+"\x00"+who] = true
		}
	}
}

func (a *app) noticeBalance(who, period string, b *invoice.Balance) {
	if percent := crossed(b.UsedBefore(), b.UsedAfter()); percent > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: notice: %s: %s has passed %d %% in %s: %s of %s %s are left%s\n", who, oneLine(b.Allocation), percent,
			period, quantity(b.Left), quantity(b.Units), oneLine(b.Unit), labelled(" until ", b.Until.String()))
	}
}

// warnOverdrawn says that a balance is overdrawn, where the roster wants that
// said.
func (a *app) warnOverdrawn(group, period string, b *invoice.Balance) {
	if b.Overdraft == rates.OverdraftWarn && b.Beyond.Sign() > 0 {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s: %s is overdrawn in %s: %s %s beyond it are billed\n", group, oneLine(b.Allocation), period,
			quantity(b.Beyond), oneLine(b.Unit))
	}
}

// crossed gives the highest threshold between two parts of a grant, in
// percent; 0 for none.
func crossed(before, after money.Exact) int64 {
	highest := int64(0)
	for _, percent := range noticePercents {
		at := money.Ratio(percent, 100)
		if before.Cmp(at) < 0 && after.Cmp(at) >= 0 {
			highest = percent
		}
	}
	return highest
}
