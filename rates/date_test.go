package rates

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMidnight(t *testing.T) {
	f := func(zoneName string, d Date, want string) {
		t.Helper()
		zone, err := time.LoadLocation(zoneName)
		require.NoError(t, err)
		require.Equal(t, want, d.Midnight(zone).UTC().Format(time.RFC3339))
	}
	f("UTC", Date{2025, 3, 1}, "2025-03-01T00:00:00Z")
	f("Europe/Berlin", Date{2025, 3, 30}, "2025-03-29T23:00:00Z")  // the clock changes at 2
	f("Europe/Berlin", Date{2025, 10, 26}, "2025-10-25T22:00:00Z") // and at 3
	f("Europe/Berlin", Date{2025, 10, 27}, "2025-10-26T23:00:00Z")
	f("America/Santiago", Date{2025, 9, 7}, "2025-09-07T04:00:00Z") // from 24:00 to 01:00
	f("America/Santiago", Date{2025, 4, 5}, "2025-04-05T03:00:00Z")
	f("America/Santiago", Date{2025, 4, 6}, "2025-04-06T04:00:00Z") // 23:00 to 24:00 happens twice
	f("America/Havana", Date{2025, 11, 2}, "2025-11-02T04:00:00Z")  // 00:00 to 01:00 happens twice
	f("America/Havana", Date{2025, 3, 9}, "2025-03-09T05:00:00Z")   // from 00:00 to 01:00
	f("Asia/Beirut", Date{2025, 3, 30}, "2025-03-29T22:00:00Z")     // from 00:00 to 01:00
}

// Every instant belongs to the day between two midnights that a calendar says.
func TestMidnightsPartTheDays(t *testing.T) {
	for _, name := range []string{"America/Santiago", "America/Havana", "Asia/Beirut", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Africa/Cairo", "Asia/Tehran"} {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		for day := (Date{2009, 12, 1}); day.Before(Date{2026, 1, 1}); {
			y, m, d := time.Date(day.Year, time.Month(day.Month), day.Day+1, 12, 0, 0, 0, time.UTC).Date()
			next := Date{y, int(m), d}
			from, until := day.Midnight(zone), next.Midnight(zone)
			if from.Before(until) { // Apia left out a day
				require.Equal(t, day, DateOf(from, zone), "%s %s", name, day)
				require.Equal(t, day, DateOf(until.Add(-time.Second), zone), "%s %s", name, day)
				require.True(t, DateOf(from.Add(-time.Second), zone).Before(day), "%s %s", name, day)
			}
			day = next
		}
	}
}

func TestParseDate(t *testing.T) {
	f := func(text string, want Date) {
		t.Helper()
		d, err := ParseDate(text)
		require.Equal(t, want, d)
		require.Equal(t, want.IsZero(), err != nil)
	}
	f("2025-02-28", Date{2025, 2, 28})
	f("2024-02-29", Date{2024, 2, 29})
	f("2025-02-29", Date{})
	f("2025-2-1", Date{})
	f("0000-01-01", Date{})
	f("01/02/2025", Date{})
	f("", Date{})
}
