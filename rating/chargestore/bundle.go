package chargestore

import (
	"unsafe"

	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/ingest/sametext"
)

// The texts of a row are kept in bundles: combinations that many rows have in
// common, such as who ran a job. A row has one number for all its combinations of
// the bundles of common, and one for those of odd.
const (
	inGroup  = iota // the first three are those of common, the last two of odd
	inOrigin        // who ran it, and where
	inBasis         // by which line of which card it was charged, or why it was not
	inName
	inExact // numbers too large for the columns of fractions; empty for nearly all rows
	inSource
	bundleCount
)

// bundledColumns are the columns of each bundle.
func bundledColumns() [bundleCount][]int {
	return [bundleCount][]int{
		inGroup:  {colGroup},
		inOrigin: {colCluster, colUser, colAccount, colPartition, colQoS, colState},
		inBasis: {colVerdict, colCause, colCauseDetail, colMeter, colUnit, colPrice, colPriceLabel,
			colCard, colCardDigest, colCardVersion, colRule, colRuleFile},
		inName:   {colName},
		inExact:  {colQuantityExact, colAmountExact},
		inSource: {colSourceFile, colSourceDigest},
	}
}

// Places of texts in their bundles.
const (
	originCluster = 0
	basisMeter    = 3
	exactQuantity = 0
	exactAmount   = 1
)

// oddExact is the place of inExact in an odd.
const oddExact = 0

// codeOf gives the code by which a row has the number of its combination of a
// bundle, and the place where that stands in what the code is of.
func codeOf(bundle int) (code, place int) {
	switch bundle {
	case inName:
		return codeName, 0
	case inExact, inSource:
		return codeOdd, bundle - inExact
	}
	return codeCommon, bundle
}

// texts are those of a set of rows.
type texts struct {
	bundles [bundleCount]bundle
	commons numbered[common]
	odds    numbered[odd]
	spans   numbered[span]
	shapes  numbered[shape]
}

func newTexts() (t texts) {
	for i, columns := range bundledColumns() {
		t.bundles[i].columns = columns
	}
	return t
}

// bytes is how much memory they take.
func (t *texts) bytes() int {
	sum := t.commons.bytes() + t.odds.bytes() + t.spans.bytes() + t.shapes.bytes()
	for i := range t.bundles {
		sum += t.bundles[i].bytes
	}
	return sum
}

// combinations are numbered texts of some columns.
type combinations struct {
	columns []int
	texts   []string // of combination n: texts[n·len(columns):][:len(columns)]
}

func (c *combinations) count() int { return len(c.texts) / len(c.columns) }

// of gives combination n.
func (c *combinations) of(n uint32) []string {
	width := len(c.columns)
	return c.texts[int(n)*width:][:width:width]
}

// bundle numbers the different combinations of the texts of some columns in
// the order in which they come. It keeps copies.
type bundle struct {
	combinations
	hashes []uint64
	slots  []uint32 // number + 1; a power of two of them
	arena  []byte   // the copies' memory
	bytes  int      // that all combinations take

	// Combinations that were asked for lately, as they came.
	recent  []string // a combination a slot
	numbers []uint32 // of each slot: the number + 1; 0 where there is none
}

// how many are remembered.
const (
	rememberedTexts = 1 << rememberedWidth
	rememberedWidth = 11
)

const (
	firstSlots = 1 << 8
	arenaBytes = 64 << 10
)

// number gives the number of a combination.
func (b *bundle) number(texts []string) uint32 {
	if b.recent == nil {
		b.recent, b.numbers = make([]string, rememberedTexts*len(b.columns)), make([]uint32, rememberedTexts)
	}
	slot := sametext.Slot(texts, rememberedWidth)
	recent := b.recent[slot*len(texts):][:len(texts)]
	if b.numbers[slot] == 0 || !sametext.Same(texts, recent) {
		copy(recent, texts)
		b.numbers[slot] = b.find(texts) + 1
	}
	return b.numbers[slot] - 1
}

// find looks a combination up by what it says.
func (b *bundle) find(texts []string) uint32 {
	if len(b.slots) < 2*len(b.hashes)+2 {
		b.rehash()
	}
	hash := hashOf(texts)
	mask := uint64(len(b.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		n := b.slots[at]
		if n == 0 {
			b.slots[at] = uint32(len(b.hashes) + 1)
			return b.append(texts, hash)
		}
		if b.hashes[n-1] == hash && same(b.of(n-1), texts) {
			return n - 1
		}
	}
}

// textBytes is about how much memory a numbered text takes beside what it says:
// where that lies, and in what finds it again.
const textBytes = 40

// append adds a combination that is known to be new.
func (b *bundle) append(texts []string, hash uint64) uint32 {
	b.hashes = append(b.hashes, hash)
	b.bytes += textBytes * len(texts)
	for _, s := range texts {
		b.texts = append(b.texts, b.copy(s))
	}
	return uint32(len(b.hashes) - 1)
}

func (b *bundle) copy(s string) string {
	if s == "" {
		return ""
	}
	if len(b.arena)+len(s) > cap(b.arena) {
		b.arena = make([]byte, 0, max(arenaBytes, len(s))) // the old one lives on in its strings
	}
	start := len(b.arena)
	b.arena = append(b.arena, s...)
	b.bytes += len(s)
	return unsafe.String(&b.arena[start], len(s))
}

func (b *bundle) rehash() {
	b.slots = make([]uint32, max(firstSlots, 2*len(b.slots)))
	mask := uint64(len(b.slots) - 1)
	for i, hash := range b.hashes {
		at := hash & mask
		for b.slots[at] != 0 {
			at = (at + 1) & mask
		}
		b.slots[at] = uint32(i + 1)
	}
}

func same(a, b []string) bool {
	for i, s := range a {
		if s != b[i] {
			return false
		}
	}
	return true
}

func hashOf(texts []string) uint64 {
	const odd = 0x9E3779B97F4A7C15
	h := uint64(0)
	for _, s := range texts {
		h = (h^columnar.Hash(s))*odd + h>>29
	}
	return h ^ h>>32
}
