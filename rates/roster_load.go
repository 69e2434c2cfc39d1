package rates

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/mail"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
	"hpcbill/rates/yamldoc"

	"go.yaml.in/yaml/v3"
)

// The longest ID of a group, in bytes, and its form. It names files and
// columns, so it has no blanks and no separators.
const maxGroupIDBytes = 64

var (
	groupIDForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]*$`)
	wordForm    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)
)

// languages are those in which invoices can be written.
var languages = []string{"en", "es"}

// LoadRoster reads a roster of groups: groups.yaml, or the same in a
// spreadsheet where the name of the file ends in .csv. file names it in faults.
// The error is Faults: everything that is wrong with it, in the order of its
// lines, and no roster.
//
//	precedence: [user, account]
//	fund_pattern: '\d{4}-\d{3}'   # every fund has this form
//	fund_codes:                  # the funds that there are; may be left out
//	  - {code: "0012-345", name: Grant 7, from: 2025-07-01, until: 2026-07-01}
//	groups:
//	  - id: chem
//	    name: Chemistry
//	    class: internal
//	    fund: 0012-345          # text, however it looks
//	    jobs:
//	      - {account: chem}
//	      - {account: ["chem_*", chemistry], cluster: h2p, until: 2025-12-31}
//	    allocations:
//	      - name: FY26
//	        meter: su
//	        units: 10000
//	        from: 2025-07-01
//	        until: 2026-07-01
//	        overdraft: bill      # or warn, waive
//	        deposits: [{date: 2025-10-01, units: 2500, reference: PO 47}]
//	        refunds: [{date: 2026-05-15, units: 1000}]
//
// Instead of fund: a group may have splits, which total 100 % on every day from
// the first to the last of them; a split by users: or meters: is of what these
// users used, or of these meters, and the first that fits has it:
//
//	funds:
//	  - {fund: "0012-345", percent: "60", until: 2026-03-01}
//	  - {fund: "0012-345", percent: "100/3", from: 2026-03-01}
//	  - {fund: "0044-100", remainder: true}
//	  - {fund: "0099-001", amount: "500.00"}   # a month, before the percentages
//	  - {fund: "0077-002", percent: "100", meters: gpu_hours}
//
// A rule under jobs: names fields of a job (account, user, wckey, qos,
// partition, cluster), each a value, a glob or a list; all that it names must
// match. from: is the first day on which it holds, until: the first on which
// it no longer does. precedence: says which kind of rule decides where rules
// of several kinds match, and is needed only where there are several: a rule
// that names a user and an account is of the kind that stands first. Within a
// kind a literal decides before a glob. Two rules that claim one literal on
// the same day and cluster are a fault; a job that globs of two groups claim
// is held.
func LoadRoster(file string, text []byte) (*Roster, error) {
	y := &yamldoc.File{Name: file}
	digest := sha256.Sum256(text)
	l := &rosterLoader{File: y, roster: &Roster{File: file, Digest: hex.EncodeToString(digest[:]), Text: text}}
	parse := y.Parse
	if isCSV(file) {
		parse = func(text []byte) *yaml.Node { return csvNodes(y, text) }
	}
	if root := parse(text); root != nil {
		l.load(root)
	}
	if isCSV(file) {
		for i := range y.Faults {
			y.Faults[i].Field = csvField(y.Faults[i].Field)
		}
	}
	if len(y.Faults) > 0 {
		sort.SliceStable(y.Faults, func(i, j int) bool {
			a, b := y.Faults[i], y.Faults[j]
			return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
		})
		return nil, y.Faults
	}
	return l.roster, nil
}

// rosterLoader turns the YAML nodes into a Roster, keeping every fault.
type rosterLoader struct {
	*yamldoc.File
	roster   *Roster
	idLine   map[string]int
	fundForm *regexp.Regexp // nil where any form will do
}

func (l *rosterLoader) load(root *yaml.Node) {
	l.idLine = map[string]int{}
	var precedence *yaml.Node
	groups := false
	fields := l.Fields(root, "", "precedence", "fund_pattern", "fund_codes", "groups")
	// The order of the file is free: what groups refer to is read first.
	rank := map[string]int{"fund_pattern": 1, "fund_codes": 2, "precedence": 3, "groups": 4}
	slices.SortStableFunc(fields, func(a, b yamldoc.Field) int { return rank[a.Key] - rank[b.Key] })
	for _, f := range fields {
		switch f.Key {
		case "fund_pattern":
			l.fundPattern(f.Value)
		case "fund_codes":
			l.fundCodes(f.Value)
		case "precedence":
			precedence = f.Value
			l.roster.Precedence = l.precedence(f)
		case "groups":
			groups = true
			for i, item := range l.Items(f.Value, "groups") {
				l.group(item, fmt.Sprintf("groups[%d]", i))
			}
		}
	}
	if !groups {
		l.Fault(root, "groups", "is missing", "list the groups that are billed under groups:")
	}
	sort.SliceStable(l.roster.Groups, func(i, j int) bool { return l.roster.Groups[i].ID < l.roster.Groups[j].ID })
	if l.checkKinds(precedence != nil) {
		l.checkOverlaps()
	}
}

func (l *rosterLoader) precedence(f yamldoc.Field) []string {
	var order []string
	for i, n := range l.Items(f.Value, "precedence") {
		path := fmt.Sprintf("precedence[%d]", i)
		kind, ok := l.Text(n, path)
		switch {
		case !ok:
		case !slices.Contains(mappingKinds, kind):
			l.Fault(n, path, fmt.Sprintf("%q is no kind of mapping", kind), nearest.Remedy(kind, mappingKinds))
		case slices.Contains(order, kind):
			l.Fault(n, path, fmt.Sprintf("%q is listed twice", kind), "")
		default:
			order = append(order, kind)
		}
	}
	return order
}

var groupFields = []string{"id", "name", "pi", "department", "class", "contacts", "address", "po", "tax_id", "fund", "funds", "language", "currency", "since", "jobs", "allocations"}

func (l *rosterLoader) group(n *yaml.Node, path string) {
	before := len(l.Faults)
	g := &Group{Class: "internal", Language: "en", Line: n.Line}
	l.roster.Groups = append(l.roster.Groups, g)
	idNode := n
	for _, f := range l.Fields(n, path, groupFields...) {
		at := path + "." + f.Key
		switch f.Key {
		case "id":
			idNode = f.Value
			g.ID = l.groupID(f.Value, at)
		case "name":
			g.Name = l.line(f.Value, at)
		case "pi":
			g.PI = l.line(f.Value, at)
		case "department":
			g.Department = l.line(f.Value, at)
		case "class":
			g.Class = l.word(f.Value, at)
		case "contacts":
			g.Contacts = l.contacts(f.Value, at)
		case "address":
			g.Address = l.address(f.Value, at)
		case "po":
			g.PO = l.line(f.Value, at)
		case "tax_id":
			g.TaxID = l.line(f.Value, at)
		case "fund":
			g.Fund = l.fund(f.Value, at)
		case "funds":
			for i, item := range l.ItemsOrNone(f.Value, at) {
				g.Funds = append(g.Funds, l.fundSplit(item, fmt.Sprintf("%s[%d]", at, i)))
			}
		case "language":
			g.Language = l.language(f.Value, at)
		case "currency":
			g.Currency = l.currency(f.Value, at)
		case "since":
			if !yamldoc.IsBlank(f.Value) {
				g.Since = l.date(f.Value, at)
			}
		case "jobs":
			for i, item := range l.ItemsOrNone(f.Value, at) {
				g.Mappings = append(g.Mappings, l.mappings(item, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "allocations":
			for i, item := range l.ItemsOrNone(f.Value, at) {
				g.Allocations = append(g.Allocations, l.allocation(item, fmt.Sprintf("%s[%d]", at, i)))
			}
		}
	}
	if g.ID == "" && idNode == n && n.Kind == yaml.MappingNode {
		l.Fault(n, path+".id", "is missing", "every group needs an id, such as its account")
	}
	if g.Name == "" {
		g.Name = g.ID
	}
	for _, m := range g.Mappings {
		m.group = g
	}
	if len(l.Faults) == before {
		l.checkFunds(g, path)
	}
	l.orderAllocations(g, path)
}

// groupID reads an ID and refuses one that another group has, in whatever
// case: it names files.
func (l *rosterLoader) groupID(n *yaml.Node, path string) string {
	id, ok := l.Text(n, path)
	if !ok {
		return ""
	}
	if !groupIDForm.MatchString(id) || len(id) > maxGroupIDBytes {
		l.Fault(n, path, fmt.Sprintf("%q cannot be an id", id),
			fmt.Sprintf("use up to %d letters, digits and . _ @ + - , beginning with a letter or a digit; name: takes any text", maxGroupIDBytes))
		return ""
	}
	folded := strings.ToLower(id)
	if line, taken := l.idLine[folded]; taken {
		l.Fault(n, path, fmt.Sprintf("group %q is already defined on line %d", id, line),
			"merge the two, or give one another id (ids that differ only in case count as one)")
		return ""
	}
	l.idLine[folded] = n.Line
	return id
}

func (l *rosterLoader) word(n *yaml.Node, path string) string {
	word, ok := l.Text(n, path)
	if ok && !wordForm.MatchString(word) {
		l.Fault(n, path, fmt.Sprintf("%q is not a single word", word), "write a word such as internal, external or industry")
	}
	return word
}

func (l *rosterLoader) language(n *yaml.Node, path string) string {
	language, ok := l.Text(n, path)
	if ok && !slices.Contains(languages, language) {
		l.Fault(n, path, fmt.Sprintf("unknown language %q", language), nearest.Remedy(language, languages))
	}
	return language
}

// currency reads the code of a currency, which may be left empty.
func (l *rosterLoader) currency(n *yaml.Node, path string) string {
	if yamldoc.IsBlank(n) {
		return ""
	}
	text, ok := l.Text(n, path)
	if _, err := money.ParseCurrency(text); ok && err != nil {
		l.Fault(n, path, err.Error(), "write the three capital letters of the currency")
	}
	return text
}

// line reads text of one line, which may be left empty.
func (l *rosterLoader) line(n *yaml.Node, path string) string {
	if yamldoc.IsBlank(n) {
		return ""
	}
	s, _ := l.Text(n, path)
	if strings.ContainsFunc(s, unicode.IsControl) {
		l.Fault(n, path, "has a line break or a control character", "write it on one line")
	}
	return s
}

// address reads text of several lines, which may be left empty.
func (l *rosterLoader) address(n *yaml.Node, path string) string {
	if yamldoc.IsBlank(n) {
		return ""
	}
	s, _ := l.Text(n, path)
	s = strings.TrimRight(s, "\n")
	if strings.ContainsFunc(strings.ReplaceAll(s, "\n", " "), unicode.IsControl) {
		l.Fault(n, path, "has a control character", "")
	}
	return s
}

func (l *rosterLoader) contacts(n *yaml.Node, path string) []string {
	if yamldoc.IsBlank(n) {
		return nil
	}
	var contacts []string
	for _, item := range l.OneOrMany(n, path) {
		contact, ok := l.Text(item, path)
		if !ok {
			continue
		}
		if _, err := mail.ParseAddress(contact); err != nil || strings.ContainsFunc(contact, unicode.IsControl) {
			l.Fault(item, path, fmt.Sprintf("%q is not a mail address", contact), "write it as name@example.edu")
		}
		contacts = append(contacts, contact)
	}
	return contacts
}

func (l *rosterLoader) date(n *yaml.Node, path string) Date {
	return dateAt(l.File, n, path)
}
