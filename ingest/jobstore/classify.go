package jobstore

import (
	"os"
	"slices"
	"strings"

	"hpcbill/ingest"
)

// marks say what is known of a row's raw id beside the row itself.
type marks uint8

const (
	sameStored  marks = 1 << iota // the dataset has this very record
	sameEarlier                   // this dump had it before
	otherKnown                    // there is another record of the raw id
)

// classify decides, for each row of a batch, whether it is new, known, a
// repetition, or contested. New ones are chosen, the others are put where
// they belong.
func (g *Ingest) classify(b *rows) error {
	g.isNew = slices.Grow(g.isNew[:0], b.n)[:b.n]
	clear(g.isNew)
	g.countBatch(b)
	for number, cluster := range b.clusters.List {
		g.keys = g.keys[:0]
		for row, c := range b.cluster[:b.n] {
			if int(c) == number {
				g.keys = append(g.keys, key{uint64(b.ints[colJobIDRaw][row]), b.prints[row], uint64(row)})
			}
		}
		if len(g.spare) < len(g.keys) {
			g.spare = make([]key, len(g.keys))
		}
		sortKeys(g.keys, g.spare[:len(g.keys)])
		cluster = strings.Clone(cluster)
		if err := g.markKeys(cluster); err != nil {
			return err
		}
		if err := g.place(b, cluster); err != nil {
			return err
		}
	}
	g.chosen = g.chosen[:0]
	for row, chosen := range g.isNew {
		if chosen {
			g.chosen = append(g.chosen, uint32(row))
		}
	}
	return nil
}

func (g *Ingest) countBatch(b *rows) {
	g.record.Jobs += int64(b.n)
	for _, n := range b.ints[colEnd][:b.n] {
		end := ingest.Instant(n)
		if end != ingest.None && (g.record.FirstEnd == ingest.None || end < g.record.FirstEnd) {
			g.record.FirstEnd = end
		}
		g.record.LastEnd = max(g.record.LastEnd, end)
	}
	for _, cluster := range b.clusters.List {
		if !g.clusters[cluster] {
			g.clusters[strings.Clone(cluster)] = true
		}
	}
}

// markKeys marks the keys of one cluster's rows, which are in order.
func (g *Ingest) markKeys(cluster string) error {
	g.marks = slices.Grow(g.marks[:0], len(g.keys))[:len(g.keys)]
	clear(g.marks)
	g.raws = g.raws[:0]
	contested := g.contested.raws[cluster]
	for i, k := range g.keys {
		g.raws = append(g.raws, k.raw)
		if contested[k.raw] {
			g.marks[i] |= otherKnown
		}
	}
	for start := 0; start < len(g.keys); {
		end := start + 1
		for end < len(g.keys) && g.keys[end].raw == g.keys[start].raw {
			end++
		}
		if end-start > 1 {
			g.markRepeated(start, end)
		}
		start = end
	}
	for _, p := range g.catalog.Parts {
		if err := g.markAgainst(p, cluster, sameStored); err != nil {
			return err
		}
	}
	for _, p := range g.fresh {
		if err := g.markAgainst(p.part, cluster, sameEarlier); err != nil {
			return err
		}
	}
	for _, p := range g.contested.spilled {
		if err := g.markAgainst(p.part, cluster, otherKnown); err != nil {
			return err
		}
	}
	return nil
}

// markRepeated compares the keys from start to end, all of one raw id.
func (g *Ingest) markRepeated(start, end int) {
	seen := make(map[uint64]bool, end-start)
	for i := start; i < end; i++ {
		if seen[g.keys[i].print] {
			g.marks[i] |= sameEarlier
		}
		seen[g.keys[i].print] = true
	}
	for i := start; i < end && len(seen) > 1; i++ {
		g.marks[i] |= otherKnown
	}
}

// markAgainst compares the keys with a part's index. Records that are the
// same get the mark given, unless they are superseded ones.
func (g *Ingest) markAgainst(p *part, cluster string, same marks) error {
	if p.Cluster != cluster || !p.Index.covers(g.raws) {
		return nil
	}
	f, err := os.Open(g.pathOf(p))
	if err != nil {
		return err
	}
	defer f.Close()
	return p.Index.find(f, g.raws, func(i int, k key) {
		for ; i < len(g.keys) && g.keys[i].raw == k.raw; i++ {
			if g.keys[i].print == k.print && p.visible() {
				g.marks[i] |= same
			} else {
				g.marks[i] |= otherKnown
			}
		}
	})
}

// place puts each row where its marks say it belongs.
func (g *Ingest) place(b *rows, cluster string) error {
	var known []key
	for i, k := range g.keys {
		switch m := g.marks[i]; {
		case m&sameStored != 0:
			g.record.Unchanged++
			if m&sameEarlier == 0 {
				known = append(known, key{k.raw, k.print, uint64(b.ints[colLine][k.at])})
			}
		case m&sameEarlier != 0:
			g.record.Superseded++
		case m&otherKnown != 0:
			if err := g.contest(b, cluster, uint32(k.at)); err != nil {
				return err
			}
		default:
			g.record.New++
			g.isNew[k.at] = true
		}
	}
	if len(known) == 0 {
		return nil
	}
	return g.writeSightings(cluster, known)
}

// pathOf gives where a part lies now.
func (g *Ingest) pathOf(p *part) string {
	if p.temporary != "" {
		return g.store.path(temporaryDir + "/" + p.temporary)
	}
	return g.store.path(p.Path)
}
