package rating

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// cardsDir has the cards of the published examples.
const cardsDir = "../testdata/rates"

// notRatable are the examples whose figures no record of Slurm and no row of
// storage.csv can have. Their formulas are tried on the figures themselves.
var notRatable = map[string]string{
	"csc-rahti-01":   "half a core in use: the figures of use stand for what is allocated",
	"csc-rahti-02":   "storage for an hour",
	"csc-satama-01":  "storage for an hour",
	"nerc-03":        "a tenth of a CPU",
	"nerc-04":        "storage for 700 hours, which are no whole days",
	"nerc-06":        "storage for an hour",
	"sigma2-saga-02": "milliseconds",
	"sigma2-saga-03": "milliseconds",
	"sigma2-saga-04": "milliseconds",
	"sigma2-saga-05": "milliseconds",
	"sigma2-saga-06": "milliseconds",
	"sigma2-saga-07": "milliseconds",
	"uit-stallo-02":  "3.2 GiB, which are no whole MiB",
}

// example is one line of examples.txt.
type example struct{ id, card, facts, want string }

func readExamples(t *testing.T) []example {
	t.Helper()
	f, err := os.Open(cardsDir + "/examples.txt")
	require.NoError(t, err)
	defer f.Close()
	var examples []example
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		cells := strings.Split(lines.Text(), " | ")
		require.Len(t, cells, 4, lines.Text())
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		examples = append(examples, example{cells[0], cells[1], cells[2], cells[3]})
	}
	require.NoError(t, lines.Err())
	return examples
}

// exampleCard finds a card beside the examples, or among those shipped.
func exampleCard(t *testing.T, name string) *rates.Card {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cardsDir, name+".yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		shipped, ok := rates.Shipped(name)
		require.True(t, ok, name)
		text, err = shipped, nil
	}
	require.NoError(t, err)
	card, err := rates.LoadCard(name+".yaml", text)
	require.NoError(t, err)
	return card
}

// number reads "0.5" or "10/1024".
func number(t *testing.T, text string) money.Exact {
	t.Helper()
	over, under, divided := strings.Cut(text, "/")
	x, err := money.ParseDecimal(over)
	require.NoError(t, err)
	if divided {
		y, err := money.ParseDecimal(under)
		require.NoError(t, err)
		x, _ = x.Quo(y)
	}
	return x
}

// facts are the facts of an example by name.
type facts struct {
	texts   map[string]string
	figures map[string]money.Exact
	day     rates.Date
}

func readFacts(t *testing.T, text string) facts {
	t.Helper()
	f := facts{texts: map[string]string{}, figures: map[string]money.Exact{}, day: rates.Date{Year: 2025, Month: 1, Day: 15}}
	for _, fact := range strings.Fields(text) {
		name, value, _ := strings.Cut(fact, "=")
		switch name {
		case "cluster", "partition", "qos", "state", "class", "filesystem", "gpu_type":
			f.texts[name] = value
		case "date":
			d, err := rates.ParseDate(value)
			require.NoError(t, err)
			f.day = d
		default:
			f.figures[name] = number(t, value)
		}
	}
	return f
}

// count takes a figure that a record has as a whole number, times what one is
// worth in the record's unit.
func (f facts) count(name string, each int64, whole *bool) int64 {
	x, given := f.figures[name]
	if !given {
		return ingest.Unknown
	}
	n, ok := x.Mul(money.Int(each)).Int64()
	*whole = *whole && ok
	return n
}

func firstKnown(counts ...int64) int64 {
	for _, n := range counts {
		if n != ingest.Unknown {
			return n
		}
	}
	return ingest.Unknown
}

// job makes the record of a job that ended at noon of the day; whole is false
// where a figure is not one that a record can have.
func (f facts) job(t *testing.T) (j *ingest.Job, whole bool) {
	t.Helper()
	whole = true
	count := func(name string, each int64) int64 { return f.count(name, each, &whole) }
	end := ingest.Instant(f.day.Midnight(time.UTC).Unix() + 12*3600)
	j = &ingest.Job{
		Cluster: f.texts["cluster"], JobID: "1", JobIDRaw: 1, User: "u1", Account: "lab", Partition: f.texts["partition"], QoS: f.texts["qos"],
		State: ingest.State(f.texts["state"]), End: end,
		ElapsedSeconds: firstKnown(count("h", 3600), count("s", 1)), TimelimitSeconds: count("timelimit_h", 3600),
		CPUs: count("cpus", 1), NodeCount: count("nodes", 1), MemoryMiB: firstKnown(count("mem_gib", 1024), count("mem_mib", 1)),
		GPUs: count("gpus", 1), Billing: count("billing", 1),
		ReqCPUs: count("req_cpus", 1), ReqNodeCount: ingest.Unknown, ReqMemoryMiB: count("req_mem_gib", 1024), ReqGPUs: count("req_gpus", 1),
	}
	if j.State == "" {
		j.State = ingest.Completed
	}
	typed, tres := int64(0), []string{}
	for name := range f.figures {
		if gpu, ok := strings.CutPrefix(name, "gpu:"); ok {
			n := count(name, 1)
			typed += n
			tres = append(tres, fmt.Sprintf("gres/gpu:%s=%d", gpu, n))
		}
	}
	if j.GPUs == ingest.Unknown {
		j.GPUs = typed
	}
	if gpu := f.texts["gpu_type"]; gpu != "" {
		tres = append(tres, fmt.Sprintf("gres/gpu:%s=%d", gpu, j.GPUs))
	}
	for name, n := range map[string]int64{"cpu": j.CPUs, "node": j.NodeCount, "gres/gpu": j.GPUs, "billing": j.Billing} {
		if n > 0 {
			tres = append(tres, fmt.Sprintf("%s=%d", name, n))
		}
	}
	if j.MemoryMiB > 0 {
		tres = append(tres, fmt.Sprintf("mem=%dM", j.MemoryMiB))
	}
	j.AllocTRES = strings.Join(tres, ",")
	j.Start = end - ingest.Instant(j.ElapsedSeconds)
	j.Submit, j.Eligible = j.Start-60, j.Start-60
	return j, whole
}

// holding makes the row of a holding: for so many months from the day's month
// on, or for so many days from the first of a month, which has month_days.
func (f facts) holding(t *testing.T) (h ingest.Holding, whole bool) {
	t.Helper()
	whole = true
	count := func(name string, each int64) int64 { return f.count(name, each, &whole) }
	month := rates.MonthOf(f.day.Year, time.Month(f.day.Month), time.UTC)
	for n := count("month_days", 1); n != ingest.Unknown && month.Days() != int(n); {
		month = month.Next()
	}
	until := month.Start.AddDate(0, int(max(0, count("months", 1))), int(max(0, count("days", 1))))
	const tib = 1 << 40
	return ingest.Holding{
		Group: "lab", Filesystem: f.texts["filesystem"], From: ingest.Date(rates.DateOf(month.Start, time.UTC)),
		Until: ingest.Date(rates.DateOf(until, time.UTC)), QuotaBytes: firstKnown(count("quota_tb", tb), count("quota_tib", tib)),
		UsedBytes: firstKnown(count("used_tb", tb), count("used_tib", tib)), Unit: ingest.TB,
	}, whole
}

// came is what rating by a card came to, by the names that examples.txt uses.
type came map[string]money.Exact

func (c came) add(name string, x money.Exact) { c[name] = c[name].Add(x) }

func (c came) addCharges(charges []Charge, waived bool) {
	for _, ch := range charges {
		c.add(ch.Meter, ch.Quantity)
		c.add("amount."+ch.Meter, ch.Amount)
		c.add("amount", ch.Amount)
		if waived {
			c.add("waived", ch.Amount)
		}
	}
}

// rate rates one job or holding by the card; false where it is not ratable.
func (c came) rate(t *testing.T, card *rates.Card, text string) bool {
	t.Helper()
	f := readFacts(t, text)
	class := f.texts["class"]
	if class == "" {
		class = "internal"
	}
	r := NewRater(Tariff{
		Zone: time.UTC, Roster: roster(t, "groups: [{id: lab, class: "+class+", jobs: [{account: lab}]}]"),
		Cards: map[string]*rates.Card{f.texts["cluster"]: card}, Storage: []StorageCard{{Filesystem: "*", Card: card}},
	})
	if f.texts["filesystem"] != "" {
		h, whole := f.holding(t)
		return whole && c.rateHolding(t, r, h)
	}
	j, whole := f.job(t)
	return whole && c.rateJob(t, r, j)
}

func (c came) rateHolding(t *testing.T, r *Rater, h ingest.Holding) bool {
	t.Helper()
	p := rates.MonthOf(h.From.Year, time.Month(h.From.Month), time.UTC)
	for ; rates.DateOf(p.Start, time.UTC).Before(rates.Date(h.Until)); p = p.Next() {
		outcomes, err := r.Storage([]ingest.Holding{h}, p)
		require.NoError(t, err)
		require.Len(t, outcomes, 1)
		require.Equal(t, Charged, outcomes[0].Verdict, "%s: %+v", p, outcomes[0].Cause)
		c.addCharges(outcomes[0].Charges, false)
	}
	return true
}

func (c came) rateJob(t *testing.T, r *Rater, j *ingest.Job) bool {
	t.Helper()
	e := r.Explain(j, rates.PeriodContaining(timeOf(j.End), time.UTC))
	require.Len(t, e.Parts, 1)
	o := e.Parts[0].Outcome
	require.Contains(t, []Verdict{Charged, Waived}, o.Verdict, "%+v", o.Cause)
	c.addCharges(o.Charges, o.Verdict == Waived)
	for _, step := range e.Parts[0].Steps {
		if step.Stage == RateStage {
			c.add("rate."+step.Meter, number(t, step.Value))
		}
	}
	return true
}

// evaluate puts an example's figures into the formulas of the rule that
// matches, for those that are not ratable.
func (c came) evaluate(t *testing.T, card *rates.Card, text string) {
	t.Helper()
	f := readFacts(t, text)
	on := &rates.Facts{Values: &formula.Values{}, GPUTypesKnown: true}
	on.Text[rates.Partition], on.Text[rates.Filesystem], on.Text[rates.Class] = f.texts["partition"], f.texts["filesystem"], "internal"
	for name, x := range f.figures {
		figure, ok := map[string]struct {
			slot formula.Slot
			each int64
		}{
			"cpus": {formula.CPUs, 1}, "req_cpus": {formula.ReqCPUs, 1}, "mem_gib": {formula.MemoryMiB, 1024},
			"req_mem_gib": {formula.ReqMemoryMiB, 1024}, "h": {formula.ElapsedSeconds, 3600}, "s": {formula.ElapsedSeconds, 1}, "gpus": {formula.GPUs, 1},
			"quota_tib": {formula.QuotaBytes, 1 << 40}, "days": {formula.Days, 1}, "month_days": {formula.MonthDays, 1},
		}[name]
		require.True(t, ok, name)
		on.Values.Set(figure.slot, x.Mul(money.Int(figure.each)))
	}
	v := card.VersionAt(f.day)
	var charges []*rates.RuleCharge
	if f.texts["filesystem"] != "" {
		rule, err := v.SelectStorage(on)
		require.NoError(t, err)
		charges = rule.Charges
	} else {
		h, err := v.HardwareFor(on)
		require.NoError(t, err)
		if h != nil {
			h.Fill(on.Values)
		}
		rule, err := v.Select(on)
		require.NoError(t, err)
		charges = rule.Charges
	}
	v.EvaluateLets(on.Values)
	for _, rc := range charges {
		c.evaluateCharge(t, rc, on, f)
	}
}

func (c came) evaluateCharge(t *testing.T, rc *rates.RuleCharge, on *rates.Facts, f facts) {
	t.Helper()
	eval := func(g *formula.Formula, otherwise money.Exact) money.Exact {
		t.Helper()
		if g == nil {
			return otherwise
		}
		x, err := g.Eval(on.Values)
		require.NoError(t, err)
		return x
	}
	require.Empty(t, rc.Factors)
	require.Nil(t, rc.Amount)
	rate := eval(rc.Rate, money.Exact{})
	hours := f.figures["h"].Add(f.figures["s"].Mul(money.Ratio(1, secondsOfHour)))
	units := eval(rc.Units, rate.Mul(eval(rc.Duration, hours)))
	price, _, err := rc.Meter.PriceFor(on)
	require.NoError(t, err)
	c.add("rate."+rc.Meter.Name, rate)
	c.addCharges([]Charge{{Meter: rc.Meter.Name, Quantity: units, Amount: units.Mul(price)}}, false)
}

// wanted splits "su=44.46@half_up/2".
func wanted(t *testing.T, text string) (name string, value money.Exact, round func(money.Exact) money.Exact) {
	t.Helper()
	name, rest, ok := strings.Cut(text, "=")
	require.True(t, ok, text)
	decimal, how, rounded := strings.Cut(rest, "@")
	value = number(t, decimal)
	if !rounded {
		return name, value, func(x money.Exact) money.Exact { return x }
	}
	modeName, places, _ := strings.Cut(how, "/")
	mode, err := money.ParseMode(modeName)
	require.NoError(t, err)
	digits, err := strconv.Atoi(places)
	require.NoError(t, err)
	return name, value, func(x money.Exact) money.Exact { return x.Round(digits, mode) }
}

// Every published example comes out as published, at the rounding at which it
// was published, from a card alone and by the Rater.
func TestExamples(t *testing.T) {
	cards, evaluated := map[string]*rates.Card{}, map[string]bool{}
	for _, e := range readExamples(t) {
		t.Run(e.id, func(t *testing.T) {
			card, got := cards[e.card], came{}
			if card == nil {
				card = exampleCard(t, e.card)
				cards[e.card] = card
			}
			ratable := true
			for _, subject := range strings.Split(e.facts, " + ") {
				ratable = got.rate(t, card, subject) && ratable
			}
			if !ratable {
				require.NotEmpty(t, notRatable[e.id], "a figure is no whole number of its record")
				evaluated[e.id], got = true, came{}
				for _, subject := range strings.Split(e.facts, " + ") {
					got.evaluate(t, card, subject)
				}
			}
			for _, w := range strings.Fields(e.want) {
				name, want, round := wanted(t, w)
				x, ok := got[name]
				require.True(t, ok, "%s is not among the results", name)
				require.Equal(t, want.String(), round(x).String(), "%s came to %s", name, x)
			}
		})
	}
	require.Len(t, evaluated, len(notRatable), "the others are ratable")
}

// Where the collection of examples is at hand, examples.txt covers all of it
// that jobs, virtual machines and holdings can be rated for, and expects
// nothing but what was published - or, of those that contradict their own
// formula, what the formula gives.
func TestExamplesAreThePublishedOnes(t *testing.T) {
	f, err := os.Open("../../shared/facts/charging-examples.jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("external test data not present")
	}
	require.NoError(t, err)
	defer f.Close()
	lines := map[string][]example{}
	for _, e := range readExamples(t) {
		lines[e.id] = append(lines[e.id], e)
	}
	kinds := map[string]bool{"job": true, "slurm-billing": true, "vm": true, "storage": true, "rate": true, "tier": true}
	for decoder := json.NewDecoder(f); decoder.More(); {
		var published struct {
			ID, Kind        string
			Verified        bool
			Expected, Exact any
		}
		require.NoError(t, decoder.Decode(&published))
		if !kinds[published.Kind] {
			continue
		}
		examples := lines[published.ID]
		require.NotEmpty(t, examples, "%s is not tried", published.ID)
		values := decimals(published.Expected)
		if !published.Verified {
			values = decimals(published.Exact)
		}
		for _, e := range examples {
			for _, w := range strings.Fields(e.want) {
				name, value, _ := wanted(t, w)
				require.Contains(t, values, value.String(), "%s: %s", published.ID, name)
				if !published.Verified {
					require.NotContains(t, decimals(published.Expected), value.String(), "%s: %s", published.ID, name)
				}
			}
		}
	}
}

// decimals collects the numbers of a published result.
func decimals(v any) map[string]bool {
	found := map[string]bool{}
	var collect func(any)
	collect = func(v any) {
		switch x := v.(type) {
		case string:
			if d, err := money.ParseDecimal(x); err == nil {
				found[d.String()] = true
			}
		case float64:
			found[strconv.FormatFloat(x, 'f', -1, 64)] = true
		case []any:
			for _, item := range x {
				collect(item)
			}
		case map[string]any:
			for _, item := range x {
				collect(item)
			}
		}
	}
	collect(v)
	return found
}
