package chargestore

import (
	"cmp"
	"slices"
	"strings"
)

// relieve writes the groups that have the most, as whole row groups, until no
// more than half of the rows are left. Where few of the groups are worthwhile,
// all are written: groups that share row groups are better read than many row
// groups of a few rows.
func (out *rowGroupWriter) relieve(in *intake, worthwhile int) error {
	byRows := in.filled()
	slices.SortStableFunc(byRows, func(x, y int) int { return cmp.Compare(len(in.lists[y].rows), len(in.lists[x].rows)) })
	n, left := 0, in.waiting
	for ; n < len(byRows) && left > in.waiting/2 && len(in.lists[byRows[n]].rows) >= worthwhile; n++ {
		left -= len(in.lists[byRows[n]].rows)
	}
	if left > in.waiting/4*3 {
		return out.writeAll(in)
	}
	for _, g := range byRows[:n] {
		rows := in.rowsOf(g)
		for len(rows) > 0 {
			of := min(len(rows), rowGroupRows)
			if err := out.write(in, rows[:of]); err != nil {
				return err
			}
			rows = rows[of:]
		}
		in.lists[g] = rowList{rows: in.lists[g].rows[:0]}
	}
	in.compact(compactRows)
	return nil
}

// how many rows are moved into one block.
const compactRows = 8 << 10

// filled lists the groups that have rows.
func (in *intake) filled() (groups []int) {
	for g := range in.lists {
		if len(in.lists[g].rows) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// writeAll writes all rows, those of a group together.
func (out *rowGroupWriter) writeAll(in *intake) error {
	names, groups := in.bundles[inGroup].texts, in.filled()
	slices.SortFunc(groups, func(x, y int) int { return strings.Compare(names[x], names[y]) })
	counts := make(map[string]int, len(groups))
	rows := make([]place, 0, in.waiting)
	for _, g := range groups {
		counts[names[g]] = len(in.lists[g].rows)
		rows = append(rows, in.rowsOf(g)...)
	}
	for _, n := range rowGroups(counts) {
		if err := out.write(in, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	in.reset()
	return nil
}
