package rates_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

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

// told turns the facts of an example into what a card asks.
func told(t *testing.T, text string) (f *rates.Facts, day rates.Date, storage bool) {
	t.Helper()
	typed := map[string]int64{}
	f = &rates.Facts{Values: &formula.Values{}, GPUTypesKnown: true}
	f.Values.TRES = func(name string) (int64, bool) { return typed[name], true }
	day = rates.Date{Year: 2025, Month: 1, Day: 15}
	texts := map[string]rates.TextField{
		"cluster": rates.Cluster, "partition": rates.Partition, "qos": rates.QoS, "state": rates.State,
		"class": rates.Class, "filesystem": rates.Filesystem,
	}
	slots := map[string]formula.Slot{
		"cpus": formula.CPUs, "nodes": formula.Nodes, "gpus": formula.GPUs, "mem_mib": formula.MemoryMiB, "billing": formula.Billing,
		"req_cpus": formula.ReqCPUs, "req_gpus": formula.ReqGPUs, "days": formula.Days, "month_days": formula.MonthDays, "s": formula.ElapsedSeconds,
	}
	scaled := map[string]struct {
		slot formula.Slot
		by   int64
	}{
		"mem_gib": {formula.MemoryMiB, 1024}, "req_mem_gib": {formula.ReqMemoryMiB, 1024},
		"h": {formula.ElapsedSeconds, 3600}, "timelimit_h": {formula.TimelimitSeconds, 3600},
		"quota_tb": {formula.QuotaBytes, 1e12}, "used_tb": {formula.UsedBytes, 1e12},
		"quota_tib": {formula.QuotaBytes, 1 << 40}, "used_tib": {formula.UsedBytes, 1 << 40},
	}
	for _, fact := range strings.Fields(text) {
		name, value, _ := strings.Cut(fact, "=")
		field, isText := texts[name]
		slot, isFigure := slots[name]
		scale, isScaled := scaled[name]
		gpu, isGPU := strings.CutPrefix(name, "gpu:")
		switch {
		case isText:
			f.Text[field] = value
			storage = storage || name == "filesystem"
		case isFigure:
			f.Values.Set(slot, number(t, value))
		case isScaled:
			f.Values.Set(scale.slot, number(t, value).Mul(money.Int(scale.by)))
			if scale.slot == formula.UsedBytes { // the same on all days
				f.Values.Set(formula.MeanBytes, number(t, value).Mul(money.Int(scale.by)))
			}
		case isGPU:
			n, err := strconv.ParseInt(value, 10, 64)
			require.NoError(t, err)
			typed["gres/gpu:"+gpu] = n
			f.GPUTypes = append(f.GPUTypes, gpu)
		case name == "gpu_type":
			f.GPUTypes = append(f.GPUTypes, value)
		case name == "date":
			d, err := rates.ParseDate(value)
			require.NoError(t, err)
			day = d
		default:
			require.Fail(t, "unknown fact", fact)
		}
	}
	return f, day, storage
}

// came is what rating by a card came to, by the names that examples.txt uses.
type came map[string]money.Exact

func (c came) add(name string, x money.Exact) { c[name] = c[name].Add(x) }

// price rates one job or holding: rule, let figures, rate, factors, duration,
// units, price, amount, as the rating stage does it.
func (c came) price(t *testing.T, card *rates.Card, text string) {
	t.Helper()
	f, day, storage := told(t, text)
	v := card.VersionAt(day)
	require.NotNil(t, v, "no version on %s", day)
	if storage {
		v.EvaluateLets(f.Values)
		rule, err := v.SelectStorage(f)
		require.NoError(t, err)
		require.NotNil(t, rule, "no rule")
		share := money.Int(1)
		if rule.Prorate == rates.ProrateDay {
			days, _ := f.Values.Get(formula.Days)
			month, _ := f.Values.Get(formula.MonthDays)
			share, _ = days.Quo(month)
		}
		for _, rc := range rule.Charges {
			c.charge(t, rc, f, share)
		}
		return
	}
	hardware, err := v.HardwareFor(f)
	require.NoError(t, err)
	if hardware != nil {
		f.Text[rates.NodeType] = hardware.NodeType
		hardware.Fill(f.Values)
		if hardware.SlurmBilling != nil {
			billing, err := hardware.SlurmBilling.Billing(allocatedCount(f.Values))
			require.NoError(t, err)
			f.Values.SetInt(formula.SlurmBilling, billing)
		}
	}
	v.EvaluateLets(f.Values)
	rule, err := v.Select(f)
	require.NoError(t, err)
	require.NotNil(t, rule, "no rule")
	require.Empty(t, rule.Exclude)
	if f.Text[rates.State] != "" {
		state, ok := v.StatesOf(rule).Of(f.Text[rates.State])
		require.True(t, ok && state.Fate == rates.Charged)
	}
	hours := parseJob(t, "elapsed_h")
	for _, rc := range rule.Charges {
		duration := money.Int(1)
		if !rc.PerJob {
			if duration, err = hours.Eval(f.Values); rc.Duration != nil {
				duration, err = rc.Duration.Eval(f.Values)
			}
			require.NoError(t, err)
		}
		f.Values.Set(formula.Duration, duration)
		amount := c.charge(t, rc, f, duration)
		if rule.Waive != "" {
			c.add("waived", amount)
		}
	}
}

// allocatedCount gives the counts of an example as Slurm has them.
func allocatedCount(values *formula.Values) rates.TRESCount {
	slots := map[string]formula.Slot{"cpu": formula.CPUs, "mem": formula.MemoryMiB, "node": formula.Nodes, "gres/gpu": formula.GPUs}
	return func(tres string) (int64, bool) {
		slot, ok := slots[tres]
		if !ok {
			return values.TRES(tres)
		}
		x, known := values.Get(slot)
		return x.Rat().Num().Int64(), known && x.Rat().IsInt()
	}
}

func parseJob(t *testing.T, text string) *formula.Formula {
	t.Helper()
	f, faults := formula.Parse(text, formula.NewScope(formula.OfJob, formula.RateStage))
	require.Empty(t, faults)
	return f
}

// charge works out one meter; share is what the rate is multiplied by.
func (c came) charge(t *testing.T, rc *rates.RuleCharge, f *rates.Facts, share money.Exact) money.Exact {
	t.Helper()
	eval := func(g *formula.Formula, otherwise money.Exact) money.Exact {
		t.Helper()
		if g == nil {
			return otherwise
		}
		x, err := g.Eval(f.Values)
		require.NoError(t, err)
		return x
	}
	rate := eval(rc.Rate, money.Exact{})
	factor := money.Int(1)
	for _, x := range rc.Factors {
		one, _, err := x.Value(f)
		require.NoError(t, err)
		factor = factor.Mul(one)
	}
	f.Values.Set(formula.Rate, rate)
	f.Values.Set(formula.Factor, factor)
	units := eval(rc.Units, rate.Mul(factor).Mul(share))
	price, _, err := rc.Meter.PriceFor(f)
	require.NoError(t, err)
	f.Values.Set(formula.Units, units)
	f.Values.Set(formula.Price, price)
	amount := eval(rc.Amount, units.Mul(price))
	c.add("rate."+rc.Meter.Name, rate)
	c.add(rc.Meter.Name, units)
	c.add("amount."+rc.Meter.Name, amount)
	c.add("amount", amount)
	return amount
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
// was published, from a card alone.
func TestExamples(t *testing.T) {
	cards := map[string]*rates.Card{}
	for _, e := range readExamples(t) {
		if e.card == "-" {
			require.NotEmpty(t, e.want)
			continue
		}
		t.Run(e.id, func(t *testing.T) {
			card, got := cards[e.card], came{}
			if card == nil {
				card = exampleCard(t, e.card)
				cards[e.card] = card
			}
			for _, job := range strings.Split(e.facts, " + ") {
				got.price(t, card, job)
			}
			for _, w := range strings.Fields(e.want) {
				name, want, round := wanted(t, w)
				x, ok := got[name]
				require.True(t, ok, "%s is not among the results", name)
				require.Equal(t, want.String(), round(x).String(), "%s came to %s", name, x)
			}
		})
	}
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
	kinds := map[string]bool{"job": true, "slurm-billing": true, "vm": true, "storage": true, "rate": true}
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
			if e.card == "-" {
				continue
			}
			for _, w := range strings.Fields(e.want) {
				name, value, _ := wanted(t, w)
				require.Contains(t, values, value.String(), "%s: %s", published.ID, name)
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
