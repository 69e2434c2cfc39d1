package chargestore

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// compare tells how a row x, whose texts are in xs, stands to y: by group,
// cluster, end, raw id, part and meter, then by everything else, so that only
// equal rows compare as equal.
func compare(x *record, xs *texts, y *record, ys *texts) int {
	if c := compareTexts(x, xs, y, ys, inGroup, 0, 1); c != 0 {
		return c
	}
	if c := compareTexts(x, xs, y, ys, inOrigin, originCluster, originCluster+1); c != 0 {
		return c
	}
	for _, n := range [...]int{nEnd, nJobIDRaw, nFrom} {
		if c := cmp.Compare(uint64(x.numbers[n]), uint64(y.numbers[n])); c != 0 {
			return c
		}
	}
	if c := compareTexts(x, xs, y, ys, inBasis, basisMeter, basisMeter+1); c != 0 {
		return c
	}
	for n := range numberCount {
		if c := cmp.Compare(x.numbers[n], y.numbers[n]); c != 0 {
			return c
		}
	}
	for k := range bundleCount {
		if c := compareTexts(x, xs, y, ys, k, 0, len(xs.bundles[k].columns)); c != 0 {
			return c
		}
	}
	return bytes.Compare(xs.jobID(x), ys.jobID(y))
}

// compareTexts compares the texts of a bundle from one place to another.
func compareTexts(x *record, xs *texts, y *record, ys *texts, bundle, from, to int) int {
	if xs == ys && x.codes[bundle] == y.codes[bundle] {
		return 0
	}
	for place := from; place < to; place++ {
		if c := strings.Compare(xs.of(x, bundle, place), ys.of(y, bundle, place)); c != 0 {
			return c
		}
	}
	return 0
}

// sorted gives the rows in order. Those of a group mostly came in order.
func (in *intake) sorted() []*record {
	groups := in.bundles[inGroup].texts
	byName := make([]int, len(groups))
	for i := range byName {
		byName[i] = i
	}
	slices.SortFunc(byName, func(x, y int) int { return strings.Compare(groups[x], groups[y]) })
	all := make([]*record, 0, in.n)
	for _, g := range byName {
		l := &in.lists[g]
		first := len(all)
		for i, chunk := range l.chunks {
			for at := range min(len(chunk), l.n-i*len(chunk)) {
				all = append(all, &chunk[at])
			}
		}
		if l.unsorted {
			slices.SortFunc(all[first:], func(x, y *record) int { return compare(x, &in.texts, y, &in.texts) })
		}
	}
	return all
}
