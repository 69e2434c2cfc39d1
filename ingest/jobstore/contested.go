package jobstore

import (
	"maps"
	"slices"
)

// contested are records of a dump whose fate is decided at its end, among all
// records of their raw ids: when the dump's own time is known. They are few,
// unless a dump says something else of every job, as one with a new column
// does; so they wait in files when they are many.
type contested struct {
	batch   *rows
	raws    map[string]map[uint64]bool // of the batch, by cluster
	spilled []*newPart
}

func newContested() contested { return contested{batch: &rows{}, raws: map[string]map[uint64]bool{}} }

// contest puts a row of a batch aside.
func (g *Ingest) contest(b *rows, cluster string, row uint32) error {
	c := &g.contested
	c.batch.addRow(b, row)
	if c.raws[cluster] == nil {
		c.raws[cluster] = map[uint64]bool{}
	}
	c.raws[cluster][uint64(b.ints[colJobIDRaw][row])] = true
	if c.batch.n < g.store.partRows {
		return nil
	}
	return g.spill()
}

// spill writes the contested batch to files.
func (g *Ingest) spill() error {
	c := &g.contested
	parts, err := g.parts.write(c.batch, allRows(c.batch), true, false)
	c.spilled = append(c.spilled, parts...)
	c.batch.reset()
	clear(c.raws)
	return err
}

func allRows(b *rows) []uint32 {
	all := make([]uint32, b.n)
	for i := range all {
		all[i] = uint32(i)
	}
	return all
}

// decideContested decides all contested records, range by range of raw ids.
func (g *Ingest) decideContested(d Dump) error {
	c := &g.contested
	if len(c.spilled) > 0 && c.batch.n > 0 {
		if err := g.spill(); err != nil {
			return err
		}
		*c = contested{batch: &rows{}, spilled: c.spilled} // the memory is needed now
	}
	for _, p := range c.spilled {
		if err := p.finish(g.store, d.Digest, d.Newest); err != nil {
			return err
		}
	}
	c.batch.setDump(d.Digest, d.Newest)
	inMemory := map[string][]candidate{}
	for row := range c.batch.n {
		v := c.batch.revision(uint32(row))
		inMemory[v.Cluster] = append(inMemory[v.Cluster], candidate{revision: v})
	}
	known := slices.Clone(g.fresh) // those written from here on are decided
	for _, cluster := range slices.Sorted(maps.Keys(inMemory)) {
		if err := g.decideRange(cluster, inMemory[cluster], known, d); err != nil {
			return err
		}
	}
	return g.decideSpilled(known, d)
}

func (g *Ingest) decideSpilled(known []*newPart, d Dump) error {
	byCluster := map[string][]*newPart{}
	for _, p := range g.contested.spilled {
		byCluster[p.Cluster] = append(byCluster[p.Cluster], p)
	}
	for _, cluster := range slices.Sorted(maps.Keys(byCluster)) {
		cuts, err := g.cuts(byCluster[cluster])
		if err != nil {
			return err
		}
		for i := 1; i < len(cuts); i++ {
			var fresh []candidate
			for _, p := range byCluster[cluster] {
				if fresh, err = g.readSpilled(fresh, p, cuts[i-1], cuts[i]); err != nil {
					return err
				}
			}
			if err := g.decideRange(cluster, fresh, known, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// cuts gives raw ids between which about a quarter of a part's rows lie, so
// that they can be decided in memory. A single raw id is not cut.
func (g *Ingest) cuts(parts []*newPart) ([]uint64, error) {
	var raws []uint64
	perRange := g.store.partRows / 4
	step := min(blockKeys, perRange/4+1)
	for _, p := range parts {
		keys, err := p.Index.read(g.pathOf(p.part))
		if err != nil {
			return nil, err
		}
		for i := 0; i < len(keys); i += step {
			raws = append(raws, keys[i].raw)
		}
	}
	slices.Sort(raws)
	cuts := []uint64{0}
	for i := perRange / step; i < len(raws); i += perRange/step + 1 {
		if raws[i] > cuts[len(cuts)-1] {
			cuts = append(cuts, raws[i])
		}
	}
	return append(cuts, 1<<64-1), nil
}

// readSpilled appends the records of a part whose raw ids are in [from, to),
// or at the end of all in [from, to].
func (g *Ingest) readSpilled(dst []candidate, p *newPart, from, to uint64) ([]candidate, error) {
	keys, err := p.Index.read(g.pathOf(p.part))
	if err != nil {
		return nil, err
	}
	keys = slices.DeleteFunc(keys, func(k key) bool { return k.raw < from || k.raw >= to && to != 1<<64-1 })
	sortByRow(keys)
	return dst, g.store.eachKey(p.part, g.pathOf(p.part), everyColumn(), keys, func(_ uint32, v *revision) error {
		dst = append(dst, candidate{revision: *v})
		return nil
	})
}

func sortByRow(keys []key) {
	slices.SortFunc(keys, func(a, b key) int {
		if a.at < b.at {
			return -1
		}
		return 1
	})
}
