package rating

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func outages(t require.TestingT, zone *time.Location, text string) *rates.Outages {
	o, err := rates.LoadOutages("outages.yaml", []byte("outages:\n"+text), zone)
	require.NoError(t, err)
	return o
}

func waiverRows(t require.TestingT, zone *time.Location, rows string) *rates.Waivers {
	w, err := rates.ReadWaivers("waivers.csv", []byte("cluster,job,submit,percent,period,reason,author,date\n"+rows), zone)
	require.NoError(t, err)
	return w
}

// fates gives "verdict seconds quantity… cause" of the outcomes of a month.
func fates(t require.TestingT, r *Rater, j *ingest.Job, month rates.Period) []string {
	requireNeedsSuffice(t, r, j, month)
	var got []string
	for _, o := range r.Job(j, month) {
		line := fmt.Sprintf("%s %d", o.Verdict, o.Seconds)
		for _, c := range o.Charges {
			line += " " + c.Quantity.String()
		}
		got = append(got, strings.TrimSpace(line+" "+o.Cause.Detail))
	}
	return got
}

// A job of 4 CPUs from 10:00 to 22:00 on 14 October and an outage from 12:00
// to 21:00: 9 of 12 hours are waived (C65).
func TestOutageClipsAJob(t *testing.T) {
	october := rates.MonthOf(2025, time.October, time.UTC)
	j := wallJob(t, time.UTC, "2025-10-14T10:00:00", "2025-10-14T22:00:00", 0)
	f := func(card, windows string, want ...string) {
		t.Helper()
		r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": caseCard(t, card)}, Outages: outages(t, time.UTC, windows)})
		require.Equal(t, want, fates(t, r, j, october))
	}
	const all = "  rules: [{name: all, charge: {core_hours: cpus}}]"
	f(all, "- {name: a, from: 2025-10-14T12:00Z, until: 2025-10-14T21:00Z, reason: power}", "charged 10800 12", "waived 32400 36 a: power")
	f(all, "- {name: a, from: 2025-10-14T09:00Z, until: 2025-10-14T10:00Z, reason: power}", "charged 43200 48")
	f(all, "- {name: a, from: 2025-10-14T22:00Z, until: 2025-10-14T23:00Z, reason: power}", "charged 43200 48")
	f(all, "- {name: a, from: 2025-10-14T21:59:59Z, until: 2025-10-14T23:00Z, reason: power}", "charged 43199 43199/900", "waived 1 1/900 a: power")
	f(all, "- {name: a, from: 2025-10-14T10:00Z, until: 2025-10-14T22:00Z, reason: power}", "waived 43200 48 a: power")

	// Two outages overlap from 13:00 to 14:00: that hour is the earlier one's,
	// wherever it stands in the file.
	f(all, "- {name: b, from: 2025-10-14T13:00Z, until: 2025-10-14T15:00Z, reason: net}\n- {name: a, from: 2025-10-14T12:00Z, until: 2025-10-14T14:00Z, reason: power}",
		"charged 32400 36", "waived 7200 8 a: power", "waived 3600 4 b: net")
	f(all, "- {name: b, from: 2025-10-14T13:00Z, until: 2025-10-14T14:00Z, reason: net}\n- {name: a, from: 2025-10-14T12:00Z, until: 2025-10-14T15:00Z, reason: power}",
		"charged 32400 36", "waived 10800 12 a: power")

	// whole beats clipping; killed asks how the job ended.
	f(all, "- {name: a, from: 2025-10-14T09:00Z, until: 2025-10-14T14:00Z, reason: power}\n- {name: b, from: 2025-10-14T21:00Z, until: 2025-10-15T14:00Z, mode: whole, reason: net}",
		"waived 43200 48 b: net")
	f(all, "- {name: a, from: 2025-10-14T21:00Z, until: 2025-10-14T23:00Z, mode: killed, reason: power}", "charged 43200 48")
	j.State = ingest.NodeFail
	f(all, "- {name: a, from: 2025-10-14T21:00Z, until: 2025-10-14T23:00Z, mode: killed, reason: power}", "waived 43200 48 a: power")
	f(all, "- {name: a, from: 2025-10-14T22:00Z, until: 2025-10-14T23:00Z, mode: killed, reason: power}", "waived 43200 48 a: power")
	f(all, "- {name: a, from: 2025-10-14T21:00Z, until: 2025-10-14T22:00Z, mode: killed, reason: power}", "charged 43200 48")
	f(all, "- {name: a, from: 2025-10-14T21:00Z, until: 2025-10-14T23:00Z, mode: killed, match: {state: TIMEOUT}, reason: power}", "charged 43200 48")

	// What the card excludes, waives or cannot price stays so.
	const window = "- {name: a, from: 2025-10-14T12:00Z, until: 2025-10-14T21:00Z, reason: power}"
	f("  rules: [{name: all, exclude: free}]", window, "excluded 43200 free")
	f("  states: {waive: {NODE_FAIL: node failure}}\n"+all, window, "waived 43200 48 node failure")
	f("  states: {charge: [COMPLETED]}\n"+all, window, "held 43200 state=NODE_FAIL cluster=c1 rule=all")
}

// A formula that is not in proportion to time is rated whole and its charge
// shared by seconds: the full hour from 90 minutes is 2 h × 4, of which a third
// of the time takes a third, cut off after twelve places.
func TestOutageSharesWhatIsNotInProportion(t *testing.T) {
	october := rates.MonthOf(2025, time.October, time.UTC)
	j := wallJob(t, time.UTC, "2025-10-14T10:00:00", "2025-10-14T11:30:00", 0)
	f := func(charge, until string, want ...string) {
		t.Helper()
		r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": caseCard(t, "  rules: [{name: all, charge: {core_hours: "+charge+"}}]")},
			Outages: outages(t, time.UTC, "- {name: a, from: 2025-10-14T10:00Z, until: "+until+", reason: power}")})
		require.Equal(t, want, fates(t, r, j, october))
	}
	f(`{rate: cpus, duration: ceil(elapsed_h)}`, "2025-10-14T10:45Z", "charged 2700 4", "waived 2700 4 a: power")
	f(`{rate: cpus, duration: ceil(elapsed_h)}`, "2025-10-14T10:30Z", "charged 3600 5.333333333334", "waived 1800 2.666666666666 a: power")
	f(`{rate: "1", per: job}`, "2025-10-14T10:45Z", "charged 2700 0.5", "waived 2700 0.5 a: power")
	f(`cpus`, "2025-10-14T10:30Z", "charged 3600 4", "waived 1800 2 a: power")
}

// Of 10 h of wall time 2 h were suspended, at an unknown moment: 8 h count.
// An outage of the first 5 h has 4 of them.
func TestOutageSharesSuspendedTime(t *testing.T) {
	j := wallJob(t, time.UTC, "2025-10-14T10:00:00", "2025-10-14T20:00:00", 7200)
	r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": coreHourCard(t, "end")},
		Outages: outages(t, time.UTC, "- {name: a, from: 2025-10-14T10:00Z, until: 2025-10-14T15:00Z, reason: power}")})
	require.Equal(t, []string{"charged 14400 16", "waived 14400 16 a: power"}, fates(t, r, j, rates.MonthOf(2025, time.October, time.UTC)))
	// Suspended all along: there is nothing to share, unless the outage is all of it.
	j.ElapsedSeconds, j.SuspendedSeconds = 0, 36000
	require.Equal(t, []string{"charged 0 0"}, fates(t, r, j, rates.MonthOf(2025, time.October, time.UTC)))
}

// Under bill_by usage each month waives what of the outage lies in it; whole
// waives the part of every month; a month before billed_from stays as it was.
func TestOutageOverTheEndOfAMonth(t *testing.T) {
	zone := berlin(t)
	j := wallJob(t, zone, "2025-03-31T20:00:00", "2025-04-01T04:00:00", 0)
	march, april := rates.MonthOf(2025, time.March, zone), rates.MonthOf(2025, time.April, zone)
	f := func(by, window string, want ...[]string) {
		t.Helper()
		r := NewRater(Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": coreHourCard(t, by)}, Outages: outages(t, zone, window)})
		require.Equal(t, want, [][]string{fates(t, r, j, march), fates(t, r, j, april)})
	}
	const window = "- {name: a, from: 2025-03-31T22:00, until: 2025-04-01T01:00, reason: power"
	f("usage", window+"}", []string{"charged 7200 8", "waived 7200 8 a: power"}, []string{"charged 10800 12", "waived 3600 4 a: power"})
	f("end", window+"}", nil, []string{"charged 18000 20", "waived 10800 12 a: power"})
	f("start", window+"}", []string{"charged 18000 20", "waived 10800 12 a: power"}, nil)
	f("usage", window+", mode: whole}", []string{"waived 14400 16 a: power"}, []string{"waived 14400 16 a: power"})
	f("usage", window+", mode: whole, billed_from: 2025-04}", []string{"charged 14400 16"}, []string{"waived 14400 16 a: power"})
	f("end", window+", billed_from: 2025-05}", nil, []string{"charged 28800 32"})

	// As far as a job that still runs is known, its finished months are billed.
	j.End, j.State = ingest.None, ingest.Running
	f("usage", window+"}", []string{"charged 7200 8", "waived 7200 8 a: power"}, []string{"running 28800"})
	f("end", window+"}", []string{"running 28800"}, []string{"running 28800"})
	f("usage", window+", mode: killed}", []string{"charged 14400 16"}, []string{"running 28800"})
}

// An outage of some nodes meets the jobs that had one of them; a job whose
// nodes are not recorded is held, by name, unless it is not met anyway.
func TestOutageOfSomeJobs(t *testing.T) {
	october := rates.MonthOf(2025, time.October, time.UTC)
	j := wallJob(t, time.UTC, "2025-10-14T10:00:00", "2025-10-14T12:00:00", 0)
	j.AllocTRES, j.GPUs = "cpu=4", 0
	card := caseCard(t, "  hardware: {thin: {match: {partition: cpu}, cores: 64}}\n  rules: [{name: all, charge: {core_hours: cpus}}]")
	f := func(nodes, asks string, met bool) {
		t.Helper()
		r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": card},
			Outages: outages(t, time.UTC, "- {name: a, from: 2025-10-14T11:00Z, until: 2025-10-14T13:00Z, reason: power, "+asks+"}")})
		j.NodeList = nodes
		want := []string{"charged 7200 8"}
		if met {
			want = []string{"charged 3600 4", "waived 3600 4 a: power"}
		}
		require.Equal(t, want, fates(t, r, j, october))
	}
	f("n[01-04]", `node_list: "n[04-09]"`, true)
	f("n[01-03]", `node_list: "n[04-09]"`, false)
	f("gpu1,n7", `node_list: [x, "gpu*"]`, true)
	f("", `match: {cluster: c1, partition: "c*", qos: normal, cpus: 4, user: u1, account: lab, group: lab, class: internal, node_type: thin}`, true)
	f("", `match: {class: external}`, false)
	f("", `match: {node_type: fat}`, false)
	f("", `match: {gpus: "> 0"}`, false)
	f("", `match: {gpus: "> 0"}, node_list: n1`, false)

	held := func(nodes, asks, detail string) {
		t.Helper()
		r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": card},
			Outages: outages(t, time.UTC, "- {name: a, from: 2025-10-14T11:00Z, until: 2025-10-14T13:00Z, reason: power, "+asks+"}")})
		j.NodeList = nodes
		o := r.Job(j, october)
		require.Len(t, o, 1)
		require.Equal(t, Held, o[0].Verdict)
		require.Empty(t, o[0].Charges)
		require.Equal(t, UnknownFigure, o[0].Cause.Code)
		require.Equal(t, detail, o[0].Cause.Detail)
		require.Contains(t, o[0].Cause.Hint, "line 2 of outages.yaml")
	}
	held("", "node_list: n1", "node_list cluster=c1 outage=a")
	held("None assigned", "node_list: n1", "node_list cluster=c1 outage=a")
	held("n[1-", "node_list: n1", "node_list cluster=c1 outage=a")
	j.Billing = ingest.Unknown
	held("", `match: {billing: "> 3"}`, "billing cluster=c1 outage=a")
}

// A row waives a percentage of what outages leave, exactly; of the seconds to
// the nearest.
func TestRowWaivesAJob(t *testing.T) {
	zone := berlin(t)
	j := wallJob(t, zone, "2025-03-31T20:00:00", "2025-04-01T04:00:00", 0)
	j.JobID, j.JobIDRaw = "903_7", 911
	march, april := rates.MonthOf(2025, time.March, zone), rates.MonthOf(2025, time.April, zone)
	tariff := Tariff{Zone: zone, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": coreHourCard(t, "usage")}}
	f := func(row string, want ...[]string) {
		t.Helper()
		tariff.Waivers = waiverRows(t, zone, row)
		r := NewRater(tariff)
		require.Equal(t, want, [][]string{fates(t, r, j, march), fates(t, r, j, april)})
	}
	all := [][]string{{"waived 14400 16 bad disk"}, {"waived 14400 16 bad disk"}}
	none := [][]string{{"charged 14400 16"}, {"charged 14400 16"}}
	f("c1,903_7,,,,bad disk,jd,2025-04-02", all...)
	f("c1,903_*,,,,bad disk,jd,2025-04-02", all...)
	f("c1,903_*,2025-03-31T19:59:00,,,bad disk,jd,2025-04-02", all...)
	f("c1,903_*,2025-03-31T17:59:00Z,,,bad disk,jd,2025-04-02", all...)
	f("c1,903_7,all,,,bad disk,jd,2025-03-31", all...)
	f("c1,903_7,2025-03-31T19:59:01,,,bad disk,jd,2025-04-02", none...)
	f("c1,903,,,,bad disk,jd,2025-04-02", none...)
	f("c1,911,,,,bad disk,jd,2025-04-02", none...)
	f("c1,903_70,,,,bad disk,jd,2025-04-02", none...)
	f("c1,903+*,,,,bad disk,jd,2025-04-02", none...)
	f("c2,903_7,,,,bad disk,jd,2025-04-02", none...)
	f("c1,903_7,,,,bad disk,jd,2025-03-30", none...) // submitted after the decision: another job
	f("c1,903_7,,,2025-04,bad disk,jd,2025-04-02", []string{"charged 14400 16"}, []string{"waived 14400 16 bad disk"})
	f("c1,903_7,,12.5,2025-04,bad disk,jd,2025-04-02", []string{"charged 14400 16"}, []string{"charged 12600 14", "waived 1800 2 bad disk (12.5 %)"})
	f("c1,903_7,,0.01,2025-04,bad disk,jd,2025-04-02", []string{"charged 14400 16"}, []string{"charged 14399 15.9984", "waived 1 0.0016 bad disk (0.01 %)"})

	tariff.Outages = outages(t, zone, "- {name: a, from: 2025-03-31T22:00, until: 2025-04-01T01:00, reason: power}")
	f("c1,903_7,,50,,bad disk,jd,2025-04-02", []string{"charged 3600 4", "waived 7200 8 a: power", "waived 3600 4 bad disk (50 %)"},
		[]string{"charged 5400 6", "waived 3600 4 a: power", "waived 5400 6 bad disk (50 %)"})
	f("c1,903_7,,,,bad disk,jd,2025-04-02", []string{"waived 7200 8 a: power", "waived 7200 8 bad disk"}, []string{"waived 3600 4 a: power", "waived 10800 12 bad disk"})
}

// An explanation has a part for each outcome, and says which lines waived it.
func TestWaiversAreExplained(t *testing.T) {
	j := wallJob(t, time.UTC, "2025-10-14T10:00:00", "2025-10-14T22:00:00", 0)
	r := NewRater(Tariff{Zone: time.UTC, Roster: roster(t, labRoster), Cards: map[string]*rates.Card{"c1": coreHourCard(t, "end")},
		Outages: outages(t, time.UTC, "- {name: a, from: 2025-10-14T12:00, until: 2025-10-14T13:00, reason: power}"),
		Waivers: waiverRows(t, time.UTC, "c1,1,,50,,slow disk,jd,2025-10-20")})
	ex := r.Explain(j, rates.MonthOf(2025, time.October, time.UTC))
	require.Len(t, ex.Parts, 3)
	var says []string
	for _, p := range ex.Parts {
		last := p.Steps[len(p.Steps)-1]
		require.Equal(t, WaiveStage, last.Stage)
		says = append(says, fmt.Sprintf("%s: %s %s:%d", p.Outcome.Verdict, last.Says, last.File, last.Line))
	}
	require.Equal(t, []string{
		"charged: 19800 of 43200 seconds stay charged :0",
		"waived: outage a from 2025-10-14 12:00:00 +0000 until 2025-10-14 13:00:00 +0000, overlap: 3600 of 43200 seconds outages.yaml:2",
		"waived: jd decided on 2025-10-20: 50 % of what was left, 19800 of 43200 seconds waivers.csv:2",
	}, says)
}

// drawWindows are outages around the jobs of drawJob, and rows for them.
func drawWindows(t *rapid.T) (windows []string, row string) {
	for i := range rapid.IntRange(0, 5).Draw(t, "windows") {
		from := int64(noon) + rapid.Int64Range(-15*86400, 12*86400).Draw(t, "from")
		until := from + rapid.Int64Range(1, 6*86400).Draw(t, "length")
		at := func(unix int64) string { return time.Unix(unix, 0).UTC().Format("2006-01-02T15:04:05Z") }
		windows = append(windows, fmt.Sprintf("- {name: w%d, from: %q, until: %q, mode: %s, reason: r%d%s}", i, at(from), at(until),
			rapid.SampledFrom([]string{"overlap", "overlap", "overlap", "whole", "killed"}).Draw(t, "mode"), i,
			rapid.SampledFrom([]string{"", ", match: {partition: cpu}", `, match: {cpus: "> 20"}`}).Draw(t, "match")))
	}
	if percent := rapid.SampledFrom([]string{"none", "", "50", "33.33"}).Draw(t, "percent"); percent != "none" {
		row = "c1,1,," + percent + ",,r,a,2025-12-31\nc2,1,," + percent + ",,r,a,2025-12-31\nc3,1,," + percent + ",,r,a,2025-12-31"
	}
	return windows, row
}

// Whatever is waived: seconds and the quantity and amount of every meter of a
// part are what they are without it, none of them is negative, and the order of
// the windows does not matter.
func TestWaiversConserve(t *testing.T) {
	plain := busyTariff(t)
	plain.Cards["c2"] = loadCard(t, `
card: odd
currency: USD
versions:
- from: 2024-01-01
  meters:
    su: {unit: SU, price: "0.013"}
    fee: {unit: job, price: "0.07"}
    tiered: {unit: SU, tiers: {mode: graduated, window: job, steps: [{above: 0, price: 1}, {above: 7, price: "0.5"}]}}
    later: {unit: SU, tiers: {mode: graduated, window: month, steps: [{above: 0, price: 1}, {above: 7, price: "0.5"}]}}
  rules:
  - {name: all, charge: {su: {rate: cpus+1, duration: ceil(elapsed_h)}, fee: {rate: "1", per: job}, tiered: cpus+1, later: "cpus/7"}}
`)
	plain.Cards["c3"] = loadCard(t, `
card: cut
currency: USD
bill_by: usage
versions:
- from: 2024-01-01
  meters: {su: {unit: SU, price: "0.013"}, fee: {unit: job, price: "0.07"}}
  rules: [{name: all, charge: {su: {rate: cpus+1, duration: ceil(elapsed_h)}, fee: {rate: "1", per: job}}}]
- from: 2025-11-09
  meters: {su: {unit: SU, price: "0.017"}}
  rules: [{name: all, charge: {su: {units: "(cpus+1)*elapsed_h", amount: "round(units*price, 2)"}}}]
`)
	zone := berlin(t)
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		if rapid.Bool().Draw(t, "suspended") && j.ElapsedSeconds > 1 {
			j.SuspendedSeconds = j.ElapsedSeconds / 3
			j.ElapsedSeconds -= j.SuspendedSeconds
		}
		windows, row := drawWindows(t)
		waiving := plain
		waiving.Outages, waiving.Waivers = outages(t, zone, strings.Join(windows, "\n")), waiverRows(t, zone, row)
		without, with := NewRater(plain), NewRater(waiving)
		for month := range 3 {
			p := rates.MonthOf(2025, time.October+time.Month(month), zone)
			want, got := totals(without.Job(j, p)), totals(with.Job(j, p))
			require.Equal(t, want, got)
		}
		slices.Reverse(windows)
		waiving.Outages = outages(t, zone, strings.Join(windows, "\n"))
		p := rates.MonthOf(2025, time.November, zone)
		require.Equal(t, numbers(with.Job(j, p)), numbers(NewRater(waiving).Job(j, p)))
	})
}

// totals sums seconds and meters over what becomes of each span of a job.
func totals(outcomes []Outcome) map[string]string {
	sums, seconds := map[string]money.Exact{}, map[string]int64{}
	add := func(key string, x money.Exact) {
		if x.Sign() < 0 {
			panic("negative: " + key)
		}
		sums[key] = sums[key].Add(x)
	}
	for _, o := range outcomes {
		span := fmt.Sprintf("%d-%d %s ", o.From, o.Until, o.Group)
		if o.Seconds < 0 {
			panic("negative seconds")
		}
		seconds[span] += o.Seconds
		for _, c := range o.Charges {
			add(span+c.Meter+c.PriceLabel+c.Price.String()+" quantity", c.Quantity)
			add(span+c.Meter+c.PriceLabel+c.Price.String()+" amount", c.Amount)
		}
	}
	text := map[string]string{}
	for key, x := range sums {
		text[key] = x.String()
	}
	for key, n := range seconds {
		text[key] = fmt.Sprint(n)
	}
	return text
}

// numbers is what outcomes say, but for lines of files.
func numbers(outcomes []Outcome) []string {
	var text []string
	for _, o := range outcomes {
		line := fmt.Sprint(o.Verdict, o.Seconds, o.Cause.Code, o.Cause.Detail)
		for _, c := range o.Charges {
			line += fmt.Sprint(" ", c.Meter, c.Quantity, c.Amount)
		}
		text = append(text, line)
	}
	return text
}

// Under bill_by usage a month or a version more changes neither what is
// charged nor what is waived: the parts of a job sum to the whole.
func TestCuttingConservesWhatIsWaived(t *testing.T) {
	card := func(boundary string) string {
		text := "card: c\ncurrency: USD\nbill_by: usage\nversions:\n"
		for _, from := range slices.Compact([]string{"2024-01-01", boundary}) {
			text += "- {from: " + from + ", meters: {su: {unit: SU, price: 1}}, rules: [{name: all, charge: {su: cpus+1}}]}\n"
		}
		return text
	}
	lab := roster(t, labRoster)
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t)
		j.Cluster, j.Account, j.State, j.Partition = "c1", "lab", ingest.Completed, "cpu"
		if j.ElapsedSeconds > 1 && rapid.Bool().Draw(t, "suspended") {
			j.SuspendedSeconds = j.ElapsedSeconds / 7
			j.ElapsedSeconds -= j.SuspendedSeconds
		}
		windows, _ := drawWindows(t)
		boundary := time.Unix(int64(noon)+rapid.Int64Range(-12*86400, 12*86400).Draw(t, "boundary"), 0).UTC().Format(time.DateOnly)
		by := func(boundary string) string {
			c, err := rates.LoadCard("c.yaml", []byte(card(boundary)))
			require.NoError(t, err)
			r := NewRater(Tariff{Zone: time.UTC, Roster: lab, Cards: map[string]*rates.Card{"c1": c},
				Outages: outages(t, time.UTC, strings.Join(windows, "\n"))})
			seconds, sums := map[string]int64{}, map[string]money.Exact{}
			for month := range 3 {
				for _, o := range r.Job(j, rates.MonthOf(2025, time.October+time.Month(month), time.UTC)) {
					seconds[o.Cause.Detail] += o.Seconds
					for _, c := range o.Charges {
						sums[o.Cause.Detail] = sums[o.Cause.Detail].Add(c.Quantity)
					}
				}
			}
			var text []string
			for cause, n := range seconds {
				if n > 0 {
					text = append(text, fmt.Sprint(cause, " ", n, " ", sums[cause]))
				}
			}
			slices.Sort(text)
			return strings.Join(text, "\n")
		}
		require.Equal(t, by("2024-01-01"), by(boundary))
	})
}
