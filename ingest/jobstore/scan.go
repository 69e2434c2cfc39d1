package jobstore

import (
	"fmt"
	"os"
	"slices"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// eachRow calls do for every row of a part, in order. The revision is
// overwritten by the next, but its texts are not.
func (s *Store) eachRow(p *part, name string, do func(row uint32, v *revision) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.scan(p, f, everyColumn(), nil, do)
}

// eachKey calls do for the rows of a part that keys name, which are in the
// order of the rows, with the columns given and their fingerprints.
func (s *Store) eachKey(p *part, name string, columns []int, keys []key, do func(row uint32, v *revision) error) error {
	if len(keys) == 0 {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.scan(p, f, columns, keys, do)
}

// scan reads a part: all rows where keys is nil, or else those that keys
// name.
func (s *Store) scan(p *part, f *os.File, columns []int, keys []key, do func(row uint32, v *revision) error) error {
	file, err := s.openParquet(p, f)
	if err != nil {
		return err
	}
	pages, err := file.Pages(0, columns)
	if err != nil {
		return err
	}
	r := rowReader{part: p, columns: columns, do: do}
	for before := 0; ; before += r.page.Rows {
		rows, err := pages.Upcoming()
		if err != nil || rows == 0 || keys != nil && len(keys) == 0 {
			return err
		}
		here := keys
		for len(keys) > 0 && keys[0].at < uint64(before+rows) {
			keys = keys[1:]
		}
		here = here[:len(here)-len(keys)]
		if keys != nil && len(here) == 0 {
			r.page.Rows = rows
			err = pages.Skip()
		} else if err = pages.Next(&r.page); err == nil {
			err = r.rows(uint32(before), here, keys == nil)
		}
		if err != nil {
			return err
		}
	}
}

// rowReader makes revisions of the rows of a page.
type rowReader struct {
	part    *part
	columns []int
	do      func(row uint32, v *revision) error

	page  columnar.Page
	picks []pick
	jobs  []ingest.Job
	v     revision
}

// rows calls do for all rows of the page, or for those that keys name.
func (r *rowReader) rows(before uint32, keys []key, all bool) error {
	r.picks = r.picks[:0]
	for i := 0; all && i < r.page.Rows; i++ {
		r.picks = append(r.picks, pick{uint32(i), uint32(i)})
	}
	for i, k := range keys {
		r.picks = append(r.picks, pick{uint32(k.at) - before, uint32(i)})
	}
	return r.picked(before, keys, all)
}

// eachTaken calls do for the rows of a page that have the keys, one for each.
func eachTaken(p *part, page *columnar.Page, keys []key, do func(row uint32, v *revision) error) error {
	r := rowReader{part: p, columns: everyColumn(), do: do, page: *page}
	for i := range keys {
		r.picks = append(r.picks, pick{uint32(i), uint32(i)})
	}
	return r.picked(0, keys, false)
}

// picked calls do for the rows of picks.
func (r *rowReader) picked(before uint32, keys []key, all bool) error {
	r.jobs = slices.Grow(r.jobs[:0], len(r.picks))[:len(r.picks)]
	clear(r.jobs)
	for _, c := range r.columns {
		fillColumn(r.jobs, r.picks, c, &r.page.Vectors[c])
	}
	for i, picked := range r.picks {
		r.v = revision{Job: r.jobs[i]}
		r.v.readHistory(&r.page, int(picked.row))
		r.v.Cluster = r.part.Cluster
		if !all {
			r.v.JobIDRaw, r.v.print = keys[i].raw, keys[i].print
		}
		if err := r.do(before+picked.row, &r.v); err != nil {
			return err
		}
	}
	return nil
}

// readHistory reads what the files have of a record beside the job.
func (v *revision) readHistory(page *columnar.Page, row int) {
	v.dumpTime = ingest.Instant(page.Vectors[colDumpTime].Ints[row])
	digests := &page.Vectors[colLastDigest]
	entry := uint32(row)
	if digests.Index != nil {
		entry = digests.Index[row]
	}
	digest := digests.Dict[entry]
	v.setLast(ingest.Instant(page.Vectors[colLastSeen].Ints[row]), digest, page.Vectors[colLastLine].Ints[row])
}

// openParquet reads the footer of a part and checks it against the catalog.
func (s *Store) openParquet(p *part, f *os.File) (*columnar.File, error) {
	file, err := s.table.Open(f)
	if err != nil {
		return nil, err
	}
	if file.Rows() != int64(p.Rows) || file.RowGroups() != 1 {
		return nil, fmt.Errorf("%s: %d rows, not %d: damaged", f.Name(), file.Rows(), p.Rows)
	}
	return file, nil
}

// rowsWithJobID gives keys for the rows of a part that have this JobID.
func (s *Store) rowsWithJobID(p *part, f *os.File, jobID string) (keys []key, err error) {
	file, err := s.openParquet(p, f)
	if err != nil {
		return nil, err
	}
	pages, err := file.Pages(0, []int{colJobID, colJobIDRaw})
	if err != nil {
		return nil, err
	}
	var page columnar.Page
	for before := 0; ; before += page.Rows {
		if err := pages.Next(&page); err != nil || page.Rows == 0 {
			return keys, err
		}
		for i, id := range page.Vectors[colJobID].Dict {
			if id == jobID {
				keys = append(keys, key{at: uint64(before + i), raw: uint64(page.Vectors[colJobIDRaw].Ints[i])})
			}
		}
	}
}

func everyColumn() []int {
	all := make([]int, columnCount)
	for i := range all {
		all[i] = i
	}
	return all
}
