package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"hpcbill/rates"

	"github.com/robfig/cron/v3"
	"github.com/spf13/cobra"
)

func (a *app) scheduleCommand() *cobra.Command {
	var once bool
	c := &cobra.Command{
		Use:   "schedule",
		Short: "run on the configured cron line until stopped",
		Long: `Runs in the foreground. On start and at each tick of the cron line under
schedule: in hpcbill.yaml (in the site's time zone) it ingests the configured
sources and bills every closed month since first_period that is not issued, so
a tick that was missed heals itself and one that comes twice does nothing. With
issue: automatic it also issues what has nothing held. A run that fails is
reported on standard error and tried again at the next tick.`,
		Example: "  hpcbill schedule\n  hpcbill schedule --once      # for a systemd timer",
		Args:    noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if once {
				return a.catchUp(c.Context())
			}
			return a.schedule(c.Context())
		},
	}
	c.Flags().BoolVar(&once, "once", false, "catch up and end")
	return c
}

// schedule runs until ctx ends.
func (a *app) schedule(ctx context.Context) error {
	in, err := readInputs(readSiteFile(a.siteDir))
	if err != nil {
		return err
	}
	if in.config.Schedule == "" {
		return usageError{fmt.Errorf("%s: schedule: is missing", configFile), `write a cron line, such as  schedule: "0 6 2 * *"`}
	}
	times, err := parseSchedule(in.config.Schedule, in.zone())
	if err != nil {
		return err
	}
	tick := func() {
		if err := a.catchUp(ctx); err != nil && !errors.Is(err, context.Canceled) {
			a.report(err)
		}
		fmt.Fprintf(a.stderr, "hpcbill: next run at %s\n", times.Next(a.now()).Format(time.RFC3339))
	}
	log := cronLog{a.stderr}
	// Recover stands inside SkipIfStillRunning: the other way round, one panic
	// would leave the job marked as running for ever.
	chain := cron.NewChain(cron.SkipIfStillRunning(log), cron.Recover(log))
	job := chain.Then(cron.FuncJob(tick))
	job.Run()
	runner := cron.New(cron.WithLocation(in.zone()))
	runner.Schedule(times, job)
	runner.Start()
	<-ctx.Done()
	<-runner.Stop().Done()
	return nil
}

// wallTimes are the times of a cron line on the clocks of a zone. The library
// leaves out a time that clocks skip, and with it the run of a whole month; here
// it comes as much later as the clocks are put forward.
type wallTimes struct {
	line cron.Schedule // in UTC
	zone *time.Location
}

// Next is the first time after t.
func (w wallTimes) Next(t time.Time) time.Time {
	wall := inZone(t.In(w.zone), time.UTC)
	for {
		if wall = w.line.Next(wall); wall.IsZero() {
			return wall
		}
		next := inZone(wall, w.zone)
		if early := wall.Sub(inZone(next, time.UTC)); early > 0 { // skipped, and taken by the offset after the change
			next = next.Add(early)
		}
		if next.After(t) {
			return next
		}
	}
}

// inZone is the instant at which the clocks of a zone show what t shows.
func inZone(t time.Time, zone *time.Location) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone)
}

// cronLog prints what the scheduler has to say of skipped and broken runs.
type cronLog struct{ w io.Writer }

// Info prints only what matters: that a run was skipped.
func (l cronLog) Info(message string, _ ...any) {
	if message == "skip" {
		fmt.Fprintln(l.w, "hpcbill: the run before is not done: this tick is skipped")
	}
}

// Error prints a panic of a run.
func (l cronLog) Error(err error, message string, _ ...any) {
	fmt.Fprintf(l.w, "hpcbill: error: BUG: %s: %v\n", message, err)
}

// closedPeriods are the months from first to the last one that has ended.
func closedPeriods(first rates.Period, now time.Time) []rates.Period {
	var periods []rates.Period
	for p := first; !p.End.After(now); p = p.Next() {
		periods = append(periods, p)
	}
	return periods
}
