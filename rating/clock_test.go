package rating

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/ingest"
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

// The hours that no clock has are never less than none, however a suspension
// and the end of a month cut the job: it is charged for them, and not held.
func TestNoClockHasMoreThanAPart(t *testing.T) {
	zone := berlin(t)
	card := loadCard(t, `{card: c, currency: EUR, bill_by: usage, versions: [{from: 2024-01-01, let: {night: {hour: [0..7, 18..23]}, day: {hour: 8..17}},
		meters: {h: {unit: hour, price: 1}, d: {unit: hour, price: 1}},
		rules: [{name: all, charge: {h: {rate: 1, duration: elapsed_h - night}, d: {rate: 1, duration: day}}}]}]}`)
	r := NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": card}})
	for suspended := int64(0); suspended < 9; suspended++ { // all of it at night
		for _, month := range []time.Month{time.January, time.February} {
			j := wallJob(t, zone, "2025-01-31T18:00:01", "2025-02-01T07:00:00", suspended)
			for _, o := range r.Job(j, rates.PeriodContaining(time.Date(2025, month, 2, 0, 0, 0, 0, zone), zone)) {
				require.Equal(t, Charged, o.Verdict, "%d %s", suspended, month)
				require.Zero(t, o.Charges[0].Quantity.Sign(), "%d %s", suspended, month)
				require.Zero(t, o.Charges[1].Quantity.Sign(), "%d %s", suspended, month)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		j := jobOf("cpu", 0)
		j.Start = ingest.Instant(rapid.Int64Range(1735000000, 1765000000).Draw(t, "start"))
		j.ElapsedSeconds, j.SuspendedSeconds = rapid.Int64Range(0, 80*86400).Draw(t, "elapsed"), rapid.Int64Range(0, 90000).Draw(t, "suspended")
		j.End = j.Start + ingest.Instant(j.ElapsedSeconds+j.SuspendedSeconds+rapid.Int64Range(-1, 1).Draw(t, "off"))
		for p := rates.PeriodContaining(timeOf(j.Start), zone); !timeOf(j.End).Before(p.Start); p = p.Next() {
			for _, o := range r.Job(j, p) {
				if j.End <= j.Start && j.ElapsedSeconds > 0 {
					require.Equal(t, Held, o.Verdict, "nothing unknown costs zero")
					continue
				}
				require.Equal(t, Charged, o.Verdict)
				require.True(t, o.Charges[0].Quantity.Equal(o.Charges[1].Quantity), "night and day are all hours")
			}
		}
	})
}
