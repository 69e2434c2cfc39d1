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

// write appends sorted rows as a run.
func (s *spool) write(t *texts, rows []*record) error {
	var run []place
	for len(rows) > 0 {
		n := min(blockRows, len(rows))
		block := s.encoder.encode(t, rows[:n])
		if _, err := s.file.WriteAt(block, s.size); err != nil {
			return fmt.Errorf("write a temporary file: %w", err)
		}
		run = append(run, place{s.size, len(block)})
		s.size += int64(len(block))
		rows = rows[n:]
	}
	s.runs = append(s.runs, run)
	return nil
}

// cursor reads a run.
type cursor struct {
	spool   *spool
	ahead   []place
	block   *batch // the one in hand
	next    int    // row of it
	head    record // that row
	decoder blockDecoder
	bytes   []byte

	// The numbers in the merged batch of the block's combinations, plus 1.
	merged [bundleCount][]uint32
}

// read takes the next block in hand; false after the last.
func (c *cursor) read() (bool, error) {
	if len(c.ahead) == 0 {
		return false, nil
	}
	at := c.ahead[0]
	c.ahead = c.ahead[1:]
	c.bytes = resized(c.bytes, at.size)
	if _, err := c.spool.file.ReadAt(c.bytes, at.offset); err != nil {
		return false, fmt.Errorf("read a temporary file: %w", err)
	}
	if err := c.decoder.decode(c.block, c.bytes); err != nil {
		return false, err
	}
	c.forget()
	c.next, c.head = 0, c.block.record(0)
	return true, nil
}

// skip goes on to a row of the block, or to the next block; false after the
// last.
func (c *cursor) skip(to int) (bool, error) {
	if to == c.block.n {
		return c.read()
	}
	c.next, c.head = to, c.block.record(to)
	return true, nil
}

// forget is called when the merged batch, or the block, is another.
func (c *cursor) forget() {
	for k := range c.merged {
		n := c.block.bundles[k].count()
		if cap(c.merged[k]) < n {
			c.merged[k] = make([]uint32, n)
		}
		c.merged[k] = c.merged[k][:n]
		clear(c.merged[k])
	}
}
