package main

import (
	"context"
	"fmt"
	"sort"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"

	"github.com/spf13/cobra"
)

const unbilledLong = `Lists everything of a month that was not billed, by verdict and cause: how many,
how many job-seconds, and what it would have cost at list price where that is
known. What was waived was priced. What is held for want of a group alone has
the value that it would have, or the least and the most where that hangs on the
class of the group. What else is held, and what is excluded, quarantined or
still running was not priced: its value is unknown, not nothing.

Below stand the totals, which tie to the two equations:
  job-seconds read = billed + waived + excluded + held + running
  records read = jobs + steps + superseded + quarantined
Records are those of all dumps: a step or an older record of a job belongs to
no month. A job that is cut can have several causes and counts once in a total.`

func (a *app) unbilledCommand() *cobra.Command {
	c := a.periodReport("unbilled", "what was not billed in a period, by cause, with job-seconds and list value", (*site).reportUnbilled)
	c.Long = unbilledLong
	return c
}

// unknownText stands where a number is not known: an empty cell could be read
// as nothing.
const unknownText = "unknown"

// listValues are the amounts at list price of what was billed and waived.
type listValues struct {
	billed, billedStorage money.Sum
	waived                map[waivedKey]*money.Sum
}

type waivedKey struct {
	storage bool
	cause   [2]string // code and detail
}

func (v *listValues) add(storage bool, verdict rating.Verdict, cause *rating.Cause, charges []rating.Charge) {
	to := &v.billed
	switch {
	case verdict == rating.Waived:
		key := waivedKey{storage, [2]string{cause.Code, cause.Detail}}
		if to = v.waived[key]; to == nil {
			to = &money.Sum{}
			v.waived[key] = to
		}
	case storage:
		to = &v.billedStorage
	}
	for i := range charges {
		to.Add(charges[i].Amount)
	}
}

// reportUnbilled computes the period and lists every cause for which
// something was not billed; the seconds and those billed make the whole.
func (s *site) reportUnbilled(ctx context.Context, p rates.Period) (*table, error) {
	values := &listValues{waived: map[waivedKey]*money.Sum{}}
	b, err := s.compute(ctx, s.inputs, p, &sink{each: func(o *rating.Outcome) { values.add(false, o.Verdict, &o.Cause, o.Charges) }})
	if err != nil {
		return nil, err
	}
	for _, o := range b.storage {
		values.add(true, o.Verdict, &o.Cause, o.Charges)
	}
	t := &table{columns: columns("verdict", "what", "cause", "detail", ">count", ">seconds", ">list", "hint")}
	waived, err := s.addCauses(t, &b.summary, values)
	if err != nil {
		return nil, err
	}
	if err := s.addQuarantined(t, p); err != nil {
		return nil, err
	}
	return t, s.addTotals(t, &b.summary, values, waived)
}

// addCauses adds a row a cause and gives the list value of all waived jobs.
func (s *site) addCauses(t *table, sum *invoice.Summary, values *listValues) (waived money.Exact, err error) {
	causes := sum.Causes
	sort.SliceStable(causes, func(i, j int) bool { return causes[i].Verdict > causes[j].Verdict })
	seconds := map[rating.Verdict]int64{}
	for _, c := range causes {
		what, ran := "jobs", any(c.Seconds)
		list, err := s.stakeText(c.Stake)
		if err != nil {
			return waived, err
		}
		if c.Storage {
			what, ran = "holdings", nil
		}
		if v := values.waived[waivedKey{c.Storage, [2]string{c.Code, c.Detail}}]; c.Verdict == rating.Waived && v != nil {
			if list, err = s.listText(v.Exact()); err != nil {
				return waived, err
			}
			if !c.Storage {
				waived = waived.Add(v.Exact())
			}
		}
		seconds[c.Verdict] += c.Seconds
		t.add(c.Verdict.String(), what, c.Code, c.Detail, c.Count, ran, list, c.Hint)
	}
	x := sum.Seconds
	for verdict, want := range map[rating.Verdict]int64{rating.Waived: x.Waived, rating.Excluded: x.Excluded, rating.Held: x.Held} {
		if seconds[verdict] != want {
			return waived, fmt.Errorf("BUG: %d job-seconds are %s, but the causes have %d", want, verdict, seconds[verdict])
		}
	}
	t.add(rating.NotRun.String(), "jobs", "never started", "", sum.Jobs.NotRun, int64(0), s.config.Currency.Plain(0), "")
	t.add(rating.Running.String(), "jobs", "not ended", "", sum.Jobs.Running, x.Running, unknownText, "")
	return waived, nil
}

// addQuarantined adds the records of the period that could not be read, a row
// a reason.
func (s *site) addQuarantined(t *table, p rates.Period) error {
	records, err := s.quarantined(p)
	if err != nil {
		return err
	}
	type kind struct{ reason, hint string }
	counts := map[kind]int64{}
	var kinds []kind
	for _, q := range records {
		k := kind{q.Reason, q.Hint}
		if counts[k] == 0 {
			kinds = append(kinds, k)
		}
		counts[k]++
	}
	sort.SliceStable(kinds, func(i, j int) bool { return counts[kinds[i]] > counts[kinds[j]] })
	for _, k := range kinds {
		t.add("quarantined", "records", "unreadable", k.reason, counts[k], unknownText, unknownText, k.hint)
	}
	return nil
}

// addTotals adds the terms of the two equations.
func (s *site) addTotals(t *table, sum *invoice.Summary, values *listValues, waived money.Exact) error {
	const term, all = "total", "all dumps"
	j, x, r := sum.Jobs, sum.Seconds, sum.Records
	billed, err := s.listText(values.billed.Exact())
	if err != nil {
		return err
	}
	forgiven, err := s.listText(waived)
	if err != nil {
		return err
	}
	value := func(count int64) string {
		if count == 0 {
			return s.config.Currency.Plain(0)
		}
		return unknownText
	}
	t.add("billed", "jobs", term, "", j.Billed, x.Billed, billed, "")
	t.add(rating.Waived.String(), "jobs", term, "", j.Waived, x.Waived, forgiven, "")
	t.add(rating.Excluded.String(), "jobs", term, "", j.Excluded, x.Excluded, value(j.Excluded), "")
	held, err := s.stakeText(heldStake(sum))
	if err != nil {
		return err
	}
	t.add(rating.Held.String(), "jobs", term, "", j.Held, x.Held, held, "")
	t.add("read", "jobs", term, "", j.Read, x.Read+x.Running, nil, "")
	if h := sum.Storage; h.Read > 0 {
		list, err := s.listText(values.billedStorage.Exact())
		if err != nil {
			return err
		}
		t.add("billed", "holdings", term, "", h.Billed, nil, list, "")
		t.add("read", "holdings", term, "", h.Read, nil, nil, "")
	}
	t.add("jobs", "records", term, all, r.Jobs, nil, nil, "")
	t.add("steps", "records", term, all, r.Steps, nil, nil, "")
	t.add("superseded", "records", term, all, r.Superseded, nil, nil, "")
	t.add("quarantined", "records", term, all, r.Quarantined, nil, nil, "")
	t.add("read", "records", term, all, r.Read, nil, nil, "")
	return nil
}

// listText prints an exact amount as the currency has it.
func (in *inputs) listText(x money.Exact) (string, error) {
	a, err := in.config.Currency.Amount(x, in.config.Invoice.Rounding)
	return in.config.Currency.Plain(a), err
}
