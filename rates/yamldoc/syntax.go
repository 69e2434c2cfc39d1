package yamldoc

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// unreadable reports bytes that no YAML file of this program has: another
// encoding than UTF-8, and control characters.
func (y *File) unreadable(text []byte) bool {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		y.Faults = append(y.Faults, Fault{File: y.Name, Message: "is UTF-16", Remedy: "save it as UTF-8"})
		return true
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			y.faultAt(text, at, fmt.Sprintf("the byte %#x is not UTF-8", text[at]), "save the file as UTF-8")
			return true
		}
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			y.faultAt(text, at, fmt.Sprintf("has the control character %#x", r), "remove it")
			return true
		}
		at += size
	}
	return false
}

// faultAt keeps a fault at a byte of the file.
func (y *File) faultAt(text []byte, at int, message, remedy string) {
	line := 1 + bytes.Count(text[:at], []byte("\n"))
	column := at - bytes.LastIndexByte(text[:at], '\n')
	y.Faults = append(y.Faults, Fault{y.Name, line, column, "", message, remedy})
}

var (
	yamlErrorLine = regexp.MustCompile(`^yaml: line (\d+): `)
	unknownAnchor = regexp.MustCompile(`^yaml: unknown anchor '(.*)' referenced$`)
	foreignSign   = regexp.MustCompile("(?:^|[\\[{,:-])[ \t]*([>@%`|])")
	// ofParser are the messages whose line the library counts from 0.
	ofParser = regexp.MustCompile(`^did not find expected (<|node content|key|',|'-)`)
)

// syntaxFault says in plain words what the YAML library did not understand.
func (y *File) syntaxFault(text []byte, err error) {
	if m := unknownAnchor.FindStringSubmatch(err.Error()); m != nil {
		y.anchorFault(text, m[1])
		return
	}
	// The library leaves out the number of the first line.
	f := Fault{File: y.Name, Line: 1, Message: strings.TrimPrefix(err.Error(), "yaml: "), Remedy: "the file is not YAML; look for a lost quote, colon or indent at or above this line"}
	if m := yamlErrorLine.FindStringSubmatch(err.Error()); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
		f.Message = strings.TrimPrefix(err.Error(), m[0])
		if ofParser.MatchString(f.Message) {
			f.Line++
		}
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	f.Line = min(f.Line, len(lines))
	odd := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimLeft(l, " "), "\u00a0") })
	switch {
	case odd >= 0:
		f.Line, f.Column = odd+1, 1+strings.Index(lines[odd], "\u00a0")
		f.Message, f.Remedy = "a non-breaking space indents this line", "indent with plain spaces"
	case strings.HasPrefix(f.Message, "found a tab character"):
		if at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimLeft(l, " "), "\t") }); at >= 0 {
			f.Line = at + 1
		}
		f.Column, f.Message, f.Remedy = 1, "a tab indents this line", "indent with spaces"
	case f.Message == "did not find expected <document start>":
		f.Message, f.Remedy = "something stands after the end of the document", "remove it, or the ... above it"
	case strings.HasPrefix(strings.TrimLeft(lineOf(lines, f.Line), " "), "\t"):
		f.Column, f.Message, f.Remedy = 1, "a tab indents this line", "indent with spaces"
	case f.Message == "found character that cannot start any token":
		if at := foreignSign.FindStringSubmatchIndex(lineOf(lines, f.Line)); at != nil {
			f.Column = at[2] + 1
		}
		f.Message, f.Remedy = "a text begins with a sign that means something else in YAML", "put a text that begins with one of > @ % ` | in quotes: \"> 128\""
	case strings.HasPrefix(f.Message, "mapping values are not allowed"):
		f.Column = lastColon(lineOf(lines, f.Line))
		f.Message, f.Remedy = "a colon stands where a value has begun already", "put a text that has a colon in quotes; or the line is indented too far"
	case strings.HasPrefix(f.Message, "could not find expected ':'"):
		f.Message, f.Remedy = "a key has no colon after it", "write  key: value  on this line or the one above"
	case strings.HasPrefix(f.Message, "did not find expected ',' or"):
		f.Message, f.Remedy = "a { } or [ ] that begins here is not closed, or lacks a comma", "look for a lost quote, comma, } or ]"
	case f.Message == "did not find expected node content":
		f.Message, f.Remedy = "a { } or [ ] that begins here or above is not closed", "look for a lost quote, comma, } or ]"
	case strings.HasPrefix(f.Message, "found unexpected end of stream"):
		f.Message, f.Remedy = "a quote, { or [ that was opened is not closed", "look for it at or above this line"
	case ofParser.MatchString(f.Message):
		if line, spaces := misindented(lines); line > 0 {
			f.Line, f.Column = line, spaces+1
			f.Message, f.Remedy = fmt.Sprintf("is indented by %d spaces, as nothing beside it is", spaces), "indent it exactly like the keys that it belongs with"
		}
	}
	if strings.Contains(f.Message, "closed") {
		f.Column = unclosed(lineOf(lines, f.Line))
	}
	if line := lineOf(lines, f.Line); f.Column == 0 {
		f.Column = 1 + len(line) - len(strings.TrimLeft(line, " ")) // where the line begins, for want of better
	}
	y.Faults = append(y.Faults, f)
}

// lastColon is the column of the last colon of a line after which a value would
// stand, 0 where there is none.
func lastColon(line string) int {
	return max(strings.LastIndex(line, ": "), strings.LastIndex(strings.TrimRight(line, " \r")+"\n", ":\n")) + 1
}

// unclosed is the column of the quote, or else of the first bracket, that a line
// opens and does not close; 0 where there is none.
func unclosed(line string) int {
	var open []int
	quoted := -1
	for i := range len(line) {
		switch c := line[i]; {
		case quoted >= 0:
			if c == line[quoted] && (c != '"' || line[i-1] != '\\') {
				quoted = -1
			}
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" \t[{,:", line[i-1]) >= 0):
			quoted = i
		case c == '{' || c == '[':
			open = append(open, i)
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if quoted >= 0 {
		return quoted + 1
	}
	if len(open) > 0 {
		return open[0] + 1
	}
	return 0
}

func lineOf(lines []string, number int) string {
	if number < 1 || number > len(lines) {
		return ""
	}
	return lines[number-1]
}

// anchorFault finds where a name is used that no anchor has.
func (y *File) anchorFault(text []byte, name string) {
	message, remedy := fmt.Sprintf("*%s refers to no &%s above it", name, name), fmt.Sprintf("a text that begins with * stands in quotes: \"*%s\"", name)
	used := regexp.MustCompile(`(?m)(?:^|[ \t\[{,:])(\*` + regexp.QuoteMeta(name) + `)(?:[ \t\r\n,\]}]|$)`)
	if at := used.FindSubmatchIndex(text); at != nil {
		y.faultAt(text, at[2], message, remedy)
		return
	}
	y.Faults = append(y.Faults, Fault{File: y.Name, Message: message, Remedy: remedy})
}

// misindented finds the first line that is indented less than the one before
// and like none above it; 0 where there is none. What stands after "- " is
// indented by two more.
func misindented(lines []string) (number, spaces int) {
	open := []int{0}
	for i, line := range lines {
		body := strings.TrimLeft(line, " ")
		if body == "" || body[0] == '#' || strings.HasPrefix(body, "---") {
			continue
		}
		at := len(line) - len(body)
		for open[len(open)-1] > at {
			open = open[:len(open)-1]
		}
		if at > open[len(open)-1] {
			if i > 0 && indentOf(lines[:i]) > at {
				return i + 1, at
			}
			open = append(open, at)
		}
		for rest := body; strings.HasPrefix(rest, "- "); {
			trimmed := strings.TrimLeft(rest[1:], " ")
			at += len(rest) - len(trimmed)
			open, rest = append(open, at), trimmed
		}
	}
	return 0, 0
}

// indentOf is how far the last line that says something is indented.
func indentOf(lines []string) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if body := strings.TrimLeft(lines[i], " "); body != "" && body[0] != '#' {
			return len(lines[i]) - len(body)
		}
	}
	return 0
}
