package jobstore

import (
	"cmp"
	"errors"
	"maps"
	"slices"
)

// rewrite writes everything that is still in memory, and again the parts that
// lose rows, without them.
func (g *Ingest) rewrite(d Dump) error {
	losing := slices.SortedFunc(maps.Keys(g.removed), func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.temporary, b.temporary))
	})
	shorter := newShortener(g.store)
	for _, p := range losing {
		if err := g.withoutTaken(p, d, shorter); err != nil {
			return errors.Join(err, shorter.wait())
		}
	}
	if err := shorter.wait(); err != nil {
		return err
	}
	g.fresh = append(g.fresh, shorter.parts()...)
	// The new rows of the last batch and the winners go together, so that a
	// small dump makes one file for each month.
	for i := range g.winners.n {
		g.batch.addRow(g.winners, uint32(i))
		g.chosen = append(g.chosen, uint32(g.batch.n-1))
	}
	parts, err := g.parts.write(g.batch, g.chosen, false, false)
	for _, p := range parts {
		if err == nil {
			err = p.finish(g.store, "", 0)
		}
	}
	if err != nil {
		return err
	}
	g.fresh = append(g.fresh, parts...)
	return g.writeAll(g.losers, true)
}

// withoutTaken writes a part again without the rows that go, and sends those
// where they belong.
func (g *Ingest) withoutTaken(p *part, d Dump, shorter *shortener) error {
	gone := g.removed[p]
	slices.SortFunc(gone, func(a, b taken) int { return cmp.Compare(a.row, b.row) })
	keys, err := p.Index.read(g.pathOf(p))
	if err != nil {
		return err
	}
	kept, going := splitKeys(keys, gone)
	seen := map[uint64][]seenBy{}
	err = eachSighting(g.allSightings(d), p.Cluster, going, func(at int, by seenBy) {
		seen[going[at].at] = append(seen[going[at].at], by)
	})
	if err != nil {
		return err
	}
	sortByRow(going)
	err = g.store.eachKey(p, g.pathOf(p), everyColumn(), going, func(row uint32, v *revision) error {
		for _, by := range seen[uint64(row)] {
			v.see(by)
		}
		to := gone[0].to
		gone = gone[1:]
		switch to {
		case winning:
			return g.addWinner(v)
		case retained:
			return g.addLoser(v)
		}
		return nil
	})
	if err == nil && len(kept) > 0 {
		shorter.start(p, g.pathOf(p), going, kept)
	}
	return err
}

// splitKeys gives the keys of the rows that stay, as they are numbered when
// the others are gone, and of those that go.
func splitKeys(keys []key, gone []taken) (kept, going []key) {
	for _, k := range keys {
		at, found := slices.BinarySearchFunc(gone, k.at, func(t taken, row uint64) int { return cmp.Compare(uint64(t.row), row) })
		if found {
			going = append(going, k)
			continue
		}
		k.at -= uint64(at)
		kept = append(kept, k)
	}
	return kept, going
}
