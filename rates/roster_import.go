package rates

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ImportRoster makes a roster of the accounts that Slurm knows: of what
// sacctmgr show assoc -P prints, or of the file that sacctmgr dump writes, told
// by content. Every account is a group that its jobs reach; root and accounts
// that have accounts below them and no users are left out, and said. What a
// person must fill in, and what helps to, stands in comments: the parent as the
// department, coordinators as those who may be the PI, the users. The roster
// passes LoadRoster.
//
// The error is Faults where the files have them, each with its line: then
// there is no roster. The same files give the same bytes.
func ImportRoster(files []ImportFile) (text []byte, notes []string, err error) {
	r := &rosterImport{byName: map[string]*slurmAccount{}}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		r.read(f)
	}
	if len(r.accounts) == 0 && len(r.faults) == 0 {
		r.faults = append(r.faults, Fault{Message: "no account is shown", Remedy: "add what  sacctmgr show assoc -P  prints"})
	}
	if len(r.faults) > 0 {
		return nil, nil, r.faults
	}
	text, notes = r.write(names)
	if _, err := LoadRoster("groups.yaml", text); err != nil {
		return nil, nil, fmt.Errorf("BUG: the roster made of %s does not load: %w", strings.Join(names, ", "), err)
	}
	return text, notes, nil
}

// rosterImport is one import: what was read, and what is wrong with it.
type rosterImport struct {
	accounts []*slurmAccount // in the order in which the files name them
	byName   map[string]*slurmAccount
	faults   Faults
}

// slurmAccount is an account over all clusters that have it.
type slurmAccount struct {
	name                       string
	description, organization  string
	parents                    []string
	clusters                   []string
	users, coordinators        []string
	hasChildren, parentIsKnown bool
}

const rootAccount = "root"

func (r *rosterImport) fault(f ImportFile, line int, message, remedy string) {
	r.faults = append(r.faults, Fault{File: f.Name, Line: line, Message: message, Remedy: remedy})
}

func (r *rosterImport) read(f ImportFile) {
	before := len(r.faults)
	text := strings.TrimPrefix(string(f.Text), "\ufeff")
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		r.fault(f, 0, "is not UTF-8 text", "save what sacctmgr prints as it is")
		return
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for _, line := range lines {
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
			continue
		case dumpLine.MatchString(line):
			r.readDump(f, lines)
		default:
			r.readAssociations(f, lines)
		}
		break
	}
	if len(r.faults) == before && len(r.accounts) == 0 {
		r.fault(f, 0, "names no account", "add what  sacctmgr show assoc -P  prints")
	}
}

// account finds an account, or begins it.
func (r *rosterImport) account(name string) *slurmAccount {
	a := r.byName[name]
	if a == nil {
		a = &slurmAccount{name: name}
		r.byName[name] = a
		r.accounts = append(r.accounts, a)
	}
	return a
}

func (r *rosterImport) setParent(a *slurmAccount, parent string) {
	if parent == "" {
		return
	}
	a.parentIsKnown = true
	a.parents = addOnce(a.parents, parent)
	r.account(parent).hasChildren = true
}

func addOnce(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// readAssociations reads the answer of sacctmgr show assoc -P (or -p): a line
// of names, then one for each association, which is an account's own where the
// user is empty.
func (r *rosterImport) readAssociations(f ImportFile, lines []string) {
	var columns map[string]int
	width := 0
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		cells := strings.Split(line, "|")
		if columns == nil {
			if strings.Contains(strings.ToLower(line), "jobid") {
				r.fault(f, i+1, "is a dump of jobs", "ask for the accounts:  sacctmgr show assoc -P")
				return
			}
			if columns = associationColumns(cells); columns == nil {
				r.fault(f, i+1, "is not the line of names of sacctmgr show assoc -P, nor of a sacctmgr dump",
					"ask again with -P and without -n (--noheader); the column Account is needed")
				return
			}
			width = len(cells)
			continue
		}
		if len(cells) != width {
			r.fault(f, i+1, fmt.Sprintf("has %d cells, the line of names %d", len(cells), width), "a name with a | in it cannot be told apart: use sacctmgr dump")
			continue
		}
		r.association(columns, cells)
	}
}

// associationColumns finds the columns by their names; nil without an account.
func associationColumns(cells []string) map[string]int {
	names := map[string]string{
		"cluster": "cluster", "account": "account", "user": "user", "parentname": "parent", "par name": "parent", "lineage": "lineage",
	}
	columns := map[string]int{}
	for i, cell := range cells {
		if name, known := names[strings.ToLower(strings.TrimSpace(cell))]; known {
			columns[name] = i
		}
	}
	if _, ok := columns["account"]; !ok {
		return nil
	}
	return columns
}

func (r *rosterImport) association(columns map[string]int, cells []string) {
	cell := func(name string) string {
		if i, ok := columns[name]; ok {
			return strings.TrimSpace(cells[i])
		}
		return ""
	}
	name := cell("account")
	if name == "" {
		return // a cluster's own line
	}
	a := r.account(name)
	a.clusters = addOnce(a.clusters, cell("cluster"))
	a.users = addOnce(a.users, cell("user"))
	if cell("user") != "" {
		return // its parent is the account itself
	}
	parent := cell("parent")
	if path := strings.Split(strings.Trim(cell("lineage"), "/"), "/"); parent == "" && len(path) > 1 {
		parent = path[len(path)-2]
	}
	r.setParent(a, parent)
}

// dumpLine is a line of a sacctmgr dump: a kind, a name, options.
var dumpLine = regexp.MustCompile(`^(QOS|Cluster|Parent|Account|User|WCKey|Resource|Coordinator) - ['"]?`)

// readDump reads the file of sacctmgr dump: after each Parent the accounts and
// users below it.
func (r *rosterImport) readDump(f ImportFile, lines []string) {
	cluster, parent := "", ""
	for i, line := range lines {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		kind, rest, ok := strings.Cut(line, " - ")
		if !ok || !dumpLine.MatchString(line) {
			r.fault(f, i+1, fmt.Sprintf("%.60q is no line of a sacctmgr dump", line), "write the file anew with  sacctmgr dump CLUSTER file=FILE")
			continue
		}
		options, ok := dumpOptions(rest)
		if !ok {
			r.fault(f, i+1, "a quote is not closed", "write the file anew with  sacctmgr dump CLUSTER file=FILE")
			continue
		}
		name := options[""]
		if name == "" || kind == "User" && parent == "" {
			r.fault(f, i+1, fmt.Sprintf("%.60q names no account", line), "write the file anew with  sacctmgr dump CLUSTER file=FILE")
			continue
		}
		switch kind {
		case "Cluster":
			cluster = name
		case "Parent":
			parent = name
		case "Account":
			a := r.account(name)
			a.description, a.organization = options["description"], options["organization"]
			a.clusters = addOnce(a.clusters, cluster)
			r.setParent(a, parent)
		case "User":
			a := r.account(parent)
			a.clusters = addOnce(a.clusters, cluster)
			a.users = addOnce(a.users, name)
			for _, coordinated := range strings.Split(options["coordinator"], ",") {
				if coordinated = strings.TrimSpace(coordinated); coordinated != "" {
					c := r.account(coordinated)
					c.coordinators = addOnce(c.coordinators, name)
				}
			}
		}
	}
}

// dumpOptions reads 'name':Key='value':Key=value. The name is under "", keys
// are in small letters. A colon in quotes is part of a value; one in a typed
// GRES tears a value that nothing here reads.
func dumpOptions(text string) (options map[string]string, ok bool) {
	options = map[string]string{}
	var part strings.Builder
	quote := rune(0)
	keep := func() {
		key, value, pair := strings.Cut(part.String(), "=")
		if !pair {
			key, value = "", part.String()
		}
		if _, seen := options[strings.ToLower(key)]; !seen {
			options[strings.ToLower(key)] = value
		}
		part.Reset()
	}
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == ':':
			keep()
		default:
			part.WriteRune(c)
		}
	}
	keep()
	return options, quote == 0
}

// write gives the roster, a group for each account in the order of the files.
func (r *rosterImport) write(names []string) (text []byte, notes []string) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# The groups that are billed, made of %s: review them, give each\n", commentText(strings.Join(names, ", ")))
	b.WriteString("# its name, class, department and fund, and join those that are billed together.\ngroups:\n")
	ids := map[string]bool{}
	groups, parents := 0, 0
	for _, a := range r.accounts {
		switch {
		case a.name == rootAccount:
			continue
		case a.hasChildren && len(a.users) == 0:
			parents++
			fmt.Fprintf(&b, "\n  # %s has accounts below it and no users: no job is its own\n", commentText(a.name))
			continue
		case isGlob(a.name) || a.name != strings.TrimSpace(a.name) || strings.ContainsFunc(a.name, unicode.IsControl):
			fmt.Fprintf(&b, "\n  %s%s cannot be written as a rule: find one that its jobs fit\n", DecideMark, strconv.Quote(a.name))
			notes = append(notes, fmt.Sprintf("%s is left out: its name means something else in a rule", strconv.Quote(a.name)))
			continue
		}
		groups++
		a.write(&b, groupIDOf(a.name, ids))
	}
	if groups == 0 {
		b.WriteString("  []\n")
	}
	notes = append([]string{fmt.Sprintf("accounts that are groups: %d", groups)}, notes...)
	if parents > 0 {
		notes = append(notes, fmt.Sprintf("accounts above others, without users, that are left out: %d", parents))
	}
	if root := r.byName[rootAccount]; root != nil && len(root.users) > 0 {
		notes = append(notes, "jobs of the account root reach no group: it is left out")
	}
	return b.Bytes(), notes
}

func (a *slurmAccount) write(b *bytes.Buffer, id string) {
	fmt.Fprintf(b, "\n  - id: %s\n", quoted(id))
	if a.description != "" && a.description != a.name && !strings.ContainsFunc(a.description, unicode.IsControl) {
		fmt.Fprintf(b, "    name: %s\n", quoted(a.description))
	}
	for _, parent := range a.parents {
		if parent != rootAccount {
			fmt.Fprintf(b, "    # department: %s\n", commentText(parent))
		}
	}
	if a.organization != "" && a.organization != a.name {
		fmt.Fprintf(b, "    # organization: %s\n", commentText(a.organization))
	}
	if len(a.coordinators) > 0 {
		fmt.Fprintf(b, "    # coordinators: %s\n", commentText(strings.Join(a.coordinators, ", ")))
	}
	fmt.Fprintf(b, "    jobs: [{account: %s}]\n", quoted(a.name))
	if len(a.clusters) > 1 {
		fmt.Fprintf(b, "    # clusters: %s\n", commentText(strings.Join(a.clusters, ", ")))
	}
	if len(a.users) == 0 {
		b.WriteString("    # no users\n")
		return
	}
	fmt.Fprintf(b, "    # users: %s\n", commentText(strings.Join(a.users, ", ")))
}

// groupIDOf makes an ID of an account's name that no other group has.
func groupIDOf(name string, taken map[string]bool) string {
	id := strings.Map(func(c rune) rune {
		if c < utf8.RuneSelf && (c == '.' || c == '_' || c == '@' || c == '+' || c == '-' || unicode.IsLetter(c) || unicode.IsDigit(c)) {
			return c
		}
		return '-'
	}, name)
	if !groupIDForm.MatchString(id) {
		id = "g" + id
	}
	id = id[:min(len(id), maxGroupIDBytes-6)]
	unique := id
	for n := 2; taken[strings.ToLower(unique)]; n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}

// quoted writes a value so that YAML reads it as this text, whatever it looks
// like.
func quoted(text string) string {
	if plainScalar.MatchString(text) && !slices.Contains(yamlWords, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

// yamlWords are those that readers of YAML take for something else.
var yamlWords = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}

// commentText keeps a text on its line.
func commentText(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || c == '\u0085' {
			return ' '
		}
		return c
	}, text)
}
