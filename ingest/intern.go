package ingest

import "strings"

// How many different texts one column keeps for the life of a Reader. Beyond
// it, texts share the memory of the dump's block.
const maxInterned = 1 << 16

// texts makes equal cells of one column one string, so that a column of few
// values costs no memory per job and later stages compare cheaply.
type texts struct {
	last  text
	slots [1024]text
	all   map[string]string
}

// text is a cell and the name that it stands for.
type text struct{ cell, name string }

// of returns the name that a cell stands for: canonical(cell), which is asked
// for once. It does not share the block's memory, unless the column has too
// many different cells.
func (t *texts) of(cell string, canonical func(string) string) string {
	if cell == t.last.cell {
		return t.last.name
	}
	if cell == "" {
		return ""
	}
	slot := &t.slots[hashText(cell)%uint32(len(t.slots))]
	if slot.cell != cell {
		*slot = t.lookUp(cell, canonical)
	}
	t.last = *slot
	return slot.name
}

func (t *texts) lookUp(cell string, canonical func(string) string) text {
	if name, ok := t.all[cell]; ok {
		return text{cell, name}
	}
	if t.all == nil {
		t.all = map[string]string{}
	}
	if len(t.all) >= maxInterned {
		return text{cell, canonical(cell)}
	}
	kept := strings.Clone(cell)
	t.all[kept] = canonical(kept)
	return text{kept, t.all[kept]}
}

// hashText mixes the length and up to 24 bytes of the text: enough to spread
// the values of a column, not more, since the texts are compared anyway.
func hashText(s string) uint32 {
	const k = 0x9E3779B97F4A7C15
	n := len(s)
	h := uint64(n) * k
	if n >= 8 {
		h = (h ^ load64(s, 0)) * k
		h ^= h >> 29
		h = (h ^ load64(s, n-8)) * k
		if n > 16 {
			h ^= h >> 29
			h = (h ^ load64(s, n/2-4)) * k
		}
		return uint32(h >> 32)
	}
	if n >= 4 {
		h = (h ^ uint64(load32(s, 0)) ^ uint64(load32(s, n-4))<<32) * k
		return uint32(h >> 32)
	}
	for i := 0; i < n; i++ {
		h = (h ^ uint64(s[i])) * k
	}
	return uint32(h >> 32)
}

// load64 reads eight bytes of s at i, least significant first.
func load64(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

func load32(s string, i int) uint32 {
	b := s[i : i+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// tresTexts remembers what TRES texts say: a cluster has few of them beside
// its many jobs.
type tresTexts struct {
	last  *tresText
	slots [4096]*tresText
	all   map[string]*tresText
}

type tresText struct {
	text string
	tres tres
}

func (t *tresTexts) of(s string) (*tresText, *fault) {
	if t.last != nil && t.last.text == s {
		return t.last, nil
	}
	slot := &t.slots[hashText(s)%uint32(len(t.slots))]
	if *slot != nil && (*slot).text == s {
		t.last = *slot
		return *slot, nil
	}
	known, ok := t.all[s]
	if !ok {
		read, f := parseTRES(s)
		if f != nil {
			return nil, f
		}
		known = &tresText{text: strings.Clone(s), tres: read}
		if t.all == nil {
			t.all = map[string]*tresText{}
		}
		if len(t.all) < maxInterned {
			t.all[known.text] = known
		}
	}
	*slot, t.last = known, known
	return known, nil
}
