package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The longest delimiter that is found by itself.
const maxDelimiter = 16

// schema says what the cells of a line are.
type schema struct {
	delimiter string
	header    string // the header line, "" where the columns were declared
	columns   []column
	at        [fieldCount]int16 // where a field stands, -1 = nowhere
	crlf      bool              // a carriage return at the end of a line is no part of it

	// fold says that the one free text of the dump is its last column, so
	// that every surplus cell of a line is part of it.
	fold bool
	// lastFree says that the last column can hold a new line.
	lastFree bool
	// drawn says that nobody can have known the delimiter before the dump.
	drawn bool
	// overlaps says that the delimiter can overlap with itself, as || in |||.
	overlaps bool
}

func newSchema(delimiter string, columns []column) *schema {
	s := &schema{delimiter: delimiter, columns: columns}
	for i := range s.at {
		s.at[i] = -1
	}
	free := 0
	for i, c := range columns {
		if s.at[c.field] < 0 && c.field != fieldNone {
			s.at[c.field] = int16(i)
		}
		if c.shape == shapeFree {
			free++
		}
	}
	last := columns[len(columns)-1]
	s.lastFree = last.shape == shapeFree
	s.crlf = !s.lastFree // where the last column is no text
	s.fold = free == 1 && s.lastFree
	for n := 1; n < len(delimiter); n++ {
		s.overlaps = s.overlaps || delimiter[n:] == delimiter[:len(delimiter)-n]
	}
	return s
}

// withTrailingDelimiter returns the schema of the same columns in the form of
// sacct -p, where a delimiter ends every line.
func (s *schema) withTrailingDelimiter() *schema {
	columns := append(append([]column(nil), s.columns...), column{shape: shapeEmpty})
	t := newSchema(s.delimiter, columns)
	t.header = s.header
	return t
}

func (s *schema) trailing() bool { return s.columns[len(s.columns)-1].shape == shapeEmpty }

// mayBeCut reports whether a line that nothing ends has all of its cells and
// may still be a record that was cut off, in the last of them, so that it would be read as another amount or
// another name: 12 of 128 CPUs, lab_ of lab_b. A text of the user's there
// bills nothing, and half a time is none.
func (s *schema) mayBeCut(line string) bool {
	last := s.columns[len(s.columns)-1]
	switch last.shape {
	case shapeKey, shapeInteger, shapeTRES, shapeSize, shapeJobID:
		return last.field != fieldNone && strings.Count(line, s.delimiter) == len(s.columns)-1 && line != s.header && !isMessage(line)
	}
	return false
}

func (s *schema) has(f field) bool { return s.at[f] >= 0 }

// unknownColumns returns the names that are not sacct's.
func (s *schema) unknownColumns() []string {
	var names []string
	for _, c := range s.columns {
		if c.shape == shapeFree && sacctColumns[strings.ToLower(c.name)].name == "" {
			names = append(names, c.name)
		}
	}
	return names
}

// parseHeader reads a line of column names. It returns nil where the line is
// none: too few of its names are sacct's.
func parseHeader(line, delimiter string) *schema {
	line, crlf := strings.CutSuffix(line, "\r")
	line = strings.TrimPrefix(line, "\ufeff")
	best, bestScore := "", 0
	candidates := []string{delimiter}
	if delimiter == "" {
		candidates = delimitersOf(line)
	}
	for _, d := range candidates {
		if score := headerScore(strings.Split(line, d)); score > bestScore || (score == bestScore && len(d) > len(best)) {
			best, bestScore = d, score
		}
	}
	if bestScore == 0 {
		return nil
	}
	names := strings.Split(line, best)
	trailing := len(names) > 1 && names[len(names)-1] == ""
	if trailing {
		names = names[:len(names)-1]
	}
	s := newSchema(best, columnsNamed(names))
	s.header, s.crlf = line, crlf || s.crlf
	if trailing {
		s = s.withTrailingDelimiter()
	}
	return s
}

// isLetter reports whether c is a letter of ASCII.
func isLetter(c byte) bool { return (c|0x20)-'a' <= 'z'-'a' }

// delimitersOf guesses what stands between the first two names of a header.
func delimitersOf(line string) []string {
	var list []string
	for end := 1; end <= len(line) && end <= 24; end++ {
		if sacctColumns[strings.ToLower(line[:end])].name == "" {
			continue
		}
		for n := 1; n <= maxDelimiter && end+n <= len(line); n++ {
			list = append(list, line[end:end+n])
		}
	}
	word := 0
	for word < len(line) && isLetter(line[word]) {
		word++
	}
	end := word
	for end < len(line) && !isLetter(line[end]) {
		end++
	}
	if word > 0 && end > word {
		list = append(list, line[word:end])
	}
	return list
}

// headerScore counts the names that are sacct's: 0 where they cannot be a
// header, since a header names the job and its names are names.
func headerScore(names []string) int {
	known, job := 0, false
	for i, name := range names {
		c := sacctColumns[strings.ToLower(name)]
		if c.name != "" {
			known++
			job = job || c.field == fieldJobID || c.field == fieldJobIDRaw
			continue
		}
		if name == "" && i == len(names)-1 {
			continue
		}
		if !isColumnName(name) {
			return 0
		}
	}
	if known < 2 || !job || known*2 < len(names) {
		return 0
	}
	return known
}

func isColumnName(s string) bool {
	if s == "" || len(s) > 64 || s[0]-'0' <= 9 {
		return false
	}
	return madeOf(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789_- ()/")
}

// columnsNamed binds names to columns. A name that is not sacct's is a column
// of text that nothing is read from.
func columnsNamed(names []string) []column {
	columns := make([]column, len(names))
	for i, name := range names {
		c, ok := sacctColumns[strings.ToLower(name)]
		if !ok {
			c.shape = shapeFree
		}
		c.name = name
		columns[i] = c
	}
	return columns
}

// declaredColumns resolves Options.Columns.
func declaredColumns(names []string) ([]column, error) {
	if len(names) == 1 {
		if layout, ok := namedLayouts[strings.ToLower(names[0])]; ok {
			return columnsNamed(strings.Fields(layout)), nil
		}
		names = strings.FieldsFunc(names[0], func(r rune) bool { return r == ',' || r == ' ' })
	}
	columns := columnsNamed(names)
	for _, c := range columns {
		if sacctColumns[strings.ToLower(c.name)].name == "" {
			return nil, fmt.Errorf("%q is not a column of sacct", c.name)
		}
	}
	return columns, nil
}

// declaredDelimiters are tried on a dump without a header, the longer first.
var declaredDelimiters = []string{"|||", "^|^", "|#", ";;", "||", "\x1f", "|", "\t", ";", "^", ","}

// delimiterFor finds the delimiter that puts the cells of a record in the
// declared columns; "" where none does.
func delimiterFor(line string, columns []column) string {
	for _, d := range declaredDelimiters {
		s := newSchema(d, columns)
		var c cells
		if c.align(strings.TrimSuffix(line, "\r"), s) == readOnce {
			return d
		}
		if c.align(strings.TrimSuffix(line, "\r"), s.withTrailingDelimiter()) == readOnce {
			return d
		}
	}
	return ""
}

// check says which column that a bill needs is missing, or that the delimiter
// cannot keep the cells apart.
func (s *schema) check(opt Options) *fault {
	missing := s.missing(opt.Cluster != "")
	if missing == nil {
		return s.checkDelimiter()
	}
	f := &fault{missing[0], "the dump has no such column", remedyCommand}
	if len(missing) > 1 {
		f.cause = "the dump has no columns " + strings.Join(missing, ", ")
		f.field = ""
	} else if missing[0] == "Cluster" {
		f.remedy = "name the cluster of this dump (--cluster), or dump again with the column Cluster"
	}
	return f
}

// checkDelimiter refuses a delimiter that stands inside what sacct itself
// prints, such as the commas of a TRES: with free text in the last column, its
// cells would be cut short and the rest pass for a name.
func (s *schema) checkDelimiter() *fault {
	for _, c := range s.columns {
		example := ""
		switch c.shape {
		case shapeDate:
			example = "2025-03-03T09:00:00"
		case shapeDuration:
			example = "1-00:00:00"
		case shapeTRES:
			example = "billing=4,cpu=4,gres/gpu:a100=1,mem=1.50G,node=1"
		}
		if s.delimiter != "" && strings.Contains(example, s.delimiter) {
			return &fault{c.name, fmt.Sprintf("the delimiter %q stands inside the values of this column", s.delimiter),
				"dump again with sacct -P, or a delimiter such as $'\\x1f': sacct quotes nothing, and a table that a spreadsheet saved is no dump"}
		}
	}
	return nil
}

// missing names the needed columns that are not there.
func (s *schema) missing(clusterKnown bool) []string {
	lacks := func(fields ...field) bool {
		for _, f := range fields {
			if s.has(f) {
				return false
			}
		}
		return true
	}
	var missing []string
	need := func(name string, fields ...field) {
		if lacks(fields...) {
			missing = append(missing, name)
		}
	}
	need("JobID", fieldJobID, fieldJobIDRaw)
	need("State", fieldState)
	need("Account", fieldAccount)
	need("Start", fieldStart)
	need("End", fieldEnd)
	need("AllocTRES", fieldAllocTRES, fieldAllocCPUs)
	if !clusterKnown {
		need("Cluster", fieldCluster)
	}
	return missing
}

// CheckColumns reports what speaks against asking sacct for these columns: a
// name that is not sacct's, or one missing that tells a job from another or
// what it used. Every sacct has those.
func CheckColumns(names []string) error {
	columns := columnsNamed(names)
	for _, c := range columns {
		if sacctColumns[strings.ToLower(c.name)].name == "" {
			return fmt.Errorf("%q is not a column of sacct", c.name)
		}
	}
	s := newSchema("|", columns)
	missing := s.missing(true)
	for name, any := range map[string]bool{
		"JobIDRaw": s.has(fieldJobIDRaw), "Submit": s.has(fieldSubmit), "ElapsedRaw or Elapsed": s.has(fieldElapsedRaw) || s.has(fieldElapsed),
	} {
		if !any {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("without %s jobs are not told apart or not billed whole", strings.Join(missing, ", "))
}

var errNoHeader = errors.New("no header: the first line does not name sacct's columns")
