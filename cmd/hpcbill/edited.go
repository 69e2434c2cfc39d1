package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hpcbill/invoice/history"
	"hpcbill/rates"
)

// checkEdited finds versions of cards that billed an issued period and say
// something else today: such a version is never edited, a new one is added.
func (a *app) checkEdited(ctx context.Context, in *inputs) (err error) {
	db, err := a.openHistory()
	var none usageError
	if errors.As(err, &none) {
		return nil // nothing was issued yet
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	periods, err := db.Periods(ctx)
	if err != nil {
		return err
	}
	edited := editedVersions{periods: map[string][]string{}}
	for _, p := range periods {
		if p.State != history.Issued {
			continue
		}
		recorded, err := db.Evidence(ctx, p.Period)
		if err != nil {
			return err
		}
		before, err := recordedInputs(recorded)
		if err != nil {
			return fmt.Errorf("%s: what the history recorded: %w", p.Period, err)
		}
		month, err := rates.ParsePeriod(p.Period, before.zone())
		if err != nil {
			return err
		}
		edited.compare(before, in, month)
	}
	return edited.err()
}

// editedVersions are places in cards of today, each with the issued periods
// that an edit there would change.
type editedVersions struct {
	order   []rates.Fault
	periods map[string][]string // by the fault's text
}

// compare holds the cards of each cluster and file system of an issued period
// against today's.
func (e *editedVersions) compare(before, today *inputs, month rates.Period) {
	for _, c := range before.config.Clusters {
		i := slices.IndexFunc(today.config.Clusters, func(d clusterConfig) bool { return d.Name == c.Name })
		if i >= 0 {
			e.compareCards(before.cards[c.Card], today.cards[today.config.Clusters[i].Card], month)
		}
	}
	for _, c := range before.config.StorageCards {
		i := slices.IndexFunc(today.config.StorageCards, func(d storageCardConfig) bool { return d.Filesystem == c.Filesystem })
		if i >= 0 {
			e.compareCards(before.cards[c.Card], today.cards[today.config.StorageCards[i].Card], month)
		}
	}
}

func (e *editedVersions) compareCards(before, today *rates.Card, month rates.Period) {
	if before.Digest == today.Digest || before.Name != today.Name {
		return // unchanged, or another card on purpose: verify uses the recorded one
	}
	old, now := before.Spans(month), today.Spans(month)
	for i, span := range now {
		if i < len(old) && old[i].From == span.From && old[i].Until == span.Until && old[i].Version.Digest == span.Version.Digest {
			continue
		}
		e.add(rates.Fault{File: today.File, Line: span.Version.Line, Column: span.Version.Column, Field: "versions",
			Message: fmt.Sprintf("the version of %s is not the one that billed", span.Version.From)}, month)
	}
	if len(old) > len(now) {
		e.add(rates.Fault{File: today.File, Field: "versions", Message: "a version is missing that billed"}, month)
	}
}

func (e *editedVersions) add(f rates.Fault, month rates.Period) {
	key := f.Error()
	if e.periods[key] == nil {
		e.order = append(e.order, f)
	}
	if !slices.Contains(e.periods[key], month.String()) {
		e.periods[key] = append(e.periods[key], month.String())
	}
}

func (e *editedVersions) err() error {
	var errs []error
	for _, f := range e.order {
		periods := strings.Join(e.periods[f.Error()], ", ")
		f.Message += " " + periods
		f.Remedy = "put back what it said and add a version from a later day; the card as it billed stands in the history"
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}
