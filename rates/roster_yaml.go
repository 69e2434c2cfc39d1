package rates

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// What aliases of aliases may unfold to, and how deep maps may be merged into
// one another.
const (
	maxYAMLNodes  = 2_000_000
	maxMergeDepth = 20
)

// yamlFile walks the nodes of one YAML file and keeps its faults, each with
// its place.
type yamlFile struct {
	file   string
	faults Faults
	nodes  int // visited so far, aliases unfolded

	exhausted bool // merges have gone too deep: said once
}

// yamlField is one key of a mapping with its value.
type yamlField struct {
	key     string
	keyNode *yaml.Node
	value   *yaml.Node
}

func (y *yamlFile) fault(n *yaml.Node, field, message, remedy string) {
	y.faults = append(y.faults, Fault{y.file, n.Line, n.Column, field, message, remedy})
}

var yamlErrorLine = regexp.MustCompile(`^yaml: line (\d+): `)

// parse reads the one document of the file; nil after a fault.
func (y *yamlFile) parse(text []byte) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		y.faults = append(y.faults, Fault{File: y.file, Message: "is empty"})
		return nil
	}
	if err == nil {
		if err = decoder.Decode(&second); err == nil {
			y.fault(&second, "", "a second document begins here", "keep one document in a file: remove the --- line")
			return nil
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		f := Fault{File: y.file, Message: strings.TrimPrefix(err.Error(), "yaml: "), Remedy: "the file is not YAML; look for a lost quote, colon or indent at or above this line"}
		if m := yamlErrorLine.FindStringSubmatch(err.Error()); m != nil {
			f.Line, _ = strconv.Atoi(m[1])
			f.Message = strings.TrimPrefix(err.Error(), m[0])
		}
		y.faults = append(y.faults, f)
		return nil
	}
	return document.Content[0]
}

// resolve follows aliases.
func (y *yamlFile) resolve(n *yaml.Node) *yaml.Node {
	y.nodes++
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// fields gives the keys of a mapping in the file's order, merged maps (<<)
// after its own. A key that is not known or stands twice is a fault and left
// out.
func (y *yamlFile) fields(n *yaml.Node, path string, known ...string) []yamlField {
	n = y.resolve(n)
	if n.Kind != yaml.MappingNode {
		y.fault(n, path, "is not a mapping of names to values", "write  name: value  pairs, one of "+strings.Join(known, ", "))
		return nil
	}
	var fields []yamlField
	line := map[string]int{}
	y.collect(n, path, known, line, &fields, 0)
	return fields
}

func (y *yamlFile) collect(n *yaml.Node, path string, known []string, line map[string]int, fields *[]yamlField, depth int) {
	if y.exhausted {
		return
	}
	if y.nodes > maxYAMLNodes || depth > maxMergeDepth {
		y.exhausted = true
		y.fault(n, path, "merges more maps than this program reads", "write the keys out")
		return
	}
	var bases []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := y.resolve(n.Content[i]), y.resolve(n.Content[i+1])
		if key.Tag == "!!merge" {
			bases = append(bases, value)
			continue
		}
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		first, seen := line[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			y.fault(key, path, "has a key that is not a name", "")
		case seen && depth > 0:
		case seen:
			y.fault(key, at, fmt.Sprintf("is given twice, first on line %d", first), "keep one of the two")
		case !slices.Contains(known, key.Value):
			y.fault(key, at, fmt.Sprintf("unknown key %q", key.Value), suggest(key.Value, known))
		default:
			*fields = append(*fields, yamlField{key.Value, key, value})
		}
		if !seen {
			line[key.Value] = key.Line
		}
	}
	for _, base := range bases {
		if base.Kind == yaml.SequenceNode {
			for _, item := range base.Content {
				y.collect(y.resolve(item), path, known, line, fields, depth+1)
			}
			continue
		}
		y.collect(base, path, known, line, fields, depth+1)
	}
}

// items gives the entries of a list.
func (y *yamlFile) items(n *yaml.Node, path string) []*yaml.Node {
	n = y.resolve(n)
	if n.Kind != yaml.SequenceNode {
		y.fault(n, path, "is not a list", "begin each entry with a dash, or write [a, b]")
		return nil
	}
	items := make([]*yaml.Node, 0, len(n.Content))
	for _, item := range n.Content {
		if items = append(items, y.resolve(item)); y.nodes > maxYAMLNodes {
			y.fault(item, path, "unfolds to more than this program reads", "use fewer aliases")
			return nil
		}
	}
	return items
}

// itemsOrNone gives the entries of a list that may be left empty.
func (y *yamlFile) itemsOrNone(n *yaml.Node, path string) []*yaml.Node {
	if isBlank(n) {
		return nil
	}
	return y.items(n, path)
}

// isBlank reports whether nothing was written after the key.
func isBlank(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Value == "" }

// oneOrMany gives the entries of a list, or the value itself.
func (y *yamlFile) oneOrMany(n *yaml.Node, path string) []*yaml.Node {
	if n = y.resolve(n); n.Kind == yaml.SequenceNode {
		return y.items(n, path)
	}
	return []*yaml.Node{n}
}

// text gives a scalar as it is written: 0012 stays 0012.
func (y *yamlFile) text(n *yaml.Node, path string) (string, bool) {
	n = y.resolve(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		y.fault(n, path, "is not a single value", "")
		return "", false
	case n.Tag == "!!null" && n.Value != "":
		y.fault(n, path, fmt.Sprintf("%s is YAML's word for nothing", n.Value), fmt.Sprintf("write \"%s\" in quotes if that is the name, or remove the key", n.Value))
		return "", false
	case n.Tag == "!!null", n.Value == "":
		y.fault(n, path, "is empty", "give it a value or remove the key")
		return "", false
	}
	return n.Value, true
}

func (y *yamlFile) date(n *yaml.Node, path string) Date {
	text, ok := y.text(n, path)
	if !ok {
		return Date{}
	}
	d, err := ParseDate(text)
	if err != nil {
		y.fault(n, path, err.Error(), "write year-month-day, a day that exists")
	}
	return d
}

// suggest names the known word that is nearest to a wrong one, or lists them
// all where none is near.
func suggest(wrong string, known []string) string {
	best, distance := "", len(wrong)/2+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(wrong), k); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return "one of " + strings.Join(known, ", ")
	}
	return fmt.Sprintf("did you mean %s?", best)
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
