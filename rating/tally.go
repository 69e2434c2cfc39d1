package rating

import (
	"cmp"
	"fmt"
	"slices"
)

// Tally counts what became of jobs, and proves that nothing vanished:
//
//	job-seconds read = billed + waived + excluded + held
//
// What was read is counted from the records before they are rated, the rest
// from the outcomes. The zero value is ready to use.
type Tally struct {
	Read  Count // jobs that have a part in the period, and the seconds of that part
	Total [verdicts]Count

	causes map[causeKey]Count
}

// Count is a number of jobs and their job-seconds. A job that is cut at a
// version boundary counts once for each part, except under Read.
type Count struct{ Jobs, Seconds int64 }

// CauseCount is one cause with the jobs that it met.
type CauseCount struct {
	Verdict Verdict
	Code    string
	Detail  string
	Hint    string
	Count
}

type causeKey struct {
	verdict            Verdict
	code, detail, hint string
}

// AddRead counts a job that has that many seconds in the period, as
// Rater.Seconds gives them.
func (t *Tally) AddRead(seconds int64) {
	t.Read.Jobs++
	t.Read.Seconds += seconds
}

// Add counts an outcome.
func (t *Tally) Add(o *Outcome) {
	t.Total[o.Verdict].Jobs++
	t.Total[o.Verdict].Seconds += o.Seconds
	if o.Cause.Code == "" {
		return
	}
	if t.causes == nil {
		t.causes = map[causeKey]Count{}
	}
	key := causeKey{o.Verdict, o.Cause.Code, o.Cause.Detail, o.Cause.Hint}
	c := t.causes[key]
	t.causes[key] = Count{c.Jobs + 1, c.Seconds + o.Seconds}
}

// Merge adds the counts of u, which was kept beside t.
func (t *Tally) Merge(u *Tally) {
	t.Read.Jobs += u.Read.Jobs
	t.Read.Seconds += u.Read.Seconds
	for v, c := range u.Total {
		t.Total[v].Jobs += c.Jobs
		t.Total[v].Seconds += c.Seconds
	}
	if t.causes == nil && len(u.causes) > 0 {
		t.causes = map[causeKey]Count{}
	}
	for key, c := range u.causes {
		sum := t.causes[key]
		t.causes[key] = Count{sum.Jobs + c.Jobs, sum.Seconds + c.Seconds}
	}
}

// Causes lists every cause: held before excluded before waived, then those
// with the most seconds first.
func (t *Tally) Causes() []CauseCount {
	list := make([]CauseCount, 0, len(t.causes))
	for key, c := range t.causes {
		list = append(list, CauseCount{key.verdict, key.code, key.detail, key.hint, c})
	}
	slices.SortFunc(list, func(a, b CauseCount) int {
		return cmp.Or(cmp.Compare(b.Verdict, a.Verdict), cmp.Compare(b.Seconds, a.Seconds),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Detail, b.Detail), cmp.Compare(a.Hint, b.Hint))
	})
	return list
}

// Accounted is the sum of the seconds billed, waived, excluded and held.
func (t *Tally) Accounted() int64 {
	return t.Total[Charged].Seconds + t.Total[Waived].Seconds + t.Total[Excluded].Seconds + t.Total[Held].Seconds
}

// Check reports seconds that were read and not accounted for.
func (t *Tally) Check() error {
	if t.Read.Seconds != t.Accounted() {
		return fmt.Errorf("job-seconds read %d are not billed %d + waived %d + excluded %d + held %d", t.Read.Seconds,
			t.Total[Charged].Seconds, t.Total[Waived].Seconds, t.Total[Excluded].Seconds, t.Total[Held].Seconds)
	}
	return nil
}

// Equation prints the equation with its numbers, in job-seconds.
func (t *Tally) Equation() string {
	return fmt.Sprintf("job-seconds read %d = billed %d + waived %d + excluded %d + held %d", t.Read.Seconds,
		t.Total[Charged].Seconds, t.Total[Waived].Seconds, t.Total[Excluded].Seconds, t.Total[Held].Seconds)
}
