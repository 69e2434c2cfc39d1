package chargestore

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"
	"slices"
)

// blockRows is how many rows are written to, and read back from, the
// temporary file at a time.
const blockRows = 2 << 10

// blockEncoder turns rows into blocks of bytes: temporary files, which this
// process alone reads. A block needs nothing but itself.
type blockEncoder struct {
	block   []byte
	numbers [numberCount][]int64
	codes   [bundleCount][]uint32
	ints    []int64
	local   []int32 // by number of a combination: its number in the block, or -1
	used    []uint32
}

// encode gives the rows. The next use overwrites it.
func (e *blockEncoder) encode(t *texts, rows []*record) []byte {
	e.turn(rows)
	e.block = binary.AppendUvarint(e.block[:0], uint64(len(rows)))
	for _, ints := range e.numbers {
		e.appendInts(ints)
	}
	e.ints = resized(e.ints, len(rows))
	for k := range bundleCount {
		e.appendBundle(&t.bundles[k], e.codes[k])
	}
	for i, r := range rows {
		e.ints[i] = int64(r.idEnd - r.idStart)
	}
	e.appendInts(e.ints)
	for _, r := range rows {
		e.block = append(e.block, t.jobID(r)...)
	}
	e.block = append(e.block, make([]byte, padding)...)
	return binary.LittleEndian.AppendUint32(e.block, crc32.Checksum(e.block, crcTable()))
}

// turn turns rows into columns.
func (e *blockEncoder) turn(rows []*record) {
	for n := range e.numbers {
		e.numbers[n] = resized(e.numbers[n], len(rows))
	}
	for k := range e.codes {
		e.codes[k] = resized(e.codes[k], len(rows))
	}
	for i, r := range rows {
		for n := range e.numbers {
			e.numbers[n][i] = r.numbers[n]
		}
		for k := range e.codes {
			e.codes[k][i] = r.codes[k]
		}
	}
}

// padding stands after the last number, so that eight bytes can be read or
// written where a number has fewer.
const padding = 8

func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// appendInts writes numbers as their least and the differences to it, each in
// as few bytes as the largest needs.
func (e *blockEncoder) appendInts(ints []int64) {
	least, greatest := ints[0], ints[0]
	for _, v := range ints {
		least, greatest = min(least, v), max(greatest, v)
	}
	width := (bits.Len64(uint64(greatest)-uint64(least)) + 7) / 8
	e.block = append(binary.AppendVarint(e.block, least), byte(width))
	if width == 0 {
		return
	}
	at := len(e.block)
	end := at + width*len(ints)
	e.block = slices.Grow(e.block, end-at+padding)[:end+padding]
	for _, v := range ints {
		binary.LittleEndian.PutUint64(e.block[at:], uint64(v)-uint64(least))
		at += width
	}
	e.block = e.block[:end]
}

func (e *blockEncoder) appendBundle(b *bundle, codes []uint32) {
	for len(e.local) < b.count() {
		e.local = append(e.local, -1)
	}
	e.used = e.used[:0]
	for i, code := range codes {
		local := e.local[code]
		if local < 0 {
			local = int32(len(e.used))
			e.local[code] = local
			e.used = append(e.used, code)
		}
		e.ints[i] = int64(local)
	}
	e.block = binary.AppendUvarint(e.block, uint64(len(e.used)))
	bytes := 0
	for _, code := range e.used {
		for _, s := range b.of(code) {
			e.block = binary.AppendUvarint(e.block, uint64(len(s)))
			bytes += len(s)
		}
	}
	e.block = binary.AppendUvarint(e.block, uint64(bytes))
	for _, code := range e.used {
		e.local[code] = -1
		for _, s := range b.of(code) {
			e.block = append(e.block, s...)
		}
	}
	e.appendInts(e.ints)
}

var errBlock = errors.New("a temporary file is damaged")

// blockDecoder reads what blockEncoder wrote.
type blockDecoder struct {
	data []byte
	ints []int64
}

// decode replaces the rows of b by those of a block.
func (d *blockDecoder) decode(b *batch, block []byte) error {
	if len(block) < 4 {
		return errBlock
	}
	d.data = block[:len(block)-4]
	if crc32.Checksum(d.data, crcTable()) != binary.LittleEndian.Uint32(block[len(block)-4:]) {
		return errBlock
	}
	b.reset()
	b.n = d.uvarint()
	for n := range b.numbers {
		b.numbers[n] = d.readInts(b.numbers[n], b.n)
	}
	for k := range bundleCount {
		d.readBundle(&b.bundles[k])
		d.ints = d.readInts(d.ints, b.n)
		b.codes[k] = resized(b.codes[k], b.n)
		for i, code := range d.ints {
			b.codes[k][i] = uint32(code)
		}
	}
	d.ints = d.readInts(d.ints, b.n)
	b.ends = resized(b.ends, b.n)
	end := uint32(0)
	for i, size := range d.ints {
		end += uint32(size)
		b.ends[i] = end
	}
	b.jobIDs = append(b.jobIDs, d.take(int(end))...)
	return nil
}

func (d *blockDecoder) readBundle(b *bundle) {
	d.ints = d.ints[:0]
	for range d.uvarint() * len(b.columns) {
		d.ints = append(d.ints, int64(d.uvarint()))
	}
	all := string(d.take(d.uvarint()))
	for _, size := range d.ints {
		b.texts = append(b.texts, all[:size])
		all = all[size:]
	}
	b.hashes = resized(b.hashes, len(b.texts)/len(b.columns)) // their number; nothing is looked up
}

func (d *blockDecoder) uvarint() int {
	v, size := binary.Uvarint(d.data)
	d.data = d.data[size:]
	return int(v)
}

func (d *blockDecoder) take(n int) []byte {
	taken := d.data[:n]
	d.data = d.data[n:]
	return taken
}

func (d *blockDecoder) readInts(dst []int64, n int) []int64 {
	least, size := binary.Varint(d.data)
	width := int(d.data[size])
	data := d.data[size+1:]
	d.data = data[width*n:]
	dst = resized(dst, n)
	if width == 0 {
		for i := range dst {
			dst[i] = least
		}
		return dst
	}
	mask := ^uint64(0) >> (64 - 8*width)
	for i := range dst {
		dst[i] = least + int64(binary.LittleEndian.Uint64(data[i*width:])&mask)
	}
	return dst
}
