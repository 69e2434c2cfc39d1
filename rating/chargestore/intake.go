package chargestore

import "hpcbill/ingest/jobstore/columnar"

// intake is rows as they come from rating. Row groups are encoded from where
// they lie, while more come: what was taken in is never overwritten.
type intake struct {
	texts
	rows   *generation
	spare  []*generation
	lists  []rowList // by the number of the group
	resets int

	order  []uint32 // of the rows that are being taken
	groups []uint32 // that they are of

	// The texts of each column of a bundle for themselves.
	dicts   [columnCount]*columnar.Texts
	through [columnCount][]uint32 // by the number of a combination: that of its text
}

// generation is rows that were taken in. When some are written, the others move
// to the next one.
type generation struct {
	columns
	readers int // row groups that are being encoded from it
}

// rowList is the rows of a group, in the order in which they came.
type rowList struct {
	rows     []uint32
	unsorted bool

	// Of the rows that are being taken.
	coming uint32
	at     uint32 // the place of the next
}

func newIntake() *intake {
	in := &intake{rows: &generation{}}
	in.forgetTexts()
	return in
}

// forgetTexts begins with other memory, since row groups are being encoded from
// what there was.
func (in *intake) forgetTexts() {
	in.texts = newTexts()
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
	if in.texts.bytes() > keptTextBytes/2 {
		in.forgetTexts()
	}
	for i := range in.lists {
		in.lists[i] = rowList{rows: in.lists[i].rows[:0]}
	}
	in.next()
}

// next begins a generation, and gives the one before it.
func (in *intake) next() (before *generation) {
	before = in.rows
	in.spare = append(in.spare, before)
	for i, g := range in.spare {
		if g.readers == 0 {
			in.spare = append(in.spare[:i], in.spare[i+1:]...)
			g.reset()
			in.rows = g
			return before
		}
	}
	in.rows = &generation{}
	in.rows.extend(len(before.ends)) // at once: it will be as large
	in.rows.reset()
	return before
}

// release forgets the rows of some groups.
func (in *intake) release(groups []int) {
	for _, g := range groups {
		in.lists[g] = rowList{rows: in.lists[g].rows[:0]}
	}
	before := in.rows
	before.readers++ // so that it is not the next
	in.next()
	before.readers--
	for g := range in.lists {
		rows := in.lists[g].rows
		first := uint32(in.rows.n)
		in.rows.pick(&before.columns, rows)
		for i := range rows {
			rows[i] = first + uint32(i)
		}
	}
}

// bytes is how much memory the texts take.
func (in *intake) bytes() int { return in.texts.bytes() + len(in.rows.jobIDs) }

// take appends rows, from one to another, and keeps nothing of their memory.
// Those of a group are put together, as far as they come at once: a row group
// is then gathered from fewer places.
func (in *intake) take(rows *Rows, from, to int) {
	groups := in.byGroup(rows, from, to)
	first := in.rows.pick(&rows.columns, in.order)
	for k := range rows.codes {
		codes := in.rows.codes[k][first:in.rows.n]
		for i, code := range codes {
			codes[i] = rows.codeIn(in, k, code)
		}
	}
	for _, g := range groups {
		l := &in.lists[g]
		for range l.coming {
			in.list(l, first)
			first++
		}
		l.coming = 0
	}
}

// byGroup puts the rows that are to be taken into in.order, those of a group
// together, and lists the groups in this order.
func (in *intake) byGroup(rows *Rows, from, to int) (groups []uint32) {
	groups, in.order = in.groups[:0], resized(in.order, to-from)
	codes := rows.codes[inGroup][from:to]
	for _, code := range codes {
		group := rows.codeIn(in, inGroup, code)
		for int(group) >= len(in.lists) {
			in.lists = append(in.lists, rowList{})
		}
		if in.lists[group].coming == 0 {
			groups = append(groups, group)
		}
		in.lists[group].coming++
	}
	at := uint32(0)
	for _, g := range groups {
		in.lists[g].at, at = at, at+in.lists[g].coming
	}
	for i, code := range codes {
		l := &in.lists[rows.codeIn(in, inGroup, code)]
		in.order[l.at] = uint32(from + i)
		l.at++
	}
	in.groups = groups
	return groups
}

// list puts a row into the list of its group.
func (in *intake) list(l *rowList, row int) {
	if n := len(l.rows); n > 0 && !l.unsorted {
		l.unsorted = in.compare(int(l.rows[n-1]), row) > 0
	}
	l.rows = append(l.rows, uint32(row))
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
			in.through[column] = append(in.through[column], in.dicts[column].Number(texts[place]))
		}
	}
	return number
}
