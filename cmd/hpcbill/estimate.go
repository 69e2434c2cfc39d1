package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"

	"github.com/spf13/cobra"
)

// estimateClass is the group that an estimate is made for where none is
// named: one of its own, of the class that --class says.
const estimateGroup = "estimate"

func (a *app) estimateCommand() *cobra.Command {
	var (
		r             request
		group, class  string
		script        string
		memory, limit string
		gpus          string
		gres          string
		licenses      string
		starts        string
		format        *string
	)
	c := &cobra.Command{
		Use:   "estimate --cluster C [flags | --script FILE]",
		Short: "what a job would cost, and why",
		Long: `Rates a job that has not run, by the rules in force when it starts, which is now
where --start does not say it, and with what it asks for as what it would get:
its whole time limit, its CPUs, memory and GPUs. The
request comes from flags or from the #SBATCH lines of a script; flags win. The
term that decides the price is named, since less of it is what makes the job
cheaper.`,
		Example: `  hpcbill estimate --cluster h2p --partition smp --cpus 4 --mem 16G --time 2:00:00
  hpcbill estimate --cluster h2p --script job.sh --group chem --start 2026-07-04T22:00`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkFormat(*format); err != nil {
				return err
			}
			in, err := readInputs(readSiteFile(a.siteDir))
			if err != nil {
				return err
			}
			asked, err := scriptRequest(script)
			if err != nil {
				return err
			}
			if err := errors.Join(r.setTime(limit), r.setMemory(memory), r.setResources(gpus, gres, licenses)); err != nil {
				return err
			}
			start, err := a.startOf(starts, in.zone())
			if err != nil {
				return err
			}
			return a.estimate(in, asked.overriddenBy(r), start, group, class, *format)
		},
	}
	f := c.Flags()
	f.StringVar(&r.cluster, "cluster", "", "the cluster")
	f.StringVar(&r.partition, "partition", "", "the partition")
	f.StringVar(&r.qos, "qos", "", "the QoS (default normal)")
	f.StringVar(&r.account, "account", "", "the account: it reaches a group as in groups.yaml")
	f.Int64Var(&r.nodes, "nodes", 0, "nodes (default 1)")
	f.Int64Var(&r.cpus, "cpus", 0, "CPUs in all (default 1)")
	f.StringVar(&memory, "mem", "", "memory in all, such as 16G or 4000M (MiB where no unit is given)")
	f.StringVar(&gpus, "gpus", "", "GPUs in all, such as 2 or a100:2")
	f.StringVar(&r.gpuType, "gpu-type", "", "their type, such as a100")
	f.StringVar(&r.reservation, "reservation", "", "the reservation")
	f.StringVar(&r.wckey, "wckey", "", "the wckey")
	f.StringVar(&r.nodeList, "nodelist", "", "the nodes that it would run on, where the card asks for their names")
	f.StringVar(&licenses, "licenses", "", "licenses, such as matlab:2")
	f.StringVar(&gres, "gres", "", "generic resources in all, such as fpga:2 or gpu:a100:2")
	f.StringVar(&r.name, "job-name", "", "the name of the job, where the card asks for it")
	f.StringVar(&limit, "time", "", "the time it would run: minutes, H:MM:SS or D-HH:MM:SS")
	f.StringVar(&starts, "start", "", "when it would start, in the site's zone: 2026-07-04 or 2026-07-04T22:00 (default now)")
	f.StringVar(&group, "group", "", "the group that would pay")
	f.StringVar(&class, "class", "internal", "the class of the group, where none is named")
	f.StringVar(&script, "script", "", "a batch script, read for its #SBATCH lines")
	format = addFormat(c)
	return c
}

// scriptRequest reads what a script asks for; nothing where there is none.
func scriptRequest(file string) (request, error) {
	if file == "" {
		return request{}, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return request{}, inputError{fmt.Errorf("%s: %w", file, plain(err)), ""}
	}
	return parseScript(file, string(text))
}

// startOf reads when a job would start; now where nothing is said.
func (a *app) startOf(text string, zone *time.Location) (ingest.Instant, error) {
	if text == "" {
		return ingest.Instant(a.clock().Unix()), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return ingest.Instant(t.Unix()), nil
		}
	}
	return 0, usageError{fmt.Errorf("--start: %q is no time", text), "write 2026-07-04 or 2026-07-04T22:00"}
}

// estimate rates a request as if it ran from an instant on.
func (a *app) estimate(in *inputs, r request, start ingest.Instant, group, class, format string) error {
	if err := r.check(); err != nil {
		return err
	}
	tariff := in.tariff()
	tariff.Outages, tariff.Waivers = nil, nil // what is asked for has no number, and meets no outage that is known
	if tariff.Cards[r.cluster] == nil {
		return usageError{fmt.Errorf("cluster %q is not under clusters: in %s", r.cluster, configFile), ""}
	}
	if group != "" || r.account == "" {
		roster, err := in.rosterOf(group, class)
		if err != nil {
			return err
		}
		tariff.Roster = roster
		r.account = estimateGroup
	}
	job := r.job(start)
	rater := rating.NewRater(tariff)
	var parts []explainedOutcome
	// Under bill_by: usage each month has a part of the job.
	for p := rates.PeriodContaining(timeOf(job.Start), in.zone()); !timeOf(job.End).Before(p.Start); p = p.Next() {
		for _, part := range rater.Explain(&job, p).Parts {
			e := explained(p, "current", part)
			e.estimated(group, class)
			e.asFirst(part.Outcome.Charges)
			parts = append(parts, e)
		}
	}
	if len(parts) == 0 {
		return errors.New("BUG: an estimate without a part")
	}
	if format == "json" {
		text, err := jsonText(parts)
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "%s\n", text)
		}
		return err
	}
	fmt.Fprintf(a.stdout, "a job of %s on %s/%s\n", r, r.cluster, r.partition)
	for _, part := range parts {
		a.printOutcome(in, part)
	}
	a.printTogether(in, parts)
	a.printCheaper(parts)
	return nil
}

// rosterOf is a roster of one group that every job reaches: the one named, or
// one of the class.
func (in *inputs) rosterOf(group, class string) (*rates.Roster, error) {
	if group != "" {
		g := in.roster.Group(group)
		if g == nil {
			return nil, usageError{fmt.Errorf("group %q is not in %s", group, in.config.RosterFile), ""}
		}
		class = g.Class
	}
	text := fmt.Sprintf("groups: [{id: %[1]s, class: %[2]s, jobs: [{account: %[1]s}]}]", estimateGroup, class)
	roster, err := rates.LoadRoster(rosterOfEstimate, []byte(text))
	if err != nil {
		return nil, usageError{fmt.Errorf("--class: %q is not a class", class), "a word such as internal"}
	}
	return roster, nil
}

// estimated says what is known of a job that has not run: which group it is
// meant to be of, and what flag gives a figure that it lacks.
func (e *explainedOutcome) estimated(group, class string) {
	for i := range e.Steps {
		if s := &e.Steps[i]; s.Stage == rating.AttributeStage && s.File == rosterOfEstimate {
			s.Says, s.Name, s.File, s.Line = "a group of class "+class, group, "", 0
			if group != "" {
				s.Says = "group " + group
			}
		}
	}
	if lacks, ok := strings.CutPrefix(e.Cause, rating.UnknownFigure+": "); ok {
		name, _, _ := strings.Cut(lacks, " ")
		name, _, _ = strings.Cut(name, "=")
		switch flag := flagOfFigure[name]; {
		case flag != "":
			e.Hint = "say it: " + flag
		case strings.HasPrefix(name, "gpu("):
			e.Hint = "say it: --gpu-type"
		case strings.HasPrefix(name, "tres("):
			e.Hint = "it is measured while a job runs, and nobody knows it before"
		}
	}
}

// asFirst prices what tiers price by all that a group uses as if it were the
// first that the group used.
func (e *explainedOutcome) asFirst(charges []rating.Charge) {
	for i, c := range charges {
		if c.Tiers == nil || c.Tiers.Window == rates.OfOneJob {
			continue
		}
		reached := c.Quantity
		if c.Tiers.Counter != rates.CountUnits {
			reached = money.Exact{}
		}
		x := &e.Charges[i]
		x.Tiers, x.Price, x.Amount = c.Tiers.String(), c.Tiers.Steps[0].Price, c.Tiers.Amount(money.Exact{}, reached, c.Quantity)
		if each, some := x.Amount.Quo(c.Quantity); some {
			x.Price = each
		}
	}
}

// rosterOfEstimate stands for the file of a roster that estimate makes.
const rosterOfEstimate = "--class"

// flagOfFigure are the flags that give a job the figures which a card asks for.
var flagOfFigure = map[string]string{
	"mem_gib": "--mem", "mem_mib": "--mem", "mem_gb": "--mem", "req_mem_gib": "--mem", "req_mem_mib": "--mem", "req_mem_gb": "--mem",
	"gpu_type": "--gpu-type", "node_name": "--nodelist",
}

// printTogether says what the parts of a job cost together.
func (a *app) printTogether(in *inputs, parts []explainedOutcome) {
	var total money.Exact
	for _, p := range parts {
		if p.Verdict != rating.Charged.String() {
			return
		}
		for _, c := range p.Charges {
			total = total.Add(c.Amount)
		}
	}
	if len(parts) > 1 {
		fmt.Fprintf(a.stdout, "\n  all parts together cost %s %s\n", figure(total), in.config.Currency.Code)
	}
}

// printCheaper names what decided the price, where it is something that one
// asks a cluster for: less of it costs less.
func (a *app) printCheaper(parts []explainedOutcome) {
	var decides []string
	for _, p := range parts {
		for _, step := range p.Steps {
			if step.Stage == rating.AmountStage || machine.ReplaceAllString(step.Decides, "") == "" {
				continue
			}
			of := string(step.Stage) + " of " + step.Meter
			if step.Stage == rating.LetStage {
				of = step.Name
			}
			if strings.Contains(step.Decides, " and ") {
				of += ", both"
			}
			decides = append(decides, fmt.Sprintf("%s (%s)", oneLine(step.Decides), of))
		}
	}
	if len(decides) > 0 {
		fmt.Fprintf(a.stdout, "\n  to pay less, ask for less of what decides: %s\n", strings.Join(decides, "; "))
	}
}

// machine is all of a formula that nobody can ask less of: numbers, signs,
// functions, facts of the machine and the price.
var machine = regexp.MustCompile(`[^a-z_]|\b(node_\w+|threads|mem_per_core_gib|price|and|max|min|ceil|floor|trunc|round|step|choose|first)\b`)
