package rating

import (
	"fmt"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func berlin(t testing.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	return zone
}

func instant(t testing.TB, zone *time.Location, text string) ingest.Instant {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02T15:04:05", text, zone)
	require.NoError(t, err)
	return ingest.Instant(at.Unix())
}

// wallJob is a job of 4 CPUs between two local times.
func wallJob(t testing.TB, zone *time.Location, start, end string, suspended int64) *ingest.Job {
	t.Helper()
	j := jobOf("cpu", 0)
	j.CPUs, j.Start, j.End, j.SuspendedSeconds = 4, instant(t, zone, start), instant(t, zone, end), suspended
	j.Submit, j.Eligible = j.Start-60, j.Start-60
	j.ElapsedSeconds = int64(j.End-j.Start) - suspended
	return j
}

func coreHourCard(t testing.TB, billBy string) *rates.Card {
	t.Helper()
	return loadCard(t, `
card: c
currency: EUR
bill_by: `+billBy+`
versions:
- from: 2024-01-01
  meters: {core_hours: {unit: core-hour, price: "0.02"}}
  rules: [{name: all, charge: {core_hours: cpus}}]
- from: 2025-06-15
  meters: {core_hours: {unit: core-hour, price: "0.03"}}
  rules: [{name: all, charge: {core_hours: cpus}}]
`)
}

// parts gives "seconds quantity price group" of the outcomes of a month.
func parts(r *Rater, j *ingest.Job, year int, month time.Month) []string {
	var got []string
	for _, o := range r.Job(j, rates.MonthOf(year, month, r.tariff.Zone)) {
		line := fmt.Sprintf("%d", o.Seconds)
		for _, c := range o.Charges {
			line += fmt.Sprintf(" %s@%s", c.Quantity, c.Price)
		}
		got = append(got, line+" "+o.Verdict.String()+" "+o.Group)
	}
	return got
}

// C37: where the suspension fell is not recorded, so it is spread evenly.
func TestSuspendedJobIsCutEvenly(t *testing.T) {
	zone := berlin(t)
	r := NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": coreHourCard(t, "usage")}})
	j := wallJob(t, zone, "2025-01-31T20:00:00", "2025-02-01T06:00:00", 7200)
	require.Equal(t, []string{"11520 12.8@0.02 charged lab"}, parts(r, j, 2025, time.January))
	require.Equal(t, []string{"17280 19.2@0.02 charged lab"}, parts(r, j, 2025, time.February))
	require.Empty(t, parts(r, j, 2025, time.March))

	// 1 s of 3 in January: of 2 s elapsed 0.67 fall there and 1.33 in February;
	// the larger remainder takes the odd second.
	j = wallJob(t, zone, "2025-01-31T23:59:59", "2025-02-01T00:00:02", 1)
	require.Equal(t, []string{"1 1/900@0.02 charged lab"}, parts(r, j, 2025, time.January))
	require.Equal(t, []string{"1 1/900@0.02 charged lab"}, parts(r, j, 2025, time.February))
}

// From 20:00 on 30 January to 01:00 on 2 February four days are touched, and no
// day twice where the month begins.
func TestCalendarDaysAddUp(t *testing.T) {
	zone := berlin(t)
	card := loadCard(t, `{card: c, currency: EUR, bill_by: usage, versions: [{from: 2024-01-01,
		meters: {days: {unit: day, price: 1}}, rules: [{name: all, charge: {days: {units: calendar_days}}}]}]}`)
	r := NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": card}})
	j := wallJob(t, zone, "2025-01-30T20:00:00", "2025-02-02T01:00:00", 0)
	require.Equal(t, []string{"100800 2@1 charged lab"}, parts(r, j, 2025, time.January))
	require.Equal(t, []string{"90000 2@1 charged lab"}, parts(r, j, 2025, time.February))
	j = wallJob(t, zone, "2025-01-30T20:00:00", "2025-02-01T00:00:00", 0)
	require.Equal(t, []string{"100800 2@1 charged lab"}, parts(r, j, 2025, time.January))
	require.Empty(t, parts(r, j, 2025, time.February))
}

// C46: the edges of a period are half-open.
func TestEdgesOfThePeriod(t *testing.T) {
	zone := berlin(t)
	by := func(name string) *Rater {
		return NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": coreHourCard(t, name)}})
	}
	months := func(r *Rater, j *ingest.Job) string {
		return fmt.Sprint(len(r.Job(j, rates.MonthOf(2025, time.March, zone))), len(r.Job(j, rates.MonthOf(2025, time.April, zone))))
	}
	last := wallJob(t, zone, "2025-03-31T22:00:00", "2025-03-31T23:59:59", 0)
	midnight := wallJob(t, zone, "2025-03-31T22:00:00", "2025-04-01T00:00:00", 0)
	next := wallJob(t, zone, "2025-04-01T00:00:00", "2025-04-01T01:00:00", 0)
	empty := wallJob(t, zone, "2025-04-01T00:00:00", "2025-04-01T00:00:00", 0)
	across := wallJob(t, zone, "2025-03-31T22:00:00", "2025-04-01T01:00:00", 0)
	for _, c := range []struct {
		by   string
		j    *ingest.Job
		want string
	}{
		{"end", last, "1 0"}, {"end", midnight, "0 1"}, {"end", next, "0 1"}, {"end", empty, "0 1"}, {"end", across, "0 1"},
		{"start", last, "1 0"}, {"start", midnight, "1 0"}, {"start", next, "0 1"}, {"start", empty, "0 1"}, {"start", across, "1 0"},
		{"usage", last, "1 0"}, {"usage", midnight, "1 0"}, {"usage", next, "0 1"}, {"usage", empty, "0 1"}, {"usage", across, "1 1"},
	} {
		require.Equal(t, c.want, months(by(c.by), c.j), "%s %v", c.by, c.j.Start)
	}
}

// C95: the price changes at local midnight inside a job.
func TestRateChangeInsideAJob(t *testing.T) {
	zone := berlin(t)
	j := wallJob(t, zone, "2025-06-14T22:00:00", "2025-06-15T02:00:00", 0)
	f := func(by, amount string, lines ...string) {
		t.Helper()
		r := NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": coreHourCard(t, by)}})
		require.Equal(t, lines, parts(r, j, 2025, time.June))
		sum := money.Exact{}
		for _, o := range r.Job(j, rates.MonthOf(2025, time.June, zone)) {
			for _, c := range o.Charges {
				sum = sum.Add(c.Amount)
			}
		}
		require.Equal(t, amount, sum.String())
	}
	f("usage", "0.4", "7200 8@0.02 charged lab", "7200 8@0.03 charged lab")
	f("start", "0.32", "14400 16@0.02 charged lab")
	f("end", "0.48", "14400 16@0.03 charged lab")
}

// C89: an account that moves from one group to another.
func TestAccountThatMoves(t *testing.T) {
	zone := berlin(t)
	groups := roster(t, `groups:
- {id: old, jobs: [{account: lab, until: 2025-03-15}]}
- {id: new, jobs: [{account: lab, from: 2025-03-15}, {account: other, from: 2025-03-16}]}
`)
	j := wallJob(t, zone, "2025-03-14T22:00:00", "2025-03-17T00:00:00", 0)
	f := func(by string, lines ...string) {
		t.Helper()
		r := NewRater(Tariff{Zone: zone, Roster: groups, Cards: map[string]*rates.Card{"c1": coreHourCard(t, by)}})
		require.Equal(t, lines, parts(r, j, 2025, time.March))
	}
	f("start", "180000 200@0.02 charged old")
	f("end", "180000 200@0.02 charged new")
	f("usage", "7200 8@0.02 charged old", "172800 192@0.02 charged new") // not cut where nothing moves
}

// A job that still runs is known up to when its record was made.
func TestRunningJob(t *testing.T) {
	zone := berlin(t)
	j := wallJob(t, zone, "2025-01-31T20:00:00", "2025-02-01T06:00:00", 0)
	j.State, j.End = ingest.Running, ingest.None
	f := func(by string, month time.Month, lines ...string) {
		t.Helper()
		r := NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": coreHourCard(t, by)}})
		require.Equal(t, lines, parts(r, j, 2025, month))
	}
	f("usage", time.January, "14400 16@0.02 charged lab")
	f("usage", time.February, "36000 running ")
	f("end", time.January, "36000 running ")
	f("end", time.February, "36000 running ")
	f("start", time.January, "36000 running ")
	f("start", time.February)
}

// A charge per job falls where the job ends, once.
func TestChargePerJobFallsOnce(t *testing.T) {
	zone := berlin(t)
	c := loadCard(t, `
card: c
currency: EUR
bill_by: usage
versions:
- from: 2024-01-01
  meters: {jobs: {unit: job, price: 2}, core_hours: {unit: core-hour, price: 1}}
  rules: [{name: all, charge: {jobs: {rate: 1, per: job}, core_hours: cpus}}]
`)
	r := NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": c}})
	j := wallJob(t, zone, "2025-01-31T23:00:00", "2025-02-01T01:00:00", 0)
	require.Equal(t, []string{"3600 4@1 charged lab"}, parts(r, j, 2025, time.January))
	require.Equal(t, []string{"3600 1@2 4@1 charged lab"}, parts(r, j, 2025, time.February))
}

// A record that is a second longer than its seconds: no part has fewer than 0.
func TestCutsOfARecordThatIsOff(t *testing.T) {
	j := &ingest.Job{Start: 1_000_000, End: 1_000_006, ElapsedSeconds: 4, SuspendedSeconds: 1}
	p := cut(j, j.Start, j.End, j.Start+2, j.Start+4)
	require.Equal(t, part{from: j.Start + 2, until: j.Start + 4, elapsed: 2, suspended: 1}, p)
}

// Cutting a job at any instants conserves its seconds and every meter.
func TestCutsConserve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := &ingest.Job{Start: 1_000_000}
		j.ElapsedSeconds = rapid.Int64Range(0, 1<<40).Draw(t, "elapsed")
		j.SuspendedSeconds = rapid.Int64Range(0, 1<<40).Draw(t, "suspended")
		j.End = j.Start + ingest.Instant(j.ElapsedSeconds+j.SuspendedSeconds+rapid.Int64Range(-1, 1).Draw(t, "off"))
		if j.End <= j.Start {
			t.Skip("no time")
		}
		at := func(name string) ingest.Instant {
			return ingest.Instant(rapid.Int64Range(int64(j.Start), int64(j.End)).Draw(t, name))
		}
		a, b := at("a"), at("b")
		a, b = min(a, b), max(a, b)
		whole := cut(j, j.Start, j.End, j.Start, j.End)
		var elapsed, suspended int64
		lasts := 0
		for _, p := range []part{cut(j, j.Start, j.End, j.Start-5, a), cut(j, j.Start, j.End, a, b), cut(j, j.Start, j.End, b, j.End+5)} {
			require.GreaterOrEqual(t, p.elapsed, int64(0))
			require.GreaterOrEqual(t, p.suspended, int64(0))
			elapsed, suspended = elapsed+p.elapsed, suspended+p.suspended
			if p.last {
				lasts++
			}
		}
		require.Equal(t, j.ElapsedSeconds, elapsed)
		require.Equal(t, j.SuspendedSeconds, suspended)
		require.Equal(t, j.ElapsedSeconds, whole.elapsed)
		require.Equal(t, 1, lasts)
	})
}

// A job's seconds, cores and money are the same whether months are put
// together or the job is taken whole.
func TestMonthsConserveMeters(t *testing.T) {
	zone := berlin(t)
	text := `
card: c
currency: EUR
bill_by: %s
versions:
- from: 2020-01-01
  let: {night: {hour: [0..7, 20..23]}, weekend: {weekday: [sat, sun]}}
  meters: {su: {unit: SU, price: "0.0123"}, mem: {unit: GiB-hour, price: "0.7"}, cheap: {unit: core-hour, price: "0.01"}}
  rules: [{name: all, charge: {su: "max(cpus*0.8, mem_gib*0.102)", mem: mem_gib, cheap: {rate: cpus, duration: elapsed_h - night/2 - weekend/3}}}]
`
	load := func(by string) *Rater {
		return NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": loadCard(t, fmt.Sprintf(text, by))}})
	}
	usage, end := load("usage"), load("end")
	rapid.Check(t, func(t *rapid.T) {
		j := jobOf("cpu", 0)
		j.CPUs, j.MemoryMiB = rapid.Int64Range(1, 4096).Draw(t, "cpus"), rapid.Int64Range(1, 1<<30).Draw(t, "mem")
		j.Start = ingest.Instant(rapid.Int64Range(1735000000, 1765000000).Draw(t, "start"))
		j.ElapsedSeconds, j.SuspendedSeconds = rapid.Int64Range(1, 200*86400).Draw(t, "elapsed"), rapid.Int64Range(0, 86400).Draw(t, "suspended")
		j.End = j.Start + ingest.Instant(j.ElapsedSeconds+j.SuspendedSeconds)
		sum := func(r *Rater) (seconds int64, meters map[string]money.Exact) {
			meters = map[string]money.Exact{}
			for p := rates.PeriodContaining(timeOf(j.Start), zone); !timeOf(j.End).Before(p.Start); p = p.Next() {
				read, _ := r.Seconds(j, p)
				for _, o := range r.Job(j, p) {
					require.Equal(t, Charged, o.Verdict)
					seconds, read = seconds+o.Seconds, read-o.Seconds
					for _, c := range o.Charges {
						meters[c.Meter] = meters[c.Meter].Add(c.Quantity)
						meters["money"] = meters["money"].Add(c.Amount)
					}
				}
				require.Zero(t, read)
			}
			return seconds, meters
		}
		us, um := sum(usage)
		es, em := sum(end)
		require.Equal(t, j.ElapsedSeconds, us)
		require.Equal(t, j.ElapsedSeconds, es)
		for m := range em {
			require.True(t, um[m].Equal(em[m]), m)
		}
	})
}

// A card that changes its bill_by bills every second of a job once.
func TestBillByChangesInsideAJob(t *testing.T) {
	zone := berlin(t)
	text := `
card: c
currency: EUR
versions:
- {from: 2024-01-01, bill_by: %s, meters: {m: {unit: core-hour, price: 1}}, rules: [{name: one, charge: {m: cpus}}]}
- {from: 2025-02-01, bill_by: %s, meters: {m: {unit: core-hour, price: 2}}, rules: [{name: two, charge: {m: cpus}}]}
`
	j := wallJob(t, zone, "2025-01-31T22:00:00", "2025-02-01T03:00:00", 0)
	f := func(first, second, january, february string) {
		t.Helper()
		r := NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": loadCard(t, fmt.Sprintf(text, first, second))}})
		require.Equal(t, january, fmt.Sprint(parts(r, j, 2025, time.January)))
		require.Equal(t, february, fmt.Sprint(parts(r, j, 2025, time.February)))
	}
	f("usage", "end", "[7200 8@1 charged lab]", "[10800 12@2 charged lab]")
	f("end", "usage", "[]", "[18000 20@2 charged lab]")
	f("start", "end", "[18000 20@1 charged lab]", "[]")
	f("end", "start", "[]", "[18000 20@2 charged lab]")
}
