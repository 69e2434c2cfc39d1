package jobstore

import (
	"fmt"
	"os"

	"hpcbill/ingest"
)

// A dump mostly repeats records that the store has already. Nothing of the
// dataset changes for that; that the dump had them is noted in a list beside
// it, as long as the dump, until Compact takes it in: which of two revisions
// counts may depend on which was seen last.

// newSight is a list of sightings written beneath _tmp.
type newSight struct {
	*sighting
	temporary string
}

// writeSightings writes a list of records of a cluster that the store knows,
// by their keys in order; at is the line.
func (g *Ingest) writeSightings(cluster string, keys []key) error {
	n := &newSight{sighting: &sighting{Cluster: cluster}, temporary: "sightings-" + number(len(g.sightings))}
	data, shape := encodeIndex(keys, true)
	n.Index = shape
	f, err := os.Create(g.store.path(temporaryDir + "/" + n.temporary))
	if err != nil {
		return err
	}
	defer f.Close()
	g.sightings = append(g.sightings, n)
	_, err = f.Write(data)
	return err
}

// finish fills in what is known of the dump at its end.
func (n *newSight) finish(d Dump) { n.File, n.Digest, n.DumpTime = d.File, d.Digest, d.Newest }

func number(n int) string { return fmt.Sprintf("%08d", n) }

// seenBy says that a dump had a record.
type seenBy struct {
	source   ingest.Source
	dumpTime ingest.Instant
}

// sightingFile is a list of sightings and where it lies.
type sightingFile struct {
	*sighting
	path string
}

// sightingFiles lists those of a catalog.
func (s *Store) sightingFiles(c *catalog) []sightingFile {
	var files []sightingFile
	for _, x := range c.Sightings {
		files = append(files, sightingFile{x, s.path(x.Path)})
	}
	return files
}

// allSightings lists those of the store, and of the dump being taken in.
func (g *Ingest) allSightings(d Dump) []sightingFile {
	files := g.store.sightingFiles(g.catalog)
	for _, n := range g.sightings {
		n.finish(d)
		files = append(files, sightingFile{n.sighting, g.store.path(temporaryDir + "/" + n.temporary)})
	}
	return files
}

// eachSighting calls seen for every sighting of the records that keys name,
// which are of one cluster and in the order of their raw ids.
func eachSighting(files []sightingFile, cluster string, keys []key, seen func(at int, by seenBy)) error {
	raws := make([]uint64, len(keys))
	for i, k := range keys {
		raws[i] = k.raw
	}
	for _, x := range files {
		if x.Cluster != cluster || !x.Index.covers(raws) {
			continue
		}
		if err := x.each(raws, keys, seen); err != nil {
			return err
		}
	}
	return nil
}

func (x sightingFile) each(raws []uint64, keys []key, seen func(at int, by seenBy)) error {
	f, err := os.Open(x.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return x.Index.find(f, raws, func(i int, s key) {
		for ; i < len(keys) && keys[i].raw == s.raw; i++ {
			if keys[i].print == s.print {
				seen(i, seenBy{ingest.Source{File: x.File, Digest: x.Digest, Line: int64(s.at)}, x.DumpTime})
			}
		}
	})
}
