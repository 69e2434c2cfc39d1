package rating

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// cardsDir has the cards of the published examples.
const cardsDir = "../testdata/rates"

// example is one line of examples.txt.
type example struct{ id, card, facts, want string }

func readExamples(t *testing.T, name string) []example {
	t.Helper()
	f, err := os.Open(filepath.Join(cardsDir, name))
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

// facts are the facts of an example by name. Slurm records whole seconds and
// whole CPUs: of the two records around a figure that is neither, whole says
// which is made.
type facts struct {
	texts   map[string]string
	figures map[string]money.Exact
	day     rates.Date
	whole   money.Mode
}

func readFacts(t *testing.T, text string, whole money.Mode) facts {
	t.Helper()
	f := facts{texts: map[string]string{}, figures: map[string]money.Exact{}, day: rates.Date{Year: 2025, Month: 1, Day: 15}, whole: whole}
	f.texts["account"], f.texts["user"] = "lab", "u1"
	for _, fact := range strings.Fields(text) {
		name, value, _ := strings.Cut(fact, "=")
		switch name {
		case "cluster", "partition", "qos", "account", "wckey", "reservation", "state", "class", "filesystem", "tier", "gpu_type", "node_list", "user", "job_name", "start":
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
// worth in the record's unit. A part of one is never none.
func (f facts) count(name string, each int64) int64 {
	x, given := f.figures[name]
	if !given {
		return ingest.Unknown
	}
	n, _ := x.Mul(money.Int(each)).Round(0, f.whole).Int64()
	return max(n, int64(x.Sign()))
}

func firstKnown(counts ...int64) int64 {
	for _, n := range counts {
		if n != ingest.Unknown {
			return n
		}
	}
	return ingest.Unknown
}

// times sets when a job ran: from start=2026-06-01T20:00 on, or so that it ended
// at noon of the day.
func (f facts) times(t *testing.T, j *ingest.Job) {
	t.Helper()
	j.SuspendedSeconds = max(0, f.count("suspended_h", 3600))
	j.End = ingest.Instant(f.day.Midnight(time.UTC).Unix() + 12*3600)
	if text := f.texts["start"]; text != "" {
		start, err := time.Parse("2006-01-02T15:04", text)
		require.NoError(t, err)
		j.End = ingest.Instant(start.Unix() + j.ElapsedSeconds + j.SuspendedSeconds)
	}
	j.Start = j.End - ingest.Instant(j.ElapsedSeconds+j.SuspendedSeconds)
	j.Submit = j.Start - ingest.Instant(firstKnown(f.count("wait_h", 3600), 60))
	j.Eligible = j.Submit
}

// job makes the record of a job.
func (f facts) job(t *testing.T) *ingest.Job {
	t.Helper()
	j := &ingest.Job{
		Cluster: f.texts["cluster"], JobID: "1", JobIDRaw: 1, User: f.texts["user"], Name: f.texts["job_name"], Account: f.texts["account"], WCKey: f.texts["wckey"], Partition: f.texts["partition"], QoS: f.texts["qos"], Reservation: f.texts["reservation"], NodeList: f.texts["node_list"],
		State:          ingest.State(f.texts["state"]),
		ElapsedSeconds: firstKnown(f.count("h", 3600), f.count("s", 1)), TimelimitSeconds: f.count("timelimit_h", 3600),
		CPUs: f.count("cpus", 1), NodeCount: f.count("nodes", 1), MemoryMiB: firstKnown(f.count("mem_gib", 1024), f.count("mem_mib", 1)),
		GPUs: f.count("gpus", 1), Billing: f.count("billing", 1),
		ReqCPUs: f.count("req_cpus", 1), ReqNodeCount: ingest.Unknown, ReqMemoryMiB: f.count("req_mem_gib", 1024), ReqGPUs: f.count("req_gpus", 1),
	}
	if j.State == "" {
		j.State = ingest.Completed
	}
	typed, tres := int64(0), []string{}
	for name := range f.figures {
		if gpu, ok := strings.CutPrefix(name, "gpu:"); ok {
			n := f.count(name, 1)
			typed += n
			tres = append(tres, fmt.Sprintf("gres/gpu:%s=%d", gpu, n))
		} else if other, ok := strings.CutPrefix(name, "tres:"); ok {
			tres = append(tres, fmt.Sprintf("%s=%d", other, f.count(name, 1)))
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
	f.times(t, j)
	return j
}

// holding makes the row of a holding: for so many months from the day's month
// on, or for so many days from the first of a month, which has month_days.
func (f facts) holding() ingest.Holding {
	month := rates.MonthOf(f.day.Year, time.Month(f.day.Month), time.UTC)
	for n := f.count("month_days", 1); n != ingest.Unknown && month.Days() != int(n); {
		month = month.Next()
	}
	until := month.Start.AddDate(0, int(max(0, f.count("months", 1))), int(max(0, f.count("days", 1))))
	const tib = 1 << 40
	return ingest.Holding{
		Group: "lab", Filesystem: f.texts["filesystem"], Tier: f.texts["tier"], From: ingest.Date(rates.DateOf(month.Start, time.UTC)),
		Until: ingest.Date(rates.DateOf(until, time.UTC)), QuotaBytes: firstKnown(f.count("quota_tb", tb), f.count("quota_tib", tib)),
		UsedBytes: firstKnown(f.count("used_tb", tb), f.count("used_tib", tib)), Unit: ingest.TB,
	}
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

// rate rates one job or holding by the card.
func (c came) rate(t *testing.T, card *rates.Card, f facts) {
	t.Helper()
	class := f.texts["class"]
	if class == "" {
		class = "internal"
	}
	r := NewRater(Tariff{
		Zone: time.UTC, Roster: roster(t, "groups: [{id: lab, class: "+class+", jobs: [{account: \"*\"}]}]"),
		Cards: map[string]*rates.Card{f.texts["cluster"]: card}, Storage: []StorageCard{{Filesystem: "*", Card: card}},
	})
	if f.texts["filesystem"] != "" {
		c.rateHolding(t, r, f.holding())
		return
	}
	c.rateJob(t, r, f.job(t))
}

func (c came) rateHolding(t *testing.T, r *Rater, h ingest.Holding) {
	t.Helper()
	p := rates.MonthOf(h.From.Year, time.Month(h.From.Month), time.UTC)
	for ; rates.DateOf(p.Start, time.UTC).Before(rates.Date(h.Until)); p = p.Next() {
		outcomes, err := r.Storage([]ingest.Holding{h}, p)
		require.NoError(t, err)
		require.Len(t, outcomes, 1)
		require.Equal(t, Charged, outcomes[0].Verdict, "%s: %+v", p, outcomes[0].Cause)
		c.addCharges(outcomes[0].Charges, false)
	}
}

func (c came) rateJob(t *testing.T, r *Rater, j *ingest.Job) {
	t.Helper()
	requireNeedsSuffice(t, r, j, rates.PeriodContaining(timeOf(j.End), time.UTC))
	e := r.Explain(j, rates.PeriodContaining(timeOf(j.End), time.UTC))
	require.Len(t, e.Parts, 1)
	o := e.Parts[0].Outcome
	if len(o.Charges) == 0 {
		c[o.Verdict.String()] = money.Int(1)
	}
	c.addCharges(o.Charges, o.Verdict == Waived)
	for _, step := range e.Parts[0].Steps {
		if step.Stage == RateStage {
			c.add("rate."+step.Meter, number(t, step.Value))
		}
	}
}

// wanted splits "su=44.46@half_up/2"; "held" is a verdict.
func wanted(t *testing.T, text string) (name string, value money.Exact, round func(money.Exact) money.Exact) {
	t.Helper()
	name, rest, figure := strings.Cut(text, "=")
	if !figure {
		rest = "1"
	}
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

// result gives what name asks for; "amount/24" is the 24th part of the amount.
func (c came) result(t *testing.T, name string) money.Exact {
	t.Helper()
	name, parts, divided := strings.Cut(name, "/")
	x, ok := c[name]
	require.True(t, ok, "%s is not among the results: %v", name, c)
	if divided {
		x, _ = x.Quo(number(t, parts))
	}
	return x
}

// Every published example comes out as published, at the rounding at which it
// was published, from a card alone and by the Rater. What lies between two
// records comes out of both.
func TestExamples(t *testing.T) {
	cards := map[string]*rates.Card{}
	for _, e := range slices.Concat(readExamples(t, "examples.txt"), readExamples(t, "tariffs.txt"), readExamples(t, "other-centres.txt")) {
		t.Run(e.id, func(t *testing.T) {
			card := cards[e.card]
			if card == nil {
				card = exampleCard(t, e.card)
				cards[e.card] = card
			}
			for _, whole := range []money.Mode{money.Floor, money.Ceil} {
				got := came{}
				for _, subject := range strings.Split(e.facts, " + ") {
					got.rate(t, card, readFacts(t, subject, whole))
				}
				for _, w := range strings.Fields(e.want) {
					name, want, round := wanted(t, w)
					x := got.result(t, name)
					require.Equal(t, want.String(), round(x).String(), "%s came to %s", name, x)
				}
			}
		})
	}
}

// Where the collection of examples is at hand, examples.txt covers all of it
// that jobs, virtual machines and holdings can be rated for, with what of
// invoices and allowances is a sum of charges, and expects
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
	for _, e := range readExamples(t, "examples.txt") {
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
		examples := lines[published.ID]
		if kinds[published.Kind] {
			require.NotEmpty(t, examples, "%s is not tried", published.ID)
		}
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
