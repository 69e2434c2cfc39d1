package rating

import (
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

const gib = 1024 // MiB

// november is the period of the examples.
var november = rates.MonthOf(2025, time.November, time.UTC)

// noon is 2025-11-10T12:00:00Z, when the jobs of the examples end.
const noon ingest.Instant = 1762776000

// jobOf gives a job of account lab that ended at noon after so many seconds.
func jobOf(partition string, seconds int64) *ingest.Job {
	return &ingest.Job{
		Cluster: "c1", JobID: "1", JobIDRaw: 1, User: "u1", Account: "lab", Partition: partition, QoS: "normal",
		State: ingest.Completed, Submit: noon - ingest.Instant(seconds) - 60, Eligible: noon - ingest.Instant(seconds) - 60,
		Start: noon - ingest.Instant(seconds), End: noon, ElapsedSeconds: seconds, TimelimitSeconds: 86400,
		NodeCount: 1, CPUs: 1, MemoryMiB: gib, ReqMemoryMiB: ingest.Unknown, AllocTRES: "cpu=1,mem=1G,node=1",
	}
}

const labRoster = "groups:\n- {id: lab, name: The Lab, jobs: [{account: lab}]}\n- {id: firm, class: external, jobs: [{account: firm}]}\n"

func rater(t testing.TB, c *rates.Card) *Rater {
	t.Helper()
	return NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": c}})
}

func shipped(t testing.TB, name string) *rates.Card {
	t.Helper()
	text, ok := rates.Shipped(name)
	require.True(t, ok)
	c, err := rates.LoadCard(name+".yaml", text)
	require.NoError(t, err)
	return c
}

// one rates a job that gives exactly one outcome.
func oneOutcome(t testing.TB, r *Rater, j *ingest.Job) Outcome {
	t.Helper()
	requireNeedsSuffice(t, r, j, november)
	outcomes := r.Job(j, november)
	require.Len(t, outcomes, 1)
	return outcomes[0].Clone()
}

// charged gives the charges as "quantity meter @price label = amount".
func charged(t testing.TB, r *Rater, j *ingest.Job) []string {
	t.Helper()
	o := oneOutcome(t, r, j)
	require.Equal(t, Charged, o.Verdict, "%+v", o.Cause)
	require.Equal(t, j.ElapsedSeconds, o.Seconds)
	var lines []string
	for _, c := range o.Charges {
		lines = append(lines, c.Quantity.String()+" "+c.Unit+" @"+c.Price.String()+" "+c.PriceLabel+" = "+c.Amount.String())
	}
	return lines
}

func TestPittCRC(t *testing.T) {
	r := rater(t, shipped(t, "pitt-crc"))
	f := func(j *ingest.Job, want string) {
		t.Helper()
		require.Equal(t, []string{want}, charged(t, r, j))
	}
	j := jobOf("smp", 2*3600)
	j.CPUs, j.MemoryMiB = 4, 16*gib
	f(j, "6.4 SU @0.012 internal = 0.0768")

	j = jobOf("smp", 2*3600)
	j.MemoryMiB = 64 * gib
	f(j, "13.056 SU @0.012 internal = 0.156672")
	j.Account = "firm"
	f(j, "13.056 SU @0.031 external = 0.404736")

	j = jobOf("a100", 3*3600)
	j.CPUs, j.MemoryMiB, j.GPUs = 16, 512*gib, 1
	f(j, "24 SU @0.012 internal = 0.288")

	// Both terms are 67; 39 min 49 s are 2389 s: 67·2389/3600 = 44.461944…
	j = jobOf("htc", 39*60+49)
	j.CPUs, j.MemoryMiB, j.Billing = 67, 536000, 67
	f(j, "160063/3600 SU @0.012 internal = 160063/300000")
	require.Equal(t, "44.461944", oneOutcome(t, r, j).Charges[0].Quantity.Decimal(6, money.Down))

	j = jobOf("preempt", 3600)
	o := oneOutcome(t, r, j)
	require.Equal(t, Excluded, o.Verdict)
	require.Equal(t, ByRule, o.Cause.Code)
	require.Equal(t, "preempt", o.Cause.Reason.Rule)
	require.Equal(t, "lab", o.Group)
}

func TestBillingAsRecorded(t *testing.T) {
	r := rater(t, loadCard(t, `
card: c
currency: USD
versions: [{from: 2025-01-01, meters: {su: {unit: SU, price: "0.01"}}, rules: [{name: all, charge: {su: billing}}]}]
`))
	j := jobOf("htc", 2389)
	j.Billing = 67
	require.Equal(t, []string{"160063/3600 SU @0.01  = 160063/360000"}, charged(t, r, j))
}

func TestOSC(t *testing.T) {
	r := rater(t, shipped(t, "osc"))
	f := func(j *ingest.Job, want ...string) {
		t.Helper()
		require.Equal(t, want, charged(t, r, j))
	}
	j := jobOf("serial", 2*3600)
	j.CPUs, j.MemoryMiB = 4, 4*gib
	f(j, "8 core-hour @0.025 regular = 0.2")

	j = jobOf("serial", 3600)
	j.MemoryMiB = 12 * gib
	f(j, "3 core-hour @0.025 regular = 0.075")

	// No memory asked for and none recorded: the three cores are charged.
	j = jobOf("serial", 3600)
	j.CPUs, j.MemoryMiB, j.AllocTRES = 3, ingest.Unknown, "cpu=3,node=1"
	f(j, "3 core-hour @0.025 regular = 0.075")
	// Memory asked for on a cluster that does not record it: the node has 112 GiB.
	j.ReqMemoryMiB = 8 * gib
	f(j, "28 core-hour @0.025 regular = 0.7")

	// Every core of every node.
	j = jobOf("parallel", 3600)
	j.CPUs, j.NodeCount, j.MemoryMiB = 4, 2, 8*gib
	f(j, "56 core-hour @0.025 regular = 1.4")

	j = jobOf("gpuserial", 3600)
	j.CPUs, j.GPUs, j.MemoryMiB = 8, 2, 32*gib
	f(j, "8 core-hour @0.03 gpu = 0.24", "2 GPU-hour @0.1  = 0.2")
}

func TestIALAB(t *testing.T) {
	r := rater(t, shipped(t, "ialab"))
	f := func(cpus, mem, gpus int64, want string) {
		t.Helper()
		j := jobOf("ialab-low", 3600)
		j.QoS, j.CPUs, j.MemoryMiB, j.GPUs = "regular", cpus, mem*gib, gpus
		require.Equal(t, []string{want}, charged(t, r, j))
	}
	f(8, 40, 2, "2 GPU-hour @0.35 regular = 0.7")
	f(12, 40, 2, "3 GPU-hour @0.35 regular = 1.05")
	f(8, 50, 2, "2.5 GPU-hour @0.35 regular = 0.875")
	f(1, 1, 0, "0.25 GPU-hour @0.35 regular = 0.0875")
}
