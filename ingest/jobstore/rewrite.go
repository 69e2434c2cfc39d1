package jobstore

import (
	"cmp"
	"maps"
	"slices"

	"hpcbill/ingest/jobstore/columnar"
)

// rewrite writes everything that is still in memory, and again the parts that
// lose rows, without them.
func (g *Ingest) rewrite(d Dump) error {
	losing := slices.SortedFunc(maps.Keys(g.removed), func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.temporary, b.temporary))
	})
	shorter := newShortener(g.store)
	var err error
	for i := 0; i < len(losing) && err == nil; i++ {
		err = g.withoutTaken(losing[i], d, shorter)
	}
	if err := shorter.wait(err); err != nil {
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
	going := make([]key, len(gone))
	for i, t := range gone {
		going[i] = t.key
	}
	sortKeys(going, make([]key, len(going)))
	seen := map[uint64][]seenBy{}
	err := eachSighting(g.allSightings(d), p.Cluster, going, func(at int, by seenBy) {
		seen[going[at].at] = append(seen[going[at].at], by)
	})
	if err != nil {
		return err
	}
	sortByRow(going)
	slices.SortFunc(gone, func(a, b taken) int { return cmp.Compare(a.at, b.at) })
	send := func(_ uint32, v *revision) error { // called for one after another
		for _, by := range seen[gone[0].at] {
			v.see(by)
		}
		if p.visible() {
			g.changes.note(p.Month, Change{v.Start, v.End, v.End})
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
	}
	if len(going) == p.Rows {
		return g.store.eachKey(p, g.pathOf(p), everyColumn(), going, send)
	}
	return shorter.start(p, g.pathOf(p), going, func(page *columnar.Page) error { return eachTaken(p, page, going, send) })
}
