package formula_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

func TestParseRefuses(t *testing.T) {
	f := func(text string, column int, message, hint string) {
		t.Helper()
		_, faults := formula.Parse(text, formula.NewScope(formula.OfJob, formula.RateStage))
		require.NotEmpty(t, faults, text)
		require.Equal(t, column, faults[0].Column, faults[0].Message)
		require.Contains(t, faults[0].Message, message)
		require.Contains(t, faults[0].Hint(), hint)
	}
	f("", 1, "the formula is empty", "")
	f("  \n ", 1, "the formula is empty", "")
	f(strings.Repeat("1+", 1000)+"1", 1, "more than 1000 bytes", "let:")
	f("cpus\xff", 1, "not valid UTF-8", "")
	// Names.
	f("cpu*2", 1, "unknown name cpu", "did you mean cpus?")
	f("max(cpus, mem_gbi)", 11, "unknown name mem_gbi", "did you mean mem_gib?")
	f("volume", 1, "unknown name volume", "one of cpus, nodes")
	f("quota_tb", 1, "quota_tb is a figure of storage, not of a job", "")
	f("cpus*price", 6, "price is not known yet in a rate formula", "")
	f("max", 1, "unknown name max", "write max(…)")
	f("cpus > 1 and gpus > 1", 10, "and is not part of a formula", "write &&")
	f("if(cpus > 1, 2, 3)", 1, "if is not part of a formula", "write choose(")
	f("hours*2", 1, "unknown name hours", "did you mean elapsed_h?")
	f("memory*2", 1, "unknown name memory", "did you mean mem_gib?")
	f("maxx(1, 2)", 1, "unknown function maxx", "did you mean max?")
	f("cpus(2)", 1, "unknown function cpus", "cpus * (…)")
	f("roundup(cpus/4, 0)", 1, "unknown function roundup", "write ceil(x)")
	f("INT(cpus/4)", 1, "unknown function INT", "write floor(x)")
	f("sqrt(4)", 1, "unknown function sqrt", "one of ceil, choose")
	// Signs of other languages.
	f("cpus × 0.8", 6, `"×" is not part of a formula`, "write *")
	f("cpus\u00a0* 2", 5, "a blank here is not a plain one", "write a plain space")
	f("cpus *\u200b 2", 7, "a blank here is not a plain one", "write a plain space")
	f("cpus * ² ", 8, "illegal character U+00B2", "remove it")
	f("cpus // 2", 6, `"//" is not part`, "floor")
	f("cpus /* cores */ * 2", 6, `"/*" is not part`, "after #")
	f("cpus ** 2", 6, `"**" is not part`, "")
	f("cpus ^ 2", 6, `"^" is not part`, "")
	f("cpus % 2", 6, `"%" is not part`, "")
	f("cpus & 2", 6, `"&" is not part`, "")
	f("max(cpus, 2) ≥ 3", 14, `"≥" is not part`, ">=")
	f("cpus = 2", 6, "expected", "==")
	f("+cpus", 1, `"+" is not part`, "")
	f("&cpus", 1, `"&" is not part`, "")
	// Syntax.
	f("max(cpus*0.8", 13, "a parenthesis is not closed", "quote a formula that has a comma")
	f("mem_gib*0.102)", 14, "a parenthesis closes that was not opened", "")
	f("cpus cpus", 6, `an operator or a comma is missing before "cpus"`, "write *")
	f("max(cpus gpus)", 10, `an operator or a comma is missing before "gpus"`, "write *")
	f("cpus*0,8", 7, "a comma stands outside the parentheses of a function", "0.8")
	f("cpus*.8", 6, "not a decimal number", "write 0.8")
	f("cpus*", 6, "ends where a number or a name belongs", "")
	f("cpus*/2", 6, "a number or a name is missing before '/'", "")
	f("gpu('a100')", 5, `"'" is not part of a formula`, "double quotes")
	f("cpus > 4 ? 2 : 1", 10, `"?" is not part of a formula`, "choose(")
	f("1 +", 4, "ends where a number", "")
	f("cpus;", 5, `missing before ";"`, "")
	f("a.b", 1, "not part of a formula", "")
	f("x[1]", 1, "not part of a formula", "")
	f("func() {}", 1, "not part of a formula", "")
	f("max(cpus...)", 1, "not part of a formula", "")
	f("struct{}", 1, "not part of a formula", "")
	// Numbers.
	f("cpus*.5", 6, "not a decimal", "write 0.5")
	f("cpus*5.", 6, "not a decimal", "0.102")
	f("cpus*0x10", 6, "not a decimal", "")
	f("cpus*1_000", 6, "not a decimal", "")
	f("cpus*3i", 6, "not a decimal", "")
	f("cpus*'a'", 6, "is not part of a formula", "")
	f("cpus*010", 6, "begins with a 0", "")
	f("cpus*1e99", 6, "not a decimal", "")
	f(`cpus*"2"`, 6, "a text stands where a number belongs", "")
	// Functions.
	f("max(cpus)", 1, "max has 1 operands", "max(a, b, …)")
	f("ceil(1, 2)", 1, "ceil has 2 operands", "ceil(x)")
	f("choose(cpus, 1)", 1, "choose has 2 operands", "choose(condition, a, b)")
	f("round(cpus, 0.5)", 13, "the number of digits is not a whole number", "")
	f("round(cpus, nodes)", 13, "the number of digits is not a whole number", "")
	f("round(cpus, 99)", 13, "the number of digits", "from -20 to 20")
	f("round(cpus, 2, bankers)", 16, "the rounding is not known", "half_even")
	f("step(cpus, 0)", 12, "the quantum 0 can be 0 or less", "")
	f("step(cpus, gpus)", 12, "the quantum gpus can be 0 or less", "")
	f("cpus mod 2", 6, "mod is not part of a formula", "write a - b*floor(a/b)")
	f("energy/1000", 1, "unknown name energy", `write tres("energy"), joules of the whole job`)
	f("cpus/0", 6, "divides by 0", "")
	f(`tres("fs/disk")`, 1, `tres("fs/disk") is measured of the job's steps, and no job is allocated any`, "AllocTRES has")
	f(`tres("vmem")`, 1, "is measured", "")
	f(`tres("ic/ofed")`, 1, "is measured", "")
	f(`tres("license/")`, 1, `"license/" is not the name of a TRES`, "license/matlab")
	f(`tres("gres")`, 1, `"gres" is not the name of a TRES`, "")
	f(`gpu("gres/gpu:a100")`, 1, "has more than the type", `write gpu("a100")`)
	f(`gpu("gpu:a100")`, 1, "has more than the type", `write gpu("a100")`)
	f(`gpu("a100*")`, 1, "is a glob, and counts one type", "write gpus for all types")
	f("gpu(a100)", 1, "gpu wants one name in double quotes", `gpu("a100")`)
	f(`tres("foo")`, 1, `"foo" is not the name of a TRES`, "license/matlab")
	f(`tres("gres/gpu")`, 1, "has a name of its own", "write gpus")
	// Conditions.
	f("cpus > 1", 1, "is a condition, not a number", "choose")
	f("(cpus > 1) * 2", 1, "is a condition where a number belongs", "choose")
	f("choose(cpus, 1, 2)", 8, "cpus is a number where a condition belongs", "gpus > 0")
	f("choose(1 < cpus < 4, 1, 2)", 8, "1 < cpus is a condition", "&&")
	f("!cpus", 2, "cpus is a number where a condition belongs", "")
	// Kinds of figure.
	f("cpus + mem_gib", 8, "cpus (cores or GPUs) and mem_gib (GiB) are not the same kind", "mem_gib*0.25 (or *1)")
	f("max(cpus, mem_gib)", 11, "not the same kind", "")
	f("elapsed_h + mem_gib", 13, "elapsed_h (hours) and mem_gib (GiB)", "hours go only with hours")
	f("nodes + elapsed_h", 9, "nodes (a number) and elapsed_h (hours)", "hours go only with hours")
	f("mem_gib + mem_mib", 11, "mem_gib (GiB) and mem_mib (MiB)", "")
	f("choose(elapsed_h > cpus, 1, 2)", 20, "not the same kind", "")
}

func TestParseAccepts(t *testing.T) {
	f := func(text string) {
		t.Helper()
		_, faults := formula.Parse(text, formula.NewScope(formula.OfJob, formula.UnitsStage).
			Bound("node_cores", money.Int(12), money.Int(48)).
			Bound("node_mem_gib", money.Int(48), money.Int(48)).
			Bound("node_gpus", money.Int(0), money.Int(4)).
			Bound("mem_per_core_gib", money.Int(4), money.Int(4)))
		require.Empty(t, faults, text)
	}
	f("max(cpus*0.8, mem_gib*0.102)")
	f("max(cpus, mem_gib / mem_per_core_gib)")
	f("choose(nodes > 1, nodes*node_cores, max(cpus, mem_gib/mem_per_core_gib))")
	f("max(cpus, ceil(mem_gib/(node_mem_gib/node_cores)))")
	f("min(node_cores, ceil(mem_gib/node_mem_gib*node_cores))")
	f("max(cpus/node_cores, mem_gib/node_mem_gib)")
	f("0.7*elapsed_h + 0.1*timelimit_h")
	f("max(0.7*elapsed_h + 0.1*timelimit_h, 300/3600)")
	f("elapsed_h + suspended_h")
	f("cpus + gpus")
	f("cpus*1 + mem_gib*0.25 + gpus*50")
	f("nodes + cpus")
	f("rate*duration")
	f("trunc(rate*factor*duration, 2)")
	f("max(cpus*elapsed_h, mem_gib*elapsed_h/4)")
	f("max(gpus, 1)*2")
	f("cpus*elapsed_h + cpus*5/60") // five minutes, as a coefficient
}

func TestDivisors(t *testing.T) {
	scope := formula.NewScope(formula.OfJob, formula.RateStage).Bound("node_cores", money.Int(12), money.Int(48))
	good := func(text string) {
		t.Helper()
		_, faults := formula.Parse(text, scope)
		require.Empty(t, faults, text)
	}
	bad := func(text string, column int, divisor string) {
		t.Helper()
		_, faults := formula.Parse(text, scope)
		require.Len(t, faults, 1, text)
		require.Equal(t, formula.Fault{
			Column: column, Message: divisor + " can be 0, and divides",
			Remedy: "write max(" + divisor + ", 1), or choose(" + divisor + " > 0, …/" + divisor + ", 0)",
		}, faults[0])
	}
	good("cpus/4")
	good("gpus/cpus + mem_gib/nodes")
	good("cpus/node_cores")
	good("cpus/max(gpus, 1)")
	good("cpus/(gpus + 1)")
	good("cpus/(node_cores*2)")
	good("cpus/ceil(node_cores/7)")
	good("cpus/min(node_cores, 3)")
	good("cpus/first(gpus, 1)")
	good("cpus/choose(gpus > 0, 2, 3)")
	good("cpus/-node_cores")
	good("cpus/(1 - 3)")
	good("choose(gpus > 0, cpus/gpus, 0)")
	good("choose(gpus != 0, cpus/gpus, 0)")
	good("choose(0 < gpus, cpus/gpus, 0)")
	good("choose(gpus >= 2, cpus/gpus, 0)")
	good("choose(gpus == 0, 0, cpus/gpus)")
	good("choose(gpus <= 0, 0, cpus/gpus)")
	good("choose(!(gpus > 0), 0, cpus/gpus)")
	good("choose(gpus > 0 && cpus/gpus > 2, 1, 0)")
	good("choose(gpus == 0 || cpus/gpus > 2, 1, 0)")
	good("choose(gpus > 0 && nodes > 0, cpus/(gpus*nodes), 0)")
	bad("cpus/gpus", 6, "gpus")
	for _, text := range []string{"cpus/0", "cpus/(2 - 2)"} {
		_, faults := formula.Parse(text, scope)
		require.Equal(t, []formula.Fault{{Column: 6, Message: "divides by 0"}}, faults)
	}
	bad("1 / (gpus + billing*1)", 5, "(gpus + billing*1)")
	bad("cpus/floor(gpus/2)", 6, "floor(gpus/2)")
	bad("choose(gpus >= 0, cpus/gpus, 0)", 24, "gpus")
	bad("choose(cpus > 0, cpus/gpus, 0)", 23, "gpus")
	bad("choose(gpus > 0, 0, cpus/gpus)", 26, "gpus")
	bad("choose(gpus > 0 || nodes > 0, cpus/gpus, 0)", 36, "gpus")
	bad("choose(gpus < 4, cpus/gpus, 0)", 23, "gpus")
	bad("cpus/(gpus - 1)", 6, "(gpus - 1)")
	bad("cpus/trunc(node_cores/100, 0)", 6, "trunc(node_cores/100, 0)")
}

func TestDimensionsOfStages(t *testing.T) {
	f := func(text string, isHours, hasHours bool) {
		t.Helper()
		d := parse(t, text, formula.UnitsStage).Dimension()
		require.Equal(t, isHours, d.IsHours(), "%s is %s", text, d)
		require.Equal(t, hasHours, d.HasHours(), "%s is %s", text, d)
	}
	f("elapsed_h", true, true)
	f("ceil(elapsed_h*60)/60", true, true)
	f("max(elapsed_h, 0.25)", true, true)
	f("1", true, false)
	f("cpus", false, false)
	f("cpus*elapsed_h", false, true)
	f("cpus*0.8*elapsed_h", true, true) // a coefficient may have made hours of it
	f("mem_gib", false, false)

	f("cpus*elapsed_h + cpus*5/60", true, true)
	f("rate*duration", true, false)
}

func TestNegative(t *testing.T) {
	f := func(text string, want bool) {
		t.Helper()
		require.Equal(t, want, parse(t, text, formula.RateStage).CanBeNegative(), text)
	}
	f("cpus", false)
	f("gpus - 1", true)
	f("cpus - 1", false) // Slurm allocates at least one
	f("max(0, cpus - 1)", false)
	f("choose(cpus > 1, cpus - 1, 0)", false)
	f("choose(cpus > 1, cpus - 2, 0)", true)
	f("-cpus*-1", false)
	f("cpus*-1", true)
	f("floor(cpus*0.1)", false)
}

func TestFigures(t *testing.T) {
	g := parse(t, `max(cpus*0.8, gpu("a100")*2, cpus + nodes*1)`, formula.RateStage)
	require.Equal(t, []string{"cpus", `gpu("a100")`, "nodes"}, g.Figures())
	require.True(t, g.Uses(formula.CPUs))
	require.False(t, g.Uses(formula.GPUs))
	require.True(t, g.UsesTRES())
	high, ok := parse(t, "nodes*2", formula.RateStage).Bounds().High()
	require.True(t, ok)
	require.Equal(t, "2000000", high.String())

	x, ok := parse(t, "1/7", formula.RateStage).Constant()
	require.True(t, ok)
	require.Equal(t, "1/7", x.String())
	_, ok = g.Constant()
	require.False(t, ok)
}

func TestScopes(t *testing.T) {
	scope := formula.NewScope(formula.OfJob, formula.RateStage).Hide("node_cores", "is not given by any hardware: entry", "")
	_, faults := formula.Parse("nodes*node_cores", scope)
	require.Len(t, faults, 1)
	require.Equal(t, "node_cores is not given by any hardware: entry", faults[0].Message)

	_, faults = formula.Parse("max(quota_tb, used_tib)", formula.NewScope(formula.OfHolding, formula.RateStage))
	require.Equal(t, "use the figures in TB or those in TiB alone: each is there in both, converted exactly", faults[0].Hint())
	_, faults = formula.Parse("cpus*elapsed_h", formula.NewScope(formula.OfHolding, formula.RateStage))
	require.Len(t, faults, 2) // both, not only the first
	require.Equal(t, "cpus is a figure of a job, not of storage", faults[0].Message)

	for _, name := range []string{"cpus", "max", "gpu", "quota_tib", "price", "half_even"} {
		require.True(t, formula.IsReserved(name), name)
	}
	require.False(t, formula.IsReserved("billed_cores"))
}

// Whatever the text, Parse answers; what it accepts can be evaluated without
// a panic, and reads the same when written again.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"max(cpus*0.8, mem_gib*0.102)", "choose(gpus > 0, cpus/gpus, 0)", `gpu("a100")*18`, "round(x, 2, half_even)",
		"cpus × 2", "((((", "step(elapsed_h, 0.25)", "first(gpus, 1)", "1e40*1e40", "-9223372036854775808", "cpus\n+1", "`", "max(1,2)/*",
	} {
		f.Add(seed)
	}
	values := job{formula.CPUs: 3, formula.GPUs: 0, formula.MemoryMiB: 5000, formula.ElapsedSeconds: 11}.values()
	f.Fuzz(func(t *testing.T, text string) {
		scope := formula.NewScope(formula.OfJob, formula.AmountStage)
		g, faults := formula.Parse(text, scope)
		if g == nil {
			require.NotEmpty(t, faults)
			return
		}
		require.Empty(t, faults)
		again, faults := formula.Parse(g.Text, scope)
		require.Empty(t, faults)
		x, err := g.Eval(values)
		y, errAgain := again.Eval(values)
		require.Equal(t, err, errAgain)
		require.True(t, x.Equal(y))
		if err == nil {
			low, ok := g.Bounds().Low()
			require.True(t, !ok || x.Cmp(low) >= 0, "%s is below %s", x, low)
			high, ok := g.Bounds().High()
			require.True(t, !ok || x.Cmp(high) <= 0, "%s is above %s", x, high)
			_, err := g.Trace(values)
			require.NoError(t, err)
		} else {
			require.NotErrorIs(t, err, formula.ErrDivisionByZero, "what divides was checked")
		}
	})
}
