package rating

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

// billingCard charges what Slurm bills, once a job and by the hour.
func billingCard(t testing.TB, hardware string) *rates.Card {
	t.Helper()
	return loadCard(t, `
card: billing
currency: EUR
versions:
- from: 2024-01-01
  hardware: {`+hardware+`}
  meters:
    billing: {unit: billing, price: 1}
    minutes: {unit: billing-minute, price: 0}
  rules: [{name: all, charge: {billing: {rate: slurm_billing, per: job}, minutes: {rate: slurm_billing, duration: elapsed_h*60}}}]`)
}

// allocated is a job with an AllocTRES, read field by field.
func allocated(t testing.TB, partition, tres string, seconds int64) *ingest.Job {
	t.Helper()
	j := jobOf(partition, seconds)
	j.AllocTRES, j.MemoryMiB = tres, ingest.Unknown
	d := &labRow{}
	for _, item := range strings.Split(tres, ",") {
		switch name, value, _ := strings.Cut(item, "="); name {
		case "cpu":
			j.CPUs = d.count(value)
		case "node":
			j.NodeCount = d.count(value)
		case "mem":
			j.MemoryMiB = d.mebibytes(value)
		case "gres/gpu":
			j.GPUs = d.count(value)
		}
	}
	require.NoError(t, d.err)
	return j
}

func TestSlurmBilling(t *testing.T) {
	f := func(hardware, tres string, want string) {
		t.Helper()
		o := oneOutcome(t, rater(t, billingCard(t, hardware)), allocated(t, "p", tres, 9000))
		got := ""
		if o.Verdict == Held {
			got = o.Cause.Code + ": " + o.Cause.Hint
		}
		for _, c := range o.Charges {
			got += c.Quantity.String() + " "
		}
		require.Equal(t, want, strings.TrimSpace(got))
	}
	const weights = `h: {tres_weights: "CPU=1.0,Mem=0.25G,GRES/gpu=2.0,GRES/gpu:A100=3"`
	// The names of a TRES in any case; 12.5 and 3 more for the type.
	f(weights+"}", "cpu=8,gres/gpu:a100=1,gres/gpu=1,mem=10G,node=1", "15 2250")
	f(weights+", priority_flags: max_tres}", "cpu=8,gres/gpu:a100=1,gres/gpu=1,mem=10G,node=1", "8 1200")
	f(weights+`, priority_flags: "FAIR_TREE,MAX_TRES_GRES"}`, "cpu=8,gres/gpu:a100=1,gres/gpu=1,mem=10G,node=1", "13 1950")
	// Memory that Slurm did not record as allocated was none that it billed.
	f(weights+"}", "cpu=8,node=1", "8 1200")
	f(`h: {tres_weights: ""}`, "billing=9,cpu=8,mem=100G,node=1", "8 1200")
	// 2.546296296·144 = 366.67, and Slurm keeps 366 an hour: 54,900 minutes in
	// two and a half hours, not 55,000.
	f(`h: {tres_weights: CPU=2.546296296}`, "cpu=144,node=1", "366 54900")
	f(`h: {tres_weights: "CPU=0,license/matlab@srv=5,bb/cray=1G"}`, "bb/cray=2G,cpu=1,license/matlab@srv=2,node=1", "12 1800")

	// What cannot be told holds the job.
	f(`h: {match: {partition: q}, tres_weights: CPU=1}`, "cpu=8,node=1",
		"unknown figure: the rule at line 10 of card.yaml needs it and slurm_billing is not known: no hardware: entry of the card matches the job")
	f(`h: {match: {partition: q}, tres_weights: CPU=1}, p: {match: {partition: p}, cores: 8}`, "cpu=8,node=1",
		"unknown figure: the rule at line 10 of card.yaml needs it and slurm_billing is not known: the hardware entry p has no tres_weights")
	f(`h: {tres_weights: "GRES/gpu:a100=8"}`, "cpu=8,gres/gpu=2,node=1",
		"unknown figure: the rule at line 10 of card.yaml needs it and slurm_billing is not known: the count of gres/gpu:a100 is not recorded")
	f(`h: {tres_weights: "GRES/gpu:a100=8"}`, "cpu=8,gres/gpu:v100=2,gres/gpu=2,node=1", "0 0")
	f(`h: {tres_weights: "GRES/gpu:a100=8"}`, "cpu=8,node=1", "0 0")
}

func TestSlurmBillingWithoutAllocTRES(t *testing.T) {
	j := jobOf("p", 3600)
	j.AllocTRES, j.CPUs, j.MemoryMiB = "", 4, ingest.Unknown
	o := oneOutcome(t, rater(t, billingCard(t, "h: {tres_weights: CPU=1}")), j)
	require.Equal(t, "4", o.Charges[0].Quantity.String())
	o = oneOutcome(t, rater(t, billingCard(t, "h: {tres_weights: 'CPU=1,Mem=1G'}")), j)
	require.Equal(t, Held, o.Verdict)
	require.Contains(t, o.Cause.Hint, "the count of mem is not recorded")
}

func TestSlurmBillingExplained(t *testing.T) {
	r := rater(t, loadCard(t, `
card: c
currency: USD
versions:
- from: 2025-01-01
  hardware: {smp: {tres_weights: "CPU=0.8,Mem=0.102G", priority_flags: [MAX_TRES]}}
  let: {double: slurm_billing*2}
  meters: {su: {unit: SU, price: 3}}
  rules: [{name: all, charge: {su: double + slurm_billing - billing}}]
`))
	j := allocated(t, "smp", "billing=3,cpu=4,mem=16G,node=1", 7200)
	j.Billing = 3
	lines := strings.Split(stepLines(r.Explain(j, november).Parts), "\n")
	require.Equal(t, []string{
		"let||slurm_billing|as slurmctld computes it, by the tres_weights of smp under MAX_TRES: 3.2, cut to a whole number|max(cpu*0.8, mem*0.102G)|max(4*0.8, 16384*0.102/1024)|cpu*0.8|3||",
		"let||double||slurm_billing*2|3*2||6||",
		"rate|su|||double + slurm_billing - billing|6 + 3 - 3||6||",
	}, lines[2:5])
}

// Slurm's own record is the judge: on the lab's dumps slurm_billing is what
// sacct has as billing, of every job, from what scontrol shows of the
// partitions. A job whose billing is 0 has none in its record.
func TestLabSlurmBilling(t *testing.T) {
	for _, dump := range []string{"sacct-2025-10.txt.gz", "sacct-2025-11.txt.gz"} {
		t.Run(dump, func(t *testing.T) {
			jobs := labJobs(t, dump)
			r := NewRater(Tariff{
				Zone: time.UTC, Roster: accountRoster(t, jobs),
				Cards: map[string]*rates.Card{"lab": billingCard(t, labHardware(t))},
			})
			compared, zero := 0, 0
			for _, j := range jobs {
				period := rates.PeriodContaining(time.Unix(int64(j.End), 0), time.UTC)
				for _, o := range r.Job(j, period) {
					if o.Verdict == NotRun {
						require.Zero(t, j.Billing)
						continue
					}
					if o.Verdict != Charged || !o.Charges[0].Quantity.Equal(money.Int(j.Billing)) {
						require.Fail(t, "not what Slurm recorded", "%s %s: %+v", j.Partition, j.AllocTRES, o)
					}
					compared++
					if j.Billing == 0 {
						zero++
					}
				}
			}
			require.Greater(t, compared, 150_000)
			require.Greater(t, zero, 30_000)
		})
	}
}

// labHardware makes a hardware entry of each partition of the lab.
func labHardware(t testing.TB) string {
	t.Helper()
	f, err := os.Open(labDir + "scontrol-partition.txt")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("external test data not present: " + labDir + "scontrol-partition.txt")
	}
	require.NoError(t, err)
	defer f.Close()
	var entries []string
	name := ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if n, ok := strings.CutPrefix(line, "PartitionName="); ok {
			name = n
		}
		if w, ok := strings.CutPrefix(line, "TRESBillingWeights="); ok {
			entries = append(entries, fmt.Sprintf("%s: {match: {partition: %s}, tres_weights: %q, priority_flags: MAX_TRES}", name, name, w))
		}
	}
	require.Len(t, entries, 7)
	return strings.Join(entries, ", ")
}
