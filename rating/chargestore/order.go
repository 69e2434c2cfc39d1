package chargestore

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// compare tells how row x stands to y of the same group: by cluster, end, raw
// id, part and meter, then by everything else, so that only equal rows compare
// as equal.
func (in *intake) compare(x, y int) int {
	if c := in.compareTexts(x, y, inOrigin, originCluster, originCluster+1); c != 0 {
		return c
	}
	numbers := &in.rows.numbers
	for _, n := range [...]int{nEnd, nJobIDRaw, nFrom} {
		if c := cmp.Compare(uint64(numbers[n][x]), uint64(numbers[n][y])); c != 0 {
			return c
		}
	}
	if c := in.compareTexts(x, y, inBasis, basisMeter, basisMeter+1); c != 0 {
		return c
	}
	for n := range numberCount {
		if c := cmp.Compare(numbers[n][x], numbers[n][y]); c != 0 {
			return c
		}
	}
	for k := range bundleCount {
		if c := in.compareTexts(x, y, k, 0, len(in.bundles[k].columns)); c != 0 {
			return c
		}
	}
	return bytes.Compare(in.rows.jobID(x), in.rows.jobID(y))
}

// compareTexts compares the texts of a bundle from one place to another.
func (in *intake) compareTexts(x, y, bundle, from, to int) int {
	codes := in.rows.codes[bundle]
	if codes[x] == codes[y] {
		return 0
	}
	b := &in.bundles[bundle]
	for place := from; place < to; place++ {
		column := b.columns[place]
		if through := in.through[column]; through[codes[x]] == through[codes[y]] {
			continue
		}
		if c := strings.Compare(b.of(codes[x])[place], b.of(codes[y])[place]); c != 0 {
			return c
		}
	}
	return 0
}

// rowsOf gives the rows of a group in order. Mostly they came in order.
func (in *intake) rowsOf(group int) []uint32 {
	l := &in.lists[group]
	if l.unsorted {
		slices.SortFunc(l.rows, func(x, y uint32) int { return in.compare(int(x), int(y)) })
		l.unsorted = false
	}
	return l.rows
}
