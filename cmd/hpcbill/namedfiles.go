package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hpcbill/invoice"
	"hpcbill/rates"
)

// The kinds of the texts that are looked up by their kind.
const (
	outagesKind = "outages"
	waiversKind = "waivers"
)

// namedFile is a file that hpcbill.yaml may name under a key.
type namedFile struct {
	key   string // and the kind of its text in the history
	name  string // "" where none is named
	usual string // what such a file is called
	is    string // what the key names
	load  func(text []byte) error
}

// namedFiles are all of them, in the order in which they are read.
func (in *inputs) namedFiles() []namedFile {
	c := in.config
	return []namedFile{
		{"adjustments", c.AdjustmentsFile, "adjustments.csv", "the charges and credits", func(text []byte) (err error) {
			in.adjustments, err = invoice.ReadAdjustments(c.AdjustmentsFile, text, c.Currency)
			return err
		}},
		{"reductions", c.ReductionsFile, "reductions.yaml", "the discounts, allowances and caps", func(text []byte) (err error) {
			in.reductions, err = rates.LoadReductions(c.ReductionsFile, text)
			return err
		}},
		{outagesKind, c.OutagesFile, "outages.yaml", "the windows of outages", func(text []byte) (err error) {
			in.outages, err = rates.LoadOutages(c.OutagesFile, text, in.zone())
			return err
		}},
		{waiversKind, c.WaiversFile, "waivers.csv", "the jobs that are waived", func(text []byte) (err error) {
			in.waivers, err = rates.ReadWaivers(c.WaiversFile, text, in.zone())
			return err
		}},
	}
}

// readNamed reads those that are named.
func (in *inputs) readNamed(read func(string) ([]byte, error)) error {
	var errs []error
	for _, f := range in.namedFiles() {
		if f.name == "" {
			continue
		}
		text, err := in.take(read, f.name)
		if err != nil {
			err = usageError{fmt.Errorf("%s: %w", f.name, plain(err)), f.is + " are named under " + f.key + ": in " + configFile}
		} else {
			err = f.load(text)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// printUnread says which of these files are there and not read.
func (a *app) printUnread(in *inputs) {
	for _, f := range in.namedFiles() {
		if f.name != "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(a.siteDir, f.usual)); err == nil {
			fmt.Fprintf(a.stderr, "hpcbill: warning: %s is there, and nothing reads it\n", f.usual)
			fmt.Fprintf(a.stderr, "hpcbill: hint: name it in %s under %s:\n", configFile, f.key)
		}
	}
}
