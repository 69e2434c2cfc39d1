package ingest

import (
	"fmt"
	mathbits "math/bits"
	"strings"
	"unicode/utf8"
)

// maxJSONDepth is how deep the values of an answer may lie in each other.
// Slurm's lie twelve deep.
const maxJSONDepth = 64

// scanner reads JSON from a text that may end before the value does. What goes
// wrong stops it: from then on it reads nothing, and says so at the end of the
// object or list that is being read.
type scanner struct {
	text  string
	at    int
	depth int
	stop  stop
	due   string // what is wrong at at, where stop is notJSON

	name string // of the member that was read last
	odd  *fault // the first value that is JSON, but not what is due
}

// stop says why a scanner reads no more.
type stop uint8

const (
	notStopped stop = iota
	textEnds        // before the value does
	notJSON
)

// ends stops the scanner because the text ends.
func (s *scanner) ends() int {
	if s.stop == notStopped {
		s.stop, s.at = textEnds, len(s.text)
	}
	return -1
}

// bad stops the scanner because of what stands at at.
func (s *scanner) bad(at int, due string) int {
	if s.stop == notStopped {
		s.stop, s.at, s.due = notJSON, at, due
	}
	return -1
}

// badOrEnds is bad where the text has a byte at at, else ends.
func (s *scanner) badOrEnds(at int, due string) int {
	if at >= len(s.text) {
		return s.ends()
	}
	return s.bad(at, due)
}

// wrong notes that a member is not what is due; the first one counts.
func (s *scanner) wrong(name, cause string) {
	if s.odd == nil {
		s.odd = &fault{name, cause, remedyPlainField}
	}
}

// wrongKind notes that the value at hand is of another kind than is due, and
// passes over it.
func (s *scanner) wrongKind(name, due string) {
	is := "a number"
	switch s.kind() {
	case 0:
		return
	case '{':
		is = "an object"
	case '[':
		is = "a list"
	case '"':
		is = "a text"
	case 't', 'f':
		is = "a truth value"
	case 'n':
		is = "null"
	}
	s.wrong(name, is+" stands where "+due+" is due")
	s.skip()
}

// kind returns the byte that the value at hand begins with, 0 where there is
// none.
func (s *scanner) kind() byte {
	if s.stop != notStopped || s.at >= len(s.text) {
		s.ends()
		return 0
	}
	return s.text[s.at]
}

// is reports whether the value at hand begins with the bracket. null is
// passed over, and so is, as wrong, any other value.
func (s *scanner) is(bracket byte, name string) bool {
	switch s.kind() {
	case bracket:
		return true
	case 'n':
		s.skip()
	default:
		due := "an object"
		if bracket == '[' {
			due = "a list"
		}
		s.wrongKind(name, due)
	}
	return false
}

// enter goes into the object or the list at hand, which ends in end. It
// reports whether there is anything in it.
func (s *scanner) enter(end byte) bool {
	if s.depth++; s.depth > maxJSONDepth {
		s.bad(s.at, tooDeep)
		return false
	}
	i := s.space(s.at + 1)
	if i < 0 {
		return false
	}
	s.at = i
	if s.text[i] == end {
		s.leave()
		return false
	}
	return true
}

func (s *scanner) leave() {
	s.at++
	s.depth--
}

// another goes to the next member or element of the object or list that ends
// in end, or out of it.
func (s *scanner) another(end byte) bool {
	if s.stop != notStopped {
		return false
	}
	i := s.space(s.at)
	if i < 0 {
		return false
	}
	s.at = i
	switch s.text[i] {
	case ',':
		if i = s.space(i + 1); i >= 0 {
			s.at = i
		}
		return i >= 0
	case end:
		s.leave()
	default:
		s.bad(i, endDue)
	}
	return false
}

// key reads the name of a member, and goes to its value.
func (s *scanner) key() string {
	from := s.at
	end, plain := s.nameEnd(from)
	if end < 0 {
		s.name = ""
		return ""
	}
	s.name = s.text[from+1 : end-1]
	if !plain {
		s.name = unescape(s.name)
	}
	if i := s.colon(end); i >= 0 {
		s.at = i
	}
	return s.name
}

// foldedKey is key in lower case: the names of a record's members count
// without regard to case.
func (s *scanner) foldedKey() string {
	name := s.key()
	for i := 0; i < len(name); i++ {
		if c := name[i]; c-'A' < 26 || c >= 0x80 {
			return strings.ToLower(name)
		}
	}
	return name
}

// str reads the text at hand. Halves of surrogate pairs that stand alone
// become bytes that are not UTF-8.
func (s *scanner) str() string {
	from := s.at
	end, plain := s.stringEnd(from + 1)
	if end < 0 {
		return ""
	}
	s.at = end
	if plain {
		return s.text[from+1 : end-1]
	}
	return unescape(s.text[from+1 : end-1])
}

// raw passes over the value at hand and returns it as it stands.
func (s *scanner) raw() string {
	from := s.at
	s.skip()
	if s.stop != notStopped {
		return ""
	}
	return s.text[from:s.at]
}

// What is due where something else stands.
const (
	endDue   = "stands where a comma or the end of the object or list is due"
	nameDue  = "stands where the name of a member is due"
	colonDue = "stands where a colon is due"
	valueDue = "stands where a value is due"
	digitDue = "stands where a digit is due"
	tooDeep  = "opens a value in values that are 64 deep"
)

// nameEnd returns where the name of a member ends that stands at i.
func (s *scanner) nameEnd(i int) (end int, plain bool) {
	if s.stop != notStopped || i >= len(s.text) || s.text[i] != '"' {
		return s.badOrEnds(i, nameDue), false
	}
	return s.stringEnd(i + 1)
}

// colon goes from the end of a name to the value.
func (s *scanner) colon(i int) int {
	if i = s.space(i); i < 0 {
		return -1
	}
	if s.text[i] != ':' {
		return s.bad(i, colonDue)
	}
	return s.space(i + 1)
}

const blanks = ' ' * ones

// space passes over blanks; -1 where nothing follows them.
func (s *scanner) space(i int) int {
	text := s.text
	for i < len(text) {
		switch text[i] {
		case '\n': // and what indents the next line
			for i++; i+8 <= len(text); i += 8 {
				if others := load64(text, i) ^ blanks; others != 0 {
					i += mathbits.TrailingZeros64(others) / 8
					break
				}
			}
		case ' ', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return s.ends()
}

// scalarEnd returns where the text, the number or the word at i ends.
func (s *scanner) scalarEnd(i int) int {
	switch c := s.text[i]; c {
	case '"':
		end, _ := s.stringEnd(i + 1)
		return end
	case 't':
		return s.wordEnd(i, "true")
	case 'f':
		return s.wordEnd(i, "false")
	case 'n':
		return s.wordEnd(i, "null")
	default:
		return s.numberEnd(i)
	}
}

func (s *scanner) wordEnd(i int, word string) int {
	if strings.HasPrefix(s.text[i:], word) {
		return i + len(word)
	}
	for k := 0; i+k < len(s.text); k++ {
		if s.text[i+k] != word[k] {
			return s.bad(i+k, "stands where the word "+word+" goes on")
		}
	}
	return s.ends()
}

// numberEnd returns where the number at i ends.
func (s *scanner) numberEnd(i int) int {
	text, from := s.text, i
	if text[i] == '-' {
		i++
	}
	whole := i
	i = digitsFrom(text, i)
	switch {
	case i == whole && i == from:
		return s.bad(i, valueDue)
	case i == whole:
		return s.badOrEnds(i, digitDue)
	case i > whole+1 && text[whole] == '0':
		return s.bad(whole+1, "stands behind the leading 0 of a number")
	}
	if i < len(text) && text[i] == '.' {
		if whole, i = i+1, digitsFrom(text, i+1); i == whole {
			return s.badOrEnds(i, digitDue)
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if whole, i = i, digitsFrom(text, i); i == whole {
			return s.badOrEnds(i, digitDue)
		}
	}
	if i == len(text) { // it may go on
		return s.ends()
	}
	return i
}

// stringEnd returns where the text ends whose first byte is at i, behind its
// quote; plain says that it has no escapes.
func (s *scanner) stringEnd(i int) (end int, plain bool) {
	text := s.text
	for plain = true; ; {
		for ; i+8 <= len(text); i += 8 {
			if special := specialBytes(load64(text, i)); special != 0 {
				i += mathbits.TrailingZeros64(special) / 8
				break
			}
		}
		if i >= len(text) {
			return s.ends(), false
		}
		switch c := text[i]; {
		case c == '"':
			return i + 1, plain
		case c == '\\':
			if i, plain = s.escapeEnd(i), false; i < 0 {
				return -1, false
			}
		case c < ' ':
			return s.bad(i, "stands in a text"), false
		default:
			i++
		}
	}
}

// specialBytes returns the highest bit of every byte that is a quote, a
// backslash or a control character. The lowest bit that it sets is right; of
// those above it some may be too many.
func specialBytes(word uint64) uint64 {
	quote, slash := word^'"'*ones, word^'\\'*ones
	return ((quote-ones)&^quote | (slash-ones)&^slash | (word-' '*ones)&^word) & highs
}

// describe says what stands where the scanner stopped.
func (s *scanner) describe() string {
	switch c := s.text[s.at]; {
	case c == 0:
		return "a NUL byte " + s.due
	case c < utf8.RuneSelf:
		return fmt.Sprintf("%q %s", rune(c), s.due)
	default:
		return fmt.Sprintf("0x%02x %s", c, s.due)
	}
}
