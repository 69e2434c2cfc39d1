package main

import (
	"fmt"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/rates"
)

// cutDumps gives the dumps with jobs of p that may have been cut off: what stood
// in them after their last line is on no bill, and in no count.
func (s *site) cutDumps(p rates.Period) ([]*jobstore.Record, error) {
	records, err := s.ingests()
	if err != nil {
		return nil, err
	}
	from, to := ingest.Instant(p.Start.Unix()), ingest.Instant(p.End.Unix())
	var cut []*jobstore.Record
	for _, r := range jobstore.CutOff(records) {
		first := r.FirstEnd
		if first == ingest.None {
			first = r.Newest
		}
		if first < to && max(r.LastEnd, r.Newest) >= from {
			cut = append(cut, r)
		}
	}
	return cut, nil
}

// printCut says it below a bill.
func (a *app) printCut(cut []*jobstore.Record) {
	for _, r := range cut {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s may have been cut off: its last line has no end, and sacct ends every line\n", oneLine(r.File))
	}
	if len(cut) > 0 {
		fmt.Fprintln(a.stderr, "hpcbill: hint: dump again under the same name; where it is known to be whole, end its last line with a new line and ingest it")
	}
}
