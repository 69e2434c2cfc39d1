package history

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// Five fiscal years of a centre, July 2021 to June 2026: twelve groups with
// everything that may happen to a bill. The jobs and quotas are drawn from a
// seed; what they must come to is reckoned beside, from the draws, by the plain
// arithmetic of this file.
const fiveYearsCard = `
card: centre
currency: USD
source: none
versions:
  - from: 2021-07-01
    meters: &meters
      core_hours:
        unit: core-hour
        tiers: {mode: graduated, counter: units, window: fiscal_year, steps: [{above: 0, price: "0.05"}, {above: 1000, price: "0.04"}, {above: 4000, price: "0.02"}]}
      gpu_hours: {unit: GPU-hour, price: {internal: "0.35", affiliate: "0.5", external: "0.8", industry: "1.1"}}
      tb: {unit: TB-month, price: "3.20"}
    rules: &rules
      - {name: debug, match: {partition: debug}, waive: debugging is free, charge: {core_hours: cpus}}
      - {name: gpu, match: {partition: gpu}, charge: {gpu_hours: gpus}}
      - {name: cpu, charge: {core_hours: cpus}}
    storage: &storage
      - {name: quota, charge: {tb: quota_tb}}
  - from: 2023-02-15
    meters:
      core_hours:
        unit: core-hour
        tiers: {mode: graduated, counter: units, window: fiscal_year, steps: [{above: 0, price: "0.055"}, {above: 1000, price: "0.042"}, {above: 4000, price: "0.021"}]}
      gpu_hours: {unit: GPU-hour, price: {internal: "0.35", affiliate: "0.5", external: "0.8", industry: "1.1"}}
      tb: {unit: TB-month, price: "3.20"}
    rules: *rules
    storage: *storage
  - from: 2024-10-01
    meters:
      core_hours:
        unit: core-hour
        tiers: {mode: graduated, counter: units, window: fiscal_year, steps: [{above: 0, price: "0.055"}, {above: 1000, price: "0.042"}, {above: 4000, price: "0.021"}]}
      gpu_hours: {unit: GPU-hour, price: {internal: "0.333333", affiliate: "0.45", external: "0.77", industry: "1.2"}}
      tb: {unit: TB-month, price: "2.95"}
    rules: *rules
    storage: *storage
`

const fiveYearsRoster = `
groups:
  - {id: g01, pi: Ada, department: Science, jobs: [{account: g01}],
     funds: [{fund: F1, percent: "60"}, {fund: F2, percent: "100/3"}, {fund: F3, remainder: true}],
     allocations: [{name: award, meter: core_hours, units: "3000", from: 2021-10-01, until: 2023-01-16,
       deposits: [{date: 2022-02-10, units: "500"}, {date: 2022-06-01, units: "250.5"}], refunds: [{date: 2022-03-20, units: "0.25"}]},
      {name: award 2, meter: core_hours, units: "100000", from: 2023-01-16, until: 2026-07-01, overdraft: warn}]}
  - {id: g02, pi: Ada, department: Science, jobs: [{account: g02}], funds: [{fund: F4, amount: "30.00"}, {fund: F5, percent: "100", meters: gpu_hours}, {fund: F6, remainder: true}]}
  - {id: g03, pi: Bob, department: Science, jobs: [{account: g03}, {account: shared, until: 2023-03-15}]}
  - {id: g04, pi: Cy, class: affiliate, jobs: [{account: g04}, {account: shared, from: 2023-03-15}], funds: [{fund: F7, percent: "50", users: [u1, u2]}, {fund: F8, remainder: true, users: [u1, u2]}, {fund: F9, percent: "100"}]}
  - {id: g05, pi: Eve, department: Humanities, jobs: [{account: g05, until: 2024-02-10}]}
  - {id: g06, pi: Dee, since: 2022-10-05, department: Humanities, jobs: [{account: g06, from: 2022-10-05}]}
  - {id: g07, class: external, language: es, jobs: [{account: g07}]}
  - {id: g08, class: industry, jobs: [{account: g08}]}
  - {id: g09, pi: Fay, department: Engineering, jobs: [{account: "g09*"}]}
  - {id: g10, pi: Gil, department: Engineering, jobs: [{account: g10}]}
  - {id: g11, class: external, jobs: [{account: g11}],
     allocations: [{name: block, meter: core_hours, units: "4000", from: 2021-07-01, until: 2026-07-01, overdraft: waive,
       deposits: [{date: 2022-07-01, units: "4000"}, {date: 2023-09-13, units: "2500"}, {date: 2025-01-20, units: "3000"}]}]}
  - {id: g12, class: external, jobs: [{account: g12}],
     allocations: [{name: gpus, meter: gpu_hours, units: "900", from: 2021-07-01, until: 2024-07-01, overdraft: warn}]}
`

const fiveYearsRules = `
discounts:
  - {name: Internal rate, class: internal, meter: gpu_hours, percent: "30"}
  - {name: PI subsidy, pi: "?*", percent: "50", up_to: "20.00", per: quarter, shared_by: pi}
  - {name: Opening weeks, class: affiliate, cluster: c2, percent: 100/3, from: 2022-05-10, until: 2022-06-20}
allowances:
  - {name: Free tier, class: internal, meter: core_hours, units: "150", from: 2021-07-01, rollover: 2}
  - {name: Yearly pool, group: [g09, g10], meter: core_hours, units: "3000", per: fiscal_year, shared_by: all, until: 2025-01-01}
  - {name: Free terabytes, department: "?*", meter: tb, units: "4", shared_by: department}
  - {name: Quarter credit, class: affiliate, amount: "25.00", per: quarter, from: 2021-08-15, prorate: day, rollover: 1}
  - {name: New PI, pi: "?*", amount: "60.00", per: once, shared_by: pi, first_months: 4}
caps:
  - {name: Most a month, class: internal, amount: "80.00"}
  - {name: Most a year, pi: Bob, amount: "400.00", per: fiscal_year, shared_by: pi}
`

const fiveYearsOutages = `
outages:
  - {name: cooling, from: 2022-11-20T10:00, until: 2022-11-24T09:00, match: {partition: gpu}, mode: overlap, reason: water}
  - {name: power, from: 2024-06-29T00:00, until: 2024-07-02T12:00, match: {partition: gpu}, mode: whole, reason: power}
`

// centre is the generated history and what runs it.
type centre struct {
	zone        *time.Location
	first       rates.Period
	card        *rates.Card
	roster      *rates.Roster
	settings    invoice.Settings
	tariff      rating.Tariff
	jobs        map[string][]ingest.Job // by the month of their end
	holdings    []ingest.Holding
	adjustments []invoice.Adjustment
	reckoned    *reckoning
}

func newCentre(t *testing.T, seed uint64) *centre {
	t.Helper()
	c := &centre{zone: time.UTC, jobs: map[string][]ingest.Job{}, reckoned: newReckoning()}
	c.first = rates.MonthOf(2021, time.July, c.zone)
	var err error
	c.card, err = rates.LoadCard("card.yaml", []byte(fiveYearsCard))
	require.NoError(t, err)
	c.roster, err = rates.LoadRoster("groups.yaml", []byte(fiveYearsRoster))
	require.NoError(t, err)
	rules, err := rates.LoadReductions("reductions.yaml", []byte(fiveYearsRules))
	require.NoError(t, err)
	outages, err := rates.LoadOutages("outages.yaml", []byte(fiveYearsOutages), c.zone)
	require.NoError(t, err)
	c.settings = invoice.Settings{
		Issuer: invoice.Party{Name: "Centre"}, Currency: usd, Rounding: invoice.DefaultRounding, FiscalYearStart: time.July, Reductions: rules,
		Overhead: []invoice.OverheadRule{{Name: "Indirect", Classes: []string{"external", "industry"}, Percent: money.Int(15)}},
		Tax: []invoice.TaxRule{
			{Name: "VAT", Classes: []string{"industry"}, Of: invoice.Taxable(), Percent: money.Int(19)},
			{Name: "Levy", Classes: []string{"affiliate"}, Of: invoice.Taxable(), Percent: money.Ratio(77, 10), Mode: invoice.TaxInclusive},
		},
	}
	draw := rand.New(rand.NewPCG(seed, 5))
	c.drawJobs(draw)
	c.drawStorage(t, draw)
	c.drawAdjustments(t, draw)
	c.tariff = rating.Tariff{
		Zone: c.zone, Roster: c.roster, Cards: map[string]*rates.Card{"c1": c.card, "c2": c.card},
		Storage: []rating.StorageCard{{Filesystem: "*", Card: c.card}}, Outages: outages, Waivers: c.drawWaivers(t, draw),
	}
	return c
}

// months are the sixty periods.
func (c *centre) months() []rates.Period {
	var all []rates.Period
	for p, n := c.first, 0; n < 60; p, n = p.Next(), n+1 {
		all = append(all, p)
	}
	return all
}

func (c *centre) drawJobs(draw *rand.Rand) {
	id := uint64(0)
	for _, p := range c.months() {
		for range 150 + draw.IntN(100) {
			id++
			group := fmt.Sprintf("g%02d", 1+draw.IntN(12))
			end := p.Start.Add(time.Duration(draw.Int64N(int64(p.End.Sub(p.Start)/time.Second))) * time.Second)
			elapsed := 60 + draw.Int64N(90_000)
			start := end.Add(-time.Duration(elapsed) * time.Second)
			account := group
			moved := time.Date(2023, time.March, 15, 0, 0, 0, 0, c.zone)
			switch {
			case group == "g05" && !end.Before(time.Date(2024, time.February, 10, 0, 0, 0, 0, c.zone)),
				group == "g06" && start.Before(time.Date(2022, time.October, 5, 0, 0, 0, 0, c.zone)):
				continue
			case group == "g03" && end.Before(moved), group == "g04" && !start.Before(moved):
				account = "shared"
			case group == "g09" && draw.IntN(2) == 0:
				account = "g09_lab"
			}
			j := ingest.Job{
				Cluster: fmt.Sprintf("c%d", 1+draw.IntN(2)), JobID: fmt.Sprint(id), JobIDRaw: id, User: fmt.Sprintf("u%d", 1+draw.IntN(4)), Account: account,
				Partition: "cpu", QoS: "normal", State: ingest.Completed, Name: "job", TimelimitSeconds: 200_000,
				Submit: ingest.Instant(start.Unix() - 60), Eligible: ingest.Instant(start.Unix() - 60), Start: ingest.Instant(start.Unix()), End: ingest.Instant(end.Unix()),
				ElapsedSeconds: elapsed, NodeCount: 1, CPUs: 1 + draw.Int64N(8), MemoryMiB: 4096, Billing: 1,
				ReqNodeCount: 1, ReqCPUs: 1, ReqMemoryMiB: 4096, ReqGPUs: 0, Source: ingest.Source{File: "dump", Line: int64(id)},
			}
			switch n := draw.IntN(10); {
			case n < 3:
				j.Partition, j.GPUs, j.ReqGPUs = "gpu", 1+draw.Int64N(2), 1
			case n == 3:
				j.Partition = "debug"
			}
			c.jobs[p.String()] = append(c.jobs[p.String()], j)
			c.reckoned.job(group, p.String(), &j, c.zone)
		}
	}
}

// drawStorage gives every group quotas that change now and then.
func (c *centre) drawStorage(t *testing.T, draw *rand.Rand) {
	var b strings.Builder
	b.WriteString("group,filesystem,from,until,quota\n")
	end := time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)
	for g := range 10 {
		group := fmt.Sprintf("g%02d", g+1)
		day := c.first.Start
		for day.Before(end) {
			next := day.AddDate(0, 0, 40+draw.IntN(300))
			if next.After(end) {
				next = end
			}
			tb := draw.IntN(5)
			fmt.Fprintf(&b, "%s,ix,%s,%s,%d TB\n", group, day.Format(time.DateOnly), next.Format(time.DateOnly), tb)
			for d := day; d.Before(next); d = d.AddDate(0, 0, 1) {
				month := time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
				c.reckoned.add(group, d.Format("2006-01"), "tb", big.NewRat(int64(tb), int64(month)))
			}
			day = next
		}
	}
	var err error
	c.holdings, err = ingest.Holdings("storage.csv", strings.NewReader(b.String()))
	require.NoError(t, err)
}

// drawAdjustments gives charges, monthly ones, and credits that reverse them.
func (c *centre) drawAdjustments(t *testing.T, draw *rand.Rand) {
	var b strings.Builder
	b.WriteString("id,period,group,description,amount,reason,author,repeat,until,reverses\n")
	months := c.months()
	book := func(group string, at int, cents int64) {
		if at < len(months) {
			c.reckoned.manual[group+" "+months[at].String()] += cents
		}
	}
	for n := range 80 {
		group, at, cents := fmt.Sprintf("g%02d", 1+draw.IntN(12)), draw.IntN(57), 1+draw.Int64N(9000)
		amount := fmt.Sprintf("%d.%02d", cents/100, cents%100)
		switch draw.IntN(3) {
		case 0:
			fmt.Fprintf(&b, "a%d,%s,%s,Work,%s,order,jd,,,\n", n, months[at], group, amount)
			book(group, at, cents)
			if draw.IntN(2) == 0 { // taken back one to three months later
				back := at + 1 + draw.IntN(2)
				fmt.Fprintf(&b, ",%s,%s,,,mistake,jd,,,a%d\n", months[back], group, n)
				book(group, back, -cents)
			}
		case 1:
			length := 2 + draw.IntN(12)
			until := time.Date(months[at].Year, months[at].Month+time.Month(length), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
			fmt.Fprintf(&b, "a%d,%s,%s,Rack,%s,contract,jd,monthly,%s,\n", n, months[at], group, amount, until)
			for m := range length {
				book(group, at+m, cents)
			}
			fmt.Fprintf(&b, ",%s,%s,,,no rack,jd,,,a%d@%s\n", months[at+1], group, n, months[at])
			book(group, at+1, -cents)
		default:
			fmt.Fprintf(&b, "a%d,%s,%s,Goodwill,-%s,late,jd,,,\n", n, months[at], group, amount)
			book(group, at, -cents)
		}
	}
	var err error
	c.adjustments, err = invoice.ReadAdjustments("adjustments.csv", []byte(b.String()), usd)
	require.NoError(t, err)
}

// drawWaivers forgives some of the jobs with GPUs, whole or in half.
func (c *centre) drawWaivers(t *testing.T, draw *rand.Rand) *rates.Waivers {
	var b strings.Builder
	b.WriteString("cluster,job,percent,reason,author,date\n")
	for _, p := range c.months() {
		for i := range c.jobs[p.String()] {
			if j := &c.jobs[p.String()][i]; j.Partition == "gpu" && draw.IntN(25) == 0 {
				fmt.Fprintf(&b, "%s,%s,%d,disk,jd,2026-07-01\n", j.Cluster, j.JobID, 50*(1+draw.IntN(2)))
			}
		}
	}
	w, err := rates.ReadWaivers("waivers.csv", []byte(b.String()), c.zone)
	require.NoError(t, err)
	return w
}

// compose bills a month with what the ledger has of those before it.
func (c *centre) compose(t *testing.T, p rates.Period, ledger []invoice.LedgerEntry) ([]invoice.Invoice, invoice.Summary) {
	t.Helper()
	composer, err := invoice.NewComposer(p, c.settings, c.roster)
	require.NoError(t, err)
	rater := rating.NewRater(c.tariff)
	for i := range c.jobs[p.String()] {
		for _, o := range rater.Job(&c.jobs[p.String()][i], p) {
			require.NotEqual(t, rating.Held, o.Verdict, o.Cause)
			require.NoError(t, composer.AddJob(&o))
		}
	}
	stored, err := rater.Storage(c.holdings, p)
	require.NoError(t, err)
	for _, o := range stored {
		require.NotEqual(t, rating.Held, o.Verdict, o.Cause)
		require.NoError(t, composer.AddStorage(o))
	}
	require.NoError(t, composer.Adjust(c.adjustments))
	invoices, summary, err := composer.Compose(ledger)
	require.NoError(t, err)
	return invoices, summary
}

func (c *centre) issue(t *testing.T, p rates.Period, invoices []invoice.Invoice, summary invoice.Summary) Issue {
	t.Helper()
	is := Issue{
		Period: p.String(), Invoices: invoices, Evidence: Evidence{Program: "hpcbill test", Summary: summary},
		Numbering: Numbering{Series: "HPC", FiscalYearStart: time.July}, At: p.End.Add(48 * time.Hour), Actor: "tester",
	}
	for q := c.first; q.Start.Before(p.Start); q = q.Next() {
		is.Earlier = append(is.Earlier, q.String())
	}
	return is
}

func TestFiveYears(t *testing.T) {
	c := newCentre(t, 20260701)
	db, _ := open(t)
	issued := map[string][]invoice.Invoice{}
	var total money.Amount
	for n, p := range c.months() {
		ledger, err := db.Ledger(ctx, p.String())
		require.NoError(t, err)
		invoices, summary := c.compose(t, p, ledger)
		if n%20 == 7 { // months out of order are refused, with the reason
			next, after := c.compose(t, p.Next(), append(ledger, invoice.LedgerEntries(invoices)...))
			_, err := db.Issue(ctx, c.issue(t, p.Next(), next, after))
			var order *OrderError
			require.ErrorAs(t, err, &order)
			require.EqualError(t, err, fmt.Sprintf("issue %s: %s is not issued yet, and months are issued in order", p.Next(), p))
		}
		c.reckoned.requireBalanced(t, p, invoices, &summary)
		total += summary.Total
		issued[p.String()], err = db.Issue(ctx, c.issue(t, p, invoices, summary))
		require.NoError(t, err)
	}
	requireKept(t, db, issued, total)

	// Any month again, after all of them, is what it was: byte for byte.
	draw := rand.New(rand.NewPCG(1, 2))
	again := map[int]bool{0: true, 1: true, 19: true, 59: true}
	for range 10 {
		again[draw.IntN(60)] = true
	}
	for n, p := range c.months() {
		if !again[n] {
			continue
		}
		ledger, err := db.Ledger(ctx, p.String())
		require.NoError(t, err)
		invoices, _ := c.compose(t, p, ledger)
		require.Len(t, invoices, len(issued[p.String()]))
		for i := range invoices {
			was := issued[p.String()][i]
			invoices[i].Number, invoices[i].Issued = was.Number, was.Issued
			require.Equal(t, string(was.Canonical()), string(invoices[i].Canonical()), "%s again", p)
		}
	}
}

// TestOtherYears reckons years of other jobs, quotas and adjustments.
func TestOtherYears(t *testing.T) {
	for seed := range uint64(4) {
		c := newCentre(t, seed)
		var ledger []invoice.LedgerEntry
		for _, p := range c.months()[:27] {
			invoices, summary := c.compose(t, p, ledger)
			c.reckoned.requireBalanced(t, p, invoices, &summary)
			ledger = append(ledger, invoice.LedgerEntries(invoices)...)
		}
	}
}

// requireKept compares what the history has with what was issued.
func requireKept(t *testing.T, db *DB, issued map[string][]invoice.Invoice, total money.Amount) {
	t.Helper()
	require.NoError(t, db.VerifyChain(ctx))
	count := 0
	for _, invoices := range issued {
		count += len(invoices)
	}
	f := func(query string, want int64) {
		t.Helper()
		var got int64
		require.NoError(t, db.read.QueryRowContext(ctx, query).Scan(&got))
		require.Equal(t, want, got, query)
	}
	f("SELECT count(*) FROM v_invoices", int64(count))
	f("SELECT sum(total_minor) FROM v_invoices", int64(total))
	f("SELECT sum(amount_minor) FROM v_invoice_lines", int64(total))
	f("SELECT sum(CAST(replace(amount, '.', '') AS INTEGER)) FROM v_invoice_funds", int64(total))
	f("SELECT sum(total_minor) FROM v_group_totals", int64(total))
	f("SELECT count(DISTINCT period) FROM v_invoices", 60)
}
