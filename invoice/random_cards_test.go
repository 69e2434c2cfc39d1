package invoice

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// aCardText draws a card: versions, some of which begin inside March, meters
// with one price, prices by class or tiers, rules with formulas of all kinds.
func aCardText(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("card: drawn\ncurrency: USD\nsource: none\nversions:\n")
	decimal := func(label string) string {
		return money.Ratio(rapid.Int64Range(0, 5_000_000).Draw(t, label), 1_000_000).String()
	}
	for _, from := range []string{"2025-01-01", "2026-03-11"}[:rapid.IntRange(1, 2).Draw(t, "versions")] {
		fmt.Fprintf(&b, "  - from: %s\n    bill_by: %s\n    meters:\n", from, rapid.SampledFrom([]string{"end", "start", "usage"}).Draw(t, "bill by"))
		for _, meter := range []string{"su", "gpu_hours"} {
			price := fmt.Sprintf(`price: "%s"`, decimal("price"))
			switch rapid.IntRange(0, 3).Draw(t, "prices") {
			case 0:
				price = fmt.Sprintf(`price: {internal: "%s", external: "%s"}`, decimal("internal"), decimal("external"))
			case 1:
				price = fmt.Sprintf(`tiers: {mode: %s, counter: units, window: month, steps: [{above: 0, price: "%s"}, {above: %d, price: "%s"}]}`,
					rapid.SampledFrom([]string{"graduated", "volume"}).Draw(t, "mode"), decimal("first"),
					rapid.IntRange(1, 500).Draw(t, "above"), decimal("second"))
			}
			fmt.Fprintf(&b, "      %s: {unit: SU, %s}\n", meter, price)
		}
		fmt.Fprintf(&b, "    states: {charge: \"*\", waive: {NODE_FAIL: node failure}}\n    rules:\n")
		fmt.Fprintf(&b, "      - {name: free, match: {partition: free}, exclude: free of charge}\n")
		formula := rapid.SampledFrom([]string{
			`cpus`, `"max(cpus*0.8, mem_gib*0.102)"`, `"ceil(cpus/3)*7/11"`, `{rate: cpus, duration: "max(elapsed_h, 0.25)"}`,
			`{rate: cpus, duration: ceil(elapsed_h)}`, `{units: "trunc(cpus*elapsed_h/7, 2)"}`,
		})
		fmt.Fprintf(&b, "      - {name: gpu, match: {gpus: \"> 0\"}, charge: {su: %s, gpu_hours: gpus}}\n", formula.Draw(t, "formula"))
		if rapid.Bool().Draw(t, "gap") {
			fmt.Fprintf(&b, "      - {name: small, match: {cpus: \"<= 16\"}, charge: {su: %s}}\n", formula.Draw(t, "formula"))
		} else {
			fmt.Fprintf(&b, "      - {name: rest, charge: {su: %s}}\n", formula.Draw(t, "formula"))
		}
	}
	return b.String()
}

// aRosterText draws three groups, of which one has an account from a day on, and
// splits over funds. Account d is nobody's.
func aRosterText(t *rapid.T) string {
	funds := []string{
		`fund: "1"`, `funds: [{fund: "1", percent: "100/3"}, {fund: "2", remainder: true}]`,
		`funds: [{fund: "1", amount: "3.33"}, {fund: "2", percent: "0.1"}, {fund: "3", remainder: true}, {fund: "4", percent: "100", users: u1}]`,
	}
	fund := func() string { return rapid.SampledFrom(funds).Draw(t, "funds") }
	class := func() string { return rapid.SampledFrom([]string{"internal", "external"}).Draw(t, "class") }
	return fmt.Sprintf(`groups:
  - {id: a, class: %s, %s, jobs: [{account: a}, {account: c, until: 2026-03-15}]}
  - {id: b, class: %s, %s, jobs: [{account: b}]}
  - {id: c, class: %s, %s, jobs: [{account: c, from: 2026-03-15}]}
`, class(), fund(), class(), fund(), class(), fund())
}

func someJobs(t *rapid.T) []ingest.Job {
	start := time.Date(2026, 2, 25, 0, 0, 0, 0, time.UTC).Unix()
	jobs := make([]ingest.Job, rapid.IntRange(1, 12).Draw(t, "jobs"))
	for i := range jobs {
		begin := start + rapid.Int64Range(0, 36*86400).Draw(t, "start")
		elapsed, suspended := rapid.Int64Range(0, 12*86400).Draw(t, "elapsed"), rapid.Int64Range(0, 2).Draw(t, "suspended")*1801
		cpus, gpus := rapid.Int64Range(1, 64).Draw(t, "cpus"), rapid.Int64Range(0, 1).Draw(t, "gpus")
		jobs[i] = ingest.Job{
			Cluster: "h2p", JobID: fmt.Sprint(i + 1), JobIDRaw: uint64(i + 1), User: rapid.SampledFrom([]string{"u1", "u2"}).Draw(t, "user"),
			Account:   rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "account"),
			Partition: rapid.SampledFrom([]string{"cpu", "cpu", "free"}).Draw(t, "partition"),
			State:     rapid.SampledFrom([]ingest.State{ingest.Completed, ingest.Completed, ingest.NodeFail}).Draw(t, "state"),
			Submit:    ingest.Instant(begin - 60), Eligible: ingest.Instant(begin - 60), Start: ingest.Instant(begin),
			End: ingest.Instant(begin + elapsed + suspended), ElapsedSeconds: elapsed, SuspendedSeconds: suspended,
			NodeCount: 1, CPUs: cpus, GPUs: gpus, MemoryMiB: cpus * 3000, Billing: cpus,
			AllocTRES: fmt.Sprintf("cpu=%d,gres/gpu=%d", cpus, gpus),
		}
	}
	return jobs
}

// Whatever the card and the roster: each month's charges are its lines before
// rounding, its lines the total, the total what the funds pay, to the cent; and
// over the months every second of every job is billed, waived, excluded or
// held, once.
func TestRandomCardsAndRostersBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := aCardText(t)
		card, err := rates.LoadCard("card.yaml", []byte(text))
		require.NoError(t, err, text)
		roster, err := rates.LoadRoster("groups.yaml", []byte(aRosterText(t)))
		require.NoError(t, err)
		jobs := someJobs(t)
		rater := rating.NewRater(rating.Tariff{Zone: time.UTC, Roster: roster, Cards: map[string]*rates.Card{"h2p": card}})
		var seconds, ran int64
		for i := range jobs {
			ran += jobs[i].ElapsedSeconds
		}
		for p := rates.MonthOf(2026, 2, time.UTC); p.Month <= 5; p = p.Next() {
			seconds += balanceOf(t, p, rater, roster, jobs)
		}
		require.Equal(t, ran, seconds)
	})
}

// balanceOf composes a month and gives its job-seconds.
func balanceOf(t *rapid.T, p rates.Period, rater *rating.Rater, roster *rates.Roster, jobs []ingest.Job) int64 {
	c, err := NewComposer(p, Settings{Currency: usd, Rounding: DefaultRounding}, roster)
	require.NoError(t, err)
	charged, tiers := map[string]*big.Rat{"a": {}, "b": {}, "c": {}}, false
	for i := range jobs {
		for _, o := range rater.Job(&jobs[i], p) {
			require.NoError(t, c.AddJob(&o))
			for _, ch := range o.Charges {
				tiers = tiers || ch.Tiers != nil
				charged[ch.Group].Add(charged[ch.Group], ch.Amount.Rat())
			}
		}
	}
	invoices, summary, err := c.Compose(nil)
	require.NoError(t, err)
	s := summary.Seconds
	require.Equal(t, s.Read, s.Billed+s.Waived+s.Excluded+s.Held)
	for _, inv := range invoices {
		exact, total, paid := new(big.Rat), money.Amount(0), money.Amount(0)
		for _, l := range inv.Lines {
			total += l.Amount
			if l.Kind.Lists() {
				exact.Add(exact, l.Exact.Rat())
			}
		}
		for _, f := range inv.Payers() {
			paid += f.Amount
		}
		require.Equal(t, inv.Total, total)
		require.Equal(t, inv.Total, paid)
		require.True(t, tiers || exact.Cmp(charged[inv.Group.ID]) == 0, "%s: charged %s, lines %s", inv.Group.ID, charged[inv.Group.ID], exact)
	}
	return s.Read
}
