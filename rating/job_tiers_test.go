package rating

import (
	"strings"
	"testing"

	"hpcbill/ingest"
	"hpcbill/rates"

	"github.com/stretchr/testify/require"
)

const tiersCard = `
card: c
currency: USD
versions:
- from: 2025-01-01
  meters:
    slots: {unit: slot-hour, tiers: {mode: graduated, window: job, steps: [{above: 0, price: "0.10"}, {above: 10, price: "0.05"}]}}
    spent: {unit: SU, tiers: {mode: graduated, counter: money, window: job, steps: [{above: 0, price: 2}, {above: 10, price: 1}]}}
    cores: {unit: core, price: 0}
    wide: {unit: core-hour, tiers: {mode: volume, counter: cores, window: job, steps: [{above: 0, price: 1}, {above: 8, price: 2}, {above: 32, price: 3}]}}
    monthly: {unit: SU, tiers: {mode: graduated, window: month, steps: [{above: 0, price: 1}, {above: 1000, price: 0.5}]}}
    yearly: {unit: SU, tiers: {mode: bracket, counter: cores, window: fiscal_year, steps: [{above: 0, price: 1}]}}
  rules:
  - {name: slots, match: {partition: slots}, charge: {slots: cpus}}
  - {name: spent, match: {partition: spent}, charge: {spent: cpus}}
  - {name: wide, match: {partition: wide}, charge: {wide: cpus, cores: {rate: cpus, per: job}}}
  - {name: rest, charge: {monthly: cpus, yearly: cpus, cores: cpus}}
`

// Tiers of one job: each step that its units reach is a charge of its own.
func TestTiersOfOneJob(t *testing.T) {
	r := rater(t, loadCard(t, tiersCard))
	f := func(partition string, cpus, hours int64, want ...string) {
		t.Helper()
		j := jobOf(partition, hours*3600)
		j.CPUs = cpus
		require.Equal(t, want, charged(t, r, j))
	}
	f("slots", 4, 2, "8 slot-hour @0.1 first 10 = 0.8")
	f("slots", 4, 24, "10 slot-hour @0.1 first 10 = 1", "86 slot-hour @0.05 above 10 = 4.3")
	f("slots", 5, 2, "10 slot-hour @0.1 first 10 = 1")
	f("slots", 5, 0, "0 slot-hour @0.1 first 10 = 0")
	f("spent", 7, 1, "5 SU @2 first 10 = 10", "2 SU @1 above 10 = 2")
	// The price of a core-hour by the cores of the job (brackets).
	f("wide", 8, 2, "16 core-hour @1 up to 8 = 16", "8 core @0  = 0")
	f("wide", 9, 2, "18 core-hour @2 8 to 32 = 36", "9 core @0  = 0")
	f("wide", 33, 1, "33 core-hour @3 above 32 = 99", "33 core @0  = 0")
}

// Of the period, a job says what it counts; the invoice stage prices it.
func TestTiersOfThePeriod(t *testing.T) {
	r := rater(t, loadCard(t, tiersCard))
	o := oneOutcome(t, r, jobOf("any", 7200))
	require.Len(t, o.Charges, 3)
	for i, want := range []struct{ tiers, counted bool }{{true, false}, {true, false}, {false, true}} {
		c := o.Charges[i]
		require.Equal(t, want.tiers, c.Tiers != nil, c.Meter)
		require.Equal(t, want.counted, c.Counted, c.Meter)
		require.Equal(t, "2 0 0", strings.Join([]string{c.Quantity.String(), c.Price.String(), c.Amount.String()}, " "))
	}
	steps := stepLines(r.Explain(jobOf("any", 7200), november).Parts)
	require.Contains(t, steps, "price|monthly||by what the group uses in the month: graduated: first 1000 at 1, above 1000 at 0.5||||||per SU\n")
	require.NotContains(t, steps, "amount|monthly")
	steps = stepLines(r.Explain(jobOf("slots", 40*3600), november).Parts)
	require.Contains(t, steps, "price|slots||tier first 10||||0.1||per slot-hour\namount|slots|||units * price|10 * 0.1||1||\n"+
		"price|slots||tier above 10||||0.05||per slot-hour\namount|slots|||units * price|30 * 0.05||1.5||\n")
}

func TestTiersOfOneHolding(t *testing.T) {
	card := loadCard(t, `
card: c
currency: USD
versions:
- from: 2025-01-01
  meters: {tb: {unit: TB-month, tiers: {mode: graduated, window: job, steps: [{above: 0, price: 5}, {above: 10, price: 4}]}}}
  storage: [{name: all, charge: {tb: quota_tb}}]
`)
	r := NewRater(Tariff{Roster: roster(t, labRoster), Zone: november.Start.Location(), Storage: []StorageCard{{Filesystem: "*", Card: card}}})
	outcomes, err := r.Storage([]ingest.Holding{holding("lab", "/p", "2025-01-01", "", 25*tb)}, november)
	require.NoError(t, err)
	require.Len(t, outcomes[0].Charges, 2)
	require.Equal(t, "60", outcomes[0].Charges[1].Amount.String())
	require.Equal(t, "lab", outcomes[0].Charges[1].Group)
	require.Equal(t, rates.Date{Year: 2025, Month: 1, Day: 1}, outcomes[0].Charges[1].Reason.Version)
}
