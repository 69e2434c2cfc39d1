package ingest

import (
	"fmt"
	"strings"
)

// What gets into a dump that is not of the sacct that wrote it: messages, and
// other dumps that were joined to it.

// messageHeads begin the lines that sacct and its library, and those that run
// it, write to standard error.
var messageHeads = []string{"sacct: ", "slurmdbd: ", "slurmdb: ", "slurm_load_", "slurm_persist_", "Invalid time specification",
	"srun: error: ", "ssh: connect to ", "client_loop: ", "Connection closed by "}

// isMessage reports whether a line is a message: of sacct's, or of a shell
// about sacct.
func isMessage(line string) bool {
	for _, head := range messageHeads {
		if strings.HasPrefix(line, head) {
			return true
		}
	}
	return strings.Contains(line, ": sacct: ") || (strings.Contains(line, ": line ") && strings.Contains(line, " sacct "))
}

// holdsMessage reports whether a message has got into the middle of a line:
// standard output is written in blocks, standard error at once.
func holdsMessage(text string) bool {
	return strings.Contains(text, "sacct: error: ") || strings.Contains(text, "sacct: fatal: ") || strings.Contains(text, "slurmdbd: error: ")
}

func messageFault(text string) *fault {
	return &fault{"", fmt.Sprintf("a message stands among the records: %.200q", text), "the dump may be incomplete: dump again, and keep standard error apart"}
}

// namesOfHeader is how many names of sacct's columns in a row are a header, and
// no longer a user's text: a header that a bill can be made from has six, and
// the first may be glued to what stands before it.
const namesOfHeader = 5

// shortestJoined is the length of the shortest thing that joinedTo finds.
const shortestJoined = len("1740985200|1740988800")

// joinedTo reports whether another dump begins in the last cell of a line, the
// new line between the two being lost.
func (s *schema) joinedTo(last string) bool {
	return hasHeader(last) || (!s.drawn && endsInRecord(last))
}

// hasHeader reports whether a header of any delimiter stands in the text.
func hasHeader(text string) bool {
	at, _ := headerIn(text)
	return at >= 0
}

// headerIn gives where the names of a header begin in the text, those that are
// sacct's, and what stands between them; -1 where there is none.
func headerIn(text string) (at int, separator string) {
	known := 0
	for i := 0; i < len(text) && len(text)-i >= 3; {
		end := i
		for end < len(text) && isLetter(text[end]) {
			end++
		}
		next := end
		for next < len(text) && !isLetter(text[next]) {
			next++
		}
		switch {
		case sacctColumns[strings.ToLower(text[i:end])].name == "":
			known = 0
		case known == 0 || text[end:next] != separator && next < len(text):
			known, at, separator = 1, i, text[end:next]
		default:
			known++
		}
		if known == namesOfHeader {
			return at, separator
		}
		i = next
	}
	return -1, ""
}

var headerInside = &fault{"", "a header stands inside this line: a dump was joined to one whose last line has no end", "join them again with a new line between, or ingest each by itself"}

var headerOrName = &fault{"", "a header of other columns stands here, and the record after it fits those before, too", "ingest each dump by itself; if this is the name of a job, dump with a delimiter that nobody knows (sacct --delimiter)"}

// recordBelow tells whether the first record below a line that may be a header
// is one by the columns that hold, and whether it may be one by those of the
// header. Neither is known where a header or the end comes before a record;
// more says that the next block is needed.
func (p *parser) recordBelow(text string, last bool, other func(line string) bool) (ours, theirs, more bool) {
	for range linesLookedAt {
		if text == "" {
			return false, false, !last
		}
		end, next := lineEnd(text, 0)
		line := p.trimmed(text[:end])
		if parseHeader(line, p.opt.Delimiter) != nil {
			return false, false, false
		}
		ours, theirs = p.spare.align(line, p.schema) == readOnce, other(strings.TrimSuffix(line, "\r"))
		if ours || theirs {
			return ours, theirs, false
		}
		text = text[next:]
	}
	return false, false, false
}

// namesColumns reports whether a line that has a header within is a whole record
// of which a text of the user's names columns: what follows is by the columns
// that hold, and has not as many cells as the header has names, or nothing
// follows.
func (p *parser) namesColumns(line, following string, last bool) (ofUser, more bool) {
	if p.cells.align(line, p.schema) != readOnce {
		return false, false
	}
	for i := range p.schema.columns {
		text := p.cells.at(int16(i))
		at, separator := headerIn(text)
		if at < 0 {
			continue
		}
		if p.schema.columns[i].shape != shapeFree || separator == "" {
			return false, false
		}
		if strings.Trim(following, " \t\r\n") == "" {
			return last, !last
		}
		// The first name is glued to the text before it, and the text may hold
		// the separator.
		fewest, most := strings.Count(text[at:], separator)-1, strings.Count(text, separator)+3
		ours, theirs, more := p.recordBelow(following, last, func(line string) bool {
			n := strings.Count(strings.Replace(line, text, "", 1), separator) + 1 // a task of the same array has the text, too
			return n >= fewest && n <= most
		})
		return ours && !theirs, more
	}
	return false, false
}

// gluedName reports whether the name of a column is one of sacct's with other
// text before it.
func gluedName(name string) bool {
	for i := range name {
		if sacctColumns[strings.ToLower(name[i:])].name != "" {
			return i > 0
		}
	}
	return false
}

var joinedFault = &fault{"", "a text of this record has the times of another record", remedyJoined}

// foreign refuses a file in which another dump begins inside a line, or that
// goes on as JSON: what follows would be read by the wrong columns, or pass for
// a name. A header may be known to be a user's text.
func (p *parser) foreign(line string, ofUser bool) *fault {
	if !ofUser && hasHeader(line) {
		return headerInside
	}
	if p.schema.drawn {
		return nil
	}
	if strings.Contains(line, `"job_id":`) || strings.Contains(line, `"jobs":`) {
		return &fault{"", "an answer in JSON stands among the lines of text", "ingest each by itself"}
	}
	return nil
}

// looksLikeRecord reports whether a line has two times: it is no more of a
// user's text then, but a record of other columns or another delimiter.
func looksLikeRecord(line string) bool { return timesIn(line) > 1 }

// endsInRecord is looksLikeRecord for a text within a line. The times alone are
// what a user calls the steps of a simulation: a record has a state too.
func endsInRecord(text string) bool { return timesIn(text) > 1 && holdsState(text) }

// holdsState reports whether a state in which a job is recorded stands in the
// text as a word of its own.
func holdsState(text string) bool {
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && (text[end] == '_' || text[end]-'A' <= 'Z'-'A') {
			end++
		}
		if end-i >= len(Failed) && isWordOf(text, i, end) && knownState(State(text[i:end])) {
			return true
		}
		i = end + 1
	}
	return false
}

// timesIn counts the times in a text, up to two.
func timesIn(text string) (times int) {
	for i := 0; i < len(text) && times < 2; {
		switch digits := digitsFrom(text, i) - i; {
		case digits == 4 && i+19 <= len(text) && isStamp(text[i:]):
			times++
			i += 19
		case digits == len("1740988800") && text[i] < '5' && isWordOf(text, i, i+digits):
			times++
			i += digits
		default:
			i += max(digits, 1)
		}
	}
	return times
}

// holdRecord reports whether a free text has the times and the state of a
// record, or a time and cells beside it, and so is another record that lacks a
// cell.
func (c *cells) holdRecord(s *schema) bool {
	for i := range s.columns {
		if s.columns[i].shape != shapeFree {
			continue
		}
		text := c.at(int16(i))
		if endsInRecord(text) || (timesIn(text) > 0 && strings.Count(text, s.delimiter) > 1) {
			return true
		}
	}
	return false
}

// isWordOf reports whether text[from:to] stands apart from letters beside it.
func isWordOf(text string, from, to int) bool {
	ofWord := func(i int) bool { return i >= 0 && i < len(text) && (text[i] == '_' || isLetter(text[i])) }
	return !ofWord(from-1) && !ofWord(to)
}
