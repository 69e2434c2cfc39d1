package jobstore

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// maxPartRows bounds the rows of a batch in memory and of a part, which is one
// row group: what is rewritten when one of its rows is replaced.
const maxPartRows = 128 << 10

// newPart is a part written beneath _tmp, to be moved by the commit.
type newPart struct {
	*part
	late []columnar.LateValue
	name uint64 // of the rows, without what is filled in late

	shorter bool // than a part that was there before: its rows are not new
}

// partWriter writes parts, one after another.
type partWriter struct {
	store *Store
	enc   *columnar.Encoder
	count int // names the temporary files
	place string

	order, scratch []uint32
	keys, spare    []key
	short          shortIndex

	syncing chan error // of the file before; nil where none is under way
}

func (s *Store) newPartWriter(place string) *partWriter {
	return &partWriter{store: s, enc: columnar.NewEncoder(), place: place}
}

// write writes the chosen rows of a batch, each into the partition where it
// belongs. superseded sends all of them to the superseded records.
func (w *partWriter) write(r *rows, chosen []uint32, superseded, compacted bool) ([]*newPart, error) {
	w.order = append(w.order[:0], chosen...)
	w.sort(r)
	var parts []*newPart
	for start := 0; start < len(w.order); {
		first := w.order[start]
		month := supersededMonth
		until := ingest.Instant(1<<63 - 1)
		if !superseded {
			month, until = monthOf(ingest.Instant(r.ints[colEnd][first])), endOfMonth(ingest.Instant(r.ints[colEnd][first]))
		}
		end := start + 1
		for end < len(w.order) && end-start < w.store.partRows && r.cluster[w.order[end]] == r.cluster[first] &&
			ingest.Instant(r.ints[colEnd][w.order[end]]) < until {
			end++
		}
		p, err := w.writePart(r, w.order[start:end], month, compacted)
		if err != nil {
			return parts, err
		}
		parts = append(parts, p)
		start = end
	}
	return parts, nil
}

// endOfMonth gives the first instant that no longer belongs to the partition
// of end.
func endOfMonth(end ingest.Instant) ingest.Instant {
	if end == ingest.None {
		return 1
	}
	t := utc(end)
	return ingest.Instant(time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC).Unix())
}

// sort brings w.order into the order of the files: by cluster, then as less
// has it. Most of the work is done by counting the digits of End.
func (w *partWriter) sort(r *rows) {
	if len(w.scratch) < len(w.order) {
		w.scratch = make([]uint32, len(w.order), cap(w.order))
	}
	radix(w.order, w.scratch[:len(w.order)], func(row uint32) uint64 { return uint64(r.ints[colEnd][row]) })
	names := r.clusters.List
	if len(names) > 1 {
		slices.SortStableFunc(w.order, func(a, b uint32) int {
			x, y := names[r.cluster[a]], names[r.cluster[b]]
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	for start := 0; start < len(w.order); {
		end := start + 1
		for end < len(w.order) && r.ints[colEnd][w.order[end]] == r.ints[colEnd][w.order[start]] &&
			r.cluster[w.order[end]] == r.cluster[w.order[start]] {
			end++
		}
		if end-start > 1 {
			slices.SortFunc(w.order[start:end], func(a, b uint32) int {
				if r.less(a, b) {
					return -1
				}
				return 1
			})
		}
		start = end
	}
}

// radix sorts items by their keys, counting digits of eleven bits.
func radix(items, scratch []uint32, keyOf func(uint32) uint64) {
	var all, any uint64 = ^uint64(0), 0
	for _, item := range items {
		k := keyOf(item)
		all, any = all&k, any|k
	}
	const digit = 11
	from, to := items, scratch
	for shift := 0; shift < 64; shift += digit {
		if (any^all)>>shift&(1<<digit-1) == 0 {
			continue
		}
		var starts [1 << digit]int
		for _, item := range from {
			starts[keyOf(item)>>shift&(1<<digit-1)]++
		}
		sum := 0
		for d, n := range starts {
			starts[d], sum = sum, sum+n
		}
		for _, item := range from {
			d := keyOf(item) >> shift & (1<<digit - 1)
			to[starts[d]] = item
			starts[d]++
		}
		from, to = to, from
	}
	if len(items) > 0 && &from[0] != &items[0] {
		copy(items, from)
	}
}

// newPart starts a part.
func (w *partWriter) newPart(cluster, month string) *newPart {
	w.count++
	return &newPart{part: &part{Cluster: cluster, Month: month, temporary: fmt.Sprintf("%s-%06d", w.place, w.count)}}
}

// writePart writes one file.
func (w *partWriter) writePart(r *rows, order []uint32, month string, compacted bool) (*newPart, error) {
	p := w.newPart(strings.Clone(r.clusters.List[r.cluster[order[0]]]), month)
	p.Compacted = compacted
	if err := p.checkCluster(); err != nil {
		return nil, err
	}
	late := r.texts[colDigest].List[r.index[colDigest][order[0]]] == noDigest
	p.describe(r, order, late)
	index, shape := encodeIndex(w.indexKeys(r, order), false)
	err := w.create(p, index, shape, func(f *os.File) (*columnar.Writer, error) {
		parquet := w.store.table.Create(w.enc, f)
		return parquet, parquet.WriteRowGroup(r.vectors(), order)
	})
	if !late {
		p.late = nil
	}
	return p, err
}

// without writes a part again without some rows, whose keys are in the order of
// the rows, and puts those into taken.
func (w *partWriter) without(old *part, name string, going []key, taken *columnar.Page) (*newPart, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := w.store.openParquet(old, f)
	if err != nil {
		return nil, err
	}
	p := w.newPart(old.Cluster, old.Month)
	p.name, p.shorter = columnar.Hash(old.Path), true
	gone := make([]uint32, len(going))
	for i, k := range going {
		gone[i] = uint32(k.at)
		p.name = columnar.Fold(p.name^k.at^key0, k.print^key1)
	}
	index, shape, err := w.short.without(f, old.Index, gone)
	if err == nil && shape.Count != old.Rows-len(gone) {
		err = errors.New("damaged index")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	err = w.create(p, index, shape, func(to *os.File) (*columnar.Writer, error) { return file.Without(gone, w.enc, to, taken) })
	if err != nil {
		return nil, err
	}
	p.late = nil
	p.MinStart, p.MinEnd, p.MaxEnd, err = w.store.ranges(p.part)
	if err != nil {
		return nil, err
	}
	return p, p.finish(w.store, "", 0)
}

// ranges reads from a new part's statistics what describe works out.
func (s *Store) ranges(p *part) (minStart, minEnd, maxEnd ingest.Instant, err error) {
	f, err := os.Open(s.path(temporaryDir + "/" + p.temporary))
	if err != nil {
		return 0, 0, 0, err
	}
	defer f.Close()
	file, err := s.openParquet(p, f)
	if err != nil {
		return 0, 0, 0, err
	}
	start, _, started, err := file.IntRange(0, colStart)
	if err == nil && started {
		minStart = ingest.Instant(start)
	}
	least, greatest, ended, err2 := file.IntRange(0, colEnd)
	if err2 == nil && ended {
		minEnd, maxEnd = ingest.Instant(least), ingest.Instant(greatest)
	}
	return minStart, minEnd, maxEnd, errors.Join(err, err2)
}

// create makes the file of a part: the rows that fill writes, and the index.
func (w *partWriter) create(p *newPart, index []byte, shape indexShape, fill func(*os.File) (*columnar.Writer, error)) error {
	file, err := os.Create(w.store.path(temporaryDir + "/" + p.temporary))
	if err != nil {
		return err
	}
	parquet, err := fill(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	parquet.SetMeta("hpcbill.cluster", p.Cluster)
	parquet.SetMeta("hpcbill.month", p.Month)
	shape.Offset = parquet.Append(index)
	if err := parquet.Close(); err != nil {
		return errors.Join(err, file.Close())
	}
	p.Rows, p.Index, p.Bytes, p.late = shape.Count, shape, parquet.Size(), parquet.Late()
	w.store.step("part-written")
	return w.syncBehind(file)
}

// syncBehind has a file brought to the disk and closed while the next one is
// being written: what is left to do for the commit is then little.
func (w *partWriter) syncBehind(file *os.File) error {
	err := w.settle()
	syncing := make(chan error, 1)
	w.syncing = syncing
	go func() { syncing <- errors.Join(w.store.sync(file), file.Close()) }()
	return err
}

// settle waits for the file before.
func (w *partWriter) settle() error {
	if w.syncing == nil {
		return nil
	}
	err := <-w.syncing
	w.syncing = nil
	return err
}

// describe fills in the ranges that let a reader pass the part over, and the
// rows' name. The rows are in the order of their End.
func (p *newPart) describe(r *rows, order []uint32, late bool) {
	ends := r.ints[colEnd]
	p.MaxEnd = ingest.Instant(ends[order[len(order)-1]])
	for i := 0; p.MinEnd == ingest.None && i < len(order); i++ {
		p.MinEnd = ingest.Instant(ends[order[i]])
	}
	p.name = columnar.Hash(p.Month)
	if p.Compacted {
		p.name ^= key0
	}
	for _, row := range order {
		if start := ingest.Instant(r.ints[colStart][row]); start != ingest.None && (p.MinStart == ingest.None || start < p.MinStart) {
			p.MinStart = start
		}
		p.name = columnar.Fold(p.name^r.prints[row]^key0, uint64(r.ints[colLine][row])^key1)
		if late {
			continue // finish adds the rest, the same for all rows
		}
		p.name ^= uint64(r.ints[colLastSeen][row])*key2 ^ r.texts[colDigest].Hashes[r.index[colDigest][row]]
		p.name = columnar.Fold(p.name^uint64(r.ints[colLastLine][row])^key1, r.texts[colLastDigest].Hashes[r.index[colLastDigest][row]])
	}
}

// finish fills in what was not known of the dump when the part was written,
// and names the part after its rows.
func (p *newPart) finish(s *Store, digest string, dumpTime ingest.Instant) error {
	if p.Path != "" {
		return nil
	}
	if p.late != nil {
		file, err := os.OpenFile(s.path(temporaryDir+"/"+p.temporary), os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		for _, late := range p.late {
			if err := late.Set(file, s.table, digest, int64(dumpTime)); err != nil {
				return err
			}
		}
		p.name = columnar.Fold(p.name^columnar.Hash(digest), uint64(dumpTime)^key2)
	}
	p.Path = path.Join(partDir(p.Cluster, p.Month), fmt.Sprintf("part-%016x%s", p.name, p.extension()))
	return nil
}

// extension gives what a part's name ends with. People read the dataset as
// **/*.parquet, and must find nothing that is superseded there.
func (p *part) extension() string {
	if p.visible() {
		return ".parquet"
	}
	return ".superseded"
}

// longest name of a partition's directory.
const maxPathElement = 255

func (p *part) checkCluster() error {
	if !utf8.ValidString(p.Cluster) {
		return fmt.Errorf("cluster %q: the name is not UTF-8", p.Cluster)
	}
	if n := len("cluster=" + escapeHive(p.Cluster)); n > maxPathElement {
		return fmt.Errorf("cluster %.40q…: a name of %d bytes is too long for a directory", p.Cluster, len(p.Cluster))
	}
	return nil
}

// indexKeys gives the part's index: its rows in the order of their raw ids.
func (w *partWriter) indexKeys(r *rows, order []uint32) []key {
	w.keys = w.keys[:0]
	for at, row := range order {
		w.keys = append(w.keys, key{uint64(r.ints[colJobIDRaw][row]), r.prints[row], uint64(at)})
	}
	if len(w.spare) < len(w.keys) {
		w.spare = make([]key, len(w.keys))
	}
	sortKeys(w.keys, w.spare[:len(w.keys)])
	return w.keys
}
