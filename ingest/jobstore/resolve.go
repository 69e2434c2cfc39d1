package jobstore

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"hpcbill/ingest"
)

// candidate is a record whose raw id is contested, and where it is. Of one
// that was written, only what decides is read (decidingColumns).
type candidate struct {
	revision
	part   *part // nil for a record of this dump that was put aside
	row    uint32
	stored bool // the part was there before this ingest
	again  bool // a stored one that this dump has as well
}

// taken is a row that goes from a part, and what becomes of it.
type taken struct {
	key
	to verdict
}

// decidingColumns gives the columns of a part that judge looks at, beside the
// raw ids, which are in the index.
func decidingColumns(p *part) []int {
	columns := []int{colDBIndex, colSubmit, colStart, colEnd, colNotes, colFile, colLine, colDigest, colDumpTime, colLastSeen, colLastDigest, colLastLine}
	if p.MaxEnd == ingest.None || !p.visible() {
		return append(columns, colElapsed, colSuspended) // there are unfinished records
	}
	return columns
}

// decideRange decides what becomes of contested records of a cluster, all
// that there are of their raw ids, and of those that they contest.
func (g *Ingest) decideRange(cluster string, fresh []candidate, written []*newPart, d Dump) error {
	fresh = byRawID(fresh)
	raws := make([]uint64, 0, len(fresh))
	for i := range fresh {
		raws = append(raws, fresh[i].JobIDRaw)
	}
	raws = slices.Compact(raws)
	known, err := g.candidates(cluster, raws, written)
	if err != nil {
		return err
	}
	keys := make([]key, len(known))
	for i, k := range known {
		keys[i] = key{k.JobIDRaw, k.print, 0}
	}
	err = eachSighting(g.allSightings(d), cluster, keys, func(at int, by seenBy) { known[at].see(by) })
	if err != nil {
		return err
	}
	var repeated []key
	for _, raw := range raws {
		var group []candidate
		for len(known) > 0 && known[0].JobIDRaw == raw {
			group, known = append(group, known[0]), known[1:]
		}
		for len(fresh) > 0 && fresh[0].JobIDRaw == raw {
			at := slices.IndexFunc(group, func(k candidate) bool { return k.print == fresh[0].print })
			switch {
			case at < 0:
				group = append(group, fresh[0])
			case group[at].stored && !group[at].again:
				group[at].again = true
				group[at].see(seenBy{fresh[0].Source, d.Newest})
				repeated = append(repeated, key{raw, fresh[0].print, uint64(fresh[0].Source.Line)})
			default:
				g.record.Superseded++
			}
			fresh = fresh[1:]
		}
		if err := g.decide(group); err != nil {
			return err
		}
	}
	if len(repeated) == 0 {
		return nil
	}
	return g.writeSightings(cluster, repeated)
}

// decide applies the verdicts on all records of one raw id, and counts what
// became of those of this dump.
func (g *Ingest) decide(group []candidate) error {
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
		if err := g.apply(&group[i], verdicts[i]); err != nil {
			return err
		}
		g.count(&group[i], verdicts[i], had[jobs[i]])
	}
	return nil
}

// count says what became of a record of this dump. had tells that the dataset
// had a record of its job before.
func (g *Ingest) count(k *candidate, v verdict, had bool) {
	switch {
	case k.stored && !k.again:
	case k.part != nil && !k.stored: // counted as new when it was written
		if v != winning {
			g.record.New--
			g.record.Superseded++
		}
	case v != winning:
		g.record.Superseded++
	case had:
		g.record.Revised++
	default:
		g.record.New++
	}
}

// apply sends a record where its verdict says it belongs.
func (g *Ingest) apply(k *candidate, v verdict) error {
	switch {
	case k.part == nil && v == winning:
		return g.addWinner(&k.revision)
	case k.part == nil && v == retained:
		return g.addLoser(&k.revision)
	case k.part != nil && (v == dropped || (v == winning) != k.part.visible()):
		g.removed[k.part] = append(g.removed[k.part], taken{key{k.JobIDRaw, k.print, uint64(k.row)}, v})
	}
	return nil
}

func (g *Ingest) addWinner(v *revision) error {
	g.winners.addRevision(v)
	if g.winners.n < g.store.partRows {
		return nil
	}
	return g.writeAll(g.winners, false)
}

func (g *Ingest) addLoser(v *revision) error {
	g.losers.addRevision(v)
	if g.losers.n < g.store.partRows {
		return nil
	}
	return g.writeAll(g.losers, true)
}

// writeAll writes a batch whose sources are known, and empties it.
func (g *Ingest) writeAll(b *rows, superseded bool) error {
	parts, err := g.parts.write(b, allRows(b), superseded, false)
	b.reset()
	for _, p := range parts {
		if err == nil {
			err = p.finish(g.store, "", 0)
		}
	}
	g.fresh = append(g.fresh, parts...)
	return err
}

// candidates reads what decides of all records of the raw ids, which are in
// order, that the store has or this ingest has written; by raw id.
func (g *Ingest) candidates(cluster string, raws []uint64, written []*newPart) ([]candidate, error) {
	parts, stored := slices.Clone(g.catalog.Parts), len(g.catalog.Parts)
	for _, p := range written {
		parts = append(parts, p.part)
	}
	found := make([][]candidate, len(parts))
	err := eachAtOnce(len(parts), partsAtOnce, func(i int) error {
		p := parts[i]
		if p.Cluster != cluster || !p.Index.covers(raws) {
			return nil
		}
		keys, err := g.keysOf(p, raws)
		if err != nil {
			return err
		}
		return g.store.eachKey(p, g.pathOf(p), decidingColumns(p), keys, func(row uint32, v *revision) error {
			found[i] = append(found[i], candidate{revision: *v, part: p, row: row, stored: i < stored})
			return nil
		})
	})
	return byRawID(found...), err
}

// byRawID gives candidates in the order of their raw ids and lines. They are
// large, so that keys are sorted in their place.
func byRawID(lists ...[]candidate) []candidate {
	var keys []key
	for n, list := range lists {
		for i := range list {
			keys = append(keys, key{list[i].JobIDRaw, uint64(list[i].Source.Line), uint64(n)<<32 | uint64(i)})
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.raw, b.raw), cmp.Compare(a.print, b.print), cmp.Compare(a.at, b.at))
	})
	sorted := make([]candidate, len(keys))
	for i, k := range keys {
		sorted[i] = lists[k.at>>32][uint32(k.at)]
	}
	return sorted
}

// keysOf gives the keys of a part that have one of the raw ids, in the order
// of its rows.
func (g *Ingest) keysOf(p *part, raws []uint64) ([]key, error) {
	f, err := os.Open(g.pathOf(p))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var keys []key
	if err := p.Index.find(f, raws, func(_ int, k key) { keys = append(keys, k) }); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	sortByRow(keys)
	return keys, nil
}
