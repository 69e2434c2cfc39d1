package ingest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"unsafe"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// blockBytes is how much text is parsed at a time: large enough to make
	// the cost of a block vanish, small enough for the processor's cache.
	blockBytes = 256 << 10
	// maxLineBytes is the longest line, and the longest record, that is taken
	// for text. A longer one is another kind of file.
	maxLineBytes = 8 << 20
	// maxZstdWindow bounds the memory that a compressed file can ask for.
	maxZstdWindow = 128 << 20
)

// source yields the text of a file in blocks, and knows the digest and the
// number of the bytes as they are stored.
type source struct {
	stored   *counted
	text     io.Reader
	close    func()
	packing  string // "gzip", "zstd" or ""
	textRead int64
	buf      []byte
	filled   int // bytes of buf that are text not yet given out
	ended    bool
	anywhere bool // the text is JSON: a block may end anywhere
}

// counted passes bytes on, counting and digesting them.
type counted struct {
	r        io.Reader
	n        int64
	digest   hash.Hash
	progress func(int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.digest.Write(p[:n])
	if c.progress != nil && n > 0 {
		c.progress(c.n)
	}
	return n, err
}

// magics are the first bytes of files that are no dump.
var magics = []struct{ head, what string }{
	{"\xfd7zXZ\x00", "an xz file"},
	{"BZh", "a bzip2 file"},
	{"PK\x03\x04", "a zip file"},
	{"PAR1", "a Parquet file"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"\xd0\xcf\x11\xe0", "an Office document"},
	{"\xff\xfe", "UTF-16 text"},
	{"\xfe\xff", "UTF-16 text"},
}

// openSource tells by the first bytes how the file is packed.
func openSource(r io.Reader, progress func(int64)) (*source, error) {
	s := &source{stored: &counted{r: r, digest: sha256.New(), progress: progress}, close: func() {}}
	buffered := bufio.NewReaderSize(s.stored, 64<<10)
	head, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, unpackError("gzip", err)
		}
		z.Multistream(false)
		s.text, s.packing = &gzipMembers{buffered, z}, "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), len(head) == 4 && head[0]&0xf0 == 0x50 && string(head[1:]) == "\x2a\x4d\x18":
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow),
			zstd.WithDecoderMaxMemory(1<<40), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, unpackError("zstd", err)
		}
		s.text, s.packing, s.close = z, "zstd", z.Close
	case len(head) == 4 && string(head) == "\x04\x22\x4d\x18":
		return nil, &fault{"", "the file is an lz4 file", "unpack it, or pack it with gzip or zstd"}
	default:
		s.text = buffered
	}
	return s, nil
}

// gzipMembers unpacks one gzip member after the other. Zeros after the last
// are the padding of a tape or a block device, and no more than that.
type gzipMembers struct {
	stored *bufio.Reader
	member *gzip.Reader
}

// Read unpacks.
func (g *gzipMembers) Read(p []byte) (int, error) {
	n, err := g.member.Read(p)
	if err != io.EOF {
		return n, err
	}
	head, err := g.stored.Peek(1)
	if err != nil {
		return n, err // io.EOF: that was the last member
	}
	if head[0] == 0 {
		return n, g.padding()
	}
	if err := g.member.Reset(g.stored); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return n, err
	}
	g.member.Multistream(false)
	return n, nil
}

// padding reads zeros to the end of the file, which it returns.
func (g *gzipMembers) padding() error {
	for {
		b, err := g.stored.ReadByte()
		if err != nil {
			return err
		}
		if b != 0 {
			return gzip.ErrHeader
		}
	}
}

// Error makes a fault an error inside this package; the Reader gives it its
// place in the file.
func (f *fault) Error() string { return f.reason() }

func unpackError(packing string, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &fault{"", "the " + packing + " stream is cut off", "copy the file again; nothing of it was kept"}
	}
	return &fault{"", "unpack " + packing + ": " + err.Error(), "copy the file again; nothing of it was kept"}
}

// next returns the next block of text, which ends with a newline unless it is
// the last. At the end of the file last is true.
func (s *source) next() (block string, last bool, err error) {
	if s.ended {
		return "", true, nil
	}
	for {
		if s.filled == len(s.buf) {
			if s.filled > maxLineBytes {
				return "", false, &fault{"", "a line is longer than 8 MiB", "this is not sacct's output"}
			}
			s.grow(max(blockBytes, 2*s.filled))
		}
		n, err := s.text.Read(s.buf[s.filled:])
		s.filled += n
		s.textRead += int64(n)
		if err == io.EOF {
			s.ended = true
			return s.cut(s.filled), true, s.drain()
		}
		if err != nil {
			if s.packing != "" {
				err = unpackError(s.packing, err)
			}
			return "", false, err
		}
		if s.filled < blockBytes {
			continue
		}
		if !s.anywhere && s.textRead == int64(s.filled) {
			s.anywhere = isJSON(string(s.buf[:s.filled]))
		}
		if s.anywhere {
			return s.cut(s.filled), false, nil
		}
		if i := bytes.LastIndexByte(s.buf[:s.filled], '\n'); i >= 0 {
			return s.cut(i + 1), false, nil
		}
	}
}

// grow makes the buffer anew, of size bytes, with what is filled.
func (s *source) grow(size int) {
	larger := make([]byte, size)
	copy(larger, s.buf[:s.filled])
	s.buf = larger
}

// cut gives out the first n bytes of what is filled. They are never written
// again: the buffer is full then, and what is read next goes into another.
func (s *source) cut(n int) string {
	block := unsafe.String(unsafe.SliceData(s.buf), n)
	s.buf = s.buf[n:s.filled:s.filled]
	s.filled -= n
	return block
}

// drain reads what follows the packed stream, so that the digest is that of
// the whole file. (The gzip reader has refused anything but more members.)
func (s *source) drain() error {
	_, err := io.Copy(io.Discard, s.stored)
	return err
}

func (s *source) digest() string { return hex.EncodeToString(s.stored.digest.Sum(nil)) }

// refuseMagic says what a file is that is no text.
func refuseMagic(text string) *fault {
	for _, m := range magics {
		if len(text) >= len(m.head) && text[:len(m.head)] == m.head {
			f := &fault{"", "the file is " + m.what, "unpack it, or pack it with gzip or zstd"}
			if m.what == "UTF-16 text" {
				f.remedy = "save it as UTF-8 (in PowerShell: Out-File -Encoding utf8)"
			}
			return f
		}
	}
	if len(text) >= 2 && (text[:2] == "\x1f\x8b" || (len(text) >= 4 && text[:4] == "\x28\xb5\x2f\xfd")) {
		return &fault{"", "the file is packed twice", "unpack it once"}
	}
	head := text[:min(len(text), 4096)]
	for i := 0; i < len(head); i++ {
		if head[i] == 0 {
			return &fault{"", "the file holds NUL bytes: it is no text, or UTF-16", "save it as UTF-8"}
		}
	}
	return nil
}
