package rating

import (
	"testing"

	"hpcbill/ingest"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

const week, day = 604800, 86400

// The table that the laboratory publishes: 1000 GPU-hours are 1000, 500, 250
// and 125 in weeks 1 to 4.
func TestDecayByWholeHalfLives(t *testing.T) {
	d := NewDecay(week)
	f := func(weeks int64, want string) {
		t.Helper()
		require.Equal(t, want, money.Int(1000).Mul(d.Exact(weeks*week)).String())
	}
	f(0, "1000")
	f(1, "500")
	f(2, "250")
	f(3, "125")
	f(10, "0.9765625") // 1000/1024, not a digit lost
	require.Equal(t, 1, d.Exact(1023*week).Sign())
}

// UQ Bunya publishes what a half-life of 28 days takes: 16 % in a week, 2.4 %
// in a day. To 50 digits these are 15.9103584746285456968… and
// 2.4451357947426790673… (a double gives …681 at the end).
func TestDecayBetweenHalfLives(t *testing.T) {
	d := NewDecay(28 * day)
	lost := func(age int64, places int) string {
		return money.Int(1).Sub(d.Exact(age)).Mul(money.Int(100)).Decimal(places, money.HalfUp)
	}
	require.Equal(t, "16", lost(7*day, 0))
	require.Equal(t, "15.91035847462855", lost(7*day, 14))
	require.Equal(t, "2.4", lost(day, 1))
	require.Equal(t, "2.445135794742679", lost(day, 15))
	require.Equal(t, "0.707106781186547524", d.Exact(14*day).String()) // the root of a half: …5244008
	require.Equal(t, "0", d.Exact(28*day*100+1).String())
}

// Slurm multiplies by 1 − 0.693/H every second: after a week of 604800 seconds
// 0.500073397150810614… is left, which is not quite a half.
func TestSlurmDecay(t *testing.T) {
	d := NewDecay(week)
	require.Equal(t, "1", d.Slurm(0).String())
	require.Equal(t, "0.999998854166666667", d.Slurm(1).String()) // 1 − 0.693/604800
	require.Equal(t, "0.500073397150810615", d.Slurm(week).String())
	require.Equal(t, "0.307", NewDecay(1).Slurm(1).String())
}

func TestDecayFalls(t *testing.T) {
	d := NewDecay(week)
	for _, factor := range []func(int64) money.Exact{d.Exact, d.Slurm} {
		last := factor(0)
		for age := int64(1); age < 5*week; age += 40009 {
			now := factor(age)
			require.Negative(t, now.Cmp(last), age)
			last = now
		}
	}
}

// A group that used its share has a factor of 1/2, twice its share 1/4.
func TestFairshareFactor(t *testing.T) {
	f := func(used, share money.Exact, want string) {
		t.Helper()
		require.Equal(t, want, FairshareFactor(used, share).String())
	}
	f(money.Int(0), money.Ratio(1, 4), "1")
	f(money.Ratio(1, 4), money.Ratio(1, 4), "0.5")
	f(money.Ratio(1, 2), money.Ratio(1, 4), "0.25")
	f(money.Ratio(1, 8), money.Ratio(1, 4), "0.707106781186547524")
	f(money.Int(1), money.Int(0), "0")
	f(money.Int(1<<40), money.Ratio(1, 4), "0")
}

// Age 1000, JobSize 10000, Fairshare 100000, QoS 1000000 are 0.09, 0.90, 9.00
// and 90.01 % of the highest priority.
func TestPriorityParts(t *testing.T) {
	parts := PriorityParts([]money.Exact{money.Int(1000), money.Int(10000), money.Int(100000), money.Int(1000000)})
	for i, want := range []string{"0.09", "0.90", "9.00", "90.01"} {
		require.Equal(t, want, parts[i].Mul(money.Int(100)).Decimal(2, money.HalfUp))
	}
	require.Equal(t, "0", PriorityParts([]money.Exact{{}})[0].String())
}

func TestShares(t *testing.T) {
	f := NewFairshare(noon+week, NewDecay(week))
	add := func(verdict Verdict, group, user string, until ingest.Instant, hours int64) {
		f.Add(&Outcome{
			Job: &ingest.Job{User: user}, Verdict: verdict, Group: group, Until: until,
			Charges: []Charge{{Group: group, Meter: "gpu_hours", Unit: "GPU-hour", Quantity: money.Int(hours)}},
		})
	}
	add(Charged, "b", "u1", noon, 1000)          // a week ago: 500
	add(Charged, "b", "u1", noon+week, 100)      // now
	add(Waived, "b", "u2", noon-week, 400)       // two weeks ago: 100
	add(Charged, "a", "u1", noon+week, 100)      // of another group
	add(Charged, "a", "u3", noon+week+1, 999999) // not yet over
	var lines []string
	for _, s := range f.Shares() {
		lines = append(lines, s.Group+" "+s.User+" "+s.Used.String()+" "+s.Decayed.String()+" "+s.Part.String())
	}
	require.Equal(t, []string{"a  100 100 0.125", "a u1 100 100 0.125", "b  1500 700 0.875", "b u1 1100 600 0.75", "b u2 400 100 0.125"}, lines)
}
