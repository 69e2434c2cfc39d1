package formula_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// job fills the figures that a test names; everything else stays unknown.
type job map[formula.Slot]int64

func (j job) values() *formula.Values {
	v := &formula.Values{TRES: func(name string) (int64, bool) {
		switch name {
		case "gres/gpu:a100":
			return 2, true
		case "license/matlab":
			return 0, true
		}
		return 0, false
	}}
	for slot, n := range j {
		v.SetInt(slot, n)
	}
	return v
}

func parse(t *testing.T, text string, stage formula.Stage) *formula.Formula {
	t.Helper()
	f, faults := formula.Parse(text, formula.NewScope(formula.OfJob, stage))
	require.Empty(t, faults, text)
	return f
}

// Published examples and their arithmetic, worked out by hand.
func TestEval(t *testing.T) {
	f := func(text string, j job, want string) {
		t.Helper()
		x, err := parse(t, text, formula.AmountStage).Eval(j.values())
		require.NoError(t, err)
		require.Equal(t, want, x.String())
	}
	const gib = 1024
	smp := job{formula.CPUs: 4, formula.MemoryMiB: 16 * gib, formula.GPUs: 0, formula.ElapsedSeconds: 7200}
	f("max(cpus*0.8, mem_gib*0.102)", smp, "3.2")
	f("max(cpus*0.8, mem_gib*0.102)*elapsed_h", smp, "6.4")
	f("max(cpus*0.8, mem_gib*0.102)", job{formula.CPUs: 1, formula.MemoryMiB: 64 * gib}, "6.528")
	htc := job{formula.CPUs: 67, formula.MemoryMiB: 536000, formula.Billing: 67, formula.ElapsedSeconds: 2389}
	f("cpus*1 - mem_gib*0.128", htc, "0")
	f("max(cpus*1, mem_gib*0.128)", htc, "67")
	f("billing*elapsed_h", htc, "160063/3600")
	f("gpus*8", job{formula.GPUs: 1}, "8")
	osc := job{formula.CPUs: 1, formula.MemoryMiB: 12 * gib, formula.Nodes: 1}
	f("choose(nodes > 1, nodes*node_cores, max(cpus, mem_gib/4))", osc, "3")
	f("choose(nodes > 1, nodes*node_cores, max(cpus, mem_gib/4))", job{formula.Nodes: 2, formula.NodeCores: 12}, "24")
	ialab := job{formula.GPUs: 1, formula.CPUs: 8, formula.MemoryMiB: 20 * gib}
	f("max(gpus, cpus/4, mem_gib/20)", ialab, "2")
	// LUMI small-g, Sigma2 Saga, NERC, ACENET 2024, NREL, Delta.
	f("max(ceil(cpus/8), ceil(mem_gib/64), gpus)*0.5", job{formula.GPUs: 1, formula.CPUs: 8, formula.MemoryMiB: 128 * gib}, "1")
	f("floor(max(cpus, mem_gib*0.2577031, gpus*6))", job{formula.CPUs: 40, formula.MemoryMiB: 172000, formula.GPUs: 0}, "43")
	f("ceil(max(cpus, mem_gib/4))", job{formula.CPUs: 3, formula.MemoryMiB: 20 * gib}, "5")
	f("trunc(max(cpus, mem_gib*0.215, gpus*31.81818)*elapsed_h, 0)", job{formula.CPUs: 40, formula.MemoryMiB: 186 * gib, formula.GPUs: 2, formula.ElapsedSeconds: 86400}, "1527")
	f("max(cpus/104, mem_mib/246064, gpus/4)*10", job{formula.CPUs: 26, formula.MemoryMiB: 123032, formula.GPUs: 0}, "5")
	f("round(billing/1000*elapsed_h, 2)", job{formula.Billing: 1000, formula.ElapsedSeconds: 1372}, "0.38")
	f("round(billing/1000*elapsed_h, 2)", job{formula.Billing: 4000, formula.ElapsedSeconds: 5}, "0.01")
	// The rest of the language.
	f("1 + 2*3 - 8/4", nil, "5")
	f("-(2 - 5)", nil, "3")
	f("(1+2)*3", nil, "9")
	f("9e-7*1e6", nil, "0.9")
	f("max(elapsed_h, 0.25)", job{formula.ElapsedSeconds: 300}, "0.25")
	f("min(3, 2, 4)", nil, "2")
	f("ceil(-0.5)", nil, "0")
	f("floor(-0.5)", nil, "-1")
	f("trunc(-2.567, 2)", nil, "-2.56")
	f("trunc(2.567)", nil, "2")
	f("trunc(1234, -2)", nil, "1200")
	f("round(2.5)", nil, "3")
	f("round(2.5, 0, half_even)", nil, "2")
	f(`round(2.35, 1, "down")`, nil, "2.3")
	f("step(7, 5)", nil, "10")
	f("step(10, 5)", nil, "10")
	f("step(elapsed_h, 0.25)", job{formula.ElapsedSeconds: 901}, "0.5")
	f("first(gpus, cpus)", job{formula.GPUs: 0, formula.CPUs: 7}, "7")
	f("first(gpus, cpus)", job{formula.GPUs: 2}, "2")
	f("choose(cpus >= 4 && !(cpus == 5) || cpus < 2, 1, 0)", job{formula.CPUs: 4}, "1")
	f("choose(cpus >= 4 && !(cpus == 5) || cpus < 2, 1, 0)", job{formula.CPUs: 5}, "0")
	f("choose(cpus != 5, 1, 0)", job{formula.CPUs: 1}, "1")
	f("choose(gpus > 0, cpus/gpus, 0)", job{formula.GPUs: 0}, "0")
	f(`gpu("a100")*18 + tres("license/matlab")`, nil, "36")
	f("mem_gb", job{formula.MemoryMiB: 1000}, "1.048576")
	f("max(cpus,\n  nodes)", job{formula.CPUs: 3, formula.Nodes: 1}, "3")
}

func TestEvalStages(t *testing.T) {
	v := job{formula.ElapsedSeconds: 137}.values()
	v.Set(formula.Units, money.Ratio(121, 100))
	v.Set(formula.Price, money.Ratio(4, 100))
	f := parse(t, "choose(price > 0 && elapsed_h > 0, max(round(units*price, 2), 0.01), 0)", formula.AmountStage)
	x, err := f.Eval(v)
	require.NoError(t, err)
	require.Equal(t, "0.05", x.String())

	holding := formula.NewScope(formula.OfHolding, formula.UnitsStage)
	g, faults := formula.Parse("max(0, quota_tb - 1)*days/month_days", holding)
	require.Empty(t, faults)
	v.Reset()
	v.SetInt(formula.QuotaBytes, 6_000_000_000_000)
	v.SetInt(formula.Days, 15)
	v.SetInt(formula.MonthDays, 30)
	x, err = g.Eval(v)
	require.NoError(t, err)
	require.Equal(t, "2.5", x.String())
}

func TestUnknownFigureIsAnError(t *testing.T) {
	f := func(text string, j job, message string) {
		t.Helper()
		_, err := parse(t, text, formula.RateStage).Eval(j.values())
		require.ErrorIs(t, err, formula.ErrUnknownFigure)
		require.EqualError(t, err, message)
	}
	f("max(cpus, mem_gib/4)", job{formula.CPUs: 1}, "mem_gib is not recorded")
	f("max(cpus, mem_gib/4)", job{formula.CPUs: 1, formula.MemoryMiB: -1}, "mem_gib is not recorded")
	f("cpus*0", nil, "cpus is not recorded")
	f(`gpu("v100")`, nil, `gpu("v100") is not recorded`)
	f("choose(cpus > 1, 1, 2)", nil, "cpus is not recorded")

	v := &formula.Values{}
	scope := formula.NewScope(formula.OfJob, formula.RateStage)
	let := parse(t, "mem_gib/4", formula.LetStage)
	cores, faults := formula.Parse("billed_cores*2", scope.Let(0, "billed_cores", let))
	require.Empty(t, faults)
	_, err := let.Eval(v)
	v.SetUnknown(formula.LetSlot(0), err)
	_, err = cores.Eval(v)
	require.ErrorIs(t, err, formula.ErrUnknownFigure)
	require.EqualError(t, err, "billed_cores is not known: mem_gib is not recorded")
}

// A branch that is not taken needs no figure.
func TestChooseNeedsOnlyItsBranch(t *testing.T) {
	x, err := parse(t, "choose(gpus > 0, gpus*8, mem_gib*0.1)", formula.RateStage).Eval(job{formula.GPUs: 1}.values())
	require.NoError(t, err)
	require.Equal(t, "8", x.String())
}

func TestTrace(t *testing.T) {
	f := func(text string, j job, numbers, value, decides string) {
		t.Helper()
		trace, err := parse(t, text, formula.AmountStage).Trace(j.values())
		require.NoError(t, err)
		require.Equal(t, numbers, trace.WithNumbers)
		require.Equal(t, value, trace.Value.String())
		require.Equal(t, decides, trace.Decides)
	}
	smp := job{formula.CPUs: 4, formula.MemoryMiB: 16384}
	f("max(cpus * 0.8, mem_gib * 0.102)", smp, "max(4 * 0.8, 16 * 0.102)", "3.2", "cpus * 0.8")
	f(" min(cpus, 9) ", smp, "min(4, 9)", "4", "cpus")
	f("gpu(\"a100\")*18", smp, "2*18", "36", "")
	f("ceil(max(cpus*1, mem_gib/5)) * 2", smp, "ceil(max(4*1, 16/5)) * 2", "8", "cpus*1")
	f("max(cpus, mem_gib/4, 1)", smp, "max(4, 16/4, 1)", "4", "cpus and mem_gib/4")
	f("max(cpus, 1) + max(mem_gib*1, 2)", smp, "max(4, 1) + max(16*1, 2)", "20", "")
	f("choose(cpus > 8, max(cpus, 9), 3)", smp, "choose(4 > 8, max(4, 9), 3)", "3", "")
	f("choose(cpus < 8, max(cpus, 9), 3)", smp, "choose(4 < 8, max(4, 9), 3)", "9", "9")
	f("max(1, min(cpus, 9))", smp, "max(1, min(4, 9))", "4", "min(cpus, 9)")
}

func TestTraceKeepsNamesThatWereNotNeeded(t *testing.T) {
	trace, err := parse(t, "choose(gpus > 0, gpus*8, (mem_gib)*0.1) * elapsed_h", formula.AmountStage).
		Trace(job{formula.GPUs: 1, formula.ElapsedSeconds: 2389}.values())
	require.NoError(t, err)
	require.Equal(t, "choose(1 > 0, 1*8, (mem_gib)*0.1) * (2389/3600)", trace.WithNumbers)
	require.Equal(t, "2389/450", trace.Value.String())
}
