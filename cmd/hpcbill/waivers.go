package main

import (
	"errors"
	"fmt"

	"hpcbill/rates"
	"hpcbill/rates/nearest"
)

// readOutages reads the file that outages: names.
func (in *inputs) readOutages(read func(string) ([]byte, error)) error {
	name := in.config.OutagesFile
	if name == "" {
		return nil
	}
	text, err := in.take(read, name)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", name, plain(err)), "the windows of outages are named under outages: in " + configFile}
	}
	in.outages, err = rates.LoadOutages(name, text, in.zone())
	return err
}

// readWaivers reads the file that waivers: names.
func (in *inputs) readWaivers(read func(string) ([]byte, error)) error {
	name := in.config.WaiversFile
	if name == "" {
		return nil
	}
	text, err := in.take(read, name)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", name, plain(err)), "the jobs that are waived are named under waivers: in " + configFile}
	}
	in.waivers, err = rates.ReadWaivers(name, text, in.zone())
	return err
}

// checkOutages finds outages of clusters, groups and classes that there are
// not: they would waive nothing, or, behind a !, too much.
func (in *inputs) checkOutages() error {
	if in.outages == nil {
		return nil
	}
	var errs []error
	known := in.namesKnown()
	clusters := in.clusterNames()
	for _, o := range in.outages.All {
		for _, asked := range []struct {
			field string
			text  rates.TextField
			names []string
		}{
			{"cluster", rates.Cluster, clusters},
			{"group", rates.GroupID, known["group"]},
			{"class", rates.Class, known["class"]},
		} {
			for _, pattern := range o.Match.Patterns(asked.text) {
				if !anyMatches(pattern, asked.names) {
					errs = append(errs, rates.Fault{File: in.outages.File, Line: o.Line, Field: o.Name + ".match." + asked.field,
						Message: fmt.Sprintf("there is no %s %q", asked.field, pattern), Remedy: nearest.Remedy(pattern, asked.names)})
				}
			}
		}
	}
	return errors.Join(errs...)
}

func (in *inputs) clusterNames() []string {
	var names []string
	for _, c := range in.config.Clusters {
		names = append(names, c.Name)
	}
	return names
}

// checkWaivers finds rows of clusters that there are not, and of months that
// the site does not bill.
func (in *inputs) checkWaivers() error {
	if in.waivers == nil {
		return nil
	}
	var errs []error
	clusters, first := in.clusterNames(), in.config.FirstPeriod.String()
	for _, w := range in.waivers.All {
		if !in.config.knows(w.Cluster) {
			errs = append(errs, rates.Fault{File: in.waivers.File, Line: w.Line, Field: "cluster",
				Message: fmt.Sprintf("cluster %q is not under clusters: in %s", w.Cluster, configFile), Remedy: nearest.Remedy(w.Cluster, clusters)})
		}
		if w.Period != "" && w.Period < first {
			errs = append(errs, rates.Fault{File: in.waivers.File, Line: w.Line, Field: "period",
				Message: fmt.Sprintf("%s is before first_period %s", w.Period, first), Remedy: "this site bills nothing of that month"})
		}
	}
	return errors.Join(errs...)
}
