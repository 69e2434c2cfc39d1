package ingest

import (
	mathbits "math/bits"
	"strings"
)

// The most cells that a line may have: sacct prints 123 columns with ALL.
const maxCells = 1024

// cells are the cells of one record: the i-th lies between the delimiters at
// cut[i] and cut[i+1].
type cells struct {
	text      string
	cut       []int32
	n         int    // how many cells there are
	delimiter int    // its length
	bits      uint64 // the text's bytes, or-ed together eight at a time
}

// at returns the i-th cell, "" for the column -1.
func (c *cells) at(i int16) string {
	if i < 0 {
		return ""
	}
	return c.text[int(c.cut[i])+c.delimiter : c.cut[i+1]]
}

// ascii reports whether the text that split went through is ASCII.
func (c *cells) ascii() bool { return c.bits&highs == 0 }

const (
	ones  = 0x0101010101010101
	lows  = 0x7f7f7f7f7f7f7f7f
	highs = 0x8080808080808080
)

// split cuts line at every delimiter, but not into more than most cells: the
// last then holds the rest. It returns the number of cells; a line of more
// than maxCells is left alone, as one cell.
func (c *cells) split(line, delimiter string, most int) int {
	if c.cut == nil {
		c.cut = make([]int32, maxCells+40)
	}
	c.text, c.delimiter, c.bits = line, len(delimiter), 0
	c.cut[0] = -int32(c.delimiter)
	found := 0
	if len(delimiter) == 1 {
		found = c.findByte(line, delimiter[0])
	} else {
		found = c.findText(line, delimiter)
	}
	if found >= maxCells {
		found = 0
	}
	c.n = min(found+1, most)
	c.cut[c.n] = int32(len(line))
	return c.n
}

// findText notes where the delimiter stands, at most maxCells times.
func (c *cells) findText(line, delimiter string) (found int) {
	for at := 0; found < maxCells; {
		i := strings.Index(line[at:], delimiter)
		if i < 0 {
			break
		}
		found++
		c.cut[found] = int32(at + i)
		at += i + len(delimiter)
	}
	for i := 0; i < len(line); i++ {
		c.bits |= uint64(line[i])
	}
	return found
}

// findByte is findText for a delimiter of one byte. Cells are short and of
// uneven length, so that a search per cell would be all calls and wrong
// guesses: it makes a bit map of 32 bytes at a time, and walks its bits.
func (c *cells) findByte(line string, delimiter byte) (found int) {
	cut, bits := c.cut, uint64(0)
	for i := 0; i < len(line); {
		at := min(i, len(line)-32) // the last 32 bytes overlap with those before
		if at < 0 {
			return c.findShort(line, delimiter)
		}
		set, some := equalBytes(line[at:at+32], delimiter)
		bits |= some
		for set = set >> (i - at) << (i - at); set != 0; set &= set - 1 {
			found++
			cut[found] = int32(at + mathbits.TrailingZeros64(set))
		}
		if found >= maxCells {
			break
		}
		i = at + 32
	}
	c.bits = bits
	return found
}

// findShort is findByte for a line of less than 32 bytes.
func (c *cells) findShort(line string, delimiter byte) (found int) {
	for i := 0; i < len(line); i++ {
		c.bits |= uint64(line[i])
		if line[i] == delimiter {
			found++
			c.cut[found] = int32(i)
		}
	}
	return found
}

// equalBytes returns a bit for each of 32 bytes that is equal to want, the
// first the lowest, and all the bytes or-ed together, eight at a time.
func equalBytes(s string, want byte) (set, some uint64) {
	_ = s[31]
	a, b, c, d := load64(s, 0), load64(s, 8), load64(s, 16), load64(s, 24)
	some = a | b | c | d
	pattern := uint64(want) * ones
	set = gather(zeroBytes(a^pattern)) | gather(zeroBytes(b^pattern))<<8 |
		gather(zeroBytes(c^pattern))<<16 | gather(zeroBytes(d^pattern))<<24
	return set, some
}

// zeroBytes returns the highest bit of every byte of word that is zero.
func zeroBytes(word uint64) uint64 { return ^((word&lows + lows) | word | lows) }

// gather puts the highest bits of the eight bytes side by side.
func gather(tops uint64) uint64 { return (tops >> 7) * 0x0102040810204080 >> 56 }

// fit reports whether every cell can stand in its column.
func (c *cells) fit(s *schema) bool {
	for i := range s.columns {
		col := &s.columns[i]
		if col.field == fieldNone && col.shape != shapeEmpty {
			continue
		}
		if !col.shape.fits(c.at(int16(i))) {
			return false
		}
	}
	return true
}

// readings counts the ways in which a text can be cut into the columns.
type readings uint8

const (
	readNever readings = iota
	readOnce
	readOften
)

// align cuts a record whose free texts hold delimiters or new lines. Typed
// columns take one piece each, free texts one or more; neighbouring free texts
// that no Job is made from count as one, since how they share their pieces
// changes nothing. Only where exactly one reading fits are the cells set.
func (c *cells) align(text string, s *schema) readings {
	n := c.split(text, s.delimiter, maxCells)
	width := len(s.columns)
	if n < width || n > maxCells {
		return readNever
	}
	surplus := n - width
	if surplus == 0 {
		if c.allFit(s) {
			return readOnce
		}
		return readNever
	}
	pieces := make([]string, n)
	for i := range pieces {
		pieces[i] = c.at(int16(i))
	}
	// ways[i][k]: how often (0, 1, 2 = more) columns i… fit pieces i+k….
	ways := make([][]readings, width+1)
	for i := range ways {
		ways[i] = make([]readings, surplus+1)
	}
	ways[width][surplus] = readOnce
	for i := width - 1; i >= 0; i-- {
		for k := 0; k <= surplus; k++ {
			if s.columns[i].shape != shapeFree {
				if ways[i+1][k] != readNever && s.columns[i].shape.fits(pieces[i+k]) {
					ways[i][k] = ways[i+1][k]
				}
				continue
			}
			last := k
			if !s.sharesPieces(i) {
				last = surplus
			}
			for to := k; to <= last; to++ {
				ways[i][k] = min(ways[i][k]+ways[i+1][to], readOften)
			}
		}
	}
	if ways[0][0] != readOnce {
		return ways[0][0]
	}
	start, k := 0, 0
	for i := range width {
		end := start + len(pieces[i+k])
		if s.columns[i].shape == shapeFree && !s.sharesPieces(i) {
			for ways[i+1][k] == readNever {
				k++
				end += c.delimiter + len(pieces[i+k])
			}
		}
		c.cut[i+1] = int32(end)
		start = end + c.delimiter
	}
	c.n = width
	return readOnce
}

// sharesPieces reports whether column i is a free text whose surplus is left
// to the free text after it, both being passed over.
func (s *schema) sharesPieces(i int) bool {
	return i+1 < len(s.columns) && s.columns[i].field == fieldNone &&
		s.columns[i+1].field == fieldNone && s.columns[i+1].shape == shapeFree
}

// leansOver reports whether the delimiter after a free text can also begin
// later, as in "a|||b" with the delimiter ||: what then belongs to the text and
// what to the cell after it is not known.
func (c *cells) leansOver(s *schema) bool {
	for i := 0; i+1 < len(s.columns); i++ {
		if s.columns[i].shape != shapeFree {
			continue
		}
		end, next := int(c.cut[i+1]), int(c.cut[i+2])
		for n := 1; n < c.delimiter && end+n+c.delimiter <= next; n++ {
			if strings.HasPrefix(c.text[end+n:], s.delimiter) {
				return true
			}
		}
	}
	return false
}

// allFit is fit for all columns, also those that nothing is read from.
func (c *cells) allFit(s *schema) bool {
	for i := range s.columns {
		if !s.columns[i].shape.fits(c.at(int16(i))) {
			return false
		}
	}
	return true
}

// breaksInText reports whether a line with too few cells can be the head of a
// record that a new line inside a free text has broken: the line then ends in
// that text, and all before the first free text fits.
func (c *cells) breaksInText(s *schema) bool {
	for i := range s.columns {
		if i >= c.n {
			return false
		}
		if s.columns[i].shape == shapeFree {
			return true
		}
		if !s.columns[i].shape.fits(c.at(int16(i))) {
			return false
		}
	}
	return false
}

// startsRecord reports whether a line with too few cells is the head of a
// record of its own, rather than more of the text before it: it has two cells
// or more, and those that are whole fit up to the first free text; or it has
// most of the cells of a record, be it a damaged one.
func (c *cells) startsRecord(s *schema) bool {
	n := c.n
	if n < 2 {
		return false
	}
	if n*2 > len(s.columns) {
		return true
	}
	for i := 0; i < n-1 && i < len(s.columns) && s.columns[i].shape != shapeFree; i++ {
		if !s.columns[i].shape.fits(c.at(int16(i))) {
			return false
		}
	}
	return true
}
