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
      billing_hours: {unit: billing-hour, price: 0}
    rules:
      - {name: preempt, match: {partition: "preempt*"}, exclude: preemptible}
      - {name: smp, match: {partition: smp}, charge: &cpu {su: "max(cpus*0.8, mem_gib*0.102)", core_hours: cpus, gpu_hours: gpus, billing_hours: billing}}
      - {name: high-mem, match: {partition: high-mem}, charge: {<<: *cpu, su: "max(cpus*1.0, mem_gib*0.0477)"}}
      - {name: mpi, match: {partition: [mpi, ndr]}, charge: {<<: *cpu, su: "max(cpus*1, mem_gib*0.093)"}}
      - {name: htc, match: {partition: htc}, charge: {<<: *cpu, su: "max(cpus*1, mem_gib*0.128)"}}
      - {name: gpu, match: {partition: [a100, a100_multi, a100_nvlink, a100_nvlink_multi, l40s]}, charge: {<<: *cpu, su: gpus*8}}
`

// labJobs reads a dump without package ingest's reader, so that the two check
// each other.
func labJobs(t testing.TB, name string) []*ingest.Job {
	t.Helper()
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
	columns := map[string]int{}
	for i, name := range strings.Split(lines.Text(), "|") {
		columns[name] = i
	}
	seen := map[string]bool{}
	var jobs []*ingest.Job
	for lines.Scan() {
		d := labRow{columns, strings.SplitN(lines.Text(), "|", len(columns)), nil}
		key := d.cell("JobIDRaw") + " " + d.cell("Submit")
		require.False(t, seen[key], key)
		seen[key] = true
		jobs = append(jobs, d.job())
		if d.err != nil {
			require.NoError(t, d.err, lines.Text())
		}
	}
	require.NoError(t, lines.Err())
	return jobs
}

// labRow is one record, read cell by cell.
type labRow struct {
	columns map[string]int
	cells   []string
	err     error
}

func (d *labRow) cell(name string) string { return d.cells[d.columns[name]] }

func (d *labRow) count(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	d.err = errors.Join(d.err, err)
	return n
}

func (d *labRow) job() *ingest.Job {
	j := &ingest.Job{
		Cluster: d.cell("Cluster"), JobID: d.cell("JobID"), JobIDRaw: uint64(d.count(d.cell("JobIDRaw"))), User: d.cell("User"),
		Account: d.cell("Account"), Partition: d.cell("Partition"), QoS: d.cell("QOS"), Name: d.cell("JobName"),
		State:  ingest.State(strings.Fields(d.cell("State"))[0]),
		Submit: d.instant("Submit"), Eligible: d.instant("Eligible"), Start: d.instant("Start"), End: d.instant("End"),
		ElapsedSeconds: d.count(d.cell("ElapsedRaw")), SuspendedSeconds: d.seconds("Suspended"),
		AllocTRES: d.cell("AllocTRES"), MemoryMiB: ingest.Unknown,
	}
	for _, item := range strings.Split(j.AllocTRES, ",") {
		switch name, value, _ := strings.Cut(item, "="); name {
		case "cpu":
			j.CPUs = d.count(value)
		case "node":
			j.NodeCount = d.count(value)
		case "billing":
			j.Billing = d.count(value)
		case "gres/gpu":
			j.GPUs = d.count(value)
		case "mem":
			j.MemoryMiB = d.mebibytes(value)
		}
	}
	return j
}

// mebibytes reads "536000M", "62.50G" or "1T".
func (d *labRow) mebibytes(s string) int64 {
	unit := map[byte]int64{'M': 1, 'G': 1024, 'T': 1024 * 1024}[s[len(s)-1]]
	x, ok := new(big.Rat).SetString(s[:len(s)-1])
	if !ok || unit == 0 || !x.Mul(x, big.NewRat(unit, 1)).IsInt() {
		d.err = errors.Join(d.err, fmt.Errorf("memory %q", s))
		return 0
	}
	return x.Num().Int64()
}

func (d *labRow) instant(name string) ingest.Instant {
	s := d.cell(name)
	if s == "None" || s == "Unknown" {
		return ingest.None
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", s, time.UTC)
	d.err = errors.Join(d.err, err)
	return ingest.Instant(at.Unix())
}

// seconds reads "1-02:03:04" or "02:03:04".
func (d *labRow) seconds(name string) int64 {
	days, clock, dashed := strings.Cut(d.cell(name), "-")
	if !dashed {
		days, clock = "0", days
	}
	total := d.count(days) * 86400
	for i, part := range strings.Split(clock, ":") {
		total += d.count(part) * []int64{3600, 60, 1}[i]
	}
	return total
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

func TestLabNovember(t *testing.T) {
	jobs := labJobs(t, "sacct-2025-11.txt.gz")
	t.Run("by end", func(t *testing.T) { labNovemberByEnd(t, jobs) })
	t.Run("as sreport counts", func(t *testing.T) { labNovemberBySreport(t, jobs) })
}

// November 2025 of the lab, by End, as it was computed independently.
func labNovemberByEnd(t *testing.T, jobs []*ingest.Job) {
	groups := accountRoster(t, jobs)
	require.Len(t, groups.Groups, 64)
	r := NewRater(Tariff{Zone: time.UTC, Roster: groups, Cards: map[string]*rates.Card{"lab": loadCard(t, labCard)}})
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

// sreport counts suspended time as used: it sums a TRES over the wall time of
// each job inside the month.
const sreportCard = `
card: sreport
currency: USD
bill_by: usage
versions:
- from: 2025-01-01
  meters:
    billing: {unit: billing-hour, price: 0}
    cpu: {unit: CPU-hour, price: 0}
    gpu: {unit: GPU-hour, price: 0}
    mem: {unit: MiB-hour, price: 0}
  rules:
  - name: all
    charge:
      billing: {rate: billing, duration: elapsed_h + suspended_h}
      cpu: {rate: cpus, duration: elapsed_h + suspended_h}
      gpu: {rate: gpus, duration: elapsed_h + suspended_h}
      mem: {rate: mem_mib, duration: elapsed_h + suspended_h}
`

// labNovemberBySreport compares with what Slurm's own sreport printed for
// every account and user, to the second.
func labNovemberBySreport(t *testing.T, jobs []*ingest.Job) {
	r := NewRater(Tariff{Zone: time.UTC, Roster: accountRoster(t, jobs), Cards: map[string]*rates.Card{
		"lab": loadCard(t, sreportCard),
	}})
	used := map[string]money.Exact{}
	for _, j := range jobs {
		for _, o := range r.Job(j, november) {
			for _, c := range o.Charges {
				seconds := c.Quantity.Mul(money.Int(3600))
				rows := []string{"root|", j.Account + "|", j.Account + "|" + j.User}
				switch department, _, below := strings.Cut(j.Account, "_g"); {
				case below:
					rows = append(rows, "d_"+department+"|") // bio_g00 stands below d_bio
				case j.Account == "astro":
					rows = append(rows, "physics|")
				}
				for _, row := range rows {
					used[c.Meter+"|"+row] = used[c.Meter+"|"+row].Add(seconds)
				}
			}
		}
	}
	for meter, file := range map[string]string{"billing": "billing", "cpu": "cpu", "gpu": "gres_gpu", "mem": "mem"} {
		text, err := os.ReadFile(labDir + "sreport-2025-11-" + file + ".txt")
		require.NoError(t, err)
		compared := 0
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			cells := strings.Split(line, "|")
			if len(cells) != 6 || cells[0] != "lab" {
				continue
			}
			x := used[meter+"|"+cells[1]+"|"+cells[2]]
			require.Equal(t, cells[5], x.String(), "%s %s %s", meter, cells[1], cells[2])
			compared++
		}
		require.Equal(t, 567, compared)
	}
}
