package ingest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// How many lines after the header are looked at for the stray delimiter of
// Slurm 18.08.
const linesLookedAt = 100

// begin finds the columns at the head of the file. It returns how many bytes
// the header took; the schema stays nil where the text is blank.
func (p *parser) begin(text string) (int, error) {
	if f := refuseMagic(text); f != nil {
		return 0, f
	}
	pos := 0
	if strings.HasPrefix(text, "\ufeff") {
		pos = len("\ufeff")
	}
	for pos < len(text) {
		end, next := lineEnd(text, pos)
		p.line++
		line := text[pos:end]
		if strings.Trim(line, " \t\r") == "" {
			pos = next
			continue
		}
		if isMessage(line) {
			return 0, &fault{"", fmt.Sprintf("the file is a message of sacct's, not a dump: %.200q", line), remedyRedump}
		}
		if f := refuseYAML(line, text[next:]); f != nil {
			return 0, f
		}
		if f := refuseFixedWidth(line, text[next:]); f != nil {
			return 0, f
		}
		return p.firstLine(text, pos, end, next)
	}
	return len(text), nil
}

// firstLine takes the first line that is not blank for the header, or binds
// the declared columns.
func (p *parser) firstLine(text string, pos, end, next int) (int, error) {
	line := text[pos:end]
	if s := parseHeader(line, p.opt.Delimiter); s != nil {
		return next, p.adopt(s, text[next:])
	}
	if p.opt.Columns == nil {
		return 0, p.noHeader(line, text[next:])
	}
	columns, err := declaredColumns(p.opt.Columns)
	if err != nil {
		return 0, err
	}
	delimiter := p.opt.Delimiter
	for rest, tries := text[pos:], 0; delimiter == "" && tries < linesLookedAt && rest != ""; tries++ {
		var first string
		first, rest, _ = strings.Cut(rest, "\n")
		delimiter = delimiterFor(first, columns)
	}
	if delimiter == "" {
		return 0, &fault{"", fmt.Sprintf("no delimiter puts the cells of the first lines in the %d declared columns", len(columns)),
			"compare the declared columns with the sacct command that wrote the dump, or give its delimiter"}
	}
	s := newSchema(delimiter, columns)
	p.line--
	return pos, p.adopt(s, text[pos:])
}

// adopt makes s the schema of the lines that follow.
func (p *parser) adopt(s *schema, following string) error {
	if f := s.check(p.opt); f != nil {
		return f
	}
	if first, _, _ := strings.Cut(following, "\n"); strings.HasSuffix(first, "\r") {
		s.crlf = true // a header that was put before the lines by hand
	}
	format := "sacct -P"
	if s.trailing() {
		format = "sacct -p"
	} else if s.strayDelimiter(following) {
		p.tally.add(WarnTrailingDelim, p.line)
		s = s.withTrailingDelimiter()
	}
	if unknown := s.unknownColumns(); unknown != nil {
		p.tally.addText(WarnUnknownColumn, p.line, "columns that are not sacct's, passed over: "+strings.Join(unknown, ", "))
	}
	if p.report.Format == "" {
		p.report.Format = format
	}
	s.drawn = s.delimiter == p.opt.Drawn
	p.schema = s
	p.report.HasDBIndex = p.report.HasDBIndex || s.has(fieldDBIndex) || s.has(fieldSLUID)
	p.report.HasAllocTRES = p.report.HasAllocTRES || s.has(fieldAllocTRES)
	p.report.HasElapsedOnly = p.report.HasElapsedOnly || !s.has(fieldElapsedRaw)
	return nil
}

// strayDelimiter reports whether all of the next lines have one delimiter
// more than columns need, and nothing after it.
func (s *schema) strayDelimiter(following string) bool {
	seen := 0
	var c cells
	for following != "" && seen < linesLookedAt {
		var line string
		line, following, _ = strings.Cut(following, "\n")
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		if !strings.HasSuffix(line, s.delimiter) || c.split(line, s.delimiter, maxCells) <= len(s.columns) {
			return false
		}
		seen++
	}
	return seen > 0
}

// secondHeader handles the header of a dump that was joined to this one. It
// reports whether the line was one, or whether more text is needed to tell; else
// text says that it looks like one and is a line of a user's text.
func (p *parser) secondHeader(line, following string, last bool) (done, text, more bool, err error) {
	bare := strings.TrimPrefix(strings.TrimSuffix(line, "\r"), "\ufeff")
	if bare == p.schema.header && bare != "" {
		p.schema.crlf = strings.HasSuffix(line, "\r") || !p.schema.lastFree
		return true, false, false, p.settle()
	}
	s := parseHeader(line, p.opt.Delimiter)
	if s == nil || len(s.columns) < 4 {
		return false, false, false, nil
	}
	if slices.ContainsFunc(s.unknownColumns(), gluedName) {
		return true, false, false, headerInside
	}
	var other cells
	before, after, more := p.recordBelow(following, last, func(line string) bool { return other.align(line, s) == readOnce })
	switch {
	case more:
		return false, false, true, nil
	case before && after && s.at != p.schema.at: // else they are read alike
		return true, false, false, headerOrName
	case before && !after:
		return false, true, false, nil
	}
	if err := p.settle(); err != nil {
		return true, false, false, err
	}
	if err := p.letGo(math.MaxInt64); err != nil {
		return true, false, false, err
	}
	p.submitted = submissions{}
	p.tally.add(WarnSecondHeader, p.line)
	return true, false, false, p.adopt(s, "")
}

// refuseFixedWidth recognises sacct's output without -P or -p, whose columns
// are cut to a width: by the ruler under the header, or by the header's gaps.
func refuseFixedWidth(line, following string) *fault {
	second, _, _ := strings.Cut(following, "\n")
	if isRuler(line) || isRuler(second) || isWideHeader(line) {
		return &fault{"", "the columns have fixed widths, so that names may be cut off", remedyParsable}
	}
	return nil
}

func isRuler(line string) bool {
	line = strings.TrimRight(line, " \r")
	return strings.HasPrefix(line, "---") && strings.Trim(line, "- ") == ""
}

func isWideHeader(line string) bool {
	if !strings.Contains(line, "  ") {
		return false
	}
	names := strings.Fields(line)
	for _, name := range names {
		if _, ok := sacctColumns[strings.ToLower(name)]; !ok {
			return false
		}
	}
	return len(names) > 1
}

// refuseYAML recognises sacct --yaml.
func refuseYAML(line, following string) *fault {
	second, _, _ := strings.Cut(following, "\n")
	if line == "jobs:" || line == "meta:" || (line == "---" && strings.HasSuffix(second, ":")) {
		return &fault{"", "the file is YAML", "dump with sacct -P, or with --json"}
	}
	return nil
}

// linesBefore is how many lines are looked at for a header that other text
// stands before.
const linesBefore = 30

// headerBelow returns how many lines below this one the header stands, 0 where
// there is none.
func (p *parser) headerBelow(following string) int64 {
	for n := int64(1); n <= linesBefore && following != ""; n++ {
		var line string
		line, following, _ = strings.Cut(following, "\n")
		if s := parseHeader(line, p.opt.Delimiter); s != nil && len(s.columns) > namesOfHeader {
			return n
		}
	}
	return 0
}

// noHeader says what the first line is, if it is no header.
func (p *parser) noHeader(line, following string) error {
	first := line[:min(len(line), 200)]
	f := &fault{"", "no header: the first line does not name sacct's columns", remedyHeader}
	switch head := strings.TrimSpace(first); {
	case strings.Contains(head, "\r") && parseHeader(head[:strings.IndexByte(head, '\r')], p.opt.Delimiter) != nil:
		f.cause, f.remedy = "lines end in a carriage return alone", "end them with a new line: tr '\\r' '\\n'"
	case strings.HasPrefix(head, `"`) && parseHeader(strings.ReplaceAll(head, `"`, ""), p.opt.Delimiter) != nil:
		f.cause, f.remedy = "the names stand in quotes: a spreadsheet or another program saved this table", "sacct quotes nothing: ingest what it printed, as it printed it"
	case strings.HasPrefix(head, "PartitionName="):
		f.cause, f.remedy = "the file is the output of scontrol show partition, not a dump", "see hpcbill rates import"
	case strings.HasPrefix(head, "<"):
		f.cause, f.remedy = "the file is HTML or XML, not a dump", remedyCommand
	case strings.HasPrefix(head, "JobId=") && strings.Contains(head, "UserId="):
		f.cause, f.remedy = "the file is a jobcomp/filetxt log, which has no allocated TRES", remedyCommand
	case strings.HasPrefix(head, "Cluster Utilization"), strings.HasPrefix(head, "Cluster/"):
		f.cause, f.remedy = "the file is a report of sreport, not a dump", remedyCommand
	case p.opt.Delimiter != "" && !strings.Contains(line, p.opt.Delimiter):
		f.cause, f.remedy = fmt.Sprintf("the first line does not hold the delimiter %q", p.opt.Delimiter), "leave the delimiter out to have it found"
	}
	if below := p.headerBelow(following); below > 0 && f.remedy == remedyHeader {
		f.cause = fmt.Sprintf("text stands before the header, which is line %d", p.line+below)
		f.remedy = "take these lines off, and keep the messages of logins and modules out of dumps"
	}
	if f.remedy == remedyHeader {
		return &Error{File: p.name, Line: p.line, Cause: errNoHeader, Remedy: f.remedy}
	}
	return &Error{File: p.name, Line: p.line, Cause: errors.New(f.cause), Remedy: f.remedy}
}
