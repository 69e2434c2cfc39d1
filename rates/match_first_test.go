package rates

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTheFirstThatCovers(t *testing.T) {
	f := func(want int, matches ...string) {
		t.Helper()
		var before orderedMatches
		last := len(matches) - 1
		for _, text := range matches[:last] {
			before.add(readMatch(t, text))
		}
		require.Equal(t, want, before.covering(readMatch(t, matches[last])))
	}
	f(-1, "partition: smp")
	f(-1, "partition: smp", "partition: mpi", "partition: gpu")
	f(1, "partition: smp", "partition: mpi", "partition: mpi", "partition: mpi")
	f(1, "partition: smp", "partition: [gpu, mpi]", "partition: mpi")
	f(-1, "partition: smp", "partition: mpi", "partition: [smp, mpi]")
	// the first of them, wherever each stands in the index
	f(0, `partition: "m*"`, "partition: mpi", "partition: mpi")
	f(1, "partition: smp", "account: chem", "partition: mpi", "partition: mpi, account: chem")
	f(0, "", "partition: mpi", "partition: mpi")
	// globs, by what they begin with
	f(1, `partition: "gpu-*"`, `partition: "gpu*"`, `partition: "gp*"`, `partition: "gpu?*"`)
	f(0, `partition: "*"`, `partition: "gpu*"`)
	f(-1, `partition: "gpu*"`, `partition: "g*"`)
	f(0, `partition: ["*x", smp]`, "partition: smp")
	// numbers: values, and ranges that no value covers
	f(1, "cpus: 1", "cpus: [2, 3]", "cpus: 2.0")
	f(-1, "cpus: 1", "cpus: 2", "cpus: 1..2")
	f(1, "cpus: 1", "cpus: 1..2", "cpus: 2")
	// many that share a value are told apart by another one
	f(1, "partition: smp, account: a", "partition: smp, account: b", "partition: smp, account: b, cpus: 1")
	f(-1, "partition: smp, account: a", "partition: smp, account: b", "partition: smp")
}

// What is found is what a comparison of each match with all before it finds.
func TestTheFirstThatCoversProperty(t *testing.T) {
	pattern := rapid.StringMatching(`[ab]{1,2}[*?]?|[*?][ab]`)
	texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", "", "!"}).Draw(t, "not") + pattern.Draw(t, "pattern")
	}), 1, 2)
	match := rapid.Custom(func(t *rapid.T) Match {
		var fields []string
		for _, name := range []string{"partition", "account", "gpu_type", "node_name"} {
			if rapid.IntRange(0, 2).Draw(t, name) == 0 {
				fields = append(fields, fmt.Sprintf(`%s: ["%s"]`, name, strings.Join(texts.Draw(t, name), `", "`)))
			}
		}
		if n := rapid.SampledFrom([]string{"", "", "", "cpus: 1", "cpus: [1, 2]", "cpus: 1..2", "mem_gib: 1/3", "weekday: mon", "weekday: mon..fri", "start: 2026-03-01"}).Draw(t, "other"); n != "" {
			fields = append(fields, n)
		}
		return readMatch(t, strings.Join(fields, ", "))
	})
	rapid.Check(t, func(t *rapid.T) {
		var before orderedMatches
		var all []Match
		for _, m := range rapid.SliceOfN(match, 1, 30).Draw(t, "matches") {
			m.faulty = rapid.IntRange(0, 15).Draw(t, "faulty") == 0
			want := -1
			for i := len(all) - 1; i >= 0; i-- {
				if all[i].covers(m) {
					want = i
				}
			}
			require.Equal(t, want, before.covering(m))
			before.add(m)
			all = append(all, m)
		}
	})
}

// Rules and hardware that have a value of their own each, as imported cards do.
func BenchmarkLoadManyRules(b *testing.B) {
	const rules = 8000
	var hardware, list strings.Builder
	for i := range rules {
		fmt.Fprintf(&hardware, "      h%d: {match: {partition: p%d}, cores: 4, mem_gib: 8}\n", i, i)
		fmt.Fprintf(&list, "      - {name: r%d, match: {cluster: c, partition: p%d}, charge: {core_hours: cpus}}\n", i, i)
	}
	card := []byte("card: many\ncurrency: USD\nversions:\n  - from: 2025-01-01\n    meters: {core_hours: {unit: core-hour, price: \"1\"}}\n" +
		"    hardware:\n" + hardware.String() + "    rules:\n" + list.String())
	b.SetBytes(int64(len(card)))
	for b.Loop() {
		_, err := LoadCard("card.yaml", card)
		require.NoError(b, err)
	}
}

// A rule is hidden by several before it, too: by one for each of its
// alternatives.
func TestHiddenByAlternatives(t *testing.T) {
	f := func(rules, want string) {
		t.Helper()
		text := "card: c\ncurrency: EUR\nversions:\n  - from: 2025-01-01\n    meters: {su: {unit: SU, price: 1}}\n    rules:\n"
		for i, match := range strings.Split(rules, " / ") {
			text += fmt.Sprintf("      - {name: %c, match: {%s}, charge: {su: cpus}}\n", 'a'+i, match)
		}
		_, err := LoadCard("c.yaml", []byte(text))
		if want == "" {
			require.NoError(t, err)
			return
		}
		require.EqualError(t, err, "c.yaml:"+want)
	}
	both := "9:9: versions[0].rules[2]: c can never match: a on line 7 and b on line 8 come first and match all of it"
	f("partition: a / partition: b / partition: [a, b]", both)
	f(`partition: "a*" / partition: b / qos: x, partition: [a1, b, a2]`, both)
	f("partition: a / partition: b / partition: [a, b, c]", "")
	f("partition: a, qos: x / partition: b / partition: [a, b]", "")
	f("partition: a, qos: x / partition: b / partition: [a, b], qos: x", both)
	f(`cpus: "<= 4" / cpus: ">= 8" / cpus: [1..4, "> 16"]`, both)
	f(`cpus: "<= 4" / cpus: ">= 8" / cpus: [1..5, "> 16"]`, "")
	f("weekday: [sat, sun] / weekday: mon / weekday: sat..mon", both)
	f("hour: 0..7 / hour: 8..23 / hour: 6..9", both)
	f("gpu_type: a100 / gpu_type: h100 / gpu_type: [a100, h100]", both)
	// A job may be on nodes of both.
	f("node_name: n1 / node_name: n2 / node_name: [n1, n2]", "")
	// What is wanted and refused is nothing.
	f(`partition: ["!a", a]`, `7:39: versions[0].rules[0].match.partition: wants nothing that it does not refuse`)
	f(`partition: ["!a*", a1, a2]`, `7:39: versions[0].rules[0].match.partition: wants nothing that it does not refuse`)
	f(`partition: ["!a*", a1, b]`, "")
}
