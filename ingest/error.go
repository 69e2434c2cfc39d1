package ingest

import (
	"fmt"
	"strings"
)

// Error is what makes a whole file unusable, at the place where it stands:
// nothing that was read from the file may be kept.
type Error struct {
	File   string
	Line   int64  // physical line from 1; 0 = the file as a whole
	Field  string // the column, "" = none
	Cause  error  // what is wrong: lower case, no full stop
	Remedy string // what to do about it; "" = not known
}

// Error returns "FILE:LINE: FIELD: CAUSE", without the parts that are not known.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString(e.Field)
		b.WriteString(": ")
	}
	b.WriteString(e.Cause.Error())
	return b.String()
}

// Hint returns the remedy, or "".
func (e *Error) Hint() string { return e.Remedy }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// fault is what is wrong with one cell or one record. A nil fault is none.
type fault struct {
	field  string
	cause  string
	remedy string
}

func (f *fault) reason() string {
	if f.field == "" {
		return f.cause
	}
	return f.field + ": " + f.cause
}

// Remedies that several faults share.
const (
	remedyCommand    = "make the dump with the command that `hpcbill help sacct` prints"
	remedyNoConvert  = "dump again with --noconvert and without --units: sacct rounded the figure"
	remedyFreeText   = "dump again with JobName last and --delimiter=$'\\x1f': -P escapes nothing, so a delimiter or a new line in a text shifts the columns"
	remedyTimes      = "dump again with TZ=UTC and SLURM_TIME_FORMAT unset (or %s), or set the zone of this source"
	remedyJoined     = "ingest dumps with other columns or another delimiter each by itself, or join them with their headers on lines of their own"
	remedyHeader     = "dump again without -n (--noheader), or declare the columns of this source"
	remedyParsable   = "dump again with sacct -P (--parsable2): without it sacct cuts names to the column width"
	remedyTruncated  = "dump again without -T (--truncate): the window has cut the times of jobs that cross its ends"
	remedyRedump     = "dump again: something ended the file early"
	remedyUnended    = "dump again; where the file is known to be whole, end its last line with a new line"
	remedyAllocTRES  = "dump again with AllocTRES and CPUTimeRAW and look at the job with scontrol or in slurmdbd: CPUTimeRAW / ElapsedRaw is what it held"
	remedyJobIDRaw   = "dump again with JobIDRaw: array tasks and het components cannot be told apart without it"
	remedyPlainField = "look at the record with sacct -j"
)
