package rates

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func digestCard(t *testing.T, head, version string) *Card {
	t.Helper()
	c, err := LoadCard("card.yaml", []byte(fmt.Sprintf("card: c\ncurrency: EUR\n%sversions:\n  - from: 2025-01-01\n%s", head, version)))
	require.NoError(t, err)
	return c
}

// What a version says has a digest of its own: how it is written has not.
func TestVersionDigest(t *testing.T) {
	const plain = `    meters: {m: {unit: h, price: "0.02"}}
    rules: [{name: all, charge: {m: cpus}}]
`
	want := digestCard(t, "", plain).Versions[0].Digest
	same := func(head, version string) {
		t.Helper()
		require.Equal(t, want, digestCard(t, head, version).Versions[0].Digest)
	}
	differs := func(head, version string) {
		t.Helper()
		require.NotEqual(t, want, digestCard(t, head, version).Versions[0].Digest)
	}
	same("note: why it is so\n", "    note: agreed\n"+plain)
	same("bill_by: end\n", "    bill_by: end\n"+plain)
	same("", "    until: 2026-01-01\n"+plain)
	same("", `    meters:
      m:
        unit: h # an hour
        price: 0.02
    rules:
      - name: all
        charge: {m: "cpus"}
`)
	same("", plain+"    limits: [{match: {qos: debug}, gpus_per_job: 4}]\n")
	differs("bill_by: start\n", plain)
	differs("", `    meters: {m: {unit: h, price: "0.03"}}
    rules: [{name: all, charge: {m: cpus}}]
`)
	differs("", `    meters: {m: {unit: h, price: "0.02"}}
    rules: [{name: all, charge: {m: cpus*1}}]
`)
}

func TestSpans(t *testing.T) {
	const version = `    meters: {m: {unit: h, price: "0.02"}}
    rules: [{name: all, charge: {m: cpus}}]
`
	c := digestCard(t, "", "    until: 2025-03-11\n"+version+"  - from: 2025-03-21\n"+version+"  - from: 2025-03-28\n"+version)
	var got []string
	for _, s := range c.Spans(MonthOf(2025, time.March, time.UTC)) {
		got = append(got, s.From.String()+" "+s.Until.String())
	}
	require.Equal(t, []string{"2025-03-01 2025-03-11", "2025-03-21 2025-03-28", "2025-03-28 2025-04-01"}, got)
	require.Empty(t, c.Spans(MonthOf(2024, time.March, time.UTC)))
}
