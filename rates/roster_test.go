package rates

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates/money"
	"pgregory.net/rapid"
)

const goodRoster = `
precedence: [user, account]
groups:
  - id: chem
    name: Chemistry
    pi: Prof. A. Lavoisier
    department: Sciences
    contacts: [a@b.edu]
    address: |
      1 Main St
      Town
    po: 4500
    fund: 0012
    jobs:
      - {account: chem}
      - {account: ["chem_*", chemistry], cluster: h2p, until: 2025-12-31}
    allocations:
      - {name: FY26 award, meter: su, units: "10000", from: 2025-07-01, until: 2026-07-01, overdraft: bill}
      - {name: top-up, meter: su, units: 1e3, from: 2025-07-01, until: 2026-01-01, overdraft: waive}
  - id: bio
    class: external
    language: es
    jobs:
      - {user: [u1, u2], cluster: ialab}
      - {account: "chem_bio*"}
`

func loaded(t *testing.T, text string) *Roster {
	t.Helper()
	r, err := LoadRoster("groups.yaml", []byte(text))
	require.NoError(t, err)
	return r
}

func TestLoadRosterKeepsEveryField(t *testing.T) {
	r := loaded(t, goodRoster)
	require.Equal(t, []string{"user", "account"}, r.Precedence)
	require.Equal(t, "bio", r.Groups[0].ID)
	require.Equal(t, "bio", r.Groups[0].Name)
	require.Equal(t, "es", r.Groups[0].Language)
	require.Equal(t, "external", r.Groups[0].Class)
	require.Len(t, r.Groups[0].Mappings, 3)

	g := r.Group("chem")
	require.Equal(t, "internal", g.Class)
	require.Equal(t, "en", g.Language)
	require.Equal(t, "0012", g.Fund)
	require.Equal(t, "4500", g.PO)
	require.Equal(t, "1 Main St\nTown", g.Address)
	require.Equal(t, []string{"a@b.edu"}, g.Contacts)
	require.Equal(t, 4, g.Line)
	require.Len(t, g.Mappings, 3)
	require.Equal(t, Date{2025, 12, 31}, g.Mappings[2].Until)
	require.Equal(t, "chemistry", g.Mappings[2].Account)
	require.Equal(t, "h2p", g.Mappings[2].Cluster)
	require.Equal(t, 16, g.Mappings[2].Line)
	require.Equal(t, "top-up", g.Allocations[0].Name, "the one that ends first is drawn first")
	require.Equal(t, "1000", g.Allocations[0].Units.String())
	require.Equal(t, OverdraftWaive, g.Allocations[0].Overdraft)
	require.Nil(t, r.Group("none"))
}

func TestAttribute(t *testing.T) {
	r := loaded(t, goodRoster)
	f := func(a Attributes, day Date, group string, line int) {
		t.Helper()
		g, m, err := r.Attribute(a, day)
		require.NoError(t, err)
		require.Equal(t, group, g.ID)
		require.Equal(t, line, m.Line)
	}
	day, last, after := Date{2025, 11, 3}, Date{2025, 12, 30}, Date{2025, 12, 31}
	f(Attributes{Account: "chem", Cluster: "h2p"}, day, "chem", 15)
	f(Attributes{Account: "chemistry", Cluster: "h2p"}, last, "chem", 16)
	f(Attributes{Account: "chem_org", Cluster: "h2p"}, day, "chem", 16)
	f(Attributes{Account: "chem_bio", Cluster: "h2p"}, after, "bio", 25)
	f(Attributes{Account: "chem", User: "u1", Cluster: "ialab"}, day, "bio", 24)
	f(Attributes{Account: "chem", User: "u1", Cluster: "h2p"}, day, "chem", 15)

	none := func(a Attributes, day Date, message, hint string) {
		t.Helper()
		g, m, err := r.Attribute(a, day)
		require.Nil(t, g)
		require.Nil(t, m)
		require.EqualError(t, err, message)
		var e *AttributionError
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Hint(), hint)
	}
	none(Attributes{Account: "chemistry", Cluster: "h2p", User: "x"}, after,
		"no group for account=chemistry user=x cluster=h2p", "until 2025-12-31 by line 16")
	none(Attributes{Account: "Chem", Cluster: "h2p"}, day, "no group for account=Chem cluster=h2p", `line 15 of groups.yaml has account "chem"`)
	none(Attributes{User: "u1", Cluster: "h2p"}, day, "no group for user=u1 cluster=h2p", "{user: u1}")
	none(Attributes{}, day, "no group for a job without account and user", "groups.yaml")
	none(Attributes{Account: "chem_bio1", Cluster: "h2p"}, day,
		"account=chem_bio1 cluster=h2p reaches group bio (line 25) and group chem (line 16)", "without a wildcard")
}

func TestAttributeByOneAccountForEverybody(t *testing.T) {
	r := loaded(t, "groups:\n- {id: a, jobs: [{user: u1}]}\n- {id: b, jobs: [{user: \"v*\"}]}\n")
	g, _, err := r.Attribute(Attributes{Account: "default-account", User: "v9"}, Date{2025, 1, 1})
	require.NoError(t, err)
	require.Equal(t, "b", g.ID)
	require.Equal(t, []string{"user"}, r.Precedence)
}

func TestAttributeMovesWithTheDate(t *testing.T) {
	r := loaded(t, `groups:
- {id: old, jobs: [{account: lab_a, until: 2025-03-15}]}
- {id: new, jobs: [{account: lab_a, from: 2025-03-15}, {account: physics_a, from: 2025-03-15}]}
`)
	f := func(day Date, group string) {
		t.Helper()
		g, _, err := r.Attribute(Attributes{Account: "lab_a"}, day)
		require.NoError(t, err)
		require.Equal(t, group, g.ID)
	}
	f(Date{2025, 3, 14}, "old")
	f(Date{2025, 3, 15}, "new")
	require.Equal(t, []Date{{2025, 3, 15}}, r.Boundaries())
}

func TestAttributeWholeCluster(t *testing.T) {
	r := loaded(t, "precedence: [account]\ngroups:\n- {id: a, jobs: [{account: x}]}\n- {id: rest, jobs: [{cluster: c1}]}\n")
	g, _, err := r.Attribute(Attributes{Account: "y", Cluster: "c1"}, Date{2025, 1, 1})
	require.NoError(t, err)
	require.Equal(t, "rest", g.ID)
}

func TestLoadRosterRefuses(t *testing.T) {
	f := func(text string, faults ...string) {
		t.Helper()
		r, err := LoadRoster("g.yaml", []byte(text))
		require.Nil(t, r)
		var got Faults
		require.True(t, errors.As(err, &got), "%v", err)
		var lines []string
		for _, fault := range got {
			line := fault.Error()
			if fault.Hint() != "" {
				line += " | " + fault.Hint()
			}
			lines = append(lines, line)
		}
		require.Equal(t, strings.Join(faults, "\n"), strings.Join(lines, "\n"))
	}
	f("", `g.yaml: is empty`)
	f("# nothing\n", `g.yaml: is empty`)
	f("groups: [", `g.yaml:1:9: a { } or [ ] that begins here or above is not closed | look for a lost quote, comma, } or ]`)
	f("precedence: [user]\n", `g.yaml:1:1: groups: is missing | list the groups that are billed under groups:`)
	f("- a\n", "g.yaml:1:1: is not a mapping of names to values | write  name: value  pairs, one of precedence, fund_pattern, fund_codes, groups",
		`g.yaml:1:1: groups: is missing | list the groups that are billed under groups:`)
	f("groups: []\n---\ngroups: []\n", `g.yaml:2:1: a second document begins here | keep one document in a file: remove the --- line`)
	f("group: []\ngroups: []\n", `g.yaml:1:1: group: unknown key "group" | did you mean groups?`)
	f("groups: []\ngroups: []\n", `g.yaml:2:1: groups: is given twice, first on line 1 | keep one of the two`)
	f("groups:\n- {id: a, nmae: x}\n", `g.yaml:2:11: groups[0].nmae: unknown key "nmae" | did you mean name?`)
	f("groups:\n- {name: x}\n", `g.yaml:2:3: groups[0].id: is missing | every group needs an id, such as its account`)
	f("groups:\n- {id: a}\n- {id: A}\n", `g.yaml:3:8: groups[1].id: group "A" is already defined on line 2 | merge the two, or give one another id (ids that differ only in case count as one)`)
	f("groups:\n- {id: ../a}\n", `g.yaml:2:8: groups[0].id: "../a" cannot be an id | use up to 64 letters, digits and . _ @ + - , beginning with a letter or a digit; name: takes any text`)
	f("groups:\n- {id: null}\n", `g.yaml:2:8: groups[0].id: null is YAML's word for nothing | write "null" in quotes if that is the name, or remove the key`)
	f("groups:\n- {id: a, jobs: [{account: }]}\n", `g.yaml:2:28: groups[0].jobs[0].account: is empty | give it a value or remove the key`)
	f("groups:\n- {id: a, jobs: [{account: []}]}\n", `g.yaml:2:28: groups[0].jobs[0].account: is an empty list | leave the field out to match every value`)
	f("groups:\n- {id: a, jobs: [{from: 2025-01-01}]}\n", `g.yaml:2:18: groups[0].jobs[0]: names no field of a job | name at least one of account, user, wckey, qos, partition, cluster`)
	f("groups:\n- {id: a, jobs: [{account: x, until: 2025-02-30}]}\n", `g.yaml:2:38: groups[0].jobs[0].until: "2025-02-30" is not a date such as 2026-03-31 | write year-month-day, a day that exists`)
	f("groups:\n- {id: a, jobs: [{account: x, from: 2025-02-03, until: 2025-02-03}]}\n", `g.yaml:2:18: groups[0].jobs[0]: holds from 2025-02-03 until 2025-02-03, which is no day | until is the first day on which it no longer holds`)
	f("groups:\n- {id: a, contacts: [x], language: fr, class: a b}\n",
		`g.yaml:2:22: groups[0].contacts: "x" is not a mail address | write it as name@example.edu`,
		`g.yaml:2:36: groups[0].language: unknown language "fr" | one of en, es`,
		`g.yaml:2:47: groups[0].class: "a b" is not a single word | write a word such as internal, external or industry`)
	f("groups:\n- {id: a, pi: \"x\\ny\"}\n", `g.yaml:2:15: groups[0].pi: has a line break or a control character | write it on one line`)
	f("precedence: [usr, user, user]\ngroups: []\n", `g.yaml:1:14: precedence[0]: "usr" is no kind of mapping | did you mean user?`,
		`g.yaml:1:25: precedence[2]: "user" is listed twice`)
}

func TestLoadRosterRefusesTwoClaims(t *testing.T) {
	f := func(text, fault, hint string) {
		t.Helper()
		_, err := LoadRoster("g.yaml", []byte(text))
		var got Faults
		require.True(t, errors.As(err, &got), "%v", err)
		require.Len(t, got, 1)
		require.Equal(t, fault, got[0].Error())
		require.Contains(t, got[0].Hint(), hint)
	}
	f("groups:\n- {id: a, jobs: [{account: x}]}\n- {id: b, jobs: [{account: x, cluster: c}]}\n",
		"g.yaml:3:18: jobs: account x reaches group b here and group a by line 2", "part them by cluster")
	f("groups:\n- {id: a, jobs: [{account: x, cluster: \"c*\"}]}\n- {id: b, jobs: [{account: [w, x], cluster: c1}]}\n",
		"g.yaml:3:18: jobs: account x reaches group b here and group a by line 2", "")
	f("groups:\n- id: a\n  jobs:\n  - {account: x}\n  - {account: x, from: 2025-01-01}\n",
		"g.yaml:5:5: jobs: account x reaches group a already by line 4", "remove one")
	f("groups:\n- {id: a, jobs: [{account: x, until: 2025-03-02}]}\n- {id: b, jobs: [{account: x, from: 2025-03-01}]}\n",
		"g.yaml:3:18: jobs: account x reaches group b here and group a by line 2", "")
	f("groups:\n- {id: a, jobs: [{account: x}]}\n- {id: b, jobs: [{user: u}]}\n",
		"g.yaml:3:18: jobs: goes by user where line 2 goes by account, and no order between them is declared", "precedence: [user, account]")
	f("groups:\n- {id: a, jobs: [{account: x}]}\n- {id: b, jobs: [{account: x, user: u}]}\n",
		"g.yaml:3:18: jobs: goes by user and account where line 2 goes by account, and no order between them is declared", "precedence: [user, account]")
	f("precedence: [user]\ngroups:\n- {id: a, jobs: [{account: x}]}\n",
		"g.yaml:3:18: jobs: goes by account, which precedence: does not list", "add it")
}

func TestLoadRosterAcceptsClaimsThatAreApart(t *testing.T) {
	f := func(text string) {
		t.Helper()
		loaded(t, text)
	}
	f("groups:\n- {id: a, jobs: [{account: x, cluster: c1}]}\n- {id: b, jobs: [{account: x, cluster: c2}]}\n")
	f("groups:\n- {id: a, jobs: [{account: x, until: 2025-03-01}]}\n- {id: b, jobs: [{account: x, from: 2025-03-01}]}\n")
	f("precedence: [user, account]\ngroups:\n- {id: a, jobs: [{account: x}]}\n- {id: b, jobs: [{account: x, user: u}]}\n")
	f("groups:\n- {id: a, jobs: [{account: \"x*\"}]}\n- {id: b, jobs: [{account: xy}]}\n")
	f("groups:\n- id: a\n  name:\n  pi:\n  po: \"\"\n  fund:\n  contacts:\n  address:\n  jobs:\n  allocations:\n")
	f("groups:\n- &a {id: a, class: external}\n- {<<: *a, id: b}\n")
	f("groups: []\n")
}

func TestLoadRosterAllocationFaults(t *testing.T) {
	f := func(allocation, fault string) {
		t.Helper()
		_, err := LoadRoster("g.yaml", []byte("groups:\n- id: a\n  allocations:\n  - "+allocation+"\n"))
		require.Error(t, err)
		require.Contains(t, err.Error(), fault)
	}
	f("{name: n, meter: su, from: 2025-01-01, until: 2026-01-01}", "g.yaml:4:5: groups[0].allocations[0].units: is missing")
	f("{name: n, meter: su, units: -1, from: 2025-01-01, until: 2026-01-01}", "-1 units are fewer than none")
	f("{name: n, meter: su, units: 0x10, from: 2025-01-01, until: 2026-01-01}", `not a decimal number: "0x10"`)
	f("{name: n, meter: su, units: 1, from: 2026-01-01, until: 2026-01-01}", "which is no day")
	f("{name: n, meter: su, units: 1, from: 2025-01-01, until: 2026-01-01, overdraft: stop}", `unknown overdraft "stop"`)
	f("{name: n, meter: su, units: 1, from: 2025-01-01, until: 2026-01-01}\n  - {name: n, meter: su, units: 1, from: 2026-01-01, until: 2027-01-01}",
		`g.yaml:5: groups[0].allocations: allocation "n" is already defined on line 4`)
}

func TestLoadRosterMovements(t *testing.T) {
	f := func(movements, fault string) {
		t.Helper()
		_, err := LoadRoster("g.yaml", []byte("groups:\n- id: a\n  allocations:\n  - {name: n, meter: su, units: 1, from: 2025-01-01, until: 2026-01-01,\n     "+movements+"}\n"))
		require.Error(t, err)
		require.Contains(t, err.Error(), fault)
	}
	f("deposits: [{date: 2026-01-01, units: 5}]", "g.yaml:5: groups[0].allocations[0].deposits: 2026-01-01 is outside the days of the allocation, 2025-01-01 to 2025-12-31")
	f("refunds: [{date: 2024-12-31, units: 5}]", "refunds: 2024-12-31 is outside the days")
	f("deposits: [{date: 2025-02-30, units: 5}]", `"2025-02-30" is not a date`)
	f("deposits: [{date: 2025-02-03}]", "g.yaml:5:17: groups[0].allocations[0].deposits[0].units: is missing")
	f("deposits: [{units: 5}]", "deposits[0].date: is missing")
	f("refunds: [{date: 2025-02-03, units: 0}]", "refunds[0].units: are none")
	f("refunds: [{date: 2025-02-03, units: -5}]", "-5 units are fewer than none")
	f("deposits: [{date: 2025-02-03, units: 5, note: x}]", "note")
	f("deposits: [tomorrow]", "deposits[0]")
	f(`deposits: ["2025-02-03 x"]`, `not a decimal number: "x"`)

	g := loaded(t, "groups:\n- id: a\n  allocations:\n  - {name: n, meter: su, units: 1, from: 2025-01-01, until: 2026-01-01, overdraft: warn,\n"+
		"     refunds: [{date: 2025-03-01, units: 2}], deposits: [{date: 2025-03-01, units: \"2.5\", reference: PO 47}, 2025-02-01 3 order of May]}\n").Groups[0]
	a := g.Allocations[0]
	require.Equal(t, OverdraftWarn, a.Overdraft)
	require.Equal(t, []Movement{
		{Date{2025, 2, 1}, money.Int(3), "order of May", 5}, {Date{2025, 3, 1}, money.Ratio(5, 2), "PO 47", 5}, {Date{2025, 3, 1}, money.Int(-2), "", 5},
	}, a.Movements)
	require.Equal(t, "3", a.MovedBefore(Date{2025, 3, 1}).String())
	require.Equal(t, "3.5", a.MovedBefore(Date{2025, 3, 2}).String())
}

func TestGlob(t *testing.T) {
	f := func(pattern, text string, want bool) {
		t.Helper()
		require.Equal(t, want, globMatches(pattern, text))
	}
	f("*", "", true)
	f("a*", "a", true)
	f("a*b*c", "aXbYc", true)
	f("a*b*c", "aXbY", false)
	f("?", "é", true)
	f("?", "", false)
	f("*_x", "a_x_x", true)
	f("preempt*", "preempt_ndr", true)
	f("preempt*", "ndr_preempt", false)
	f("a/*", "a/b/c", true)
}

// Attribution agrees with a search through every mapping, whatever the order
// of groups and rules.
func TestAttributeAgreesWithSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"a", "b", "ab", "a*", "*b", "?"})
		var b strings.Builder
		b.WriteString("precedence: [user, account]\ngroups:\n")
		for i := range rapid.IntRange(1, 4).Draw(t, "groups") {
			fmt.Fprintf(&b, "- id: g%d\n  jobs:\n", i)
			for range rapid.IntRange(1, 3).Draw(t, "rules") {
				kind := rapid.SampledFrom([]string{"user", "account"}).Draw(t, "kind")
				fmt.Fprintf(&b, "  - {%s: %q, from: 2025-0%d-01}\n", kind, word.Draw(t, "value"), rapid.IntRange(1, 3).Draw(t, "month"))
			}
		}
		r, err := LoadRoster("g.yaml", []byte(b.String()))
		if err != nil {
			t.Skip("rules that clash")
		}
		a := Attributes{User: rapid.SampledFrom([]string{"", "a", "b", "ab"}).Draw(t, "user"), Account: rapid.SampledFrom([]string{"", "a", "b", "ab"}).Draw(t, "account")}
		day := Date{2025, rapid.IntRange(1, 3).Draw(t, "m"), 2}
		g, _, err := r.Attribute(a, day)
		want := search(r, a, day)
		if len(want) == 1 {
			require.NoError(t, err)
			require.True(t, want[g.ID])
		} else {
			var e *AttributionError
			require.ErrorAs(t, err, &e)
			require.Equal(t, len(want) > 1, e.Ambiguous())
		}
	})
}

// search gives the groups of the strongest class of mapping that matches.
func search(r *Roster, a Attributes, day Date) map[string]bool {
	for _, kind := range []string{"user", "account"} {
		for _, wild := range []bool{false, true} {
			groups := map[string]bool{}
			for _, g := range r.Groups {
				for _, m := range g.Mappings {
					v := m.field(kind)
					if v != "" && isGlob(v) == wild && m.matches(&a, day) {
						groups[g.ID] = true
					}
				}
			}
			if len(groups) > 0 {
				return groups
			}
		}
	}
	return nil
}

func FuzzLoadRoster(f *testing.F) {
	f.Add([]byte(goodRoster))
	f.Add([]byte("groups: &a [*a]"))
	f.Add([]byte("groups:\n- &a {<<: [*a, *a], id: b}\n"))
	f.Add([]byte("groups:\n- {id: a, jobs: [{account: *x}]}\n"))
	f.Add([]byte("? [a]\n: b\n"))
	f.Add([]byte(splitRoster))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := LoadRoster("g.yaml", text)
		if err != nil {
			var faults Faults
			require.ErrorAs(t, err, &faults)
			require.NotEmpty(t, faults)
			require.Nil(t, r)
			return
		}
		for _, g := range r.Groups {
			require.Same(t, g, r.Group(g.ID))
			for _, m := range g.Mappings {
				if !isGlob(m.Account + m.User + m.WCKey + m.QoS + m.Partition + m.Cluster) {
					day := m.From
					if day.IsZero() && !m.Until.IsZero() {
						day = Date{1, 1, 1}
					}
					_, _, err := r.Attribute(Attributes{m.Cluster, m.Account, m.User, m.WCKey, m.QoS, m.Partition}, day)
					if err != nil && !err.(*AttributionError).Ambiguous() {
						t.Fatalf("line %d does not reach its own group: %v", m.Line, err)
					}
				}
			}
		}
	})
}

func TestParseAttributes(t *testing.T) {
	f := func(text string, ok bool, want Attributes) {
		t.Helper()
		got, isOK := ParseAttributes(text)
		require.Equal(t, ok, isOK, text)
		require.Equal(t, want, got, text)
	}
	f("account=chem user=u1 cluster=h2p", true, Attributes{Account: "chem", User: "u1", Cluster: "h2p"})
	f("wckey=a=b qos=low partition=cpu", true, Attributes{WCKey: "a=b", QoS: "low", Partition: "cpu"})
	f("a job without account and user", false, Attributes{})
	f("account=two words", false, Attributes{})
	f("group=x", false, Attributes{})
	f("", false, Attributes{})
}
