package rates

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// digestOfVersion is the SHA-256 of what a version says: its keys and values
// in their order, each with its length before it, aliases unfolded; and what
// holds for all versions of the card. Comments, notes, quotes and layout are
// not part of it, so that a card may be explained better after it has billed;
// nor are limits, which charge nothing, nor the version's span, which ends when
// a new version begins.
func digestOfVersion(n *yaml.Node, billBy BillBy, currency string) string {
	h := sha256.New()
	fmt.Fprintf(h, "currency %s\nbill_by %s\n", currency, billByNames[billBy])
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i].Value; key != "from" && key != "until" && key != "note" && key != "bill_by" && key != "limits" {
			writeMeaning(h, n.Content[i])
			writeMeaning(h, n.Content[i+1])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Span is a part of a period in which one version of a card holds, or none.
type Span struct {
	From, Until Date // half-open
	Version     *Version
}

// Spans gives the versions that hold in a period, each for its days, in
// order. Days that no version covers are left out.
func (c *Card) Spans(p Period) []Span {
	first, end := DateOf(p.Start, p.Start.Location()), DateOf(p.End, p.End.Location())
	var spans []Span
	for i, v := range c.Versions {
		from, until := v.From, v.Until
		if i+1 < len(c.Versions) && (until.IsZero() || c.Versions[i+1].From.Before(until)) {
			until = c.Versions[i+1].From
		}
		if from.Before(first) {
			from = first
		}
		if until.IsZero() || end.Before(until) {
			until = end
		}
		if from.Before(until) {
			spans = append(spans, Span{from, until, v})
		}
	}
	return spans
}

func writeMeaning(w io.Writer, n *yaml.Node) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		fmt.Fprint(w, "{")
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value != "note" {
				writeMeaning(w, n.Content[i])
				writeMeaning(w, n.Content[i+1])
			}
		}
		fmt.Fprint(w, "}")
	case yaml.SequenceNode:
		fmt.Fprint(w, "[")
		for _, item := range n.Content {
			writeMeaning(w, item)
		}
		fmt.Fprint(w, "]")
	default:
		fmt.Fprintf(w, "%d:%s", len(n.Value), n.Value)
	}
}
