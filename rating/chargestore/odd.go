package chargestore

import (
	"hpcbill/ingest"
	"hpcbill/ingest/sametext"
)

// odd is what nearly all rows of a dump have in common: where they come from,
// and that nothing is unusual about them.
type odd struct {
	bundled [2]uint32 // the numbers of their combinations of inExact and inSource
	span    uint32    // the number of their span
}

// span is the part of a job that was rated, where it is not the whole job.
type span struct{ from, until ingest.Instant }

// wholeJob is the span of a job that was not cut.
var wholeJob = span{ingest.None, ingest.None}

// odd gives the number of what is unusual about a row, mostly that of the row
// before.
func (l *Lexicon) odd(source *ingest.Source, exact [2]string, s span) uint32 {
	texts := [...]string{source.File, source.Digest}
	if !l.sourceKnown || !sametext.Same(texts[:], l.lastSource[:]) {
		l.lastSource, l.sourceKnown = texts, true
		l.lastOdd = odd{bundled: [...]uint32{noExact, l.bundles[inSource].number(texts[:])}, span: l.spans.number(wholeJob)}
		l.oddNumber = l.odds.number(l.lastOdd)
	}
	if s == wholeJob && exact == [2]string{} {
		return l.oddNumber
	}
	o := l.lastOdd
	o.bundled[oddExact], o.span = l.bundles[inExact].number(exact[:]), l.spans.number(s)
	return l.odds.number(o)
}
