package ingest

import "time"

// Gap is a time in which a group held nothing at a place, between two spans in
// which it did.
type Gap struct {
	Before, After Holding
	From, Until   Date // half-open
}

// Days counts the days of the gap.
func (g *Gap) Days() int { return DaysBetween(g.From, g.Until) }

// Gaps finds the gaps between holdings, which are sorted as HoldingsOf has
// them.
func Gaps(holdings []Holding) []Gap {
	var gaps []Gap
	for i := 1; i < len(holdings); i++ {
		a, b := holdings[i-1], holdings[i]
		same := a.Group == b.Group && a.Filesystem == b.Filesystem && a.Tier == b.Tier && a.Holder == b.Holder && a.Ignored == b.Ignored
		if same && !a.Until.IsZero() && a.Until.Before(b.From) {
			gaps = append(gaps, Gap{a, b, a.Until, b.From})
		}
	}
	return gaps
}

// Within gives the part of the gap that lies in the days [from, until); there
// is none where ok is false.
func (g Gap) Within(from, until Date) (part Gap, ok bool) {
	if g.From.Before(from) {
		g.From = from
	}
	if until.Before(g.Until) {
		g.Until = until
	}
	return g, g.From.Before(g.Until)
}

// DaysBetween counts the days [from, until) of the calendar.
func DaysBetween(from, until Date) int {
	const secondsOfDay = 86400
	midnight := func(d Date) int64 { return time.Date(d.Year, time.Month(d.Month), d.Day, 0, 0, 0, 0, time.UTC).Unix() }
	return int((midnight(until) - midnight(from)) / secondsOfDay)
}

// Next is the day after d.
func (d Date) Next() Date {
	y, m, day := time.Date(d.Year, time.Month(d.Month), d.Day+1, 0, 0, 0, 0, time.UTC).Date()
	return Date{y, int(m), day}
}

// Previous is the day before d.
func (d Date) Previous() Date {
	y, m, day := time.Date(d.Year, time.Month(d.Month), d.Day-1, 0, 0, 0, 0, time.UTC).Date()
	return Date{y, int(m), day}
}
