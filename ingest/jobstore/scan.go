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
	var page columnar.Page
	var picks []pick
	var jobs []ingest.Job
	var v revision
	all := keys == nil
	for before := 0; all || len(keys) > 0; before += page.Rows {
		if err := pages.Next(&page); err != nil || page.Rows == 0 {
			return err
		}
		picks = picks[:0]
		for i := 0; all && i < page.Rows; i++ {
			picks = append(picks, pick{uint32(i), uint32(i)})
		}
		prints := keys
		for ; len(keys) > 0 && keys[0].at < uint64(before+page.Rows); keys = keys[1:] {
			picks = append(picks, pick{uint32(keys[0].at) - uint32(before), uint32(len(picks))})
		}
		jobs = slices.Grow(jobs[:0], len(picks))[:len(picks)]
		clear(jobs)
		for _, c := range columns {
			fillColumn(jobs, picks, c, &page.Vectors[c])
		}
		for i, picked := range picks {
			v = revision{Job: jobs[i]}
			v.readHistory(&page, int(picked.row))
			v.Cluster = p.Cluster
			if !all {
				v.JobIDRaw, v.print = prints[i].raw, prints[i].print
			}
			if err := do(uint32(before)+picked.row, &v); err != nil {
				return err
			}
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
