package chargestore

import (
	"slices"
	"strings"

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
const rememberedTextBytes = 12 << 20

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
