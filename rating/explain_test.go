package rating

import (
	"encoding/json"
	"strings"
	"testing"

	"hpcbill/rates"

	"github.com/stretchr/testify/require"
)

// stepLines prints an explanation's steps compactly.
func stepLines(parts []PartExplanation) string {
	var b strings.Builder
	for _, p := range parts {
		for _, s := range p.Steps {
			b.WriteString(string(s.Stage))
			for _, text := range []string{s.Meter, s.Name, s.Says, s.Formula, s.WithNumbers, s.Decides, s.Value, s.Rounded, s.Unit} {
				b.WriteString("|" + text)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func TestExplain(t *testing.T) {
	r := rater(t, shipped(t, "pitt-crc"))
	j := jobOf("htc", 2389)
	j.CPUs, j.MemoryMiB = 67, 536000
	e := r.Explain(j, november)
	require.Equal(t, `attribute||lab|group lab (The Lab, internal) by account=lab||||||
select rule||htc|rule htc of card pitt-crc, version of 2024-01-01||||||
rate|su|||max(cpus*1, mem_gib*0.128)|max(67*1, 523.4375*0.128)|cpus*1 and mem_gib*0.128|67||
units|su||2389 s are 2389/3600 h|rate * elapsed_h|67 * 2389/3600||160063/3600|44.461944|SU
price|su||for internal||||0.012||per SU
amount|su|||units * price|160063/3600 * 0.012||160063/300000|0.533543|
`, stepLines(e.Parts))
	require.Equal(t, "groups.yaml", e.Parts[0].Steps[0].File)
	require.Equal(t, 2, e.Parts[0].Steps[0].Line)
	require.Equal(t, "pitt-crc.yaml", e.Parts[0].Steps[1].File)
	text, _ := rates.Shipped("pitt-crc")
	before, _, _ := strings.Cut(string(text), "internal:")
	require.Equal(t, strings.Count(before, "\n")+1, e.Parts[0].Steps[4].Line, "the row that gave the price")
	require.Equal(t, Charged, e.Parts[0].Outcome.Verdict)
	r.Job(jobOf("a100", 5), november)
	require.Equal(t, "160063/3600", e.Parts[0].Outcome.Charges[0].Quantity.String(), "an explanation is the caller's to keep")
	_, err := json.Marshal(e.Parts[0].Steps)
	require.NoError(t, err)
}

func TestExplainLetsAndFactors(t *testing.T) {
	r := rater(t, loadCard(t, `
card: c
currency: USD
versions:
- from: 2025-01-01
  let: {unused: cpus+1, double: cpus*2, four: double*2}
  meters: {su: {unit: SU, price: 3}}
  factor: [{qos: {normal: 0.5}}, {state: {FAILED: 0}}]
  rules: [{name: all, charge: {su: {rate: four, duration: "max(elapsed_h, 2)", amount: "round(units*price, 0)"}}}]
`))
	require.Equal(t, `attribute||lab|group lab (The Lab, internal) by account=lab||||||
select rule||all|rule all of card c, version of 2025-01-01||||||
let||double||cpus*2|1*2||2||
let||four||double*2|2*2||4||
rate|su|||four|4||4||
factors|su||qos normal: 0.5, state not listed: 1||||0.5||
duration|su|||max(elapsed_h, 2)|max(1, 2)|2|2||
units|su|||rate * factor * duration|4 * 0.5 * 2||4||SU
price|su||for all||||3||per SU
amount|su|||round(units*price, 0)|round(4*3, 0)||12||
`, stepLines(r.Explain(jobOf("x", 3600), november).Parts))
}

func TestExplainHeldAndFree(t *testing.T) {
	r := rater(t, shipped(t, "osc"))
	e := r.Explain(jobOf("none", 60), november)
	require.Equal(t, Held, e.Parts[0].Outcome.Verdict)
	require.Equal(t, "attribute||lab|group lab (The Lab, internal) by account=lab||||||\n", stepLines(e.Parts))
	j := jobOf("serial", 60)
	j.MemoryMiB, j.CPUs = -1, 2
	require.Contains(t, stepLines(r.Explain(j, november).Parts),
		"let||mem_gib|none is recorded and none was asked for: what the CPUs carry on node type regular||||8||\n")
	r = rater(t, shipped(t, "pitt-crc"))
	require.Contains(t, stepLines(r.Explain(jobOf("preempt", 60), november).Parts), "not billable, preemptible")
	require.Empty(t, r.Explain(jobOf("smp", 60), november.Next()).Parts)
}
