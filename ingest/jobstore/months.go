package jobstore

import (
	"fmt"

	"hpcbill/ingest"
)

// Month is what the dataset holds of a cluster and a month.
type Month struct {
	Cluster string
	Month   string // "2026-03" (UTC), or "open" for records without an End
	Jobs    int64
	Files   int
	Bytes   int64

	FirstEnd, LastEnd ingest.Instant
}

// Months lists what the dataset holds, by cluster and month. It reads no
// file of jobs.
func (s *Store) Months() ([]Month, error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	c, err := readCatalog(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list months: %w", err)
	}
	var months []Month
	for _, group := range groupParts(c.Parts) {
		if !group[0].visible() {
			continue
		}
		m := Month{Cluster: group[0].Cluster, Month: group[0].Month, FirstEnd: group[0].MinEnd}
		for _, p := range group {
			m.Jobs += int64(p.Rows)
			m.Files++
			m.Bytes += p.Bytes
			m.LastEnd = max(m.LastEnd, p.MaxEnd)
		}
		months = append(months, m)
	}
	return months, nil
}
