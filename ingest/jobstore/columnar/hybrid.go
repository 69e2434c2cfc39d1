package columnar

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Parquet's hybrid of runs and bit-packed groups of eight, as used for
// definition levels and for dictionary indices
// (https://parquet.apache.org/docs/file-format/data-pages/encodings/, "RLE").

// widthOf gives the bits that the values 0 … entries-1 need; at least one, as
// readers expect of a dictionary with a single entry.
func widthOf(entries int) int { return max(1, bits.Len32(uint32(entries-1))) }

// appendHybrid appends the values, each of width bits, to dst.
func appendHybrid(dst []byte, values []uint32, width int) []byte {
	packed := 0 // values[packed:i] wait to be bit-packed; a multiple of eight
	for i := 0; i < len(values); {
		run := i + 1
		for run < len(values) && values[run] == values[i] {
			run++
		}
		if run-i < 8 && run < len(values) || run-i < 8 && i > packed {
			i = min(i+8, len(values))
			continue
		}
		dst = appendPacked(dst, values[packed:i], width)
		dst = appendRun(dst, run-i, values[i], width)
		i, packed = run, run
	}
	return appendPacked(dst, values[packed:], width)
}

// appendRun appends n times the same value.
func appendRun(dst []byte, n int, value uint32, width int) []byte {
	dst = binary.AppendUvarint(dst, uint64(n)<<1)
	for b := 0; b < width; b += 8 {
		dst = append(dst, byte(value>>b))
	}
	return dst
}

// appendPacked appends one bit-packed run; the last group of eight is filled
// up with zeros.
func appendPacked(dst []byte, values []uint32, width int) []byte {
	if len(values) == 0 {
		return dst
	}
	groups := (len(values) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	end := len(dst) + groups*width
	var waiting uint64
	have := 0 // bits of it, fewer than 32
	for _, v := range values {
		waiting |= uint64(v) << (have & 63)
		if have += width; have >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(waiting))
			waiting >>= 32
			have -= 32
		}
	}
	for ; have > 0; have -= 8 {
		dst = append(dst, byte(waiting))
		waiting >>= 8
	}
	for len(dst) < end {
		dst = append(dst, 0)
	}
	return dst
}

var errHybrid = errors.New("damaged page: run lengths do not fit")

// decodeHybrid fills out with values of width bits and gives the rest of src.
func decodeHybrid(out []uint32, src []byte, width int) ([]byte, error) {
	if width > 32 {
		return nil, errHybrid
	}
	for n := 0; n < len(out); {
		header, used := binary.Uvarint(src)
		if used <= 0 {
			return nil, errHybrid
		}
		src = src[used:]
		if header&1 == 0 {
			size := (width + 7) / 8
			if len(src) < size || header>>1 == 0 {
				return nil, errHybrid
			}
			var v uint32
			for b := range size {
				v |= uint32(src[b]) << (8 * b)
			}
			src = src[size:]
			count := int(min(header>>1, uint64(len(out)-n)))
			run := out[n : n+count]
			for i := range run {
				run[i] = v
			}
			n += count
			continue
		}
		groups := header >> 1
		if groups == 0 || groups > uint64(len(src)) || int(groups)*width > len(src) {
			return nil, errHybrid
		}
		count := min(int(groups)*8, len(out)-n)
		unpack(out[n:n+count], src[:int(groups)*width], width)
		src = src[int(groups)*width:]
		n += count
	}
	return src, nil
}

func unpack(out []uint32, src []byte, width int) {
	mask := uint64(1)<<width - 1
	bit, i := 0, 0
	for ; i < len(out) && bit>>3+8 <= len(src); i++ {
		out[i] = uint32(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
	for ; i < len(out); i++ {
		var tail [8]byte
		copy(tail[:], src[bit>>3:])
		out[i] = uint32(binary.LittleEndian.Uint64(tail[:]) >> (bit & 7) & mask)
		bit += width
	}
}
