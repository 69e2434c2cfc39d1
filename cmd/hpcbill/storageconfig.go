package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/nearest"

	"go.yaml.in/yaml/v3"
)

// storageSourceConfig is where quotas and uses come from besides storage.csv:
// listings that a program made, or more files like it.
type storageSourceConfig struct {
	Files  string         // a glob below the site
	Layout *ingest.Layout // nil = files like storage.csv
	Groups []rates.HolderRule
	Line   int
}

// storageCSV is the layout of storage.csv.
const storageCSV = "csv"

var (
	storageSourceKeys = []string{"files", "layout", "of", "quota", "used", "filesystem", "tier", "date", "timezone", "show", "groups"}
	tableKeys         = []string{"delimiter", "skip", "columns", "unit", "none"}
	tableColumnKeys   = []string{"name", "kind", "filesystem", "tier", "quota", "used", "date"}
)

// storageLayouts are the names of all layouts.
func storageLayouts() []string {
	names := []string{storageCSV}
	for _, f := range ingest.ListingFormats() {
		names = append(names, string(f))
	}
	return names
}

func (l *configLoader) storage(n *yaml.Node) {
	for _, f := range l.Fields(n, "storage", "file", "sources", "cards") {
		switch f.Key {
		case "file":
			l.StorageFile, _ = l.Text(f.Value, "storage.file")
		case "sources":
			for i, item := range l.Items(f.Value, "storage.sources") {
				l.storageSource(item, fmt.Sprintf("storage.sources[%d]", i))
			}
		case "cards":
			l.storageCards(f.Value)
		}
	}
	if (l.StorageFile != "" || len(l.StorageSources) > 0) && len(l.StorageCards) == 0 {
		l.Fault(n, "storage.cards", "is missing", `quotas need a price: write  cards: [{filesystem: "*", card: osc}]`)
	}
}

func (l *configLoader) storageCards(n *yaml.Node) {
	for i, item := range l.Items(n, "storage.cards") {
		path := fmt.Sprintf("storage.cards[%d]", i)
		c := storageCardConfig{Line: item.Line}
		for _, g := range l.Fields(item, path, "filesystem", "card") {
			text, _ := l.Text(g.Value, path+"."+g.Key)
			if g.Key == "card" {
				c.Card = text
			} else {
				c.Filesystem = text
			}
		}
		if c.Card == "" || c.Filesystem == "" {
			l.Fault(item, path, "needs a filesystem and a card", `write  {filesystem: "*", card: osc}`)
		}
		l.StorageCards = append(l.StorageCards, c)
	}
}

// storageSource reads one source of listings.
func (l *configLoader) storageSource(n *yaml.Node, path string) {
	s := storageSourceConfig{Line: n.Line, Layout: &ingest.Layout{Source: path, Zone: l.Zone, RowsZone: time.UTC}}
	values := map[string]*yaml.Node{}
	for _, f := range l.Fields(n, path, slices.Concat(storageSourceKeys, tableKeys)...) {
		values[f.Key] = f.Value
		l.storageSourceKey(&s, f.Key, f.Value, path+"."+f.Key)
	}
	for _, key := range []string{"files", "layout"} {
		if values[key] == nil {
			l.Fault(n, path+"."+key, "is missing", "write  {files: \"quotas/*.txt\", layout: lfs-quota, quota: hard}")
		}
	}
	switch s.Layout.Format {
	case "":
		return // said already
	case storageCSV:
		for _, key := range slices.Concat(storageSourceKeys[2:], tableKeys) {
			if values[key] != nil {
				l.Fault(values[key], path+"."+key, "does not go with the layout csv", "remove it; the file's own columns say it")
			}
		}
		s.Layout = nil
	default:
		l.checkLayout(&s, n, path, values)
	}
	l.StorageSources = append(l.StorageSources, s)
}

func (l *configLoader) storageSourceKey(s *storageSourceConfig, key string, n *yaml.Node, at string) {
	switch key {
	case "groups":
		for i, item := range l.Items(n, at) {
			s.Groups = append(s.Groups, l.holderRule(item, fmt.Sprintf("%s[%d]", at, i)))
		}
		return
	case "columns":
		l.tableColumns(&s.Layout.Columns, n, at)
		return
	case "none":
		for _, item := range l.OneOrMany(n, at) {
			if text, ok := l.Text(item, at); ok {
				s.Layout.Columns.None = append(s.Layout.Columns.None, text)
			}
		}
		return
	case "timezone":
		s.Layout.RowsZone = l.zone(n, at)
		return
	}
	text, ok := l.Text(n, at)
	if !ok {
		return
	}
	switch key {
	case "files":
		s.Files = text
	case "layout":
		if s.Layout.Format = ingest.ListingFormat(text); !slices.Contains(storageLayouts(), text) {
			l.Fault(n, at, fmt.Sprintf("unknown layout %q", text), nearest.Remedy(text, storageLayouts()))
			s.Layout.Format = ""
		}
	case "of":
		s.Layout.Of = text
	case "quota":
		s.Layout.Quota = text
	case "used":
		s.Layout.Used = text
	case "filesystem":
		s.Layout.Filesystem = text
	case "tier":
		s.Layout.Tier = text
	case "date":
		s.Layout.Day = l.storageDay(n, at, text)
	case "show":
		if s.Layout.Unit = ingest.StorageUnit(text); s.Layout.Unit != ingest.TB && s.Layout.Unit != ingest.TiB {
			l.Fault(n, at, fmt.Sprintf("%q is neither TB nor TiB", text), "TB are 10^12 bytes, TiB 2^40: the unit in which quotas are shown")
		}
	case "delimiter":
		s.Layout.Columns.Delimiter = strings.ReplaceAll(text, `\t`, "\t")
	case "skip":
		lines, err := strconv.Atoi(text)
		if s.Layout.Columns.Skip = lines; err != nil || lines < 0 || lines > 1000 {
			l.Fault(n, at, fmt.Sprintf("%q is no number of lines", text), "how many lines stand before the table")
		}
	case "unit":
		l.tableUnit(&s.Layout.Columns, n, at, text)
	}
}

func (l *configLoader) storageDay(n *yaml.Node, at, text string) ingest.Date {
	day, err := rates.ParseDate(text)
	if err != nil {
		l.Fault(n, at, err.Error(), "the day of the listing, where neither its name nor its rows say it")
	}
	return ingest.Date(day)
}

// tableUnit reads the unit of a table's numbers: KiB, or blocks, "512 B".
func (l *configLoader) tableUnit(c *ingest.TableColumns, n *yaml.Node, at, text string) {
	if blocks, ok := strings.CutSuffix(text, " B"); ok {
		size, err := strconv.ParseInt(blocks, 10, 32)
		if c.Blocks = size; err == nil && size > 0 {
			return
		}
	}
	if c.Unit = text; !slices.Contains(ingest.StorageUnits(), text) {
		l.Fault(n, at, fmt.Sprintf("%q is no unit of storage", text), "one of "+strings.Join(ingest.StorageUnits(), ", ")+`, or the size of a block, "512 B"`)
	}
}

func (l *configLoader) tableColumns(c *ingest.TableColumns, n *yaml.Node, path string) {
	for _, f := range l.Fields(n, path, tableColumnKeys...) {
		text, _ := l.Text(f.Value, path+"."+f.Key)
		if i, err := strconv.Atoi(text); err == nil && i < 1 {
			l.Fault(f.Value, path+"."+f.Key, "columns are counted from 1", "")
		}
		switch f.Key {
		case "name":
			c.Name = text
		case "kind":
			c.Kind = text
		case "filesystem":
			c.Filesystem = text
		case "tier":
			c.Tier = text
		case "quota":
			c.Quota = text
		case "used":
			c.Used = text
		case "date":
			c.Day = text
		}
	}
}

// holderRule reads whose storage it is that listings show under some names.
func (l *configLoader) holderRule(n *yaml.Node, path string) rates.HolderRule {
	r := rates.HolderRule{Line: n.Line}
	for _, f := range l.Fields(n, path, "name", "filesystem", "group", "ignore", "from", "until") {
		at := path + "." + f.Key
		if f.Key == "name" || f.Key == "filesystem" {
			for _, item := range l.OneOrMany(f.Value, at) {
				text, ok := l.Text(item, at)
				switch {
				case !ok:
				case f.Key == "name":
					r.Names = append(r.Names, text)
				default:
					r.Filesystems = append(r.Filesystems, text)
				}
			}
			continue
		}
		text, ok := l.Text(f.Value, at)
		switch {
		case !ok:
		case f.Key == "group":
			r.Group = text
		case f.Key == "ignore":
			r.Ignore = text
		default:
			day, err := rates.ParseDate(text)
			l.check(f.Value, at, err, "the first day, or the first on which it no longer holds")
			if f.Key == "from" {
				r.From = day
			} else {
				r.Until = day
			}
		}
	}
	switch {
	case (r.Group == "") == (r.Ignore == ""):
		l.Fault(n, path, "needs either a group or ignore", "write  {name: chem_lab, group: chem}  or  {name: root, ignore: the system's own}")
	case len(r.Names) == 0 && len(r.Filesystems) == 0:
		l.Fault(n, path+".name", "is missing", `name whom the listing shows, "chem_*", or write  name: "*"`)
	case !r.From.IsZero() && !r.Until.IsZero() && !r.From.Before(r.Until):
		l.Fault(n, path, fmt.Sprintf("holds from %s until %s, which is no day", r.From, r.Until), "until is the first day on which it no longer holds")
	}
	return r
}
