package rates

import (
	"fmt"
	"time"
)

// Period is one calendar month in the site's time zone, half-open.
type Period struct {
	Year       int
	Month      time.Month
	Start, End time.Time // [Start, End), local midnights of the zone
}

// ParsePeriod reads "2026-03" as a month of the zone.
func ParsePeriod(text string, zone *time.Location) (Period, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil {
		return Period{}, fmt.Errorf("%q is not a period such as 2026-03", text)
	}
	return MonthOf(t.Year(), t.Month(), zone), nil
}

// MonthOf gives the month of the zone.
func MonthOf(year int, month time.Month, zone *time.Location) Period {
	return Period{
		Year: year, Month: month,
		Start: firstDay(year, month).Midnight(zone),
		End:   firstDay(year, month+1).Midnight(zone),
	}
}

// firstDay is the first of a month; month 13 is January of the next year.
func firstDay(year int, month time.Month) Date {
	return DateOf(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC), time.UTC)
}

// PeriodContaining gives the month of the zone that contains t.
func PeriodContaining(t time.Time, zone *time.Location) Period {
	t = t.In(zone)
	return MonthOf(t.Year(), t.Month(), zone)
}

// String prints "2026-03".
func (p Period) String() string { return fmt.Sprintf("%04d-%02d", p.Year, p.Month) }

// Next gives the month after p.
func (p Period) Next() Period { return PeriodContaining(p.End, p.End.Location()) }

// Previous gives the month before p.
func (p Period) Previous() Period {
	return PeriodContaining(p.Start.Add(-time.Hour), p.Start.Location())
}

// FiscalYear gives the first month of the fiscal year that p lies in, of years
// that begin with the month start.
func (p Period) FiscalYear(start time.Month) Period {
	year := p.Year
	if p.Month < start {
		year--
	}
	return MonthOf(year, start, p.Start.Location())
}

// Contains reports whether t lies in [Start, End).
func (p Period) Contains(t time.Time) bool { return !t.Before(p.Start) && t.Before(p.End) }

// Days is the number of calendar days.
func (p Period) Days() int { return time.Date(p.Year, p.Month+1, 0, 0, 0, 0, 0, time.UTC).Day() }
