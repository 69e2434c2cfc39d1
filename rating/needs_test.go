package rating

import (
	"reflect"
	"testing"

	"hpcbill/ingest"
	"hpcbill/rates"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// scrambled is a job with something else in each field that is not needed.
func scrambled(j *ingest.Job, n Needs) *ingest.Job {
	k := *j
	text := func(needed bool, of *string) {
		if !needed {
			*of += "?"
		}
	}
	count := func(needed bool, of *int64) {
		if !needed {
			*of = 7919
		}
	}
	text(n.WCKey, &k.WCKey)
	text(n.Reservation, &k.Reservation)
	text(n.AllocTRES, &k.AllocTRES)
	text(n.NodeList, &k.NodeList)
	count(n.Eligible, (*int64)(&k.Eligible))
	count(n.Timelimit, &k.TimelimitSeconds)
	count(n.ReqCPUs, &k.ReqCPUs)
	count(n.ReqMemory, &k.ReqMemoryMiB)
	count(n.ReqGPUs, &k.ReqGPUs)
	count(n.ReqNodes, &k.ReqNodeCount)
	text(false, &k.ReqTRES) // which no tariff looks at
	text(n.CancelledBy, &k.CancelledBy)
	return &k
}

// requireNeedsSuffice holds that what a tariff does not need changes nothing.
// The tests of single jobs call it.
func requireNeedsSuffice(t require.TestingT, r *Rater, j *ingest.Job, p rates.Period) {
	want := said(NewRater(r.tariff).Job(j, p))
	require.Equal(t, want, said(NewRater(r.tariff).Job(scrambled(j, r.Needs()), p)))
}

func TestNeeds(t *testing.T) {
	f := func(card string, want Needs) {
		t.Helper()
		require.Equal(t, want, rater(t, caseCard(t, card)).Needs())
	}
	all := Needs{Eligible: true, Timelimit: true, ReqCPUs: true, ReqMemory: true, ReqGPUs: true, ReqNodes: true}
	f("  rules: [{name: all, charge: {core_hours: cpus}}]", Needs{})
	f("  rules: [{name: all, charge: {core_hours: req_cpus}}]", Needs{ReqCPUs: true})
	f("  rules: [{name: all, charge: {core_hours: req_nodes + req_gpus}}]", Needs{ReqNodes: true, ReqGPUs: true})
	f("  rules: [{name: all, charge: {core_hours: mem_gib}}]", Needs{ReqMemory: true})
	f("  rules: [{name: all, charge: {core_hours: {rate: cpus, duration: timelimit_h}}}]", Needs{Timelimit: true})
	f("  rules: [{name: all, charge: {core_hours: {rate: cpus, duration: wait_h + elapsed_h}}}]", Needs{Eligible: true})
	f("  rules: [{name: all, charge: {core_hours: 'gpu(\"a100\")'}}]", Needs{AllocTRES: true})
	f("  rules: [{name: all, charge: {core_hours: 'tres(\"license/matlab\")'}}]", Needs{AllocTRES: true})
	f("  let: {x: 'tres(\"license/matlab\")'}\n  rules: [{name: all, charge: {core_hours: x}}]", Needs{AllocTRES: true})
	f("  rules: [{name: all, match: {gpu_type: a100}, charge: {core_hours: cpus}}]", Needs{AllocTRES: true})
	f("  rules: [{name: all, match: {reservation: x}, charge: {core_hours: cpus}}]", Needs{Reservation: true})
	f("  rules: [{name: all, match: {wckey: x}, charge: {core_hours: cpus}}]", Needs{WCKey: true})
	f("  rules: [{name: all, match: {node_name: n1}, charge: {core_hours: cpus}}]", Needs{NodeList: true})
	f("  rules: [{name: all, match: {cpus: '> 1'}, charge: {core_hours: cpus}}]", all)
	f("  hardware: {x: {match: {nodes: 1}, cores: 4}}\n  rules: [{name: all, charge: {core_hours: cpus}}]", all)

	r := rater(t, caseCard(t, "  rules: [{name: all, charge: {core_hours: cpus}}]"))
	r = NewRater(Tariff{Zone: r.tariff.Zone, Cards: r.tariff.Cards, Roster: roster(t, "groups: [{id: a, jobs: [{wckey: x}]}]")})
	require.Equal(t, Needs{WCKey: true}, r.Needs())
}

func TestAnyNeedsAreAll(t *testing.T) {
	n := reflect.ValueOf(AnyNeeds())
	for i := range n.NumField() {
		require.True(t, n.Field(i).Bool(), n.Type().Field(i).Name)
	}
}

func TestWhatIsNotNeededChangesNothing(t *testing.T) {
	r, p := NewRater(busyTariff(t)), rates.MonthOf(2025, 11, berlin(t))
	rapid.Check(t, func(t *rapid.T) { requireNeedsSuffice(t, r, drawJob(t), p) })
}
