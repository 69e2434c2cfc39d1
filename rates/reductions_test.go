package rates_test

import (
	"testing"
	"time"

	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
)

const goodReductions = `
discounts:
  - {name: University rate, reason: decree 7, class: internal, percent: "30"}
  - {name: BU subsidy, department: "Boston University", percent: "100", up_to: "100.00", per: month, shared_by: pi}
  - {name: Opening, cluster: [new, old*], meter: "!gpu_*", percent: 100/3, from: 2026-03-01, until: 2026-03-08}
caps:
  - {name: Most a month, class: [internal, affiliate], amount: "500.00"}
  - {name: Most a year, pi: "?*", amount: 5000, per: fiscal_year, shared_by: pi}
`

func TestLoadReductions(t *testing.T) {
	r, err := rates.LoadReductions("reductions.yaml", []byte(goodReductions))
	require.NoError(t, err)
	require.Len(t, r.Digest, 64)
	require.Len(t, r.Discounts, 3)
	require.Equal(t, "University rate", r.Discounts[0].Name)
	require.Equal(t, "decree 7", r.Discounts[0].Reason)
	require.True(t, r.Discounts[0].Percent.Equal(money.Int(30)))
	require.Nil(t, r.Discounts[0].Limit)
	require.Equal(t, &rates.PoolLimit{Amount: money.Int(100), Per: rates.PerMonth, SharedBy: rates.ByPI}, r.Discounts[1].Limit)
	require.True(t, r.Discounts[2].Percent.Equal(money.Ratio(100, 3)))
	require.Equal(t, rates.Date{Year: 2026, Month: 3, Day: 8}, r.Discounts[2].Until)
	require.Equal(t, rates.PoolLimit{Amount: money.Int(500), Per: rates.PerMonth, SharedBy: rates.ByGroup}, r.Caps[0].Limit)
	require.Equal(t, rates.PoolLimit{Amount: money.Int(5000), Per: rates.PerFiscalYear, SharedBy: rates.ByPI}, r.Caps[1].Limit)
	require.True(t, r.CarryOver())
	require.Len(t, r.Scopes(), 5)
	require.False(t, (*rates.Reductions)(nil).CarryOver())
}

func TestLoadReductionsFaults(t *testing.T) {
	f := func(text, fault string) {
		t.Helper()
		r, err := rates.LoadReductions("r.yaml", []byte(text))
		require.Nil(t, r)
		require.ErrorContains(t, err, fault)
	}
	f(``, "r.yaml: is empty")
	f(`discount: []`, `r.yaml:1:1: discount: unknown key "discount"`)
	f(`discounts: [{name: a}]`, "r.yaml:1:13: discounts[0].percent: is missing")
	f(`discounts: [{percent: 10}]`, "discounts[0].name: is missing")
	f(`discounts: [{name: a, percent: 0}]`, "r.yaml:1:32: discounts[0].percent: 0 is not above 0 and up to 100")
	f(`discounts: [{name: a, percent: 101}]`, "101 is not above 0 and up to 100")
	f(`discounts: [{name: a, percent: 10, per: month}]`, "discounts[0].per: is about a limit, and there is none")
	f(`discounts: [{name: a, percent: 10, up_to: 5, per: week}]`, `discounts[0].per: "week" is none of the choices`)
	f(`discounts: [{name: a, percent: 10, up_to: -5}]`, "-5 is less than nothing")
	f(`discounts: [{name: a, percent: 10, klass: internal}]`, `unknown key "klass"`)
	f(`discounts: [{name: a, percent: 10, group: []}]`, "discounts[0].group: is an empty list")
	f(`discounts: [{name: a, percent: 10, meter: "!"}]`, "names nothing after the !")
	f(`discounts: [{name: a, percent: 10, from: 2026-03-02, until: 2026-03-02}]`, "which is no day")
	f(`discounts: [{name: a, percent: 10, from: 2026-02-30}]`, `"2026-02-30" is not a date`)
	f(`caps: [{name: a}]`, "caps[0].amount: is missing")
	f(`caps: [{name: a, amount: 5, percent: 3}]`, `unknown key "percent"`)
	f(`caps: [{name: a, amount: 5, shared_by: everyone}]`, `"everyone" is none of the choices`)
	f("discounts: [{name: a, percent: 10}]\ncaps: [{name: a, amount: 5}]", `r.yaml:2:8: caps[0].name: "a" is already the name of the rule on line 1`)
	f(`caps: [5]`, "is not a mapping")
}

func TestNamesAdmit(t *testing.T) {
	f := func(text string, want bool, names ...string) {
		t.Helper()
		require.Equal(t, want, rates.Names(names).Admit(text))
	}
	f("", true)
	f("any", true)
	f("Boston University", true, "Boston University")
	f("boston university", false, "Boston University")
	f("BU", false, "Boston University")
	f("Boston College", true, "Boston*")
	f("", false, "?*")
	f("gpu_hours", false, "!gpu_*")
	f("core_hours", true, "!gpu_*")
	f("core_hours", false, "!gpu_*", "su")
	f("su", true, "!gpu_*", "su")
	f("su", false, "su", "!s*")
}

func TestPerFirst(t *testing.T) {
	f := func(per rates.Per, month, start time.Month, want string) {
		t.Helper()
		first, ok := per.First(rates.MonthOf(2026, month, time.UTC), start)
		require.True(t, ok)
		require.Equal(t, want, first.String())
	}
	f(rates.PerMonth, time.March, time.July, "2026-03")
	f(rates.PerFiscalYear, time.March, time.July, "2025-07")
	f(rates.PerFiscalYear, time.July, time.July, "2026-07")
	// Years that begin in July have quarters from July, October, January, April.
	f(rates.PerQuarter, time.March, time.July, "2026-01")
	f(rates.PerQuarter, time.April, time.July, "2026-04")
	f(rates.PerQuarter, time.September, time.July, "2026-07")
	// Years that begin in February have quarters from February, May, August, November.
	f(rates.PerQuarter, time.January, time.February, "2025-11")
	f(rates.PerQuarter, time.February, time.February, "2026-02")
	f(rates.PerQuarter, time.July, time.February, "2026-05")
	_, ok := rates.PerOnce.First(rates.MonthOf(2026, time.March, time.UTC), time.July)
	require.False(t, ok)
}

func FuzzLoadReductions(f *testing.F) {
	f.Add([]byte(goodReductions))
	f.Add([]byte("caps: [{name: &a x, amount: 5, reason: *a}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := rates.LoadReductions("r.yaml", text)
		if (r == nil) == (err == nil) {
			t.Fatalf("%v and %v", r, err)
		}
		for _, s := range r.Scopes() {
			if s.Name == "" {
				t.Fatal("a rule without a name")
			}
		}
	})
}
