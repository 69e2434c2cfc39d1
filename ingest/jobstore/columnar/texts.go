package columnar

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Texts numbers the different texts of one column in the order in which they
// come. It keeps copies: what it is given may be overwritten afterwards.
type Texts struct {
	List   []string
	Hashes []uint64 // Hash of each of List

	slots []uint32 // position in List + 1; a power of two of them
	arena []byte   // the copies' memory

	// The texts asked for lately, as they came. A text at the same address is
	// the same text, as long as it is held here; most columns come from a
	// reader that has each of its values once.
	recent [recentTexts]recentText
	empty  uint32 // number of "" + 1
}

type recentText struct {
	text   string
	number uint32
}

const (
	firstSlots  = 1 << 10
	recentTexts = 256
	arenaBytes  = 64 << 10
)

// Reset forgets all texts. Strings of List that somebody holds stay as they
// are: their memory is not used again.
func (t *Texts) Reset() {
	clear(t.slots)
	t.List, t.Hashes, t.arena = t.List[:0], t.Hashes[:0], nil
	t.recent, t.empty = [recentTexts]recentText{}, 0
}

// Number gives the number of s.
func (t *Texts) Number(s string) uint32 {
	if s == "" {
		if t.empty == 0 {
			t.empty = t.find(s) + 1
		}
		return t.empty - 1
	}
	start := unsafe.StringData(s)
	address := uintptr(unsafe.Pointer(start))
	r := &t.recent[(address>>3^address>>9)%recentTexts]
	if len(r.text) == len(s) && unsafe.StringData(r.text) == start {
		return r.number
	}
	*r = recentText{s, t.find(s)}
	return r.number
}

// find looks s up by what it says.
func (t *Texts) find(s string) uint32 {
	if len(t.slots) < 2*len(t.List)+2 {
		t.rehash()
	}
	hash := Hash(s)
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		n := t.slots[at]
		if n == 0 {
			t.List = append(t.List, t.copy(s))
			t.Hashes = append(t.Hashes, hash)
			t.slots[at] = uint32(len(t.List))
			return uint32(len(t.List) - 1)
		}
		if t.Hashes[n-1] == hash && t.List[n-1] == s {
			return n - 1
		}
	}
}

func (t *Texts) copy(s string) string {
	if s == "" {
		return ""
	}
	if len(t.arena)+len(s) > cap(t.arena) {
		t.arena = make([]byte, 0, max(arenaBytes, len(s))) // the old one lives on in its strings
	}
	start := len(t.arena)
	t.arena = append(t.arena, s...)
	return unsafe.String(&t.arena[start], len(s))
}

func (t *Texts) rehash() {
	t.slots = make([]uint32, max(firstSlots, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i, hash := range t.Hashes {
		at := hash & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = uint32(i + 1)
	}
}

// Odd constants without structure, from the digits of π.
const (
	key0 = 0x243F6A8885A308D3
	key1 = 0x13198A2E03707345
	key2 = 0xA4093822299F31D1
)

// Fold mixes two words into one by the halves of their product.
func Fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Hash gives 64 bits of s. It is the same on every machine and in every
// version of the program, since it goes into the indices on disk.
func Hash(s string) uint64 {
	n := len(s)
	h := uint64(n)*key2 ^ key0
	if n == 0 {
		return h
	}
	b := unsafe.Slice(unsafe.StringData(s), n)
	for len(b) > 16 {
		h = Fold(binary.LittleEndian.Uint64(b)^key1, binary.LittleEndian.Uint64(b[8:])^h)
		b = b[16:]
	}
	var first, last uint64
	switch m := len(b); {
	case m >= 8:
		first, last = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[m-8:])
	case m >= 4:
		first, last = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[m-4:]))
	default:
		first = uint64(b[0])<<16 | uint64(b[m/2])<<8 | uint64(b[m-1])
	}
	return Fold(first^key1, last^h) ^ h
}
