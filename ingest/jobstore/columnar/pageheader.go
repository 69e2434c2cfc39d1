package columnar

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/apache/arrow/go/v17/parquet"
)

// The header before each page, in Thrift's compact protocol. Arrow's own
// writer of it would make a new compressor for every dictionary.
// (parquet.thrift, struct PageHeader; the field numbers are from there.)

// The types of Thrift's compact protocol, and the kinds of pages.
const (
	thriftFalse  = 2
	thriftI32    = 5
	thriftStruct = 12
	thriftStop   = 0

	dataPage       = 0
	dictionaryPage = 2
)

// appendDataPageHeader appends the header of a page of rows, which is data as it
// stands in the file.
func appendDataPageHeader(dst []byte, rows, uncompressed int, data []byte, encoding parquet.Encoding) []byte {
	dst = appendSum(appendPageStart(dst, dataPage, uncompressed, len(data)), data)
	dst = append(dst, 1<<4|thriftStruct) // field 5, data_page_header
	dst = appendI32(dst, rows)
	dst = appendI32(dst, int(encoding))
	dst = appendI32(dst, int(parquet.Encodings.RLE)) // of the definition levels
	dst = appendI32(dst, int(parquet.Encodings.RLE)) // of the repetition levels
	return append(dst, thriftStop, thriftStop)
}

// appendDictionaryPageHeader appends the header of a dictionary, which is data as
// it stands in the file. A late one may be changed there, and has no checksum.
func appendDictionaryPageHeader(dst []byte, entries, uncompressed int, data []byte, late bool) []byte {
	dst = appendPageStart(dst, dictionaryPage, uncompressed, len(data))
	if late {
		dst = append(dst, 4<<4|thriftStruct) // field 7, dictionary_page_header, after field 3
	} else {
		dst = append(appendSum(dst, data), 3<<4|thriftStruct) // the same after field 4
	}
	dst = appendI32(dst, entries)
	dst = appendI32(dst, int(parquet.Encodings.Plain))
	dst = append(dst, 1<<4|thriftFalse) // is_sorted
	return append(dst, thriftStop, thriftStop)
}

func appendPageStart(dst []byte, kind, uncompressed, compressed int) []byte {
	dst = appendI32(dst, kind)
	dst = appendI32(dst, uncompressed)
	return appendI32(dst, compressed)
}

// appendSum appends field 4, the checksum of a page as it stands in the file.
func appendSum(dst, data []byte) []byte { return appendI32(dst, int(int32(crc32.ChecksumIEEE(data)))) }

// appendI32 appends the next field of a struct.
func appendI32(dst []byte, n int) []byte {
	return binary.AppendVarint(append(dst, 1<<4|thriftI32), int64(n))
}

// maxPageHeader is more than any header that is written here has bytes.
const maxPageHeader = 64

var errPageHeader = errors.New("damaged page header")

// parsePageHeader reads a header as the functions above write it, with a
// checksum or without, and nothing else.
func parsePageHeader(data []byte) (h pageHeader, err error) {
	r := headerReader{data: data}
	h.kind, h.uncompressed, h.compressed = r.int(), r.int(), r.int()
	before := 3 // the last field
	if len(r.data) > 0 && r.data[0] == 1<<4|thriftI32 {
		h.sum, h.summed, before = uint32(r.int()), true, 4
	}
	switch h.kind {
	case dataPage:
		r.expect(byte(5-before)<<4 | thriftStruct)
		h.values, h.encoding = r.int(), parquet.Encoding(r.int())
		definition, repetition := r.int(), r.int() // how their levels are written
		if definition != int(parquet.Encodings.RLE) || repetition != int(parquet.Encodings.RLE) {
			r.bad = true
		}
	case dictionaryPage:
		r.expect(byte(7-before)<<4 | thriftStruct)
		h.values, h.encoding = r.int(), parquet.Encoding(r.int())
		r.expect(1<<4 | thriftFalse)
	default:
		r.bad = true
	}
	r.expect(thriftStop)
	r.expect(thriftStop)
	h.size = len(data) - len(r.data)
	if r.bad || h.uncompressed < 0 || h.compressed < 0 || h.values < 0 {
		return h, errPageHeader
	}
	return h, nil
}

type headerReader struct {
	data []byte
	bad  bool
}

func (r *headerReader) expect(b byte) {
	if len(r.data) == 0 || r.data[0] != b {
		r.bad = true
		return
	}
	r.data = r.data[1:]
}

// int reads the next field of a struct, of 32 bits.
func (r *headerReader) int() int {
	r.expect(1<<4 | thriftI32)
	n, size := binary.Varint(r.data)
	if size <= 0 || n != int64(int32(n)) {
		r.bad = true
		return 0
	}
	r.data = r.data[size:]
	return int(n)
}
