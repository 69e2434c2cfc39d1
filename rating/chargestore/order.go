package chargestore

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// compare tells how a row x stands to y of the same group: by cluster, end, raw
// id, part and meter, then by everything else, so that only equal rows compare
// as equal.
func compare(x, y *record, t *texts) int {
	if c := compareTexts(x, y, t, inOrigin, originCluster, originCluster+1); c != 0 {
		return c
	}
	for _, n := range [...]int{nEnd, nJobIDRaw, nFrom} {
		if c := cmp.Compare(uint64(x.numbers[n]), uint64(y.numbers[n])); c != 0 {
			return c
		}
	}
	if c := compareTexts(x, y, t, inBasis, basisMeter, basisMeter+1); c != 0 {
		return c
	}
	for n := range numberCount {
		if c := cmp.Compare(x.numbers[n], y.numbers[n]); c != 0 {
			return c
		}
	}
	for k := range bundleCount {
		if c := compareTexts(x, y, t, k, 0, len(t.bundles[k].columns)); c != 0 {
			return c
		}
	}
	return bytes.Compare(t.jobID(x), t.jobID(y))
}

// compareTexts compares the texts of a bundle from one place to another.
func compareTexts(x, y *record, t *texts, bundle, from, to int) int {
	if x.codes[bundle] == y.codes[bundle] {
		return 0
	}
	for place := from; place < to; place++ {
		if c := strings.Compare(t.of(x, bundle, place), t.of(y, bundle, place)); c != 0 {
			return c
		}
	}
	return 0
}

// rowsOf appends the rows of a group in order. Mostly they came in order.
func (in *intake) rowsOf(group int, rows []*record) []*record {
	l, first := &in.lists[group], len(rows)
	for i, chunk := range l.chunks {
		for at := range min(len(chunk), l.n-i*len(chunk)) {
			rows = append(rows, &chunk[at])
		}
	}
	if l.unsorted {
		slices.SortFunc(rows[first:], func(x, y *record) int { return compare(x, y, &in.texts) })
	}
	return rows
}
