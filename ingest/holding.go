package ingest

import "fmt"

// Holding is storage that a group holds on a file system over a span of time.
// Spans are half-open; a quota that changes gives two Holdings that meet.
type Holding struct {
	Group      string // "" where a listing names a holder that reaches none
	Filesystem string
	Tier       string // a class of storage on it, "ssd"; "" where there is one alone

	// Holder is who a listing says holds it, "project chem_01"; "" where
	// storage.csv names the group.
	Holder string

	// Ignored is the reason for which a rule says that what a listing shows is
	// not billable; "" where none does.
	Ignored string
	Listed  bool // by a program, rather than written into storage.csv

	// From and Until are local midnights of the site, as dates (year, month,
	// day): storage is contracted in days, not in instants. Until is the zero
	// Date while the quota still holds.
	From, Until Date

	QuotaBytes int64 // 0 is a quota of nothing; Unknown where none is set
	UsedBytes  int64 // the last of Samples; Unknown where nothing was measured
	Unit       StorageUnit

	// Samples are the uses in force within the span, by day: each holds until
	// the next. The first may have been measured before From and is carried
	// forward; before it, nothing is known. Bytes is Unknown from a day on
	// which the use before it no longer holds. A Holding without Samples whose
	// UsedBytes is known was measured on From.
	Samples []Sample

	Source Source
}

// Place names the file system with the tier: "/data", "ceph (ssd)".
func (h *Holding) Place() string {
	if h.Tier == "" {
		return h.Filesystem
	}
	return h.Filesystem + " (" + h.Tier + ")"
}

// Sample is a use that was measured.
type Sample struct {
	Day   Date // from which it counts
	Bytes int64
	Line  int64 // of the file that told it
	// Measured is the day of the measurement, where that is before Day: a sum
	// of several holders, or what a group took over. Zero = Day.
	Measured Date
}

// MeasuredOn is the day of the measurement.
func (s *Sample) MeasuredOn() Date {
	if s.Measured.IsZero() {
		return s.Day
	}
	return s.Measured
}

// Date is a calendar day.
type Date struct{ Year, Month, Day int }

// IsZero reports whether d is no date.
func (d Date) IsZero() bool { return d == Date{} }

// String prints "2026-03-31", or "" for no date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day)
}

// Before reports whether d is an earlier day than e.
func (d Date) Before(e Date) bool {
	if d.Year != e.Year {
		return d.Year < e.Year
	}
	if d.Month != e.Month {
		return d.Month < e.Month
	}
	return d.Day < e.Day
}

// StorageUnit is the unit a quota was declared in; it is printed with the
// quantity, so that TB and TiB are never mixed in silence.
type StorageUnit string

// The units of storage.
const (
	TB  StorageUnit = "TB"  // 10^12 bytes
	TiB StorageUnit = "TiB" // 2^40 bytes
)
