package rates

import (
	"strings"
	"unicode/utf8"
)

// isGlob reports whether a pattern has a wildcard: '*' for any text, '?' for
// one character.
func isGlob(pattern string) bool { return strings.ContainsAny(pattern, "*?") }

// GlobMatches reports whether text is the pattern, or fits it where it has
// wildcards.
func GlobMatches(pattern, text string) bool { return globMatches(pattern, text) }

// globMatches reports whether the whole of text fits the pattern. Its time is
// at most the product of the two lengths.
func globMatches(pattern, text string) bool {
	star, retry := -1, 0 // where the last '*' stands, and how far it has eaten
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, retry = p, t
			p++
		case p < len(pattern) && pattern[p] == '?':
			_, size := utf8.DecodeRuneInString(text[t:])
			p, t = p+1, t+size
		case p < len(pattern) && pattern[p] == text[t]:
			p, t = p+1, t+1
		case star >= 0:
			retry++
			p, t = star+1, retry
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
