package rating

import (
	"errors"
	"fmt"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
)

// causeOfAttribution is why the roster gives no group; no cause where it does.
func causeOfAttribution(err error) Cause {
	var e *rates.AttributionError
	if !errors.As(err, &e) {
		return Cause{}
	}
	c := Cause{Code: NoGroup, Detail: e.Attributes.String(), Hint: e.Hint()}
	if e.Ambiguous() {
		c.Code, c.Detail = TwoGroups, e.Error()
	}
	return c
}

func (r *Rater) causeOfNoVersion(j *ingest.Job, at ingest.Instant) Cause {
	c := r.cards[j.Cluster]
	if c == nil {
		return Cause{
			Code: NoCard, Detail: "cluster=" + j.Cluster,
			Hint: "name a rate card for this cluster in hpcbill.yaml, or correct the cluster with which its dump was ingested",
		}
	}
	_, from, until := c.at(at)
	detail := "card=" + c.Name
	if from != always {
		detail += " from=" + r.dayOf(from).String()
	}
	if until != never {
		detail += " until=" + r.dayOf(until).String()
	}
	return Cause{
		Code: NoVersion, Detail: detail,
		Hint:   "add a version for that time to " + c.File,
		Reason: Reason{Card: c.Name, CardDigest: c.Digest, File: c.File},
	}
}

// versionReason points at a version where no rule decided.
func versionReason(v *version) Reason {
	return Reason{Card: v.card.Name, CardDigest: v.card.Digest, Version: v.From, File: v.card.File, Line: v.Line}
}

func causeOfPartitionList(j *ingest.Job) Cause {
	return Cause{
		Code: PartitionList, Detail: "cluster=" + j.Cluster + " partition=" + j.Partition,
		Hint: "a job runs in one partition: look up which it was, and correct the record",
	}
}

func causeOfNoRule(v *version, j *ingest.Job, h *rates.Hardware) Cause {
	detail := []string{"cluster=" + j.Cluster}
	for _, f := range v.texts {
		detail = append(detail, textNames[f]+"="+textOf(j, f))
	}
	if h != nil {
		detail = append(detail, "node_type="+h.NodeType)
	}
	return Cause{
		Code: NoRule, Detail: strings.Join(detail, " "),
		Hint: fmt.Sprintf("add a rule that matches it to the version of %s in %s, line %d; what shall be free takes  exclude: REASON",
			v.From, v.card.File, v.Line),
		Reason: versionReason(v),
	}
}

// textNames are the fields as a card names them.
var textNames = [rates.TextFields]string{
	rates.Cluster: "cluster", rates.Partition: "partition", rates.QoS: "qos", rates.Account: "account", rates.User: "user",
	rates.WCKey: "wckey", rates.Reservation: "reservation", rates.State: "state", rates.JobName: "job_name",
	rates.JobID: "job_id", rates.CancelledBy: "cancelled_by",
}

// causeOfFact is a match that hangs on what the record does not say.
func causeOfFact(err error, v *version, j *ingest.Job) Cause {
	name := err.Error()
	var e *rates.UnknownFactError
	if errors.As(err, &e) {
		name = e.Field
	}
	return Cause{
		Code: UnknownFigure, Detail: name + " cluster=" + j.Cluster,
		Hint:   fmt.Sprintf("a rule before the one that would match asks for %s, which the record does not have: dump it, or put the rule later", name),
		Reason: versionReason(v),
	}
}

func causeOfState(v *version, j *ingest.Job) Cause {
	return Cause{
		Code: UnknownState, Detail: "state=" + string(j.State) + " cluster=" + j.Cluster,
		Hint:   "Slurm's accounting has no such state: look at the record in the dump",
		Reason: versionReason(v),
	}
}

func causeOfUnlistedState(ru *rule, s *rates.States, j *ingest.Job) Cause {
	reason := ru.reason
	reason.Line = s.Line
	which := "jobs that end so are charged"
	if !j.Final() {
		which = "the months of jobs that run on are charged: they are billed when they are over"
	}
	return Cause{
		Code: UnknownState, Detail: "state=" + string(j.State) + " cluster=" + j.Cluster + " rule=" + ru.Name,
		Hint:   fmt.Sprintf("say under states: of %s, line %d, whether %s", ru.version.card.File, s.Line, which),
		Reason: reason,
	}
}

func causeOfGPUType(t string, pl *plan) Cause {
	return Cause{
		Code: UnknownFigure, Detail: fmt.Sprintf("gpu_type=%s rule=%s", t, pl.rule.Name),
		Hint:   fmt.Sprintf("give gpu(%q) its weight in the rule at line %d of %s", t, pl.rule.Line, pl.rule.version.card.File),
		Reason: pl.rule.reason,
	}
}

// causeOfLookup is a price or a factor that is not listed.
func causeOfLookup(err error, code string, v *version, j *ingest.Job, ru *rule) Cause {
	if errors.Is(err, formula.ErrUnknownFigure) {
		c := causeOfFact(err, v, j)
		c.Reason = ru.reason
		return c
	}
	c := Cause{Code: code, Detail: err.Error(), Hint: "add it to the table in " + v.card.File, Reason: ru.reason}
	var e *rates.NotListedError
	if errors.As(err, &e) && e.Value == "" && e.Field != "" {
		c.Hint = fmt.Sprintf("the job has no %s: a row  \"*\": …  takes what is not listed", e.Field)
		if e.Field == "gpu_type" {
			c.Hint = "the job has no GPU: charge GPUs in a rule of their own, with  match: {gpus: \"> 0\"}"
		}
	}
	var two *rates.TwoRowsError
	if errors.As(err, &two) {
		c.Hint = "count each type for itself in " + v.card.File + ", with gpu(\"…\") in a formula or a meter of its own"
	}
	return c
}

// lacking names the figure of the record that is not known, for which one of
// the card's own figures, made of it, is not known either.
func lacking(e *formula.UnknownFigureError) string {
	var of *formula.UnknownFigureError
	for errors.As(e.Cause, &of) {
		e, of = of, nil
	}
	return e.Name
}

// causeOfStage is a formula that has no value for the job.
func causeOfStage(err *stageError, pl *plan, j *ingest.Job) Cause {
	c := Cause{Code: BadFormula, Detail: fmt.Sprintf("rule=%s %v", pl.rule.Name, err), Reason: pl.rule.reason}
	where := fmt.Sprintf("the rule at line %d of %s", pl.rule.Line, pl.rule.version.card.File)
	c.Hint = "guard the formula with choose() or max() in " + where
	var unknown *formula.UnknownFigureError
	if errors.As(err, &unknown) {
		c.Code = UnknownFigure
		c.Detail = fmt.Sprintf("%s cluster=%s partition=%s", lacking(unknown), j.Cluster, j.Partition)
		c.Hint = fmt.Sprintf("%s needs it and %v", where, unknown)
	}
	return c
}

func (r *Rater) dayOf(t ingest.Instant) rates.Date { return rates.DateOf(timeOf(t), r.tariff.Zone) }
