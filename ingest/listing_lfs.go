package ingest

import (
	"regexp"
	"slices"
	"strings"
)

const lfsBlockBytes = 1 << 10 // lfs(1): kbytes are KiB

var (
	lfsSection = regexp.MustCompile(`^Disk quotas for (\S+) (.+) \([ugp]id \d+\):$`)
	lfsDefault = regexp.MustCompile(`^[ugp]id \d+ is using default (block|file) quota setting$`)
	lfsGrace   = regexp.MustCompile(`^(-|none|expired|notify|(\d+[wdhms])+)$`)
	lfsKinds   = map[string]string{"usr": "user", "user": "user", "grp": "group", "group": "group", "prj": "project", "project": "project"}

	lfsColumns = [][]string{
		{"kbytes", "quota", "limit", "grace", "files", "quota", "limit", "grace"},
		{"kbytes", "bquota", "blimit", "bgrace", "files", "iquota", "ilimit", "igrace"}, // from Lustre 2.16 on
	}
)

const remedyLfsHuman = "list without -h: lfs quota -p NAME /PATH"

// lfs reads what lfs quota prints of one holder after the other:
//
//	Disk quotas for prj 1001 (pid 1001):
//	     Filesystem  kbytes   quota   limit   grace   files   quota   limit   grace
//	/lustre/project 1048576* 2097152 4194304 6d23h59m58s 1000       0       0       -
//
// A long path stands on a line of its own. A figure over its quota has a
// star; one in brackets is not to be relied on.
func (l *listingReader) lfs(lines []string) {
	s := lfsReader{listingReader: l}
	for i, text := range lines {
		s.line(strings.TrimSpace(text), int64(i+1))
	}
	s.end()
}

type lfsReader struct {
	*listingReader
	kind, name string
	section    int64  // the line on which the section begins, 0 = none
	header     bool   // its columns were named
	rows       int    // of the section
	path       string // that stood on a line of its own
}

func (s *lfsReader) line(text string, n int64) {
	fields := strings.Fields(text)
	switch m := lfsSection.FindStringSubmatch(text); {
	case text == "" || lfsDefault.MatchString(text):
	case m != nil:
		s.end()
		if s.kind, s.name, s.section = lfsKinds[m[1]], m[2], n; s.kind == "" {
			s.fault(n, "", remedyNotListing, "%q is no kind of quota", m[1])
		}
		s.header, s.rows, s.path = false, 0, ""
	case s.section == 0:
		s.fault(n, "", remedyNotListing, "%.60q comes before any quota", text)
	case fields[0] == "Filesystem":
		s.columns(fields[1:], n)
	case strings.HasSuffix(fields[0], "_UUID"):
		s.fault(n, "", "list without -v", "%q is a part of the file system, not a quota", fields[0])
	case strings.HasPrefix(text, "Some errors happened"):
		s.fault(n, "", "list again when all of the file system's targets answer", "lfs could not read all of it")
	case s.header && len(fields) == 1 && s.path == "":
		s.path = text
	case s.header && s.path != "" && isLfsRow(fields):
		s.row(s.path, fields, n)
		s.path = ""
	case s.header && s.path == "" && isLfsRow(fields[1:]):
		s.row(fields[0], fields[1:], n)
	default:
		s.fault(n, "", remedyNotListing, "%.60q is no row of lfs quota", text)
	}
}

// isLfsRow reports whether these are the figures of a row: blocks and files,
// each with a time at the end.
func isLfsRow(figures []string) bool {
	return len(figures) == 8 && lfsGrace.MatchString(figures[3]) && lfsGrace.MatchString(figures[7])
}

func (s *lfsReader) columns(names []string, n int64) {
	s.header = true
	switch {
	case len(names) > 0 && names[0] == "used":
		s.fault(n, "", remedyLfsHuman, "the figures are rounded to be read by people")
	case !slices.ContainsFunc(lfsColumns, func(c []string) bool { return slices.Equal(c, names) }):
		s.fault(n, "", "declare the listing with  layout: table", "these are not the columns of lfs quota: %.80q", strings.Join(names, " "))
	}
}

func (s *lfsReader) row(path string, f []string, n int64) {
	s.rows++
	for _, figure := range f {
		if strings.HasPrefix(figure, "[") {
			s.fault(n, "kbytes", "list again when all of the file system's targets answer", "%s is in brackets: lfs could not read all of it", figure)
			return
		}
	}
	s.add(ListingRow{Filesystem: path, Kind: s.kind, Name: s.name, Line: n,
		UsedBytes:  s.bytesOf(n, "kbytes", strings.TrimSuffix(f[0], "*"), lfsBlockBytes, remedyLfsHuman),
		QuotaBytes: s.limitOf(n, f[1], f[2], lfsBlockBytes, remedyLfsHuman)})
}

// end closes a section.
func (s *lfsReader) end() {
	if s.section > 0 && (s.rows == 0 || s.path != "") {
		s.fault(s.section, "", remedyCutListing, "%s %s has no row, or half of one", s.kind, s.name)
	}
}
