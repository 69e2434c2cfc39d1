package jobstore

import (
	"fmt"
	"os"
	"slices"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// eachRow calls do for every row of a part, in order, with the columns given,
// or with all where there are none given. The revision is overwritten by the
// next, but its texts are not.
func (s *Store) eachRow(p *part, name string, columns []int, do func(row uint32, v *revision) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.eachRowOf(p, f, columns, do)
}

func (s *Store) eachRowOf(p *part, f *os.File, columns []int, do func(row uint32, v *revision) error) error {
	file, err := s.table.Open(f)
	if err != nil {
		return err
	}
	if file.Rows() != int64(p.Rows) || file.RowGroups() != 1 {
		return fmt.Errorf("%s: %d rows, not %d: damaged", f.Name(), file.Rows(), p.Rows)
	}
	if columns == nil {
		columns = everyColumn()
	}
	pages, err := file.Pages(0, columns)
	if err != nil {
		return err
	}
	var page columnar.Page
	jobs := make([]ingest.Job, columnar.PageRows)
	picks := make([]pick, 0, columnar.PageRows)
	times := slices.Contains(columns, colLastSeen)
	var v revision
	for row := uint32(0); ; {
		if err := pages.Next(&page); err != nil || page.Rows == 0 {
			return err
		}
		picks = picks[:0]
		for i := range page.Rows {
			jobs[i] = ingest.Job{Cluster: p.Cluster}
			picks = append(picks, pick{uint32(i), uint32(i)})
		}
		for _, c := range columns {
			fillColumn(jobs, picks, c, &page.Vectors[c])
		}
		for i := range page.Rows {
			v = revision{Job: jobs[i]}
			if times {
				v.dumpTime = ingest.Instant(page.Vectors[colDumpTime].Ints[i])
				v.lastSeen = ingest.Instant(page.Vectors[colLastSeen].Ints[i])
			}
			if err := do(row, &v); err != nil {
				return err
			}
			row++
		}
	}
}

// hasJobID reports whether a part has a row with this JobID.
func (s *Store) hasJobID(p *part, f *os.File, jobID string) (bool, error) {
	file, err := s.table.Open(f)
	if err != nil {
		return false, err
	}
	pages, err := file.Pages(0, []int{colJobID})
	if err != nil {
		return false, err
	}
	var page columnar.Page
	for {
		if err := pages.Next(&page); err != nil || page.Rows == 0 {
			return false, err
		}
		if slices.Contains(page.Vectors[colJobID].Dict, jobID) {
			return true, nil
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
