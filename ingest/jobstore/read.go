package jobstore

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"sync"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// Query says which jobs to read, and what of them.
type Query struct {
	// From and To bound the End of the jobs, half-open; None is no bound.
	From, To ingest.Instant

	// Overlapping takes From and To to be about the run instead: jobs that
	// ended and whose time from Start to End meets [From, To), a run without
	// length by its Start, and one that never started by its End.
	Overlapping bool

	// Unfinished reads the records that have no End; From and To are not
	// looked at.
	Unfinished bool

	Clusters []string // all where empty

	// Columns names the columns that are wanted, as the dataset has them; all
	// where empty. The fields of other columns are left empty. Cluster,
	// JobIDRaw, DBIndex, Submit and End are always read.
	Columns []string
}

// batchJobs is how many jobs a batch has at most: what a processor's cache
// holds, since its columns are filled one after another.
const batchJobs = 1024

// Jobs yields the jobs whose End lies in [from, to), of the clusters named or
// of all, in the order of cluster, End, JobIDRaw, Submit. A batch is
// overwritten by the next, but its texts are not.
func (s *Store) Jobs(from, to ingest.Instant, clusters ...string) iter.Seq2[[]ingest.Job, error] {
	return s.Select(Query{From: from, To: to, Clusters: clusters})
}

// Unfinished yields the records that have no End yet, in the order of Jobs.
func (s *Store) Unfinished(clusters ...string) iter.Seq2[[]ingest.Job, error] {
	return s.Select(Query{Unfinished: true, Clusters: clusters})
}

// Overlapping yields the jobs whose run meets [from, to); see
// Query.Overlapping.
func (s *Store) Overlapping(from, to ingest.Instant, clusters ...string) iter.Seq2[[]ingest.Job, error] {
	return s.Select(Query{From: from, To: to, Overlapping: true, Clusters: clusters})
}

// Select yields the jobs that a query asks for, in the order of Jobs. All of
// them are of one state of the store, whatever is committed meanwhile.
func (s *Store) Select(q Query) iter.Seq2[[]ingest.Job, error] {
	return func(yield func([]ingest.Job, error) bool) {
		free := Batches(batches)
		for batch, err := range s.SelectInto(free, q) {
			if !yield(batch, err) {
				return
			}
			if err == nil {
				free <- batch
			}
		}
	}
}

// SelectInto is Select with batches that stay the caller's, so that several can
// be worked on at once: each is one that free gave, and is to be put back there.
// One query after another may share them, as long as their Columns are the same.
func (s *Store) SelectInto(free chan []ingest.Job, q Query) iter.Seq2[[]ingest.Job, error] {
	return func(yield func([]ingest.Job, error) bool) {
		a := newAhead(free)
		go a.read(func() error { return s.selectJobs(q, a) })
		a.deliver(yield)
	}
}

func (s *Store) selectJobs(q Query, a *ahead) error {
	if q.To == ingest.None {
		q.To = math.MaxInt64
	}
	columns, err := s.columns(q.Columns)
	if err != nil {
		return err
	}
	snap, err := s.snapshot(q.wants)
	if err != nil {
		return err
	}
	defer snap.close()
	texts := &columnar.TextPool{}
	for _, group := range groupParts(slices.Collect(maps.Keys(snap.files))) {
		jobs, more := a.take()
		if !more {
			return nil
		}
		m := &merge{query: q, columns: columns, cluster: group[0].Cluster, texts: texts, yield: a.put, jobs: jobs}
		more, err := m.run(s, snap, group)
		if m.jobs != nil {
			a.free <- m.jobs
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// columns gives the positions of the columns to read.
func (s *Store) columns(names []string) ([]int, error) {
	if len(names) == 0 {
		return everyColumn(), nil
	}
	columns := []int{colJobIDRaw, colDBIndex, colSubmit, colStart, colEnd}
	for _, name := range names {
		c := s.table.Index(name)
		if c < 0 {
			return nil, fmt.Errorf("no column %q", name)
		}
		if !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	slices.Sort(columns)
	return columns, nil
}

// wants reports whether a part can hold jobs that the query asks for.
func (q *Query) wants(p *part) bool {
	switch {
	case !p.visible() || len(q.Clusters) > 0 && !slices.Contains(q.Clusters, p.Cluster):
		return false
	case q.Unfinished || p.Month == openMonth:
		return q.Unfinished && p.Month == openMonth
	case q.Overlapping:
		return p.MaxEnd >= q.From && (p.MinEnd < q.To || p.MinStart != ingest.None && p.MinStart < q.To)
	}
	return p.MaxEnd >= q.From && p.MinEnd < q.To
}

// holds reports whether the query asks for a job with these times.
func (q *Query) holds(start, end ingest.Instant) bool {
	switch {
	case q.Unfinished:
		return true
	case q.Overlapping && start != ingest.None:
		return start < q.To && (end > q.From || start >= q.From)
	}
	return end >= q.From && end < q.To
}

// merge yields the rows of the parts of one cluster and month in order.
type merge struct {
	query   Query
	columns []int
	cluster string
	texts   *columnar.TextPool // of all parts; nil where nobody gains by it
	// yield takes a batch, and gives what the next one is to be written into,
	// and whether more are wanted.
	yield func([]ingest.Job) (next []ingest.Job, more bool)

	jobs    []ingest.Job
	sources []*source // a heap by the order of their current rows

	// Of a compaction: what the store knows of the rows beside the job, and
	// what gives that of a part.
	history   []revision
	historyOf func(*part) (*partHistory, error)

	decoders sync.WaitGroup
	stop     chan struct{} // closed when no more pages are wanted
}

// source is a part that is being read: a goroutine decodes a page while the
// one before it is being merged.
type source struct {
	free    chan *columnar.Page // to the goroutine
	decoded chan decoded        // and back
	page    *columnar.Page
	row     int
	before  int    // rows of the part before this page
	picks   []pick // rows that stand in the batch, but are not filled in yet
	history *partHistory
}

// decoded is a page, or what kept it from being read. A page without rows is
// the end.
type decoded struct {
	page *columnar.Page
	err  error
}

// pick is a row of a page and its place in the batch.
type pick struct{ row, out uint32 }

// run reads the parts, which are in the order of their first End: a part is
// opened when the merge comes to it. more is false when the reader has had
// enough.
func (m *merge) run(s *Store, snap *snapshot, parts []*part) (more bool, err error) {
	m.stop = make(chan struct{})
	defer m.decoders.Wait()
	defer close(m.stop)
	for len(parts) > 0 || len(m.sources) > 0 {
		for len(parts) > 0 && (len(m.sources) == 0 || parts[0].MinEnd <= m.sources[0].end()) {
			if err := m.open(s, snap, parts[0]); err != nil {
				return false, err
			}
			parts = parts[1:]
		}
		if len(m.sources) == 0 {
			continue
		}
		if more, err := m.step(); err != nil || !more {
			return more, err
		}
	}
	return m.flush(), nil
}

func (m *merge) open(s *Store, snap *snapshot, p *part) error {
	file, err := s.openParquet(p, snap.files[p])
	if err != nil {
		return err
	}
	src := &source{page: &columnar.Page{}, free: make(chan *columnar.Page, 2), decoded: make(chan decoded)}
	if m.historyOf != nil {
		if src.history, err = m.historyOf(p); err != nil {
			return err
		}
	}
	pages, err := file.Pages(0, m.columns)
	if err != nil {
		return err
	}
	if m.texts != nil {
		pages.Pool(m.texts)
	}
	src.free <- &columnar.Page{} // and src.page is the other
	m.decoders.Add(1)
	go m.decode(src, pages)
	if more, err := src.nextPage(); err != nil || !more {
		return err
	}
	m.sources = append(m.sources, src)
	for i := len(m.sources) - 1; i > 0 && m.sources[i].less(m.sources[(i-1)/2]); i = (i - 1) / 2 {
		m.sources[i], m.sources[(i-1)/2] = m.sources[(i-1)/2], m.sources[i]
	}
	return nil
}

// step takes the least row, and those that follow it in the same part.
func (m *merge) step() (more bool, err error) {
	src := m.sources[0]
	start, end := ingest.Instant(src.page.Vectors[colStart].Ints[src.row]), src.end()
	if m.query.holds(start, end) {
		src.picks = append(src.picks, pick{uint32(src.row), uint32(len(m.jobs))})
		m.jobs = m.jobs[:len(m.jobs)+1]
		if len(m.jobs) == batchJobs && !m.flush() {
			return false, nil
		}
	}
	src.row++
	past := end >= m.query.To && !m.query.Overlapping && !m.query.Unfinished
	if src.row == src.page.Rows || past {
		m.fill(src)
		alive := false
		if !past {
			if alive, err = src.nextPage(); err != nil {
				return false, err
			}
		}
		if !alive {
			last := len(m.sources) - 1
			m.sources[0] = m.sources[last]
			m.sources = m.sources[:last]
		}
	}
	m.sink()
	return true, nil
}

// sink brings the first source to its place in the heap.
func (m *merge) sink() {
	for i := 0; ; {
		least := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(m.sources) && m.sources[child].less(m.sources[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.sources[i], m.sources[least] = m.sources[least], m.sources[i]
		i = least
	}
}

// flush fills in the batch and yields it.
func (m *merge) flush() (more bool) {
	for _, src := range m.sources {
		m.fill(src)
	}
	if len(m.jobs) == 0 {
		return true
	}
	m.jobs, more = m.yield(m.jobs)
	return more
}

// fill writes the picked rows of a source into the batch, a column at a time.
func (m *merge) fill(src *source) {
	// Fields of other columns are empty: batches are made empty, and nobody
	// else writes into them.
	for _, p := range src.picks {
		m.jobs[p.out].Cluster = m.cluster
	}
	for _, c := range m.columns {
		fillColumn(m.jobs, src.picks, c, &src.page.Vectors[c])
	}
	if src.history != nil {
		for _, p := range src.picks {
			m.history[p.out] = src.history.of(&m.jobs[p.out], src.page, int(p.row), src.before)
		}
	}
	src.picks = src.picks[:0]
}

// decode decodes the pages of a source one ahead of the merge.
func (m *merge) decode(src *source, pages *columnar.Pages) {
	defer m.decoders.Done()
	for {
		select {
		case <-m.stop:
			return
		case page := <-src.free:
			err := pages.Next(page)
			select {
			case <-m.stop:
				return
			case src.decoded <- decoded{page, err}:
			}
			if err != nil || page.Rows == 0 {
				return
			}
		}
	}
}

func (src *source) nextPage() (more bool, err error) {
	src.row = 0
	src.before += src.page.Rows
	src.free <- src.page
	next := <-src.decoded
	src.page = next.page
	return src.page.Rows > 0, next.err
}

func (src *source) end() ingest.Instant {
	return ingest.Instant(src.page.Vectors[colEnd].Ints[src.row])
}

func (src *source) less(other *source) bool {
	for _, c := range [...]int{colEnd, colJobIDRaw, colSubmit, colDBIndex} {
		if x, y := src.page.Vectors[c].Ints[src.row], other.page.Vectors[c].Ints[other.row]; x != y {
			return uint64(x) < uint64(y)
		}
	}
	if src.history == nil {
		return false
	}
	return src.history.prints[src.before+src.row] < other.history.prints[other.before+other.row]
}
