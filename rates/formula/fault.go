package formula

import (
	"fmt"
	"unicode/utf8"
)

// Fault is one thing wrong with a formula.
type Fault struct {
	Column  int // from 1, in characters of the formula
	Message string
	Remedy  string // "" where none is known
}

// Error gives the column and the message.
func (f Fault) Error() string { return fmt.Sprintf("column %d: %s", f.Column, f.Message) }

// Hint gives the remedy, or "".
func (f Fault) Hint() string { return f.Remedy }

// fault keeps a fault at a byte of the text.
func (p *parser) fault(at int, message, remedy string) {
	at = min(max(at, 0), len(p.text))
	p.faults = append(p.faults, Fault{utf8.RuneCountInString(p.text[:at]) + 1, message, remedy})
}

// source is the text of a node, cut where it is long.
func (p *parser) source(n *node) string {
	const longest = 40
	text := p.text[n.from:n.to]
	if utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest]) + "…"
	}
	return text
}
