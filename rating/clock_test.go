package rating

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
)

// Nights at half the price, whenever the job started: from 18:00 to 09:00 are
// 12 hours of the night and 3 of the day. A month ends in it at midnight.
func TestClockOfAJob(t *testing.T) {
	zone := berlin(t)
	f := func(billBy, start, end string, suspended int64, want map[time.Month]string) {
		t.Helper()
		card := loadCard(t, `{card: c, currency: EUR, bill_by: `+billBy+`, versions: [{from: 2024-01-01, let: {night: {hour: [0..7, 20..23]}},
			meters: {h: {unit: hour, price: 1}}, rules: [{name: all, charge: {h: {rate: 1, duration: elapsed_h - night/2}}}]}]}`)
		r := NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": card}})
		j := wallJob(t, zone, start, end, suspended)
		for month, one := range want {
			require.Equal(t, []string{one}, parts(r, j, 2025, month))
		}
	}
	f("end", "2025-01-31T18:00:00", "2025-02-01T09:00:00", 0, map[time.Month]string{time.February: "54000 9@1 charged lab"})
	f("usage", "2025-01-31T18:00:00", "2025-02-01T09:00:00", 0, map[time.Month]string{time.January: "21600 4@1 charged lab", time.February: "32400 5@1 charged lab"})
	// A third of the wall time was suspended, evenly: of each hour two thirds.
	f("end", "2025-01-31T18:00:00", "2025-02-01T09:00:00", 18000, map[time.Month]string{time.February: "36000 6@1 charged lab"})
	// The night of 30 March lacks an hour: it has 11 of 12, and the job ran 11.
	f("end", "2025-03-29T20:00:00", "2025-03-30T08:00:00", 0, map[time.Month]string{time.March: "39600 5.5@1 charged lab"})
}
