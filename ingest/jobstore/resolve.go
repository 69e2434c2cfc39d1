package jobstore

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"hpcbill/ingest"
)

// change is what an ingest does to the dataset beside the parts that were
// written from the dump as it was read.
type change struct {
	added    []revision         // to the dataset
	retained []revision         // to the superseded records
	removed  map[*part][]uint32 // rows that go from a part
}

// losing gives the parts that lose rows, in order.
func (c *change) losing() []*part {
	parts := make([]*part, 0, len(c.removed))
	for p := range c.removed {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Index.Offset, b.Index.Offset), cmp.Compare(a.MinEnd, b.MinEnd))
	})
	return parts
}

func (c *change) remove(p *part, row uint32) { c.removed[p] = append(c.removed[p], row) }

// candidate is a record whose raw id is contested, and where it is now.
type candidate struct {
	revision
	part   *part // nil for a record of this dump that was not written
	row    uint32
	stored bool // the part was there before this ingest
	again  bool // a stored one that this dump has as well
}

// resolve decides what becomes of the contested records, and of those that
// they contest.
func (g *Ingest) resolve(d Dump, c *change) error {
	byCluster := map[string][]candidate{}
	for _, r := range g.contested {
		r.Source.Digest, r.dumpTime, r.lastSeen = d.Digest, d.Newest, d.Newest
		byCluster[r.Cluster] = append(byCluster[r.Cluster], candidate{revision: r.revision})
	}
	g.contested = nil
	clusters := make([]string, 0, len(byCluster))
	for cluster := range byCluster {
		clusters = append(clusters, cluster)
	}
	slices.Sort(clusters)
	for _, cluster := range clusters {
		if err := g.resolveCluster(cluster, byCluster[cluster], d, c); err != nil {
			return err
		}
	}
	return nil
}

func (g *Ingest) resolveCluster(cluster string, fresh []candidate, d Dump, c *change) error {
	slices.SortStableFunc(fresh, func(a, b candidate) int { return cmp.Compare(a.JobIDRaw, b.JobIDRaw) })
	raws := make([]uint64, len(fresh))
	for i := range fresh {
		raws[i] = fresh[i].JobIDRaw
	}
	raws = slices.Compact(raws)
	known, err := g.candidates(cluster, raws, d)
	if err != nil {
		return err
	}
	if err := g.applySightings(cluster, raws, known, d); err != nil {
		return err
	}
	for _, raw := range raws {
		var group []candidate
		for len(known) > 0 && known[0].JobIDRaw == raw {
			group, known = append(group, known[0]), known[1:]
		}
		for len(fresh) > 0 && fresh[0].JobIDRaw == raw {
			if at := slices.IndexFunc(group, func(k candidate) bool { return k.print == fresh[0].print }); at < 0 {
				group = append(group, fresh[0])
			} else {
				g.repeat(&group[at], &fresh[0], d)
			}
			fresh = fresh[1:]
		}
		g.decide(group, c)
	}
	return g.writeRepeated(cluster, c)
}

// repeat takes in a record of this dump that is there already: from earlier
// in the dump, or among the superseded ones.
func (g *Ingest) repeat(k, r *candidate, d Dump) {
	if k.part == nil || !k.stored || k.again {
		g.record.Superseded++
		return
	}
	k.again = true
	k.see(r.Source, d.Newest)
}

// decide applies the verdicts on all records of one raw id, and counts what
// became of those of this dump.
func (g *Ingest) decide(group []candidate, c *change) {
	records := make([]revision, len(group))
	for i := range group {
		records[i] = group[i].revision
	}
	verdicts, jobs := judge(records)
	had := map[int]bool{} // jobs of which the dataset had a record
	for i, k := range group {
		if k.stored && k.part.visible() {
			had[jobs[i]] = true
		}
	}
	for i := range group {
		k := &group[i]
		g.apply(k, verdicts[i], c)
		switch {
		case k.stored && !k.again:
		case k.part != nil && !k.stored: // counted as new when it was written
			if verdicts[i] != winning {
				g.record.New--
				g.record.Superseded++
			}
		case verdicts[i] != winning:
			g.record.Superseded++
		case had[jobs[i]]:
			g.record.Revised++
		default:
			g.record.New++
		}
	}
}

// apply moves a record to where its verdict says it belongs.
func (g *Ingest) apply(k *candidate, v verdict, c *change) {
	visible := k.part != nil && k.part.visible()
	switch {
	case v == winning && !visible:
		c.added = append(c.added, k.revision)
	case v == retained && (k.part == nil || visible):
		c.retained = append(c.retained, k.revision)
	case v == retained && k.again:
		g.repeated = append(g.repeated, key{k.JobIDRaw, k.print, uint64(k.Source.Line)})
		return
	case v == winning, v == retained:
		return // where it belongs already
	}
	if k.part != nil {
		c.remove(k.part, k.row)
	}
}

// candidates reads all records of the raw ids, which are in order, that the
// store or this ingest has written.
func (g *Ingest) candidates(cluster string, raws []uint64, d Dump) ([]candidate, error) {
	var found []candidate
	look := func(p *part, stored bool) error {
		if p.Cluster != cluster || !p.Index.covers(raws) {
			return nil
		}
		rows, err := g.store.rowsOf(p, g.pathOf(p), raws)
		if err != nil || len(rows) == 0 {
			return err
		}
		return g.store.eachRow(p, g.pathOf(p), func(row uint32, v *revision) error {
			if len(rows) == 0 || rows[0].at != uint64(row) {
				return nil
			}
			k := candidate{revision: *v, part: p, row: row, stored: stored}
			k.print = rows[0].print
			rows = rows[1:]
			if !stored {
				k.Source.Digest, k.dumpTime, k.lastSeen = d.Digest, d.Newest, d.Newest
			}
			found = append(found, k)
			return nil
		})
	}
	for _, p := range g.catalog.Parts {
		if err := look(p, true); err != nil {
			return nil, err
		}
	}
	for _, p := range g.fresh {
		if err := look(p.part, false); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.JobIDRaw, b.JobIDRaw) })
	return found, nil
}

// rowsOf gives the keys of a part that have one of the raw ids, in the order
// of its rows.
func (s *Store) rowsOf(p *part, name string, raws []uint64) ([]key, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rows []key
	if err := p.Index.find(f, raws, func(_ int, k key) { rows = append(rows, k) }); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	slices.SortFunc(rows, func(a, b key) int { return cmp.Compare(a.at, b.at) })
	return rows, nil
}

// applySightings tells the candidates, which are in the order of their raw
// ids, in which dumps they were seen since they were written.
func (g *Ingest) applySightings(cluster string, raws []uint64, known []candidate, d Dump) error {
	look := func(name string, x *sighting) error {
		if x.Cluster != cluster || !x.Index.covers(raws) {
			return nil
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return x.Index.find(f, raws, func(_ int, k key) {
			at, _ := slices.BinarySearchFunc(known, k.raw, func(c candidate, raw uint64) int { return cmp.Compare(c.JobIDRaw, raw) })
			for ; at < len(known) && known[at].JobIDRaw == k.raw; at++ {
				if known[at].print == k.print {
					known[at].see(ingest.Source{File: x.File, Digest: x.Digest, Line: int64(k.at)}, x.DumpTime)
				}
			}
		})
	}
	for _, x := range g.catalog.Sightings {
		if err := look(g.store.path(x.Path), x); err != nil {
			return err
		}
	}
	for _, n := range g.sightings {
		x := *n.sighting
		x.File, x.Digest, x.DumpTime = d.File, d.Digest, d.Newest
		if err := look(g.store.path(temporaryDir+"/"+n.temporary), &x); err != nil {
			return err
		}
	}
	return nil
}

// writeRepeated notes the superseded records that this dump had again and
// that stay superseded.
func (g *Ingest) writeRepeated(cluster string, c *change) error {
	if len(g.repeated) == 0 {
		return nil
	}
	keys := g.repeated
	g.repeated = nil
	sortKeys(keys, make([]key, len(keys)))
	return g.writeSightings(cluster, keys)
}
