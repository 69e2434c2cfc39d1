package ingest

import (
	"bytes"
	"slices"
)

// presence says of a member whether the record has it, and as null.
type presence struct{ given, null bool }

func (p presence) there() bool { return p.given && !p.null }

// see notes that the member at hand is there. Where it stands twice nothing
// tells which of the two holds.
func (s *scanner) see(p *presence) {
	if p.given {
		s.wrong(s.name, "stands twice in one object")
	}
	p.given, p.null = true, s.kind() == 'n'
}

// object reads the members of the object at hand; names come in lower case.
func (s *scanner) object(p *presence, member func(name string)) {
	s.see(p)
	if s.is('{', s.name) {
		s.members(member)
	}
}

func (s *scanner) members(member func(name string)) {
	for more := s.enter('}'); more; more = s.another('}') {
		member(s.foldedKey())
	}
}

// only reads the object at hand, of which one member counts.
func (s *scanner) only(p *presence, name string, read func(*scanner)) {
	s.object(p, func(found string) {
		if found == name {
			read(s)
		} else {
			s.skip()
		}
	})
}

// list reads the elements of the list at hand.
func (s *scanner) list(p *presence, element func(name string)) {
	s.see(p)
	name := s.name
	if !s.is('[', name) {
		return
	}
	for more := s.enter(']'); more; more = s.another(']') {
		element(name)
	}
}

// truth reads a truth value; null is false.
func (s *scanner) truth() bool {
	switch s.kind() {
	case 't', 'f', 'n':
		return s.raw() == "true"
	}
	s.wrongKind(s.name, "true or false")
	return false
}

// jsonText is a text that may be null. What is no text (the reservation's
// name in v0.0.38 is a meaningless number) is none.
type jsonText struct {
	presence
	text string
}

func (t *jsonText) read(s *scanner) {
	s.see(&t.presence)
	if s.kind() == '"' {
		t.text = s.str()
	} else {
		s.skip()
	}
}

// jsonNumber is a whole number in any of its shapes: plain, null, as text, or
// {set, infinite, number}. text is "" where there is none; what is no number
// is kept for the column that it comes to stand in to refuse.
type jsonNumber struct {
	presence
	text     string
	infinite bool
}

func (n *jsonNumber) read(s *scanner) {
	s.see(&n.presence)
	switch s.kind() {
	case 'n':
		s.skip()
	case '"':
		n.take(s.str())
	case '{':
		n.readParts(s)
	default:
		n.take(s.raw())
	}
}

func (n *jsonNumber) readParts(s *scanner) {
	var isSet, isInfinite, number presence
	set, text := false, ""
	s.members(func(name string) {
		switch name {
		case "set":
			s.see(&isSet)
			set = s.truth()
		case "infinite":
			s.see(&isInfinite)
			n.infinite = s.truth()
		case "number":
			s.see(&number)
			text = s.number()
		default:
			s.skip()
		}
	})
	if set && !n.infinite {
		n.take(text)
	}
}

// number reads a number, plain or as text.
func (s *scanner) number() string {
	switch c := s.kind(); {
	case c == 'n':
		s.skip()
	case c == '"':
		text := s.str()
		if !isJSONNumber(text) {
			s.wrong(s.name, "a text stands where a number is due")
		}
		return text
	case c == '-' || c-'0' < 10:
		return s.raw()
	default:
		s.wrongKind(s.name, "a number")
	}
	return ""
}

func isJSONNumber(text string) bool {
	s := scanner{text: text + " "}
	return s.numberEnd(0) == len(text)
}

// take takes a number's text. Slurm's sentinels are no numbers.
func (n *jsonNumber) take(text string) {
	switch text {
	case "", "4294967294", "18446744073709551614", "-2":
	case "4294967295", "18446744073709551615", "-1", "Infinity", "infinity":
		n.infinite = true
	default:
		n.text = text
	}
}

// or returns the number, or other where there is none.
func (n *jsonNumber) or(other string) string {
	if n.text == "" {
		return other
	}
	return n.text
}

// jsonWords is one word, or a list of them.
type jsonWords struct {
	presence
	list []string
}

func (w *jsonWords) read(s *scanner) {
	if s.kind() == '"' {
		s.see(&w.presence)
		w.list = append(w.list, s.str())
		return
	}
	s.list(&w.presence, func(name string) {
		switch s.kind() {
		case '"':
			w.list = append(w.list, s.str())
		case 'n':
			w.list = append(w.list, "")
			s.skip()
		default:
			s.wrongKind(name, "a text")
		}
	})
}

// state returns the one word that sacct would print: what accounting stores
// as a flag (REQUEUED, RESIZING, REVOKED) comes as a second word beside
// PENDING.
func (w *jsonWords) state() string {
	for _, word := range w.list {
		switch State(word) {
		case Requeued, Resizing, Revoked:
			return word
		}
	}
	for _, word := range w.list {
		switch State(word) {
		case Pending, Running, Suspended, Completed, Cancelled, Failed, Timeout, NodeFail, Preempted, BootFail, Deadline, OutOfMemory:
			return word
		}
	}
	if len(w.list) == 0 {
		return ""
	}
	return w.list[0]
}

// jsonTRES is a list of TRES.
type jsonTRES struct {
	presence
	items   []byte // as they are printed, one behind the other
	ends    []int  // of each item
	sorted  [][]byte
	printed []byte
}

// emptied is a list without items, which goes on to use the memory of t.
func (t *jsonTRES) emptied() jsonTRES {
	return jsonTRES{items: t.items[:0], ends: t.ends[:0], sorted: t.sorted[:0], printed: t.printed[:0]}
}

func (t *jsonTRES) read(s *scanner) {
	s.list(&t.presence, func(element string) {
		if !s.is('{', element) {
			return
		}
		var kind, name jsonText
		var count jsonNumber
		s.members(func(member string) {
			switch member {
			case "type":
				kind.read(s)
			case "name":
				name.read(s)
			case "count":
				count.read(s)
			default:
				s.skip()
			}
		})
		t.add(kind.text, name.text, count.or("0"))
	})
}

func (t *jsonTRES) add(kind, name, count string) {
	if kind == "" || count == "0" {
		return
	}
	t.items = append(t.items, kind...)
	if name != "" {
		t.items = append(append(t.items, '/'), name...)
	}
	t.items = append(append(t.items, '='), count...)
	if kind == "mem" || kind == "bb" {
		t.items = append(t.items, 'M')
	}
	t.ends = append(t.ends, len(t.items))
}

// print writes the TRES as sacct --noconvert prints them: in order, without
// what is zero or has no value.
func (t *jsonTRES) print() string {
	from := 0
	for _, end := range t.ends {
		t.sorted = append(t.sorted, t.items[from:end])
		from = end
	}
	slices.SortFunc(t.sorted, bytes.Compare)
	for i, item := range t.sorted {
		if i > 0 {
			t.printed = append(t.printed, ',')
		}
		t.printed = append(t.printed, item...)
	}
	return string(t.printed)
}

// jsonSteps are a job's steps, of which only the beginnings are kept.
type jsonSteps struct {
	presence
	count  int64
	starts []int64 // of those that began
}

func (l *jsonSteps) read(s *scanner) {
	s.list(&l.presence, func(element string) {
		l.count++
		if !s.is('{', element) {
			return
		}
		var time presence
		var start, end jsonNumber
		s.members(func(member string) {
			if member != "time" {
				s.skip()
				return
			}
			s.object(&time, func(member string) {
				switch member {
				case "start":
					start.read(s)
				case "end":
					end.read(s)
				default:
					s.skip()
				}
			})
		})
		if from, ok := parseDigits(start.text); ok && from > 0 {
			l.starts = append(l.starts, from)
		}
	})
}
