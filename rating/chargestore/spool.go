package chargestore

import (
	"fmt"
	"os"
)

// spool is a temporary file of sorted runs. It has no name, so that nothing
// is left of it whatever happens.
type spool struct {
	file    *os.File
	size    int64
	runs    [][]place
	encoder blockEncoder
}

// place is where a block stands.
type place struct {
	offset int64
	size   int
}

func newSpool(dir string) (*spool, error) {
	f, err := os.CreateTemp(dir, "_spool-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return &spool{file: f}, nil
}

func (s *spool) close() { s.file.Close() } // nothing of it is to be kept

// write appends the rows of b, in the order given, as a run.
func (s *spool) write(b *batch, order []uint32) error {
	var run []place
	for len(order) > 0 {
		n := min(blockRows, len(order))
		block := s.encoder.encode(b, order[:n])
		if _, err := s.file.WriteAt(block, s.size); err != nil {
			return fmt.Errorf("write a temporary file: %w", err)
		}
		run = append(run, place{s.size, len(block)})
		s.size += int64(len(block))
		order = order[n:]
	}
	s.runs = append(s.runs, run)
	return nil
}

// cursor reads a run.
type cursor struct {
	spool   *spool
	ahead   []place
	batch   *batch // the block in hand
	row     int    // the next of it
	decoder blockDecoder
	block   []byte

	// The numbers in the merged batch of the block's combinations, plus 1.
	merged [bundleCount][]uint32
}

// next reads the next block; false after the last.
func (c *cursor) next() (bool, error) {
	if len(c.ahead) == 0 {
		return false, nil
	}
	at := c.ahead[0]
	c.ahead = c.ahead[1:]
	if cap(c.block) < at.size {
		c.block = make([]byte, at.size, at.size+at.size/4)
	}
	c.block = c.block[:at.size]
	if _, err := c.spool.file.ReadAt(c.block, at.offset); err != nil {
		return false, fmt.Errorf("read a temporary file: %w", err)
	}
	c.row = 0
	if err := c.decoder.decode(c.batch, c.block); err != nil {
		return false, err
	}
	c.forget()
	return true, nil
}

// forget is called when the merged batch, or the block, is another.
func (c *cursor) forget() {
	for k := range c.merged {
		n := c.batch.bundles[k].count()
		if cap(c.merged[k]) < n {
			c.merged[k] = make([]uint32, n)
		}
		c.merged[k] = c.merged[k][:n]
		clear(c.merged[k])
	}
}
