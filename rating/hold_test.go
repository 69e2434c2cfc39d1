package rating

import (
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"

	"github.com/stretchr/testify/require"
)

func TestHeldByName(t *testing.T) {
	card := `card: c
currency: USD
versions:
- from: 2025-11-01
  until: 2025-12-01
  hardware:
    big: {match: {partition: big}, cores: 8, mem_gib: 64}
    bare: {match: {partition: bare}}
  meters:
    m: {unit: core-hour, price_by: class, price: {internal: 1}}
    x: {unit: thing, price: 2}
  states: {charge: [COMPLETED, FAILED], exclude: {NODE_FAIL: system failure}, waive: {BOOT_FAIL: boot failure}}
  rules:
  - {name: mem, match: {partition: [mem, big]}, charge: {x: mem_gib}}
  - {name: node, match: {partition: [whole, bare]}, charge: {x: node_cores*nodes}}
  - {name: types, match: {partition: types}, charge: {x: "gpu(\"a100\")*2"}}
  - {name: negative, match: {partition: negative}, charge: {x: "cpus-4"}}
  - {name: qos, match: {partition: qos}, charge: {x: cpus}, factor: [{qos: {normal: 1, low: 0.5}, else: hold}]}
  - {name: free, match: {partition: free}, exclude: free of charge}
  - {name: gift, match: {partition: gift}, charge: {x: cpus}, waive: a gift}
  - {name: gpus, match: {partition: "g*", gpus: "> 0"}, charge: {x: gpus}}
  - {name: cpu, match: {partition: cpu}, charge: {m: cpus}}
`
	r := rater(t, loadCard(t, card))
	f := func(partition string, change func(*ingest.Job), verdict Verdict, code, detail, hint string) {
		t.Helper()
		j := jobOf(partition, 3600)
		change(j)
		o := oneOutcome(t, r, j)
		require.Equal(t, verdict, o.Verdict)
		require.Equal(t, code, o.Cause.Code)
		require.Equal(t, detail, o.Cause.Detail)
		require.Contains(t, o.Cause.Hint, hint)
		require.EqualValues(t, 3600, o.Seconds)
		if verdict == Held || verdict == Excluded {
			require.Empty(t, o.Charges)
		}
	}
	same := func(*ingest.Job) {}
	f("cpu", same, Charged, "", "", "")
	f("cpu", func(j *ingest.Job) { j.Cluster = "c9" }, Held, NoCard, "cluster=c9", "hpcbill.yaml")
	f("cpu", func(j *ingest.Job) { j.Account, j.User = "new", "eve" }, Held, NoGroup, "account=new user=eve cluster=c1", "{account: new}")
	f("cpu", func(j *ingest.Job) { j.Account, j.User = "", "" }, Held, NoGroup, "cluster=c1", "groups.yaml")
	f("newgpu", same, Held, NoRule, "cluster=c1 partition=newgpu", "exclude: REASON")
	f("gnome", same, Held, NoRule, "cluster=c1 partition=gnome", "line 4")
	f("gnome", func(j *ingest.Job) { j.GPUs = ingest.Unknown }, Held, UnknownFigure, "gpus cluster=c1", "asks for gpus")
	f("cpu,gpu", same, Held, PartitionList, "cluster=c1 partition=cpu,gpu", "one partition")
	f("cpu", func(j *ingest.Job) { j.State = "MELTED" }, Held, UnknownState, "state=MELTED cluster=c1", "no such state")
	f("cpu", func(j *ingest.Job) { j.State = ingest.Deadline }, Held, UnknownState, "state=DEADLINE cluster=c1 rule=cpu", "states:")
	f("cpu", func(j *ingest.Job) { j.State = ingest.NodeFail }, Excluded, ByRule, "system failure", "")
	f("cpu", func(j *ingest.Job) { j.State = ingest.BootFail }, Waived, ByRule, "boot failure", "")
	f("cpu", func(j *ingest.Job) { j.CPUs = 0 }, Held, UnknownFigure, "cpus cluster=c1 partition=cpu", "cpus is not recorded")
	f("cpu", func(j *ingest.Job) { j.Account = "firm" }, Held, NoPrice, "no price of m is listed for class=external", "card.yaml")
	f("mem", func(j *ingest.Job) { j.MemoryMiB = ingest.Unknown }, Held, UnknownFigure, "mem_gib cluster=c1 partition=mem", "memory")
	f("big", func(j *ingest.Job) { j.MemoryMiB = 0; j.ReqMemoryMiB = 8 }, Charged, "", "", "")
	f("whole", same, Held, UnknownFigure, "node_cores cluster=c1 partition=whole", "no hardware: entry")
	f("bare", same, Held, UnknownFigure, "node_cores cluster=c1 partition=bare", "the hardware entry bare does not give it")
	f("types", func(j *ingest.Job) { j.GPUs, j.AllocTRES = 2, "gres/gpu=2,gres/gpu:a100=2" }, Charged, "", "", "")
	f("types", func(j *ingest.Job) { j.GPUs, j.AllocTRES = 2, "gres/gpu=2,gres/gpu:h100=2" }, Held, UnknownFigure, "gpu_type=h100 rule=types", `gpu("h100")`)
	f("types", func(j *ingest.Job) { j.GPUs, j.AllocTRES = 2, "gres/gpu=2" }, Held, UnknownFigure, `gpu("a100") cluster=c1 partition=types`, "")
	f("types", func(j *ingest.Job) { j.GPUs, j.AllocTRES = 2, "gres/gpu=2,gres/gpu:a100=1" }, Held, UnknownFigure, `gpu("a100") cluster=c1 partition=types`, "")
	f("types", same, Charged, "", "", "")
	f("negative", same, Held, BadFormula, "rule=negative amount of x: the value is negative", "max()")
	f("qos", func(j *ingest.Job) { j.QoS = "high" }, Held, NoFactor, "no factor is listed for qos=high", "card.yaml")
	f("qos", func(j *ingest.Job) { j.QoS = "low" }, Charged, "", "", "")
	f("free", same, Excluded, ByRule, "free of charge", "")
	f("gift", same, Waived, ByRule, "a gift", "")

	j := jobOf("cpu", 3600)
	j.Start, j.End = j.Start-1e6, j.End-1e6
	outcomes := r.Job(j, rates.MonthOf(2025, time.October, time.UTC))
	require.Len(t, outcomes, 1)
	require.Equal(t, NoVersion, outcomes[0].Cause.Code)
	require.Equal(t, "card=c until=2025-11-01", outcomes[0].Cause.Detail)
	require.Equal(t, "lab", outcomes[0].Group)
}

// What was rated before has no influence, also where jobs share a plan.
func TestHeldUsersAreToldApart(t *testing.T) {
	r := rater(t, shipped(t, "pitt-crc"))
	for _, user := range []string{"eve", "bob", "eve"} {
		j := jobOf("smp", 60)
		j.Account, j.User = "none", user
		require.Equal(t, "account=none user="+user+" cluster=c1", oneOutcome(t, r, j).Cause.Detail)
	}
}

func TestNotBilled(t *testing.T) {
	r := rater(t, shipped(t, "pitt-crc"))
	f := func(change func(*ingest.Job), want ...Verdict) {
		t.Helper()
		j := jobOf("smp", 0)
		change(j)
		var got []Verdict
		for _, o := range r.Job(j, november) {
			got = append(got, o.Verdict)
			require.Empty(t, o.Charges)
		}
		require.Equal(t, want, got)
	}
	f(func(j *ingest.Job) { j.Start, j.State = ingest.None, ingest.Cancelled }, NotRun)
	f(func(j *ingest.Job) { j.Start, j.State, j.Partition = ingest.None, ingest.Cancelled, "cpu,gpu" }, NotRun)
	f(func(j *ingest.Job) { j.Start, j.End, j.State = ingest.None, ingest.None, ingest.Pending })
	f(func(j *ingest.Job) { j.State, j.Account = ingest.Revoked, "none" }, NotRun)
	f(func(j *ingest.Job) { j.Submit, j.State = j.Start, ingest.Failed }, NotRun) // refused at submission
	f(func(j *ingest.Job) { j.End, j.ElapsedSeconds, j.State = ingest.None, 50, ingest.Running }, Running)
	f(func(j *ingest.Job) { j.Start, j.End, j.State = noon+1e7, ingest.None, ingest.Running })
	f(func(j *ingest.Job) { j.Start, j.End = j.Start+1e7, j.End+1e7 })
}
