package ingest

import "strings"

// The most cells that a line may have: sacct prints 123 columns with ALL.
const maxCells = 1024

// cells are the cells of one record: ends[i] is where the i-th ends in text.
type cells struct {
	text      string
	ends      []int32
	delimiter int // its length
}

// at returns the i-th cell, "" for the column -1.
func (c *cells) at(i int16) string {
	if i < 0 {
		return ""
	}
	start := 0
	if i > 0 {
		start = int(c.ends[i-1]) + c.delimiter
	}
	return c.text[start:c.ends[i]]
}

// split cuts line at every delimiter, but not into more than most cells: the
// last then holds the rest. It returns the number of cells.
func (c *cells) split(line, delimiter string, most int) int {
	c.text, c.delimiter = line, len(delimiter)
	ends := c.ends[:0]
	start := 0
	if len(delimiter) == 1 {
		d := delimiter[0]
		for len(ends) < most-1 {
			i := strings.IndexByte(line[start:], d)
			if i < 0 {
				break
			}
			ends = append(ends, int32(start+i))
			start += i + 1
		}
	} else {
		for len(ends) < most-1 {
			i := strings.Index(line[start:], delimiter)
			if i < 0 {
				break
			}
			ends = append(ends, int32(start+i))
			start += i + len(delimiter)
		}
	}
	c.ends = append(ends, int32(len(line)))
	return len(c.ends)
}

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
	if n < width || n >= maxCells {
		return readNever
	}
	surplus := n - width
	if surplus == 0 {
		if c.allFit(s) {
			return readOnce
		}
		return readNever
	}
	pieces := append([]int32(nil), c.ends...)
	at := func(from, to int) string { // pieces from … to-1 with their delimiters
		start := 0
		if from > 0 {
			start = int(pieces[from-1]) + c.delimiter
		}
		return text[start:pieces[to-1]]
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
				if ways[i+1][k] != readNever && s.columns[i].shape.fits(at(i+k, i+k+1)) {
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
	ends := c.ends[:0]
	k := 0
	for i := range width {
		if s.columns[i].shape == shapeFree && !s.sharesPieces(i) {
			for ways[i+1][k] == readNever {
				k++
			}
		}
		ends = append(ends, pieces[i+k])
	}
	c.ends = ends
	return readOnce
}

// sharesPieces reports whether column i is a free text whose surplus is left
// to the free text after it, both being passed over.
func (s *schema) sharesPieces(i int) bool {
	return i+1 < len(s.columns) && s.columns[i].field == fieldNone &&
		s.columns[i+1].field == fieldNone && s.columns[i+1].shape == shapeFree
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
		if i >= len(c.ends) {
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
// or more, and those that are whole fit up to the first free text.
func (c *cells) startsRecord(s *schema) bool {
	n := len(c.ends)
	if n < 2 {
		return false
	}
	for i := 0; i < n-1 && i < len(s.columns) && s.columns[i].shape != shapeFree; i++ {
		if !s.columns[i].shape.fits(c.at(int16(i))) {
			return false
		}
	}
	return true
}
