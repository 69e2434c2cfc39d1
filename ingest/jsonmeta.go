package ingest

import (
	"fmt"
	"regexp"
	"strconv"
)

// The data parsers whose answers this package was written for.
const (
	firstParser = 37
	lastParser  = 45
)

var parserVersion = regexp.MustCompile(`v(\d+)\.(\d+)\.(\d+)$`)

// meta reads which data parser made the answer. A meta of another shape says
// nothing.
func (a *answer) meta() error {
	var m jsonMeta
	if err := a.whole(func() { m.read(&a.scanner) }); err != nil {
		return err
	}
	for _, said := range []string{m.parser.text, m.pluginsParser.text, m.kind.text} {
		if v := parserVersion.FindStringSubmatch(said); v != nil {
			return a.version(v)
		}
	}
	return nil
}

// jsonMeta is what an answer says of its data parser, from v0.0.40 on, in
// v0.0.39 and before.
type jsonMeta struct {
	plugin, plugins             presence
	parser, pluginsParser, kind jsonText
}

func (m *jsonMeta) read(s *scanner) {
	*m = jsonMeta{}
	if !s.is('{', "") {
		return
	}
	s.members(func(name string) {
		switch name {
		case "plugin":
			s.object(&m.plugin, func(name string) {
				switch name {
				case "data_parser":
					m.parser.read(s)
				case "type":
					m.kind.read(s)
				default:
					s.skip()
				}
			})
		case "plugins":
			s.only(&m.plugins, "data_parser", m.pluginsParser.read)
		default:
			s.skip()
		}
	})
}

func (a *answer) version(v []string) error {
	a.p.report.Format = "sacct --json " + v[0]
	if v[1] != "0" || v[2] != "0" {
		return &fault{"meta", "the data parser " + v[0] + " is one that this program does not know",
			fmt.Sprintf("ask for --json=v0.0.%d, or dump with sacct -P", lastParser)}
	}
	if n, err := strconv.Atoi(v[3]); err != nil || n < firstParser || n > lastParser {
		a.p.tally.addText(WarnParserVersion, 0, "the data parser "+v[0]+" was not tried with this program")
	}
	return nil
}
