package chargestore

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// compareRows compares row i of a with row j of b: by group, cluster, end,
// raw id, part and meter, then by everything else, so that rows which compare
// as equal are equal.
func compareRows(a *batch, i int, b *batch, j int) int {
	if c := compareTexts(a, i, b, j, inGroup, 0, 1); c != 0 {
		return c
	}
	if c := compareTexts(a, i, b, j, inOrigin, originCluster, originCluster+1); c != 0 {
		return c
	}
	for _, column := range [...]int{colEnd, colJobIDRaw, colFrom} {
		if x, y := a.numbers[column][i], b.numbers[column][j]; x != y {
			return cmp.Compare(uint64(x), uint64(y))
		}
	}
	if c := compareTexts(a, i, b, j, inBasis, basisMeter, basisMeter+1); c != 0 {
		return c
	}
	return compareRest(a, i, b, j)
}

func compareRest(a *batch, i int, b *batch, j int) int {
	for _, column := range numberColumns() {
		if c := cmp.Compare(a.numbers[column][i], b.numbers[column][j]); c != 0 {
			return c
		}
	}
	for k := range bundleCount {
		if c := compareTexts(a, i, b, j, k, 0, len(a.bundles[k].columns)); c != 0 {
			return c
		}
	}
	return bytes.Compare(a.jobID(i), b.jobID(j))
}

// compareTexts compares the texts of a bundle from one place to another.
func compareTexts(a *batch, i int, b *batch, j int, bundle, from, to int) int {
	x, y := a.codes[bundle][i], b.codes[bundle][j]
	if a == b && x == y {
		return 0
	}
	p, q := a.bundles[bundle].of(x), b.bundles[bundle].of(y)
	for place := from; place < to; place++ {
		if c := strings.Compare(p[place], q[place]); c != 0 {
			return c
		}
	}
	return 0
}

// sorted gives the rows in order, and how many each group has, by the number
// of the group. The rows mostly come in order within their group, which is
// looked at before anything is sorted.
func (b *batch) sorted() (order []uint32, counts []int) {
	groups := b.bundles[inGroup].texts
	byName := make([]uint32, len(groups))
	for i := range byName {
		byName[i] = uint32(i)
	}
	slices.SortFunc(byName, func(x, y uint32) int { return strings.Compare(groups[x], groups[y]) })
	counts = make([]int, len(groups))
	for _, g := range b.codes[inGroup] {
		counts[g]++
	}
	next, at := make([]int, len(groups)), 0
	for _, g := range byName {
		next[g], at = at, at+counts[g]
	}
	order = make([]uint32, b.n)
	for row, g := range b.codes[inGroup] {
		order[next[g]] = uint32(row)
		next[g]++
	}
	for _, g := range byName {
		b.sortRows(order[next[g]-counts[g] : next[g]])
	}
	return order, counts
}

func (b *batch) sortRows(order []uint32) {
	compare := func(x, y uint32) int { return compareRows(b, int(x), b, int(y)) }
	if !slices.IsSortedFunc(order, compare) {
		slices.SortFunc(order, compare)
	}
}
