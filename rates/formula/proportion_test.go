package formula

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates/money"
)

func TestSumsOverParts(t *testing.T) {
	scope := NewScope(OfJob, UnitsStage)
	let, faults := Parse("max(elapsed_h, 0.25)", scope)
	require.Empty(t, faults)
	scope = scope.Let(0, "at_least", let)
	let, faults = Parse("elapsed_h + suspended_h/2", scope)
	require.Empty(t, faults)
	scope = scope.Let(1, "counted", let)
	f := func(text string, want bool) {
		t.Helper()
		parsed, faults := Parse(text, scope)
		require.Empty(t, faults, text)
		require.Equal(t, want, parsed.SumsOverParts(func(s Slot) bool { return s == Duration }), text)
	}
	f("elapsed_h", true)
	f("elapsed_h + suspended_h", true)
	f("-suspended_h", true)
	f("cpus*elapsed_h/1000", true)
	f("max(cpus*0.8, mem_gib*0.102)*elapsed_h", true)
	f("calendar_days*24*nodes", true)
	f("rate*duration", true)
	f("counted*cpus", true)
	f("choose(gpus > 0, gpus*elapsed_h, 0)", true)
	f("0", true)
	f("cpus", false)
	f("1", false)
	f("elapsed_h + 1", false)
	f("elapsed_h*elapsed_h", false)
	f("cpus/max(elapsed_h, 1)", false)
	f("ceil(elapsed_h)", false)
	f("round(cpus*elapsed_h, 2)", false)
	f("max(elapsed_h, 0.25)*cpus", false)
	f("at_least*cpus", false)
	f("timelimit_h*nodes", false)
	f("wait_h", false)
	f("choose(elapsed_h > 1, elapsed_h, 0)", false)
	f("choose(gpus > 0, gpus*elapsed_h, 1)", false)
	f(`tres("energy")/3600000`, false)

	f = func(text string, want bool) {
		t.Helper()
		parsed, faults := Parse(text, scope)
		require.Empty(t, faults, text)
		require.Equal(t, want, parsed.RepeatsInParts(func(Slot) bool { return false }), text)
	}
	f("cpus", true)
	f("timelimit_h*nodes", true)
	f("0.7*elapsed_h + 0.1*timelimit_h", true)
	f("(elapsed_h + wait_h)*cpus/2", true)
	f("elapsed_h", false)
	f("0", false)
	f("ceil(elapsed_h)", false)
	f("max(elapsed_h, timelimit_h)", false)
}

// What sums by its form sums by its values, whatever the job and the cut.
func TestSumsOverPartsOfAnyJob(t *testing.T) {
	scope := NewScope(OfJob, UnitsStage)
	timed := strings.NewReplacer("nodes", "elapsed_h*1", "days_let*1", "suspended_h*2", "req_cpus", "cpus")
	sums, runs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := timed.Replace(expressions(t, rapid.IntRange(0, 2).Draw(t, "depth")))
		f, faults := Parse(text, scope)
		require.Empty(t, faults, text)
		runs++
		if !f.SumsOverParts(func(Slot) bool { return false }) {
			return
		}
		sums++
		v := drawValues(t)
		value := func(elapsed, suspended int64) (money.Exact, error) {
			v.SetInt(ElapsedSeconds, elapsed)
			v.SetInt(SuspendedSeconds, suspended)
			return f.Eval(v)
		}
		seconds := rapid.Int64Range(0, 1_000_000)
		a, b, c, d := seconds.Draw(t, "a"), seconds.Draw(t, "b"), seconds.Draw(t, "c"), seconds.Draw(t, "d")
		whole, err := value(a+b, c+d)
		if err != nil {
			return // a figure is not known
		}
		first, err := value(a, c)
		require.NoError(t, err)
		second, err := value(b, d)
		require.NoError(t, err)
		require.True(t, whole.Equal(first.Add(second)), text)
	})
	require.Positive(t, sums, "none of %d", runs)
}
