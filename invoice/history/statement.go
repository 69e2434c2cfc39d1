package history

import (
	"fmt"
	"strings"
)

// oneStatement refuses a text with a second statement: the driver would run
// both and show the rows of one.
func oneStatement(query string) error {
	ended := false
	for rest := query; rest != ""; {
		token, after := nextToken(rest)
		switch {
		case token == ";":
			ended = true
		case ended && strings.TrimSpace(token) != "" && !isComment(token):
			return fmt.Errorf("one statement at a time: a second one begins at %q", clipped(rest))
		}
		rest = after
	}
	return nil
}

// nextToken splits off a comment, a quoted text, or one byte.
func nextToken(s string) (token, rest string) {
	end := func(open, closing string) (string, string) {
		if i := strings.Index(s[len(open):], closing); i >= 0 {
			i += len(open) + len(closing)
			return s[:i], s[i:]
		}
		return s, ""
	}
	switch {
	case strings.HasPrefix(s, "--"):
		return end("--", "\n")
	case strings.HasPrefix(s, "/*"):
		return end("/*", "*/")
	case s[0] == '\'', s[0] == '"', s[0] == '`':
		return end(s[:1], s[:1]) // a doubled quote is two texts, which comes to the same
	case s[0] == '[':
		return end("[", "]")
	}
	return s[:1], s[1:]
}

func isComment(token string) bool {
	return strings.HasPrefix(token, "--") || strings.HasPrefix(token, "/*")
}

// clipped keeps a message short.
func clipped(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
