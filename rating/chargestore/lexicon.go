package chargestore

import (
	"slices"
	"strings"

	"hpcbill/ingest"
	"hpcbill/ingest/sametext"
	"hpcbill/rating"
)

// Lexicon is the texts of the rows that one goroutine makes, numbered. What was
// met in some rows is known in the next.
type Lexicon struct {
	texts
	bases   []basis // numbers of inBasis that were given lately
	kinds   rating.ByKind[kindCodes]
	byMeter []int

	rememberedBytes int // see the constant

	lastSource  [2]string // of the rows lately
	lastOdd     odd       // of those of them about which nothing is unusual
	oddNumber   uint32    // of this
	sourceKnown bool

	lastShapes []knownShape // that were met lately

	translation *translation // of these texts: others have another
}

// NewLexicon makes one without texts.
func NewLexicon() *Lexicon {
	l := &Lexicon{bases: make([]basis, rememberedBases), lastShapes: make([]knownShape, rememberedShapes), rememberedBytes: rememberedTextBytes}
	l.begin()
	return l
}

// noExact is the number of the combination of inExact that says nothing, as
// nearly all do.
const noExact = 0

// begin begins with other memory, since rows may wait whose texts are in what
// there was.
func (l *Lexicon) begin() {
	l.texts = newTexts()
	clear(l.bases)
	l.kinds.Forget()
	l.sourceKnown = false
	clear(l.lastShapes)
	l.translation = &translation{}
	if l.bundles[inExact].number([]string{"", ""}) != noExact {
		panic("BUG: texts that are not new")
	}
}

// how many bytes of texts are remembered from rows to rows.
const rememberedTextBytes = 8 << 20

// forget forgets the texts where they have become too many: the next rows will
// mostly have the same.
func (l *Lexicon) forget() {
	if l.bytes() > l.rememberedBytes {
		l.begin()
	}
}

// byMeters gives the positions of charges in the order of their meters.
func (l *Lexicon) byMeters(charges []rating.Charge) []int {
	l.byMeter = l.byMeter[:0]
	for i := range charges {
		l.byMeter = append(l.byMeter, i)
	}
	slices.SortStableFunc(l.byMeter, func(x, y int) int { return strings.Compare(charges[x].Meter, charges[y].Meter) })
	return l.byMeter
}

// kindCodes are the codes that the rows of a Kind have: codeCommon + 1 of each
// charge, or of the row that has none; 0 where it is not known.
type kindCodes [2]uint32

// codesOf gives what is known of the codes of the outcome's rows, to be filled
// in; nil where they are looked for one by one.
func (l *Lexicon) codesOf(o *rating.Outcome) []uint32 {
	if o.Kind == nil || len(o.Charges) > len(kindCodes{}) {
		return nil
	}
	return l.kinds.Of(o.Kind)[:]
}

// common gives the code of what hangs on the outcome's Kind.
func (l *Lexicon) common(o *rating.Outcome, c *rating.Charge, charged bool) uint32 {
	j := o.Job
	return l.commons.number(common{ruleLine: uint32(c.Reason.Line), bundled: [...]uint32{
		inGroup:  l.bundles[inGroup].number([]string{c.Group}),
		inOrigin: l.bundles[inOrigin].number([]string{j.Cluster, j.User, j.Account, j.Partition, j.QoS, string(j.State)}),
		inBasis:  l.basis(o, c, charged),
	}})
}

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

// knownShape is a shape with its number + 1; 0 where there is none.
type knownShape struct {
	shape
	number uint32
}

// how many shapes are remembered; a power of two.
const rememberedShapes = 1 << 9

// shape gives the number of a job's shape.
func (l *Lexicon) shape(j *ingest.Job) uint32 {
	s := shapeOf(j)
	h := uint64(s.nodes)<<48 ^ uint64(s.cpus)<<32 ^ uint64(s.gpus)<<56 ^ uint64(s.memoryMiB) ^ uint64(s.billing)<<16
	known := &l.lastShapes[h*0x9E3779B97F4A7C15>>55]
	if known.number == 0 || known.shape != s {
		*known = knownShape{s, l.shapes.number(s) + 1}
	}
	return known.number - 1
}
