// Package csvdoc reads a CSV file strictly, as people keep it in a spreadsheet:
// the first line names the columns, in any order; a byte order mark, semicolons
// for commas, blank lines and the commas that a spreadsheet leaves at the end
// are tolerated. Every fault keeps its line, and nothing is guessed.
package csvdoc

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hpcbill/rates/nearest"
	"hpcbill/rates/yamldoc"
)

// maxBytes is the longest file that is read: 16 MiB.
const maxBytes = 16 << 20

// File is what is known of a CSV file, and keeps its faults.
type File struct {
	Name    string
	Columns []string   // all that there may be, in lower case
	Needed  [][]string // columns of which one each must be there
	Begin   string     // the first line of a small file, for who has none
	Faults  yamldoc.Faults

	at map[string]int // where a column stands
}

// Fault keeps a fault.
func (f *File) Fault(line, column int, field, message, remedy string) {
	f.Faults = append(f.Faults, yamldoc.Fault{File: f.Name, Line: line, Column: column, Field: field, Message: message, Remedy: remedy})
}

// Read gives the rows after the header that say something; none where the
// header cannot be read.
func (f *File) Read(text []byte) []*Row {
	clean := strings.TrimPrefix(string(text), "\ufeff")
	switch bad := firstInvalid(clean); {
	case len(text) > maxBytes:
		f.Fault(0, 0, "", "the file is longer than 16 MiB", "it cannot be what it should be")
		return nil
	case bad >= 0:
		f.Fault(1+strings.Count(clean[:bad], "\n"), 0, "", "is not UTF-8", "save the spreadsheet as CSV UTF-8")
		return nil
	}
	reader := csv.NewReader(strings.NewReader(clean))
	reader.FieldsPerRecord = -1
	if first, _, _ := strings.Cut(clean, "\n"); strings.Contains(first, ";") && !strings.Contains(first, ",") {
		reader.Comma = ';'
	}
	rows := f.rows(reader)
	if f.at == nil && len(f.Faults) == 0 {
		f.Fault(0, 0, "", "is empty", "begin the file with the line "+f.Begin)
	}
	return rows
}

// firstInvalid is where a text stops being UTF-8, or -1.
func firstInvalid(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

func (f *File) rows(reader *csv.Reader) (rows []*Row) {
	for {
		cells, err := reader.Read()
		if err == io.EOF {
			return rows
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			f.Fault(syntax.StartLine, 0, "", syntax.Err.Error(), "put a text that holds quotes in quotes, and double them")
			return rows
		}
		row := &Row{file: f, cells: cells}
		for i := range cells {
			line, column := reader.FieldPos(i)
			row.places = append(row.places, place{line, column})
		}
		switch {
		case blank(cells):
		case f.at != nil:
			if row.within() {
				rows = append(rows, row)
			}
		case !f.header(row):
			return nil
		}
	}
}

func blank(cells []string) bool { return strings.TrimSpace(strings.Join(cells, "")) == "" }

// header binds the columns; it reports false where no row can be read.
func (f *File) header(row *Row) bool {
	f.at = map[string]int{}
	before := len(f.Faults)
	for i, cell := range row.cells {
		name := strings.ToLower(strings.TrimSpace(cell))
		_, twice := f.at[name]
		switch {
		case name == "" && blank(row.cells[i:]): // commas that a spreadsheet left
		case !slices.Contains(f.Columns, name):
			f.Fault(row.Line(), 0, name, "unknown column", nearest.Remedy(name, f.Columns))
		case twice:
			f.Fault(row.Line(), 0, name, "the column occurs twice", "")
		default:
			f.at[name] = i
		}
	}
	for _, alternatives := range f.Needed {
		if !slices.ContainsFunc(alternatives, func(name string) bool { _, ok := f.at[name]; return ok }) {
			f.Fault(row.Line(), 0, alternatives[0], "the column is missing", "begin the file with the line "+f.Begin)
		}
	}
	return len(f.Faults) == before
}

// Row is a line of the file, or several where a cell goes over them.
type Row struct {
	file   *File
	cells  []string
	places []place
}

type place struct{ line, column int }

// Line is where the row begins, counted from 1.
func (r *Row) Line() int { return r.places[0].line }

// Cell gives a cell by its column, without blanks around it; "" where there is
// none.
func (r *Row) Cell(name string) string {
	if i, ok := r.file.at[name]; ok && i < len(r.cells) {
		return strings.TrimSpace(r.cells[i])
	}
	return ""
}

// Place gives the line and the column of a cell that is there.
func (r *Row) Place(name string) (line, column int) {
	at := r.places[r.file.at[name]]
	return at.line, at.column
}

// within refuses cells beyond the columns: a text with a comma was not quoted,
// and what stands behind it would be read as something else.
func (r *Row) within() bool {
	for i, text := range r.cells {
		if strings.TrimSpace(text) != "" && !r.file.bound(i) {
			r.file.Fault(r.places[i].line, r.places[i].column, "", fmt.Sprintf("there is a cell beyond the last column: %.80q", text),
				"a text that holds a comma must be in quotes")
			return false
		}
	}
	return true
}

func (f *File) bound(i int) bool {
	for _, at := range f.at {
		if at == i {
			return true
		}
	}
	return false
}

// OneLine keeps a fault where a cell goes over several lines or has control
// characters.
func (r *Row) OneLine() {
	for i, text := range r.cells {
		if strings.ContainsFunc(text, unicode.IsControl) {
			r.file.Fault(r.places[i].line, 0, "", fmt.Sprintf("%.80q has a line break or a control character", text), "write it on one line")
		}
	}
}
