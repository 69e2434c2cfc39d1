package jobstore

import (
	"cmp"
	"maps"
	"slices"
)

// rewrite writes everything that is still in memory, and again the parts that
// lose rows, without them.
func (g *Ingest) rewrite(d Dump) error {
	losing := slices.SortedFunc(maps.Keys(g.removed), func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.temporary, b.temporary))
	})
	kept := &rows{}
	for _, p := range losing {
		if err := g.withoutTaken(p, kept, d); err != nil {
			return err
		}
	}
	// The new rows of the last batch and the winners go together, so that a
	// small dump makes one file for each month.
	for i := range g.winners.n {
		v := g.winners.revision(uint32(i))
		g.batch.addRevision(&v)
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
func (g *Ingest) withoutTaken(p *part, kept *rows, d Dump) error {
	gone := g.removed[p]
	slices.SortFunc(gone, func(a, b taken) int { return cmp.Compare(a.row, b.row) })
	history, err := g.store.historyOf(p, g.pathOf(p), g.allSightings(d))
	if err != nil {
		return err
	}
	err = g.store.eachRow(p, g.pathOf(p), func(row uint32, v *revision) error {
		if len(gone) == 0 || gone[0].row != row {
			kept.addRevision(v)
			return nil
		}
		to := gone[0].to
		gone = gone[1:]
		for _, by := range history.seen[row] {
			v.see(by)
		}
		switch to {
		case winning:
			return g.addWinner(v)
		case retained:
			return g.addLoser(v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return g.writeAll(kept, !p.visible())
}
