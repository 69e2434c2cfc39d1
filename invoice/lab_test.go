package invoice

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// labCard is pitt-crc with core-hours and GPU-hours counted beside the SUs.
const labCard = `
card: lab
currency: USD
versions:
  - from: 2025-01-01
    meters:
      su: {unit: SU, price: 0.012}
      core_hours: {unit: core-hour, price: 0}
      gpu_hours: {unit: GPU-hour, price: 0}
    rules:
      - {name: preempt, match: {partition: "preempt*"}, exclude: preemptible}
      - {name: smp, match: {partition: smp}, charge: &cpu {su: "max(cpus*0.8, mem_gib*0.102)", core_hours: cpus, gpu_hours: gpus}}
      - {name: high-mem, match: {partition: high-mem}, charge: {<<: *cpu, su: "max(cpus*1.0, mem_gib*0.0477)"}}
      - {name: mpi, match: {partition: [mpi, ndr]}, charge: {<<: *cpu, su: "max(cpus*1, mem_gib*0.093)"}}
      - {name: htc, match: {partition: htc}, charge: {<<: *cpu, su: "max(cpus*1, mem_gib*0.128)"}}
      - {name: gpu, match: {partition: [a100, a100_multi, a100_nvlink, a100_nvlink_multi, l40s]}, charge: {<<: *cpu, su: gpus*8}}
`

// labJobs reads a dump of a real sacct, or skips the test.
func labJobs(t *testing.T, name string) []ingest.Job {
	t.Helper()
	f, err := os.Open("../../shared/data/slurm-lab/" + name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("external test data not present: " + name)
	}
	require.NoError(t, err)
	defer f.Close()
	reader, err := ingest.Open(name, f, ingest.Options{})
	require.NoError(t, err)
	var jobs []ingest.Job
	for batch, err := range reader.Batches() {
		require.NoError(t, err)
		jobs = append(jobs, batch...)
	}
	return jobs
}

// labRoster makes each account a group, one of them with an allocation.
func labRoster(t *testing.T, jobs []ingest.Job) *rates.Roster {
	t.Helper()
	accounts := make(map[string]bool)
	for i := range jobs {
		accounts[jobs[i].Account] = true
	}
	var b strings.Builder
	b.WriteString("groups:\n")
	for account := range accounts {
		fmt.Fprintf(&b, "- {id: %q, jobs: [{account: %q}]", account, account)
		if account == "bio_g00" {
			b.WriteString(", allocations: [{name: FY26, meter: su, units: 243000, from: 2025-07-01, until: 2026-07-01}]")
		}
		b.WriteString("}\n")
	}
	roster, err := rates.LoadRoster("groups.yaml", []byte(b.String()))
	require.NoError(t, err)
	return roster
}

// TestLabNovember bills a real month. The quantities were computed
// independently of this program.
func TestLabNovember(t *testing.T) {
	jobs := labJobs(t, "sacct-2025-11.txt.gz")
	roster := labRoster(t, jobs)
	card, err := rates.LoadCard("card.yaml", []byte(labCard))
	require.NoError(t, err)
	rater := rating.NewRater(rating.Tariff{Zone: time.UTC, Roster: roster, Cards: map[string]*rates.Card{"lab": card}})
	november := rates.MonthOf(2025, 11, time.UTC)
	c, err := NewComposer(november, Settings{Currency: usd, Rounding: DefaultRounding}, roster)
	require.NoError(t, err)
	var read, seconds int64
	for i := range jobs {
		if s, some := rater.Seconds(&jobs[i], november); some {
			read, seconds = read+1, seconds+s
		}
		for _, o := range rater.Job(&jobs[i], november) {
			require.NoError(t, c.AddJob(&o))
		}
	}
	invoices, s := compose(t, c)
	require.NoError(t, s.CheckRead(read, seconds))
	require.Zero(t, s.Held())
	require.Len(t, invoices, 64)
	meters := make(map[string]string)
	for _, m := range s.Meters {
		meters[m.Meter] = m.Quantity.Decimal(6, money.HalfUp)
	}
	require.Equal(t, map[string]string{"su": "7349313.334190", "core_hours": "6971360.314722", "gpu_hours": "118494.450000"}, meters)
	var charged int64
	for _, inv := range invoices {
		charged += inv.Jobs
	}
	require.EqualValues(t, 147866, charged)

	i := slices.IndexFunc(invoices, func(inv Invoice) bool { return inv.Group.ID == "bio_g00" })
	require.Equal(t, []string{
		"usage 4,110 jobs on lab: 220,740.7325 core-hours at 0 USD per core-hour | 0.00",
		"usage 646 jobs on lab: 4,237.49 GPU-hours at 0 USD per GPU-hour | 0.00",
		"usage 4,110 jobs on lab: 243,057.109290 SU at 0.012 USD per SU | 2,916.69",
		"prepaid Drawn on allocation FY26: 243,000 SU of line 3 | -2,916.00",
	}, texts(invoices[i]))
	require.Equal(t, "57.109290", invoices[i].Balances[0].Beyond.Decimal(6, money.HalfUp))
	require.Equal(t, money.Amount(69), invoices[i].Total)
}
