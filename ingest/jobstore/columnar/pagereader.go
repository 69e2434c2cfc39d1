package columnar

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
)

// columnPages reads the pages of one column chunk from where they lie, one at
// a time, so that many files can be open at once.
type columnPages struct {
	file       *File
	column     *Column
	position   int
	compressed bool
	plainBytes int64 // of all its pages without compression

	offset, end int64  // of the pages still to come
	ahead       []byte // what was read from offset on
	buffer      []byte // in which ahead lies
	plain       []byte // of the page before

	numbers []int64 // the dictionary of a column of numbers
	texts   []string
	pool    *TextPool // that they come from, or nil
}

var errSum = errors.New("damaged page: its checksum is another")

// maxPageBytes bounds a page, as what the footer says of the whole chunk does:
// more is damage, and nothing is allocated for it.
const maxPageBytes = 1 << 30

func (f *File) columnPages(group, position int) (c columnPages, err error) {
	meta, err := f.reader.MetaData().RowGroup(group).ColumnChunk(position)
	if err != nil {
		return c, f.columnError(position, err)
	}
	start := meta.DataPageOffset()
	if meta.HasDictionaryPage() {
		start = min(start, meta.DictionaryPageOffset())
	}
	c = columnPages{file: f, column: &f.table.Columns[position], position: position,
		compressed: meta.Compression() != compress.Codecs.Uncompressed,
		plainBytes: min(meta.TotalUncompressedSize(), maxPageBytes),
		offset:     start, end: start + meta.TotalCompressedSize()}
	if start < int64(len(magic)) || c.end < start || c.end > f.size {
		return c, f.columnError(position, fmt.Errorf("damaged: pages from %d to %d in a file of %d bytes", start, c.end, f.size))
	}
	return c, nil
}

// peek gives the header of the next data page. A dictionary before it is read.
func (c *columnPages) peek() (pageHeader, error) {
	for {
		h, err := c.header()
		if err != nil || h.kind == dataPage {
			return h, err
		}
		data, err := c.payload(h)
		if err == nil {
			data, err = c.decompress(h, data)
		}
		if err == nil {
			err = c.readDictionary(data, h.values)
		}
		if err != nil {
			return h, err
		}
	}
}

// readAhead is how much of a column is read at a time: pages are small, and
// the chunk of a column is often not larger.
const readAhead = 32 << 10

// fetch has n bytes from offset on in ahead.
func (c *columnPages) fetch(n int) error {
	if len(c.ahead) >= n {
		return nil
	}
	n = int(min(int64(max(n, readAhead)), c.end-c.offset))
	if cap(c.buffer) < n {
		c.buffer = make([]byte, n)
	}
	have := copy(c.buffer[:n], c.ahead)
	c.ahead = c.buffer[:n]
	if _, err := c.file.f.ReadAt(c.ahead[have:], c.offset+int64(have)); err != nil {
		c.ahead = nil
		return noEOF(err)
	}
	return nil
}

// header gives the header of the next page of any kind.
func (c *columnPages) header() (pageHeader, error) {
	n := int(min(maxPageHeader, c.end-c.offset))
	if n == 0 {
		return pageHeader{}, fmt.Errorf("damaged: a page is missing")
	}
	if err := c.fetch(n); err != nil {
		return pageHeader{}, err
	}
	h, err := parsePageHeader(c.ahead[:n])
	if err == nil && (h.compressed > maxPageBytes || int64(h.uncompressed) > c.plainBytes || c.offset+int64(h.size+h.compressed) > c.end) {
		err = errPage
	}
	return h, err
}

// payload gives the bytes of the page whose header is next as they stand in the
// file, until the next one is asked for.
func (c *columnPages) payload(h pageHeader) ([]byte, error) {
	if err := c.fetch(h.size + h.compressed); err != nil {
		return nil, err
	}
	data := c.ahead[h.size : h.size+h.compressed]
	c.pass(h)
	if h.summed && crc32.ChecksumIEEE(data) != h.sum {
		return nil, errSum
	}
	return data, nil
}

// pass goes on to the page after the one whose header is next.
func (c *columnPages) pass(h pageHeader) {
	n := h.size + h.compressed
	c.offset += int64(n)
	c.ahead = c.ahead[min(n, len(c.ahead)):]
}

func (c *columnPages) decompress(h pageHeader, data []byte) ([]byte, error) {
	if !c.compressed {
		if len(data) != h.uncompressed {
			return nil, errPage
		}
		return data, nil
	}
	plain, err := c.file.table.zstd.DecodeAll(data, grow(&c.plain, h.uncompressed)[:0])
	if err != nil {
		return nil, fmt.Errorf("damaged page: %w", err)
	}
	if len(plain) != h.uncompressed {
		return nil, errPage
	}
	return plain, nil
}

// next decodes the next data page.
func (c *columnPages) next(v *Vector, scratch *columnScratch) error {
	h, err := c.peek()
	if err != nil {
		return err
	}
	data, err := c.payload(h)
	if err == nil {
		data, err = c.decompress(h, data)
	}
	if err != nil {
		return err
	}
	return c.readPage(v, scratch, h, data)
}

// skip passes over the data page whose header peek gave.
func (c *columnPages) skip() {
	h, _ := c.header() // it was read already
	c.pass(h)
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// pageHeader is what the files' page headers say.
type pageHeader struct {
	kind                     int
	uncompressed, compressed int
	values                   int // rows of a data page, entries of a dictionary
	encoding                 parquet.Encoding
	sum                      uint32 // of the page as it stands in the file
	summed                   bool   // whether there is one
	size                     int    // of the header
}
