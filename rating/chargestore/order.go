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
func (in *intake) compare(x, y place) int {
	a, b := &in.blocks[x.block].rows[x.row], &in.blocks[y.block].rows[y.row]
	if c := in.compareTexts(a, b, inOrigin, originCluster, originCluster+1); c != 0 {
		return c
	}
	for _, n := range [...]int{nEnd, nJobIDRaw} {
		if c := cmp.Compare(uint64(a.numbers[n]), uint64(b.numbers[n])); c != 0 {
			return c
		}
	}
	s, t := in.spanOf(a), in.spanOf(b)
	if c := cmp.Compare(uint64(s.from), uint64(t.from)); c != 0 {
		return c
	}
	if c := in.compareTexts(a, b, inBasis, basisMeter, basisMeter+1); c != 0 {
		return c
	}
	for n := range numberCount {
		if c := cmp.Compare(a.numbers[n], b.numbers[n]); c != 0 {
			return c
		}
	}
	l, m := in.shapes.list[a.codes[codeShape]].fields(), in.shapes.list[b.codes[codeShape]].fields()
	if c := slices.Compare(l[:], m[:]); c != 0 {
		return c
	}
	if c := cmp.Compare(s.until, t.until); c != 0 {
		return c
	}
	if c := cmp.Compare(in.commons.list[a.codes[codeCommon]].ruleLine, in.commons.list[b.codes[codeCommon]].ruleLine); c != 0 {
		return c
	}
	for _, k := range [bundleCount]int{inGroup, inOrigin, inName, inBasis, inExact, inSource} {
		if c := in.compareTexts(a, b, k, 0, len(in.bundles[k].columns)); c != 0 {
			return c
		}
	}
	return bytes.Compare(a.jobID.appendTo(nil, in.blocks[x.block].longIDs), b.jobID.appendTo(nil, in.blocks[y.block].longIDs))
}

// spanOf gives the part of its job that a row is of.
func (in *intake) spanOf(r *record) span { return in.spans.list[in.odds.list[r.codes[codeOdd]].span] }

// compareTexts compares the texts of a bundle from one place to another.
func (in *intake) compareTexts(a, b *record, bundle, from, to int) int {
	code, at := codeOf(bundle)
	m, n := a.codes[code], b.codes[code]
	if m == n {
		return 0
	}
	switch code {
	case codeCommon:
		m, n = in.commons.list[m].bundled[at], in.commons.list[n].bundled[at]
	case codeOdd:
		m, n = in.odds.list[m].bundled[at], in.odds.list[n].bundled[at]
	}
	texts := &in.bundles[bundle]
	for place := from; place < to; place++ {
		through := in.through[texts.columns[place]]
		if through[m] == through[n] {
			continue
		}
		if c := strings.Compare(texts.of(m)[place], texts.of(n)[place]); c != 0 {
			return c
		}
	}
	return 0
}

// rowsOf gives the rows of a group in order. Mostly they came in order.
func (in *intake) rowsOf(group int) []place {
	l := &in.lists[group]
	if l.unsorted {
		slices.SortFunc(l.rows, in.compare)
		l.unsorted = false
	}
	return l.rows
}
