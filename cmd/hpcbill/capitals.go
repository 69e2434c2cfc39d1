package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hpcbill/rates"
)

// capitalAccount is a mapping by an account with capital letters. Slurm keeps
// accounts in lower case, and so does ingest: no job has it.
type capitalAccount struct {
	group   *rates.Group
	mapping *rates.Mapping
	meant   string       // the account as Slurm writes it
	has     *rates.Group // whom that one reaches; nil = nobody
	by      *rates.Mapping
}

// capitalAccounts finds the mappings by accounts with capital letters, but for
// those beside which the group has the account as Slurm writes it.
func (in *inputs) capitalAccounts() []capitalAccount {
	first := rates.DateOf(in.config.FirstPeriod.Start, in.zone())
	var all []capitalAccount
	for _, g := range in.roster.Groups {
		for _, m := range g.Mappings {
			meant := strings.ToLower(m.Account)
			if meant == m.Account {
				continue
			}
			day := m.From
			if day.Before(first) {
				day = first
			}
			job := m.Attributes()
			job.Account = meant
			has, by, err := in.roster.Attribute(job, day)
			if err != nil {
				has, by = nil, nil
			}
			if has != g {
				all = append(all, capitalAccount{g, m, meant, has, by})
			}
		}
	}
	return all
}

func (c *capitalAccount) fault(file, message string) rates.Fault {
	return rates.Fault{File: file, Line: c.mapping.Line, Column: c.mapping.Column, Field: "jobs.account", Message: message,
		Remedy: fmt.Sprintf("write %s: Slurm keeps the names of accounts in lower case", c.meant)}
}

// checkCapitals refuses accounts with capital letters where jobs go by another
// rule than the one that was meant: a group of the roster would be billed for
// another one, a rule of a card would not hold.
func (in *inputs) checkCapitals() error {
	var errs []error
	for _, c := range in.capitalAccounts() {
		if c.has != nil {
			errs = append(errs, c.fault(in.roster.File, fmt.Sprintf("no job has the account %s, and those of %s reach group %s by line %d",
				c.mapping.Account, c.meant, c.has.ID, c.by.Line)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in.cards)) {
		for _, f := range in.cards[name].Capitals {
			errs = append(errs, f)
		}
	}
	return errors.Join(errs...)
}

// meantAccounts warns of accounts with capital letters that reach nobody: what
// was meant by them is held.
func (in *inputs) meantAccounts() []rates.Fault {
	var all []rates.Fault
	for _, c := range in.capitalAccounts() {
		if c.has == nil {
			all = append(all, c.fault(in.roster.File, fmt.Sprintf("no job has the account %s, and those of %s are held", c.mapping.Account, c.meant)))
		}
	}
	return all
}
