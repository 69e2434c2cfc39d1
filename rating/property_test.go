package rating

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// busyCard asks for much: texts, numbers, GPU types, times, tables.
const busyCard = `
card: busy
currency: USD
versions:
- from: 2024-01-01
  hardware:
    gpu: {match: {gpus: "> 0"}, cores: 32, mem_gib: 256, gpus: 4}
    fat: {match: {partition: fat}, cores: 64, mem_gib: 4096, type: big}
    cpu: {match: {partition: "*"}, cores: 64, mem_gib: 256}
  let: {by_mem: mem_gib/mem_per_core_gib, most: "max(cpus, by_mem)"}
  meters:
    su: {unit: SU, price_by: node_type, price: {gpu: "0.5", "*": "0.02"}}
    gpu_hours: {unit: GPU-hour, price_by: class, price: {internal: 1, external: 2}}
  states: {charge: ["*"], waive: {NODE_FAIL: node failure}}
  factor: [{qos: {high: 2, low: 0.5}}, {cpus: {"> 32": "0.9"}}, {weekday: {"sat..sun": "0.5"}}]
  rules:
  - {name: free, match: {partition: free}, exclude: free}
  - {name: types, match: {gpu_type: "a100*", gpus: ">= 2"}, charge: {su: most, gpu_hours: gpus}}
  - {name: long, match: {elapsed_h: ">= 1", timelimit_h: "< 100"}, charge: {su: {rate: most, duration: "max(elapsed_h, 0.25)"}}}
  - {name: night, match: {hour: "0..6"}, charge: {su: cpus}}
  - {name: small, match: {cpus: "< 60", nodes: 1}, charge: {su: {units: "trunc(most*factor*elapsed_h, 3)"}}}
`

const busyRoster = `
precedence: [user, account]
groups:
- {id: a, jobs: [{account: lab}, {account: "x*"}]}
- {id: b, class: external, jobs: [{account: xy, until: 2025-11-10}, {user: u2}]}
- {id: c, class: odd, jobs: [{account: "*z"}]}
`

func busyTariff(t testing.TB) Tariff {
	t.Helper()
	return Tariff{Zone: berlin(t), Roster: roster(t, busyRoster), Cards: map[string]*rates.Card{
		"c1": loadCard(t, busyCard), "c2": shipped(t, "pitt-crc"),
	}}
}

func drawJob(t *rapid.T) *ingest.Job {
	pick := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(t, name) }
	j := jobOf(pick("partition", "cpu", "fat", "free", "smp", "preempt", "cpu,fat"), rapid.Int64Range(0, 200000).Draw(t, "seconds"))
	j.Cluster, j.Account, j.User = pick("cluster", "c1", "c2", "c3"), pick("account", "lab", "xy", "xz", "none", ""), pick("user", "u1", "u2", "u3")
	j.QoS, j.State = pick("qos", "normal", "high", "low"), ingest.State(pick("state", "COMPLETED", "NODE_FAIL", "TIMEOUT", "MELTED"))
	j.CPUs, j.NodeCount = rapid.Int64Range(0, 70).Draw(t, "cpus"), rapid.Int64Range(1, 2).Draw(t, "nodes")
	j.MemoryMiB = rapid.Int64Range(-1, 1<<20).Draw(t, "mem")
	j.GPUs = rapid.Int64Range(-1, 3).Draw(t, "gpus")
	j.AllocTRES = pick("tres", "", "gres/gpu:a100=2", "gres/gpu:h100=2", "gres/gpu:a100_80=1,gres/gpu:h100=1")
	j.TimelimitSeconds = rapid.SampledFrom([]int64{ingest.Unknown, ingest.NoLimit, 3600}).Draw(t, "limit")
	shift := ingest.Instant(rapid.Int64Range(-10*86400, 10*86400).Draw(t, "shift"))
	j.Submit, j.Eligible, j.Start, j.End = j.Submit+shift, j.Eligible+shift, j.Start+shift, j.End+shift
	return j
}

// said prints everything that an outcome says.
func said(outcomes []Outcome) string {
	var text string
	for _, o := range outcomes {
		text += fmt.Sprintf("%s %s %d %d-%d %+v", o.Verdict, o.Group, o.Seconds, o.From, o.Until, o.Cause)
		for _, c := range o.Charges {
			text += fmt.Sprintf("\n  %s %s %s %s@%s%s=%s %+v", c.Group, c.Meter, c.Unit, c.Quantity, c.Price, c.PriceLabel, c.Amount, c.Reason)
		}
		text += "\n"
	}
	return text
}

// What a Rater says of a job does not depend on the jobs before it, nor on
// whether anybody asks why.
func TestOrderDoesNotMatter(t *testing.T) {
	tariff, p := busyTariff(t), rates.MonthOf(2025, time.November, berlin(t))
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.Custom(drawJob), 1, 12).Draw(t, "jobs")
		forward, backward, want := NewRater(tariff), NewRater(tariff), make([]string, len(jobs))
		for i, j := range jobs {
			want[i] = said(NewRater(tariff).Job(j, p))
		}
		for i, j := range jobs {
			require.Equal(t, want[i], said(forward.Job(j, p)))
		}
		for i, j := range slices.Backward(jobs) {
			require.Equal(t, want[i], said(backward.Job(j, p)))
			var explained []Outcome
			for _, part := range backward.Explain(j, p).Parts {
				explained = append(explained, part.Outcome)
			}
			require.Equal(t, want[i], said(explained))
		}
	})
}

// Every job-second that is read is accounted for, and merging tallies counts
// the same.
func TestTallyConserves(t *testing.T) {
	r, p := NewRater(busyTariff(t)), rates.MonthOf(2025, time.November, berlin(t))
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.Custom(drawJob), 0, 30).Draw(t, "jobs")
		whole, halves := &Tally{}, [2]Tally{}
		for i, j := range jobs {
			if seconds, some := r.Seconds(j, p); some {
				whole.AddRead(seconds)
				halves[i%2].AddRead(seconds)
			}
			for _, o := range r.Job(j, p) {
				whole.Add(&o)
				halves[i%2].Add(&o)
			}
			seconds, some := r.Seconds(j, p)
			again, same := r.Read()
			require.Equal(t, []any{seconds, some}, []any{again, same})
		}
		require.NoError(t, whole.Check())
		halves[0].Merge(&halves[1])
		require.Equal(t, whole.Causes(), halves[0].Causes())
		require.Equal(t, whole.Total, halves[0].Total)
		require.Equal(t, whole.Read, halves[0].Read)
		var causes int64
		for _, c := range whole.Causes() {
			causes += c.Jobs
		}
		require.Equal(t, causes, whole.Total[Held].Jobs+whole.Total[Excluded].Jobs+whole.Total[Waived].Jobs)
	})
}

func TestTallySeesALoss(t *testing.T) {
	var tally Tally
	tally.AddRead(60)
	tally.Add(&Outcome{Verdict: Charged, Seconds: 59})
	require.EqualError(t, tally.Check(), "job-seconds read 60 are not billed 59 + waived 0 + excluded 0 + held 0")
	require.Equal(t, "job-seconds read 60 = billed 59 + waived 0 + excluded 0 + held 0", tally.Equation())
}

// Rules that cannot both match may stand in any order.
func TestDisjointRulesCommute(t *testing.T) {
	rules := []string{
		"{name: a, match: {partition: smp}, charge: {su: cpus}}", "{name: b, match: {partition: htc, gpus: 0}, charge: {su: cpus*2}}",
		"{name: c, match: {partition: htc, gpus: \">= 1\"}, charge: {su: gpus}}", "{name: d, match: {partition: \"p*\"}, exclude: free}",
	}
	load := func(t *rapid.T, order []string) *Rater {
		text := "card: c\ncurrency: USD\nversions: [{from: 2024-01-01, meters: {su: {unit: SU, price: 1}}, rules: ["
		for _, r := range order {
			text += "\n " + r + ","
		}
		c, err := rates.LoadCard("c.yaml", []byte(text+"]}]"))
		require.NoError(t, err)
		groups, err := rates.LoadRoster("g.yaml", []byte(labRoster))
		require.NoError(t, err)
		return NewRater(Tariff{Zone: time.UTC, Roster: groups, Cards: map[string]*rates.Card{"c1": c}})
	}
	rapid.Check(t, func(t *rapid.T) {
		j := jobOf(rapid.SampledFrom([]string{"smp", "htc", "pre", "other"}).Draw(t, "partition"), 5400)
		j.GPUs, j.CPUs = rapid.Int64Range(0, 2).Draw(t, "gpus"), rapid.Int64Range(1, 9).Draw(t, "cpus")
		say := func(r *Rater) string {
			o := r.Job(j, november)[0]
			text := fmt.Sprint(o.Verdict, o.Cause.Code, o.Cause.Reason.Rule)
			for _, c := range o.Charges {
				text += fmt.Sprint(c.Quantity, c.Amount, c.Reason.Rule)
			}
			return text
		}
		require.Equal(t, say(load(t, rules)), say(load(t, rapid.Permutation(rules).Draw(t, "order"))))
	})
}

// Twice the machine or twice the time is twice the charge; the largest job is
// no overflow.
func TestChargesScale(t *testing.T) {
	r := rater(t, shipped(t, "pitt-crc"))
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Int64Range(1, 1_000_000).Draw(t, "k")
		j := jobOf("smp", 0)
		j.CPUs, j.MemoryMiB = rapid.Int64Range(1, 1024).Draw(t, "cpus"), rapid.Int64Range(1, 16<<20).Draw(t, "mem")
		j.ElapsedSeconds = rapid.Int64Range(1, 10*366*86400).Draw(t, "elapsed")
		amount := func(cpus, mem, elapsed int64) money.Exact {
			k := *j
			k.CPUs, k.MemoryMiB, k.ElapsedSeconds = cpus, mem, elapsed
			return r.Job(&k, november)[0].Charges[0].Amount
		}
		want := amount(j.CPUs, j.MemoryMiB, j.ElapsedSeconds).Mul(money.Int(k))
		require.True(t, want.Equal(amount(j.CPUs*k, j.MemoryMiB*k, j.ElapsedSeconds)))
		require.True(t, want.Equal(amount(j.CPUs, j.MemoryMiB, j.ElapsedSeconds*k)))
	})
}

// Raters of one tariff work side by side.
func TestRatersShareATariff(t *testing.T) {
	jobs, groups := benchJobs(2000)
	tariff := Tariff{Zone: time.UTC, Roster: roster(t, groups), Cards: map[string]*rates.Card{"c1": shipped(t, "pitt-crc")}}
	sums := make([]money.Exact, 4)
	var wait sync.WaitGroup
	for i := range sums {
		wait.Go(func() {
			r := NewRater(tariff)
			for n := range jobs {
				for _, o := range r.Job(&jobs[n], november) {
					for _, c := range o.Charges {
						sums[i] = sums[i].Add(c.Amount)
					}
				}
			}
		})
	}
	wait.Wait()
	require.Positive(t, sums[0].Sign())
	for _, s := range sums {
		require.True(t, s.Equal(sums[0]))
	}
}
