package rates

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const csvText = "\ufeffid,name,pi,department,class,contacts,address,po,language,account,user,cluster,until,fund,percent,remainder,allocation,meter,units,allocation_from,allocation_until,precedence,deposits,refunds\r\n" +
	"chem,\"Chemistry, all\",P. I.,Science,internal,a@b.edu;c@d.edu,,0047,,chem,,,,0012-345,60,,FY26,su,1e4,2025-07-01,2026-07-01,user;account,2025-08-01 5 PO 9;2025-09-01 6,2025-10-01 1\r\n" +
	"chem,,,,,,,,,chem_*;chemistry,,h2p,2025-12-31,0044,,true,,,,,,,,\r\n" +
	",,,,,,,,,,,,,,,,,,,,,,,\r\n" +
	"0012,Biology,,,external,,\"1 Road\nTown\",,es,,u1,,,0099,,,,,,,,,,\r\n"

const csvAsYAML = `precedence: [user, account]
groups:
  - id: chem
    name: Chemistry, all
    pi: P. I.
    department: Science
    class: internal
    contacts: [a@b.edu, c@d.edu]
    po: "0047"
    jobs: [{account: chem}, {account: ["chem_*", chemistry], cluster: h2p, until: 2025-12-31}]
    funds: [{fund: 0012-345, percent: 60}, {fund: "0044", remainder: true}]
    allocations: [{name: FY26, meter: su, units: 1e4, from: 2025-07-01, until: 2026-07-01, deposits: [{date: 2025-08-01, units: 5, reference: PO 9}, {date: 2025-09-01, units: 6}], refunds: [{date: 2025-10-01, units: 1}]}]
  - {id: "0012", name: Biology, class: external, address: "1 Road\nTown", language: es, jobs: [{user: u1}], fund: "0099"}
`

func TestRosterCSVIsTheSame(t *testing.T) {
	r, err := LoadRoster("groups.CSV", []byte(csvText))
	require.NoError(t, err)
	want := loaded(t, csvAsYAML)
	require.Equal(t, want.Precedence, r.Precedence)
	require.Equal(t, len(want.Groups), len(r.Groups))
	for i, g := range r.Groups {
		w := want.Groups[i]
		for _, m := range append(g.Mappings, w.Mappings...) {
			m.Line, m.Column, m.group = 0, 0, nil
		}
		for _, s := range append(g.Funds, w.Funds...) {
			s.Line, s.Column = 0, 0
		}
		for _, a := range append(g.Allocations, w.Allocations...) {
			a.Line = 0
			for i := range a.Movements {
				a.Movements[i].Line = 0
			}
		}
		g.Line, w.Line = 0, 0
		require.Equal(t, w, g)
	}
	require.Equal(t, []byte(csvText), r.Text)
	_, err = LoadRoster("g.csv", []byte("id;account\nchem;\"chem_*;chemistry\"\n"))
	require.NoError(t, err)
}

func TestRosterCSVFaults(t *testing.T) {
	f := func(text string, faults ...string) {
		t.Helper()
		_, err := LoadRoster("g.csv", []byte(text))
		var got Faults
		require.ErrorAs(t, err, &got)
		var lines []string
		for _, fault := range got {
			lines = append(lines, fault.Error())
		}
		require.Equal(t, faults, lines)
	}
	f("", "g.csv: is empty")
	f("id,acount\n", "g.csv:1: acount: unknown column")
	f("id,id,name\n", "g.csv:1: id: the column occurs twice")
	f("name\nx\n", "g.csv:1: id: the column is missing")
	f("id,name\n,x\n", "g.csv:2: id: is empty")
	f("id,name\na,x,y\n", `g.csv:2:5: there is a cell beyond the last column: "y"`)
	f("id,name\na,x\na,y\n", `g.csv:3:3: name: "y" here, "x" on line 2`)
	f("id,name\na,\"x\n", `g.csv:2: extraneous or missing " in quoted-field`)
	f("id,name\na,\xff\n", "g.csv:2: is not UTF-8")
	f("id,name,language\n../a,x,fr\n", `g.csv:2:1: id: "../a" cannot be an id`, `g.csv:2:8: language: unknown language "fr"`)
	f("id,account,until\na,x,31.12.2025\n", `g.csv:2:5: until: "31.12.2025" is not a date such as 2026-03-31`)
	f("id,account,until\na,,2025-12-31\n", "g.csv:2:4: until: is of an entry that the row does not have")
	f("id,account\na,x\nb,x\n", "g.csv:3:3: jobs: account x reaches group b here and group a by line 2")
	f("id,fund,percent\na,x,60\na,y,39\n", "g.csv:2:3: funds: the percentages total 99, not 100, on all days")
	f("id,fund,percent\na,x,1/0\n", `g.csv:2:5: percent: "1/0" is not a fraction`)
	f("id,account,user\na,x,\nb,,u\n", "g.csv:3:4: jobs: goes by user where line 2 goes by account, and no order between them is declared")
	f("id,precedence\na,user\nb,account\n", `g.csv:3:3: precedence: "account" here, "user" on line 2`)
	f("id,allocation,meter\na,FY26,su\n", "g.csv:2:3: units: is missing", "g.csv:2:3: from: is missing", "g.csv:2:3: until: is missing")
}

func FuzzRosterCSV(f *testing.F) {
	f.Add([]byte(csvText))
	f.Add([]byte("id;fund;percent\na;x;100/3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := LoadRoster("g.csv", text)
		if err != nil {
			var faults Faults
			require.ErrorAs(t, err, &faults)
			require.NotEmpty(t, faults)
			return
		}
		for _, g := range r.Groups {
			require.Same(t, g, r.Group(g.ID))
		}
	})
}
