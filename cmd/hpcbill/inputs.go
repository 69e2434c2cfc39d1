package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"hpcbill/invoice"
	"hpcbill/rates"
)

// inputs are the rules of a site: everything but the jobs that decides an
// invoice. They are made from texts alone, so that the texts which history
// recorded years ago make the same inputs again.
type inputs struct {
	config      *config
	roster      *rates.Roster
	cards       map[string]*rates.Card // by the name the configuration uses
	storage     storageInputs
	adjustments []invoice.Adjustment
	reductions  *rates.Reductions // nil = none
	outages     *rates.Outages    // likewise
	waivers     *rates.Waivers    // likewise
	texts       []inputText       // what was read, in a fixed order
	issued      bool              // they are what billed an issued period
}

// inputText is one file that the inputs were read from.
type inputText struct {
	name string // below the site, or "shipped:NAME" for a card of the program
	text []byte
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// shippedPrefix marks the cards that come with the program.
const shippedPrefix = "shipped:"

// siteTexts is where the texts of a site are: on disk, or in the history.
type siteTexts struct {
	read   func(name string) ([]byte, error)
	match  func(pattern string) ([]string, error) // the names that fit, in order
	issued bool                                   // they billed an issued period
}

// readSiteFile reads the files of a site on disk, and the shipped cards.
func readSiteFile(dir string) siteTexts {
	read := func(name string) ([]byte, error) {
		if card, shipped := strings.CutPrefix(name, shippedPrefix); shipped {
			text, ok := rates.Shipped(card)
			if !ok {
				return nil, fmt.Errorf("no card named %q comes with the program", card)
			}
			return text, nil
		}
		return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	}
	match := func(pattern string) ([]string, error) {
		paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, fmt.Errorf("%q is not a pattern", pattern)
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("no file matches %s", pattern)
		}
		sort.Strings(paths)
		names := make([]string, len(paths))
		for i, p := range paths {
			if names[i], err = filepath.Rel(dir, p); err != nil {
				return nil, err
			}
			names[i] = filepath.ToSlash(names[i])
		}
		return names, nil
	}
	return siteTexts{read: read, match: match}
}

// readInputs reads hpcbill.yaml and all that it names. The error joins every
// fault of every file: nothing is checked half. What billed an issued period
// passed the checks of its day, and is not held to those that came later: they
// would stand between an auditor and the invoice.
func readInputs(site siteTexts) (*inputs, error) {
	in := &inputs{cards: map[string]*rates.Card{}, issued: site.issued}
	read := site.read
	text, err := in.take(read, configFile)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s: %w", configFile, plain(err)), "hpcbill init writes a site; --site names another directory"}
	}
	if in.config, err = loadConfig(configFile, text); err != nil {
		return nil, err
	}
	err = errors.Join(in.readRoster(read), in.readCards(read), in.readStorage(site), in.readNamed(read))
	if err != nil {
		return nil, err
	}
	if err := in.joinStorage(); err != nil {
		return nil, err
	}
	if !site.issued {
		if err := in.crossCheck(); err != nil {
			return nil, err
		}
	}
	return in, nil
}

func (in *inputs) take(read func(string) ([]byte, error), name string) ([]byte, error) {
	text, err := read(name)
	if err != nil {
		return nil, err
	}
	in.texts = append(in.texts, inputText{name, text})
	return text, nil
}

// plain drops the operation and the path that os puts before its cause; the
// message around it names the file.
func plain(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (in *inputs) readRoster(read func(string) ([]byte, error)) error {
	name := in.config.RosterFile
	text, err := in.take(read, name)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", name, plain(err)), "the roster of groups is named under roster: in " + configFile}
	}
	in.roster, err = rates.LoadRoster(name, text)
	return err
}

// readCards reads each card that a cluster or a file system names, once.
func (in *inputs) readCards(read func(string) ([]byte, error)) error {
	var errs []error
	tried := map[string]bool{}
	load := func(card string, line int, field string) {
		if tried[card] {
			return
		}
		tried[card] = true
		name := card
		if !strings.ContainsAny(card, "/.") {
			name = shippedPrefix + card
		}
		text, err := in.take(read, name)
		if err != nil {
			errs = append(errs, rates.Fault{File: configFile, Line: line, Field: field,
				Message: fmt.Sprintf("card %q: %v", card, plain(err)),
				Remedy:  "name a shipped card (" + strings.Join(rates.ShippedNames(), ", ") + ") or a file below the site"})
			return
		}
		c, err := rates.LoadCard(name, text)
		if err != nil {
			errs = append(errs, err)
			return
		}
		in.cards[card] = c
		if c.Currency != in.config.Currency {
			errs = append(errs, rates.Fault{File: configFile, Line: line, Field: field,
				Message: fmt.Sprintf("card %q is in %s, the site in %s", card, c.Currency.Code, in.config.Currency.Code),
				Remedy:  "nothing is converted: one site bills in one currency"})
		}
	}
	for _, c := range in.config.Clusters {
		load(c.Card, c.Line, "clusters."+c.Name+".card")
	}
	for i, c := range in.config.StorageCards {
		load(c.Card, c.Line, fmt.Sprintf("storage.cards[%d].card", i))
	}
	return errors.Join(errs...)
}

// crossCheck finds what each file alone cannot know: a quota of a group that
// does not exist, a split of a meter that no card has.
func (in *inputs) crossCheck() error {
	known := make([]string, 0, len(in.roster.Groups))
	for _, g := range in.roster.Groups {
		known = append(known, g.ID)
	}
	return errors.Join(in.checkStorageGroups(known), in.checkRosterMeters(), in.checkAdjustments(known), in.checkClasses(), in.checkCurrencies(), in.checkReductions(),
		in.checkOutages(), in.checkWaivers(), in.checkCapitals())
}

// checkCurrencies refuses groups that are billed in another currency than the
// cards are in.
func (in *inputs) checkCurrencies() error {
	var errs []error
	for _, g := range in.roster.Groups {
		if site := in.config.Currency.Code; g.Currency != "" && g.Currency != site {
			errs = append(errs, rates.Fault{File: in.roster.File, Line: g.Line, Field: "currency",
				Message: fmt.Sprintf("group %s is billed in %s, the site in %s", g.ID, g.Currency, site),
				Remedy:  "nothing is converted: one site bills in one currency, so give this group a site and cards of its own"})
		}
	}
	return errors.Join(errs...)
}

// settings are the invoice settings.
func (in *inputs) settings() invoice.Settings {
	return invoice.Settings{
		Issuer: in.config.Organisation, Currency: in.config.Currency, Rounding: in.config.Invoice.Rounding,
		Overhead: in.config.Invoice.Overhead, Tax: in.config.Invoice.Tax,
		FiscalYearStart: time.Month(in.config.Invoice.FiscalYearStart),
		Reductions:      in.reductions,
		Issued:          in.issued,
	}
}

// zone is the site's time zone.
func (in *inputs) zone() *time.Location { return in.config.Zone }
