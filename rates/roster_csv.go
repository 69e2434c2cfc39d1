package rates

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/rates/csvdoc"
	"hpcbill/rates/yamldoc"

	"go.yaml.in/yaml/v3"
)

// A roster in a spreadsheet says what groups.yaml says, a row for a group and
// one more for each further rule, split or allocation of it:
//
//	id,name,class,account,cluster,until,fund,percent
//	chem,Chemistry,internal,chem,,,0012-345,60
//	chem,,,chem_*;chemistry,h2p,2025-12-31,0044-100,40
//
// csvGroupColumns stand on the group itself: a later row of the group may
// repeat them or leave them empty. The columns of each list fill one entry of
// it where one of them is filled.
var csvGroupColumns = []string{"id", "name", "pi", "department", "class", "contacts", "address", "po", "tax_id", "language", "currency", "since"}

// csvLists are the lists of a group: the column, and the key that it is in an
// entry of the list.
var csvLists = []struct {
	key     string
	columns [][2]string
	// marks are the columns of which one is filled where there is an entry.
	marks []string
}{
	{"jobs", [][2]string{
		{"account", "account"}, {"user", "user"}, {"wckey", "wckey"}, {"qos", "qos"}, {"partition", "partition"}, {"cluster", "cluster"},
		{"from", "from"}, {"until", "until"},
	}, []string{"account", "user", "wckey", "qos", "partition", "cluster"}},
	{"funds", [][2]string{
		{"fund", "fund"}, {"percent", "percent"}, {"amount", "amount"}, {"remainder", "remainder"}, {"fund_users", "users"}, {"fund_meters", "meters"},
		{"fund_from", "from"}, {"fund_until", "until"},
	}, []string{"percent", "amount", "remainder"}},
	{"allocations", [][2]string{
		{"allocation", "name"}, {"meter", "meter"}, {"units", "units"}, {"allocation_from", "from"}, {"allocation_until", "until"}, {"overdraft", "overdraft"},
		{"deposits", "deposits"}, {"refunds", "refunds"},
	}, []string{"allocation", "meter", "units"}},
}

// csvTopColumns are of the roster as a whole: filled in any one row.
var csvTopColumns = []string{"precedence", "fund_pattern"}

// csvMany are the columns whose cell may hold several values, parted by
// semicolons.
var csvMany = []string{"contacts", "account", "user", "wckey", "qos", "partition", "cluster", "fund_users", "fund_meters", "deposits", "refunds", "precedence"}

func csvColumns() []string {
	columns := slices.Concat(csvGroupColumns, csvTopColumns)
	for _, list := range csvLists {
		for _, c := range list.columns {
			columns = append(columns, c[0])
		}
	}
	return columns
}

// isCSV tells a roster in a spreadsheet by the name of its file.
func isCSV(file string) bool { return strings.HasSuffix(strings.ToLower(file), ".csv") }

// csvRoster is a roster.csv on its way to the nodes that groups.yaml would
// have, each with the line and column of its cell.
type csvRoster struct {
	csvdoc.File
	groups map[string]*yaml.Node // by ID
	list   *yaml.Node            // of groups
	top    map[string]*yaml.Node
}

// csvNodes reads the rows; nil after a fault.
func csvNodes(y *yamldoc.File, text []byte) *yaml.Node {
	c := &csvRoster{
		File:   csvdoc.File{Name: y.Name, Columns: csvColumns(), Needed: [][]string{{"id"}}, Begin: "id,name,class,account"},
		groups: map[string]*yaml.Node{}, list: &yaml.Node{Kind: yaml.SequenceNode, Line: 1, Column: 1}, top: map[string]*yaml.Node{},
	}
	for _, row := range c.Read(text) {
		c.row(row)
	}
	if len(c.Faults) > 0 {
		y.Faults = append(y.Faults, c.Faults...)
		return nil
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Line: 1, Column: 1}
	for _, name := range csvTopColumns {
		if n := c.top[name]; n != nil {
			addPair(root, name, n)
		}
	}
	addPair(root, "groups", c.list)
	return root
}

// row adds a row to its group.
func (c *csvRoster) row(row *csvdoc.Row) {
	node := func(name string) *yaml.Node {
		text := row.Cell(name)
		if text == "" {
			return nil
		}
		line, column := row.Place(name)
		return cellNode(name, text, line, column)
	}
	for _, name := range csvTopColumns {
		if n := node(name); n != nil {
			c.once(c.top, name, n)
		}
	}
	id := node("id")
	if id == nil {
		if slices.ContainsFunc(csvColumns(), func(name string) bool { return !slices.Contains(csvTopColumns, name) && node(name) != nil }) {
			c.Fault(row.Line(), 0, "id", "is empty", "every row names its group")
		}
		return
	}
	g := c.groups[id.Value]
	if g == nil {
		g = &yaml.Node{Kind: yaml.MappingNode, Line: row.Line(), Column: 1}
		c.groups[id.Value] = g
		c.list.Content = append(c.list.Content, g)
		addPair(g, "id", id)
	}
	for _, name := range csvGroupColumns[1:] {
		if n := node(name); n != nil {
			c.same(g, name, n)
		}
	}
	c.lists(g, node)
}

// lists adds the entries of the row to the group's lists. A fund without a
// share is the group's one fund.
func (c *csvRoster) lists(g *yaml.Node, node func(string) *yaml.Node) {
	for _, list := range csvLists {
		entry := &yaml.Node{Kind: yaml.MappingNode}
		marked := slices.ContainsFunc(list.marks, func(name string) bool { return node(name) != nil })
		for _, column := range list.columns {
			n := node(column[0])
			switch {
			case n == nil:
			case !marked && column[0] == "fund":
				c.same(g, "fund", n)
			case !marked:
				c.Fault(n.Line, n.Column, column[0], "is of an entry that the row does not have", "fill one of "+strings.Join(list.marks, ", ")+" too")
			default:
				if entry.Line == 0 {
					entry.Line, entry.Column = n.Line, n.Column
				}
				addPair(entry, column[1], n)
			}
		}
		if !marked || len(entry.Content) == 0 {
			continue
		}
		items := valueOf(g, list.key)
		if items == nil {
			items = &yaml.Node{Kind: yaml.SequenceNode, Line: entry.Line, Column: entry.Column}
			addPair(g, list.key, items)
		}
		items.Content = append(items.Content, entry)
	}
}

// same keeps a value of a group, and refuses another one in a later row.
func (c *csvRoster) same(g *yaml.Node, key string, n *yaml.Node) {
	old := valueOf(g, key)
	if old == nil {
		addPair(g, key, n)
		return
	}
	if textOf(old) != textOf(n) {
		c.Fault(n.Line, n.Column, key, fmt.Sprintf("%q here, %q on line %d", textOf(n), textOf(old), old.Line), "say it once, or the same in every row of the group")
	}
}

func (c *csvRoster) once(values map[string]*yaml.Node, key string, n *yaml.Node) {
	if old := values[key]; old != nil && textOf(old) != textOf(n) {
		c.Fault(n.Line, n.Column, key, fmt.Sprintf("%q here, %q on line %d", textOf(n), textOf(old), old.Line), "say it once")
		return
	}
	values[key] = n
}

// cellNode makes a node of a cell: a list where the column takes several
// values.
func cellNode(name, text string, line, column int) *yaml.Node {
	scalar := func(value string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: line, Column: column}
	}
	if !slices.Contains(csvMany, name) {
		return scalar(text)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Line: line, Column: column}
	for _, value := range strings.Split(text, ";") {
		if value = strings.TrimSpace(value); value != "" {
			list.Content = append(list.Content, scalar(value))
		}
	}
	return list
}

func textOf(n *yaml.Node) string {
	if n.Kind != yaml.SequenceNode {
		return n.Value
	}
	var values []string
	for _, item := range n.Content {
		values = append(values, item.Value)
	}
	return strings.Join(values, ";")
}

func addPair(m *yaml.Node, key string, value *yaml.Node) {
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: value.Line, Column: value.Column}, value)
}

func valueOf(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// csvField is the column that a path through the nodes ends at.
func csvField(path string) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ = strings.Cut(name, "[")
	return name
}
