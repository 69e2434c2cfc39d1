package rates

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
	"hpcbill/rates/yamldoc"
)

// LoadCard reads a rate card. file names it in faults. The error is Faults:
// everything that is wrong with the card, in the order of its lines, and no
// card.
func LoadCard(file string, text []byte) (*Card, error) {
	digest := sha256.Sum256(text)
	l := &cardLoader{
		File: &yamldoc.File{Name: file},
		card: &Card{File: file, Digest: hex.EncodeToString(digest[:]), Text: text},
	}
	if root := l.Parse(text); root != nil {
		l.load(root)
	}
	sortFaults(l.Faults)
	sortFaults(l.card.Warnings)
	sortFaults(l.card.Capitals)
	if len(l.Faults) > 0 {
		return nil, l.Faults
	}
	return l.card, nil
}

func sortFaults(faults Faults) {
	sort.SliceStable(faults, func(i, j int) bool {
		a, b := faults[i], faults[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
}

// cardLoader turns the YAML nodes into a Card, keeping every fault.
type cardLoader struct {
	*yamldoc.File
	card *Card
}

func (l *cardLoader) warn(n *yaml.Node, field, message, remedy string) {
	l.card.Warnings = append(l.card.Warnings, Fault{File: l.Name, Line: n.Line, Column: n.Column, Field: field, Message: message, Remedy: remedy})
}

// nodeAt is a place of the file as one of its nodes, for a fault.
func nodeAt(line, column int) *yaml.Node { return &yaml.Node{Line: line, Column: column} }

func (l *cardLoader) load(root *yaml.Node) {
	fields := l.Fields(root, "", cardKeys.names()...)
	if fields == nil {
		return
	}
	billBy := ByEnd
	var versions *yaml.Node
	for _, f := range fields {
		switch f.Key {
		case "card":
			l.card.Name = l.word(f.Value, f.Key)
		case "currency":
			l.card.Currency = l.currency(f.Value)
		case "source":
			l.card.Source, _ = l.Text(f.Value, f.Key)
		case "note":
			l.card.Note, _ = l.Text(f.Value, f.Key)
		case "bill_by":
			billBy = l.billBy(f.Value, f.Key)
		case "versions":
			versions = f.Value
		}
	}
	l.require(root, "", fields, "card", "currency", "versions")
	if versions == nil {
		return
	}
	items := l.Items(versions, "versions")
	for i, item := range items {
		path := fmt.Sprintf("versions[%d]", i)
		v := l.version(item, path, billBy)
		if len(l.Faults) == 0 { // with faults, an alias may lead back to itself
			v.Digest = digestOfVersion(item, v.BillBy, l.card.Currency.Code)
		}
		l.card.Versions = append(l.card.Versions, v)
	}
	if len(items) == 0 && versions.Kind == yaml.SequenceNode {
		l.Fault(versions, "versions", "has no version", "write one with its from: date")
	}
	l.order(versions)
}

// require reports the keys that a mapping must have and has not.
func (l *cardLoader) require(n *yaml.Node, path string, fields []yamldoc.Field, keys ...string) {
	for _, key := range keys {
		if !slices.ContainsFunc(fields, func(f yamldoc.Field) bool { return f.Key == key }) {
			l.Fault(n, path, fmt.Sprintf("has no %s", key), fmt.Sprintf("add  %s: …", key))
		}
	}
}

// word reads a name that other parts of the program use as a key.
func (l *cardLoader) word(n *yaml.Node, path string) string {
	text, ok := l.Text(n, path)
	if ok && !wordForm.MatchString(text) {
		l.Fault(n, path, fmt.Sprintf("%q is not a name", text), "begin with a letter; then letters, digits, _ and -")
	}
	return text
}

func (l *cardLoader) currency(n *yaml.Node) money.Currency {
	text, ok := l.Text(n, "currency")
	if !ok {
		return money.Currency{}
	}
	c, err := money.ParseCurrency(text)
	if err != nil {
		l.Fault(n, "currency", err.Error(), "write the three capital letters of the currency")
	}
	return c
}

var billByNames = []string{"end", "start", "usage"}

func (l *cardLoader) billBy(n *yaml.Node, path string) BillBy {
	return BillBy(l.choice(n, path, billByNames))
}

// choice reads one of several words and gives its position.
func (l *cardLoader) choice(n *yaml.Node, path string, words []string) int {
	text, ok := l.Text(n, path)
	if !ok {
		return 0
	}
	i := slices.Index(words, text)
	if i < 0 {
		l.Fault(n, path, fmt.Sprintf("unknown choice %q", text), nearest.Remedy(text, words))
		return 0
	}
	return i
}

func (l *cardLoader) date(n *yaml.Node, path string) Date {
	return dateAt(l.File, n, path)
}

// order sorts the versions by date, closes each where the next begins, and
// reports those that overlap.
func (l *cardLoader) order(n *yaml.Node) {
	versions := l.card.Versions
	sort.SliceStable(versions, func(i, j int) bool { return versions[i].From.Before(versions[j].From) })
	for i := 0; i+1 < len(versions); i++ {
		v, next := versions[i], versions[i+1]
		at := nodeAt(next.Line, next.Column)
		switch {
		case v.From.IsZero() || next.From.IsZero():
		case v.From == next.From:
			l.Fault(at, "versions", fmt.Sprintf("two versions begin on %s, the other on line %d", v.From, v.Line), "keep one of the two")
		case v.Until.IsZero():
			v.Until = next.From
		case next.From.Before(v.Until):
			l.Fault(at, "versions", fmt.Sprintf("the version from %s overlaps the one on line %d, which holds until %s", next.From, v.Line, v.Until),
				fmt.Sprintf("let that one end at the latest on %s, or remove its until:", next.From))
		case v.Until.Before(next.From):
			l.warn(at, "versions", fmt.Sprintf("no version holds from %s until %s: jobs of those days are held", v.Until, next.From), "")
		}
	}
	if len(versions) > 0 {
		if last := versions[len(versions)-1]; !last.Until.IsZero() {
			l.warn(nodeAt(last.Line, last.Column), "versions", fmt.Sprintf("no version holds from %s on: later jobs are held", last.Until), "")
		}
	}
}
