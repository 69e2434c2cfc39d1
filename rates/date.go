package rates

import (
	"fmt"
	"time"
)

// firstYear is the first of which a clock counts seconds: an earlier one is a
// slip of the pen.
const firstYear = 1970

// ParseDate reads a calendar day written as 2026-03-31.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < firstYear {
		return Date{}, fmt.Errorf("%q is not a date such as 2026-03-31", text)
	}
	return Date{t.Year(), int(t.Month()), t.Day()}, nil
}

// DateOf is the day of the zone that contains t.
func DateOf(t time.Time, zone *time.Location) Date {
	y, m, d := t.In(zone).Date()
	return Date{y, int(m), d}
}

// Midnight is the instant at which d begins in the zone: 00:00, the first of
// two where the clock is set back over it, or the moment of the change where
// the clock is set forward over it.
func (d Date) Midnight(zone *time.Location) time.Time {
	t := time.Date(d.Year, time.Month(d.Month), d.Day, 12, 0, 0, 0, zone)
	for {
		hour, minute, second := t.Clock()
		midnight := t.Add(-time.Duration(hour*3600+minute*60+second) * time.Second)
		change, _ := t.ZoneBounds() // when the clock was last set
		if change.IsZero() || midnight.After(change) {
			return midnight
		}
		before := change.Add(-time.Second)
		if DateOf(before, zone) != DateOf(t, zone) {
			return change
		}
		t = before
	}
}

// String prints "2026-03-31", or "" for no date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// Before reports whether d is an earlier day than e.
func (d Date) Before(e Date) bool {
	if d.Year != e.Year {
		return d.Year < e.Year
	}
	if d.Month != e.Month {
		return d.Month < e.Month
	}
	return d.Day < e.Day
}

// within reports whether d lies in the half-open [from, until), where a zero
// date is no bound.
func (d Date) within(from, until Date) bool {
	return (from.IsZero() || !d.Before(from)) && (until.IsZero() || d.Before(until))
}

// previous is the day before d.
func (d Date) previous() Date {
	return DateOf(time.Date(d.Year, time.Month(d.Month), d.Day-1, 12, 0, 0, 0, time.UTC), time.UTC)
}

// Next is the day after d.
func (d Date) Next() Date {
	return DateOf(time.Date(d.Year, time.Month(d.Month), d.Day+1, 12, 0, 0, 0, time.UTC), time.UTC)
}
