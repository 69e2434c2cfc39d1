package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
)

// xdmodKeys are the keys of a record of Open XDMoD's storage input.
var xdmodKeys = []string{"resource", "mountpoint", "user", "pi", "dt", "soft_threshold", "hard_threshold", "file_count", "logical_usage", "physical_usage"}

const remedyXdmod = "write the records as Open XDMoD's storage input has them, an array of objects"

// xdmod reads Open XDMoD's storage input, an array of records with sizes in
// bytes. The file system is the resource and the mount point in one:
// "torx/projects". With Of "user" each record is a holder of its own,
// "PI/USER"; with "pi" the records of a PI on a mount point are one, that
// share a quota and add up what they use.
func (l *listingReader) xdmod(text string) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	counted, lines := 0, int64(1)
	line := func() int64 { // of where the next token begins
		at := int(d.InputOffset())
		for at < len(text) && strings.IndexByte(" \t\r\n,", text[at]) >= 0 {
			at++
		}
		lines += int64(strings.Count(text[counted:at], "\n"))
		counted = at
		return lines
	}
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		l.fault(1, "", remedyXdmod, "the listing is no array of records")
		return
	}
	shared := map[[3]string]int{} // of a PI on a mount point on a day: the row
	for d.More() {
		var record map[string]json.RawMessage
		at := line()
		if err := d.Decode(&record); err != nil {
			l.xdmodFault(line(), err)
			return
		}
		before := len(l.errs)
		r := l.xdmodRow(record, at)
		if len(l.errs) == before {
			l.addXdmod(r, shared)
		}
	}
	if _, err := d.Token(); err != nil {
		l.xdmodFault(line(), err)
		return
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		l.fault(line(), "", remedyNotListing, "something follows the records")
	}
}

func (l *listingReader) xdmodFault(line int64, err error) {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		l.fault(line, "", remedyCutListing, "the records are cut off")
		return
	}
	l.fault(line, "", remedyXdmod, "%w", err)
}

func (l *listingReader) xdmodRow(record map[string]json.RawMessage, line int64) ListingRow {
	keys := make([]string, 0, len(record))
	for key := range record {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !slices.Contains(xdmodKeys, key) {
			l.fault(line, key, "the keys are "+strings.Join(xdmodKeys, ", "), "unknown key")
		}
	}
	text := func(key string) string {
		var s string
		if err := json.Unmarshal(record[key], &s); err != nil || s == "" {
			l.fault(line, key, remedyXdmod, "is missing or no text")
		}
		return s
	}
	r := ListingRow{Line: line, Kind: l.layout.Of, Filesystem: text("resource") + text("mountpoint"), Day: l.xdmodDay(line, text("dt"))}
	if r.Name = text("pi"); l.layout.Of == "user" {
		r.Name += "/" + text("user")
	}
	r.QuotaBytes, r.UsedBytes = Unknown, l.xdmodSize(record, l.layout.Used+"_usage", line)
	if r.UsedBytes == Unknown {
		l.fault(line, l.layout.Used+"_usage", "name under used: the use that the listing has, logical or physical", "is missing")
	}
	if l.layout.Quota != NoQuotas {
		// A threshold of 0 is how quota systems say that none is set.
		if n := l.xdmodSize(record, l.layout.Quota+"_threshold", line); n > 0 {
			r.QuotaBytes = n
		}
	}
	return r
}

// xdmodSize reads a number of bytes, Unknown where there is none.
func (l *listingReader) xdmodSize(record map[string]json.RawMessage, key string, line int64) int64 {
	raw := bytes.TrimSpace(record[key])
	if len(raw) == 0 || string(raw) == "null" {
		return Unknown
	}
	return l.bytesOf(line, key, string(raw), 1, remedyXdmod)
}

// xdmodDay gives the day of the site on which a record was made.
func (l *listingReader) xdmodDay(line int64, text string) Date {
	if text == "" {
		return Date{}
	}
	day, ok := l.layout.dayOfText(text)
	if !ok {
		l.fault(line, "dt", "write a time such as 2026-03-14T02:00:00Z", "%.40q is no time", text)
	}
	return day
}

// dayOfText gives the day of the site in which a time lies. A day alone is the
// site's.
func (l *Layout) dayOfText(text string) (Date, bool) {
	zone, rows := l.Zone, l.RowsZone
	if zone == nil {
		zone = time.UTC
	}
	if rows == nil {
		rows = time.UTC
	}
	t, err := time.ParseInLocation(time.DateOnly, text, zone)
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime} {
		if err != nil {
			t, err = time.ParseInLocation(form, text, rows)
		}
	}
	if err != nil || t.Year() < 1970 {
		return Date{}, false
	}
	y, m, d := t.In(zone).Date()
	return Date{y, int(m), d}, true
}

// addXdmod takes a record: a holder of its own, or one more of its PI.
func (l *listingReader) addXdmod(r ListingRow, shared map[[3]string]int) {
	key := [3]string{r.Filesystem, r.Name, r.Day.String()}
	i, known := shared[key]
	if l.layout.Of != "pi" || !known {
		shared[key] = len(l.rows)
		l.add(r)
		return
	}
	one := &l.rows[i]
	if one.QuotaBytes != r.QuotaBytes && l.layout.Quota != NoQuotas {
		l.fault(r.Line, l.layout.Quota+"_threshold", "write  of: user  where each record has a quota of its own",
			"the quota of %s on %s is not that of line %d", r.Name, r.Filesystem, one.Line)
		return
	}
	if one.UsedBytes > maxInt64-r.UsedBytes {
		l.fault(r.Line, l.layout.Used+"_usage", "", "what %s uses is more than can be stored", r.Name)
		return
	}
	one.UsedBytes += r.UsedBytes
}
