package ingest

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// Options say what a dump does not say of itself.
type Options struct {
	// Cluster is the cluster of a dump that has no Cluster column. A dump
	// that has the column is kept as it says.
	Cluster string

	// Zone is the time zone of the process that ran sacct: its times carry no
	// offset. nil is UTC.
	Zone *time.Location

	// Delimiter is what stands between cells, verbatim; "" finds it.
	Delimiter string

	// Drawn is the delimiter that was drawn at random for this dump, if any was.
	// Where the header has it, a line that does not hold it is a user's text,
	// whatever it looks like.
	Drawn string

	// Columns are the columns of a dump without a header, or the name of one
	// of the layouts "xdmod", "xdmod-no-qos" and "xdmod-reqgres". A dump with
	// a header is read by its header.
	Columns []string

	// Progress, where not nil, is told how many stored bytes have been read,
	// from another goroutine than the caller's.
	Progress func(storedBytes int64)

	// Quarantined, where not nil, is called for every record that is
	// quarantined, from another goroutine than the caller's.
	Quarantined func()
}

// batchJobs is how many Jobs a batch holds at most: the few batches that go
// from core to core, of some 400 bytes a Job, then stay in their caches.
const batchJobs = 1024

// Reader reads one dump. Decompression, parsing and the consumer each have a
// goroutine; the order of the Jobs is that of the file.
type Reader struct {
	name   string
	opt    Options
	source *source
	used   bool
	report Report
}

// Open looks at the first bytes of a dump: plain text, gzip and zstd are told
// by content, never by name. name stands in errors and Sources.
func Open(name string, r io.Reader, opt Options) (*Reader, error) {
	if opt.Columns != nil {
		if _, err := declaredColumns(opt.Columns); err != nil {
			return nil, &Error{File: name, Field: "columns", Cause: err, Remedy: "name sacct's columns as sacct --helpformat lists them, or a layout such as xdmod"}
		}
	}
	s, err := openSource(r, opt.Progress)
	if err != nil {
		return nil, fileError(name, 0, err)
	}
	return &Reader{name: name, opt: opt, source: s}, nil
}

// fileError gives an error its file. Faults keep their field and remedy.
func fileError(name string, line int64, err error) error {
	var own *Error
	if errors.As(err, &own) {
		return err
	}
	var f *fault
	if errors.As(err, &f) {
		return &Error{File: name, Line: line, Field: f.field, Cause: errors.New(f.cause), Remedy: f.remedy}
	}
	return &Error{File: name, Line: line, Cause: fmt.Errorf("read: %w", err)}
}

// Batches yields the Jobs of the dump, a few thousand at a time. A batch is
// the consumer's until it asks for the next one; the strings in it stay good
// for ever. An error ends the dump, and nothing read from it may then be
// kept. Batches can be called once.
func (r *Reader) Batches() iter.Seq2[[]Job, error] {
	return func(yield func([]Job, error) bool) {
		if r.used {
			panic("BUG: Batches called twice")
		}
		r.used = true
		line := newPipeline(r)
		defer line.stop()
		for batch := range line.batches {
			if !yield(batch, nil) {
				return
			}
			line.free <- batch[:0]
		}
		if err := line.err; err != nil {
			yield(nil, err)
		}
	}
}

// Report says what was met. It is whole once Batches has ended without an
// error.
func (r *Reader) Report() Report { return r.report }
