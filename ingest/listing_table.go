package ingest

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// TableColumns declares a listing that no format here is for.
type TableColumns struct {
	Delimiter string // between cells; "" = blanks
	Skip      int    // lines before the table

	// A column is a number from 1, or the text of its header. Where any is a
	// text, the first line after those skipped is the header.
	Name, Kind, Filesystem, Tier, Quota, Used, Day string

	Unit   string   // of the numbers: "B", "KiB", "GB" …; "" = each number has its own
	Blocks int64    // bytes of a block, instead of Unit; 0 = none
	None   []string // the cells that say that no quota is set
}

// StorageUnits are the names that a unit of storage may have.
func StorageUnits() []string {
	return []string{"B", "KB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB", "PB", "PiB"}
}

// tableReader is a declared table that is being read.
type tableReader struct {
	*listingReader
	columns *TableColumns
	at      map[string]int // by the key of a column: its number from 0
	width   int            // cells of a row, 0 = not known
}

func (c *TableColumns) byKey() []struct{ key, column string } {
	return []struct{ key, column string }{
		{"name", c.Name}, {"kind", c.Kind}, {"filesystem", c.Filesystem}, {"tier", c.Tier}, {"quota", c.Quota}, {"used", c.Used}, {"date", c.Day},
	}
}

// table reads the columns that the site declares. Every row must have as many
// cells as the first.
func (l *listingReader) table(lines []string) {
	t := tableReader{listingReader: l, columns: &l.layout.Columns, at: map[string]int{}}
	named := false
	for _, c := range t.columns.byKey() {
		if n, err := strconv.Atoi(c.column); err == nil {
			t.at[c.key] = n - 1
		} else {
			named = named || c.column != ""
		}
	}
	for i := min(t.columns.Skip, len(lines)); i < len(lines); i++ {
		cells, ok := t.cells(lines[i], int64(i+1))
		switch {
		case !ok:
			return
		case len(cells) == 0:
		case named:
			if t.width, named = len(cells), false; !t.header(cells, int64(i+1)) {
				return
			}
		default:
			t.row(cells, int64(i+1))
		}
	}
}

// cells parts a line; a blank one has none.
func (t *tableReader) cells(line string, n int64) (cells []string, ok bool) {
	switch delimiter := t.columns.Delimiter; {
	case strings.TrimSpace(line) == "":
		return nil, true
	case delimiter == "":
		return strings.Fields(line), true
	case delimiter == ",", delimiter == ";":
		rows := csv.NewReader(strings.NewReader(line))
		rows.Comma, rows.TrimLeadingSpace = rune(delimiter[0]), true
		cells, err := rows.Read()
		if err != nil && err != io.EOF {
			t.fault(n, "", "put a text that holds quotes in quotes, and double them", "the line is not CSV: %.60q", line)
			return nil, false
		}
		return cells, true
	default:
		return strings.Split(line, delimiter), true
	}
}

func (t *tableReader) header(cells []string, n int64) bool {
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	before := len(t.errs)
	for _, c := range t.columns.byKey() {
		if _, numbered := t.at[c.key]; numbered || c.column == "" {
			continue
		}
		i := slices.Index(cells, c.column)
		switch {
		case i < 0:
			t.fault(n, c.column, "the columns here are "+strings.Join(cells, ", "), "the header has no such column")
		case slices.Contains(cells[i+1:], c.column):
			t.fault(n, c.column, "give the column by its number", "the header has this column twice")
		}
		t.at[c.key] = i
	}
	return len(t.errs) == before
}

func (t *tableReader) row(cells []string, n int64) {
	if t.width == 0 {
		t.width = len(cells)
	}
	if len(cells) != t.width {
		t.fault(n, "", remedyNotListing, "the row has %d cells where others have %d", len(cells), t.width)
		return
	}
	before := len(t.errs)
	for _, c := range t.columns.byKey() {
		if i, ok := t.at[c.key]; ok && i >= len(cells) {
			t.fault(n, c.key, "correct the number under columns:", "there is no column %d", i+1)
		}
	}
	if len(t.errs) > before {
		return
	}
	cell := func(key string) string {
		if i, ok := t.at[key]; ok {
			return strings.TrimSpace(cells[i])
		}
		return ""
	}
	r := ListingRow{Filesystem: cell("filesystem"), Tier: cell("tier"), Kind: cell("kind"), Name: cell("name"), QuotaBytes: Unknown, UsedBytes: Unknown, Line: n}
	if t.columns.Used != "" {
		r.UsedBytes = t.size(n, "used", cell("used"))
	}
	if text := cell("quota"); t.columns.Quota != "" && !t.saysNone(text) {
		if r.QuotaBytes = t.size(n, "quota", text); r.QuotaBytes == 0 {
			t.fault(n, "quota", `say what 0 means: write  none: ["0"]  where it is no quota; a quota of nothing belongs into storage.csv`, "0 may be no quota, or a quota of nothing")
		}
	}
	if text := cell("date"); t.columns.Day != "" {
		var ok bool
		if r.Day, ok = t.layout.dayOfText(text); !ok {
			t.fault(n, "date", "write a day such as 2026-03-14, or a time", "%.40q is no day", text)
		}
	}
	if len(t.errs) == before {
		t.add(r)
	}
}

func (t *tableReader) saysNone(text string) bool {
	return text == "-" || strings.EqualFold(text, noQuota) || slices.Contains(t.columns.None, text)
}

// size reads a number in the declared unit, or one that has its own.
func (t *tableReader) size(n int64, key, text string) int64 {
	number := text
	switch unit := t.columns.Unit; {
	case t.columns.Blocks > 0:
		return t.bytesOf(n, key, text, t.columns.Blocks, fmt.Sprintf("list it in blocks of %d bytes", t.columns.Blocks))
	case unit != "":
		number += unit
	case text != "" && madeOf(text, "0123456789."):
		t.fault(n, key, "write  unit: KiB  or whatever the numbers are in", "%.40q has no unit, and none is declared", text)
		return Unknown
	}
	bytes, _, err := parseStorage(number, "")
	if err != nil {
		t.fault(n, key, "write under unit: what the numbers are in", "%w", err)
		return Unknown
	}
	return bytes
}
