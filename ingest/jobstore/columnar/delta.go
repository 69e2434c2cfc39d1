package columnar

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// Parquet's DELTA_BINARY_PACKED: the differences between numbers that follow
// one another, in blocks that each have a least difference and, for every 32
// numbers, the bits that are needed beyond it
// (https://parquet.apache.org/docs/file-format/data-pages/encodings/).
// Differences wrap around at 64 bits, so that every number can be told.

const (
	deltaBlock     = 128 // numbers of a block
	deltaMiniblock = 32  // numbers that have a width in common
	miniblocks     = deltaBlock / deltaMiniblock
)

var errDelta = errors.New("damaged page: differences do not fit")

// appendDelta appends the numbers to dst.
func appendDelta(dst []byte, numbers []int64) []byte {
	for _, n := range [...]uint64{deltaBlock, miniblocks, uint64(len(numbers))} {
		dst = binary.AppendUvarint(dst, n)
	}
	if len(numbers) == 0 {
		return append(dst, 0)
	}
	dst = binary.AppendVarint(dst, numbers[0])
	var above [deltaBlock]uint64 // the differences above the least one
	for last, rest := numbers[0], numbers[1:]; len(rest) > 0; {
		block := rest[:min(deltaBlock, len(rest))]
		rest = rest[len(block):]
		least := int64(math.MaxInt64)
		for i, n := range block {
			difference := n - last
			above[i], least, last = uint64(difference), min(least, difference), n
		}
		for i := range block {
			above[i] -= uint64(least)
		}
		clear(above[len(block):])
		dst = binary.AppendVarint(dst, least)
		dst = appendMiniblocks(dst, &above, len(block))
	}
	return dst
}

// appendMiniblocks appends the widths of a block and what has them. A miniblock
// without numbers has no width and no bytes.
func appendMiniblocks(dst []byte, above *[deltaBlock]uint64, numbers int) []byte {
	widths := len(dst)
	dst = append(dst, make([]byte, miniblocks)...)
	for m := 0; m*deltaMiniblock < numbers; m++ {
		values := (*[deltaMiniblock]uint64)(above[m*deltaMiniblock:])
		all := uint64(0)
		for _, v := range values {
			all |= v
		}
		width := bits.Len64(all)
		dst[widths+m] = byte(width)
		dst = appendBits(dst, values, width)
	}
	return dst
}

// appendBits appends 32 numbers of width bits, the lowest bits first.
func appendBits(dst []byte, values *[deltaMiniblock]uint64, width int) []byte {
	if width == 0 {
		return dst
	}
	var waiting uint64
	have := 0
	for _, v := range values {
		waiting |= v << (have & 63)
		if have += width; have >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, waiting)
			have -= 64
			waiting = v >> ((width - have - 1) & 63) >> 1
		}
	}
	if have > 0 { // 32, of an odd width
		dst = binary.LittleEndian.AppendUint32(dst, uint32(waiting))
	}
	return dst
}

// decodeDelta fills out with the numbers that appendDelta wrote, which must be
// as many.
func decodeDelta(out []int64, src []byte) error {
	r := deltaReader{src: src}
	if r.uvarint() != deltaBlock || r.uvarint() != miniblocks || r.uvarint() != uint64(len(out)) {
		return errDelta
	}
	last := r.varint()
	if len(out) > 0 {
		out[0] = last
		out = out[1:]
	}
	for len(out) > 0 && !r.bad {
		block := out[:min(deltaBlock, len(out))]
		out = out[len(block):]
		least, widths := r.varint(), r.bytes(miniblocks)
		for m := 0; m*deltaMiniblock < len(block) && !r.bad; m++ {
			values := block[m*deltaMiniblock : min((m+1)*deltaMiniblock, len(block))]
			last = r.miniblock(values, last, least, int(widths[m]))
		}
	}
	if r.bad || len(r.src) > 0 {
		return errDelta
	}
	return nil
}

type deltaReader struct {
	src  []byte
	bad  bool
	tail [64*deltaMiniblock/8 + deltaSlack]byte // the last miniblock, with bytes behind it
}

// deltaSlack is the bytes that are read at once from where a number begins.
const deltaSlack = 9

func (r *deltaReader) uvarint() uint64 {
	n, size := binary.Uvarint(r.src)
	if size <= 0 {
		r.bad, r.src = true, nil
		return 0
	}
	r.src = r.src[size:]
	return n
}

func (r *deltaReader) varint() int64 {
	n := r.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

func (r *deltaReader) bytes(n int) []byte {
	if len(r.src) < n {
		r.bad, r.src = true, nil
		return nil
	}
	all := r.src[:n:n]
	r.src = r.src[n:]
	return all
}

// miniblock fills values with the numbers after last, and gives the last of
// them. Up to 32 numbers stand there, filled up with others.
func (r *deltaReader) miniblock(values []int64, last, least int64, width int) int64 {
	if width == 0 {
		for i := range values {
			last += least
			values[i] = last
		}
		return last
	}
	size := width * deltaMiniblock / 8
	src := r.src
	if width > 64 || len(src) < size {
		r.bad = true
		return last
	}
	r.src = src[size:]
	if len(src) < size+deltaSlack {
		src = r.tail[:copy(r.tail[:], src[:size])+deltaSlack]
	}
	mask := uint64(1)<<width - 1 // of 64 bits, all
	for i := range values {
		bit := i * width
		at, shift := bit>>3, bit&7
		n := binary.LittleEndian.Uint64(src[at:]) >> shift
		if width > 56 {
			n |= uint64(src[at+8]) << (64 - shift)
		}
		last += least + int64(n&mask)
		values[i] = last
	}
	return last
}
