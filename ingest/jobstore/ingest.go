package jobstore

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"hpcbill/ingest"
)

// Ingest takes in one dump. Nothing of it is seen before Commit.
//
// While one batch of rows is filled by Add, a goroutine sorts and writes the
// one before: it alone uses everything below the line until Commit has waited
// for it.
type Ingest struct {
	store *Store
	lock  *fileLock
	batch *rows // being filled
	ended bool
	err   error // of Add

	full chan *rows // to the goroutine
	free chan *rows // and back
	done chan error

	// -----

	catalog *catalog
	parts   *partWriter
	record  Record

	fresh     []*newPart // written beneath _tmp, to be part of the store
	sightings []*newSight
	clusters  map[string]bool
	contested contested
	winners   *rows // of contested jobs, to be written into the dataset
	losers    *rows // likewise, to the superseded records
	removed   map[*part][]taken
	changes   changes // of what went from the dataset, until the record is written

	isNew  []bool   // by row of a batch
	chosen []uint32 // rows of a batch that are new, in order
	keys   []key    // of a cluster's rows, by raw id
	spare  []key
	raws   []uint64
	marks  []marks
}

// addRows is how many jobs are taken in at a time: about as many as stay in a
// core's cache.
const addRows = 1024

// ErrEnded is returned for the use of an Ingest after Commit or Abort.
var ErrEnded = errors.New("the ingest has ended")

// Begin starts taking in a dump. It fails with ErrBusy while another process
// does so. Abort or Commit must follow.
func (s *Store) Begin() (*Ingest, error) {
	lock, c, err := s.beginWriting()
	if err != nil {
		return nil, fmt.Errorf("begin ingest: %w", err)
	}
	return &Ingest{
		store: s, lock: lock, catalog: c, batch: &rows{}, winners: &rows{}, losers: &rows{},
		parts: s.newPartWriter("ingest"), clusters: map[string]bool{}, removed: map[*part][]taken{}, changes: changes{},
		contested: newContested(),
	}, nil
}

// Add takes in a batch of jobs, in the order of the dump. It keeps nothing of
// the batch's memory. What fails while an earlier batch is being written may
// be told by a later Add, or by Commit.
func (g *Ingest) Add(jobs []ingest.Job) error {
	if g.ended {
		return ErrEnded
	}
	for len(jobs) > 0 {
		if g.err != nil {
			return fmt.Errorf("store jobs: %w", g.err)
		}
		n := min(len(jobs), addRows, g.store.partRows-g.batch.n)
		g.batch.add(jobs[:n])
		jobs = jobs[n:]
		if g.batch.n == g.store.partRows {
			g.err = g.handOver()
		}
	}
	return nil
}

// handOver gives the full batch to the goroutine, and takes an empty one.
func (g *Ingest) handOver() error {
	if g.full == nil {
		g.full, g.free, g.done = make(chan *rows), make(chan *rows, 2), make(chan error, 1)
		g.free <- &rows{}
		go g.writeBatches()
	}
	select {
	case g.full <- g.batch:
		g.batch = <-g.free
		return nil
	case err := <-g.done:
		g.done <- err // Commit and Abort ask again
		return err
	}
}

// writeBatches writes batches until there are no more, or one fails.
func (g *Ingest) writeBatches() {
	for b := range g.full {
		if err := g.writeBatch(b); err != nil {
			g.done <- err
			return
		}
		g.free <- b
	}
	g.done <- nil
}

// writeBatch writes what is new in a batch, and empties it.
func (g *Ingest) writeBatch(b *rows) error {
	if err := g.classify(b); err != nil {
		return err
	}
	return g.writeNew(b)
}

// writeNew writes the chosen rows into the dataset, and empties the batch.
func (g *Ingest) writeNew(b *rows) error {
	parts, err := g.parts.write(b, g.chosen, false, false)
	g.fresh = append(g.fresh, parts...)
	b.reset()
	return err
}

// wait ends the goroutine.
func (g *Ingest) wait() error {
	if g.full == nil {
		return nil
	}
	close(g.full)
	err := <-g.done
	g.full, g.free = nil, nil
	return err
}

// Commit makes the dump part of the dataset: all of it, or, when an error is
// returned or the process dies on the way, nothing.
func (g *Ingest) Commit(d Dump) (Record, error) {
	if g.ended {
		return Record{}, ErrEnded
	}
	err := g.wait()
	var r Record
	if err == nil {
		r, err = g.commit(d)
	}
	g.Abort()
	if err != nil {
		return Record{}, fmt.Errorf("store %s: %w", d.File, err)
	}
	return r, nil
}

// Abort gives up an ingest that was not committed. After Commit it does
// nothing.
func (g *Ingest) Abort() {
	if g.ended {
		return
	}
	g.ended = true
	_, _ = g.wait(), g.parts.settle() // it is given up anyway
	if !g.store.exists(journalName) {
		os.RemoveAll(g.store.path(temporaryDir)) // what is left, the next Begin clears
	}
	g.lock.release()
}

func (g *Ingest) commit(d Dump) (Record, error) {
	if err := g.classify(g.batch); err != nil {
		return Record{}, err
	}
	g.batch.setDump(d.Digest, d.Newest)
	for _, p := range g.fresh {
		if err := p.finish(g.store, d.Digest, d.Newest); err != nil {
			return Record{}, err
		}
	}
	if err := g.decideContested(d); err != nil {
		return Record{}, err
	}
	if err := g.rewrite(d); err != nil {
		return Record{}, err
	}
	if err := g.parts.settle(); err != nil {
		return Record{}, err
	}
	r, err := g.finishRecord(d)
	if err != nil {
		return Record{}, err
	}
	var j journal
	g.listFiles(d, r, &j)
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

// listFiles brings the catalog and the journal up to date.
func (g *Ingest) listFiles(d Dump, r Record, j *journal) {
	var kept []*part
	for _, p := range g.catalog.Parts {
		if g.removed[p] != nil {
			j.Removes = append(j.Removes, p.Path)
			continue
		}
		kept = append(kept, p)
	}
	for _, n := range g.fresh {
		if g.removed[n.part] == nil {
			kept = append(kept, n.part)
			j.Moves = append(j.Moves, move{n.temporary, n.Path})
		}
	}
	g.catalog.Parts = kept
	for _, n := range g.sightings {
		n.finish(d)
		n.Path = sightingsDir + "/" + number(r.Sequence) + "-" + n.temporary
		g.catalog.Sightings = append(g.catalog.Sightings, n.sighting)
		j.Moves = append(j.Moves, move{n.temporary, n.Path})
	}
}

func (g *Ingest) finishRecord(d Dump) (Record, error) {
	r := g.record
	g.catalog.Ingests++
	r.Sequence = g.catalog.Ingests
	r.File, r.Digest, r.Bytes, r.Newest = d.File, d.Digest, d.Bytes, d.Newest
	r.Format, r.Zone, r.IngestedAt = d.Format, d.Zone, d.IngestedAt
	r.Records, r.Steps, r.OrphanSteps, r.Quarantined = d.Records, d.Steps, d.OrphanSteps, int64(len(d.Quarantined))
	r.Warnings, r.Asked = d.Warnings, d.Asked
	for _, n := range g.fresh {
		g.changes.add(n)
	}
	r.Changes = g.changes.list()
	for cluster := range g.clusters {
		r.Clusters = append(r.Clusters, cluster)
	}
	slices.Sort(r.Clusters)
	return r, r.check()
}
