package jobstore

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"hpcbill/ingest"
)

// Find gives the jobs of a cluster with this JobID, as sacct prints it
// ("812", "903_7", "600+1") or as the raw number, in the order of Jobs: every
// run of a requeued job, every part of a resized one.
func (s *Store) Find(cluster, jobID string) ([]ingest.Job, error) {
	return s.find(cluster, jobID, (*part).visible)
}

// Superseded gives the records of jobs with this JobID that a later record
// replaced: what the dataset said before. Of a job that ran on, only records
// that could still matter are kept.
func (s *Store) Superseded(cluster, jobID string) ([]ingest.Job, error) {
	return s.find(cluster, jobID, func(p *part) bool { return !p.visible() })
}

func (s *Store) find(cluster, jobID string, among func(*part) bool) ([]ingest.Job, error) {
	digits := jobID[:len(jobID)-len(strings.TrimLeft(jobID, "0123456789"))]
	number, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is not a job id such as 812, 903_7 or 600+1", jobID)
	}
	snap, err := s.snapshot(func(p *part) bool {
		return among(p) && p.Cluster == cluster && p.Index.MaxRaw >= number && (digits != jobID || p.Index.MinRaw <= number)
	})
	if err != nil {
		return nil, fmt.Errorf("find job %s: %w", jobID, err)
	}
	defer snap.close()
	var found []ingest.Job
	for p, f := range snap.files {
		jobs, err := s.findIn(p, f, digits == jobID, number, jobID)
		if err != nil {
			return nil, fmt.Errorf("find job %s: %w", jobID, err)
		}
		found = append(found, jobs...)
	}
	slices.SortFunc(found, func(a, b ingest.Job) int {
		return cmp.Or(cmp.Compare(min(1, b.End), min(1, a.End)), cmp.Compare(a.End, b.End),
			cmp.Compare(a.JobIDRaw, b.JobIDRaw), cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.DBIndex, b.DBIndex))
	})
	return found, nil
}

// findIn looks a job up in one part: a raw number in its index; the id of an
// array's task, whose raw number is any later one, in the column of ids.
func (s *Store) findIn(p *part, f *os.File, raw bool, number uint64, jobID string) ([]ingest.Job, error) {
	var keys []key
	var err error
	if raw {
		err = p.Index.find(f, []uint64{number}, func(_ int, k key) { keys = append(keys, k) })
		sortByRow(keys)
	} else {
		keys, err = s.rowsWithJobID(p, f, jobID)
	}
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	var found []ingest.Job
	err = s.scan(p, f, everyColumn(), keys, func(_ uint32, v *revision) error {
		found = append(found, v.Job)
		return nil
	})
	return found, err
}
