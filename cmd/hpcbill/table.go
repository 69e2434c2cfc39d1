package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// table is a result for a person (columns), a program (JSON) or a
// spreadsheet (CSV). A cell is a string, an int64 or nil.
type table struct {
	columns []column
	rows    [][]any
}

// column has the name that JSON and CSV use; a table prints it in capitals.
type column struct {
	name  string
	right bool // numbers stand under each other
}

func columns(spec ...string) []column {
	cs := make([]column, len(spec))
	for i, s := range spec {
		name, right := strings.CutPrefix(s, ">")
		cs[i] = column{name, right}
	}
	return cs
}

// drop leaves out a column.
func (t *table) drop(name string) {
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
	t.columns = slices.Delete(t.columns, i, i+1)
	for r := range t.rows {
		t.rows[r] = slices.Delete(t.rows[r], i, i+1)
	}
}

func (t *table) add(cells ...any) { t.rows = append(t.rows, cells) }

// addFormat gives a reading verb its --format flag.
func addFormat(c *cobra.Command) *string {
	return c.Flags().String("format", "table", "table, json or csv")
}

func checkFormat(format string) error {
	switch format {
	case "table", "json", "csv":
		return nil
	}
	return usageError{fmt.Errorf("unknown format %q", format), "table, json or csv"}
}

// write prints the table in one of the three formats.
func (t *table) write(w io.Writer, format string) error {
	switch format {
	case "json":
		return t.writeJSON(w)
	case "csv":
		return t.writeCSV(w)
	}
	_, err := io.WriteString(w, t.text())
	return err
}

func (t *table) text() string {
	widths := make([]int, len(t.columns))
	lines := make([][]string, 0, len(t.rows)+1)
	head := make([]string, len(t.columns))
	for i, c := range t.columns {
		head[i] = strings.ToUpper(strings.ReplaceAll(c.name, "_", " "))
	}
	lines = append(lines, head)
	for _, row := range t.rows {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = oneLine(cellText(cell))
		}
		lines = append(lines, line)
	}
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, line := range lines {
		var out strings.Builder
		for i, cell := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.columns[i].right {
				cell = pad + cell
			} else {
				cell += pad
			}
			if i > 0 {
				out.WriteString("  ")
			}
			out.WriteString(cell)
		}
		b.WriteString(strings.TrimRight(out.String(), " ") + "\n")
	}
	return b.String()
}

func cellText(cell any) string {
	switch v := cell.(type) {
	case nil:
		return ""
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case int:
		return strconv.Itoa(v)
	}
	return fmt.Sprint(cell)
}

// writeJSON prints one array of objects whose keys keep the columns' order.
func (t *table) writeJSON(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("[")
	for r, row := range t.rows {
		if r > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  {")
		for i, cell := range row {
			if i > 0 {
				b.WriteString(", ")
			}
			value, err := jsonText(cell)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%q: %s", t.columns[i].name, value)
		}
		b.WriteString("}")
	}
	if len(t.rows) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("]\n")
	_, err := w.Write(b.Bytes())
	return err
}

// jsonText encodes a value without HTML escapes: nobody embeds this in a page.
func jsonText(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

func (t *table) writeCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	head := make([]string, len(t.columns))
	for i, col := range t.columns {
		head[i] = col.name
	}
	if err := c.Write(head); err != nil {
		return err
	}
	for _, row := range t.rows {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = cellText(cell)
			if _, text := cell.(string); text {
				line[i] = neutral(line[i])
			}
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// neutral puts an apostrophe before a text that a spreadsheet would run as a
// formula. A number keeps its sign.
func neutral(s string) string {
	if s == "" || !strings.ContainsAny(s[:1], "=+-@\t\r") || isNumber(s) {
		return s
	}
	return "'" + s
}

func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, fraction, point := strings.Cut(s, ".")
	return allDigits(whole) && (!point || allDigits(fraction))
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
