package rates

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/rates/formula"
	"hpcbill/rates/yamldoc"
)

// readMatch reads the inside of a match: {…}.
func readMatch(t require.TestingT, text string) Match {
	l := &cardLoader{File: &yamldoc.File{Name: "match"}, card: &Card{}}
	root := l.Parse([]byte("{" + text + "}"))
	require.Empty(t, l.Faults, text)
	m := l.match(root, "match", jobFields())
	// Random matches may contradict themselves.
	l.Faults = slices.DeleteFunc(l.Faults, func(f Fault) bool { return f.Message == "wants nothing that it does not refuse" })
	require.Empty(t, l.Faults, text)
	m.faulty = false
	return m
}

func TestMatchTexts(t *testing.T) {
	f := func(text, partition string, want bool) {
		t.Helper()
		facts := &Facts{Values: &formula.Values{}}
		facts.Text[Partition], facts.Text[Cluster] = partition, "c1"
		got, err := readMatch(t, text).Matches(facts)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	f("", "smp", true)
	f("partition: smp", "smp", true)
	f("partition: smp", "SMP", false)
	f("partition: smp", "", false)
	f("partition: [smp, mpi]", "mpi", true)
	f("partition: [smp, mpi]", "htc", false)
	f(`partition: "*"`, "", true)
	f("partition: preempt*", "preempt_ndr", true)
	f("partition: preempt*", "xpreempt", false)
	f(`partition: "*gpu"`, "a-gpu", true)
	f(`partition: "g?u*"`, "gpu-x", true)
	f(`partition: "g?u"`, "gu", false)
	f(`partition: "!smp"`, "smp", false)
	f(`partition: "!smp"`, "mpi", true)
	f(`partition: ["g*", "!gpu-test"]`, "gpu-test", false)
	f(`partition: ["g*", "!gpu-test"]`, "gpu", true)
	f(`partition: ["g*", "!gpu-test"]`, "smp", false)
	f("partition: smp, cluster: c1", "smp", true)
	f("partition: smp, cluster: c2", "smp", false)
	f("partition: 0012", "0012", true) // as written, not twelve
	f("partition: 0012", "12", false)
	f(`partition: "true"`, "true", true)
}

func TestMatchNumbers(t *testing.T) {
	f := func(text string, n int64, want bool) {
		t.Helper()
		facts := &Facts{Values: &formula.Values{}}
		facts.Values.SetInt(formula.CPUs, n)
		facts.Values.SetInt(formula.MemoryMiB, n)
		facts.Values.SetInt(formula.ElapsedSeconds, n)
		got, err := readMatch(t, text).Matches(facts)
		require.NoError(t, err)
		require.Equal(t, want, got, "%s for %d", text, n)
	}
	f("cpus: 4", 4, true)
	f("cpus: 4", 5, false)
	f(`cpus: "= 4"`, 4, true)
	f(`cpus: "> 128"`, 128, false)
	f(`cpus: "> 128"`, 129, true)
	f(`cpus: ">= 2"`, 2, true)
	f(`cpus: "< 2"`, 1, true)
	f(`cpus: "< 2"`, 2, false)
	f(`cpus: "<=1"`, 1, true)
	f(`cpus: "!= 3"`, 3, false)
	f(`cpus: "!= 3"`, 4, true)
	f(`cpus: "!= 3"`, 2, true)
	f("cpus: 2..8", 2, true)
	f("cpus: 2..8", 8, true)
	f("cpus: 2..8", 9, false)
	f("cpus: [1, 4..6]", 1, true)
	f("cpus: [1, 4..6]", 3, false)
	f(`cpus: "> 8 && <= 16"`, 16, true)
	f(`cpus: "> 8 && <= 16"`, 8, false)
	f(`cpus: "> 8 && != 10"`, 10, false)
	f(`cpus: "> 8 && != 10"`, 11, true)
	f("mem_gib: 2", 2048, true)
	f(`mem_gib: "> 1.5"`, 1536, false)
	f(`mem_gib: "> 1.5"`, 1537, true)
	f(`mem_mib: "> 1536"`, 1537, true)
	f("elapsed_h: 0.25..1", 900, true)
	f("elapsed_h: 0.25..1", 899, false)
	f(`elapsed_h: "<= 1/60"`, 60, true)
	f(`elapsed_h: "<= 1/60"`, 61, false)
	f("elapsed_h: 5/60..10 / 60", 300, true)
	f("elapsed_h: 5/60..10 / 60", 601, false)
}

func TestMatchMoments(t *testing.T) {
	// A Sunday, 01:30 in Madrid.
	start := time.Date(2026, 3, 1, 0, 30, 0, 0, time.UTC)
	madrid, err := time.LoadLocation("Europe/Madrid")
	require.NoError(t, err)
	f := func(text string, want bool) {
		t.Helper()
		facts := &Facts{Values: &formula.Values{}, Start: MomentOf(start, madrid), End: MomentOf(start.Add(48*time.Hour), madrid)}
		got, err := readMatch(t, text).Matches(facts)
		require.NoError(t, err)
		require.Equal(t, want, got, text)
	}
	f("weekday: sun", true)
	f("weekday: Sunday", true)
	f("weekday: [sat, sun]", true)
	f("weekday: mon..fri", false)
	f("weekday: sat..mon", true)
	f("hour: 1", true)
	f("hour: 0", false)
	f("hour: 22..23", false)
	f(`hour: "< 6"`, true)
	f(`hour: "!= 1"`, false)
	f("start: 2026-03-01", true)
	f(`start: ">= 2026-03-01"`, true)
	f(`start: "< 2026-03-01"`, false)
	f("start: 2026-02-01..2026-02-28", false)
	f("end: 2026-03-03", true)
}

// What is not known is never a silent no; what certainly fails decides first.
func TestMatchUnknown(t *testing.T) {
	facts := &Facts{Values: &formula.Values{}}
	facts.Text[Partition] = "smp"
	f := func(text, field string) {
		t.Helper()
		_, err := readMatch(t, text).Matches(facts)
		var unknown *UnknownFactError
		require.ErrorAs(t, err, &unknown)
		require.Equal(t, field, unknown.Field)
		require.ErrorIs(t, err, formula.ErrUnknownFigure)
	}
	f(`gpus: "> 0"`, "gpus")
	f("gpu_type: a100", "gpu_type")
	f("weekday: sun", "weekday")
	f("start: 2026-01-01", "start")
	f("timelimit_h: 24", "timelimit_h")
	f("partition: smp, cpus: 1", "cpus")

	no, err := readMatch(t, "cpus: 1, partition: mpi").Matches(facts)
	require.NoError(t, err)
	require.False(t, no)

	facts.TimelimitUnlimited = true
	yes, err := readMatch(t, `timelimit_h: "> 24"`).Matches(facts)
	require.NoError(t, err)
	require.True(t, yes)
	no, err = readMatch(t, `timelimit_h: "<= 24"`).Matches(facts)
	require.NoError(t, err)
	require.False(t, no)
}

func TestMatchGPUTypes(t *testing.T) {
	f := func(text string, want bool, types ...string) {
		t.Helper()
		got, err := readMatch(t, text).Matches(&Facts{Values: &formula.Values{}, GPUTypes: types, GPUTypesKnown: true})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	f("gpu_type: a100", true, "a100")
	f("gpu_type: a100", true, "v100", "a100")
	f("gpu_type: a100", false, "v100")
	f("gpu_type: a100", false)
	f(`gpu_type: "a100*"`, true, "a100_1g.5gb")
	f(`gpu_type: "!v100"`, false, "v100", "a100")
	f(`gpu_type: "!v100"`, true)
}

// A job on nodes of two kinds is of neither.
func TestMatchNodeNames(t *testing.T) {
	f := func(text, nodes string, want bool) {
		t.Helper()
		got, err := readMatch(t, text).Matches(&Facts{Values: &formula.Values{}, NodeList: nodes})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	f("node_name: gpu-1", "gpu-1", true)
	f("node_name: gpu-*", "gpu-[01-12]", true)
	f("node_name: gpu-*", "gpu-[01-12],cn1", false)
	f("node_name: [gpu-*, cn*]", "gpu-[01-12],cn1", true)
	f("node_name: [cn1, cn2]", "cn[1-2]", true)
	f("node_name: [cn1, cn2]", "cn[1-3]", false)
	f(`node_name: "!cn*"`, "gpu-[01-12]", true)
	f(`node_name: "cn[1-3,7]"`, "cn[2-3],cn7", true)
	f(`node_name: "cn[1-3]"`, "cn[2-4]", false)
	f(`node_name: "cn[01-03],gpu-*"`, "cn01,gpu-9", true)
	f(`node_name: "!cn[1-3]"`, "cn[4-5]", true)
	f(`node_name: "!cn[1-3]"`, "cn[3-4]", false)
	f(`node_name: "!cn*"`, "gpu-[01-12],cn1", false)

	for _, nodes := range []string{"", "cn[1-"} {
		_, err := readMatch(t, "node_name: cn1").Matches(&Facts{Values: &formula.Values{}, NodeList: nodes})
		require.ErrorIs(t, err, formula.ErrUnknownFigure)
	}
	require.True(t, readMatch(t, "node_name: gpu*").covers(readMatch(t, "node_name: [gpu-1, gpu-2]")))
	require.False(t, readMatch(t, "node_name: gpu-1").covers(readMatch(t, "node_name: gpu*")))
}

func TestCovers(t *testing.T) {
	f := func(wide, narrow string, want bool) {
		t.Helper()
		require.Equal(t, want, readMatch(t, wide).covers(readMatch(t, narrow)), "%s covers %s", wide, narrow)
	}
	f("", "partition: smp", true)
	f("partition: smp", "", false)
	f("partition: smp", "partition: smp, cpus: 4", true)
	f("partition: smp, cpus: 4", "partition: smp", false)
	f("partition: [smp, mpi]", "partition: mpi", true)
	f("partition: mpi", "partition: [smp, mpi]", false)
	f("partition: gpu*", "partition: [gpu-a, gpu]", true)
	f("partition: gpu*", `partition: "gpu-*"`, true)
	f(`partition: "gpu-*"`, "partition: gpu*", false)
	f(`partition: "*"`, `partition: "a*b?"`, true)
	f(`partition: "a?"`, `partition: "a*"`, false)
	f(`partition: "a?*"`, `partition: "a*?"`, false) // true, but not seen
	f(`partition: "!smp"`, "partition: mpi", true)
	f(`partition: "!smp"`, "partition: smp", false)
	f(`partition: "!smp"`, `partition: "!smp"`, true)
	f(`partition: "!s*"`, `partition: "!smp"`, false)
	f(`partition: "!smp"`, `partition: "!s*"`, true)
	f(`cpus: ">= 2"`, "cpus: 4..8", true)
	f(`cpus: ">= 2"`, `cpus: "> 1"`, false)
	f(`cpus: "> 1"`, `cpus: ">= 2"`, true)
	f("cpus: 4..8", "cpus: 4..9", false)
	f(`cpus: ["< 4", "> 8"]`, "cpus: [1, 9]", true)
	f(`cpus: ">= 2"`, `gpus: ">= 2"`, false)
	f("mem_gib: 1..8", "mem_gib: 2", true)
	f("weekday: mon..fri", "weekday: tue", true)
	f("weekday: mon..fri", "weekday: sat", false)
	f("gpu_type: a100*", "gpu_type: a100_80gb", true)
}

// What covers says of two matches is true of every job.
func TestCoversProperty(t *testing.T) {
	patterns := rapid.SliceOfN(rapid.StringMatching(`!?[ab*?]{1,4}`).Filter(func(s string) bool { return s != "!*" }), 1, 3)
	numbers := rapid.SampledFrom([]string{"", "cpus: 1", "cpus: 1..3", `cpus: "> 1"`, `cpus: "!= 2"`, `cpus: "> 0 && < 4"`, `cpus: [1, 3]`})
	match := rapid.Custom(func(t *rapid.T) Match {
		var fields []string
		if rapid.Bool().Draw(t, "texts") {
			fields = append(fields, fmt.Sprintf(`partition: ["%s"]`, strings.Join(patterns.Draw(t, "patterns"), `", "`)))
		}
		if n := numbers.Draw(t, "numbers"); n != "" {
			fields = append(fields, n)
		}
		return readMatch(t, strings.Join(fields, ", "))
	})
	rapid.Check(t, func(t *rapid.T) {
		wide, narrow := match.Draw(t, "wide"), match.Draw(t, "narrow")
		if !wide.covers(narrow) {
			return
		}
		for range 20 {
			facts := &Facts{Values: &formula.Values{}}
			facts.Text[Partition] = rapid.StringMatching(`[abc]{0,5}`).Draw(t, "partition")
			facts.Values.SetInt(formula.CPUs, rapid.Int64Range(0, 5).Draw(t, "cpus"))
			in, err := narrow.Matches(facts)
			require.NoError(t, err)
			if in {
				in, err = wide.Matches(facts)
				require.NoError(t, err)
				require.True(t, in, "%v", facts.Text[Partition])
			}
		}
	})
}
