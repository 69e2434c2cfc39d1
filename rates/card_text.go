package rates

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// longestName is how many characters a unit, a label or the name of a rule may
// have: it stands in a column of an invoice.
const longestName = 100

// printed reads a text that is printed in one line.
func (l *cardLoader) printed(n *yaml.Node, path string) string {
	text, ok := l.Text(n, path)
	if !ok {
		return ""
	}
	text = strings.TrimSuffix(text, "\n") // of a block text
	switch at := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r) }); {
	case at >= 0:
		r, _ := utf8.DecodeRuneInString(text[at:])
		l.Fault(n, path, fmt.Sprintf("has the character %U, which cannot be printed in a line", r), "remove it")
	case strings.TrimSpace(text) == "":
		l.Fault(n, path, "is blank", "write what is to be printed")
	}
	return text
}

// label reads the name of a rule, a unit or the label of a price.
func (l *cardLoader) label(n *yaml.Node, path string) string {
	text := l.printed(n, path)
	if count := utf8.RuneCountInString(text); count > longestName {
		l.Fault(n, path, fmt.Sprintf("has %d characters", count), fmt.Sprintf("write at most %d; a note: may be longer", longestName))
	}
	return text
}

// reason reads why jobs are excluded or waived. A word that says no more than
// yes or no is not one: with no, the jobs would be free all the same.
func (l *cardLoader) reason(n *yaml.Node, path string) string {
	text := l.printed(n, path)
	switch strings.ToLower(text) {
	case "no", "false", "off", "never":
		l.Fault(n, path, fmt.Sprintf("%q is no reason, and whatever stands here frees the jobs", text), "remove the key, if they are to be charged")
	case "yes", "true", "on", "always":
		l.Fault(n, path, fmt.Sprintf("%q is no reason", text), "say why in words: they are printed")
	}
	return text
}
