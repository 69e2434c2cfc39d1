package rates

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const header = "Cluster|Account|User|Partition|Share|Priority|GrpJobs|GrpTRES|GrpSubmit|GrpWall|GrpTRESMins|MaxJobs|MaxTRES|MaxTRESPerNode|MaxSubmit|MaxWall|MaxTRESMins|QOS|Def QOS|GrpTRESRunMins\n"

func imported(t testing.TB, texts ...string) (string, []string) {
	t.Helper()
	var files []ImportFile
	for _, text := range texts {
		files = append(files, ImportFile{Name: "assoc.txt", Text: []byte(text)})
	}
	text, notes, err := ImportRoster(files)
	require.NoError(t, err)
	again, _, err := ImportRoster(files)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
	return string(text), notes
}

// groupsOf gives the body of an imported roster.
func groupsOf(text string) string {
	_, body, _ := strings.Cut(text, "groups:\n")
	return body
}

func TestImportRosterOfDefaultColumns(t *testing.T) {
	row := func(account, user string) string {
		return "lab|" + account + "|" + user + strings.Repeat("|", 17) + "\n"
	}
	text, notes := imported(t, header+row("root", "")+row("root", "root")+row("bio", "")+row("bio", "u3")+row("bio", "u1")+row("bio", "u3")+
		row("null", "")+row("0012", "")+row("r&d", "")+row("R-D", "u9"))
	require.Equal(t, `
  - id: bio
    jobs: [{account: bio}]
    # users: u3, u1

  - id: "null"
    jobs: [{account: "null"}]
    # no users

  - id: "0012"
    jobs: [{account: "0012"}]
    # no users

  - id: r-d
    jobs: [{account: "r&d"}]
    # no users

  - id: R-D-2
    jobs: [{account: R-D}]
    # users: u9
`, groupsOf(text))
	require.Equal(t, []string{"accounts that are groups: 5", "jobs of the account root reach no group: it is left out"}, notes)
	g, _, err := loaded(t, text).Attribute(Attributes{Account: "0012", User: "x", Cluster: "lab"}, Date{2026, 1, 1})
	require.NoError(t, err)
	require.Equal(t, "0012", g.ID)
}

func TestImportRosterKnowsParents(t *testing.T) {
	const want = `
  # science has accounts below it and no users: no job is its own

  - id: bio
    # department: science
    jobs: [{account: bio}]
    # clusters: a, b
    # users: u1, u2
`
	text, notes := imported(t, "Cluster|Account|Par Name|User|\na|root|||\na|science|root||\na|bio|science||\na|bio||u1|\nb|bio|science||\nb|bio||u2|\n")
	require.Equal(t, want, groupsOf(text))
	require.Equal(t, []string{"accounts that are groups: 1", "accounts above others, without users, that are left out: 1"}, notes)
	text, _ = imported(t, "Account|User|Lineage|Cluster\r\nroot||/root/|a\r\nscience||/root/science/|a\r\nbio||/root/science/bio/|a\r\nbio|u1|/root/science/bio/0-u1/|a\r\n"+
		"bio|u2|/root/science/bio/0-u2/p/|b\r\n")
	require.Equal(t, want, groupsOf(text))
}

func TestImportRosterOfADump(t *testing.T) {
	text, _ := imported(t, `# To edit this file start with a cluster line for the new cluster
QOS - 'normal':Description='Normal QOS default':UsageFactor=1.000000
Cluster - 'lab':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'science':Description='the sciences':Organization='univ':Fairshare=1
Parent - 'science'
Account - 'bio':Description='Biology: wet & "dry"':Organization='science':GrpTRES=cpu=10,gres/gpu:a100=4:Fairshare=2147483647
Parent - 'bio'
User - 'alice':DefaultAccount='bio':Coordinator='bio,chem':Fairshare=1
User - 'bob':Partition='gpu':DefaultAccount='bio'
Parent - 'science'
Account - 'chem':Description='chem':Organization='science'
`)
	require.Equal(t, `
  # science has accounts below it and no users: no job is its own

  - id: bio
    name: "Biology: wet & \"dry\""
    # department: science
    # organization: science
    # coordinators: alice
    jobs: [{account: bio}]
    # users: alice, bob

  - id: chem
    # department: science
    # organization: science
    # coordinators: alice
    jobs: [{account: chem}]
    # no users
`, groupsOf(text))
	require.Equal(t, `Biology: wet & "dry"`, loaded(t, text).Group("bio").Name)
}

func TestImportRosterRefuses(t *testing.T) {
	f := func(text string, fault string) {
		t.Helper()
		_, _, err := ImportRoster([]ImportFile{{Name: "a.txt", Text: []byte(text)}})
		var faults Faults
		require.ErrorAs(t, err, &faults)
		require.Equal(t, fault, err.Error())
	}
	f("", "a.txt: names no account")
	f("# nothing\n", "a.txt: names no account")
	f(header, "a.txt: names no account")
	f("lab|bio||\n", "a.txt:1: is not the line of names of sacctmgr show assoc -P, nor of a sacctmgr dump")
	f("Cluster|Account|User\nlab|bio\nlab|a|b|c\n", "a.txt:2: has 2 cells, the line of names 3\na.txt:3: has 4 cells, the line of names 3")
	f("JobID|Account|User\n1|a|b\n", "a.txt:1: is a dump of jobs")
	f("Account\n\xff\n", "a.txt: is not UTF-8 text")
	f("Cluster - 'lab'\nAccount - 'a':Description='x\nnonsense\n", "a.txt:2: a quote is not closed\n"+`a.txt:3: "nonsense" is no line of a sacctmgr dump`)
	_, _, err := ImportRoster(nil)
	require.EqualError(t, err, "no account is shown")
}

func TestImportRosterLeavesOutWhatARuleCannotSay(t *testing.T) {
	text, notes := imported(t, "Account|User\nlab*|u\nok|u\n")
	require.Contains(t, text, `# decide: "lab*" cannot be written as a rule`)
	require.Equal(t, []string{"accounts that are groups: 1", `"lab*" is left out: its name means something else in a rule`}, notes)
	text, _ = imported(t, "Account|User\nroot|u\n")
	require.Contains(t, text, "groups:\n  []\n")
}

func TestImportRosterOfARealSlurm(t *testing.T) {
	text, err := os.ReadFile("../../shared/data/slurm-lab/assoc.txt")
	if err != nil {
		t.Skip("external test data not present")
	}
	out, notes := imported(t, string(text))
	require.Equal(t, "accounts that are groups: 4", notes[0])
	r := loaded(t, out)
	for account, user := range map[string]string{"bio": "labu3", "default-account": "labu4", "physics": "labu1", "astro": "labu2"} {
		g, _, err := r.Attribute(Attributes{Account: account, User: user, Cluster: "lab"}, Date{2025, 11, 1})
		require.NoError(t, err)
		require.Equal(t, account, g.ID)
		require.Contains(t, out, "# users: "+user)
	}
}

func FuzzImportRoster(f *testing.F) {
	f.Add([]byte(header + "lab|bio|u" + strings.Repeat("|", 17) + "\n"))
	f.Add([]byte("Account|Lineage|User\na|/root/b/a/|\n"))
	f.Add([]byte("Cluster - 'lab'\nParent - 'root'\nAccount - 'a':Description='x'\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		out, _, err := ImportRoster([]ImportFile{{Name: "a", Text: text}})
		if err != nil {
			require.NotContains(t, err.Error(), "BUG")
			return
		}
		_, err = LoadRoster("g.yaml", out)
		require.NoError(t, err)
	})
}
