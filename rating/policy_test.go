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

func policy(t testing.TB, c *rates.Card) *Policy {
	t.Helper()
	return NewPolicy(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": c}}, november)
}

// findings prints what is beyond: "kind job|user had>max jobs cost unpriced".
func findings(p *Policy) []string {
	var lines []string
	for _, f := range p.Findings() {
		who := f.JobID
		if who == "" {
			who = "user " + f.User
		}
		had := f.Had.String()
		if f.Unlimited {
			had = "unlimited"
		}
		if f.Unknown {
			who, had = "?", "unknown"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s>%s %d %s %d", f.Kind, who, had, f.Max, f.Jobs, f.Cost, f.Unpriced))
	}
	return lines
}

// The laboratory's limits: a debug job has an hour and 4 GPUs, a regular one
// 24 hours and 4 GPUs; in ialab-low a GPU carries 4 CPUs and 20 GiB. A
// GPU-hour costs 0.20 in debug and 0.35 in regular.
func TestIALABJobLimits(t *testing.T) {
	f := func(change func(j *ingest.Job), want ...string) {
		t.Helper()
		p := policy(t, shipped(t, "ialab"))
		j := jobOf("ialab-low", 3600)
		j.QoS, j.CPUs, j.MemoryMiB, j.GPUs, j.TimelimitSeconds = "debug", 8, 40*gib, 2, 3600
		change(j)
		p.Add(j)
		require.Equal(t, want, findings(p))
	}
	f(func(*ingest.Job) {}) // 2 GPUs carry 8 CPUs and 40 GiB, for an hour
	f(func(j *ingest.Job) { j.GPUs, j.CPUs = 4, 16 })
	f(func(j *ingest.Job) { j.GPUs = 5 }, "gpus_per_job 1 5>4 1 1 0")
	f(func(j *ingest.Job) { j.CPUs = 9 }, "cpus_per_gpu 1 9>8 1 0.45 0") // 9/4 GPUs
	f(func(j *ingest.Job) { j.MemoryMiB = 41 * gib }, "mem_gib_per_gpu 1 41>40 1 0.41 0")
	f(func(j *ingest.Job) { j.Partition, j.CPUs = "ialab-high", 64 }) // shares are of ialab-low alone
	f(func(j *ingest.Job) { j.TimelimitSeconds = 5400 }, "time_limit_h 1 1.5>1 1 0.4 0")
	f(func(j *ingest.Job) { j.TimelimitSeconds = ingest.NoLimit }, "time_limit_h 1 unlimited>1 1 0.4 0")
	f(func(j *ingest.Job) { j.ElapsedSeconds, j.Start = 3622, noon-3622 }) // ended by Slurm at its limit
	f(func(j *ingest.Job) { j.TimelimitSeconds = ingest.Unknown })
	f(func(j *ingest.Job) { j.TimelimitSeconds, j.ElapsedSeconds, j.Start = ingest.Unknown, 7200, noon-7200 }, "time_limit_h 1 2>1 1 0.8 0")
	f(func(j *ingest.Job) { j.QoS, j.TimelimitSeconds = "regular", 86400 })
	f(func(j *ingest.Job) { j.QoS, j.TimelimitSeconds = "regular", 90000 }, "time_limit_h 1 25>24 1 0.7 0")
	f(func(j *ingest.Job) { j.QoS, j.TimelimitSeconds = "normal", 90000 }) // limits of neither QoS
	// A share of no GPU is nothing.
	f(func(j *ingest.Job) { j.GPUs, j.CPUs, j.MemoryMiB = 0, 4, 20*gib }, "cpus_per_gpu 1 4>0 1 0.2 0", "mem_gib_per_gpu 1 20>0 1 0.2 0")
	// What cannot be told is not within.
	f(func(j *ingest.Job) { j.GPUs = ingest.Unknown }, "gpus_per_job ? unknown>4 1 0 0", "cpus_per_gpu ? unknown>4 1 0 0", "mem_gib_per_gpu ? unknown>20 1 0 0")
	// A job of another month, one that never ran, one that cannot be priced.
	f(func(j *ingest.Job) { j.GPUs, j.Start, j.End = 5, j.Start-86400*30, j.End-86400*30 })
	f(func(j *ingest.Job) { j.GPUs, j.Start, j.ElapsedSeconds = 5, ingest.None, 0 })
	f(func(j *ingest.Job) { j.GPUs, j.Account = 5, "nobody" }, "gpus_per_job 1 5>4 1 0 1")
}

// A debug user has one job running and four submitted; a regular one four and
// thirty-two.
func TestIALABUserLimits(t *testing.T) {
	f := func(qos string, spans [][3]int, want ...string) {
		t.Helper()
		p := policy(t, shipped(t, "ialab"))
		for i, s := range spans { // submit, start, end, in minutes after noon
			j := jobOf("ialab-low", int64(s[2]-s[1])*60)
			j.QoS, j.GPUs, j.CPUs, j.JobIDRaw, j.JobID = qos, 1, 1, uint64(i+1), fmt.Sprint(i+1)
			j.Submit, j.Start, j.End = noon+ingest.Instant(s[0]*60), noon+ingest.Instant(s[1]*60), noon+ingest.Instant(s[2]*60)
			j.TimelimitSeconds = 3600
			p.Add(j)
		}
		require.Equal(t, want, findings(p))
	}
	f("debug", [][3]int{{0, 0, 60}, {0, 60, 120}}) // one after the other
	f("debug", [][3]int{{0, 0, 60}, {0, 59, 119}}, "running_per_user user u1 2>1 1 0.2 0")
	f("debug", [][3]int{{0, 59, 119}, {0, 0, 60}, {0, 118, 178}}, "running_per_user user u1 2>1 2 0.4 0")
	// Five wait at once; the fifth is beyond. The first is gone when the sixth
	// comes, and the fifth is still there.
	five := [][3]int{{0, 0, 60}, {1, 60, 120}, {2, 120, 180}, {3, 180, 240}, {4, 240, 300}}
	f("debug", five, "submitted_per_user user u1 5>4 1 0.2 0")
	f("debug", append(five[:4:4], [3]int{60, 240, 300}))
	f("debug", append(five[:5:5], [3]int{60, 300, 360}), "submitted_per_user user u1 5>4 2 0.4 0")
	four := [][3]int{{0, 0, 60}, {0, 0, 60}, {0, 0, 60}, {0, 0, 60}}
	f("regular", four)
	f("regular", append(four[:4:4], [3]int{0, 30, 90}, [3]int{0, 30, 90}), "running_per_user user u1 6>4 2 0.7 0")
}

// What began before the period keeps company and is not reported again; what
// has not ended stays to the end of the period.
func TestPolicyAtTheEdges(t *testing.T) {
	first, next := ingest.Instant(november.Start.Unix()), ingest.Instant(november.End.Unix())
	f := func(spans [][2]ingest.Instant, want ...string) {
		t.Helper()
		p := policy(t, shipped(t, "ialab"))
		for i, s := range spans {
			j := jobOf("ialab-low", int64(s[1]-s[0]))
			j.QoS, j.GPUs, j.JobIDRaw, j.Submit, j.Start, j.End = "debug", 1, uint64(i+1), s[0], s[0], s[1]
			j.TimelimitSeconds = 3600
			if s[1] == ingest.None {
				j.ElapsedSeconds = 60
			} else {
				j.ElapsedSeconds = 3600
			}
			p.Add(j)
		}
		require.Equal(t, want, findings(p))
	}
	f([][2]ingest.Instant{{first - 1800, first + 1800}, {first - 900, first + 2700}})
	f([][2]ingest.Instant{{first - 1800, first + 1800}, {first, first + 3600}}, "running_per_user user u1 2>1 1 0.2 0")
	f([][2]ingest.Instant{{first - 3600, first}, {first, first + 3600}})
	// The job that ends next month costs what it costs next month.
	f([][2]ingest.Instant{{next - 1800, next + 1800}, {next - 900, next + 2700}}, "running_per_user user u1 2>1 1 0.2 0")
	f([][2]ingest.Instant{{next - 1800, next + 1800}, {next, next + 3600}})
	f([][2]ingest.Instant{{next - 7200, ingest.None}, {next - 900, next + 2700}}, "running_per_user user u1 2>1 1 0.2 0")
	f([][2]ingest.Instant{{next - 7200, next + 3600}, {next - 900, ingest.None}}, "running_per_user user u1 2>1 1 0 1")
}

func TestPolicyLimited(t *testing.T) {
	some, together := policy(t, shipped(t, "ialab")).Limited()
	require.True(t, some && together)
	some, together = policy(t, shipped(t, "osc")).Limited()
	require.False(t, some || together)
}

// The sweep counts what a look at every beginning counts.
func TestSweepAgreesWithCounting(t *testing.T) {
	p := policy(t, shipped(t, "ialab"))
	limit := p.rater.cards["c1"].Versions[0].Limits[0]
	key := userKey{boundKey{limit, rates.RunningPerUser, "c1"}, "u1"} // at most one
	rapid.Check(t, func(t *rapid.T) {
		var stays []stay
		for i := range rapid.IntRange(1, 12).Draw(t, "jobs") {
			from := p.from + ingest.Instant(rapid.IntRange(-5, 20).Draw(t, "from"))
			until := from + ingest.Instant(rapid.IntRange(1, 10).Draw(t, "length"))
			stays = append(stays, stay{from: from, until: until, id: uint64(i), cost: money.Int(1)})
		}
		beyond, most := int64(0), int64(0)
		for _, s := range stays {
			there := int64(0)
			for _, o := range stays {
				before := o.from < s.from || o.from == s.from && o.id <= s.id
				if before && o.until > s.from {
					there++
				}
			}
			if there > 1 && s.from >= p.from {
				beyond++
				most = max(most, there)
			}
		}
		f, some := p.sweep(key, stays)
		require.Equal(t, beyond > 0, some)
		require.Equal(t, beyond, f.Jobs)
		require.Equal(t, money.Int(beyond).String(), f.Cost.String())
		require.Equal(t, money.Int(most).String(), f.Had.String())
	})
}
