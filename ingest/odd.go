package ingest

import (
	"fmt"
	"strings"
)

// odd reads what is no plain record at text[pos:]: a blank line, a header
// again, a message of sacct's, or a record whose texts hold delimiters or new
// lines. It returns where the next line begins, or 0 where only the next block
// can tell.
func (p *parser) odd(text string, pos int, last bool) (int, error) {
	end, next := lineEnd(text, pos)
	line := p.trimmed(text[pos:end])
	if strings.Trim(line, " \t\r") == "" {
		if p.open.kind == jobRecord && p.schema.lastFree && holdsMessage(p.open.text) {
			p.extend(line) // the message took the end of the line for itself
		}
		return next, nil
	}
	if isMessage(line) {
		return 0, messageFault(line)
	}
	done, ofUser, more, err := p.secondHeader(text[pos:end], text[next:], last)
	if done || err != nil {
		return next, err
	}
	s := p.schema
	if !more && !ofUser && hasHeader(line) {
		ofUser, more = p.namesColumns(line, text[next:], last)
	}
	if more {
		return 0, nil
	}
	if f := p.foreign(line, ofUser); f != nil {
		return 0, f
	}
	c := &p.cells
	n := c.split(line, s.delimiter, maxCells)
	if n >= len(s.columns) {
		switch c.align(line, s) {
		case readOnce:
			if !s.drawn && c.holdRecord(s) {
				return next, p.setAside(line, joinedFault, false)
			}
			if s.overlaps && c.leansOver(s) {
				return next, p.setAside(line, &fault{"", fmt.Sprintf("a text ends, or the cell after it begins, with a part of the delimiter %q", s.delimiter), remedyFreeText}, false)
			}
			if ok, err := p.record(c, line, p.line, p.anchored(c, n)); ok || err != nil {
				return next, err
			}
		case readOften:
			return next, p.setAside(line, &fault{"", fmt.Sprintf("%d cells where %d are due, and more than one reading fits", n, len(s.columns)), remedyFreeText}, false)
		}
		c.split(line, s.delimiter, maxCells)
	}
	if c.breaksInText(s) {
		if joined, more, err := p.joinForward(text, pos, last); joined > 0 || more || err != nil {
			return joined, err
		}
		c.split(line, s.delimiter, maxCells)
	}
	cut := next == len(text) && last && text[end-1] != '\n' && end == len(text) && n < len(s.columns)
	if p.continues(c, n) && !cut {
		p.extend(line)
		return next, nil
	}
	if cut {
		p.report.Truncated = true
	}
	if holdsMessage(line) {
		return 0, messageFault(line)
	}
	return next, p.setAside(line, p.misfit(c, n, cut), n < len(s.columns))
}

// anchored returns the note for a record whose texts were put together again.
// Surplus cells of a name in the last column need none: no other reading was
// possible.
func (p *parser) anchored(c *cells, pieces int) Notes {
	if pieces == len(p.schema.columns) {
		return 0
	}
	return NoteReanchored
}

// misfit says why no record can be made of a line.
func (p *parser) misfit(c *cells, n int, cut bool) *fault {
	width := len(p.schema.columns)
	switch {
	case cut:
		return &fault{"", fmt.Sprintf("the file ends inside this record: %d cells where %d are due", n, width), remedyRedump}
	case n < width && looksLikeRecord(c.text):
		return &fault{"", fmt.Sprintf("%d cells where %d are due, in a line that has the times of a record", n, width), remedyJoined}
	case n > width && p.schema.fold:
		c.split(c.text, p.schema.delimiter, width) // the surplus is of the last text: a cell before it is wrong
	case n != width:
		return &fault{"", fmt.Sprintf("%d cells where %d are due", n, width), remedyFreeText}
	}
	for i := range p.schema.columns {
		col := &p.schema.columns[i]
		if (col.field != fieldNone || col.shape == shapeEmpty) && !col.shape.fits(c.at(int16(i))) {
			f := &fault{col.name, fmt.Sprintf("%.80q cannot stand in this column", c.at(int16(i))), remedyFreeText}
			if col.shape == shapeDate {
				f.remedy = remedyTimes
			}
			return f
		}
	}
	return &fault{"", "the cells are not in their columns", remedyFreeText}
}

// setAside quarantines a line after settling the record before it.
func (p *parser) setAside(text string, f *fault, incomplete bool) error {
	if err := p.settle(); err != nil {
		return err
	}
	p.quarantine(text, p.line, f, p.endIn(text))
	p.open.incomplete = incomplete
	return nil
}

// endIn guesses at the End of a record that cannot be read, so that it can be
// listed with its period: the latest date in it.
func (p *parser) endIn(text string) Instant {
	latest := None
	for i := 0; i+19 <= len(text) && i < maxQuarantinedText; i++ {
		if !isStamp(text[i:]) {
			continue
		}
		if s, ok := p.clock.local(text[i : i+19]); ok {
			latest = max(latest, s.at)
		}
	}
	return latest
}

// continues reports whether a line is more of the text of the record before.
func (p *parser) continues(c *cells, n int) bool {
	if p.open.kind == noRecord || n > len(p.schema.columns) || c.startsRecord(p.schema) || (!p.schema.drawn && looksLikeRecord(c.text)) ||
		len(p.open.text)+len(p.open.joined) > maxRecordBytes {
		return false
	}
	if p.open.kind == badRecord && p.open.incomplete {
		return true
	}
	return p.schema.lastFree
}

// extend adds a line to the record that was read last.
func (p *parser) extend(line string) {
	if p.open.joined == nil {
		p.open.joined = append(p.open.joined, p.open.text...)
		if p.open.kind == jobRecord {
			p.batch = p.batch[:len(p.batch)-1]
		}
	}
	p.open.joined = append(p.open.joined, '\n')
	p.open.joined = append(p.open.joined, line...)
}

// rejoin reads the last record again with the lines that belong to it.
func (p *parser) rejoin() error {
	o := p.open
	text := string(o.joined)
	p.open = openRecord{}
	if o.kind == badRecord {
		q := &p.report.Quarantined[len(p.report.Quarantined)-1]
		q.Text = keptText(text)
		p.open = openRecord{kind: badRecord, text: text, line: o.line}
		return nil
	}
	if holdsMessage(text) {
		p.quarantine(text, o.line, messageFault(text), p.endIn(text))
		return nil
	}
	c := &p.rejoined
	if c.align(text, p.schema) == readOnce {
		if ok, err := p.record(c, text, o.line, NoteReanchored); ok || err != nil {
			return err
		}
	}
	p.quarantine(text, o.line, &fault{"", "a text of this record holds new lines, and no single reading fits", remedyFreeText}, p.endIn(text))
	return nil
}

// joinForward puts the line at pos together with those after it until they
// make one record. It returns where the next line begins, 0 where they never
// do; more says that the lines of the next block are needed.
func (p *parser) joinForward(text string, pos int, last bool) (next int, more bool, err error) {
	s := p.schema
	width := len(s.columns)
	end, next := lineEnd(text, pos)
	pieces := p.cells.split(p.trimmed(text[pos:end]), s.delimiter, maxCells)
	tries := 0
	for lines := int64(1); lines < maxRecordLines && end-pos < maxRecordBytes && tries < maxJoinTries; lines++ {
		if next >= len(text) {
			return 0, !last, nil
		}
		lineEndAt, after := lineEnd(text, next)
		line := p.trimmed(text[next:lineEndAt])
		if p.standsAlone(line) || isMessage(line) || hasHeader(line) {
			return 0, false, nil
		}
		pieces += p.spare.split(line, s.delimiter, maxCells) - 1
		end, next = lineEndAt, after
		whole := p.trimmed(text[pos:end])
		if pieces < width {
			continue
		}
		if tries++; p.spare.align(whole, s) != readOnce {
			continue
		}
		if p.spare.holdRecord(s) {
			return 0, false, nil
		}
		if holdsMessage(whole) {
			err := p.setAside(whole, messageFault(whole), false)
			p.line += lines
			return next, false, err
		}
		ok, err := p.record(&p.spare, whole, p.line, NoteReanchored)
		if err != nil {
			return 0, false, err
		}
		if ok {
			p.line += lines
			return next, false, nil
		}
	}
	return 0, false, nil
}

// standsAlone reports whether a line is a record, or a header, by itself.
func (p *parser) standsAlone(line string) bool {
	s := p.schema
	if p.spare.split(line, s.delimiter, maxCells) < len(s.columns) {
		return line != "" && line == strings.TrimSuffix(s.header, "\r")
	}
	return p.spare.align(line, s) == readOnce || parseHeader(line, s.delimiter) != nil
}
