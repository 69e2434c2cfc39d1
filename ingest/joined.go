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

// namesOfHeader is how many names of sacct's columns side by side are a
// header, and no longer a user's text.
const namesOfHeader = 4

// hasHeader reports whether a header stands anywhere in the text.
func hasHeader(text, delimiter string) bool {
	known := 0
	for rest, more := text, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, delimiter)
		if sacctColumns[strings.ToLower(strings.TrimSuffix(name, "\r"))].name == "" {
			known = 0
		} else if known++; known == namesOfHeader {
			return true
		}
	}
	return false
}

// foreign refuses a file in which another dump begins inside a line, or that
// goes on as JSON: what follows would be read by the wrong columns, or pass for
// a name.
func (p *parser) foreign(line string) *fault {
	if hasHeader(line, p.schema.delimiter) {
		return &fault{"", "a header stands inside this line: a dump was joined to one whose last line has no end", "join them again with a new line between, or ingest each by itself"}
	}
	if p.schema.drawn {
		return nil
	}
	if strings.Contains(line, `"job_id":`) || strings.Contains(line, `"jobs":`) {
		return &fault{"", "an answer in JSON stands among the lines of text", "ingest each by itself"}
	}
	return nil
}

// looksLikeRecord reports whether two times stand in the text: it is no more
// of a user's text then, but a record of other columns or another delimiter.
func looksLikeRecord(text string) bool {
	times := 0
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
	return times == 2
}

// holdRecord reports whether a free text has the times of a record, and so is
// another record that lacks a cell.
func (c *cells) holdRecord(s *schema) bool {
	for i := range s.columns {
		if s.columns[i].shape == shapeFree && looksLikeRecord(c.at(int16(i))) {
			return true
		}
	}
	return false
}

// isWordOf reports whether text[from:to] stands apart from letters beside it.
func isWordOf(text string, from, to int) bool {
	isLetter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] == '_' || (text[i]|0x20)-'a' <= 'z'-'a')
	}
	return !isLetter(from-1) && !isLetter(to)
}
