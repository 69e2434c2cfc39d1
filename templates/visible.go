package templates

import (
	"strings"
	"unicode/utf8"
)

// Visible makes a hostile text printable on one line without losing any of
// it: a control character becomes its picture (U+2400 and up), and what is not
// a character at all becomes U+FFFD.
func Visible(text string) string { return visible(text, false) }

// VisibleLines is Visible for texts of several lines, such as an address: line
// feeds stay.
func VisibleLines(text string) string {
	return visible(strings.ReplaceAll(text, "\r\n", "\n"), true)
}

func visible(text string, lines bool) string {
	if printable(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case lines && r == '\n':
			return r
		case r < 0x20:
			return '␀' + r
		case r == 0x7f:
			return '␡'
		case r >= 0x80 && r < 0xa0, r&0xfffe == 0xfffe:
			return utf8.RuneError
		case r == '\u2028', r == '\u2029':
			return '␤'
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}

// printable is true of nearly every text, and quick to tell.
func printable(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] < 0x20 || text[i] >= 0x7f {
			return false
		}
	}
	return true
}
