package chargestore

import (
	"slices"
	"strings"
)

// relieve writes the rows of the group that has the most, as whole row groups
// as far as they go. Where even that one has few, all are written: groups that
// share row groups are better read than many row groups of a few rows.
func (out *rowGroupWriter) relieve(in *intake, worthwhile int) error {
	most := 0
	for g := range in.lists {
		if in.lists[g].n > in.lists[most].n {
			most = g
		}
	}
	if in.lists[most].n < worthwhile {
		return out.writeAll(in)
	}
	rows := in.rowsOf(most, nil)
	for len(rows) > 0 {
		n := min(len(rows), rowGroupRows)
		if err := out.write(in, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	in.release(most)
	return nil
}

// writeAll writes all rows, those of a group together.
func (out *rowGroupWriter) writeAll(in *intake) error {
	groups := in.bundles[inGroup].texts
	byName := make([]int, 0, len(groups))
	counts := make(map[string]int, len(groups))
	for g := range in.lists {
		if in.lists[g].n > 0 {
			byName = append(byName, g)
			counts[groups[g]] = in.lists[g].n
		}
	}
	slices.SortFunc(byName, func(x, y int) int { return strings.Compare(groups[x], groups[y]) })
	rows := make([]*record, 0, in.n)
	for _, g := range byName {
		rows = in.rowsOf(g, rows)
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
