package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hpcbill/ingest/jobstore"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rating"
)

// The places of a site's data, below its directory.
const (
	jobsDir     = "data/jobs"
	chargesDir  = "data/charges"
	historyFile = "data/history.db"
	invoicesDir = "invoices"
)

// site is an opened site directory.
type site struct {
	dir string
	*inputs
	jobs    *jobstore.Store
	history *history.DB

	// known are the ingests of which the history was told last, or those that
	// were there when a reading verb first asked; nil before. What is computed
	// afterwards is known to be made of these: a dump that lands in the
	// meantime may be in it or not, and is looked at again as a late one.
	known []jobstore.Record
}

// openSite reads the inputs and opens the stores for writing. The data
// directory is made when it is not there.
func (a *app) openSite() (*site, error) {
	in, err := readInputs(readSiteFile(a.siteDir))
	if err != nil {
		return nil, err
	}
	return openStores(a.siteDir, in)
}

// withSite opens the site for what do does.
func (a *app) withSite(do func(*site) error) error {
	s, err := a.openSite()
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.close())
}

// withPeriod is withSite for a verb about one month, which is looked at before
// anything is opened or made.
func (a *app) withPeriod(period string, do func(*site, rates.Period) error) error {
	in, err := readInputs(readSiteFile(a.siteDir))
	if err != nil {
		return err
	}
	p, err := in.period(period)
	if err != nil {
		return err
	}
	s, err := openStores(a.siteDir, in)
	if err != nil {
		return err
	}
	return errors.Join(do(s, p), s.close())
}

func openStores(dir string, in *inputs) (*site, error) {
	s := &site{dir: dir, inputs: in}
	if err := os.MkdirAll(s.path(jobsDir), 0o755); err != nil {
		return nil, err
	}
	var err error
	if s.jobs, err = jobstore.Open(s.path(jobsDir)); err != nil {
		return nil, err
	}
	if s.history, err = history.Open(s.path(historyFile)); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *site) close() error { return s.history.Close() }

func (s *site) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// openHistory opens an existing history for reading alone. A site that has
// none is told so in words.
func (a *app) openHistory() (*history.DB, error) {
	db, err := history.OpenReadOnly(filepath.Join(a.siteDir, filepath.FromSlash(historyFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usageError{fmt.Errorf("%s has no history yet", a.siteDir), "hpcbill bill makes one; --site names another directory"}
	}
	return db, err
}

// tariff is what the rating stage needs of the inputs.
func (in *inputs) tariff() rating.Tariff {
	t := rating.Tariff{Zone: in.zone(), Roster: in.roster, Cards: map[string]*rates.Card{}, Outages: in.outages, Waivers: in.waivers}
	for _, c := range in.config.Clusters {
		t.Cards[c.Name] = in.cards[c.Card]
	}
	for _, c := range in.config.StorageCards {
		t.Storage = append(t.Storage, rating.StorageCard{Filesystem: c.Filesystem, Card: in.cards[c.Card]})
	}
	return t
}

// period reads --period in the site's zone and refuses one before the site
// began to bill.
func (in *inputs) period(text string) (rates.Period, error) {
	if text == "" {
		return rates.Period{}, usageError{errors.New("--period is missing"), "name a month, such as --period 2026-03"}
	}
	p, err := rates.ParsePeriod(text, in.zone())
	if err != nil {
		return p, usageError{fmt.Errorf("--period: %w", err), ""}
	}
	if p.Start.Before(in.config.FirstPeriod.Start) {
		return p, usageError{fmt.Errorf("--period: %s is before first_period %s", p, in.config.FirstPeriod), "first_period: in " + configFile + " is the first month that this site bills"}
	}
	return p, nil
}

// earlier are the periods since the site began to bill that must be issued
// before p.
func (in *inputs) earlier(p rates.Period) []string {
	var names []string
	for q := in.config.FirstPeriod; q.Start.Before(p.Start); q = q.Next() {
		names = append(names, q.String())
	}
	return names
}

// actor is who runs the program, for the history.
func (a *app) actor() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if v := a.getenv(name); v != "" {
			return v
		}
	}
	return "unknown"
}

// clock is the time in whole seconds UTC, as the history keeps it.
func (a *app) clock() time.Time { return a.now().UTC().Truncate(time.Second) }

// recordIngests copies the job store's records into the history, where
// auditors query them. The job store commits first, so a crash between the
// two heals at the next run.
func (a *app) recordIngests(ctx context.Context, s *site) error {
	records, err := s.jobs.Ingests()
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := s.history.RecordIngest(ctx, historyIngest(r), a.actor(), programBuild()); err != nil {
			return err
		}
	}
	s.known = records
	return nil
}

// ingests gives the ingests that what is computed is known to be made of. They
// are read once.
func (s *site) ingests() ([]jobstore.Record, error) {
	var err error
	if s.known == nil {
		s.known, err = s.jobs.Ingests()
	}
	return s.known, err
}
