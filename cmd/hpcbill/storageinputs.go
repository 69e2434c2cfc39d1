package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/nearest"
)

// storageInputs are what is known of storage, before it is cut to a period.
type storageInputs struct {
	files    []*ingest.StorageFile
	listings []*ingest.Listing
	kinds    map[string]string // of the texts that were read for it: "storage", "listing"
	all      ingest.Storage    // of all days
}

// The kinds of the texts of storage.
const (
	storageText = "storage"
	listingText = "listing"
)

// readStorage reads storage.csv and the files of every source.
func (in *inputs) readStorage(site siteTexts) error {
	in.storage.kinds = map[string]string{}
	var errs []error
	if name := in.config.StorageFile; name != "" {
		text, err := in.take(site.read, name)
		if err != nil {
			return usageError{fmt.Errorf("%s: %w", name, plain(err)), "the quotas are named under storage.file: in " + configFile}
		}
		errs = append(errs, in.takeStorage(name, text, nil))
	}
	for i := range in.config.StorageSources {
		src := &in.config.StorageSources[i]
		names, err := site.match(src.Files)
		if err != nil {
			errs = append(errs, usageError{fmt.Errorf("%s:%d: storage.sources[%d].files: %w", configFile, src.Line, i, err),
				"a listing that is missing is storage that nobody is billed for: put it there or correct the pattern"})
		}
		for _, name := range names {
			text, err := in.takeOnce(site.read, name)
			if err != nil {
				errs = append(errs, inputError{fmt.Errorf("%s: %w", name, plain(err)), ""})
				continue
			}
			errs = append(errs, in.takeStorage(name, text, src.Layout))
		}
	}
	return errors.Join(errs...)
}

// takeStorage reads one file; layout is nil of one like storage.csv.
func (in *inputs) takeStorage(name string, text []byte, layout *ingest.Layout) error {
	if layout == nil {
		in.storage.kinds[name] = storageText
		f, err := ingest.ReadStorage(name, bytes.NewReader(text))
		if err == nil {
			in.storage.files = append(in.storage.files, f)
		}
		return err
	}
	in.storage.kinds[name] = listingText
	l, err := ingest.ReadListing(name, bytes.NewReader(text), layout)
	if err == nil {
		in.storage.listings = append(in.storage.listings, l)
	}
	return err
}

// takeOnce is take of a text that may have been taken for another source.
func (in *inputs) takeOnce(read func(string) ([]byte, error), name string) ([]byte, error) {
	if i := slices.IndexFunc(in.texts, func(t inputText) bool { return t.name == name }); i >= 0 {
		return in.texts[i].text, nil
	}
	return in.take(read, name)
}

// joinStorage makes holdings of all that was read, once the roster is there.
func (in *inputs) joinStorage() (err error) {
	in.storage.all, err = ingest.HoldingsOf(in.storage.files, in.storage.listings, in.assignHolder)
	return err
}

// storageOf is the storage of a period: what its own listings say, and the
// last before it. files are those that it depends on.
func (in *inputs) storageOf(p rates.Period) (s ingest.Storage, files map[string]bool, err error) {
	if len(in.storage.listings) == 0 {
		return in.storage.all, nil, nil
	}
	from, until := daysOfPeriod(p)
	listings := ingest.RelevantListings(in.storage.listings, from, until)
	files = map[string]bool{}
	for _, l := range listings {
		files[l.File] = true
	}
	s, err = ingest.HoldingsOf(in.storage.files, listings, in.assignHolder)
	return s, files, err
}

// daysOfPeriod are the days of a month, half-open.
func daysOfPeriod(p rates.Period) (from, until ingest.Date) {
	zone := p.Start.Location()
	return ingest.Date(rates.DateOf(p.Start, zone)), ingest.Date(rates.DateOf(p.End, zone))
}

// assignHolder gives whose storage it is that a source lists.
func (in *inputs) assignHolder(source, filesystem, kind, name string) []ingest.Assignment {
	i := slices.IndexFunc(in.config.StorageSources, func(s storageSourceConfig) bool { return s.Layout != nil && s.Layout.Source == source })
	spans := rates.HolderSpans(in.config.StorageSources[i].Groups, in.roster, kind, name, filesystem)
	assignments := make([]ingest.Assignment, len(spans))
	for n, s := range spans {
		assignments[n] = ingest.Assignment{From: ingest.Date(s.From), Group: s.Group, Ignored: s.Ignore}
	}
	return assignments
}

// checkStorageGroups finds quotas of groups that do not exist, and rules that
// lead to none.
func (in *inputs) checkStorageGroups(known []string) error {
	var faults []error
	for _, h := range in.storage.all.Holdings {
		if h.Listed || in.roster.Group(h.Group) != nil {
			continue
		}
		faults = append(faults, &ingest.Error{
			File: h.Source.File, Line: h.Source.Line, Field: "group",
			Cause:  fmt.Errorf("group %q is not in %s", h.Group, in.config.RosterFile),
			Remedy: nearest.Remedy(h.Group, known),
		})
	}
	for i, src := range in.config.StorageSources {
		for n, r := range src.Groups {
			if r.Group != "" && in.roster.Group(r.Group) == nil {
				faults = append(faults, rates.Fault{File: configFile, Line: r.Line, Field: fmt.Sprintf("storage.sources[%d].groups[%d].group", i, n),
					Message: fmt.Sprintf("group %q is not in %s", r.Group, in.config.RosterFile), Remedy: nearest.Remedy(r.Group, known)})
			}
		}
	}
	return errors.Join(faults...)
}
