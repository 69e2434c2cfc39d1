// Package yamldoc reads a YAML file strictly, node by node: every fault keeps
// its line and column, an unknown or repeated key is refused with the nearest
// known name, and a scalar is the text that the person wrote (0012 stays
// 0012).
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/nearest"
)

// What aliases of aliases may unfold to, and how deep maps may be merged into
// one another.
const (
	maxYAMLNodes  = 2_000_000
	maxMergeDepth = 20
)

// File walks the nodes of one YAML file and keeps its faults, each with
// its place.
type File struct {
	Name   string
	Faults Faults
	nodes  int // visited so far, aliases unfolded

	exhausted bool // merges have gone too deep: said once
}

// Field is one key of a mapping with its value.
type Field struct {
	Key     string
	KeyNode *yaml.Node
	Value   *yaml.Node
}

// Fault keeps a fault at a node.
func (y *File) Fault(n *yaml.Node, field, message, remedy string) {
	y.Faults = append(y.Faults, Fault{y.Name, n.Line, n.Column, field, message, remedy})
}

// Parse reads the one document of the file; nil after a fault.
func (y *File) Parse(text []byte) *yaml.Node {
	if y.unreadable(text) {
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		y.Faults = append(y.Faults, Fault{File: y.Name, Message: "is empty"})
		return nil
	}
	if err == nil {
		if err = decoder.Decode(&second); err == nil {
			y.Fault(&second, "", "a second document begins here", "keep one document in a file: remove the --- line")
			return nil
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		y.syntaxFault(text, err)
		return nil
	}
	return document.Content[0]
}

// resolve follows aliases.
func (y *File) resolve(n *yaml.Node) *yaml.Node {
	y.nodes++
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Fields gives the keys of a mapping in the file's order, merged maps (<<)
// after its own. A key that is not known or stands twice is a fault and left
// out. Where that leaves nothing, or there is no mapping, they are nil.
func (y *File) Fields(n *yaml.Node, path string, known ...string) []Field {
	n = y.resolve(n)
	if n.Kind != yaml.MappingNode {
		y.Fault(n, path, "is not a mapping of names to values", "write  name: value  pairs, "+nearest.OneOf(known))
		return nil
	}
	var fields []Field
	line, before := map[string]int{}, len(y.Faults)
	y.collect(n, path, known, line, &fields, 0)
	if fields == nil && len(y.Faults) == before {
		return []Field{} // an empty mapping lacks what it must have
	}
	return fields
}

// Entries gives the keys of a mapping whose names are the person's own, in the
// file's order, merged maps (<<) after its own.
func (y *File) Entries(n *yaml.Node, path, of string) []Field {
	n = y.resolve(n)
	if n.Kind != yaml.MappingNode {
		y.Fault(n, path, "is not a mapping of names to values", "write  name: value  pairs, "+of)
		return nil
	}
	var fields []Field
	y.collect(n, path, nil, map[string]int{}, &fields, 0)
	return fields
}

func (y *File) collect(n *yaml.Node, path string, known []string, line map[string]int, fields *[]Field, depth int) {
	if y.exhausted {
		return
	}
	if y.nodes > maxYAMLNodes || depth > maxMergeDepth {
		y.exhausted = true
		y.Fault(n, path, "merges more maps than this program reads", "write the keys out")
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
			y.Fault(key, path, "has a key that is not a name", "")
		case seen && depth > 0:
		case seen:
			y.Fault(key, at, fmt.Sprintf("is given twice, first on line %d", first), "keep one of the two")
		case known != nil && !slices.Contains(known, key.Value):
			y.Fault(key, at, fmt.Sprintf("unknown key %q", key.Value), keyRemedy(n, key.Value, value, known))
		default:
			*fields = append(*fields, Field{key.Value, key, value})
		}
		if !seen {
			line[key.Value] = key.Line
		}
	}
	for _, base := range bases {
		items := []*yaml.Node{base}
		if base.Kind == yaml.SequenceNode {
			items = base.Content
		}
		for _, item := range items {
			if item = y.resolve(item); item.Kind != yaml.MappingNode {
				y.Fault(item, path+".<<", "merges what is not a mapping", "write  <<: *name  of one that &name marks above")
				continue
			}
			y.collect(item, path, known, line, fields, depth+1)
		}
	}
}

// keyRemedy is what to do about a key that is not known. One without a value
// is often the rest of a text.
func keyRemedy(of *yaml.Node, wrong string, value *yaml.Node, known []string) string {
	if strings.ContainsRune(wrong, '\u00a0') {
		return "a space in it is a non-breaking one: write a plain one"
	}
	if IsBlank(value) {
		first, rest, _ := strings.Cut(wrong, " ")
		if slices.Contains(known, first) {
			return fmt.Sprintf("a colon is missing: write  %s: %s", first, rest)
		}
		if _, ok := nearest.Word(wrong, known); !ok && of.Style&yaml.FlowStyle != 0 {
			return "put the text before it in quotes: a comma ends a value inside { }"
		}
	}
	return nearest.Remedy(wrong, known)
}

// Items gives the entries of a list.
func (y *File) Items(n *yaml.Node, path string) []*yaml.Node {
	n = y.resolve(n)
	if n.Kind != yaml.SequenceNode {
		y.Fault(n, path, "is not a list", "begin each entry with a dash, or write [a, b]")
		return nil
	}
	items := make([]*yaml.Node, 0, len(n.Content))
	for _, item := range n.Content {
		if items = append(items, y.resolve(item)); y.nodes > maxYAMLNodes {
			y.Fault(item, path, "unfolds to more than this program reads", "use fewer aliases")
			return nil
		}
	}
	return items
}

// ItemsOrNone gives the entries of a list that may be left empty.
func (y *File) ItemsOrNone(n *yaml.Node, path string) []*yaml.Node {
	if IsBlank(n) {
		return nil
	}
	return y.Items(n, path)
}

// IsBlank reports whether nothing was written after the key.
func IsBlank(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Value == "" }

// OneOrMany gives the entries of a list, or the value itself.
func (y *File) OneOrMany(n *yaml.Node, path string) []*yaml.Node {
	if n = y.resolve(n); n.Kind == yaml.SequenceNode {
		return y.Items(n, path)
	}
	return []*yaml.Node{n}
}

// Text gives a scalar as it is written: 0012 stays 0012.
func (y *File) Text(n *yaml.Node, path string) (string, bool) {
	n = y.resolve(n)
	switch {
	case n.Kind != yaml.ScalarNode:
		y.Fault(n, path, "is not a single value", map[yaml.Kind]string{
			yaml.SequenceNode: "write one value, not a list", yaml.MappingNode: "write one value, not keys of its own",
		}[n.Kind])
		return "", false
	case n.Tag == "!!null" && n.Value != "":
		y.Fault(n, path, fmt.Sprintf("%s is YAML's word for nothing", n.Value), fmt.Sprintf("write \"%s\" in quotes if that is the name, or remove the key", n.Value))
		return "", false
	case n.Tag == "!!null", n.Value == "":
		y.Fault(n, path, "is empty", "give it a value or remove the key")
		return "", false
	}
	return n.Value, true
}
