package main

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a site without a zone database bills the same

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rates/yamldoc"

	"github.com/robfig/cron/v3"
	"go.yaml.in/yaml/v3"
)

// configFile is the name of a site's configuration.
const configFile = "hpcbill.yaml"

// config is hpcbill.yaml: the organisation, where things are and what the
// invoices look like.
type config struct {
	Organisation invoice.Party
	Currency     money.Currency
	Zone         *time.Location
	FirstPeriod  rates.Period // the first month that this program bills
	RosterFile   string

	Clusters        []clusterConfig // sorted by name
	Sources         []sourceConfig
	StorageFile     string
	AdjustmentsFile string // "" = none
	ReductionsFile  string // likewise
	OutagesFile     string // likewise
	WaiversFile     string // likewise
	StorageSources  []storageSourceConfig
	StorageCards    []storageCardConfig

	Invoice  invoiceConfig
	Schedule string // a cron line of five fields; "" = none
}

// clusterConfig names the card of a cluster.
type clusterConfig struct {
	Name string
	Card string // a shipped card's name or a file below the site
	Line int
}

// storageCardConfig names the card of the file systems that a glob matches;
// the first that matches holds.
type storageCardConfig struct {
	Filesystem string
	Card       string
	Line       int
}

// invoiceConfig is how invoices are numbered and rounded.
type invoiceConfig struct {
	Series          string
	FiscalYearStart int // the month, 1 to 12
	Rounding        money.Mode
	IssueOnRun      bool // `run` issues what it bills
	Overhead        []invoice.OverheadRule
	Tax             []invoice.TaxRule
}

var seriesForm = regexp.MustCompile(`^[A-Z][A-Z0-9]{0,11}$`)

// loadConfig reads hpcbill.yaml. The error is every fault of the file.
func loadConfig(file string, text []byte) (*config, error) {
	l := &configLoader{
		File: &yamldoc.File{Name: file},
		config: &config{
			RosterFile: "groups.yaml",
			Invoice:    invoiceConfig{Series: "HPC", FiscalYearStart: 1, Rounding: money.HalfUp},
		},
	}
	if root := l.Parse(text); root != nil {
		l.load(root)
	}
	if len(l.Faults) > 0 {
		sort.SliceStable(l.Faults, func(i, j int) bool { return l.Faults[i].Line < l.Faults[j].Line })
		return nil, l.Faults
	}
	return l.config, nil
}

type configLoader struct {
	*yamldoc.File
	*config
}

var configKeys = []string{"organisation", "currency", "timezone", "first_period", "roster", "clusters", "sources", "storage", "adjustments", "reductions", "outages", "waivers", "invoice", "schedule"}

// load reads the keys whose meaning others need first: periods and sources
// are read in the site's zone.
func (l *configLoader) load(root *yaml.Node) {
	values := map[string]*yaml.Node{}
	for _, f := range l.Fields(root, "", configKeys...) {
		values[f.Key] = f.Value
	}
	for _, needed := range []string{"organisation", "currency", "timezone", "first_period", "clusters"} {
		if values[needed] == nil {
			l.Fault(root, needed, "is missing", "hpcbill init writes a site with every key that is needed")
		}
	}
	l.Zone = time.UTC
	for _, key := range []string{"timezone", "organisation", "currency", "first_period", "roster", "clusters", "sources", "storage", "adjustments", "reductions", "outages", "waivers", "invoice", "schedule"} {
		if n := values[key]; n != nil {
			l.key(key, n)
		}
	}
}

func (l *configLoader) key(key string, n *yaml.Node) {
	switch key {
	case "timezone":
		l.Zone = l.zone(n, key)
	case "organisation":
		l.organisation(n)
	case "currency":
		if text, ok := l.Text(n, key); ok {
			c, err := money.ParseCurrency(text)
			l.check(n, key, err, "")
			l.Currency = c
		}
	case "first_period":
		if text, ok := l.Text(n, key); ok {
			p, err := rates.ParsePeriod(text, l.Zone)
			l.check(n, key, err, "the first month that this site bills, such as 2026-01")
			l.FirstPeriod = p
		}
	case "roster":
		l.RosterFile, _ = l.Text(n, key)
	case "adjustments":
		l.AdjustmentsFile, _ = l.Text(n, key)
	case "reductions":
		l.ReductionsFile, _ = l.Text(n, key)
	case "outages":
		l.OutagesFile, _ = l.Text(n, key)
	case "waivers":
		l.WaiversFile, _ = l.Text(n, key)
	case "clusters":
		l.clusters(n)
	case "sources":
		for i, item := range l.Items(n, key) {
			l.source(item, fmt.Sprintf("sources[%d]", i))
		}
	case "storage":
		l.storage(n)
	case "invoice":
		l.invoice(n)
	case "schedule":
		l.schedule(n)
	}
}

func (l *configLoader) check(n *yaml.Node, path string, err error, remedy string) {
	if err != nil {
		l.Fault(n, path, err.Error(), remedy)
	}
}

func (l *configLoader) zone(n *yaml.Node, path string) *time.Location {
	text, ok := l.Text(n, path)
	if !ok {
		return time.UTC
	}
	zone, err := time.LoadLocation(text)
	if err != nil || text == "Local" {
		l.Fault(n, path, fmt.Sprintf("unknown time zone %q", text), "write a name of the IANA database, such as America/New_York or UTC")
		return time.UTC
	}
	return zone
}

func (l *configLoader) organisation(n *yaml.Node) {
	for _, f := range l.Fields(n, "organisation", "name", "address", "email", "tax_id", "footer") {
		text, _ := l.Text(f.Value, "organisation."+f.Key)
		text = strings.TrimRight(text, "\n")
		switch f.Key {
		case "name":
			l.Organisation.Name = text
		case "address":
			l.Organisation.Address = text
		case "email":
			l.Organisation.Email = text
		case "tax_id":
			l.Organisation.TaxID = text
		case "footer":
			l.Organisation.Footer = text
		}
	}
	if l.Organisation.Name == "" {
		l.Fault(n, "organisation.name", "is missing", "an invoice needs to say who sends it")
	}
}

func (l *configLoader) clusters(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		l.Fault(n, "clusters", "is not a mapping", "write  NAME: {card: pitt-crc}")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		path := "clusters." + key.Value
		if first, twice := seen[key.Value]; twice {
			l.Fault(key, path, fmt.Sprintf("is given twice, first on line %d", first), "keep one of the two")
			continue
		}
		seen[key.Value] = key.Line
		c := clusterConfig{Name: key.Value, Line: key.Line}
		for _, f := range l.Fields(value, path, "card") {
			c.Card, _ = l.Text(f.Value, path+".card")
		}
		if c.Card == "" {
			l.Fault(value, path+".card", "is missing", "name a shipped card ("+strings.Join(rates.ShippedNames(), ", ")+") or a file such as rates/mine.yaml")
		}
		l.Clusters = append(l.Clusters, c)
	}
	sort.Slice(l.Clusters, func(i, j int) bool { return l.Clusters[i].Name < l.Clusters[j].Name })
}

// knows reports whether a cluster stands under clusters:.
func (c *config) knows(cluster string) bool {
	return slices.ContainsFunc(c.Clusters, func(known clusterConfig) bool { return known.Name == cluster })
}

func (l *configLoader) invoice(n *yaml.Node) {
	for _, f := range l.Fields(n, "invoice", "series", "fiscal_year_start", "rounding", "issue", "overhead", "tax") {
		at := "invoice." + f.Key
		switch f.Key {
		case "overhead":
			l.overheads(f.Value)
			continue
		case "tax":
			l.taxes(f.Value)
			continue
		}
		text, ok := l.Text(f.Value, at)
		if !ok {
			continue
		}
		switch f.Key {
		case "series":
			if l.Invoice.Series = text; !seriesForm.MatchString(text) {
				l.Fault(f.Value, at, fmt.Sprintf("%q cannot begin an invoice number", text), "use up to 12 capital letters and digits, such as HPC")
			}
		case "fiscal_year_start":
			month, err := strconv.Atoi(text)
			if err != nil || month < 1 || month > 12 {
				l.Fault(f.Value, at, fmt.Sprintf("%q is not a month", text), "write its number, 7 for July")
			}
			l.Invoice.FiscalYearStart = month
		case "rounding":
			mode, err := money.ParseMode(text)
			l.check(f.Value, at, err, "")
			l.Invoice.Rounding = mode
		case "issue":
			l.Invoice.IssueOnRun = text == "automatic"
			if text != "automatic" && text != "manual" {
				l.Fault(f.Value, at, fmt.Sprintf("%q is neither manual nor automatic", text), "manual: a person runs hpcbill issue; automatic: the scheduler does when nothing is held")
			}
		}
	}
}

// schedule is parsed when it is loaded, so that check finds a bad line and
// not the first of the month.
func (l *configLoader) schedule(n *yaml.Node) {
	text, ok := l.Text(n, "schedule")
	if !ok {
		return
	}
	if _, err := parseSchedule(text, l.Zone); err != nil {
		l.Fault(n, "schedule", err.Error(), `write five fields, minute hour day month weekday, such as "0 6 2 * *"; the time zone is the site's`)
	}
	l.Schedule = text
}

// parseSchedule reads a cron line in the zone. A line of its own zone and a
// line that never comes are refused; the first makes the library panic when
// it is cut short.
func parseSchedule(text string, zone *time.Location) (cron.Schedule, error) {
	if strings.Contains(text, "TZ=") {
		return nil, fmt.Errorf("%q names a time zone of its own", text)
	}
	s, err := cron.ParseStandard("CRON_TZ=UTC " + text)
	if err != nil {
		return nil, err
	}
	if s.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, fmt.Errorf("%q never comes", text)
	}
	return wallTimes{s, zone}, nil
}
