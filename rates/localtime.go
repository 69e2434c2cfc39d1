package rates

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

var (
	localTimeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?$`)
	zonedTimeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$`)
)

// ParseInstant reads a moment that a person wrote: 2026-03-04T10:00 or
// 2026-03-04T10:00:00 in the zone, with an offset (…+01:00 or Z) in no zone's
// regard, or a day alone for its midnight. A blank may stand for the T. A
// local time that a clock change leaves out, or that comes twice, is refused:
// only its offset tells which moment is meant.
func ParseInstant(text string, zone *time.Location) (time.Time, error) {
	written := strings.Replace(text, " ", "T", 1)
	switch {
	case zonedTimeForm.MatchString(text):
		for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00"} {
			if t, err := time.Parse(layout, written); err == nil {
				return t.In(zone), nil
			}
		}
	case localTimeForm.MatchString(text):
		for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
			if wall, err := time.Parse(layout, written); err == nil {
				return onlyInstant(wall, text, zone)
			}
		}
	default:
		if d, err := ParseDate(text); err == nil {
			return d.Midnight(zone), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-03-04T10:00", text)
}

// onlyInstant gives the one moment at which the clocks of the zone show the
// wall time.
func onlyInstant(wall time.Time, text string, zone *time.Location) (time.Time, error) {
	near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	var found []time.Time
	tried := map[int]bool{}
	for _, about := range []time.Time{near.Add(-26 * time.Hour), near, near.Add(26 * time.Hour)} {
		_, offset := about.Zone()
		if tried[offset] {
			continue
		}
		tried[offset] = true
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, really := t.Zone(); really == offset {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return time.Time{}, fmt.Errorf("the clocks of %s are set forward over %s", zone, text)
	case 1:
		return found[0], nil
	}
	return time.Time{}, fmt.Errorf("%s comes twice in %s, where the clocks are set back", text, zone)
}
