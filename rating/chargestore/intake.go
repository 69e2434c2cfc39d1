package chargestore

import (
	"slices"

	"hpcbill/ingest/jobstore/columnar"
)

// intake is rows as they come from rating. They stay in the blocks in which they
// came until they are written; row groups are encoded from there, while more
// come.
type intake struct {
	texts
	blocks        []*block // by number
	free          []*block // of them
	waiting       int      // rows to be written
	longIDBytes   int      // of these
	taken         int      // all rows that came
	lists         []rowList
	resets        int
	keptTextBytes int // see the constant

	// The texts of each column of a bundle for themselves.
	dicts     [columnCount]*columnar.Texts
	through   [columnCount][]uint32 // by the number of a combination: that of its text
	dictBytes int                   // that the texts of dicts take

	segments []segment // of the list that is moved
	rows     []uint32
}

// block is rows that came at once, or were moved together.
type block struct {
	records
	number  uint32
	left    int // rows that are not taken or not given to be encoded
	readers int // row groups that are being encoded from it
	free    bool
}

// place is where a row lies.
type place struct{ block, row uint32 }

// rowList is the rows of a group, in the order in which they came.
type rowList struct {
	rows     []place
	unsorted bool

	// Of the last row, as its record may be far by now.
	cluster uint32 // the number of its text
	end     int64
	jobID   int64
}

func newIntake(keptTextBytes int) *intake {
	in := &intake{keptTextBytes: keptTextBytes}
	in.forgetTexts()
	return in
}

// forgetTexts begins with other memory, since row groups are being encoded from
// what there was.
func (in *intake) forgetTexts() {
	in.texts = newTexts()
	in.dictBytes = 0
	in.resets++
	for _, columns := range bundledColumns() {
		for _, column := range columns {
			in.dicts[column], in.through[column] = &columnar.Texts{}, nil
		}
	}
}

// reset forgets all rows, and the texts where there are many: the next rows will
// mostly have the same.
func (in *intake) reset() {
	if in.textBytes() > in.keptTextBytes/2 {
		in.forgetTexts()
	}
	for i := range in.lists {
		in.lists[i] = rowList{rows: in.lists[i].rows[:0]}
	}
	in.longIDBytes = 0
}

// emptyBlock gives a block without rows, of some size.
func (in *intake) emptyBlock(size int) *block {
	if n := len(in.free); n > 0 {
		b := in.free[n-1]
		in.free = in.free[:n-1]
		b.free = false
		return b
	}
	b := &block{number: uint32(len(in.blocks))}
	b.rows = make([]record, 0, size)
	in.blocks = append(in.blocks, b)
	return b
}

// release makes a block free of which nothing is needed any more.
func (in *intake) release(b *block) {
	if b.left == 0 && b.readers == 0 && !b.free {
		b.reset()
		b.free = true
		in.free = append(in.free, b)
	}
}

// adopt takes over the memory of rows, and gives them other memory for it.
func (in *intake) adopt(rows *Rows) *block {
	b := in.emptyBlock(cap(rows.rows))
	b.records, rows.records = rows.records, b.records
	b.left = len(b.rows)
	return b
}

// bytes is how much memory the texts take. It hangs on the rows that came alone,
// and so do the row groups: not on which blocks are being encoded from. Long ids
// are copied into row groups, of which several are being made, and their pages.
func (in *intake) bytes() int { return in.textBytes() + 4*in.longIDBytes }

func (in *intake) textBytes() int { return in.texts.bytes() + in.dictBytes }

// take lists rows of a block that was the rows'.
func (in *intake) take(rows *Rows, b *block, from, to int) {
	rows.wording.translate(in, b.rows[from:to])
	for row := from; row < to; row++ {
		group := in.commons.list[b.rows[row].codes[codeCommon]].bundled[inGroup]
		for int(group) >= len(in.lists) {
			in.lists = append(in.lists, rowList{})
		}
		in.list(&in.lists[group], place{b.number, uint32(row)})
		in.longIDBytes += b.rows[row].jobID.longBytes()
	}
	in.waiting += to - from
	in.taken += to - from
}

// list puts a row into the list of its group. Rows of one cluster mostly come in
// the order of their end.
func (in *intake) list(l *rowList, row place) {
	r := &in.blocks[row.block].rows[row.row]
	cluster := in.through[colCluster][in.commons.list[r.codes[codeCommon]].bundled[inOrigin]]
	end, jobID := r.numbers[nEnd], r.numbers[nJobIDRaw]
	if n := len(l.rows); n > 0 && !l.unsorted {
		later := cluster == l.cluster && l.end >= 0 && (end > l.end || end == l.end && l.jobID >= 0 && jobID > l.jobID)
		l.unsorted = !later && in.compare(l.rows[n-1], row) > 0
	}
	l.rows, l.cluster, l.end, l.jobID = append(l.rows, row), cluster, end, jobID
}

// compact moves the rows of all lists together, so that the blocks in which few
// are left become free.
func (in *intake) compact(size int) {
	var to *block
	in.longIDBytes = 0
	for g := range in.lists {
		places := in.lists[g].rows
		in.segments, in.rows = in.appendSegments(in.segments[:0], in.rows[:0], places)
		for _, s := range in.segments {
			if to == nil || len(to.rows)+len(s.rows) > size {
				to = in.emptyBlock(size)
			}
			first := to.pick(&s.block.records, s.rows)
			for i := range s.rows {
				places[s.first+i] = place{to.number, uint32(first + i)}
				in.longIDBytes += to.rows[first+i].jobID.longBytes()
			}
			to.left += len(s.rows)
			s.block.left -= len(s.rows)
			in.release(s.block)
		}
	}
}

// segment is rows that follow one another in a list and lie in one block.
type segment struct {
	block *block
	rows  []uint32
	first int // in the list
}

// appendSegments cuts a list where its rows go from one block to another. Their
// rows are appended to some.
func (in *intake) appendSegments(segments []segment, rows []uint32, places []place) ([]segment, []uint32) {
	rows = slices.Grow(rows, len(places)) // once: the segments point there
	for first := 0; first < len(places); {
		end, start := first, len(rows)
		for ; end < len(places) && places[end].block == places[first].block; end++ {
			rows = append(rows, places[end].row)
		}
		segments = append(segments, segment{in.blocks[places[first].block], rows[start:], first})
		first = end
	}
	return segments, rows
}

// resized gives a slice of n, with what was in it or not.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// numberOf gives the number of a combination, and numbers each of its texts if
// it is new.
func (in *intake) numberOf(bundle int, texts []string) uint32 {
	b := &in.bundles[bundle]
	before := b.count()
	number := b.number(texts)
	if b.count() > before {
		for place, column := range b.columns {
			dict := in.dicts[column]
			known := len(dict.List)
			in.through[column] = append(in.through[column], dict.Number(texts[place]))
			if len(dict.List) > known {
				in.dictBytes += textBytes + len(texts[place])
			}
		}
	}
	return number
}
