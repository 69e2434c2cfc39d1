package ingest

import "strings"

// How many different texts one column keeps for the life of a Reader. Beyond
// it, texts share the memory of the dump's block.
const maxInterned = 1 << 16

// texts makes equal texts of one column one string, so that a column of few
// values costs no memory per job and later stages compare cheaply.
type texts struct {
	last  string
	slots [256]string
	all   map[string]string
}

// of returns a string equal to s that does not share the block's memory,
// unless the column has too many different texts.
func (t *texts) of(s string) string {
	if s == t.last {
		return t.last
	}
	if s == "" {
		return ""
	}
	slot := &t.slots[hashText(s)%uint32(len(t.slots))]
	if *slot != s {
		*slot = t.lookUp(s)
	}
	t.last = *slot
	return t.last
}

func (t *texts) lookUp(s string) string {
	if known, ok := t.all[s]; ok {
		return known
	}
	if t.all == nil {
		t.all = map[string]string{}
	}
	if len(t.all) >= maxInterned {
		return s
	}
	kept := strings.Clone(s)
	t.all[kept] = kept
	return kept
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
	var v uint64
	for i := 0; i < n; i++ {
		v = v<<8 | uint64(s[i])
	}
	h = (h ^ v) * k
	return uint32(h >> 32)
}

// load64 reads eight bytes of s at i, least significant first.
func load64(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// tresTexts remembers what TRES texts say: a cluster has few of them beside
// its many jobs. Its size is fixed; a text that finds its place taken moves
// in and the older is read again when it returns.
type tresTexts struct {
	slots [2048]struct {
		text string
		tres tres
	}
}

func (t *tresTexts) of(s string) (*tres, string, *fault) {
	slot := &t.slots[hashText(s)%uint32(len(t.slots))]
	if slot.text == s && s != "" {
		return &slot.tres, slot.text, nil
	}
	read, f := parseTRES(s)
	if f != nil {
		return nil, "", f
	}
	slot.text, slot.tres = strings.Clone(s), read
	return &slot.tres, slot.text, nil
}
