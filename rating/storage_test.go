package rating

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"

	"github.com/stretchr/testify/require"
)

const tb = 1_000_000_000_000

func holding(group, filesystem, from, until string, bytes int64) ingest.Holding {
	h := ingest.Holding{Group: group, Filesystem: filesystem, QuotaBytes: bytes, UsedBytes: ingest.Unknown, Unit: ingest.TB,
		Source: ingest.Source{File: "storage.csv", Line: 2}}
	for text, day := range map[string]*ingest.Date{from: &h.From, until: &h.Until} {
		if d, err := rates.ParseDate(text); err == nil {
			*day = ingest.Date(d)
		}
	}
	return h
}

const storageCard = `
card: disks
currency: USD
versions:
- from: 2024-01-01
  meters:
    storage: {unit: TB-month, price: {internal: "3.20", external: 5}}
    tib: {unit: TiB-month, price: 5}
    fee: {unit: month, price: 1}
  storage:
  - {name: scratch, match: {filesystem: scratch}, exclude: scratch is free}
  - {name: whole, match: {filesystem: whole}, charge: {storage: quota_tb}, prorate: none}
  - {name: tib, match: {filesystem: tib}, charge: {tib: quota_tib}}
  - {name: used, match: {filesystem: used}, charge: {storage: used_tb}}
  - {name: yearly, match: {filesystem: yearly}, charge: {storage: {units: quota_tb, amount: "trunc(quota_tb*50/12, 2)"}}}
  - {name: project, match: {filesystem: "project*"}, charge: {storage: quota_tb}}
- from: 2026-02-15
  meters: {storage: {unit: TB-month, price: 4}}
  storage: [{name: project, match: {filesystem: "*"}, charge: {storage: quota_tb}}]
`

func TestStorage(t *testing.T) {
	r := NewRater(Tariff{Zone: berlin(t), Roster: roster(t, labRoster), Storage: []StorageCard{
		{Filesystem: "elsewhere", Card: loadCard(t, "card: x\ncurrency: USD\nversions: [{from: 2030-01-01, meters: {s: {unit: TB, price: 1}}, storage: [{name: all, charge: {s: quota_tb}}]}]")},
		{Filesystem: "?*", Card: loadCard(t, storageCard)},
	}})
	f := func(year int, month time.Month, h ingest.Holding, want ...string) {
		t.Helper()
		outcomes, err := r.Storage([]ingest.Holding{h}, rates.MonthOf(year, month, berlin(t)))
		require.NoError(t, err)
		var got []string
		for _, o := range outcomes {
			line := fmt.Sprintf("%s %d", o.Verdict, o.Days)
			if o.Cause.Code != "" {
				line += " " + o.Cause.Code + ": " + o.Cause.Detail
				require.True(t, o.Verdict != Held || o.Cause.Hint != "")
			}
			for _, c := range o.Charges {
				require.Equal(t, h.Group, c.Group)
				line += fmt.Sprintf(" %s %s %s=%s by %s:%d", c.Quantity, c.Unit, c.PriceLabel, c.Amount, c.Reason.Rule, c.Reason.Line)
			}
			got = append(got, line)
		}
		require.Equal(t, want, got)
	}
	mar, apr := time.March, time.April
	f(2025, mar, holding("lab", "project1", "2025-01-01", "", 10*tb), "charged 31 10 TB-month internal=32 by project:16")
	f(2025, mar, holding("firm", "project1", "2025-01-01", "", 10*tb), "charged 31 10 TB-month external=50 by project:16")
	f(2025, apr, holding("lab", "project1", "2025-04-11", "2025-04-26", 10*tb), "charged 15 5 TB-month internal=16 by project:16")
	f(2025, apr, holding("lab", "project1", "2025-05-01", "", 10*tb))
	f(2025, apr, holding("lab", "project1", "2025-01-01", "2025-04-01", 10*tb))
	f(2025, mar, holding("lab", "project1", "2025-01-01", "", 0), "charged 31 0 TB-month internal=0 by project:16")
	// March of Berlin is an hour short, and still 31 days.
	f(2025, mar, holding("lab", "project1", "2025-03-30", "2025-03-31", 31*tb), "charged 1 1 TB-month internal=3.2 by project:16")
	f(2024, time.February, holding("lab", "project1", "2024-02-29", "", 29*tb), "charged 1 1 TB-month internal=3.2 by project:16")
	// C98: TB and TiB are different units.
	f(2025, mar, holding("lab", "project1", "2025-01-01", "", 25_000_001_536_000), "charged 31 25.000001536 TB-month internal=80.0000049152 by project:16")
	f(2025, mar, holding("lab", "tib", "2025-01-01", "", 3<<40), "charged 31 3 TiB-month =15 by tib:13")
	f(2025, mar, holding("lab", "scratch", "2025-01-01", "", tb), "excluded 31 rule: scratch is free")
	f(2025, mar, holding("nobody", "project1", "2025-01-01", "", tb), "held 31 no group: group=nobody filesystem=project1")
	f(2025, mar, holding("lab", "home", "2025-01-01", "", tb), "held 31 no rule: filesystem=home class=internal")
	f(2025, mar, holding("lab", "", "2025-01-01", "", tb), "held 31 no card: filesystem=")
	f(2025, mar, holding("lab", "elsewhere", "2025-01-01", "", tb), "held 31 no card version: card=x filesystem=elsewhere")
	f(2025, mar, holding("lab", "used", "2025-01-01", "", tb), "held 31 unknown figure: used_tb filesystem=used group=lab")
	// FASRC: 50 a year, cut to cents.
	f(2025, mar, holding("lab", "yearly", "2025-01-01", "", tb), "charged 31 1 TB-month internal=4.16 by yearly:15")
	// A version that begins inside the month: 14 and 14 of 28 days.
	f(2026, time.February, holding("lab", "project1", "2025-01-01", "", 2*tb),
		"charged 14 1 TB-month internal=3.2 by project:16", "charged 14 1 TB-month =4 by project:19")
}

func TestStorageAtItsLargest(t *testing.T) {
	r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Storage: []StorageCard{{Filesystem: "*", Card: loadCard(t, storageCard)}}})
	holdings := []ingest.Holding{
		holding("lab", "whole", "2025-01-01", "2025-03-05", 4*tb),
		holding("lab", "whole", "2025-03-05", "2025-03-20", 6*tb),
		holding("lab", "whole", "2025-03-20", "2025-04-01", 6*tb),
		holding("lab", "whole", "2025-04-01", "", 9*tb),
		holding("firm", "whole", "2025-03-31", "", 7*tb),
	}
	outcomes, err := r.Storage(holdings, rates.MonthOf(2025, time.March, time.UTC))
	require.NoError(t, err)
	require.Len(t, outcomes, 4)
	for i, want := range []Verdict{Excluded, Charged, Excluded, Charged} {
		require.Equal(t, want, outcomes[i].Verdict, "%d", i)
	}
	require.Equal(t, "6", outcomes[1].Charges[0].Quantity.String())
	require.Equal(t, "7", outcomes[3].Charges[0].Quantity.String())
}

func TestStorageRefusesOverlap(t *testing.T) {
	r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster)})
	_, err := r.Storage([]ingest.Holding{
		holding("lab", "a", "2025-01-01", "2025-03-05", 1), holding("lab", "a", "2025-03-04", "", 1),
	}, november)
	require.EqualError(t, err, "storage.csv:2: the quota of lab on a overlaps with line 2")
}

// A tier has rules and prices of its own, and days of its own.
func TestStorageTiers(t *testing.T) {
	card := loadCard(t, `{card: c, currency: USD, versions: [{from: 2025-01-01,
		meters: {tb: {unit: TB-month, price_by: tier, price: {ssd: 20, "*": 4}}},
		storage: [{name: cold, match: {tier: tape}, exclude: tape is free}, {name: all, charge: {tb: quota_tb}}]}]}`)
	r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Storage: []StorageCard{{Filesystem: "*", Card: card}}})
	var holdings []ingest.Holding
	for _, tier := range []string{"", "ssd", "tape"} {
		h := holding("lab", "ceph", "2025-01-01", "", 2*tb)
		h.Tier = tier
		holdings = append(holdings, h)
	}
	outcomes, err := r.Storage(holdings, rates.MonthOf(2025, time.March, time.UTC))
	require.NoError(t, err)
	require.Equal(t, "8", outcomes[0].Charges[0].Amount.String())
	require.Equal(t, "40", outcomes[1].Charges[0].Amount.String())
	require.Equal(t, "ssd", outcomes[1].Charges[0].PriceLabel)
	require.Equal(t, "tape is free", outcomes[2].Cause.Detail)

	holdings[2].Tier = "ssd"
	_, err = r.Storage(holdings, rates.MonthOf(2025, time.March, time.UTC))
	require.EqualError(t, err, "storage.csv:2: the quota of lab on ceph (ssd) overlaps with line 2")
}

// TB and TiB (case C98): whatever unit a quota is written in and whatever unit
// the card counts, the conversion is exact, and the charge says which it was.
func TestStorageUnits(t *testing.T) {
	f := func(size, rule, quantity string, declared, counted ingest.StorageUnit) {
		t.Helper()
		holdings, err := ingest.Holdings("storage.csv", strings.NewReader("group,filesystem,from,quota,used\nlab,/d,2025-06-01,"+size+","+size+"\n"))
		require.NoError(t, err)
		card := loadCard(t, `{card: c, currency: USD, versions: [{from: 2025-01-01,
			meters: {m: {unit: unit, price: 1}}, storage: [{name: s, charge: {m: `+rule+`}}]}]}`)
		r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Storage: []StorageCard{{Filesystem: "*", Card: card}}})
		outcomes, err := r.Storage(holdings, rates.MonthOf(2025, time.June, time.UTC))
		require.NoError(t, err)
		require.Equal(t, quantity, outcomes[0].Charges[0].Quantity.String())
		require.Equal(t, declared, outcomes[0].Holding.Unit)
		require.Equal(t, counted, outcomes[0].Charges[0].StorageUnit)
	}
	f("11 TB", "quota_tb", "11", ingest.TB, ingest.TB)
	f("11 TiB", "quota_tib", "11", ingest.TiB, ingest.TiB)
	f("11 TiB", "quota_tb", "12.094627905536", ingest.TiB, ingest.TB)                 // 11 * 2^40 / 10^12
	f("11 TB", "quota_tib", "10.0044417195022106170654296875", ingest.TB, ingest.TiB) // 11 * 10^12 / 2^40
	f("25000001536000", "quota_tb", "25.000001536", ingest.TB, ingest.TB)             // the published quota
	f("512 GiB", "used_tib", "0.5", ingest.TiB, ingest.TiB)
	f("512 GB", "max_tb*1000", "512", ingest.TB, ingest.TB)
	f("1 TB", "{units: mean_tb*days*24}", "720", ingest.TB, ingest.TB)
	f("1 TB", "{units: days}", "30", ingest.TB, "")
}
