package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

// labCard charges every meter of the lab's jobs; preempt is what becomes of
// the preempt partition.
const labCard = `card: lab
currency: USD
source: the published weights; every price is 1
versions:
  - from: 2024-01-01
    meters:
      su: {unit: SU, price: "0.01"}
      core_hours: {unit: core-hour, price: "0.01"}
      gpu_hours: {unit: GPU-hour, price: "0.01"}
      billing_hours: {unit: billing-hour, price: "0.01"}
    rules:
      - {name: preempt, match: {partition: "preempt*"}, %s}
      - {name: smp, match: {partition: smp}, charge: {su: "max(cpus*0.8, mem_gib*0.102)", core_hours: cpus, gpu_hours: gpus, billing_hours: billing}}
      - {name: high-mem, match: {partition: high-mem}, charge: {su: "max(cpus*1.0, mem_gib*0.0477)", core_hours: cpus, gpu_hours: gpus, billing_hours: billing}}
      - {name: mpi, match: {partition: [mpi, ndr]}, charge: {su: "max(cpus, mem_gib*0.093)", core_hours: cpus, gpu_hours: gpus, billing_hours: billing}}
      - {name: htc, match: {partition: htc}, charge: {su: "max(cpus, mem_gib*0.128)", core_hours: cpus, gpu_hours: gpus, billing_hours: billing}}
      - {name: gpu, match: {partition: [a100, l40s]}, charge: {su: gpus*8, core_hours: cpus, gpu_hours: gpus, billing_hours: billing}}
`

// labSite writes a site for the lab's dumps, each account a group, and gives
// it opened.
func labSite(t *testing.T, lab, preempt string) (*app, *site) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("hpcbill.yaml", `organisation: {name: Lab}
currency: USD
timezone: UTC
first_period: 2025-11
clusters: {lab: {card: card.yaml}}
`)
	write("card.yaml", fmt.Sprintf(labCard, preempt))
	var groups strings.Builder
	groups.WriteString("groups:\n")
	accounts := labAccounts(t, filepath.Join(lab, "sacct-2025-11.txt.gz"))
	require.Len(t, accounts, 64)
	for _, account := range accounts {
		fmt.Fprintf(&groups, "  - {id: %s, jobs: [{account: %s}]}\n", account, account)
	}
	write("groups.yaml", groups.String())
	a := &app{stdin: bytes.NewReader(nil), stdout: io.Discard, stderr: io.Discard, siteDir: dir,
		now: func() time.Time { return time.Date(2025, 12, 2, 0, 0, 0, 0, time.UTC) }, getenv: func(string) string { return "" }}
	s, err := a.openSite()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.close()) })
	return a, s
}

func labAccounts(t *testing.T, dump string) []string {
	t.Helper()
	f, err := os.Open(dump)
	require.NoError(t, err)
	defer f.Close()
	r, err := ingest.Open(dump, f, ingest.Options{})
	require.NoError(t, err)
	seen := map[string]bool{}
	for batch, err := range r.Batches() {
		require.NoError(t, err)
		for i := range batch {
			seen[strings.Clone(batch[i].Account)] = true
		}
	}
	var accounts []string
	for account := range seen {
		accounts = append(accounts, account)
	}
	sort.Strings(accounts)
	return accounts
}

// labTotals are the figures of November 2025 as a person reads them.
func labTotals(t *testing.T, s *site) (meters map[string]string, jobs int64, b *billing) {
	t.Helper()
	p := rates.MonthOf(2025, time.November, time.UTC)
	b, err := s.compute(context.Background(), s.inputs, p, nil)
	require.NoError(t, err)
	meters = map[string]string{}
	for _, m := range b.summary.Meters {
		meters[m.Meter] = m.Quantity.Decimal(6, money.HalfEven)
	}
	return meters, b.summary.Jobs.Billed, b
}

// Two months of a real sacct 22.05 through the store give the totals that were
// worked out from the dumps in rationals, in whatever order they come and
// however often.
func TestLabNovember(t *testing.T) {
	lab := filepath.Join(repository, "..", "shared", "data", "slurm-lab")
	if _, err := os.Stat(lab); err != nil {
		t.Skip("external test data not present")
	}
	a, s := labSite(t, lab, "exclude: free")
	november, october := filepath.Join(lab, "sacct-2025-11.txt.gz"), filepath.Join(lab, "sacct-2025-10.txt.gz")
	copied := filepath.Join(t.TempDir(), "again.txt") // other bytes, the same records
	text := gunzipped(t, november)
	require.NoError(t, os.WriteFile(copied, text, 0o644))

	for _, dump := range []string{november, october, november, copied} {
		require.NoError(t, a.ingestFiles(context.Background(), s, []string{dump}, ingestOptions{}))
		meters, jobs, b := labTotals(t, s)
		require.EqualValues(t, 147_866, jobs)
		require.Equal(t, map[string]string{
			"core_hours": "6971360.314722", "gpu_hours": "118494.450000",
			"su": "7349313.334190", "billing_hours": "7217645.835000",
		}, meters)
		require.Equal(t, map[string]string{
			"core_hours": "220740.732500", "gpu_hours": "4237.490000",
			"su": "243057.109290", "billing_hours": "239237.343889",
		}, quantitiesOf(t, b.invoices, "bio_g00"))
	}

	_, s = labSite(t, lab, "charge: {core_hours: cpus, gpu_hours: gpus}")
	require.NoError(t, a.ingestFiles(context.Background(), s, []string{october, november}, ingestOptions{}))
	meters, jobs, _ := labTotals(t, s)
	require.EqualValues(t, 157_414, jobs)
	require.Equal(t, "7196328.441667", meters["core_hours"])
	require.Equal(t, "118494.450000", meters["gpu_hours"])
}

func quantitiesOf(t *testing.T, invoices []invoice.Invoice, group string) map[string]string {
	t.Helper()
	quantities := map[string]string{}
	for _, inv := range invoices {
		if inv.Group.ID != group {
			continue
		}
		require.EqualValues(t, 4_110, inv.Jobs)
		for _, l := range inv.Lines {
			quantities[l.Meter] = l.Quantity.Decimal(6, money.HalfEven)
		}
	}
	return quantities
}

func gunzipped(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	return text
}
