package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"hpcbill/rates"
)

func (a *app) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "read the whole configuration and print every fault",
		Long: `Reads hpcbill.yaml, the roster, the rate cards, the storage quotas and whatever
else they name, and prints every fault with its file, line and remedy. A version
of a card that billed an issued month and was edited since is a fault, with the
months that it billed; so is an adjustment, an outage or a waiver that an issued
month should have had. Waivers that meet no job are pointed out. Writes nothing.

Exit codes: 0 no fault · 2 configuration · 3 the quotas have faults.`,
		Example: "  hpcbill check",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			in, err := readInputs(readSiteFile(a.siteDir))
			if err == nil {
				err = errors.Join(a.checkFunds(c.Context(), in), a.checkMissed(c.Context(), in), a.checkEdited(c.Context(), in))
			}
			var idle []idleWaiver
			if err == nil {
				idle, err = a.checkWaivingOf(c.Context(), in)
			}
			if err != nil {
				return err
			}
			a.printWarnings(in)
			a.printUnread(in)
			a.printIdleWaivers(in, idle, func(*idleWaiver) bool { return true })
			return a.printSite(in)
		},
	}
}

// printWarnings says what the files allow and a person may not have meant: a
// gap between versions, a meter that nothing charges, a class without a price.
func (a *app) printWarnings(in *inputs) {
	var known rates.Known
	for _, g := range in.roster.Groups {
		known.Classes, known.Groups = append(known.Classes, g.Class), append(known.Groups, g.ID)
	}
	slices.Sort(known.Classes)
	known.Classes = slices.Compact(known.Classes)
	for _, name := range slices.Sorted(maps.Keys(in.cards)) {
		known.Clusters = nil
		for _, cl := range in.config.Clusters {
			if cl.Card == name {
				known.Clusters = append(known.Clusters, cl.Name)
			}
		}
		card := in.cards[name]
		a.printMeant(slices.Concat(card.Warnings, card.UnpricedClasses(known.Classes), card.Strangers(known)))
	}
	a.printMeant(in.meantOtherwise())
}

func (a *app) printMeant(warnings []rates.Fault) {
	for _, w := range warnings {
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s\n", oneLine(w.Error()))
		if w.Remedy != "" {
			fmt.Fprintf(a.stderr, "hpcbill: hint: %s\n", oneLine(w.Remedy))
		}
	}
}

// printSite says what the configuration amounts to, so that a person sees
// that it is what was meant.
func (a *app) printSite(in *inputs) error {
	c := in.config
	fmt.Fprintf(a.stdout, "%s: bills in %s, months of %s from %s on\n", c.Organisation.Name, c.Currency.Code, c.Zone, c.FirstPeriod)
	for _, cl := range c.Clusters {
		card := in.cards[cl.Card]
		rules := 0
		for _, v := range card.Versions {
			rules += len(v.Rules)
		}
		fmt.Fprintf(a.stdout, "cluster %s: card %s, %s, %s\n", cl.Name, card.Name,
			count(int64(len(card.Versions)), "version"), count(int64(rules), "rule"))
	}
	mappings := 0
	for _, g := range in.roster.Groups {
		mappings += len(g.Mappings)
	}
	fmt.Fprintf(a.stdout, "%s: %s, %s\n", c.RosterFile, count(int64(len(in.roster.Groups)), "group"), count(int64(mappings), "mapping"))
	a.printStorageSite(in)
	if c.AdjustmentsFile != "" {
		fmt.Fprintf(a.stdout, "%s: %s\n", c.AdjustmentsFile, count(int64(len(in.adjustments)), "adjustment"))
	}
	if c.ReductionsFile != "" {
		fmt.Fprintf(a.stdout, "%s: %s\n", c.ReductionsFile, count(int64(len(in.reductions.Scopes())), "rule"))
	}
	if c.OutagesFile != "" {
		fmt.Fprintf(a.stdout, "%s: %s\n", c.OutagesFile, count(int64(len(in.outages.All)), "outage"))
	}
	if c.WaiversFile != "" {
		fmt.Fprintf(a.stdout, "%s: %s\n", c.WaiversFile, count(int64(len(in.waivers.All)), "waiver"))
	}
	for _, s := range c.Sources {
		if s.Command != nil {
			fmt.Fprintf(a.stdout, "source %s: %s, asked in runs of at most %s\n", s.series(), shellLine(s.Command), s.TimeLimit)
			continue
		}
		paths, err := filepath.Glob(filepath.Join(a.siteDir, filepath.FromSlash(s.Files)))
		if err != nil {
			return usageError{fmt.Errorf("%s:%d: sources: %q is not a pattern", configFile, s.Line, s.Files), ""}
		}
		fmt.Fprintf(a.stdout, "source %s: %s\n", s.Files, count(int64(len(paths)), "dump"))
	}
	_, err := fmt.Fprintln(a.stdout, "no faults")
	return err
}
