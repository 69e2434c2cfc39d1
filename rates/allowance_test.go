package rates_test

import (
	"testing"
	"time"

	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

func dated(t *testing.T, text string) rates.Date {
	t.Helper()
	if text == "" {
		return rates.Date{}
	}
	d, err := rates.ParseDate(text)
	require.NoError(t, err)
	return d
}

func TestLoadAllowances(t *testing.T) {
	r, err := rates.LoadReductions("r.yaml", []byte(`
allowances:
  - {name: Free tier, class: internal, meter: su, units: "10000", per: quarter, rollover: 1, from: 2026-01-15, prorate: day}
  - {name: New PI credit, reason: welcome, pi: "?*", meter: "!gpu_*", amount: "1000.00", per: once, shared_by: pi, first_months: 6}
  - {name: Pool, meter: su, units: 5, rollover: unlimited, from: 2026-01-01}
  - {name: Pool 2, meter: su, units: 5, rollover: none}
`))
	require.NoError(t, err)
	require.Len(t, r.Allowances, 4)
	a := r.Allowances[0]
	require.Equal(t, rates.PoolLimit{Amount: money.Int(10000), Meter: "su", Per: rates.PerQuarter}, a.Limit)
	require.Equal(t, 1, a.Rollover)
	require.Equal(t, rates.GrantByDays, a.Prorate)
	b := r.Allowances[1]
	require.Equal(t, rates.PoolLimit{Amount: money.Int(1000), Per: rates.PerOnce, SharedBy: rates.ByPI}, b.Limit)
	require.Equal(t, 6, b.FirstMonths)
	require.Equal(t, "welcome", b.Reason)
	require.Equal(t, rates.Unlimited, r.Allowances[2].Rollover)
	require.Equal(t, 0, r.Allowances[3].Rollover)
	require.Len(t, r.Scopes(), 4)
	require.True(t, r.CarryOver())
}

func TestLoadAllowancesFaults(t *testing.T) {
	f := func(allowance, fault string) {
		t.Helper()
		r, err := rates.LoadReductions("r.yaml", []byte("allowances: [{name: a, "+allowance+"}]"))
		require.Nil(t, r)
		require.ErrorContains(t, err, fault)
	}
	f("meter: su", "r.yaml:1:14: allowances[0].units: is missing")
	f("meter: su, units: 1, amount: 2", "allowances[0].amount: stands beside units:")
	f("units: 1", "allowances[0].meter: names not one meter")
	f("meter: [su, gpu], units: 1", "names not one meter")
	f(`meter: "su*", units: 1`, "names not one meter")
	f(`meter: "!su", units: 1`, "names not one meter")
	f("meter: su, units: -1", "-1 is less than nothing")
	f("meter: su, units: 1, rollover: 1", "allowances[0].rollover: needs from:")
	f("meter: su, units: 1, rollover: 0, from: 2026-01-01", `"0" is not a whole number from 1`)
	f("meter: su, units: 1, rollover: some", `"some" is not a whole number`)
	f("meter: su, units: 1, per: once, rollover: 1", "granted once")
	f("meter: su, units: 1, per: once, prorate: day", "granted once")
	f("meter: su, units: 1, prorate: week", `"week" is none of the choices`)
	f("meter: su, units: 1, first_months: x", `first_months: "x" is not a whole number from 1`)
	f("meter: su, units: 1, percent: 5", `unknown key "percent"`)
}

func TestGrants(t *testing.T) {
	f := func(a rates.Allowance, since string, year int, month time.Month, want ...string) {
		t.Helper()
		a.Limit.Amount = money.Int(120)
		holds, ok := a.Holds(dated(t, since))
		require.True(t, ok)
		var got []string
		for _, g := range a.Grants(holds, rates.MonthOf(year, month, time.UTC), time.July) {
			got = append(got, g.From.String()+" "+g.Until.String()+" "+g.Amount.String())
		}
		require.Equal(t, want, got)
	}
	rule := func(per rates.Per, from, until string, rollover int, prorate rates.GrantShare) rates.Allowance {
		return rates.Allowance{
			ReductionScope: rates.ReductionScope{From: dated(t, from), Until: dated(t, until)},
			Limit:          rates.PoolLimit{Per: per}, Rollover: rollover, Prorate: prorate,
		}
	}
	month, quarter, year, once := rates.PerMonth, rates.PerQuarter, rates.PerFiscalYear, rates.PerOnce
	f(rule(month, "", "", 0, 0), "", 2026, 3, "2026-03-01 2026-04-01 120")
	f(rule(quarter, "", "", 0, 0), "", 2026, 3, "2026-01-01 2026-04-01 120")
	f(rule(year, "", "", 0, 0), "", 2026, 3, "2025-07-01 2026-07-01 120")
	f(rule(once, "", "", 0, 0), "", 2026, 3, "  120")
	f(rule(once, "2026-02-03", "2026-05-01", 0, 0), "", 2026, 3, "2026-02-03 2026-05-01 120")
	// Outside its days there is nothing; in the month of its first day, all.
	f(rule(month, "2026-03-15", "2026-05-01", 0, 0), "", 2026, 2)
	f(rule(month, "2026-03-15", "2026-05-01", 0, 0), "", 2026, 3, "2026-03-01 2026-04-01 120")
	f(rule(month, "2026-03-15", "2026-05-01", 0, 0), "", 2026, 5)
	// Without a rollover what was granted before does not matter.
	f(rule(month, "2026-01-01", "", 0, 0), "", 2026, 3, "2026-03-01 2026-04-01 120")
	f(rule(month, "2026-01-01", "", 1, 0), "", 2026, 3, "2026-01-01 2026-02-01 120", "2026-02-01 2026-03-01 120", "2026-03-01 2026-04-01 120")
	f(rule(quarter, "2025-12-31", "", 2, 0), "", 2026, 4, "2025-10-01 2026-01-01 120", "2026-01-01 2026-04-01 120", "2026-04-01 2026-07-01 120")
	// A year from July that is joined on 17 February: 5 of 12 months, 134 of 365
	// days; of the quarter 2 of 3 months, 43 of 90 days.
	f(rule(year, "2026-02-17", "", 0, rates.GrantByMonths), "", 2026, 3, "2025-07-01 2026-07-01 50")
	f(rule(year, "2026-02-17", "", 0, rates.GrantByDays), "", 2026, 3, "2025-07-01 2026-07-01 3216/73")
	f(rule(quarter, "2026-02-17", "", 0, rates.GrantByMonths), "", 2026, 3, "2026-01-01 2026-04-01 80")
	f(rule(quarter, "2026-02-17", "", 0, rates.GrantByDays), "", 2026, 3, "2026-01-01 2026-04-01 172/3")
	// It ends on 10 May: 9 of 31 days.
	f(rule(month, "", "2026-05-10", 0, rates.GrantByDays), "", 2026, 5, "2026-05-01 2026-06-01 1080/31")
	// Those who came in March have it from the 1st on, whatever the day.
	f(rule(year, "", "", 0, rates.GrantByDays), "2026-03-20", 2026, 4, "2025-07-01 2026-07-01 2928/73")
	f(rule(month, "2026-01-01", "", 1, 0), "2026-03-20", 2026, 4, "2026-03-01 2026-04-01 120", "2026-04-01 2026-05-01 120")
}

func TestNewcomers(t *testing.T) {
	a := rates.Allowance{FirstMonths: 2, Limit: rates.PoolLimit{Per: rates.PerOnce, SharedBy: rates.ByPI}}
	_, ok := a.Holds(rates.Date{})
	require.False(t, ok, "who was always there is no newcomer")
	holds, ok := a.Holds(dated(t, "2026-12-31"))
	require.True(t, ok)
	require.Equal(t, rates.Days{From: dated(t, "2026-12-01"), Until: dated(t, "2027-02-01")}, holds)
	a.Until = dated(t, "2026-12-01")
	_, ok = a.Holds(dated(t, "2026-12-31"))
	require.False(t, ok, "the rule has ended")

	roster, err := rates.LoadRoster("g.yaml", []byte(`groups:
  - {id: a, pi: Ada, since: 2026-03-20}
  - {id: b, pi: Ada, since: 2026-02-10}
  - {id: c, pi: Bob, since: 2026-02-10}
  - {id: d, pi: Bob}
`))
	require.NoError(t, err)
	require.Equal(t, dated(t, "2026-02-10"), roster.SinceOf(rates.ByPI, "Ada"))
	require.Equal(t, rates.Date{}, roster.SinceOf(rates.ByPI, "Bob"), "a person is as old as the oldest group")
	require.Equal(t, dated(t, "2026-03-20"), roster.SinceOf(rates.ByGroup, "a"))
	require.Equal(t, rates.Date{}, roster.SinceOf(rates.ByAll, ""))
}
