package rates_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates"
)

// counts reads "cpu=4,mem=16384", what it does not list being 0.
func counts(t require.TestingT, text string) rates.TRESCount {
	list := map[string]int64{}
	for _, item := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(item, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		require.NoError(t, err, text)
		list[strings.ToLower(name)] = n
	}
	return func(tres string) (int64, bool) { return list[strings.ToLower(tres)], true }
}

func slurmBilling(t testing.TB, flags, weights string) *rates.SlurmBilling {
	t.Helper()
	b, faults, _ := rates.ParseSlurmBilling(weights, strings.Split(flags, ","))
	require.Empty(t, faults, weights)
	return b
}

// Slurm's library is the judge: the same double before it is cut, the same
// count after.
func TestSlurmBillingIsSlurms(t *testing.T) {
	f, err := os.Open(cardsDir + "/slurm-billing.txt")
	require.NoError(t, err)
	defer f.Close()
	compared := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		cells := strings.Split(lines.Text(), "|")
		require.Len(t, cells, 5)
		b := slurmBilling(t, cells[0], cells[1])
		got, err := b.Billing(counts(t, cells[2]))
		require.NoError(t, err)
		require.Equal(t, cells[4], strconv.FormatInt(got, 10), lines.Text())
		trace, err := b.Trace(counts(t, cells[2]))
		require.NoError(t, err)
		double, err := strconv.ParseFloat(trace.Double, 64)
		require.NoError(t, err)
		want, err := strconv.ParseFloat(cells[3], 64)
		require.NoError(t, err)
		require.Equal(t, want, double, lines.Text())
		compared++
	}
	require.Equal(t, 158, compared)
}

func TestSlurmBilling(t *testing.T) {
	f := func(flags, weights, allocated string, want int64) {
		t.Helper()
		got, err := slurmBilling(t, flags, weights).Billing(counts(t, allocated))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	// The same job under the three flags: 8 + 2.5 + 2, max, 2 + max(8, 2.5).
	const weights, job = "CPU=1.0,Mem=0.25G,GRES/gpu=2.0", "cpu=8,mem=10240,gres/gpu=1"
	f("", weights, job, 12)
	f("MAX_TRES", weights, job, 8)
	f("MAX_TRES_GRES", weights, job, 10)
	f("MAX_TRES,MAX_TRES_GRES", weights, job, 10)
	// Licenses and burst buffers are added whatever the flag; nodes are of the maximum.
	f("MAX_TRES", weights+",Node=20,license/matlab=3,bb/cray=1G", job+",node=1,license/matlab=2,bb/cray=4096", 20+6+4)
	f("MAX_TRES_GRES", weights+",Node=20,license/matlab=3", job+",node=1,license/matlab=2", 20+2+6)
	// Generic and typed GPUs both count where both are listed: 62 + 187.5 + 1 + 14.
	f("", "CPU=1,Mem=0.25G,GRES/gpu=1,GRES/gpu:h100_nvl=14", "cpu=62,mem=768000,gres/gpu=1,gres/gpu:h100_nvl=1", 264)
	f("MAX_TRES_GRES", "CPU=1,GRES/gpu=1,GRES/gpu:h100_nvl=14", "cpu=4,gres/gpu=1,gres/gpu:h100_nvl=1", 4+15)
	// What is not listed weighs nothing; no weights at all are the CPUs.
	f("", "Mem=0.25G", "cpu=64,mem=10240", 2)
	f("MAX_TRES", "", "cpu=64,mem=10240,gres/gpu=4", 64)
	// A gres that is not consumed is recorded as 0.
	f("", "CPU=1,GRES/craynetwork=5", "cpu=2,gres/craynetwork=0", 2)
	// Cut, never rounded, and where binary fractions have it below.
	f("MAX_TRES", "CPU=0.8,Mem=0.102G", "cpu=4,mem=16384", 3)
	f("MAX_TRES", "CPU=0.8,Mem=0.102G", "cpu=1,mem=65536", 6)
	f("MAX_TRES", "CPU=1.0,Mem=0.0477G", "cpu=10,mem=512000", 23)
	f("MAX_TRES", "CPU=0.8,Mem=0.102G", "cpu=1,mem=4000", 0)
	f("", "CPU=0.29", "cpu=100", 28)
	f("", "CPU=4.35", "cpu=100", 434)
	f("", "CPU=2.3", "cpu=100", 229)
	f("", "CPU=1.15", "cpu=100", 114)
	f("", "CPU=2.546296296", "cpu=144", 366)
	f("MAX_TRES", "CPU=1.0,Mem=0.128G", "cpu=67,mem=536000", 67)
	f("MAX_TRES", "CPU=1.0,Mem=0.128G", "cpu=5888,mem=68927200", 8615)
	f("MAX_TRES", "CPU=1,Mem=0.2577031G,GRES/gpu=6", "cpu=40,mem=172000", 43)
	// Doubles are summed in the order of Slurm's ids: 611479 exactly, but
	// 611478.9999999999 where the license was numbered before the GPU. Where
	// cpu, mem and node stand in the text changes nothing.
	const sum = "cpu=2357350,mem=7,node=1,gres/gpu=4017182,license/matlab=15473"
	f("", "CPU=0.187,Mem=68.374,Node=0.001,GRES/gpu=0.002,license/matlab=10.479", sum, 611479)
	f("", "CPU=0.187,Mem=68.374,Node=0.001,license/matlab=10.479,GRES/gpu=0.002", sum, 611478)
	f("", "GRES/gpu=0.002,Node=0.001,license/matlab=10.479,Mem=68.374,CPU=0.187", sum, 611479)
}

func TestSlurmBillingUnknownAndTooLarge(t *testing.T) {
	b := slurmBilling(t, "", "CPU=1,GRES/gpu:a100=8")
	_, err := b.Billing(func(tres string) (int64, bool) { return 1, tres == "cpu" })
	require.EqualError(t, err, "the count of gres/gpu:a100 is not recorded")
	_, err = b.Trace(func(string) (int64, bool) { return 0, false })
	require.EqualError(t, err, "the count of cpu is not recorded")
	_, err = slurmBilling(t, "", "CPU=1e300").Billing(counts(t, "cpu=4"))
	require.EqualError(t, err, "a billing of 4e+300 is too large to be kept")
	_, err = slurmBilling(t, "", "CPU=1e308,Mem=1e308").Billing(counts(t, "cpu=40,mem=40"))
	require.EqualError(t, err, "a billing of +Inf is too large to be kept")
}

func TestSlurmBillingTrace(t *testing.T) {
	f := func(flags, weights, allocated, want string) {
		t.Helper()
		trace, err := slurmBilling(t, flags, weights).Trace(counts(t, allocated))
		require.NoError(t, err)
		require.Equal(t, want, trace.Formula+" | "+trace.WithNumbers+" | "+trace.Decides+" | "+trace.Double)
	}
	f("MAX_TRES", "Mem=0.102G,CPU=0.8", "cpu=4,mem=16384", "max(cpu*0.8, mem*0.102G) | max(4*0.8, 16384*0.102/1024) | cpu*0.8 | 3.2")
	f("MAX_TRES", "CPU=0,GRES/gpu=8.0,license/x=2", "cpu=4,gres/gpu=2,license/x=1", "max(cpu*0, gres/gpu*8.0) + license/x*2 | max(4*0, 2*8.0) + 1*2 | gres/gpu*8.0 | 18")
	f("MAX_TRES_GRES", "CPU=1,Mem=1T,GRES/gpu:a100=8.0", "cpu=4,gres/gpu:a100=2", "max(cpu*1, mem*1T) + gres/gpu:a100*8.0 | max(4*1, 0*1/1048576) + 2*8.0 | cpu*1 | 20")
	f("", "CPU=0.29", "cpu=100", "cpu*0.29 | 100*0.29 |  | 28.999999999999996")
	f("MAX_TRES", "CPU=1", "cpu=100", "cpu*1 | 100*1 |  | 100")
	f("", "", "cpu=100", "cpu*1 | 100*1 |  | 100")
	f("", "Billing=1", "cpu=100", "0 | 0 |  | 0")
}

func TestSlurmBillingWeightsFaults(t *testing.T) {
	f := func(weights string, want ...string) {
		t.Helper()
		b, faults, warnings := rates.ParseSlurmBilling(weights, nil)
		got := []string{}
		for _, x := range faults {
			got = append(got, x.Error()+" | "+x.Hint())
		}
		require.Equal(t, len(faults) == 0, b != nil)
		for _, x := range warnings {
			got = append(got, "warning "+x.Error())
		}
		require.Equal(t, want, got)
	}
	f("CPU=1.0, Mem=0.25G", "column 9: has a blank, which Slurm refuses | write the weights without blanks: CPU=1.0,Mem=0.25G")
	f("CPU=1.0,GPU=8", "column 9: GPU is not the type of a TRES | did you mean GRES/gpu?")
	f("CUP=1.0", "column 1: CUP is not the type of a TRES | did you mean cpu?")
	f("memory=1", "column 1: memory is not the type of a TRES | did you mean mem?")
	f("é=1,CPU", "column 1: é is not the type of a TRES | one of cpu, mem, energy, node, billing, fs, vmem, pages, gres, license, bb, ic",
		"column 5: CPU has no weight | write TYPE=WEIGHT, such as CPU=1.0 or Mem=0.25G")
	f("CPU=", "column 1: CPU= has no weight | write TYPE=WEIGHT, such as CPU=1.0 or Mem=0.25G")
	f("GRES=8", "column 1: GRES names none of its kind | write one, such as GRES/gpu")
	f("license/=8", "column 1: license/ names none of its kind | write one, such as license/matlab")
	f("gres/gpu/a100=8", "column 1: gres/gpu/a100 names none of its kind | write one, such as GRES/gpu")
	f("CPU/x=8", "column 1: cpu has no kinds | write cpu")
	f("CPU=abc", "column 5: the weight abc is not a decimal number | write a number such as 1.0 or 0.25G")
	f("CPU=0x10", "column 6: the suffix x10 is not known | write K, M, G, T or P: the weight is then of 1024, 1024², … units, for memory of KiB, MiB, GiB, …")
	f("CPU=inf", "column 5: the weight inf is not a decimal number | write a number such as 1.0 or 0.25G")
	f("CPU=nan", "column 5: the weight nan is not a decimal number | write a number such as 1.0 or 0.25G")
	f("CPU==1", "column 5: the weight =1 is not a decimal number | write a number such as 1.0 or 0.25G")
	f("CPU=1,Mem=-0.5G", "column 11: the weight -0.5G is negative: Slurm's billing would be no count | write 0 or more")
	f("Mem=0.25X", "column 9: the suffix X is not known | write K, M, G, T or P: the weight is then of 1024, 1024², … units, for memory of KiB, MiB, GiB, …")
	f("Mem=1e", "column 6: the suffix e is not known | write K, M, G, T or P: the weight is then of 1024, 1024², … units, for memory of KiB, MiB, GiB, …")
	f("CPU=1e400", "column 1: the weight 1e400 is beyond what Slurm can keep | write a decimal of a usual size")
	f("CPU=1e-400", "column 1: the weight 1e-400 is beyond what Slurm can keep | write a decimal of a usual size")
	f("CPU=1,Energy=2", "column 7: Slurm does not know a job's energy when it computes billing, and bills a sentinel of 2^64 instead | remove the weight of energy")
	f(",", `column 1: lists no weight | write TYPE=WEIGHT, such as CPU=1.0,Mem=0.25G, or "" for Slurm's default: allocated CPUs`)
	f("CPU=1,cpu=2", "warning column 7: cpu is listed twice: of 1 and 2 Slurm takes the later")
	f("CPU=1T", "warning column 6: Slurm's own arithmetic overflows at the suffix T of cpu, which then does nothing")
	f("billing=1,fs/disk=1,fs/lustre=1,Energy=0", "warning column 1: Slurm leaves billing out of its own sum", "warning column 11: fs/disk is measured, not allocated: its weight never counts")
}

// The double is as near to the exact sum as doubles are. The order of the
// entries in the text says nothing for TRES that Slurm itself numbers; among
// those that a site's database numbered, it is the order of Slurm's sum, whose
// double may then fall on the other side of a whole number.
func TestSlurmBillingNearTheExactSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"CPU", "Mem", "Node", "GRES/gpu", "license/matlab"}
		exact, largest := new(big.Rat), new(big.Rat)
		var weights, allocated []string
		for _, name := range names {
			thousandths, count := rapid.Int64Range(0, 100_000).Draw(t, name), rapid.Int64Range(0, 1<<30).Draw(t, "count")
			weights = append(weights, fmt.Sprintf("%s=%d.%03d", name, thousandths/1000, thousandths%1000))
			allocated = append(allocated, fmt.Sprintf("%s=%d", strings.ToLower(name), count))
			product := new(big.Rat).Mul(big.NewRat(thousandths, 1000), new(big.Rat).SetInt64(count))
			exact.Add(exact, product)
			if name != "license/matlab" && product.Cmp(largest) > 0 {
				largest = product
			} else if name == "license/matlab" {
				largest = new(big.Rat).Add(largest, product)
			}
		}
		count := counts(t, strings.Join(allocated, ","))
		for flag, want := range map[string]*big.Rat{"": exact, "MAX_TRES": largest} {
			b, faults, _ := rates.ParseSlurmBilling(strings.Join(weights, ","), []string{flag})
			require.Empty(t, faults)
			got, err := b.Billing(count)
			require.NoError(t, err)
			x, _ := want.Float64()
			require.InDelta(t, x, float64(got), 1+x/1e12)
			slices.Reverse(weights)
			b, _, _ = rates.ParseSlurmBilling(strings.Join(weights, ","), []string{flag})
			again, err := b.Billing(count)
			require.NoError(t, err)
			require.InDelta(t, float64(got), float64(again), 1)
			slices.Reverse(weights)
			// The three that Slurm numbers, the other way round and between the others.
			b, _, _ = rates.ParseSlurmBilling(strings.Join([]string{weights[3], weights[2], weights[1], weights[4], weights[0]}, ","), []string{flag})
			again, err = b.Billing(count)
			require.NoError(t, err)
			require.Equal(t, got, again)
		}
	})
}

func FuzzParseSlurmBilling(f *testing.F) {
	for _, seed := range []string{"CPU=1.0,Mem=0.25G,GRES/gpu:a100=2.0", "", ",", "CPU=1e9,bb/x=.5T", "é=1", "Mem=1KiB,mem=2"} {
		f.Add(seed, "MAX_TRES")
	}
	f.Fuzz(func(t *testing.T, weights, flag string) {
		b, faults, _ := rates.ParseSlurmBilling(weights, []string{flag})
		for _, x := range faults {
			require.Positive(t, x.Column)
			require.NotEmpty(t, x.Message)
		}
		if b == nil {
			require.NotEmpty(t, faults)
			return
		}
		n, err := b.Billing(func(string) (int64, bool) { return 7, true })
		require.True(t, err != nil || n >= 0 && n < math.MaxInt64)
		_, err = b.Trace(func(string) (int64, bool) { return 7, true })
		require.NoError(t, err)
	})
}

// Where the collection of published examples is at hand: those of Slurm's own
// billing come out of Slurm's own computation.
func TestSlurmBillingPublished(t *testing.T) {
	f, err := os.Open("../../shared/facts/charging-examples.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("external test data not present")
	}
	require.NoError(t, err)
	defer f.Close()
	tried := 0
	for decoder := json.NewDecoder(f); decoder.More(); {
		var e struct {
			ID, Kind   string
			Expected   any
			Parameters map[string]any `json:"model_params"`
			Inputs     map[string]any
		}
		require.NoError(t, decoder.Decode(&e))
		if e.Kind != "slurm-billing" {
			continue
		}
		b := slurmBilling(t, map[any]string{"max": "MAX_TRES", "sum": ""}[e.Parameters["combine"]], publishedWeights(e.Parameters))
		got, err := b.Billing(publishedCounts(t, e.Inputs))
		require.NoError(t, err)
		require.Equal(t, e.Expected, strconv.FormatInt(got, 10), e.ID)
		tried++
	}
	require.Equal(t, 8, tried)
}

// publishedWeights writes an example's parameters as TRESBillingWeights.
func publishedWeights(parameters map[string]any) string {
	var weights []string
	for _, p := range []struct{ parameter, weight string }{
		{"cpu", "CPU=%v"}, {"mem", "Mem=%v"}, {"mem_GB", "Mem=%vG"}, {"mem_per_GiB", "Mem=%vG"},
		{"gres/gpu", "GRES/gpu=%v"}, {"gres/gpu:h100_nvl", "GRES/gpu:h100_nvl=%v"},
	} {
		if x, ok := parameters[p.parameter]; ok {
			weights = append(weights, fmt.Sprintf(p.weight, x))
		}
	}
	return strings.Join(weights, ",")
}

func publishedCounts(t *testing.T, inputs map[string]any) rates.TRESCount {
	t.Helper()
	text, ok := inputs["alloc"].(string)
	if !ok {
		text = inputs["partition_totals"].(string)
	}
	var items []string
	for _, item := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(item, "=")
		if gib, ok := strings.CutSuffix(value, "G"); ok {
			n, err := strconv.Atoi(gib)
			require.NoError(t, err)
			value = strconv.Itoa(n * 1024)
		}
		items = append(items, name+"="+strings.TrimSuffix(value, "M"))
	}
	return counts(t, strings.Join(items, ","))
}

// Slurm's billing can be priced as it is, at up to 1000 a billing-hour; a
// slip of the pen beyond is still refused.
func TestBillingCanBePriced(t *testing.T) {
	f := func(figure, price string, ok bool) {
		t.Helper()
		_, err := rates.LoadCard("c.yaml", []byte(fmt.Sprintf(`
card: c
currency: USD
versions:
  - from: 2026-01-01
    hardware: {all: {tres_weights: ""}}
    meters: {su: {unit: SU, price: %s}}
    rules: [{name: all, charge: {su: %s}}]
`, price, figure)))
		require.Equal(t, ok, err == nil, "%s at %s: %v", figure, price, err)
	}
	for _, figure := range []string{"billing", "slurm_billing", "cpus"} {
		f(figure, "1", true)
		f(figure, "1000", true)
		f(figure, "1000000", false)
	}
}
