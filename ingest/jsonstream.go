package ingest

import (
	"fmt"
	"strings"
)

// maxValueBytes is the longest value of an answer that is read as one, such
// as a job with all its steps: Slurm allows 40000 of them by default, of some
// 5 kB each.
const maxValueBytes = 512 << 20

// headBytes is how much of a block is put behind what the block before it
// leaves: more than a job without many steps takes.
const headBytes = 32 << 10

// stream is a scanner of a text that comes in blocks: it holds as much of it
// as the value at hand needs.
type stream struct {
	scanner
	next    func() (block, error)
	block   string // the last one taken, where the text holds but its head, behind lead bytes
	lead    int
	ended   bool  // no block follows
	passed  int64 // bytes before the text
	longest int   // value that is read as one, in bytes
}

// whole calls read until the text that it needs is there.
func (l *stream) whole(read func()) error {
	from, depth := l.at, l.depth
	for {
		read()
		switch l.stop {
		case notStopped:
			return nil
		case notJSON:
			return &fault{"", fmt.Sprintf("no JSON at byte %d: %s", l.passed+int64(l.at)+1, l.describe()), remedyNoJSON}
		}
		if err := l.more(from); err != nil {
			return err
		}
		from, l.depth = 0, depth
	}
}

const remedyNoJSON = "dump again, without +complex, and keep standard error apart"

// more goes on to the text from from on, with what follows it.
func (l *stream) more(from int) error {
	rest, block := l.text[from:], l.block
	l.passed += int64(from)
	l.block = ""
	switch {
	case block != "" && from >= l.lead:
		l.scanner = scanner{text: block[from-l.lead:]}
		return nil
	case block != "":
		l.scanner = scanner{text: rest + block[len(l.text)-l.lead:]}
		return nil
	case l.ended:
		return &fault{"", "the answer is cut off", remedyRedump}
	case len(rest) > l.longest:
		return &fault{"", fmt.Sprintf("a value is longer than %d MiB", l.longest>>20), "dump again with -X: without it a job holds all its steps"}
	}
	return l.join(rest)
}

// join puts what follows behind the rest of the text: the head of a block,
// where that is likely to do, so that little is copied; else enough to double
// it, so that no long value is read often.
func (l *stream) join(rest string) error {
	next, err := l.next()
	if err != nil {
		return err
	}
	l.ended = next.last
	switch {
	case rest == "":
		l.scanner = scanner{text: next.text}
		return nil
	case len(rest) < headBytes/2 && len(next.text) > headBytes:
		l.scanner = scanner{text: rest + next.text[:headBytes]}
		l.block, l.lead = next.text, len(rest)
		return nil
	}
	var b strings.Builder
	b.Grow(2*len(rest) + len(next.text))
	b.WriteString(rest)
	b.WriteString(next.text)
	for b.Len() < 2*len(rest) && !l.ended {
		if next, err = l.next(); err != nil {
			return err
		}
		b.WriteString(next.text)
		l.ended = next.last
	}
	l.scanner = scanner{text: b.String()}
	return nil
}

// eachMember reads the object at hand, which may be longer than the text.
func (l *stream) eachMember(member func(name string) error) error {
	more, name := false, ""
	err := l.whole(func() {
		if more = l.enter('}'); more {
			name = l.key()
		}
	})
	for err == nil && more {
		if err = member(name); err != nil {
			break
		}
		err = l.whole(func() {
			if more = l.another('}'); more {
				name = l.key()
			}
		})
	}
	return err
}

// eachElement reads the list at hand, which may be longer than the text.
func (l *stream) eachElement(element func() error) error {
	more := false
	err := l.whole(func() { more = l.enter(']') })
	for err == nil && more {
		if err = element(); err == nil {
			err = l.whole(func() { more = l.another(']') })
		}
	}
	return err
}

// opens reports whether the value at hand begins with the bracket. Another
// value is passed over.
func (l *stream) opens(bracket byte) (bool, error) {
	if l.kind() == bracket {
		return true, nil
	}
	return false, l.pass()
}

// pass passes over the value at hand, a list an element at a time.
func (l *stream) pass() error {
	if l.kind() == '[' {
		return l.eachElement(func() error { return l.whole(l.skip) })
	}
	return l.whole(l.skip)
}
