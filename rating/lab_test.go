package rating

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

// labDir holds dumps that came out of a real sacct.
const labDir = "../../shared/data/slurm-lab/"

// labCard is pitt-crc with three meters, priced 1 so that amounts are
// quantities.
const labCard = `
card: lab
currency: USD
versions:
  - from: 2025-01-01
    meters:
      su: {unit: SU, price: 1}
      core_hours: {unit: core-hour, price: 1}
      gpu_hours: {unit: GPU-hour, price: 1}
      billing_hours: {unit: billing-hour, price: 1}
    rules:
      - {name: preempt, match: {partition: "preempt*"}, exclude: preemptible}
      - {name: smp, match: {partition: smp}, charge: &cpu {su: "max(cpus*0.8, mem_gib*0.102)", core_hours: cpus, gpu_hours: gpus, billing_hours: billing}}
      - {name: high-mem, match: {partition: high-mem}, charge: {<<: *cpu, su: "max(cpus*1.0, mem_gib*0.0477)"}}
      - {name: mpi, match: {partition: [mpi, ndr]}, charge: {<<: *cpu, su: "max(cpus*1, mem_gib*0.093)"}}
      - {name: htc, match: {partition: htc}, charge: {<<: *cpu, su: "max(cpus*1, mem_gib*0.128)"}}
      - {name: gpu, match: {partition: [a100, a100_multi, a100_nvlink, a100_nvlink_multi, l40s]}, charge: {<<: *cpu, su: gpus*8}}
`

// labJobs reads dumps without package ingest's reader, so that the two check
// each other: one job for each JobIDRaw and Submit.
func labJobs(t testing.TB, files ...string) []*ingest.Job {
	t.Helper()
	seen := map[string]bool{}
	var jobs []*ingest.Job
	for _, name := range files {
		f, err := os.Open(labDir + name)
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("external test data not present: " + labDir + name)
		}
		require.NoError(t, err)
		defer f.Close()
		z, err := gzip.NewReader(f)
		require.NoError(t, err)
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, 1<<20)
		require.True(t, lines.Scan())
		header := strings.Split(lines.Text(), "|")
		for lines.Scan() {
			cells := strings.SplitN(lines.Text(), "|", len(header))
			row := make(map[string]string, len(header))
			for i, h := range header {
				row[h] = cells[i]
			}
			if key := row["JobIDRaw"] + " " + row["Submit"]; !seen[key] {
				seen[key] = true
				jobs = append(jobs, labJob(t, row))
			}
		}
		require.NoError(t, lines.Err())
	}
	return jobs
}

func labJob(t testing.TB, row map[string]string) *ingest.Job {
	count := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		require.NoError(t, err, "%v", row)
		return n
	}
	j := &ingest.Job{
		Cluster: row["Cluster"], JobID: row["JobID"], JobIDRaw: uint64(count(row["JobIDRaw"])), User: row["User"],
		Account: row["Account"], Partition: row["Partition"], QoS: row["QOS"], Name: row["JobName"],
		State:  ingest.State(strings.Fields(row["State"])[0]),
		Submit: labInstant(t, row["Submit"]), Eligible: labInstant(t, row["Eligible"]),
		Start: labInstant(t, row["Start"]), End: labInstant(t, row["End"]),
		ElapsedSeconds: count(row["ElapsedRaw"]), SuspendedSeconds: labSeconds(t, row["Suspended"]),
		AllocTRES: row["AllocTRES"], MemoryMiB: ingest.Unknown,
	}
	for _, item := range strings.Split(row["AllocTRES"], ",") {
		switch name, value, _ := strings.Cut(item, "="); name {
		case "cpu":
			j.CPUs = count(value)
		case "node":
			j.NodeCount = count(value)
		case "billing":
			j.Billing = count(value)
		case "gres/gpu":
			j.GPUs = count(value)
		case "mem":
			unit := map[byte]int64{'M': 1, 'G': 1024, 'T': 1024 * 1024}[value[len(value)-1]]
			x, ok := new(big.Rat).SetString(value[:len(value)-1])
			require.True(t, ok && unit > 0, value)
			x.Mul(x, big.NewRat(unit, 1))
			require.True(t, x.IsInt(), value)
			j.MemoryMiB = x.Num().Int64()
		}
	}
	return j
}

func labInstant(t testing.TB, s string) ingest.Instant {
	if s == "None" || s == "Unknown" {
		return ingest.None
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", s, time.UTC)
	require.NoError(t, err)
	return ingest.Instant(at.Unix())
}

// labSeconds reads "1-02:03:04" or "02:03:04".
func labSeconds(t testing.TB, s string) int64 {
	days, clock, dashed := strings.Cut(s, "-")
	if !dashed {
		days, clock = "0", s
	}
	var d, h, m, sec int64
	_, err := fmt.Sscanf(days+" "+strings.ReplaceAll(clock, ":", " "), "%d %d %d %d", &d, &h, &m, &sec)
	require.NoError(t, err, s)
	return ((d*24+h)*60+m)*60 + sec
}

// accountRoster makes each account of the jobs a group.
func accountRoster(t testing.TB, jobs []*ingest.Job) *rates.Roster {
	t.Helper()
	var accounts []string
	for _, j := range jobs {
		if !slices.Contains(accounts, j.Account) {
			accounts = append(accounts, j.Account)
		}
	}
	var b strings.Builder
	b.WriteString("groups:\n")
	for _, a := range accounts {
		fmt.Fprintf(&b, "- {id: %q, jobs: [{account: %q}]}\n", a, a)
	}
	return roster(t, b.String())
}

func roster(t testing.TB, text string) *rates.Roster {
	t.Helper()
	r, err := rates.LoadRoster("groups.yaml", []byte(text))
	require.NoError(t, err)
	return r
}

func loadCard(t testing.TB, text string) *rates.Card {
	t.Helper()
	c, err := rates.LoadCard("card.yaml", []byte(text))
	require.NoError(t, err)
	return c
}

// sums are the meters of some jobs.
type sums struct {
	jobs   int64
	meters map[string]money.Exact
}

func (s *sums) add(o *Outcome) {
	if o.Seconds > 0 {
		s.jobs++
	}
	for _, c := range o.Charges {
		s.meters[c.Meter] = s.meters[c.Meter].Add(c.Quantity)
	}
}

func (s *sums) String() string {
	text := strconv.FormatInt(s.jobs, 10)
	for _, m := range []string{"core_hours", "gpu_hours", "su", "billing_hours"} {
		text += " " + s.meters[m].Decimal(6, money.HalfUp)
	}
	return text
}

// November 2025 of the lab, by End, as it was computed independently.
func TestLabNovember(t *testing.T) {
	jobs := labJobs(t, "sacct-2025-11.txt.gz", "sacct-2025-10.txt.gz")
	groups := accountRoster(t, jobs)
	require.Len(t, groups.Groups, 64)
	r := NewRater(Tariff{Zone: time.UTC, Roster: groups, Cards: map[string]*rates.Card{"lab": loadCard(t, labCard)}})
	november := rates.MonthOf(2025, time.November, time.UTC)
	all, bio := &sums{meters: map[string]money.Exact{}}, &sums{meters: map[string]money.Exact{}}
	excluded, tally := int64(0), &Tally{}
	for _, j := range jobs {
		if s, some := r.Seconds(j, november); some {
			tally.AddRead(s)
		}
		for _, o := range r.Job(j, november) {
			tally.Add(&o)
			switch o.Verdict {
			case Charged:
				all.add(&o)
				if o.Group == "bio_g00" {
					bio.add(&o)
				}
			case Excluded:
				if o.Seconds > 0 {
					excluded++
				}
			default:
				require.Equal(t, NotRun, o.Verdict, "%+v", o.Cause)
			}
		}
	}
	require.Equal(t, "147866 6971360.314722 118494.450000 7349313.334190 7217645.835000", all.String())
	require.Equal(t, "4110 220740.732500 4237.490000 243057.109290 239237.343889", bio.String())
	require.EqualValues(t, 157414-147866, excluded)
	require.NoError(t, tally.Check())
	require.Len(t, tally.Causes(), 1)
	require.Equal(t, "preemptible", tally.Causes()[0].Detail)
	require.Equal(t, slowSU(jobs, november), all.meters["su"].Rat().RatString())
}

// slowSU is the SU column in big rationals, from the published weights.
func slowSU(jobs []*ingest.Job, p rates.Period) string {
	weights := map[string][2]string{
		"smp": {"0.8", "0.102"}, "high-mem": {"1", "0.0477"}, "mpi": {"1", "0.093"}, "ndr": {"1", "0.093"}, "htc": {"1", "0.128"},
	}
	rat := func(s string) *big.Rat { x, _ := new(big.Rat).SetString(s); return x }
	sum := new(big.Rat)
	for _, j := range jobs {
		if strings.HasPrefix(j.Partition, "preempt") || !p.Contains(time.Unix(int64(j.End), 0)) {
			continue
		}
		rate := new(big.Rat).SetInt64(8 * j.GPUs)
		if w, ok := weights[j.Partition]; ok {
			rate.Mul(rat(w[0]), new(big.Rat).SetInt64(j.CPUs))
			if m := new(big.Rat).Mul(rat(w[1]), big.NewRat(j.MemoryMiB, 1024)); m.Cmp(rate) > 0 {
				rate = m
			}
		}
		sum.Add(sum, rate.Mul(rate, big.NewRat(j.ElapsedSeconds, 3600)))
	}
	return sum.RatString()
}
