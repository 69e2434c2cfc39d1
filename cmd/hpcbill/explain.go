package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/invoice/history"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"

	"github.com/spf13/cobra"
)

func (a *app) explainCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "explain CLUSTER/JOBID",
		Short: "the calculation of one job, step by step",
		Long: `Prints how a job's charge came about: the group it reaches, the rule that
decided, each formula with its numbers, the price, and the lines of the roster,
the card and the dump that each comes from. A job of an issued month is explained
under the card and roster that billed it. Every run of a requeued job is shown.`,
		Example: "  hpcbill explain h2p/156108_7\n  hpcbill explain h2p/156108_7 --format json",
		Args:    oneArgument("CLUSTER/JOBID"),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return usageError{fmt.Errorf("unknown format %q", format), "text or json"}
			}
			cluster, job, ok := strings.Cut(args[0], "/")
			if !ok || cluster == "" || job == "" {
				return usageError{fmt.Errorf("%q is not CLUSTER/JOBID", args[0]), "such as h2p/156108_7"}
			}
			return a.withSite(func(s *site) error { return a.explain(c.Context(), s, cluster, job, format) })
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}

func (a *app) explain(ctx context.Context, s *site, cluster, id, format string) error {
	found, err := s.jobs.Find(cluster, id)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return usageError{fmt.Errorf("no job %s/%s was ingested", cluster, id), "the id is as sacct prints it (JobID or JobIDRaw); hpcbill report ingests lists the dumps"}
	}
	var runs []explainedRun
	for i := range found {
		run, err := s.explainRun(ctx, &found[i])
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	if format == "json" {
		text, err := jsonText(runs)
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "%s\n", text)
		}
		return err
	}
	for i, run := range runs {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		a.printRun(s, run)
	}
	return nil
}

// explainedRun is one record of a job with the calculation of its periods.
type explainedRun struct {
	Record recordOfJob        `json:"record"`
	Parts  []explainedOutcome `json:"parts"`
}

// recordOfJob is what the dump said.
type recordOfJob struct {
	Cluster          string `json:"cluster"`
	JobID            string `json:"job_id"`
	Name             string `json:"job_name,omitempty"`
	User             string `json:"user"`
	Account          string `json:"account"`
	WCKey            string `json:"wckey,omitempty"`
	Partition        string `json:"partition"`
	QoS              string `json:"qos"`
	Reservation      string `json:"reservation,omitempty"`
	State            string `json:"state"`
	Submit           string `json:"submit,omitempty"`
	Start            string `json:"start"`
	End              string `json:"end"`
	ElapsedSeconds   int64  `json:"elapsed_seconds"`
	SuspendedSeconds int64  `json:"suspended_seconds"`
	TimelimitSeconds int64  `json:"timelimit_seconds,omitempty"` // -2 where there is none
	ReqTRES          string `json:"req_tres,omitempty"`
	AllocTRES        string `json:"alloc_tres"`
	NodeList         string `json:"node_list,omitempty"`
	File             string `json:"file"`
	Line             int64  `json:"line"`

	Notes []string `json:"notes,omitempty"` // what was odd about it
}

// explainedOutcome is what a period made of the record.
type explainedOutcome struct {
	Period  string            `json:"period"`
	Rules   string            `json:"rules"` // "current" or "as issued"
	Verdict string            `json:"verdict"`
	Cause   string            `json:"cause,omitempty"`
	Hint    string            `json:"hint,omitempty"`
	From    string            `json:"from,omitempty"` // of the part of the run
	Until   string            `json:"until,omitempty"`
	Seconds int64             `json:"seconds"`
	Steps   []rating.Step     `json:"steps"`
	Charges []explainedCharge `json:"charges"`

	cut bool // it is not the whole run
}

// explainedCharge is one meter's charge, exact.
type explainedCharge struct {
	Group    string      `json:"group"`
	Meter    string      `json:"meter"`
	Quantity money.Exact `json:"quantity"`
	Unit     string      `json:"unit"`
	Price    money.Exact `json:"price"`
	Amount   money.Exact `json:"amount"`
	// Tiers are the prices of which the period's use decides; price and amount
	// are 0 as long as the period has no invoices.
	Tiers string `json:"tiers,omitempty"`
}

// explainRun explains a record in each period that it has a part in.
func (s *site) explainRun(ctx context.Context, j *ingest.Job) (explainedRun, error) {
	run := explainedRun{Record: recordOfJob{
		Cluster: j.Cluster, JobID: j.JobID, Name: j.Name, User: j.User, Account: j.Account, WCKey: j.WCKey,
		Partition: j.Partition, QoS: j.QoS, Reservation: j.Reservation,
		State: string(j.State), Submit: s.local(j.Submit), Start: s.local(j.Start), End: s.local(j.End),
		ElapsedSeconds: j.ElapsedSeconds, SuspendedSeconds: j.SuspendedSeconds, TimelimitSeconds: j.TimelimitSeconds,
		ReqTRES: j.ReqTRES, AllocTRES: j.AllocTRES, NodeList: j.NodeList,
		File: j.Source.File, Line: j.Source.Line, Notes: j.Notes.Texts(),
	}}
	for _, p := range s.periodsOf(j) {
		in, which, err := s.inputsOf(ctx, p)
		if err != nil {
			return run, err
		}
		rater := rating.NewRater(in.tariff())
		for _, part := range rater.Explain(j, p).Parts {
			e := explained(p, which, part)
			e.From, e.Until = s.local(part.Outcome.From), s.local(part.Outcome.Until)
			if err := s.settleExplained(ctx, p, &part.Outcome, &e); err != nil {
				return run, err
			}
			e.cut = part.Outcome.Seconds != j.ElapsedSeconds
			run.Parts = append(run.Parts, e)
		}
	}
	return run, nil
}

// explained is a part's calculation as it is printed.
func explained(p rates.Period, which string, part rating.PartExplanation) explainedOutcome {
	o := part.Outcome
	e := explainedOutcome{
		Period: p.String(), Rules: which, Verdict: o.Verdict.String(), Hint: o.Cause.Hint,
		Seconds: o.Seconds, Steps: part.Steps,
	}
	if o.Cause.Code != "" {
		e.Cause = strings.TrimSuffix(o.Cause.Code+": "+o.Cause.Detail, ": ")
	}
	for _, c := range o.Charges {
		e.Charges = append(e.Charges, explainedCharge{Group: c.Group, Meter: c.Meter, Quantity: c.Quantity, Unit: c.Unit, Price: c.Price, Amount: c.Amount})
	}
	return e
}

// settleExplained gives charges that tiers price the average price of their
// group's invoice, where the period has one.
func (s *site) settleExplained(ctx context.Context, p rates.Period, o *rating.Outcome, e *explainedOutcome) error {
	var prices invoice.TierPrices
	for i := range o.Charges {
		t := o.Charges[i].Tiers
		if t == nil {
			continue
		}
		e.Charges[i].Tiers = t.String()
		if prices.IsZero() {
			invoices, err := s.invoicesOf(ctx, p)
			if err != nil {
				return err
			}
			prices = invoice.TierPricesOf(invoices)
		}
	}
	if prices.IsZero() || prices.SettleJob(o) != nil { // a job that came in since is in no line yet
		return nil
	}
	for i, c := range o.Charges {
		e.Charges[i].Price, e.Charges[i].Amount = c.Price, c.Amount
	}
	return nil
}

// invoicesOf gives the invoices of a period: those that were issued, or the
// drafts.
func (s *site) invoicesOf(ctx context.Context, p rates.Period) ([]invoice.Invoice, error) {
	issued, err := s.history.Invoices(ctx, history.Filter{Period: p.String()})
	if err != nil || len(issued) > 0 {
		return issued, err
	}
	return s.lastDraft(ctx, p)
}

// periodsOf are the months that a job's run touches; its End's alone where it
// never ran.
func (s *site) periodsOf(j *ingest.Job) []rates.Period {
	first, last := j.Start, j.End
	if last == ingest.None {
		last = max(j.Start+ingest.Instant(j.ElapsedSeconds+j.SuspendedSeconds), j.Submit)
	}
	if first == ingest.None {
		first = last
	}
	var periods []rates.Period
	for p := rates.PeriodContaining(timeOf(first), s.zone()); !p.Start.After(timeOf(last)); p = p.Next() {
		periods = append(periods, p)
	}
	return periods
}

func timeOf(t ingest.Instant) time.Time { return time.Unix(int64(t), 0) }

// inputsOf gives the rules of a period: those that billed it where it is
// issued, otherwise the current ones.
func (s *site) inputsOf(ctx context.Context, p rates.Period) (in *inputs, which string, err error) {
	state, err := s.history.Period(ctx, p.String())
	if err != nil || state.State != history.Issued {
		return s.inputs, "current", err
	}
	recorded, err := s.history.Evidence(ctx, p.String())
	if err != nil {
		return nil, "", err
	}
	in, err = recordedInputs(recorded)
	return in, "as issued", err
}

func (a *app) printRun(s *site, run explainedRun) {
	r := run.Record
	fmt.Fprintf(a.stdout, "job %s/%s of %s in %s, %s on %s%s\n", r.Cluster, oneLine(r.JobID), oneLine(r.User), oneLine(r.Account), r.State, oneLine(r.Partition), oneLine(r.apart()))
	switch {
	case r.Start == "":
		fmt.Fprintf(a.stdout, "  ran       never, ended %s\n", r.End)
	case r.End == "":
		fmt.Fprintf(a.stdout, "  ran       from %s on, %s s so far\n", r.Start, grouped(r.ElapsedSeconds))
	default:
		fmt.Fprintf(a.stdout, "  ran       %s to %s, %s s\n", r.Start, r.End, grouped(r.ElapsedSeconds))
	}
	if r.SuspendedSeconds > 0 {
		fmt.Fprintf(a.stdout, "  suspended %s s besides\n", grouped(r.SuspendedSeconds))
	}
	if r.AllocTRES != "" {
		fmt.Fprintf(a.stdout, "  had       %s\n", oneLine(r.AllocTRES))
	}
	if r.NodeList != "" {
		fmt.Fprintf(a.stdout, "  on        %s\n", oneLine(r.NodeList))
	}
	fmt.Fprintf(a.stdout, "  record    %s:%d\n", r.File, r.Line)
	for _, note := range r.Notes {
		fmt.Fprintf(a.stdout, "  note      %s\n", note)
	}
	for _, p := range run.Parts {
		a.printOutcome(s.inputs, p)
	}
	if len(run.Parts) == 0 {
		fmt.Fprintln(a.stdout, "  in no period yet: it has not ended")
	}
}

// apart is what a card may look at and most jobs do not have.
func (r recordOfJob) apart() string {
	text := ""
	if r.QoS != "" && r.QoS != "normal" {
		text += ", QoS " + r.QoS
	}
	if r.Reservation != "" {
		text += ", reservation " + r.Reservation
	}
	if r.WCKey != "" {
		text += ", wckey " + r.WCKey
	}
	return text
}

func (a *app) printOutcome(in *inputs, p explainedOutcome) {
	fmt.Fprintf(a.stdout, "\n  %s, rules %s: %s", p.Period, p.Rules, p.Verdict)
	if p.Cause != "" {
		fmt.Fprintf(a.stdout, " — %s", oneLine(p.Cause))
	}
	fmt.Fprintln(a.stdout)
	if p.Hint != "" {
		fmt.Fprintf(a.stdout, "    hint: %s\n", oneLine(p.Hint))
	}
	if p.Verdict == rating.NotRun.String() {
		fmt.Fprintln(a.stdout, "    it never started, and costs nothing")
	}
	if p.cut {
		fmt.Fprintf(a.stdout, "    the part from %s to %s, %s s\n", p.From, p.Until, grouped(p.Seconds))
	}
	for _, step := range p.Steps {
		a.printStep(step)
	}
	total, pays := money.Exact{}, "pays"
	if p.Verdict == rating.Waived.String() {
		pays = "is forgiven"
	}
	for _, c := range p.Charges {
		who := c.Group + " " + pays
		if c.Group == estimateGroup {
			who = "costs"
		}
		if c.Tiers != "" && c.Price.Sign() == 0 {
			fmt.Fprintf(a.stdout, "    %s %s %s, priced with all that it uses in the period\n", who, figure(c.Quantity), c.Unit)
			continue
		}
		fmt.Fprintf(a.stdout, "    %s %s %s at %s %s %s %s\n", who, figure(c.Quantity), c.Unit, c.Price, in.config.Currency.Code, equals(c.Amount), in.config.Currency.Code)
		if c.Tiers != "" && c.Group == estimateGroup {
			fmt.Fprintf(a.stdout, "      as the first that its group uses of it; %s\n", c.Tiers)
		}
		total = total.Add(c.Amount)
	}
	if len(p.Charges) > 1 {
		fmt.Fprintf(a.stdout, "    together %s %s, rounded with its line on the invoice\n", figure(total), in.config.Currency.Code)
	}
}

// decide says of the operands of a max or min that they gave its value.
func decide(operands string) string {
	if strings.Contains(operands, " and ") {
		return operands + " decide equally"
	}
	return operands + " decides"
}

// figure prints a quantity or an amount to six places, without the zeros at
// its end; what has more begins with ≈.
func figure(x money.Exact) string {
	text := x.Decimal(6, money.HalfEven)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if !x.Round(6, money.HalfEven).Equal(x) {
		return "≈ " + money.Group(text)
	}
	return money.Group(text)
}

// equals is a figure with the sign before it.
func equals(x money.Exact) string {
	text := figure(x)
	if strings.HasPrefix(text, "≈") {
		return text
	}
	return "= " + text
}

// printStep prints one stage: what was decided, or the formula, the same with
// its numbers, and its value; then where it is written.
func (a *app) printStep(step rating.Step) {
	var parts []string
	if step.Says != "" {
		parts = append(parts, step.Says)
	}
	if step.Formula != "" {
		text := step.Formula
		if text == step.Value {
			text = ""
		} else if step.WithNumbers != "" && step.WithNumbers != step.Value {
			text += " = " + step.WithNumbers
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	text := strings.Join(parts, "; ")
	if step.Value != "" {
		value := step.Value
		if step.Rounded != "" {
			value += " ≈ " + step.Rounded
		}
		if text != "" {
			text += " = "
		}
		text += strings.TrimSpace(value + " " + step.Unit)
	}
	if step.Decides != "" {
		text += "; " + decide(step.Decides)
	}
	name := string(step.Stage)
	if step.Meter != "" {
		name += " " + step.Meter
	} else if step.Name != "" && step.Stage == rating.LetStage {
		name += " " + step.Name
	}
	where := ""
	if step.Line > 0 {
		where = fmt.Sprintf("  [%s:%d]", step.File, step.Line)
	}
	fmt.Fprintf(a.stdout, "    %-22s %s%s\n", name, oneLine(strings.TrimSpace(text)), where)
}
