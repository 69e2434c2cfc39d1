package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"hpcbill/ingest/jobstore"
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/nearest"
	"hpcbill/rating"
)

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

// checkWaiving finds what is wrong with outages and waivers in the light of
// the jobs and of what is issued, and the waivers that waive nothing.
func (s *site) checkWaiving(ctx context.Context) ([]idleWaiver, error) {
	idle, err := s.checkWaivedJobs(ctx)
	return idle, errors.Join(err, s.checkLateOutages(ctx))
}

// checkWaivingOf is checkWaiving for a site of which nothing is opened. It
// writes nothing: without jobs, or a history, there is nothing to look up.
func (a *app) checkWaivingOf(ctx context.Context, in *inputs) (idle []idleWaiver, err error) {
	if in.outages == nil && in.waivers == nil {
		return nil, nil
	}
	s := &site{dir: a.siteDir, inputs: in}
	if _, err := os.Stat(s.path(jobsDir)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if s.jobs, err = jobstore.Open(s.path(jobsDir)); err != nil {
		return nil, err
	}
	var none usageError
	if s.history, err = a.openHistory(); errors.As(err, &none) {
		s.history = nil
	} else if err != nil {
		return nil, err
	} else {
		defer func() { err = errors.Join(err, s.history.Close()) }()
	}
	return s.checkWaiving(ctx)
}

// printIdleWaivers says which rows waive nothing.
func (a *app) printIdleWaivers(in *inputs, idle []idleWaiver, some func(*idleWaiver) bool) {
	for i := range idle {
		w := &idle[i]
		if !some(w) {
			continue
		}
		fmt.Fprintf(a.stderr, "hpcbill: warning: %s:%d: %s\n", in.waivers.File, w.row.Line, oneLine(w.message))
		if w.hint != "" {
			fmt.Fprintf(a.stderr, "hpcbill: hint: %s\n", oneLine(w.hint))
		}
	}
}

// printIdleOutages says which outages that lie in a period took nothing off its
// bills: perhaps their match is not what was meant.
func (a *app) printIdleOutages(in *inputs, p rates.Period, sum *invoice.Summary) {
	if in.outages == nil {
		return
	}
	for _, o := range in.outages.All {
		within := p.Start.Unix() <= o.From && o.Until <= p.End.Unix() && !p.Start.Before(o.BilledFrom)
		waives := func(c invoice.CauseSum) bool {
			return c.Code == rating.ByOutage && strings.HasPrefix(c.Detail, o.Name+":")
		}
		if within && !slices.ContainsFunc(sum.Causes, waives) {
			fmt.Fprintf(a.stderr, "hpcbill: warning: %s:%d: %s waives nothing of %s\n", in.outages.File, o.Line, o.Name, p)
			fmt.Fprintf(a.stderr, "hpcbill: hint: no job that is charged met it; look at its match, its node_list and its mode\n")
		}
	}
}

// refuseUnmetWaivers keeps a period open while a row that may be of it meets
// no job: whoever wrote it meant one.
func (s *site) refuseUnmetWaivers(ctx context.Context, p rates.Period) error {
	idle, err := s.checkWaiving(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range idle {
		if w := &idle[i]; !w.met && w.concerns(p) {
			errs = append(errs, hinted{fmt.Errorf("%s:%d: %s", s.waivers.File, w.row.Line, w.message), w.hint})
		}
	}
	return errors.Join(errs...)
}
