package jobstore

import (
	"fmt"
	"slices"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// EndCounts counts how many records of each cluster ended in each of the spans
// [edges[i], edges[i+1]). It reads nothing but ends, and of parts that lie in
// one span not even those.
func (s *Store) EndCounts(edges []ingest.Instant) (map[string][]int64, error) {
	if len(edges) < 2 || !slices.IsSorted(edges) {
		return nil, fmt.Errorf("BUG: %d edges, or not in order", len(edges))
	}
	q := Query{From: edges[0], To: edges[len(edges)-1]}
	snap, err := s.snapshot(q.wants)
	if err != nil {
		return nil, err
	}
	defer snap.close()
	counts := map[string][]int64{}
	var page columnar.Page
	for p, f := range snap.files {
		of := counts[p.Cluster]
		if of == nil {
			of = make([]int64, len(edges)-1)
			counts[p.Cluster] = of
		}
		if i := spanOf(edges, p.MinEnd); i >= 0 && i == spanOf(edges, p.MaxEnd) {
			of[i] += int64(p.Rows)
			continue
		}
		file, err := s.openParquet(p, f)
		if err == nil {
			err = countEnds(file, &page, edges, of)
		}
		if err != nil {
			return nil, fmt.Errorf("count jobs: %w", err)
		}
	}
	return counts, nil
}

// spanOf gives the span in which an instant lies, -1 where none.
func spanOf(edges []ingest.Instant, at ingest.Instant) int {
	i, found := slices.BinarySearch(edges, at)
	if !found {
		i--
	}
	if i == len(edges)-1 {
		return -1
	}
	return i
}

// countEnds counts the rows of a part, which are in the order of their ends.
func countEnds(file *columnar.File, page *columnar.Page, edges []ingest.Instant, counts []int64) error {
	pages, err := file.Pages(0, []int{colEnd})
	if err != nil {
		return err
	}
	for {
		if err := pages.Next(page); err != nil || page.Rows == 0 {
			return err
		}
		ends := page.Vectors[colEnd].Ints[:page.Rows]
		before := 0
		for i, edge := range edges {
			upTo, _ := slices.BinarySearch(ends, int64(edge))
			if i > 0 {
				counts[i-1] += int64(upTo - before)
			}
			before = upTo
		}
	}
}
