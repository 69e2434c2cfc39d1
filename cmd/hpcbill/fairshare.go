package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
	"hpcbill/rating"

	"github.com/spf13/cobra"
)

const fairshareLong = `Shows what groups and users used, decayed with a half-life as a scheduler sees
it: of 1000 GPU-hours 500 count a week later, 250 after two, 125 after three.
The use of a job counts from its end, in the units of the card's meters, whether
it was billed or waived; what is excluded or held has none.

  used      as it was, of the jobs whose use still counts (40 half-lives)
  decayed   times 2^(-age/half-life): exact after whole half-lives, else the
            factor is rounded to 18 decimals
  slurm     times (1 - 0.693/half-life) for every second, as slurmctld reckons
  percent   of the decayed use of all groups
  factor    of a group: 2^(-part used/share), all groups of the roster having
            the same share; 0.5 is who used exactly his share
  points    with --weight N, which is PriorityWeightFairshare: factor times N

Nothing is charged by these figures. hpcbill report priority shows what the
weights of a multifactor priority amount to.`

type fairshareOptions struct{ halfLife, at, meter, weight string }

func (a *app) fairshareCommand() *cobra.Command {
	var opt fairshareOptions
	c := &cobra.Command{
		Use:     "fairshare",
		Short:   "decayed use of groups and users",
		Long:    fairshareLong,
		Example: "  hpcbill report fairshare\n  hpcbill report fairshare --half-life 14d --at 2026-04-01 --meter gpu_hours --weight 100000",
		Args:    noArguments,
	}
	format := addFormat(c)
	c.Flags().StringVar(&opt.halfLife, "half-life", "7d", "PriorityDecayHalfLife: 7d, 7-0 or 168:00:00")
	c.Flags().StringVar(&opt.at, "at", "", "the day at whose begin the state is shown, or an instant such as 2026-04-01T12:00:00Z; now where not given")
	c.Flags().StringVar(&opt.meter, "meter", "", "one meter alone")
	c.Flags().StringVar(&opt.weight, "weight", "", "PriorityWeightFairshare, for points")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.printReport(*format, func(print func(*table, error) error) error {
			return a.withSite(func(s *site) error { return print(a.reportFairshare(c.Context(), s, opt)) })
		})
	}
	return c
}

// halfLivesSeen is how far back a report looks: what is left after them is
// less than a part in 10^12.
const halfLivesSeen = 40

func (a *app) reportFairshare(ctx context.Context, s *site, opt fairshareOptions) (*table, error) {
	halfLife, err := halfLifeSeconds(opt.halfLife)
	if err != nil {
		return nil, usageError{fmt.Errorf("--half-life: %w", err), "write 7d, 7-0 or 168:00:00"}
	}
	at, err := a.instantOf(s.inputs, opt.at)
	if err != nil {
		return nil, err
	}
	if opt.meter != "" {
		if err := s.knownMeter(opt.meter); err != nil {
			return nil, err
		}
	}
	var weight *money.Exact
	if opt.weight != "" {
		w, err := money.ParseDecimal(opt.weight)
		if err != nil || w.Sign() < 0 {
			return nil, usageError{fmt.Errorf("--weight: %q is no weight", opt.weight), "write PriorityWeightFairshare, such as 100000"}
		}
		weight = &w
	}
	use := rating.NewFairshare(ingest.Instant(at.Unix()), rating.NewDecay(halfLife))
	if err := s.addUse(ctx, use, at, halfLife); err != nil {
		return nil, err
	}
	return s.fairshareTable(use.Shares(), opt.meter, weight), nil
}

// addUse rates every job whose use still counts.
func (s *site) addUse(ctx context.Context, use *rating.Fairshare, at time.Time, halfLife int64) error {
	first, err := s.firstEnd()
	if err != nil || first.IsZero() {
		return err
	}
	if seen := min(halfLife, math.MaxInt64/halfLivesSeen) * halfLivesSeen; first.Unix() < at.Unix()-seen {
		first = time.Unix(at.Unix()-seen, 0)
	}
	rater, free := rating.NewRater(s.tariff()), jobstore.Batches(2)
	needs := rater.Needs()
	for p := rates.PeriodContaining(first, s.zone()); !p.Start.After(at); p = p.Next() {
		for batch, err := range s.jobsOf(p, s.inputs, needs, free) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			for i := range batch {
				for _, o := range rater.Job(&batch[i], p) {
					use.Add(&o)
				}
			}
			free <- batch
		}
	}
	return nil
}

// firstEnd is when the earliest job that was taken in ended, zero where none
// was.
func (s *site) firstEnd() (time.Time, error) {
	records, err := s.jobs.Ingests()
	first := ingest.None
	for _, r := range records {
		if r.FirstEnd != ingest.None && (first == ingest.None || r.FirstEnd < first) {
			first = r.FirstEnd
		}
	}
	if first == ingest.None {
		return time.Time{}, err
	}
	return timeOf(first), err
}

func (s *site) fairshareTable(shares []rating.Share, meter string, weight *money.Exact) *table {
	names := []string{"meter", "unit", "group", "user", ">used", ">decayed", ">slurm", ">percent", ">factor"}
	if weight != nil {
		names = append(names, ">points")
	}
	t := &table{columns: columns(names...)}
	each := money.Ratio(1, max(1, int64(len(s.roster.Groups))))
	for _, x := range shares {
		if meter != "" && x.Meter != meter {
			continue
		}
		row := []any{x.Meter, x.Unit, x.Group, x.User, decimal(x.Used), decimal(x.Decayed), decimal(x.Slurm), x.Part.Mul(money.Int(100)).Decimal(2, money.HalfUp)}
		var factor, points any
		if x.User == "" {
			f := rating.FairshareFactor(x.Part, each)
			factor = decimal(f)
			if weight != nil {
				points = f.Mul(*weight).Decimal(0, money.Down) // Slurm cuts priorities to whole numbers
			}
		}
		if row = append(row, factor); weight != nil {
			row = append(row, points)
		}
		t.add(row...)
	}
	return t
}

// knownMeter refuses a meter that no card has.
func (in *inputs) knownMeter(name string) error {
	var known []string
	for _, c := range in.cards {
		for _, v := range c.Versions {
			for meter := range v.Meters {
				if meter == name {
					return nil
				}
				known = append(known, meter)
			}
		}
	}
	slices.Sort(known)
	return usageError{fmt.Errorf("--meter: no rate card has a meter %q", name), nearest.Remedy(name, slices.Compact(known))}
}

// instantOf reads a day, which begins at midnight of the site, or an instant.
func (a *app) instantOf(in *inputs, text string) (time.Time, error) {
	if text == "" {
		return a.now(), nil
	}
	if d, err := rates.ParseDate(text); err == nil {
		return d.Midnight(in.zone()), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usageError{fmt.Errorf("--at: %q is no day and no instant", text), "write 2026-04-01 or 2026-04-01T12:00:00Z"}
	}
	return t, nil
}

// longestHalfLifeSeconds is a hundred years.
const longestHalfLifeSeconds = 36525 * 86400

// halfLifeSeconds reads 7d, 12h, or a time as slurm.conf has it: days-hours,
// days-hours:minutes:seconds or hours:minutes:seconds.
func halfLifeSeconds(text string) (int64, error) {
	seconds, err := slurmSeconds(text)
	switch {
	case err != nil:
		return 0, err
	case seconds <= 0:
		return 0, errors.New("nothing decays with a half-life of 0")
	case seconds > longestHalfLifeSeconds:
		return 0, fmt.Errorf("%q is longer than a hundred years", text)
	}
	return seconds, nil
}

func slurmSeconds(text string) (int64, error) {
	wrong := fmt.Errorf("%q is no time", text)
	number := func(s string) (int64, error) {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return 0, wrong
		}
		return int64(n), nil
	}
	for suffix, each := range map[string]int64{"d": 86400, "h": 3600} {
		if s, ok := strings.CutSuffix(text, suffix); ok {
			n, err := number(s)
			return n * each, err
		}
	}
	days, clock, dashed := strings.Cut(text, "-")
	parts := strings.Split(clock, ":")
	if !dashed {
		days, parts = "0", strings.Split(text, ":")
	}
	if len(parts) > 3 || !dashed && len(parts) != 3 {
		return 0, wrong
	}
	sum, err := number(days)
	if err != nil {
		return 0, err
	}
	sum *= 86400
	for i, part := range parts {
		n, err := number(part)
		if err != nil {
			return 0, err
		}
		sum += n * [...]int64{3600, 60, 1}[i]
	}
	return sum, nil
}
