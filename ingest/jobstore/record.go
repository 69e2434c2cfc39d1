package jobstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"hpcbill/ingest"
)

// Dump is what is known of a dump once it was read whole.
type Dump struct {
	File   string // its name as the operator gave it; "-" for standard input
	Digest string // SHA-256 of its bytes, hexadecimal
	Bytes  int64

	// Newest is the latest instant in it, which stands for the time at which
	// it was made.
	Newest ingest.Instant

	// Records = jobs added + Steps + len(Quarantined).
	Records, Steps, OrphanSteps int64
	Quarantined                 []ingest.Quarantined
	Warnings                    []ingest.Warning

	Format     string // "sacct -P" …
	Zone       string // the time zone in which it was read
	IngestedAt time.Time

	// Asked is set for the answer to a question about a span of time.
	Asked Asked
}

// Asked says that a dump is the answer to a question: it holds every record of
// the series' cluster that was eligible before To and had not ended before
// From. The zero value is a dump of which no such thing is known.
type Asked struct {
	Series string         `json:"series,omitempty"` // who answered: the answers of one series replace each other
	From   ingest.Instant `json:"from,omitempty"`
	To     ingest.Instant `json:"to,omitempty"`
}

// covers reports whether an answer holds anew a record of an earlier answer
// of the series, whose latest time is end, None where it has none that can be
// read.
func (a *Asked) covers(before *Asked, end ingest.Instant) bool {
	switch {
	case a.Series == "" || a.Series != before.Series:
		return false
	case end == ingest.None:
		return a.From <= before.From && before.To <= a.To
	}
	return a.From <= end && end < a.To
}

// Record is the evidence that is kept of an ingest. Records = Jobs + Steps +
// Quarantined, and Jobs = New + Revised + Unchanged + Superseded.
type Record struct {
	Sequence   int            `json:"sequence"` // counts the ingests from 1
	File       string         `json:"file"`
	Digest     string         `json:"digest"`
	Bytes      int64          `json:"bytes"`
	Newest     ingest.Instant `json:"newest"`
	Clusters   []string       `json:"clusters"`
	Format     string         `json:"format"`
	Zone       string         `json:"zone"`
	IngestedAt time.Time      `json:"ingested_at"`

	Records     int64 `json:"records"`
	Jobs        int64 `json:"jobs"`
	Steps       int64 `json:"steps"`
	OrphanSteps int64 `json:"orphan_steps"`
	Quarantined int64 `json:"quarantined"`

	New        int64 `json:"new"`        // jobs that the store did not have
	Revised    int64 `json:"revised"`    // jobs of which the dump has a newer record
	Unchanged  int64 `json:"unchanged"`  // records that the store has just so
	Superseded int64 `json:"superseded"` // records that another one of the dump, or a newer one in the store, stands for

	FirstEnd ingest.Instant `json:"first_end"` // of the jobs that ended; None where none did
	LastEnd  ingest.Instant `json:"last_end"`

	Changes []Change `json:"changes"` // ask ChangedEnds and ChangedRuns

	Warnings []ingest.Warning `json:"warnings,omitempty"`

	Asked Asked `json:"asked,omitzero"`
}

// check holds the two equations of a record.
func (r *Record) check() error {
	if r.Records != r.Jobs+r.Steps+r.Quarantined {
		return fmt.Errorf("%d records are not %d jobs + %d steps + %d quarantined", r.Records, r.Jobs, r.Steps, r.Quarantined)
	}
	if r.Jobs != r.New+r.Revised+r.Unchanged+r.Superseded {
		panic(fmt.Sprintf("BUG: %d jobs are not %d new + %d revised + %d unchanged + %d superseded",
			r.Jobs, r.New, r.Revised, r.Unchanged, r.Superseded))
	}
	return nil
}

// The files of one ingest are named after its number and its dump's digest,
// so that the list of names answers Has.
func recordName(sequence int, digest string) string {
	return fmt.Sprintf("%s/%08d-%s.json", ingestsDir, sequence, digest)
}

func quarantineName(sequence int, digest string) string {
	return fmt.Sprintf("%s/%08d-%s.quarantine.json", ingestsDir, sequence, digest)
}

// recordNames lists the ingests' records, the oldest first.
func (s *Store) recordNames() ([]string, error) {
	entries, err := os.ReadDir(s.path(ingestsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasSuffix(e.Name(), ".quarantine.json") {
			names = append(names, e.Name())
		}
	}
	sort.Strings(names)
	return names, nil
}

// Has reports whether a dump of this digest was taken.
func (s *Store) Has(digest string) (bool, error) {
	if err := s.settle(); err != nil {
		return false, err
	}
	names, err := s.recordNames()
	for _, name := range names {
		if strings.HasSuffix(name, "-"+digest+".json") {
			return true, nil
		}
	}
	return false, err
}

// Ingests gives the records of all ingests, the oldest first.
func (s *Store) Ingests() ([]Record, error) {
	if err := s.settle(); err != nil {
		return nil, err
	}
	names, err := s.recordNames()
	if err != nil {
		return nil, fmt.Errorf("read ingests: %w", err)
	}
	records := make([]Record, len(names))
	for i, name := range names {
		if err := readJSON(s.path(ingestsDir+"/"+name), &records[i]); err != nil {
			return nil, fmt.Errorf("read ingests: %w", err)
		}
	}
	return records, nil
}

// Quarantine is a quarantined record and the ingest that met it.
type Quarantine struct {
	ingest.Quarantined
	Ingest *Record
}

// Quarantined yields the records that could not be read and are not settled.
// A file's are settled by a later ingest of a file of the same name: the mended
// or fuller dump. (That of another day under one name for all days settles
// nothing.) Those of an answer are settled by a later answer of
// the series that has to show them again. What came by standard input has no
// name, and stays.
func (s *Store) Quarantined() iter.Seq2[Quarantine, error] {
	return func(yield func(Quarantine, error) bool) {
		records, err := s.Ingests()
		if err != nil {
			yield(Quarantine{}, err)
			return
		}
		for i := range records {
			r := &records[i]
			if r.Quarantined == 0 {
				continue
			}
			var list []ingest.Quarantined
			if err := readJSON(s.path(quarantineName(r.Sequence, r.Digest)), &list); err != nil {
				yield(Quarantine{}, fmt.Errorf("read quarantine: %w", err))
				return
			}
			for _, q := range list {
				if r.answeredAnew(records[i+1:], q.End) || r.mended(records[i+1:], q.End) {
					continue
				}
				if !yield(Quarantine{q, r}, nil) {
					return
				}
			}
		}
	}
}

// answeredAnew reports whether one of the later ingests has to show a record
// of r again.
func (r *Record) answeredAnew(later []Record, end ingest.Instant) bool {
	return slices.ContainsFunc(later, func(l Record) bool { return l.Asked.covers(&r.Asked, end) })
}

// mended reports whether one of the later ingests is of a dump of r's name that
// spans the jobs of r, or the end of the record where r had no jobs.
func (r *Record) mended(later []Record, end ingest.Instant) bool {
	if r.File == "" || r.File == "-" {
		return false
	}
	first, last := r.FirstEnd, r.LastEnd
	if first == ingest.None {
		first, last = end, end
	}
	return slices.ContainsFunc(later, func(l Record) bool {
		nothingKnown := first == ingest.None || (r.FirstEnd == ingest.None && l.FirstEnd == ingest.None)
		return l.File == r.File && (nothingKnown || (l.FirstEnd != ingest.None && l.FirstEnd <= first && last <= l.LastEnd))
	})
}

// CutOff gives those of all ingests, in order, whose dump may have been cut off,
// its last line having no end, but for dumps that came again since.
func CutOff(records []Record) []*Record {
	var cut []*Record
	for i := range records {
		r := &records[i]
		unended := slices.ContainsFunc(r.Warnings, func(w ingest.Warning) bool { return w.Kind == ingest.WarnNoFinalNewline })
		if unended && !r.mended(records[i+1:], ingest.None) {
			cut = append(cut, r)
		}
	}
	return cut
}

func readJSON(name string, v any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
