package formula

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates/money"
)

// expressions draws formulas of every operator. Figures are weighted, so that
// any two may be put together.
func expressions(t *rapid.T, depth int) string {
	figures := []string{"cpus*1", "gpus*31.81818", "mem_gib*0.102", "mem_gb*2", "mem_mib/246064", "nodes", "billing/1000", "req_cpus*0.5", `gpu("a100")*18`, "days_let*1"}
	if depth == 0 {
		if rapid.Bool().Draw(t, "number") {
			return rapid.SampledFrom([]string{"0", "1", "7", "0.25", "1e-9", "-3", "999999999", "0.333333333333"}).Draw(t, "literal")
		}
		return rapid.SampledFrom(figures).Draw(t, "figure")
	}
	x := func() string { return expressions(t, depth-1) }
	condition := func() string {
		return fmt.Sprintf("%s %s %s", x(), rapid.SampledFrom([]string{"<", "<=", ">", ">=", "==", "!="}).Draw(t, "sign"), x())
	}
	mode := rapid.SampledFrom([]string{"half_even", "half_up", "half_down", "up", "down", "ceil", "floor"})
	digits := rapid.IntRange(-2, 4)
	switch rapid.IntRange(0, 13).Draw(t, "operator") {
	case 0:
		return fmt.Sprintf("(%s + %s)", x(), x())
	case 1:
		return fmt.Sprintf("(%s - %s)", x(), x())
	case 2:
		return fmt.Sprintf("(%s) * (%s)", x(), x())
	case 3:
		return fmt.Sprintf("(%s) / %s", x(), rapid.SampledFrom([]string{"3", "0.7", "(-8)", "1000"}).Draw(t, "divisor"))
	case 4, 5:
		return fmt.Sprintf("max(%s, %s, %s)", x(), x(), x())
	case 6:
		return fmt.Sprintf("min(%s, %s)", x(), x())
	case 7:
		return fmt.Sprintf("ceil(%s)", x())
	case 8:
		return fmt.Sprintf("floor(%s)", x())
	case 9:
		return fmt.Sprintf("trunc(%s, %d)", x(), digits.Draw(t, "digits"))
	case 10:
		return fmt.Sprintf("round(%s, %d, %s)", x(), digits.Draw(t, "digits"), mode.Draw(t, "mode"))
	case 11:
		return fmt.Sprintf("step(%s, %s)", x(), rapid.SampledFrom([]string{"5", "0.25", "1/3"}).Draw(t, "quantum"))
	case 12:
		return fmt.Sprintf("first(%s, %s)", x(), x())
	}
	joined := rapid.SampledFrom([]string{"%s && %s", "%s || !(%s)"}).Draw(t, "joined")
	return fmt.Sprintf("choose(%s, %s, %s)", fmt.Sprintf(joined, condition(), condition()), x(), x())
}

func drawValues(t *rapid.T) *Values {
	v := &Values{TRES: func(string) (int64, bool) { return 3, true }}
	for _, slot := range []Slot{CPUs, Nodes, GPUs, MemoryMiB, Billing, ReqCPUs} {
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0: // not known
		case 1:
			v.Set(slot, money.Ratio(rapid.Int64Range(0, 1e6).Draw(t, "n"), 7))
		case 2:
			v.SetInt(slot, rapid.Int64Range(0, 1<<62).Draw(t, "beyond"))
		default:
			v.SetInt(slot, rapid.Int64Range(0, 1_000_000).Draw(t, "n"))
		}
	}
	return v
}

// The compiled formula gives what the rational evaluation gives, on random
// formulas and random jobs, or no answer.
func TestCompiledAgreesWithRational(t *testing.T) {
	compiledRuns, runs := 0, 0
	scope := NewScope(OfJob, RateStage)
	let, faults := Parse("max(cpus*0.8, mem_gib*0.102)", scope)
	require.Empty(t, faults)
	scope = scope.Let(0, "days_let", let)
	rapid.Check(t, func(t *rapid.T) {
		text := expressions(t, rapid.IntRange(0, 3).Draw(t, "depth"))
		if len(text) > MaxTextBytes {
			return
		}
		f, faults := Parse(text, scope)
		require.Empty(t, faults, text)
		v := drawValues(t)
		x, err := let.root.eval(v)
		if err != nil {
			v.SetUnknown(LetSlot(0), err)
		} else {
			v.Set(LetSlot(0), x)
		}
		want, err := f.root.eval(v)
		runs++
		if f.program != nil {
			if got, ok := f.program.run(v); ok {
				compiledRuns++
				require.NoError(t, err, text)
				require.True(t, want.Equal(got), "%s: %s in rationals, %s in integers", text, want, got)
			}
		}
		got, errEval := f.Eval(v)
		require.Equal(t, err, errEval)
		require.True(t, got.Equal(want))
	})
	require.Greater(t, compiledRuns*4, runs, "hardly anything was compiled")
}

// Formulas as centres publish them are all compiled but for the few that
// divide by a figure.
func TestWhatIsCompiled(t *testing.T) {
	f := func(text string, compiled, wide bool) {
		t.Helper()
		g, faults := Parse(text, NewScope(OfJob, UnitsStage).Bound("node_cores", money.Int(1), money.Int(128)))
		require.Empty(t, faults)
		require.Equal(t, compiled, g.program != nil, text)
		if compiled {
			require.Equal(t, wide, g.program.root.wide, text)
		}
	}
	f("max(cpus*0.8, mem_gib*0.102)", true, false)
	f("max(cpus*1.0, mem_gib*0.0477)", true, false)
	f("gpus*8", true, false)
	f("max(gpus, cpus/4, mem_gib/20)", true, false)
	f("max(cpus*0.8, mem_gib*0.102)*elapsed_h", true, true)
	f("floor(max(cpus, mem_gib*0.2577031, gpus*6))", true, true)
	f("round(billing/1000*elapsed_h, 2)", true, true)
	f("choose(nodes > 1, nodes*node_cores, cpus)", true, false)
	f("max(ceil(cpus/8), ceil(mem_gib/64), gpus)*0.5", true, false)
	f(`gpu("a100")*18`, true, false)
	f("cpus/node_cores", false, false)
	f("rate*duration", false, false) // without bounds
}

// At the largest job the integers are as exact as the rationals.
func TestCompiledAtTheLimits(t *testing.T) {
	v := &Values{}
	v.SetInt(CPUs, maxCPUs)
	v.SetInt(MemoryMiB, maxMiB)
	v.SetInt(GPUs, maxGPUs)
	v.SetInt(ElapsedSeconds, maxSeconds)
	v.SetInt(Billing, maxBilling)
	f := func(text string) {
		t.Helper()
		g, faults := Parse(text, NewScope(OfJob, UnitsStage))
		require.Empty(t, faults)
		require.NotNil(t, g.program, text)
		got, ok := g.program.run(v)
		require.True(t, ok)
		want, err := g.root.eval(v)
		require.NoError(t, err)
		require.True(t, want.Equal(got), "%s: %s, %s", text, want, got)
	}
	f("max(cpus*0.8, mem_gib*0.102)*elapsed_h")
	f("(cpus*0.0123456789 - mem_gib*12345.6789)*elapsed_h")
	f("trunc(max(cpus, mem_gib/4.8, gpus*31.81818)*elapsed_h, 3)")
	f("round((cpus*0.5 - mem_mib*3)*elapsed_h, 1, half_even)")
	f("max(billing*elapsed_h, cpus*elapsed_h/7)")
	f("choose(mem_mib*elapsed_h > cpus*elapsed_h*16384.1, 1, 2)")

	g, _ := Parse("cpus*2", NewScope(OfJob, RateStage))
	v.SetInt(CPUs, maxCPUs+1) // larger than the layout: the rationals answer
	_, ok := g.program.run(v)
	require.False(t, ok)
	x, err := g.Eval(v)
	require.NoError(t, err)
	require.True(t, x.Equal(money.Int(2*(maxCPUs+1))))
}

func TestInt128(t *testing.T) {
	toBig := func(a int128) *big.Int {
		n := new(big.Int).Lsh(big.NewInt(a.hi), 64)
		return n.Add(n, new(big.Int).SetUint64(a.lo))
	}
	modes := []money.Mode{money.HalfEven, money.HalfUp, money.HalfDown, money.Up, money.Down, money.Ceil, money.Floor}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) int128 {
			return extend(rapid.Int64().Draw(t, name)).times(extend(rapid.Int64Range(-1<<61, 1<<61).Draw(t, name)))
		}
		a, b := draw("a"), draw("b")
		require.Equal(t, new(big.Int).Add(toBig(a), toBig(b)), toBig(a.plus(b)))
		require.Equal(t, new(big.Int).Neg(toBig(a)), toBig(a.negated()))
		require.Equal(t, toBig(a).Cmp(toBig(b)), a.compare(b))
		d := rapid.Int64Range(1, 1<<62).Draw(t, "d")
		mode := rapid.SampledFrom(modes).Draw(t, "mode")
		want := money.FromRat(new(big.Rat).SetFrac(toBig(a), big.NewInt(d))).Round(0, mode).Rat()
		require.Equal(t, want.Num(), toBig(a.over(d, mode)), "%s/%d %s", toBig(a), d, mode)
	})
}

// A price of rating: nothing is allocated for a formula of integers.
func TestCompiledAllocatesNothing(t *testing.T) {
	g, faults := Parse("max(cpus*0.8, mem_gib*0.102)", NewScope(OfJob, RateStage))
	require.Empty(t, faults)
	v := &Values{}
	v.SetInt(CPUs, 4)
	v.SetInt(MemoryMiB, 16384)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = g.Eval(v) }))
}

func BenchmarkEval(b *testing.B) {
	g, _ := Parse("max(cpus*0.8, mem_gib*0.102)", NewScope(OfJob, RateStage))
	v := &Values{}
	v.SetInt(CPUs, 4)
	v.SetInt(MemoryMiB, 16384)
	for _, c := range []struct {
		name string
		eval func(*Values) (money.Exact, error)
	}{{"compiled", g.Eval}, {"rational", g.root.eval}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.eval(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
