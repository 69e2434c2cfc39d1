package history

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// DefaultFormat gives HPC-2026-00001.
const DefaultFormat = "{series}-{fy}-{seq:05}"

// Numbering says how invoices are numbered. Each series counts from 1 in each
// fiscal year, without gaps; the fiscal year is that of the period billed, and
// is named for the calendar year in which it ends.
type Numbering struct {
	Series          string     // "HPC"
	Format          string     // {series}, {fy} and {seq} or {seq:05}; DefaultFormat where ""
	FiscalYearStart time.Month // January where 0
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

var sequenceWidth = regexp.MustCompile(`^\{seq(?::0([1-9]))?\}$`)

// Check reports what is wrong with the settings.
func (n Numbering) Check() error {
	if n.Series == "" || strings.ContainsFunc(n.Series, func(r rune) bool { return r < '!' || r == '/' || r == '\\' || r > '~' }) {
		return fmt.Errorf("series %q: needs letters or digits, without blanks and slashes", n.Series)
	}
	if n.FiscalYearStart < 0 || n.FiscalYearStart > 12 {
		return fmt.Errorf("fiscal year start %d is no month", n.FiscalYearStart)
	}
	has := make(map[string]bool)
	for _, p := range placeholder.FindAllString(n.format(), -1) {
		name := strings.Trim(strings.SplitN(p, ":", 2)[0], "{}")
		if p != "{series}" && p != "{fy}" && !sequenceWidth.MatchString(p) {
			return fmt.Errorf("number format %q: %s is not one of {series}, {fy}, {seq}, {seq:05}", n.format(), p)
		}
		if has[name] {
			return fmt.Errorf("number format %q: %s stands twice", n.format(), p)
		}
		has[name] = true
	}
	for _, name := range []string{"series", "fy", "seq"} {
		if !has[name] {
			return fmt.Errorf("number format %q: lacks {%s}, without which numbers would repeat", n.format(), name)
		}
	}
	if rest := placeholder.ReplaceAllString(n.format(), ""); strings.ContainsAny(rest, "{}/\\ \t\r\n") {
		return fmt.Errorf("number format %q: braces, blanks and slashes cannot be in a number", n.format())
	}
	return nil
}

func (n Numbering) format() string {
	if n.Format == "" {
		return DefaultFormat
	}
	return n.Format
}

// Number writes a serial of a fiscal year. A serial with more digits than the
// format foresees is written in full.
func (n Numbering) Number(fiscalYear, serial int) string {
	return placeholder.ReplaceAllStringFunc(n.format(), func(p string) string {
		switch {
		case p == "{series}":
			return n.Series
		case p == "{fy}":
			return strconv.Itoa(fiscalYear)
		}
		width := 1
		if m := sequenceWidth.FindStringSubmatch(p); m != nil && m[1] != "" {
			width, _ = strconv.Atoi(m[1])
		}
		return fmt.Sprintf("%0*d", width, serial)
	})
}

// FiscalYear gives the fiscal year of a period such as "2026-03".
func (n Numbering) FiscalYear(period string) (int, error) {
	t, err := time.Parse("2006-01", period)
	if err != nil {
		return 0, fmt.Errorf("%q is not a period such as 2026-03", period)
	}
	if n.FiscalYearStart > time.January && t.Month() >= n.FiscalYearStart {
		return t.Year() + 1, nil
	}
	return t.Year(), nil
}
