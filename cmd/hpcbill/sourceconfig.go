package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hpcbill/ingest"

	"go.yaml.in/yaml/v3"
)

// sourceConfig is where records come from: files that are there, or a command
// that asks Slurm for them.
type sourceConfig struct {
	Files     string // a glob below the site; "" = a command
	Cluster   string // of dumps without a Cluster column; the one that a command is asked for
	Zone      *time.Location
	Delimiter string
	Columns   []string // of files without a header; what a command is asked to print, nil = sacctColumns
	Line      int

	Command      []string      // the program and its first arguments
	LookBackDays int           // how many days before today are asked for again
	TimeLimit    time.Duration // of one run of the command
	Since        time.Time     // midnight of the first day to ask for; zero = when the site began to bill
}

// What a command source does where nothing else is said. Slurm's records of a
// day arrive while its daemons were apart, and of jobs that were still
// completing, days later.
const (
	defaultLookBackDays = 7
	mostLookBackDays    = 366
	defaultTimeLimit    = 10 * time.Minute
)

// Keys that only make sense with one of the two kinds of source.
var (
	filesKeys   = []string{"delimiter", "layout"}
	commandKeys = []string{"columns", "look_back", "time_limit", "since"}
)

func (l *configLoader) source(n *yaml.Node, path string) {
	s := sourceConfig{Zone: time.UTC, Line: n.Line, LookBackDays: defaultLookBackDays, TimeLimit: defaultTimeLimit}
	values := map[string]*yaml.Node{}
	for _, f := range l.Fields(n, path, slices.Concat([]string{"files", "command", "cluster", "timezone"}, filesKeys, commandKeys)...) {
		values[f.Key] = f.Value
	}
	// since is read in the zone, so that comes first.
	for _, key := range slices.Concat([]string{"timezone", "files", "command", "cluster"}, filesKeys, commandKeys) {
		if value := values[key]; value != nil {
			l.sourceKey(&s, key, value, path+"."+key)
		}
	}
	l.checkSource(&s, n, path, values)
	l.Sources = append(l.Sources, s)
}

func (l *configLoader) sourceKey(s *sourceConfig, key string, n *yaml.Node, at string) {
	switch key {
	case "timezone":
		s.Zone = l.zone(n, at)
	case "files":
		s.Files, _ = l.Text(n, at)
	case "command":
		l.command(s, n, at)
	case "cluster":
		s.Cluster, _ = l.Text(n, at)
		if s.Cluster != "" && !l.knows(s.Cluster) {
			l.Fault(n, at, fmt.Sprintf("cluster %q is not under clusters:", s.Cluster), "")
		}
	case "delimiter":
		s.Delimiter, _ = l.Text(n, at)
	case "layout":
		for _, item := range l.OneOrMany(n, at) {
			column, _ := l.Text(item, at)
			s.Columns = append(s.Columns, column)
		}
	case "columns":
		l.askedColumns(s, n, at)
	case "look_back":
		text, _ := l.Text(n, at)
		days, err := strconv.Atoi(text)
		if err != nil || days < 0 || days > mostLookBackDays {
			l.Fault(n, at, fmt.Sprintf("%q is no number of days from 0 to %d", text, mostLookBackDays), "the days before today that are asked for again, such as 7")
		}
		s.LookBackDays = days
	case "time_limit":
		text, _ := l.Text(n, at)
		limit, err := time.ParseDuration(text)
		if err != nil || limit <= 0 {
			l.Fault(n, at, fmt.Sprintf("%q is no length of time", text), "how long one run of the command may take, such as 10m or 90s")
		}
		s.TimeLimit = limit
	case "since":
		text, _ := l.Text(n, at)
		day, err := time.ParseInLocation(time.DateOnly, text, s.Zone)
		if err != nil {
			l.Fault(n, at, fmt.Sprintf("%q is no day", text), "the first day to ask for, such as 2026-01-01")
		}
		s.Since = day
	}
}

// command reads the program and its arguments: a list, since no shell is there
// to take a line apart.
func (l *configLoader) command(s *sourceConfig, n *yaml.Node, at string) {
	const remedy = "write a list, [ssh, login1, sacct]: no shell takes a line apart"
	for _, item := range l.OneOrMany(n, at) {
		if word, ok := l.Text(item, at); ok {
			s.Command = append(s.Command, word)
		}
	}
	switch {
	case len(s.Command) == 0 && n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		l.Fault(n, at, "names no program", remedy)
	case len(s.Command) > 0 && n.Kind == yaml.ScalarNode && strings.ContainsAny(s.Command[0], " \t\n"):
		l.Fault(n, at, fmt.Sprintf("%q is a line of words", s.Command[0]), remedy)
	}
}

// askedColumns reads the columns that a command is asked for: sacct's own, and
// all that a bill needs among them.
func (l *configLoader) askedColumns(s *sourceConfig, n *yaml.Node, at string) {
	if s.Command == nil { // which is a fault by itself
		return
	}
	for _, item := range l.OneOrMany(n, at) {
		column, ok := l.Text(item, at)
		switch {
		case !ok:
		case strings.ContainsAny(column, ", %"):
			l.Fault(item, at, fmt.Sprintf("%q is not one column", column), "write a list, [Cluster, JobIDRaw, …]; a width is not needed")
			return
		case slices.ContainsFunc(s.Columns, func(c string) bool { return strings.EqualFold(c, column) }):
			l.Fault(item, at, fmt.Sprintf("%q is listed twice", column), "")
		default:
			s.Columns = append(s.Columns, column)
		}
	}
	if len(s.Columns) == 0 {
		l.Fault(n, at, "names no column", "leave it out to ask for those that hpcbill help sacct lists")
		return
	}
	if err := ingest.CheckColumns(s.Columns); err != nil {
		l.Fault(n, at, err.Error(), "sacct --helpformat lists the columns of your Slurm; hpcbill help sacct those that are asked for otherwise")
	}
}

// checkSource finds what one key alone cannot show.
func (l *configLoader) checkSource(s *sourceConfig, n *yaml.Node, path string, values map[string]*yaml.Node) {
	wrong, kind := commandKeys, "files"
	switch {
	case values["files"] == nil && values["command"] == nil:
		l.Fault(n, path+".files", "is missing", "name the dumps with a pattern such as dumps/h2p/*.txt.gz, or a command: [sacct]")
		return
	case values["files"] != nil && values["command"] != nil:
		l.Fault(values["command"], path+".command", "stands beside files", "make two sources of them")
		return
	case values["command"] != nil:
		wrong, kind = filesKeys, "a command"
		if s.Cluster == "" {
			l.Fault(n, path+".cluster", "is missing", "name the cluster: sacct is asked for its jobs alone")
		}
		same := func(o sourceConfig) bool { return s.Cluster != "" && o.Command != nil && o.Cluster == s.Cluster }
		if i := slices.IndexFunc(l.Sources, same); i >= 0 {
			l.Fault(n, path+".cluster", fmt.Sprintf("cluster %q has a command already, on line %d", s.Cluster, l.Sources[i].Line), "keep one of the two")
		}
	}
	for _, key := range wrong {
		if values[key] != nil {
			l.Fault(values[key], path+"."+key, "does not go with "+kind, "remove it; hpcbill help sacct says what a command is asked")
		}
	}
}
