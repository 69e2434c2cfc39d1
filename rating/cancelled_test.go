package rating

import (
	"testing"

	"hpcbill/ingest"

	"github.com/stretchr/testify/require"
)

// A centre bills what users cancel, and not what its administrators did; and
// the jobs of one array whose node was broken.
func TestWhoCancelledAndWhichJob(t *testing.T) {
	r := rater(t, caseCard(t, `
  rules:
  - {name: ours, match: {state: CANCELLED, cancelled_by: ["0", root]}, exclude: cancelled by the centre}
  - {name: broken, match: {job_id: ["903_*", "77"]}, waive: broken node, charge: {core_hours: cpus}}
  - {name: anybody, match: {cancelled_by: "?*"}, charge: {core_hours: cpus*0.5}}
  - {name: all, charge: {core_hours: cpus}}
`))
	f := func(jobID, cancelledBy string, state ingest.State, want Verdict, rule, amount string) {
		t.Helper()
		j := cpus(10, 3600, state)
		j.JobID, j.CancelledBy = jobID, cancelledBy
		o := oneOutcome(t, r, j)
		require.Equal(t, want, o.Verdict)
		require.Equal(t, amount, amountOf(o))
		if len(o.Charges) > 0 {
			require.Equal(t, rule, o.Charges[0].Reason.Rule)
		}
	}
	f("1", "0", ingest.Cancelled, Excluded, "", "0")
	f("2", "root", ingest.Cancelled, Excluded, "", "0")
	f("3", "1042", ingest.Cancelled, Charged, "anybody", "0.1")
	f("4", "", ingest.Completed, Charged, "all", "0.2")
	f("903_7", "", ingest.Failed, Waived, "broken", "0.2")
	f("9037", "", ingest.Failed, Charged, "all", "0.2")
	f("77", "1042", ingest.Cancelled, Waived, "broken", "0.2")
}
