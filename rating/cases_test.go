package rating

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

// The cases of this file are troubles that other billing programs had in
// public: the numbers are worked out by hand.

// caseCard makes a card of core-hours at 0.02 and GPU-hours at 1.50 with the
// given states, factors and rules.
func caseCard(t testing.TB, version string) *rates.Card {
	t.Helper()
	return loadCard(t, `
card: cases
currency: EUR
versions:
- from: 2024-01-01
  meters:
    core_hours: {unit: core-hour, price: "0.02"}
    gpu_hours: {unit: GPU-hour, price: "1.50"}
    shards: {unit: shard-hour, price: "0.1"}
`+version)
}

// amountOf is what an outcome's charges cost together.
func amountOf(o Outcome) string {
	sum := money.Exact{}
	for _, c := range o.Charges {
		sum = sum.Add(c.Amount)
	}
	return sum.String()
}

// runs gives what several records cost together.
func runs(t testing.TB, r *Rater, jobs ...*ingest.Job) string {
	t.Helper()
	total := money.Exact{}
	for _, j := range jobs {
		o := oneOutcome(t, r, j)
		require.Equal(t, Charged, o.Verdict, "%+v", o.Cause)
		for _, c := range o.Charges {
			total = total.Add(c.Quantity)
		}
	}
	return total.String()
}

func cpus(n int64, seconds int64, state ingest.State) *ingest.Job {
	j := jobOf("cpu", seconds)
	j.CPUs, j.State = n, state
	return j
}

// Every record with a start is a run of its own: requeued, preempted and
// resized jobs are the sum of their runs (C52, C53, C61).
func TestRunsAddUp(t *testing.T) {
	r := rater(t, caseCard(t, "  rules: [{name: all, charge: {core_hours: cpus}}]"))
	require.Equal(t, "10", runs(t, r, cpus(4, 1800, ingest.NodeFail), cpus(4, 7200, ingest.Completed)))
	require.Equal(t, "6", runs(t, r, cpus(4, 600, ingest.Preempted), cpus(4, 1200, ingest.Preempted), cpus(4, 3600, ingest.Completed)))
	require.Equal(t, "12", runs(t, r, cpus(4, 3600, ingest.Resizing), cpus(8, 3600, ingest.Completed)))
	require.Equal(t, "12", runs(t, r, cpus(4, 3600, ingest.Completed), cpus(8, 3600, ingest.Completed))) // C58: two components
}

// The time a cancelled job used is billed; what a node failure took is priced
// and forgiven, by name (C64, C65).
func TestStatesAreAPolicy(t *testing.T) {
	r := rater(t, caseCard(t, `
  states: {charge: ["*"], waive: {NODE_FAIL: node failure}}
  rules: [{name: all, charge: {core_hours: cpus}}]`))
	o := oneOutcome(t, r, cpus(4, 1800, ingest.Cancelled))
	require.Equal(t, Charged, o.Verdict)
	require.Equal(t, "0.04", amountOf(o))
	o = oneOutcome(t, r, cpus(4, 3600, ingest.NodeFail))
	require.Equal(t, Waived, o.Verdict)
	require.Equal(t, "0.08", amountOf(o), "the list price stays visible")
	require.Equal(t, "node failure", o.Cause.Detail)
	require.Equal(t, 11, o.Cause.Reason.Line)
}

// Two clusters may use one job ID and have each its card (C59).
func TestClustersHaveTheirCards(t *testing.T) {
	r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{
		"c1": caseCard(t, "  rules: [{name: one, charge: {core_hours: cpus}}]"),
		"c2": caseCard(t, "  rules: [{name: two, charge: {core_hours: cpus*2}}]"),
	}})
	for _, c := range []struct{ cluster, want string }{{"c1", "0.08"}, {"c2", "0.16"}, {"c1", "0.08"}} {
		j := cpus(4, 3600, ingest.Completed)
		j.Cluster = c.cluster
		require.Equal(t, c.want, amountOf(oneOutcome(t, r, j)))
	}
}

// GPUs are charged by type, a job of an unknown type is held, and shards are
// no GPUs (C67, C68, C70, C71).
func TestGPUTypesAndShards(t *testing.T) {
	r := rater(t, caseCard(t, `
  rules:
  - {name: gpu, match: {gpus: "> 0"}, charge: {gpu_hours: "gpu(\"a100\")*2 + gpu(\"a100-sxm4-80gb\")*3"}}
  - {name: shard, match: {partition: shard}, charge: {shards: "tres(\"gres/shard\")", gpu_hours: gpus}}
  - {name: cpu, charge: {core_hours: cpus}}`))
	f := func(partition, tres string, gpus int64, want string) {
		t.Helper()
		j := jobOf(partition, 3600)
		j.AllocTRES, j.GPUs = tres, gpus
		o := oneOutcome(t, r, j)
		got := o.Cause.Detail
		for _, c := range o.Charges {
			got += fmt.Sprintf("%s %s;", c.Quantity, c.Unit)
		}
		require.Equal(t, want, got)
	}
	f("g", "gres/gpu=2,gres/gpu:a100=2", 2, "4 GPU-hour;")
	f("g", "gres/gpu:a100=2", 2, "4 GPU-hour;")
	f("g", "gres/gpu=4,gres/gpu:a100=2,gres/gpu:a100-sxm4-80gb=2", 4, "10 GPU-hour;")
	f("g", "gres/gpu=4,gres/gpu:a100=2,gres/gpu:v100=2", 4, "gpu_type=v100 rule=gpu")
	f("g", "gres/gpu=1,gres/gpu:A100=1", 1, "gpu_type=A100 rule=gpu")
	f("g", "gres/gpu=2,gres/gpu:a100=1", 2, `gpu("a100") cluster=c1 partition=g`)
	f("shard", "cpu=4,gres/shard=40,gres/shard:nvidia_gb10=40", 0, "40 shard-hour;0 GPU-hour;")
	f("c", "cpu=1,gres/gpumem=40G,gres/gpuutil=97,gres/tmp=262144000,node=1", 0, "1 core-hour;")
}

// A job whose GPUs are of two types has no one price or factor by type, also
// where a job before it met the same rows.
func TestPricesOfMixedGPUs(t *testing.T) {
	r := rater(t, loadCard(t, `
card: c
currency: EUR
versions:
- from: 2024-01-01
  meters: {gpu_hours: {unit: GPU-hour, price_by: gpu_type, price: {a100_80gb: 3, "a100*": 2, v100: 2}}}
  factor: [{gpu_type: {v100: 0.5}}]
  rules: [{name: all, charge: {gpu_hours: gpus}}]`))
	f := func(tres string, gpus int64, want string) {
		t.Helper()
		j := jobOf("g", 3600)
		j.AllocTRES, j.GPUs = tres, gpus
		o := oneOutcome(t, r, j)
		if want == "" {
			require.Equal(t, Held, o.Verdict)
			require.Contains(t, o.Cause.Detail, " differs for gpu_type=")
			require.Contains(t, o.Cause.Hint, "count each type for itself")
			return
		}
		require.Equal(t, want, amountOf(o))
	}
	f("gres/gpu:a100_80gb=2", 2, "6")
	f("gres/gpu:a100_40gb=1,gres/gpu:a100_80gb=1", 2, "")
	f("gres/gpu:a100_40gb=1,gres/gpu:a100_20gb=1", 2, "4")
	f("gres/gpu:a100_40gb=1,gres/gpu:v100=1", 2, "") // the price is the same, the factor is not
	f("gres/gpu:v100=2", 2, "2")
	f("gres/gpu:a100_80gb=2", 2, "6")
}

// Energy that AllocTRES leaves out was not measured, which is not none.
func TestEnergyThatWasNotMeasured(t *testing.T) {
	r := rater(t, caseCard(t, `
  rules: [{name: all, charge: {core_hours: {units: "tres(\"energy\")/3600000"}}}]`))
	j := jobOf("cpu", 3600)
	j.AllocTRES = "billing=4,cpu=4,energy=7200000,node=1"
	require.Equal(t, "2", oneOutcome(t, r, j).Charges[0].Quantity.String())
	j.AllocTRES = "billing=4,cpu=4,energy=0,node=1"
	require.Equal(t, "0", oneOutcome(t, r, j).Charges[0].Quantity.String())
	j.AllocTRES = "billing=4,cpu=4,node=1"
	o := oneOutcome(t, r, j)
	require.Equal(t, Held, o.Verdict)
	require.Contains(t, o.Cause.Detail, `tres("energy")`)
}

// What was allocated is billed, not what was asked for (C73); what Slurm
// recorded as billing, with the site's scale (C74); the site's own truncation
// (C76) and combination of weights (C77).
func TestBasesOfACharge(t *testing.T) {
	f := func(formula string, change func(*ingest.Job), want string) {
		t.Helper()
		r := rater(t, caseCard(t, fmt.Sprintf("  rules: [{name: all, charge: {core_hours: {units: %q}}}]", formula)))
		j := jobOf("cpu", 3600)
		change(j)
		require.Equal(t, want, oneOutcome(t, r, j).Charges[0].Quantity.Decimal(4, money.HalfUp))
	}
	f("cpus*elapsed_h", func(j *ingest.Job) { j.ReqCPUs, j.CPUs, j.GPUs = 1, 36, 4 }, "36.0000")
	f("billing/1000*elapsed_h", func(j *ingest.Job) { j.Billing, j.ElapsedSeconds = 8000, 760 }, "1.6889")
	f("floor(cpus*2.546296296)*elapsed_h*60", func(j *ingest.Job) { j.CPUs, j.NodeCount, j.ElapsedSeconds = 144, 2, 9000 }, "54900.0000")
	f("(cpus*1 + mem_gib*0.25)*elapsed_h", func(j *ingest.Job) { j.CPUs, j.MemoryMiB = 4, 64*gib }, "20.0000")
	f("max(cpus*1, mem_gib*0.25)*elapsed_h", func(j *ingest.Job) { j.CPUs, j.MemoryMiB = 4, 64*gib }, "16.0000")
	f("ceil(cpus/2)*elapsed_h", func(j *ingest.Job) { j.CPUs = 7 }, "4.0000") // C82: threads to whole cores
	// C145: exact, to the minute, to the hour; three jobs of 61 s.
	f("3*cpus*elapsed_h", func(j *ingest.Job) { j.ElapsedSeconds = 61 }, "0.0508")
	f("3*cpus*ceil(elapsed_h*60)/60", func(j *ingest.Job) { j.ElapsedSeconds = 61 }, "0.1000")
	f("3*cpus*ceil(elapsed_h)", func(j *ingest.Job) { j.ElapsedSeconds = 61 }, "3.0000")
}

// A free QoS is a factor of 0, and a factor of 2 shows (C86).
func TestQoSFactors(t *testing.T) {
	r := rater(t, caseCard(t, `
  factor: [{qos: {scavenger: 0, high: 2}}]
  rules: [{name: all, charge: {core_hours: cpus}}]`))
	for qos, want := range map[string]string{"scavenger": "0", "high": "0.16", "normal": "0.08"} {
		j := cpus(4, 3600, ingest.Completed)
		j.QoS = qos
		o := oneOutcome(t, r, j)
		require.Equal(t, Charged, o.Verdict)
		require.Equal(t, want, amountOf(o))
	}
}

// An account is compared as it is written, and the hint says what is near
// (C88); the job's own account decides, not the user's (C91).
func TestAccountsOfTheJob(t *testing.T) {
	r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, "groups:\n- {id: a, jobs: [{account: lab_a}]}\n- {id: b, jobs: [{account: lab_b}]}\n"),
		Cards: map[string]*rates.Card{"c1": caseCard(t, "  rules: [{name: all, charge: {core_hours: cpus}}]")}})
	for _, account := range []string{"Lab_A", "lab_a "} {
		j := jobOf("cpu", 60)
		j.Account = account
		o := oneOutcome(t, r, j)
		require.Equal(t, NoGroup, o.Cause.Code)
		require.Contains(t, o.Cause.Hint, `has account "lab_a" where the job has "`+account+`"`)
	}
	for account, group := range map[string]string{"lab_a": "a", "lab_b": "b"} {
		j := jobOf("cpu", 60)
		j.User, j.Account = "u1", account
		require.Equal(t, group, oneOutcome(t, r, j).Group)
	}
}

// A price may have 13 decimals, an exponent, or be 0, which is a price (C97).
func TestPricesOfAnySize(t *testing.T) {
	for price, want := range map[string]string{
		"0.0000087890625": "8.7890625", "9e-7": "0.9", "0": "0", "125.50": "125500000",
	} {
		r := rater(t, loadCard(t, fmt.Sprintf(`
card: c
currency: USD
versions: [{from: 2024-01-01, meters: {m: {unit: thing, price: "%s"}}, rules: [{name: all, charge: {m: {rate: "1000000", per: job}}}]}]
`, price)))
		o := oneOutcome(t, r, jobOf("cpu", 60))
		require.Equal(t, Charged, o.Verdict)
		require.Equal(t, want, o.Charges[0].Amount.String())
	}
}

// Text of the record reaches a cause as it is: those who print it make it
// safe. It does not reach a group or a file name.
func TestHostileText(t *testing.T) {
	r := rater(t, shipped(t, "pitt-crc"))
	j := jobOf("smp", 60)
	j.Account, j.User = "=cmd|' /C calc'!A0", "<script>"
	o := oneOutcome(t, r, j)
	require.Equal(t, Held, o.Verdict)
	require.Empty(t, o.Group)
	require.True(t, strings.HasPrefix(o.Cause.Detail, "account=="))
}
