package columnar

import (
	"encoding/binary"

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

func appendDataPageHeader(dst []byte, rows, uncompressed, compressed int, encoding parquet.Encoding) []byte {
	dst = appendPageStart(dst, dataPage, uncompressed, compressed)
	dst = append(dst, 2<<4|thriftStruct) // field 5, data_page_header
	dst = appendI32(dst, rows)
	dst = appendI32(dst, int(encoding))
	dst = appendI32(dst, int(parquet.Encodings.RLE)) // of the definition levels
	dst = appendI32(dst, int(parquet.Encodings.RLE)) // of the repetition levels
	return append(dst, thriftStop, thriftStop)
}

func appendDictionaryPageHeader(dst []byte, entries, uncompressed, compressed int) []byte {
	dst = appendPageStart(dst, dictionaryPage, uncompressed, compressed)
	dst = append(dst, 4<<4|thriftStruct) // field 7, dictionary_page_header
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

// appendI32 appends the next field of a struct.
func appendI32(dst []byte, n int) []byte {
	return binary.AppendVarint(append(dst, 1<<4|thriftI32), int64(n))
}
