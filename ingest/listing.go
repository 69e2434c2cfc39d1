package ingest

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ListingFormat is a way in which a program lists quotas and use.
type ListingFormat string

// The formats. Each is bound to the units that its program prints without
// options; what an option such as -h rounds is refused.
const (
	LfsQuota  ListingFormat = "lfs-quota"  // lfs quota -p|-g|-u NAME /PATH, one after the other: KiB
	XfsReport ListingFormat = "xfs-report" // xfs_quota -x -c report: blocks of 1 KiB
	ZfsGet    ListingFormat = "zfs-get"    // zfs get -Hp -d 1 quota,used DATASET: bytes
	XdmodJSON ListingFormat = "xdmod-json" // Open XDMoD's storage input: bytes
	Table     ListingFormat = "table"      // columns that the site declares
)

// ListingFormats are all of them.
func ListingFormats() []ListingFormat {
	return []ListingFormat{LfsQuota, XfsReport, ZfsGet, XdmodJSON, Table}
}

// NoQuotas is the Layout.Quota of listings whose quotas are not what a group
// has: they say what is used, and storage.csv what the quota is.
const NoQuotas = "none"

// Layout says how the listings of one source are read.
type Layout struct {
	Source string // names the source in messages: "storage.sources[0]"
	Format ListingFormat

	// Of is the kind of holder that counts where a listing has several views
	// of the same bytes: "user", "group", "project"; "pi" of XDMoD.
	Of string
	// Quota and Used say which of several figures is meant: "soft" or "hard",
	// "logical" or "physical", a property of zfs.
	Quota, Used string

	Filesystem string // instead of what the listing says; "" = as it says
	Tier       string
	Unit       StorageUnit // in which quotas are shown

	Day      Date           // of every listing; zero = in the file's name, or in each row
	Zone     *time.Location // of the site: in which days begin
	RowsZone *time.Location // of times without an offset, nil = UTC

	Columns TableColumns // of Table
}

// ListingRow is what one holder had on one day.
type ListingRow struct {
	Day        Date
	Filesystem string
	Tier       string
	Kind, Name string // of the holder: "project", "chem_01"
	QuotaBytes int64  // Unknown where none is set
	UsedBytes  int64  // Unknown where the listing does not say
	Line       int64
}

// holder is the holder in words.
func (r *ListingRow) holder() string { return strings.TrimSpace(r.Kind + " " + r.Name) }

// Listing is a file that a program listed, whole.
type Listing struct {
	File   string
	Layout *Layout
	Rows   []ListingRow // in the order of the file
}

const (
	maxListingFaults = 20
	// mostListedBytes is more than any site has, and little enough for the
	// sums of several listings.
	mostListedBytes = 1 << 60
)

// ReadListing reads a listing, plain, gzip or zstd. A listing is taken whole
// or not at all: one that is empty, cut, or holds a line that is no part of
// it, such as an error message, is refused with all its faults, each an
// *Error. It never becomes storage of nothing.
func ReadListing(name string, r io.Reader, layout *Layout) (*Listing, error) {
	text, err := unpackedText(r)
	if err != nil {
		return nil, fileError(name, 0, err)
	}
	if f := refuseMagic(text); f != nil {
		return nil, fileError(name, 0, f)
	}
	l := listingReader{name: name, layout: layout}
	l.read(strings.TrimPrefix(text, "\ufeff"))
	if l.errs != nil {
		joined := make([]error, 0, len(l.errs))
		for _, e := range l.errs[:min(len(l.errs), maxListingFaults)] {
			joined = append(joined, e)
		}
		return nil, errors.Join(joined...)
	}
	return &Listing{File: name, Layout: layout, Rows: l.rows}, nil
}

// unpackedText is the whole text of a file that may be packed.
func unpackedText(r io.Reader) (string, error) {
	s, err := openSource(r, nil)
	if err != nil {
		return "", err
	}
	defer s.close()
	var b strings.Builder
	for {
		block, last, err := s.next()
		if err != nil {
			return "", err
		}
		if b.WriteString(block); b.Len() > maxStorageBytes {
			return "", &fault{"", "the file is longer than 64 MiB", "this is not a storage file"}
		}
		if last {
			return b.String(), nil
		}
	}
}

// listingReader is a listing that is being read.
type listingReader struct {
	name   string
	layout *Layout
	rows   []ListingRow
	errs   []*Error

	other bool // a row of a kind that does not count was passed over
}

func (l *listingReader) fault(line int64, field, remedy, format string, args ...any) {
	l.errs = append(l.errs, &Error{File: l.name, Line: line, Field: field, Cause: fmt.Errorf(format, args...), Remedy: remedy})
}

// Remedies that the formats share.
const (
	remedyEmptyListing = "an empty listing is a command that failed, never storage of nothing: list again"
	remedyCutListing   = "list again: something ended the listing early"
	remedyNotListing   = "a listing with an error message or other text in it is not taken: keep standard error apart and list again"
)

func (l *listingReader) read(text string) {
	if strings.TrimSpace(text) == "" {
		l.fault(0, "", remedyEmptyListing, "the listing is empty")
		return
	}
	if l.layout.Format == XdmodJSON {
		l.xdmod(text)
	} else if !strings.HasSuffix(text, "\n") {
		l.fault(int64(strings.Count(text, "\n"))+1, "", remedyCutListing, "the last line does not end: the listing is cut")
		return
	} else {
		l.lines(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
	}
	if l.errs == nil && len(l.rows) == 0 {
		if l.other {
			l.fault(0, "", "write under of: a kind that the listing has", "the listing has nothing of a %s", l.layout.Of)
		} else {
			l.fault(0, "", remedyEmptyListing, "the listing has no rows")
		}
	}
	if l.errs == nil {
		l.finish()
	}
}

func (l *listingReader) lines(lines []string) {
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], "\r")
	}
	switch l.layout.Format {
	case LfsQuota:
		l.lfs(lines)
	case XfsReport:
		l.xfs(lines)
	case ZfsGet:
		l.zfs(lines)
	case Table:
		l.table(lines)
	default:
		panic("BUG: no such listing format: " + string(l.layout.Format))
	}
}

// add takes a row, unless it is of a kind that does not count.
func (l *listingReader) add(r ListingRow) {
	if l.layout.Of != "" && r.Kind != l.layout.Of {
		l.other = true
		return
	}
	if l.layout.Filesystem != "" {
		r.Filesystem = l.layout.Filesystem
	}
	if l.layout.Tier != "" {
		r.Tier = l.layout.Tier
	}
	if l.layout.Quota == NoQuotas {
		r.QuotaBytes = Unknown
	}
	switch {
	case r.Name == "":
		l.fault(r.Line, "", remedyCutListing, "the row names nobody")
	case r.Filesystem == "":
		l.fault(r.Line, "filesystem", "write  filesystem: NAME  for this source", "the listing does not say which file system this is")
	case strings.HasPrefix(r.Filesystem, "."):
		l.fault(r.Line, "filesystem", "list it by its full path, or write  filesystem: NAME  for this source", "%q is a path from where somebody stood", r.Filesystem)
	}
	l.rows = append(l.rows, r)
}

// finish dates the rows and looks for what cannot be: two kinds, one holder
// twice.
func (l *listingReader) finish() {
	day, f := l.dayOfFile()
	seen := map[[5]string]int64{}
	kind := l.rows[0].Kind
	left := int64(mostListedBytes)
	for i := range l.rows {
		r := &l.rows[i]
		if r.Day.IsZero() {
			if r.Day = day; f != nil {
				l.errs = append(l.errs, f)
				return
			}
		}
		if r.Kind != kind {
			l.fault(r.Line, "", "say which counts: write  of: "+kind+"  or  of: "+r.Kind+"  for this source",
				"the listing shows the same bytes by %s and by %s", kind, r.Kind)
			return
		}
		key := [5]string{r.Filesystem, r.Tier, r.Kind, r.Name, r.Day.String()}
		if first, twice := seen[key]; twice {
			l.fault(r.Line, "", "list each once", "%s on %s stands on line %d already", r.holder(), r.Filesystem, first)
		}
		seen[key] = r.Line
		if left -= max(r.UsedBytes, 0); left < 0 {
			l.fault(r.Line, "", "look at the unit that is declared, and at the columns", "what is used comes to more than an exbibyte")
			return
		}
	}
}

var (
	dayInName = regexp.MustCompile(`(?:^|[^0-9])(\d{4})([-_./]?)(\d{2})[-_./]?(\d{2})(?:\d{4}|\d{6})?(?:[^0-9]|$)`)
	remedyDay = "put the day into the name, quotas-2026-03-14.txt, or write  date: 2026-03-14  for a source of one file"
	directory = regexp.MustCompile(`^.*/`)
	human     = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?[kKMGTPE](?:i?B)?\*?$`)
)

// dayOfFile gives the day of a listing whose rows do not say it.
func (l *listingReader) dayOfFile() (Date, *Error) {
	if !l.layout.Day.IsZero() {
		return l.layout.Day, nil
	}
	for _, name := range []string{directory.ReplaceAllString(l.name, ""), l.name} {
		switch days := daysNamed(name); len(days) {
		case 0:
		case 1:
			return days[0], nil
		default:
			return Date{}, &Error{File: l.name, Cause: errors.New("there are several days in the file's name"), Remedy: remedyDay}
		}
	}
	return Date{}, &Error{File: l.name, Cause: errors.New("there is no day in the file's name, and the listing does not say it"), Remedy: remedyDay}
}

// daysNamed are the days of the calendar that a name has.
func daysNamed(name string) []Date {
	var days []Date
	for {
		m := dayInName.FindStringSubmatchIndex(name)
		if m == nil {
			return days
		}
		t, err := time.Parse("20060102", name[m[2]:m[3]]+name[m[6]:m[7]]+name[m[8]:m[9]])
		if day := (Date{t.Year(), int(t.Month()), t.Day()}); err == nil && t.Year() >= 1970 && !slices.Contains(days, day) {
			days = append(days, day)
		}
		name = name[max(m[1]-1, 1):] // what parts two days belongs to both
	}
}

// bytesOf gives a count in units of so many bytes.
func (l *listingReader) bytesOf(line int64, field, text string, unit int64, remedy string) int64 {
	n, err := strconv.ParseUint(text, 10, 63)
	switch {
	case err == nil && n <= maxInt64/uint64(unit):
		return int64(n) * unit
	case err == nil || errors.Is(err, strconv.ErrRange):
		l.fault(line, field, "", "%.40s is more than can be stored", text)
	case human.MatchString(text):
		l.fault(line, field, remedy, "%q is rounded to be read by people", text)
	default:
		l.fault(line, field, remedyNotListing, "%.40q is not a number", text)
	}
	return Unknown
}

const maxInt64 = 1<<63 - 1

// limitOf gives the limit that is the quota. 0 is how these programs say that
// none is set.
func (l *listingReader) limitOf(line int64, soft, hard string, unit int64, remedy string) int64 {
	field, text := "soft limit", soft
	if l.layout.Quota == "hard" {
		field, text = "hard limit", hard
	}
	if bytes := l.bytesOf(line, field, text, unit, remedy); bytes > 0 {
		return bytes
	}
	return Unknown
}
