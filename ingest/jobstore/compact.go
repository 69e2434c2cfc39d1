package jobstore

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// Compact merges the small files that daily ingests leave, and takes in what
// later dumps confirmed, without changing what any job's record says. What is
// in order already is not touched. Afterwards the files of the dataset depend
// only on which dumps were loaded: not on their order, their overlap, or how
// often they were.
func (s *Store) Compact() error {
	lock, c, err := s.beginWriting()
	if err != nil {
		return fmt.Errorf("compact jobs: %w", err)
	}
	defer lock.release()
	k := &compaction{store: s, catalog: c, writer: s.newPartWriter("compact"), batch: &rows{}}
	if err := k.run(); err != nil {
		return fmt.Errorf("compact jobs: %w", err)
	}
	return nil
}

// mostFragments is how many files daily ingests may leave before they are
// merged: three clusters leave as many in a few weeks.
const mostFragments = 128

// CompactFragmented compacts when that is worth its time: not after every
// ingest, whose cost would then grow with the store. It leaves it to the next
// when another process writes.
func (s *Store) CompactFragmented() error {
	n, err := s.Fragments()
	if err != nil || n < mostFragments {
		return err
	}
	if err := s.Compact(); !errors.Is(err, ErrBusy) {
		return err
	}
	return nil
}

// Fragments counts the files that Compact would merge.
func (s *Store) Fragments() (int, error) {
	c, err := readCatalog(s.dir)
	if err != nil {
		return 0, err
	}
	n := len(c.Sightings)
	for _, p := range c.Parts {
		if !p.Compacted {
			n++
		}
	}
	return n, nil
}

type compaction struct {
	store   *Store
	catalog *catalog
	writer  *partWriter
	batch   *rows
	fresh   []*newPart
	gone    map[*part]bool
}

func (k *compaction) run() error {
	k.gone = map[*part]bool{}
	for _, group := range groupParts(k.catalog.Parts) {
		rest, err := k.unordered(group)
		if err != nil {
			return err
		}
		if len(rest) == 0 {
			continue
		}
		if err := k.mergeParts(rest); err != nil {
			return err
		}
	}
	if err := k.writer.settle(); err != nil {
		return err
	}
	if len(k.gone) == 0 && len(k.catalog.Sightings) == 0 {
		return os.RemoveAll(k.store.path(temporaryDir))
	}
	var j journal
	for _, x := range k.catalog.Sightings {
		j.Removes = append(j.Removes, x.Path)
	}
	k.catalog.Sightings = nil
	var kept []*part
	for _, p := range k.catalog.Parts {
		if k.gone[p] {
			j.Removes = append(j.Removes, p.Path)
		} else {
			kept = append(kept, p)
		}
	}
	for _, n := range k.fresh {
		if err := n.finish(k.store, "", 0); err != nil {
			return err
		}
		kept = append(kept, n.part)
		j.Moves = append(j.Moves, move{n.temporary, n.Path})
	}
	k.catalog.Parts = kept
	return k.store.commit(k.catalog, j)
}

// unordered gives the parts of a group that must be written again: all but
// the full ones at its beginning that no other part and no sighting touches.
func (k *compaction) unordered(group []*part) ([]*part, error) {
	for i, p := range group {
		last := i == len(group)-1
		if !p.Compacted || !last && (p.Rows < k.store.partRows || group[i+1].MinEnd <= p.MaxEnd && !group[i+1].Compacted) {
			return group[i:], nil
		}
		// A part further on may begin before this one ends.
		for _, q := range group[i+1:] {
			if !q.Compacted && q.MinEnd <= p.MaxEnd {
				return group[i:], nil
			}
		}
		touched, err := k.touched(p)
		if err != nil {
			return nil, err
		}
		if touched {
			return group[i:], nil
		}
	}
	return nil, nil
}

// touched reports whether a later dump was noted to have a record of the
// part.
func (k *compaction) touched(p *part) (bool, error) {
	if !slices.ContainsFunc(k.catalog.Sightings, func(x *sighting) bool { return x.Cluster == p.Cluster }) {
		return false, nil
	}
	h, err := k.historyOf(p)
	return err == nil && len(h.seen) > 0, err
}

func (k *compaction) mergeParts(parts []*part) error {
	snap := &snapshot{files: map[*part]*os.File{}}
	defer snap.close()
	for _, p := range parts {
		f, err := k.store.openPart(p)
		if err != nil {
			return err
		}
		snap.files[p] = f
		k.gone[p] = true
	}
	superseded := !parts[0].visible()
	var failed error
	m := &merge{
		query: Query{To: math.MaxInt64, Unfinished: true}, columns: everyColumn(), cluster: parts[0].Cluster,
		jobs: make([]ingest.Job, 0, batchJobs), history: make([]revision, batchJobs), historyOf: k.historyOf,
	}
	m.yield = func(jobs []ingest.Job) ([]ingest.Job, bool) {
		for i := range jobs {
			k.batch.addRevision(&m.history[i])
			if k.batch.n == k.store.partRows {
				failed = k.write(superseded)
			}
		}
		return jobs[:0], failed == nil
	}
	if _, err := m.run(k.store, snap, parts); err != nil {
		return err
	}
	if failed == nil {
		failed = k.write(superseded)
	}
	return failed
}

func (k *compaction) write(superseded bool) error {
	parts, err := k.writer.write(k.batch, allRows(k.batch), superseded, true)
	k.fresh = append(k.fresh, parts...)
	k.batch.reset()
	return err
}

// partHistory is what the store knows of the rows of a part beside the jobs.
type partHistory struct {
	prints []uint64            // by row
	seen   map[uint32][]seenBy // by row: since the part was written
}

// of gives the record of a row as it stands after all sightings.
func (h *partHistory) of(j *ingest.Job, page *columnar.Page, row, before int) revision {
	v := revision{Job: *j, print: h.prints[before+row]}
	v.readHistory(page, row)
	for _, s := range h.seen[uint32(before+row)] {
		v.see(s)
	}
	return v
}

// historyOf reads a part's index and looks its rows up in the lists of
// sightings.
func (s *Store) historyOf(p *part, name string, sightings []sightingFile) (*partHistory, error) {
	keys, err := p.Index.read(name)
	if err != nil {
		return nil, err
	}
	h := &partHistory{prints: make([]uint64, p.Rows), seen: map[uint32][]seenBy{}}
	for _, k := range keys {
		if k.at >= uint64(p.Rows) {
			return nil, fmt.Errorf("%s: damaged index", name)
		}
		h.prints[k.at] = k.print
	}
	return h, eachSighting(sightings, p.Cluster, keys, func(at int, by seenBy) {
		row := uint32(keys[at].at)
		h.seen[row] = append(h.seen[row], by)
	})
}

func (k *compaction) historyOf(p *part) (*partHistory, error) {
	return k.store.historyOf(p, k.store.path(p.Path), k.store.sightingFiles(k.catalog))
}

// groupParts gives parts by cluster and month, each group in the order of its
// rows.
func groupParts(parts []*part) [][]*part {
	all := slices.Clone(parts)
	slices.SortFunc(all, func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Month, b.Month),
			cmp.Compare(a.MinEnd, b.MinEnd), cmp.Compare(a.MaxEnd, b.MaxEnd), cmp.Compare(a.Path, b.Path))
	})
	var groups [][]*part
	for i, p := range all {
		if i == 0 || p.Cluster != all[i-1].Cluster || p.Month != all[i-1].Month {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], p)
	}
	return groups
}
