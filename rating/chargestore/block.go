package chargestore

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"
)

// blockRows is how many rows are written to, and read back from, the
// temporary file at a time.
const blockRows = 4 << 10

// nearColumns are columns whose numbers are kept as the difference to another
// column of the same row, since it is small, and mostly 0.
func nearColumns() (base [columnCount]int) {
	base[colFrom], base[colUntil] = colStart, colEnd
	return base // 0, a column of texts, means none
}

// blockEncoder turns rows into blocks of bytes: temporary files, which this
// process alone reads. A block needs nothing but itself.
type blockEncoder struct {
	block []byte
	ints  []int64
	local []int32 // by number of a combination: its number in the block, or -1
	used  []uint32
}

// encode gives the rows of b that order names. The next use overwrites it.
func (e *blockEncoder) encode(b *batch, order []uint32) []byte {
	e.block = binary.AppendUvarint(e.block[:0], uint64(len(order)))
	near := nearColumns()
	for _, column := range numberColumns() {
		e.ints = e.ints[:0]
		for _, row := range order {
			e.ints = append(e.ints, b.numbers[column][row])
		}
		if base := near[column]; base != 0 {
			for i, row := range order {
				e.ints[i] -= b.numbers[base][row]
			}
		}
		e.appendInts()
	}
	for k := range bundleCount {
		e.appendBundle(&b.bundles[k], b.codes[k], order)
	}
	e.ints = e.ints[:0]
	for _, row := range order {
		e.ints = append(e.ints, int64(len(b.jobID(int(row)))))
	}
	e.appendInts()
	for _, row := range order {
		e.block = append(e.block, b.jobID(int(row))...)
	}
	return binary.LittleEndian.AppendUint32(e.block, crc32.Checksum(e.block, crcTable()))
}

func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// appendInts writes e.ints as their least and the differences to it, each in
// as few bytes as the largest needs.
func (e *blockEncoder) appendInts() {
	least, greatest := e.ints[0], e.ints[0]
	for _, v := range e.ints {
		least, greatest = min(least, v), max(greatest, v)
	}
	width := (bits.Len64(uint64(greatest)-uint64(least)) + 7) / 8
	e.block = append(binary.AppendVarint(e.block, least), byte(width))
	for _, v := range e.ints {
		e.block = appendWord(e.block, uint64(v)-uint64(least), width)
	}
}

func appendWord(dst []byte, v uint64, width int) []byte {
	for range width {
		dst = append(dst, byte(v))
		v >>= 8
	}
	return dst
}

func (e *blockEncoder) appendBundle(b *bundle, codes, order []uint32) {
	for len(e.local) < b.count() {
		e.local = append(e.local, -1)
	}
	e.used, e.ints = e.used[:0], e.ints[:0]
	for _, row := range order {
		code := codes[row]
		if e.local[code] < 0 {
			e.local[code] = int32(len(e.used))
			e.used = append(e.used, code)
		}
		e.ints = append(e.ints, int64(e.local[code]))
	}
	e.block = binary.AppendUvarint(e.block, uint64(len(e.used)))
	for _, code := range e.used {
		e.local[code] = -1
		for _, s := range b.of(code) {
			e.block = append(binary.AppendUvarint(e.block, uint64(len(s))), s...)
		}
	}
	e.appendInts()
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
	near := nearColumns()
	for _, column := range numberColumns() {
		b.numbers[column] = d.readInts(b.numbers[column], b.n)
		if base := near[column]; base != 0 {
			for i := range b.numbers[column] {
				b.numbers[column][i] += b.numbers[base][i]
			}
		}
	}
	for k := range bundleCount {
		bundle := &b.bundles[k]
		texts := make([]string, len(bundle.columns))
		for range d.uvarint() {
			for i := range texts {
				texts[i] = string(d.take(d.uvarint()))
			}
			bundle.append(texts, 0)
		}
		d.ints = d.readInts(d.ints, b.n)
		for _, code := range d.ints {
			b.codes[k] = append(b.codes[k], uint32(code))
		}
	}
	d.ints = d.readInts(d.ints, b.n)
	end := uint32(0)
	for _, size := range d.ints {
		end += uint32(size)
		b.ends = append(b.ends, end)
	}
	b.jobIDs = append(b.jobIDs, d.take(int(end))...)
	return nil
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
	d.data = d.data[size+1:]
	dst = dst[:0]
	for range n {
		var v uint64
		for i := range width {
			v |= uint64(d.data[i]) << (8 * i)
		}
		d.data = d.data[width:]
		dst = append(dst, int64(uint64(least)+v))
	}
	return dst
}
