package rating

import (
	"fmt"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// plainCard asks for texts alone, cuts jobs and has charges that not every part
// has.
const plainCard = `
card: plain
currency: USD
versions:
- from: 2024-01-01
  bill_by: usage
  meters: {h: {unit: h, price: "0.02"}, jobs: {unit: job, price: "0.1"}}
  states: {charge: ["*"], waive: {NODE_FAIL: node failure}, exclude: {TIMEOUT: slow}}
  factor: [{qos: {high: 2, "*": 1}}]
  rules:
  - {name: free, match: {partition: free}, exclude: free}
  - {name: fat, match: {partition: fat}, charge: {h: cpus, jobs: {rate: "1", per: job}}}
  - {name: types, match: {partition: smp}, charge: {h: 'gpu("a100")'}}
  - {name: all, charge: {h: cpus}}
- from: 2025-11-25
  bill_by: usage
  meters: {h: {unit: h, price: "0.03"}}
  rules: [{name: later, charge: {h: cpus}}]
`

// What outcomes of a Kind have in common, in words.
func inCommon(o *Outcome) string {
	j := o.Job
	text := fmt.Sprintf("%s|%s|%s|%s|%s|%s|%s|%s|%+v", j.Cluster, j.User, j.Account, j.Partition, j.QoS, j.State, o.Verdict, o.Group, o.Cause)
	for _, c := range o.Charges {
		text += fmt.Sprintf("\n%s %s %s %s@%s%s %+v %v %v %d %s", c.Group, c.Meter, c.Unit, c.Price, c.PriceLabel, c.Reason.Rule, c.Reason, c.Tiers, c.Counted, c.EstimatedDays, c.StorageUnit)
	}
	return text
}

func TestOutcomesOfAKindAgree(t *testing.T) {
	tariff, p := busyTariff(t), rates.MonthOf(2025, time.November, berlin(t))
	tariff.Cards["c3"] = loadCard(t, plainCard)
	tariff.Outages = outages(t, tariff.Zone, "- {name: a, from: 2025-11-12T12:00Z, until: 2025-11-14T21:00Z, reason: power}")
	r, common, met := NewRater(tariff), map[*Kind]string{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for _, j := range rapid.SliceOfN(rapid.Custom(drawJob), 20, 60).Draw(t, "jobs") {
			j.Cluster, j.Account = rapid.SampledFrom([]string{"c1", "c2", "c3", "c3", "c3"}).Draw(t, "cluster"), rapid.SampledFrom([]string{"lab", "xy"}).Draw(t, "account")
			j.State = rapid.SampledFrom([]ingest.State{ingest.Completed, ingest.NodeFail, ingest.Timeout}).Draw(t, "state")
			j.Partition, j.CPUs = rapid.SampledFrom([]string{"fat", "free", "smp", "other"}).Draw(t, "partition"), 4
			for _, o := range r.Job(j, p) {
				if o.Kind == nil {
					met["none"]++
					continue
				}
				require.Less(t, o.Kind.Number, maxKinds)
				is := inCommon(&o)
				if was, seen := common[o.Kind]; seen {
					require.Equal(t, was, is)
					met[o.Verdict.String()]++
				}
				common[o.Kind] = is
			}
		}
	})
	for _, verdict := range []string{"charged", "waived", "excluded", "none"} {
		require.Positive(t, met[verdict], "%v", met)
	}
}

// What is kept for a Kind is not another's that has its Number.
func TestByKind(t *testing.T) {
	var kept ByKind[int]
	a, b, sameNumber := &Kind{Number: 0}, &Kind{Number: 7}, &Kind{Number: 7}
	*kept.Of(a) = 1
	*kept.Of(b) = 2
	require.Equal(t, []int{1, 2}, []int{*kept.Of(a), *kept.Of(b)})
	require.Zero(t, *kept.Of(sameNumber))
	require.Zero(t, *kept.Of(b))
	*kept.Of(a) = 3
	kept.Forget()
	require.Zero(t, *kept.Of(a))
}
