package main

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/ingest"

	"go.yaml.in/yaml/v3"
)

// layoutChoices says what of, quota and used may be of a layout, and whether
// one must be said: where a listing has several figures, none is the obvious
// one.
type layoutChoices struct {
	of, quota, used []string // nil = any text; empty = none
	needed          []string
	unit            ingest.StorageUnit // in which its sizes are shown
}

func choicesOf(f ingest.ListingFormat) layoutChoices {
	kinds, limits, none := []string{"user", "group", "project"}, []string{"soft", "hard", ingest.NoQuotas}, []string{}
	switch f {
	case ingest.LfsQuota, ingest.XfsReport:
		return layoutChoices{kinds, limits, none, []string{"quota"}, ingest.TiB}
	case ingest.XdmodJSON:
		return layoutChoices{[]string{"user", "pi"}, limits, []string{"logical", "physical"}, []string{"of", "quota", "used"}, ingest.TB}
	case ingest.ZfsGet:
		return layoutChoices{none, nil, nil, nil, ingest.TiB}
	}
	return layoutChoices{nil, []string{ingest.NoQuotas}, none, []string{"columns"}, ingest.TB}
}

// meaning says what a choice decides.
var meaning = map[string]string{
	"of":      "whose quotas count, where the listing has several kinds",
	"quota":   "which of the two limits is what a group has; none takes what is used alone",
	"used":    "which of the two uses counts",
	"columns": "which column of the table is what: {name: 1, filesystem: 2, quota: 3, used: 4}",
}

// checkLayout finds what one key of a source alone cannot show.
func (l *configLoader) checkLayout(s *storageSourceConfig, n *yaml.Node, path string, values map[string]*yaml.Node) {
	format := s.Layout.Format
	choices := choicesOf(format)
	for _, key := range choices.needed {
		if values[key] == nil {
			l.Fault(n, path+"."+key, "is missing", meaning[key])
		}
	}
	for _, choice := range []struct {
		key, text string
		of        []string
	}{{"of", s.Layout.Of, choices.of}, {"quota", s.Layout.Quota, choices.quota}, {"used", s.Layout.Used, choices.used}} {
		switch {
		case choice.text == "" || choice.of == nil || slices.Contains(choice.of, choice.text):
		case len(choice.of) == 0:
			l.Fault(values[choice.key], path+"."+choice.key, "does not go with the layout "+string(format), "remove it")
		default:
			l.Fault(values[choice.key], path+"."+choice.key, fmt.Sprintf("%q is none of %s", choice.text, strings.Join(choice.of, ", ")), meaning[choice.key])
		}
	}
	if s.Layout.Unit == "" {
		s.Layout.Unit = choices.unit
		if c := s.Layout.Columns; strings.Contains(c.Unit, "i") || c.Blocks > 0 {
			s.Layout.Unit = ingest.TiB
		}
	}
	if format == ingest.Table {
		l.checkTable(s, n, path)
		return
	}
	for _, key := range tableKeys {
		if values[key] != nil {
			l.Fault(values[key], path+"."+key, "does not go with the layout "+string(format), "remove it, or declare the columns with  layout: table")
		}
	}
}

func (l *configLoader) checkTable(s *storageSourceConfig, n *yaml.Node, path string) {
	c := &s.Layout.Columns
	switch {
	case c.Name == "":
		l.Fault(n, path+".columns.name", "is missing", "the column that says whose storage a row is")
	case c.Quota == "" && c.Used == "":
		l.Fault(n, path+".columns", "has neither a quota nor a use", "name the column of one of them, or both")
	case c.Filesystem == "" && s.Layout.Filesystem == "":
		l.Fault(n, path+".filesystem", "is missing", "name it, or the column that says it")
	}
	if c.Quota == "" && c.Used != "" {
		s.Layout.Quota = ingest.NoQuotas
	}
}
