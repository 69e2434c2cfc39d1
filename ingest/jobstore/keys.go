package jobstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
)

// key is an entry of an index: a raw job id, the fingerprint of a record of
// that job, and where it is.
type key struct {
	raw   uint64
	print uint64
	at    uint64 // row of the part; in a list of sightings, line of the dump
}

// An index is a list of keys in the order of their raw ids, in a fixed width,
// followed by the first raw id of each block of blockKeys. It is searched
// where it lies: the directory is read whole, then the blocks that are asked
// for. Raw ids rise with time, so those of a day stand together.
//
//	keys       raw − MinRaw (4 bytes, or 8 where Wide), print (8), at (4 or 8)
//	directory  raw of the first key of each block (8)
//
// All numbers are little-endian.
type indexShape struct {
	Offset int64  `json:"offset"`
	Count  int    `json:"count"`
	MinRaw uint64 `json:"min_raw"`
	MaxRaw uint64 `json:"max_raw"`
	Wide   bool   `json:"wide,omitempty"`
}

const blockKeys = 256

func (s indexShape) width() int {
	if s.Wide {
		return 24
	}
	return 16
}

// encodeIndex gives the bytes of an index of keys, which are in order.
func encodeIndex(keys []key, wide bool) ([]byte, indexShape) {
	s := indexShape{Count: len(keys), MinRaw: keys[0].raw, MaxRaw: keys[len(keys)-1].raw}
	s.Wide = wide || s.MaxRaw-s.MinRaw >= 1<<32
	blocks := (len(keys) + blockKeys - 1) / blockKeys
	data := make([]byte, 0, len(keys)*s.width()+8*blocks)
	for _, k := range keys {
		if s.Wide {
			data = binary.LittleEndian.AppendUint64(data, k.raw-s.MinRaw)
			data = binary.LittleEndian.AppendUint64(data, k.print)
			data = binary.LittleEndian.AppendUint64(data, k.at)
			continue
		}
		data = binary.LittleEndian.AppendUint32(data, uint32(k.raw-s.MinRaw))
		data = binary.LittleEndian.AppendUint64(data, k.print)
		data = binary.LittleEndian.AppendUint32(data, uint32(k.at))
	}
	for i := 0; i < len(keys); i += blockKeys {
		data = binary.LittleEndian.AppendUint64(data, keys[i].raw)
	}
	return data, s
}

// covers reports whether any of the raw ids, which are in order, can be in
// the index.
func (s indexShape) covers(raws []uint64) bool {
	at := sort.Search(len(raws), func(i int) bool { return raws[i] >= s.MinRaw })
	return at < len(raws) && raws[at] <= s.MaxRaw
}

// find calls match for every key of the index whose raw id is one of raws,
// which are in order and may repeat: with the position of the first that
// equals it.
func (s indexShape) find(r io.ReaderAt, raws []uint64, match func(i int, k key)) error {
	raws, skipped := clip(raws, s.MinRaw, s.MaxRaw)
	if len(raws) == 0 || s.Count == 0 {
		return nil
	}
	blocks := (s.Count + blockKeys - 1) / blockKeys
	directory := make([]byte, 8*blocks)
	if _, err := r.ReadAt(directory, s.Offset+int64(s.Count*s.width())); err != nil {
		return fmt.Errorf("read index: %w", noEOF(err))
	}
	first := func(block int) uint64 { return binary.LittleEndian.Uint64(directory[8*block:]) }
	buffer := make([]byte, blockKeys*s.width())
	i := 0
	for block := 0; block < blocks && i < len(raws); {
		// A raw id that several keys share may begin in the block before the
		// one whose first it is.
		if raws[i] > first(block) {
			next := block + sort.Search(blocks-block, func(b int) bool { return first(block+b) >= raws[i] })
			block = max(block, next-1)
		}
		n := min(blockKeys, s.Count-block*blockKeys)
		data := buffer[:n*s.width()]
		if _, err := r.ReadAt(data, s.Offset+int64(block*blockKeys*s.width())); err != nil {
			return fmt.Errorf("read index: %w", noEOF(err))
		}
		i = s.join(data, raws, i, skipped, match)
		block++
	}
	return nil
}

// join matches one block and gives the position from which to go on.
func (s indexShape) join(data []byte, raws []uint64, i, skipped int, match func(i int, k key)) int {
	for len(data) > 0 {
		k := s.decode(data)
		data = data[s.width():]
		for i < len(raws) && raws[i] < k.raw {
			i++
		}
		if i == len(raws) {
			return i
		}
		if raws[i] == k.raw {
			match(skipped+i, k)
		}
	}
	return i
}

func (s indexShape) decode(data []byte) key {
	if s.Wide {
		return key{s.MinRaw + binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:]), binary.LittleEndian.Uint64(data[16:])}
	}
	return key{s.MinRaw + uint64(binary.LittleEndian.Uint32(data)), binary.LittleEndian.Uint64(data[4:]), uint64(binary.LittleEndian.Uint32(data[12:]))}
}

// read reads an index whole.
func (s indexShape) read(name string) ([]key, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, s.Count*s.width())
	if _, err := f.ReadAt(data, s.Offset); err != nil {
		return nil, fmt.Errorf("read index of %s: %w", name, noEOF(err))
	}
	keys := make([]key, s.Count)
	for i := range keys {
		keys[i] = s.decode(data[i*s.width():])
	}
	return keys, nil
}

// shortIndex makes indices without some of their rows. It may be used for one
// after another.
type shortIndex struct {
	data  []byte
	after []uint32 // the rows as they will be numbered
}

// without reads an index whole and gives the bytes of one without the keys of
// some rows, which are in order; the rows after them move up. The next use
// overwrites them.
func (x *shortIndex) without(f io.ReaderAt, s indexShape, gone []uint32) ([]byte, indexShape, error) {
	size := s.Count * s.width()
	x.data = slices.Grow(x.data[:0], size+8*(s.Count/blockKeys+1))
	data := x.data[:size]
	if _, err := f.ReadAt(data, s.Offset); err != nil {
		return nil, s, fmt.Errorf("read index: %w", noEOF(err))
	}
	x.after = slices.Grow(x.after[:0], s.Count)
	after := x.after[:s.Count]
	for row, n := uint32(0), uint32(0); int(row) < len(after); row++ {
		if int(n) < len(gone) && gone[n] == row {
			after[row] = rowGone
			n++
			continue
		}
		after[row] = row - n
	}
	width, kept := s.width(), data[:0]
	for ; len(data) > 0; data = data[width:] {
		row := s.row(data)
		if row >= uint64(len(after)) {
			return nil, s, errors.New("damaged index")
		}
		if after[row] == rowGone {
			continue
		}
		kept = append(kept, data[:width]...)
		s.setRow(kept[len(kept)-width:], after[row])
	}
	s.Count = len(kept) / width
	for i := 0; i < s.Count; i += blockKeys {
		kept = binary.LittleEndian.AppendUint64(kept, s.decode(kept[i*width:]).raw)
	}
	return kept, s, nil
}

// rowGone is no row: a part has fewer.
const rowGone = ^uint32(0)

func (s indexShape) row(entry []byte) uint64 {
	if s.Wide {
		return binary.LittleEndian.Uint64(entry[16:])
	}
	return uint64(binary.LittleEndian.Uint32(entry[12:]))
}

func (s indexShape) setRow(entry []byte, row uint32) {
	if s.Wide {
		binary.LittleEndian.PutUint64(entry[16:], uint64(row))
		return
	}
	binary.LittleEndian.PutUint32(entry[12:], row)
}

// clip gives those of raws, in order, that lie in [low, high], and how many
// stand before them.
func clip(raws []uint64, low, high uint64) ([]uint64, int) {
	from := sort.Search(len(raws), func(i int) bool { return raws[i] >= low })
	to := sort.Search(len(raws), func(i int) bool { return raws[i] > high })
	return raws[from:to], from
}

// noEOF makes the end of a file an error that says so: a file that was found
// whole may not be shorter now.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// sortKeys puts keys in the order of their raw ids, those of one id in the
// order in which they stand, by counting digits. scratch is as long as keys.
func sortKeys(keys, scratch []key) {
	var all, any uint64 = ^uint64(0), 0
	for _, k := range keys {
		all, any = all&k.raw, any|k.raw
	}
	const digit = 11
	from, to := keys, scratch
	for shift := 0; shift < 64; shift += digit {
		if (any^all)>>shift&(1<<digit-1) == 0 {
			continue
		}
		var starts [1 << digit]int
		for i := range from {
			starts[from[i].raw>>shift&(1<<digit-1)]++
		}
		sum := 0
		for d, n := range starts {
			starts[d], sum = sum, sum+n
		}
		for i := range from {
			d := from[i].raw >> shift & (1<<digit - 1)
			to[starts[d]] = from[i]
			starts[d]++
		}
		from, to = to, from
	}
	if len(keys) > 0 && &from[0] != &keys[0] {
		copy(keys, from)
	}
}
