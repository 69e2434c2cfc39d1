package rates

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// A timeUnit is one in which a duration may have been written that is taken for
// hours, and the words by which the unit of a meter says that it is meant so.
type timeUnit struct {
	name       string
	ofAnHour   money.Exact // how many an hour has
	remedy     string
	inTheMeter []string
}

func timeUnits() []timeUnit {
	return []timeUnit{
		{"minutes", money.Int(60), "divide by 60", []string{"min"}},
		{"seconds", money.Int(3600), "divide by 3600", []string{"sec"}},
		{"days", money.Ratio(1, 24), "multiply by 24", []string{"day", "diem"}},
	}
}

// checkTimeUnit warns of a duration that is not in hours, as ceil(elapsed_h*60)
// is: minutes are sixty times too much.
func (c *chargeLoader) checkTimeUnit(n *yaml.Node) {
	hours, ok := c.hoursCountedAnHour()
	if !ok {
		return
	}
	unit := strings.ToLower(c.charge.Meter.Unit)
	for _, t := range timeUnits() {
		if hours.Equal(t.ofAnHour) && !slices.ContainsFunc(t.inTheMeter, func(word string) bool { return strings.Contains(unit, word) }) {
			c.warn(n, c.path+".duration", fmt.Sprintf("is in %s, and is taken for hours", t.name), t.remedy+", or name the unit of the meter after what it counts")
		}
	}
}

// hoursCountedAnHour is how much the duration of a long job grows by with each
// hour that it runs: by what lies between a thousand days and two thousand, which
// are whole hours, minutes and days.
func (c *chargeLoader) hoursCountedAnHour() (money.Exact, bool) {
	const days = 1000
	short, err := c.durationOfDays(days)
	if err != nil {
		return money.Exact{}, false
	}
	long, err := c.durationOfDays(2 * days)
	if err != nil {
		return money.Exact{}, false
	}
	return long.Sub(short).Quo(money.Int(24 * days))
}

// durationOfDays evaluates the duration of a job of one CPU.
func (c *chargeLoader) durationOfDays(days int64) (money.Exact, error) {
	var job formula.Values
	for _, f := range formula.NewScope(formula.OfJob, formula.RateStage).Figures() {
		job.SetInt(f.Slot, 1)
	}
	job.SetInt(formula.SuspendedSeconds, 0)
	job.SetInt(formula.WaitSeconds, 0)
	job.SetInt(formula.TimelimitSeconds, 86400)
	job.SetInt(formula.ElapsedSeconds, days*86400)
	job.SetInt(formula.CalendarDays, days)
	c.version.EvaluateLets(&job)
	return c.charge.Duration.Eval(&job)
}
