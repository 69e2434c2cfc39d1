package rates

import (
	"time"

	"hpcbill/rates/money"
)

// Allowance is use that is free: so many units of a meter, or so much money,
// again and again.
type Allowance struct {
	ReductionScope
	// Limit is what is granted each time: units of its Meter, or money.
	Limit PoolLimit
	// Rollover is for how many further times what was not used stays usable:
	// 0 for none, or Unlimited.
	Rollover int
	Prorate  GrantShare
	// FirstMonths makes it one for newcomers: it holds in so many months from
	// the month of the group's Since; 0 is for everybody.
	FirstMonths int
}

// Unlimited is a rollover without an end.
const Unlimited = -1

// GrantShare says how much is granted for a time of which an allowance holds in
// a part alone.
type GrantShare uint8

// The choices of GrantShare.
const (
	WholeGrant    GrantShare = iota // all of it
	GrantByMonths                   // by the months in which it holds on some day
	GrantByDays                     // by the days on which it holds
)

var grantShares = [...]string{"none", "month", "day"}

// Grant is what an allowance gives for one time.
type Grant struct {
	From, Until Date // the time, half-open; of PerOnce, the days on which it holds
	Amount      money.Exact
}

// SinceOf is the day since which those who have a limit together are there: the
// earliest Since of their groups, of which none means always.
func (r *Roster) SinceOf(s Sharing, of string) Date {
	var first Date
	for _, g := range r.Groups {
		if s.Of(g) != of {
			continue
		}
		if g.Since.IsZero() {
			return Date{}
		}
		if first.IsZero() || g.Since.Before(first) {
			first = g.Since
		}
	}
	return first
}

// Holds gives the days, half-open, on which the allowance holds for those who
// are there since a day; it counts from the first of its month. ok is false
// where it never does: for newcomers alone, and these are none.
func (a *Allowance) Holds(since Date) (d Days, ok bool) {
	d = Days{a.From, a.Until}
	if since.IsZero() {
		return d, a.FirstMonths == 0
	}
	month := Date{since.Year, since.Month, 1}
	if d.From.Before(month) {
		d.From = month
	}
	if a.FirstMonths > 0 {
		end := DateOf(time.Date(month.Year, time.Month(month.Month+a.FirstMonths), 1, 0, 0, 0, 0, time.UTC), time.UTC)
		if d.Until.IsZero() || end.Before(d.Until) {
			d.Until = end
		}
	}
	return d, d.Until.IsZero() || d.From.Before(d.Until)
}

// Grants gives what the allowance gives up to the time that a period lies in,
// in order, where it holds on the days given. Without a rollover only that time
// matters, and is the only one given. In a period outside the days there is
// none.
func (a *Allowance) Grants(holds Days, period Period, fiscalYear time.Month) []Grant {
	zone := period.Start.Location()
	if first, end := DateOf(period.Start, zone), DateOf(period.End, zone); !holds.overlaps(first, end) {
		return nil
	}
	now, again := a.Limit.Per.First(period, fiscalYear)
	if !again {
		return []Grant{{holds.From, holds.Until, a.Limit.Amount}}
	}
	at := now
	if a.Rollover != 0 && !holds.From.IsZero() {
		at, _ = a.Limit.Per.First(MonthOf(holds.From.Year, time.Month(holds.From.Month), zone), fiscalYear)
	}
	var grants []Grant
	for !at.Start.After(now.Start) {
		next := at
		for range a.Limit.Per.months() {
			next = next.Next()
		}
		from, until := firstDay(at.Year, at.Month), firstDay(next.Year, next.Month)
		grants = append(grants, Grant{from, until, a.prorated(from, until, holds)})
		at = next
	}
	return grants
}

// overlaps reports whether some day of [from, until) is among the days.
func (d Days) overlaps(from, until Date) bool {
	return (d.From.IsZero() || d.From.Before(until)) && (d.Until.IsZero() || from.Before(d.Until))
}

// prorated is what is granted for [from, until).
func (a *Allowance) prorated(from, until Date, holds Days) money.Exact {
	first, end := from, until
	if first.Before(holds.From) {
		first = holds.From
	}
	if !holds.Until.IsZero() && holds.Until.Before(end) {
		end = holds.Until
	}
	part, all := 1, 1
	switch a.Prorate {
	case GrantByMonths:
		part, all = monthsTouched(first, end), monthsTouched(from, until)
	case GrantByDays:
		part, all = daysIn(first, end), daysIn(from, until)
	}
	return a.Limit.Amount.Mul(money.Ratio(int64(part), int64(all)))
}

// monthsTouched counts the months with some day in [from, until), which has one.
func monthsTouched(from, until Date) int {
	last := until.previous()
	return (last.Year-from.Year)*12 + last.Month - from.Month + 1
}

func daysIn(from, until Date) int {
	return int(until.Midnight(time.UTC).Sub(from.Midnight(time.UTC)) / (24 * time.Hour))
}
