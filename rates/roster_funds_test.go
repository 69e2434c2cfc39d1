package rates

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates/money"
)

const splitRoster = `fund_pattern: '\d{4}-\d{3}'
groups:
  - id: chem
    jobs: [{account: chem}]
    funds:
      - {fund: "0012-345", percent: "60", from: 2025-07-01, until: 2026-03-01}
      - {fund: "0012-345", percent: "100/3", from: 2026-03-01, until: 2026-07-01}
      - {fund: "0044-100", remainder: true, from: 2025-07-01, until: 2026-07-01}
      - {fund: "0099-001", amount: "500.00", from: 2025-09-01, until: 2026-07-01}
      - {fund: "0077-002", percent: "100", meters: gpu_hours, from: 2026-01-01, until: 2026-07-01}
      - {fund: "0012-345", percent: "100", users: [u1, "v*"], meters: su, from: 2026-01-01, until: 2026-07-01}
  - {id: bio, fund: "0001-001"}
`

func TestFundScopes(t *testing.T) {
	g := loaded(t, splitRoster).Group("chem")
	f := func(day Date, want ...[3]string) {
		t.Helper()
		var got [][3]string
		for _, scope := range g.FundScopes(day) {
			for _, s := range scope.Splits {
				got = append(got, [3]string{scope.String(), s.Fund, s.PercentIn(&scope).String() + " " + s.Amount.String()})
			}
		}
		require.Equal(t, want, got)
	}
	f(Date{2025, 6, 30})
	f(Date{2025, 7, 1}, [3]string{"", "0012-345", "60 0"}, [3]string{"", "0044-100", "40 0"})
	f(Date{2025, 9, 1}, [3]string{"", "0012-345", "60 0"}, [3]string{"", "0044-100", "40 0"}, [3]string{"", "0099-001", "0 500"})
	f(Date{2026, 3, 1}, [3]string{"meter gpu_hours", "0077-002", "100 0"}, [3]string{"user u1, v* of meter su", "0012-345", "100 0"},
		[3]string{"", "0012-345", "100/3 0"}, [3]string{"", "0044-100", "200/3 0"}, [3]string{"", "0099-001", "0 500"})
	f(Date{2026, 7, 1})

	scopes := g.FundScopes(Date{2026, 3, 1})
	takes := func(user, meter string, gpu, users bool) {
		t.Helper()
		require.Equal(t, gpu, scopes[0].Takes(user, meter))
		require.Equal(t, users, scopes[1].Takes(user, meter))
		require.True(t, scopes[2].Takes(user, meter) && scopes[2].Rest())
	}
	takes("u1", "gpu_hours", true, false)
	takes("v9", "su", false, true)
	takes("u2", "su", false, false)
	takes("", "su", false, false)
}

func TestUnfundedDays(t *testing.T) {
	f := func(roster, from, until string, want ...string) {
		t.Helper()
		r := loaded(t, roster)
		day := func(text string) Date {
			d, err := ParseDate(text)
			require.NoError(t, err)
			return d
		}
		var got []string
		for _, d := range r.UnfundedDays(r.Groups[0], day(from), day(until)) {
			got = append(got, d.String())
		}
		require.Equal(t, want, got)
	}
	const always = "groups:\n- {id: a, funds: [{fund: x, percent: 100}]}\n"
	f(always, "2026-03-01", "2026-04-01")
	f("groups:\n- {id: a}\n", "2026-03-01", "2026-04-01")
	f("groups:\n- {id: a, fund: x}\n", "2026-03-01", "2026-04-01")
	const spring = "groups:\n- {id: a, funds: [{fund: x, percent: 100, from: 2026-03-15, until: 2026-05-02}]}\n"
	f(spring, "2026-03-01", "2026-04-01", "2026-03-01 to 2026-03-14")
	f(spring, "2026-04-01", "2026-05-01")
	f(spring, "2026-05-01", "2026-06-01", "2026-05-02 to 2026-05-31")
	f(spring, "2026-06-01", "2026-07-01", "2026-06-01 to 2026-06-30")
	// A group is asked for a fund on the days on which jobs can reach it.
	f("groups:\n- {id: a, jobs: [{account: x, from: 2026-03-20}], funds: [{fund: x, percent: 100, from: 2026-03-15}]}\n", "2026-03-01", "2026-04-01")
	f("groups:\n- {id: a, jobs: [{account: x, from: 2026-03-14, until: 2026-03-31}], funds: [{fund: x, percent: 100, from: 2026-03-15}]}\n",
		"2026-03-01", "2026-04-01", "2026-03-14")
	f("fund_codes: [{code: x, until: 2026-03-31}]\ngroups:\n- {id: a, fund: x}\n", "2026-03-01", "2026-04-01", "2026-03-31")
}

func TestFundFaults(t *testing.T) {
	f := func(text string, faults ...string) {
		t.Helper()
		_, err := LoadRoster("g.yaml", []byte(text))
		var got Faults
		require.ErrorAs(t, err, &got)
		var lines []string
		for _, fault := range got {
			lines = append(lines, fault.Error())
		}
		require.Equal(t, faults, lines)
	}
	split := func(splits string) string { return "groups:\n- id: a\n  funds:\n" + splits }
	f(split("  - {fund: x, percent: 60}\n  - {fund: y, percent: 39.9}\n"),
		"g.yaml:4:5: groups[0].funds: the percentages total 99.9, not 100, on all days")
	f(split("  - {fund: x, percent: 100/3}\n  - {fund: y, percent: 66.66}\n"),
		"g.yaml:4:5: groups[0].funds: the percentages total 14999/150, not 100, on all days")
	f(split("  - {fund: x, percent: 60, from: 2026-01-01}\n  - {fund: y, percent: 40, from: 2026-01-01, until: 2026-03-15}\n"),
		"g.yaml:4:5: groups[0].funds: the percentages total 60, not 100, on 2026-03-15 on")
	f(split("  - {fund: x, percent: 100, until: 2026-03-01}\n  - {fund: y, percent: 100, from: 2026-03-03}\n"),
		"g.yaml:4:5: groups[0].funds: no fund pays on 2026-03-01 to 2026-03-02")
	f(split("  - {fund: x, percent: 100, until: 2026-03-02}\n  - {fund: y, percent: 100, from: 2026-03-01}\n"),
		"g.yaml:4:5: groups[0].funds: the percentages total 200, not 100, on 2026-03-01")
	f(split("  - {fund: x, percent: 100}\n  - {fund: y, remainder: true}\n"),
		"g.yaml:4:5: groups[0].funds: the percentages total 100 on all days and leave nothing for the remainder")
	f(split("  - {fund: x, remainder: true}\n  - {fund: y, remainder: true}\n"),
		"g.yaml:5:5: groups[0].funds: 2 funds take the remainder on all days")
	f(split("  - {fund: x, amount: 500}\n"), "g.yaml:4:5: groups[0].funds: the percentages total 0, not 100, on all days")
	f(split("  - {fund: x, percent: 50}\n  - {fund: x, percent: 50}\n"),
		"g.yaml:5:5: groups[0].funds: fund x has a share by line 4 already on all days")
	f(split("  - {fund: x, percent: 100, meters: su}\n"),
		"g.yaml:4:5: groups[0].funds: all splits name users or meters, and nothing pays the rest")
	f(split("  - {fund: x, percent: 100, until: 2026-01-01}\n  - {fund: y, percent: 100, meters: su}\n"),
		"g.yaml:5:5: groups[0].funds: holds on days on which nothing pays the rest")
	f("groups:\n- {id: a, fund: z, funds: [{fund: x, percent: 100}]}\n", "g.yaml:2:28: groups[0].funds: the group has a fund: too")
	f(split("  - {fund: x, percent: 0}\n"), "g.yaml:4:24: groups[0].funds[0].percent: 0 is not above 0 and up to 100")
	f(split("  - {fund: x, percent: 1e400/3}\n"), `g.yaml:4:24: groups[0].funds[0].percent: not a decimal number: "1e400"`)
	f(split("  - {fund: x, percent: 100/0}\n"), `g.yaml:4:24: groups[0].funds[0].percent: "100/0" is not a fraction`)
	f(split("  - {fund: x, amount: -1}\n"), "g.yaml:4:23: groups[0].funds[0].amount: an amount of -1 pays nothing")
	f(split("  - {fund: x}\n"), "g.yaml:4:5: groups[0].funds[0]: needs one of percent, amount and remainder")
	f(split("  - {percent: 100}\n"), "g.yaml:4:5: groups[0].funds[0]: names no fund")
	f(split("  - {fund: x, remainder: no}\n"), `g.yaml:4:26: groups[0].funds[0].remainder: "no" is not true`)
	f("fund_pattern: '\\d{4}'\ngroups:\n- {id: a, fund: 0012-3}\n",
		`g.yaml:3:17: groups[0].fund: "0012-3" has not the form that fund_pattern: asks for (\d{4})`)
	f("fund_pattern: '(['\ngroups: []\n", `g.yaml:1:15: fund_pattern: "([" is not a regular expression`)
	// The order of the keys is free.
	f("groups:\n- {id: a, fund: y}\nfund_codes: [{code: x}, {code: x}]\n", `g.yaml:2:17: groups[0].fund: fund "y" is not under fund_codes:`,
		`g.yaml:3:32: fund_codes[1].code: fund "x" is already listed on line 3`)
	f("fund_codes: [{code: x, from: 2026-01-01, until: 2026-07-01}]\n"+split("  - {fund: x, percent: 100, from: 2025-12-31}\n"),
		"g.yaml:5:5: groups[0].funds[0]: fund x may be charged from 2026-01-01 on (line 1), the split begins before",
		"g.yaml:5:5: groups[0].funds[0]: fund x may be charged until 2026-07-01 (line 1), the split goes on after")
}

func TestParsePercent(t *testing.T) {
	f := func(text string, want money.Exact) {
		t.Helper()
		got, err := ParsePercent(text)
		require.NoError(t, err)
		require.True(t, want.Equal(got), "%s", got)
	}
	f("60", money.Int(60))
	f("60 %", money.Int(60))
	f("12.5", money.Ratio(25, 2))
	f("100/3", money.Ratio(100, 3))
	f("100 / 3", money.Ratio(100, 3))
	f("0.001", money.Ratio(1, 1000))
}
