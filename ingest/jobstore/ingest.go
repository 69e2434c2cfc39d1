package jobstore

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"hpcbill/ingest"
)

// Ingest takes in one dump. Nothing of it is seen before Commit.
type Ingest struct {
	store   *Store
	lock    *os.File
	catalog *catalog
	parts   *partWriter
	batch   *rows
	record  Record

	fresh     []*newPart    // written from this dump, or for it
	sightings []*newSight   // lists of records that were known
	contested []contestedBy // records of jobs that the store knows otherwise
	disputed  map[jobKey]bool
	repeated  []key // superseded records that the dump has again
	clusters  map[string]bool

	chosen []uint32
	keys   []key
	spare  []key
	raws   []uint64
	marks  []marks
	err    error
}

// jobKey is a raw id of a cluster: what revisions of a job have in common.
type jobKey struct {
	cluster string
	raw     uint64
}

// contestedBy is a record whose fate is decided at the end, among all records
// of its raw id.
type contestedBy struct{ revision }

// ErrEnded is returned for the use of an Ingest after Commit or Abort.
var ErrEnded = errors.New("the ingest has ended")

// Begin starts taking in a dump. It fails with ErrBusy while another process
// does so. Abort or Commit must follow.
func (s *Store) Begin() (*Ingest, error) {
	lock, c, err := s.beginWriting()
	if err != nil {
		return nil, fmt.Errorf("begin ingest: %w", err)
	}
	return &Ingest{store: s, lock: lock, catalog: c, parts: s.newPartWriter("ingest"), batch: newRows(0),
		disputed: map[jobKey]bool{}, clusters: map[string]bool{}}, nil
}

// Add takes in a batch of jobs, in the order of the dump. It keeps nothing of
// the batch's memory.
func (g *Ingest) Add(jobs []ingest.Job) error {
	if g.err != nil {
		return g.err
	}
	for i := range jobs {
		g.batch.add(&jobs[i])
		if g.batch.n == maxPartRows {
			if err := g.writeBatch(); err != nil {
				g.err = fmt.Errorf("store jobs: %w", err)
				return g.err
			}
		}
	}
	return nil
}

// writeBatch writes what is new in a full batch.
func (g *Ingest) writeBatch() error {
	if err := g.classify(); err != nil {
		return err
	}
	return g.writeChosen()
}

// writeChosen writes the chosen rows of the batch and empties it.
func (g *Ingest) writeChosen() error {
	parts, err := g.parts.write(g.batch, g.chosen, false, false)
	g.fresh = append(g.fresh, parts...)
	g.batch.reset()
	g.chosen = g.chosen[:0]
	return err
}

// Commit makes the dump part of the dataset: all of it, or, when an error is
// returned or the process dies on the way, nothing.
func (g *Ingest) Commit(d Dump) (Record, error) {
	if g.err != nil {
		g.Abort()
		return Record{}, g.err
	}
	record, err := g.commit(d)
	g.Abort()
	if err != nil {
		return Record{}, fmt.Errorf("store %s: %w", d.File, err)
	}
	return record, nil
}

// Abort gives up an ingest that was not committed. After Commit it does
// nothing.
func (g *Ingest) Abort() {
	if g.lock == nil {
		return
	}
	if !g.store.exists(journalName) {
		os.RemoveAll(g.store.path(temporaryDir)) // what is left, the next Begin clears
	}
	g.lock.Close()
	g.lock = nil
	g.err = ErrEnded
}

func (g *Ingest) commit(d Dump) (Record, error) {
	if err := g.classify(); err != nil {
		return Record{}, err
	}
	g.batch.setDump(d.Digest, d.Newest)
	change := &change{removed: map[*part][]uint32{}}
	if err := g.resolve(d, change); err != nil {
		return Record{}, err
	}
	if err := g.writeOut(d, change); err != nil {
		return Record{}, err
	}
	r, err := g.finishRecord(d)
	if err != nil {
		return Record{}, err
	}
	j := journal{}
	g.listParts(change, &j)
	for _, sight := range g.sightings {
		sight.finish(d, r.Sequence)
		g.catalog.Sightings = append(g.catalog.Sightings, sight.sighting)
		j.Moves = append(j.Moves, move{sight.temporary, sight.Path})
	}
	if err := g.store.writeTemporaryJSON("record", r); err != nil {
		return Record{}, err
	}
	j.Moves = append(j.Moves, move{"record", recordName(r.Sequence, r.Digest)})
	if len(d.Quarantined) > 0 {
		if err := g.store.writeTemporaryJSON("quarantine", d.Quarantined); err != nil {
			return Record{}, err
		}
		j.Moves = append(j.Moves, move{"quarantine", quarantineName(r.Sequence, r.Digest)})
	}
	return r, g.store.commit(g.catalog, j)
}

// writeOut writes what is still in memory, and again the parts that lose
// rows.
func (g *Ingest) writeOut(d Dump, change *change) error {
	for i := range change.added {
		g.batch.addRevision(&change.added[i])
		g.chosen = append(g.chosen, uint32(g.batch.n-1))
		if g.batch.n >= maxPartRows {
			if err := g.writeChosen(); err != nil {
				return err
			}
		}
	}
	if err := g.writeChosen(); err != nil {
		return err
	}
	for i := range change.retained {
		g.batch.addRevision(&change.retained[i])
		g.chosen = append(g.chosen, uint32(g.batch.n-1))
		if g.batch.n == maxPartRows || i == len(change.retained)-1 {
			parts, err := g.parts.write(g.batch, g.chosen, true, false)
			if err != nil {
				return err
			}
			g.fresh = append(g.fresh, parts...)
			g.batch.reset()
			g.chosen = g.chosen[:0]
		}
	}
	for _, p := range g.fresh {
		if err := p.finish(g.store, d.Digest, d.Newest); err != nil {
			return err
		}
	}
	return g.rewrite(change)
}

// rewrite writes the parts that lose rows again, without them.
func (g *Ingest) rewrite(change *change) error {
	for _, p := range change.losing() {
		gone := change.removed[p]
		slices.Sort(gone)
		if len(gone) == p.Rows {
			continue
		}
		err := g.store.eachRow(p, g.pathOf(p), func(row uint32, v *revision) error {
			if len(gone) > 0 && gone[0] == row {
				gone = gone[1:]
				return nil
			}
			g.batch.addRevision(v)
			g.chosen = append(g.chosen, uint32(g.batch.n-1))
			return nil
		})
		if err != nil {
			return err
		}
		parts, err := g.parts.write(g.batch, g.chosen, !p.visible(), false)
		if err != nil {
			return err
		}
		for _, n := range parts {
			if err := n.finish(g.store, "", 0); err != nil {
				return err
			}
		}
		g.fresh = append(g.fresh, parts...)
		g.batch.reset()
		g.chosen = g.chosen[:0]
	}
	return nil
}

// pathOf gives where a part lies now.
func (g *Ingest) pathOf(p *part) string {
	for _, n := range g.fresh {
		if n.part == p {
			return g.store.path(temporaryDir + "/" + n.temporary)
		}
	}
	return g.store.path(p.Path)
}

// listParts brings the catalog and the journal up to date.
func (g *Ingest) listParts(change *change, j *journal) {
	var kept []*part
	for _, p := range g.catalog.Parts {
		if _, losing := change.removed[p]; losing {
			j.Removes = append(j.Removes, p.Path)
			continue
		}
		kept = append(kept, p)
	}
	for _, n := range g.fresh {
		if _, losing := change.removed[n.part]; losing {
			continue
		}
		kept = append(kept, n.part)
		j.Moves = append(j.Moves, move{n.temporary, n.Path})
	}
	g.catalog.Parts = kept
	j.Removes = slices.DeleteFunc(j.Removes, func(name string) bool {
		return slices.ContainsFunc(j.Moves, func(m move) bool { return m.To == name })
	})
}

func (g *Ingest) finishRecord(d Dump) (Record, error) {
	r := g.record
	g.catalog.Ingests++
	r.Sequence = g.catalog.Ingests
	r.File, r.Digest, r.Bytes, r.Newest = d.File, d.Digest, d.Bytes, d.Newest
	r.Format, r.Zone, r.IngestedAt = d.Format, d.Zone, d.IngestedAt
	r.Records, r.Steps, r.OrphanSteps, r.Quarantined = d.Records, d.Steps, d.OrphanSteps, int64(len(d.Quarantined))
	r.Warnings = d.Warnings
	for cluster := range g.clusters {
		r.Clusters = append(r.Clusters, cluster)
	}
	slices.Sort(r.Clusters)
	return r, r.check()
}
