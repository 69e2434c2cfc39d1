package rates

import (
	"iter"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
)

// Clock is hours of the week: those of a day and of an hour of the local clock
// that it has, whenever they come.
type Clock struct {
	weekdays, hours uint32 // a bit each
	Text            string // as the card has it
}

// Spans yields the spans of [from, until), in seconds since 1970 UTC, that lie in
// the hours of the clock, one after another.
func (c *Clock) Spans(from, until int64, zone *time.Location) iter.Seq2[int64, int64] {
	return func(yield func(from, until int64) bool) {
		for t := from; t < until; {
			local := time.Unix(t, 0).In(zone)
			// Clocks are changed at whole hours.
			next := min(until, t+3600-int64(local.Minute()*60+local.Second()))
			in := c.weekdays&(1<<uint(local.Weekday())) != 0 && c.hours&(1<<uint(local.Hour())) != 0
			if in && !yield(t, next) {
				return
			}
			t = next
		}
	}
}

// clockFields are the fields of a match that a clock may name.
func clockFields() []matchField {
	return slices.DeleteFunc(matchFields(), func(f matchField) bool { return f.kind != weekdayKind && f.kind != hourKind })
}

// clock reads {weekday: mon..fri, hour: 8..17}.
func (l *cardLoader) clock(n *yaml.Node, path string) *Clock {
	before := len(l.Faults)
	c := &Clock{weekdays: 1<<7 - 1, hours: 1<<24 - 1}
	var words []string
	for _, condition := range l.match(n, path, clockFields()).conditions {
		if condition.field.kind == weekdayKind {
			c.weekdays = condition.set
		} else {
			c.hours = condition.set
		}
	}
	if len(l.Faults) == before && len(n.Content) == 0 {
		l.Fault(n, path, "names no hours", "write  {weekday: mon..fri, hour: 8..17}")
	}
	if len(l.Faults) > before {
		return nil
	}
	for _, f := range l.Fields(n, path, fieldNames(clockFields())...) {
		var values []string
		for _, v := range l.OneOrMany(f.Value, path) {
			values = append(values, v.Value)
		}
		words = append(words, f.Key+" "+strings.Join(values, ", "))
	}
	c.Text = strings.Join(words, ", ")
	return c
}

// clockFormula is what a figure of a clock is for the checks of a card: so many
// hours of those that the job ran.
func clockFormula() *formula.Formula {
	f, faults := formula.Parse("elapsed_h", formula.NewScope(formula.OfJob, formula.LetStage))
	if len(faults) > 0 {
		panic("BUG: elapsed_h is no formula")
	}
	return f
}
