package rates

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/yamldoc"
)

// outageNameForm is that of an outage's name, which is printed on invoices.
var outageNameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

var outageKeys = []string{"name", "from", "until", "match", "node_list", "mode", "reason", "author", "billed_from"}

// LoadOutages reads an outages.yaml. Its times are of the zone where they have
// no offset:
//
//	outages:
//	  - name: cooling-2026-03
//	    from: 2026-03-04T10:00
//	    until: 2026-03-04T14:30
//	    match: {cluster: h2p, partition: "gpu*"}   # as in a rule of a card; without it, all jobs
//	    node_list: "gpu[01-12]"                    # jobs with one of these nodes; names, globs, hostlists
//	    mode: overlap                              # or whole, killed
//	    reason: the chilled water failed
//	    author: jd
//
// The error is Faults: everything that is wrong with the file.
func LoadOutages(file string, text []byte, zone *time.Location) (*Outages, error) {
	l := &outageLoader{
		cardLoader: &cardLoader{File: &yamldoc.File{Name: file}, card: &Card{}},
		zone:       zone, outages: &Outages{File: file}, line: map[string]int{},
	}
	if root := l.Parse(text); root != nil {
		l.load(root)
	}
	sortFaults(l.Faults)
	if len(l.Faults) > 0 {
		return nil, l.Faults
	}
	l.outages.order()
	return l.outages, nil
}

type outageLoader struct {
	*cardLoader
	zone    *time.Location
	outages *Outages
	line    map[string]int // of each name
}

func (l *outageLoader) load(root *yaml.Node) {
	fields := l.Fields(root, "", "outages")
	if fields == nil {
		return
	}
	l.require(root, "", fields, "outages")
	for _, f := range fields {
		for i, item := range l.ItemsOrNone(f.Value, f.Key) {
			if o := l.outage(item, fmt.Sprintf("outages[%d]", i)); o != nil {
				l.outages.All = append(l.outages.All, o)
			}
		}
	}
}

// outage reads one window; nil after a fault.
func (l *outageLoader) outage(n *yaml.Node, path string) *Outage {
	before := len(l.Faults)
	o := &Outage{Line: n.Line}
	fields := l.Fields(n, path, outageKeys...)
	for _, f := range fields {
		at := path + "." + f.Key
		switch f.Key {
		case "name":
			o.Name = l.outageName(f.Value, at)
		case "from":
			o.From = l.instant(f.Value, at)
		case "until":
			o.Until = l.instant(f.Value, at)
		case "match":
			o.Match = l.match(f.Value, at, jobFields())
		case "node_list":
			o.Nodes = l.hosts(f.Value, at)
		case "mode":
			o.Mode = OutageMode(l.choice(f.Value, at, outageModes))
		case "reason":
			o.Reason = l.sentence(f.Value, at)
		case "author":
			o.Author = l.sentence(f.Value, at)
		case "billed_from":
			o.BilledFrom = l.month(f.Value, at)
		}
	}
	if fields != nil {
		l.require(n, path, fields, "name", "from", "until", "reason")
	}
	if len(l.Faults) > before {
		return nil
	}
	if o.Until <= o.From {
		l.Fault(n, path+".until", "is not after from", "until is the first moment that no longer belongs to the outage")
		return nil
	}
	o.Digest = digestOfOutage(fields)
	return o
}

func (l *outageLoader) outageName(n *yaml.Node, path string) string {
	text, ok := l.Text(n, path)
	if !ok {
		return ""
	}
	if !outageNameForm.MatchString(text) {
		l.Fault(n, path, fmt.Sprintf("%q cannot name an outage", text), "use up to 64 letters, digits and . _ -, such as cooling-2026-03")
	}
	if first, twice := l.line[text]; twice {
		l.Fault(n, path, fmt.Sprintf("%s is the name of line %d already", text, first), "give each outage its own: invoices name it")
	}
	l.line[text] = n.Line
	return text
}

func (l *outageLoader) instant(n *yaml.Node, path string) int64 {
	text, ok := l.Text(n, path)
	if !ok {
		return 0
	}
	t, err := ParseInstant(text, l.zone)
	if err != nil {
		l.Fault(n, path, err.Error(), "write 2026-03-04T10:00, a local time, or 2026-03-04T10:00+01:00")
	}
	return t.Unix()
}

func (l *outageLoader) month(n *yaml.Node, path string) time.Time {
	text, ok := l.Text(n, path)
	if !ok {
		return time.Time{}
	}
	p, err := ParsePeriod(text, l.zone)
	if err != nil {
		l.Fault(n, path, err.Error(), "the first month whose bill the outage changes")
	}
	return p.Start
}

// hosts reads node names, globs and hostlists.
func (l *outageLoader) hosts(n *yaml.Node, path string) *Hosts {
	var texts []string
	for _, item := range l.OneOrMany(n, path) {
		if text, ok := l.Text(item, path); ok {
			texts = append(texts, text)
		}
	}
	h, err := ParseHosts(texts...)
	if err == nil && len(texts) == 0 {
		err = fmt.Errorf("names no node")
	}
	if err != nil {
		l.Fault(n, path, err.Error(), `write names, globs or Slurm's short form, such as "node[01-12],gpu*"`)
		return nil
	}
	return h
}

// sentence reads a text of one line.
func (l *outageLoader) sentence(n *yaml.Node, path string) string {
	text, ok := l.Text(n, path)
	text = strings.TrimSpace(text)
	if ok && (text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl)) {
		l.Fault(n, path, "is empty, of several lines, or has a control character", "write it on one line")
	}
	return text
}

// digestOfOutage is the SHA-256 of what an outage says, whatever the order of
// its keys.
func digestOfOutage(fields []yamldoc.Field) string {
	h := sha256.New()
	fields = slices.SortedFunc(slices.Values(fields), func(a, b yamldoc.Field) int { return strings.Compare(a.Key, b.Key) })
	for _, f := range fields {
		if f.Key == "author" || f.Key == "mode" && f.Value.Value == OutageOverlap.String() {
			continue
		}
		io.WriteString(h, f.Key+" ")
		writeMeaning(h, f.Value)
	}
	return hex.EncodeToString(h.Sum(nil))
}
