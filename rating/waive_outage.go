package rating

import (
	"errors"
	"fmt"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// waiveOutages takes off a part what outages forgive of it. An outage that
// asks for what the record does not say holds the part.
func (r *Rater) waiveOutages(pl *plan, j *ingest.Job, p part) (cause Cause, unknown bool) {
	w := r.waiving
	start, end := j.Start, wallEnd(j)
	w.near = w.outages.Meeting(w.near[:0], int64(start), int64(end)+1)
	if len(w.near) == 0 {
		return Cause{}, false
	}
	met := w.near[:0]
	factsOf := (*ingest.Job)(nil)
	for _, o := range w.near {
		if w.period.Start.Before(o.BilledFrom) || !ranInto(o, j, start, end) {
			continue
		}
		if factsOf == nil && !o.Match.IsCatchAll() {
			factsOf = j
			r.setOutageFacts(pl, j)
		}
		matches, err := r.matchesOutage(o, j)
		switch {
		case err != nil:
			return causeOfOutageFact(err, w.outages.File, o, j), true
		case matches:
			met = append(met, o)
		}
	}
	w.waiveTime(met, j, p)
	return Cause{}, false
}

// ranInto reports whether the outage is about a job with these times and this
// end state.
func ranInto(o *rates.Outage, j *ingest.Job, start, end ingest.Instant) bool {
	if o.Mode == rates.OutageKilled {
		return j.Final() && o.Kills(int64(j.End), string(j.State))
	}
	return o.Meets(int64(start), int64(end))
}

// wallEnd is the end of a job's wall time, or as far as it is known.
func wallEnd(j *ingest.Job) ingest.Instant {
	if j.Final() {
		return j.End
	}
	return j.Start + ingest.Instant(max(0, j.ElapsedSeconds)+max(0, j.SuspendedSeconds))
}

// setOutageFacts tells the matches of outages about a job.
func (r *Rater) setOutageFacts(pl *plan, j *ingest.Job) {
	r.setLimitFacts(j)
	f := &r.facts
	f.Text[rates.GroupID], f.Text[rates.Class], f.Text[rates.NodeType] = pl.group.ID, pl.group.Class, ""
	if pl.hardware != nil {
		f.Text[rates.NodeType] = pl.hardware.NodeType
	}
}

func (r *Rater) matchesOutage(o *rates.Outage, j *ingest.Job) (bool, error) {
	if !o.Match.IsCatchAll() {
		if matches, err := o.Match.Matches(&r.facts); !matches {
			return false, err
		}
	}
	if o.Nodes == nil {
		return true, nil
	}
	met, known := o.Nodes.Meets(j.NodeList)
	if !known {
		return false, &rates.UnknownFactError{Field: "node_list"}
	}
	return met, nil
}

// waiveTime shares the part's time among the outages that met the job, which
// come in the order of their beginning. One that waives whole jobs takes all;
// of the others each second goes to the first that covers it, so that none is
// waived twice.
func (w *waiving) waiveTime(met []*rates.Outage, j *ingest.Job, p part) {
	for _, o := range met {
		if o.Mode != rates.OutageOverlap || p.from == p.until {
			w.take(waivedShare{cause: w.causes[o], seconds: p.elapsed, of: one, outage: o})
			return
		}
	}
	start, end := j.Start, wallEnd(j)
	at := p.from
	for _, o := range met {
		from, until := max(ingest.Instant(o.From), at), min(ingest.Instant(o.Until), p.until)
		if from >= until {
			continue
		}
		at = until
		seconds := cut(j, start, end, from, until).elapsed
		switch {
		case seconds > 0:
			w.take(waivedShare{cause: w.causes[o], seconds: seconds, of: money.Ratio(seconds, p.elapsed), outage: o})
		case p.elapsed == 0 && from == p.from && until == p.until: // suspended all along
			w.take(waivedShare{cause: w.causes[o], of: one, outage: o})
		}
	}
}

// causeOfOutageFact is an outage that hangs on what the record does not say.
func causeOfOutageFact(err error, file string, o *rates.Outage, j *ingest.Job) Cause {
	name := err.Error()
	var e *rates.UnknownFactError
	if errors.As(err, &e) {
		name = e.Field
	}
	return Cause{
		Code: UnknownFigure, Detail: fmt.Sprintf("%s cluster=%s outage=%s", name, j.Cluster, o.Name),
		Hint: fmt.Sprintf("the job ran in the outage at line %d of %s, which asks for %s: dump it, or let the outage ask for something else",
			o.Line, file, name),
		Reason: Reason{Rule: o.Name, File: file, Line: o.Line},
	}
}
