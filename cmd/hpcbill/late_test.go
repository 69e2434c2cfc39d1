package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
)

func TestWhatTheLastIssueBilled(t *testing.T) {
	last := lastIssue{known: []string{"a"}, first: "2025-04", same: true}
	require.Equal(t, []string{"a"}, last.billed("2025-04"))
	require.Equal(t, []string{"a"}, last.billed("2025-12"))
	require.Empty(t, last.billed("2025-03")) // it was not looked at
	last.same = false
	require.Empty(t, last.billed("2025-04"))
}

// A month is passed over where nothing came in since the last issue, and nothing
// would have been found: dumps at random, with jobs that change, and month after
// month issued, with all that carries over.
func TestLateMonthsThatArePassedOver(t *testing.T) {
	for _, seed := range []uint64{3, 9, 48} { // among them changes that carry over to months issued since
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			testPassedOver(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

// passedOverApp makes the site, and gives what runs there and must succeed.
func passedOverApp(t *testing.T) (a *app, run func(args ...string)) {
	t.Helper()
	dir, out := t.TempDir(), &bytes.Buffer{}
	for name, text := range passedOverSite {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	now := time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC)
	a = &app{stdin: strings.NewReader(""), stdout: out, stderr: out, now: func() time.Time { return now }, getenv: func(string) string { return "" }, siteDir: dir}
	return a, func(args ...string) {
		t.Helper()
		require.Equal(t, exitDone, a.run(context.Background(), append([]string{"--site", dir}, args...)), "%v: %s", args, out)
	}
}

func testPassedOver(t *testing.T, r *rand.Rand) {
	ctx := context.Background()
	a, run := passedOverApp(t)
	// found gives the corrections that a bill of the month has, and those that
	// it would have if every month were looked at.
	found := func(month string) (passing, all *late) {
		t.Helper()
		s, err := a.openSite()
		require.NoError(t, err)
		defer func() { require.NoError(t, s.close()) }()
		p, err := rates.ParsePeriod(month, time.UTC)
		require.NoError(t, err)
		last, open, err := s.lastIssue(ctx)
		require.NoError(t, err)
		require.Equal(t, month, open)
		passing, err = s.lateSince(ctx, p, last)
		require.NoError(t, err)
		last.same = false
		all, err = s.lateSince(ctx, p, last)
		require.NoError(t, err)
		for _, l := range []*late{passing, all} {
			for i := range l.corrections { // what changed a month before the last issue is not said again
				l.corrections[i].CarriedOver = false
			}
		}
		return passing, all
	}
	for month := 1; month <= 4; month++ {
		for n := range 1 + r.IntN(2) {
			dump := filepath.Join(a.siteDir, fmt.Sprintf("dump-%d-%d.txt", month, n))
			require.NoError(t, os.WriteFile(dump, []byte(randomDump(r, month)), 0o644))
			run("ingest", dump)
		}
		name := fmt.Sprintf("2025-%02d", month)
		passing, all := found(name)
		require.Equal(t, all, passing)
		run("bill", "--period", name, "--no-documents")
		run("issue", "--period", name)
		passing, all = found(fmt.Sprintf("2025-%02d", month+1))
		require.Empty(t, all.corrections)
		require.Equal(t, all, passing)
	}
}

// randomDump has runs of some of a dozen jobs, that ended up to a month.
func randomDump(r *rand.Rand, month int) string {
	var b strings.Builder
	b.WriteString("Cluster|JobID|JobIDRaw|Account|User|Partition|QOS|State|Submit|Start|End|ElapsedRaw|NNodes|NCPUS|AllocTRES\n")
	const form = "2006-01-02T15:04:05"
	for range 1 + r.IntN(4) {
		id := r.IntN(12)
		start := time.Date(2025, time.Month(1+r.IntN(month)), 1+r.IntN(28), r.IntN(24), 0, 0, 0, time.UTC)
		hours := 1 + r.IntN(100)
		cpus := 1 + r.IntN(8)
		fmt.Fprintf(&b, "c%d|%[2]d|%[2]d|%s|u|p|normal|COMPLETED|2024-12-31T00:00:00|%s|%s|%d|1|%[7]d|cpu=%[7]d,node=1\n", 1+id%2, id, []string{"x", "y", "z"}[id%3],
			start.Format(form), start.Add(time.Duration(hours)*time.Hour).Format(form), hours*3600, cpus)
	}
	return b.String()
}

var passedOverSite = map[string]string{
	"hpcbill.yaml": `
organisation: {name: T}
currency: EUR
timezone: UTC
first_period: 2025-01
clusters: {c1: {card: end.yaml}, c2: {card: usage.yaml}}
reductions: reductions.yaml
`,
	"groups.yaml": `
groups:
  - id: x
    department: D
    jobs: [{account: x}]
    allocations: [{name: grant, meter: core_hours, units: "500", from: 2025-01-01, until: 2025-05-01, overdraft: bill}]
  - {id: y, department: D, jobs: [{account: y}]}
  - {id: z, jobs: [{account: z}]}
`,
	"reductions.yaml": `
discounts: [{name: Subsidy, department: D, percent: "50", up_to: "7.00", per: quarter, shared_by: department}]
allowances: [{name: Free, meter: core_hours, units: "100", per: month, rollover: 1, from: 2025-01-01}]
caps: [{name: Most, group: z, amount: "9.00", per: fiscal_year}]
`,
	"end.yaml": `
card: end
currency: EUR
versions:
  - from: 2024-01-01
    meters: {core_hours: {unit: core-hour, price: "0.02"}}
    rules: [{name: all, charge: {core_hours: cpus}}]
`,
	"usage.yaml": `
card: usage
currency: EUR
versions:
  - from: 2024-01-01
    bill_by: usage
    meters: {core_hours: {unit: core-hour, price: "0.03"}}
    rules: [{name: all, charge: {core_hours: cpus}}]
`,
}
