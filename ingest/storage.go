package ingest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"time"
)

// sizeColumns are the columns of storage.csv that hold a size. A quota stands
// in one of the first four, a use in one of the others.
var sizeColumns = []string{"quota", "quota_tb", "quota_tib", "quota_bytes", "used", "used_tb", "used_tib", "used_bytes"}

// storageColumns are all its columns.
var storageColumns = slices.Concat([]string{"group", "filesystem", "tier", "from", "until"}, sizeColumns)

// Holdings reads storage.csv: dated quotas, and uses as they were measured, of
// groups on file systems. Its first line names the columns, in any order:
//
//	group,filesystem,from,until,quota,used
//	bio,/data,2025-07-01,,25 TB,
//	bio,/data,2025-07-14,,,19.5 TB
//	bio,/data,2025-09-01,,30 TB,21 TB
//
// A column tier, which may be left out, parts what a group holds on one file
// system into classes that have quotas, and prices, of their own.
//
// A size is a number with a unit ("25 TB", "1.5TiB", "500 GB"; a number
// alone is bytes), or a number in a column that names the unit: quota_tb,
// quota_tib, quota_bytes, and used_… alike. A quota of nothing is 0; where no
// quota is set, the word none says so.
//
// A row with a quota holds from the day "from" until the day before "until",
// or until the next quota of the same group and file system, or with no end.
// A use was measured on the day "from". It is carried forward until the next
// one, past a change of the quota, and never backwards; it ends with the quota
// that it was measured under, or on the day "until" of a row that has no quota.
// Uses on days without any quota make Holdings of their own. Of several uses
// on one day the largest counts.
//
// All faults of the file are returned at once, joined, each an *Error. The
// Holdings are sorted by group, file system, tier and day.
func Holdings(name string, r io.Reader) ([]Holding, error) {
	file, err := ReadStorage(name, r)
	if err != nil {
		return nil, err
	}
	storage, err := HoldingsOf([]*StorageFile{file}, nil, nil)
	if err != nil {
		return nil, err
	}
	return storage.Holdings, nil
}

// StorageFile is the rows of a storage.csv, without regard to one another.
type StorageFile struct{ rows []storageRow }

// ReadStorage reads the rows of a storage.csv; HoldingsOf makes Holdings of
// them.
func ReadStorage(name string, r io.Reader) (*StorageFile, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxStorageBytes+1))
	if err != nil {
		return nil, fileError(name, 0, err)
	}
	if len(text) > maxStorageBytes {
		return nil, fileError(name, 0, &fault{"", "the file is longer than 64 MiB", "this is not a storage file"})
	}
	if f := refuseMagic(string(text)); f != nil {
		return nil, fileError(name, 0, f)
	}
	f := storageFile{name: name, filesystems: map[string]Holding{}}
	f.read(strings.TrimPrefix(string(text), "\ufeff"))
	if f.errs != nil {
		// Rows that can be read are still held against one another, so that
		// all faults are told at once.
		spans := storageSpans{rows: f.rows}
		spans.close()
		return nil, joinFaults(append(f.errs, spans.errs...))
	}
	return &StorageFile{f.rows}, nil
}

// joinFaults joins faults in the order of their places.
func joinFaults(faults []*Error) error {
	slices.SortStableFunc(faults, func(a, b *Error) int { return compareFirst(strings.Compare(a.File, b.File), int(a.Line-b.Line)) })
	joined := make([]error, len(faults))
	for i, e := range faults {
		joined[i] = e
	}
	return errors.Join(joined...)
}

const maxStorageBytes = 64 << 20

// storageFile is a storage.csv that is being read.
type storageFile struct {
	name    string
	columns map[string]int
	rows    []storageRow
	errs    []*Error

	filesystems map[string]Holding // the first row of each, by its name without a slash at the end
}

// storageRow is one row: a quota, a use, or both.
type storageRow struct {
	Holding
	hasQuota bool
	measured Date // the day of the use, where that is not From
}

func (f *storageFile) fault(line int64, field, remedy, format string, args ...any) {
	f.errs = append(f.errs, &Error{File: f.name, Line: line, Field: field, Cause: fmt.Errorf(format, args...), Remedy: remedy})
}

func (f *storageFile) read(text string) {
	rows := csv.NewReader(strings.NewReader(text))
	rows.FieldsPerRecord = -1
	rows.TrimLeadingSpace = true
	if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, ";") && !strings.Contains(first, ",") {
		rows.Comma = ';' // a spreadsheet of a country that writes 1,5
	}
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			f.fault(int64(syntax.Line), "", "put a text that holds quotes in quotes, and double them", "%w", syntax.Err)
			return
		}
		if err != nil {
			f.fault(0, "", "", "read: %w", err)
			return
		}
		line, _ := rows.FieldPos(0)
		if isBlankRow(row) {
			continue
		}
		if f.columns == nil {
			if !f.header(row, int64(line)) {
				return
			}
			continue
		}
		f.row(row, int64(line))
	}
	if f.columns == nil {
		f.fault(0, "", "begin the file with the line group,filesystem,from,until,quota,used", "the file is empty")
	}
}

func isBlankRow(row []string) bool {
	for _, cell := range row {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}

// header binds the columns; it reports false where no row can be read.
func (f *storageFile) header(row []string, line int64) bool {
	f.columns = map[string]int{}
	before := len(f.errs)
	for i, cell := range row {
		name := strings.ToLower(strings.TrimSpace(cell))
		if name == "" && isBlankRow(row[i:]) {
			break // commas that a spreadsheet left
		}
		if !slices.Contains(storageColumns, name) {
			f.fault(line, name, "the columns are "+strings.Join(storageColumns, ", "), "unknown column")
			continue
		}
		if _, twice := f.columns[name]; twice {
			f.fault(line, name, "", "the column occurs twice")
		}
		f.columns[name] = i
	}
	for _, name := range []string{"group", "filesystem", "from"} {
		if _, ok := f.columns[name]; !ok {
			f.fault(line, name, "begin the file with the line group,filesystem,from,until,quota,used", "the column is missing")
		}
	}
	if !slices.ContainsFunc(sizeColumns, func(name string) bool { _, ok := f.columns[name]; return ok }) {
		f.fault(line, "quota", "begin the file with the line group,filesystem,from,until,quota,used", "the column is missing")
	}
	return len(f.errs) == before
}

// row reads one row after the header.
func (f *storageFile) row(row []string, line int64) {
	cell := func(name string) string {
		i, ok := f.columns[name]
		if !ok || i >= len(row) {
			return ""
		}
		return strings.TrimSpace(row[i])
	}
	before := len(f.errs)
	h := storageRow{Holding: Holding{Group: cell("group"), Filesystem: cell("filesystem"), Tier: cell("tier"), QuotaBytes: Unknown, UsedBytes: Unknown,
		Unit: TB, Source: Source{File: f.name, Line: line}}}
	if h.Group == "" {
		f.fault(line, "group", "", "the cell is empty")
	}
	if h.Filesystem == "" {
		f.fault(line, "filesystem", "", "the cell is empty")
	}
	h.From = f.date(line, "from", cell("from"), true)
	h.Until = f.date(line, "until", cell("until"), false)
	if !h.Until.IsZero() && !h.From.Before(h.Until) {
		f.fault(line, "until", "until is the first day on which the row no longer holds", "%s is not after %s", cell("until"), cell("from"))
	}
	for i := 0; i < len(row); i++ {
		if strings.TrimSpace(row[i]) != "" && !f.isBound(i) {
			f.fault(line, "", "a text that holds a comma must be in quotes", "there is a cell beyond the last column: %.80q", row[i])
			break
		}
	}
	f.amounts(&h, line, cell)
	f.slash(&h)
	if len(f.errs) == before {
		f.rows = append(f.rows, h)
	}
}

// slash refuses a file system that another row writes with a slash more: the two
// would be charged apart.
func (f *storageFile) slash(h *storageRow) {
	bare := strings.TrimRight(h.Filesystem, "/")
	other, seen := f.filesystems[bare]
	switch {
	case !seen:
		f.filesystems[bare] = h.Holding
	case other.Filesystem != h.Filesystem:
		f.fault(h.Source.Line, "filesystem", "write it in one way", "%s is %s on line %d", h.Filesystem, other.Filesystem, other.Source.Line)
	}
}

func (f *storageFile) isBound(i int) bool {
	for _, at := range f.columns {
		if at == i {
			return true
		}
	}
	return false
}

// amounts reads the quota and the use of a row.
func (f *storageFile) amounts(h *storageRow, line int64, cell func(string) string) {
	before := len(f.errs)
	for _, kind := range []string{"quota", "used"} {
		found := ""
		for _, column := range []string{kind, kind + "_tb", kind + "_tib", kind + "_bytes"} {
			text := cell(column)
			if text == "" {
				continue
			}
			if found != "" {
				f.fault(line, column, "fill one of them", "there is a figure in %s already", found)
				continue
			}
			found = column
			if kind == "quota" && strings.EqualFold(text, noQuota) {
				h.hasQuota = true
				continue
			}
			bytes, unit, err := parseStorage(text, strings.TrimPrefix(column, kind))
			if err == nil && column == kind && bytes > 0 && bytes < leastBytes[kind] && madeOf(text, "0123456789.") {
				err = fmt.Errorf("%.40q without a unit is a number of bytes", text)
			}
			switch {
			case err != nil:
				f.fault(line, column, "write a size such as 25 TB, 1.5 TiB or 500 GB, or a number of bytes", "%w", err)
			case kind == "quota":
				h.hasQuota, h.QuotaBytes, h.Unit = true, bytes, unit
			case h.QuotaBytes == Unknown:
				h.UsedBytes, h.Unit = bytes, unit
			default:
				h.UsedBytes = bytes
			}
		}
	}
	if len(f.errs) == before && !h.hasQuota && h.UsedBytes == Unknown {
		f.fault(line, "quota", "a quota of nothing is written 0 TB, and that none is set, none", "the row has neither a quota nor a use")
	}
}

// leastBytes are the least that are believed of a size without a unit: who writes
// 25 means TB, or GB, and would be charged nothing.
var leastBytes = map[string]int64{"quota": 1 << 20, "used": 1000}

// noQuota is how storage.csv says that a group has no quota.
const noQuota = "none"

// date reads a day of the row.
func (f *storageFile) date(line int64, field, text string, needed bool) Date {
	if text == "" {
		if needed {
			f.fault(line, field, "write a day such as 2025-07-01", "the cell is empty")
		}
		return Date{}
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1970 {
		f.fault(line, field, "write a day such as 2025-07-01", "%.40q is not a day of the calendar", text)
		return Date{}
	}
	return Date{day.Year(), int(day.Month()), day.Day()}
}

// storageUnits are the units of a size, in bytes, and the unit in which the
// quantity is later printed.
var storageUnits = map[string]struct {
	bytes int64
	unit  StorageUnit
}{
	"": {1, TB}, "B": {1, TB},
	"KB": {1e3, TB}, "MB": {1e6, TB}, "GB": {1e9, TB}, "TB": {1e12, TB}, "PB": {1e15, TB},
	"KIB": {1 << 10, TiB}, "MIB": {1 << 20, TiB}, "GIB": {1 << 30, TiB}, "TIB": {1 << 40, TiB}, "PIB": {1 << 50, TiB},
}

// parseStorage reads a size. column is what follows "quota" or "used" in the
// column's name and may fix the unit.
func parseStorage(text, column string) (int64, StorageUnit, error) {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	suffix := text[len(number):]
	number = strings.TrimSpace(number)
	if column != "" && suffix != "" {
		return 0, "", fmt.Errorf("%.40q has a unit, but the column has one already", text)
	}
	switch column {
	case "_tb":
		suffix = "TB"
	case "_tib":
		suffix = "TiB"
	}
	unit, ok := storageUnits[strings.ToUpper(suffix)]
	if !ok {
		return 0, "", fmt.Errorf("%.40q is not a unit of storage", suffix)
	}
	if strings.HasPrefix(number, "-") {
		return 0, "", fmt.Errorf("%.40q is negative", text)
	}
	if number == "" || !madeOf(number, "0123456789.") || strings.Count(number, ".") > 1 || number[0] == '.' || len(number) > 40 {
		return 0, "", fmt.Errorf("%.40q is not a size", text)
	}
	v, ok := new(big.Rat).SetString(strings.TrimSuffix(number, "."))
	if !ok {
		return 0, "", fmt.Errorf("%.40q is not a size", text)
	}
	v.Mul(v, new(big.Rat).SetInt64(unit.bytes))
	if !v.IsInt() || !v.Num().IsInt64() {
		return 0, "", fmt.Errorf("%.40q is not a whole number of bytes, or too many", text)
	}
	return v.Num().Int64(), unit.unit, nil
}
