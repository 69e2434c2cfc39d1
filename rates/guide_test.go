package rates_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// block is a fenced block of the guide. Its mark says how it is tried:
//
//	yaml card      a whole card
//	yaml frame     the keys of a version that fragments are completed with
//	yaml version   keys of a version
//	yaml charge    entries of a charge
//	yaml recipes   either, in paragraphs
//	yaml match     one condition a line
//	formula STAGE  one formula a line, with its value after an arrow
//	faults         a fragment, its fault and the hint, in paragraphs
//	sh             commands
//
// A comment "# cpus=4 h=2 → su=6.4" below a fragment says what a job, or rows
// of a storage.csv, come to: in units of meters, in money, or as a verdict.
type block struct {
	mark  string
	line  int // of its first line in the guide
	lines []string
}

func (b block) text() string { return strings.Join(b.lines, "\n") + "\n" }

// paragraphs parts a block at its blank lines.
func (b block) paragraphs() []block {
	all := []block{{mark: b.mark, line: b.line}}
	for i, l := range b.lines {
		if l == "" {
			all = append(all, block{mark: b.mark, line: b.line + i + 1})
			continue
		}
		last := &all[len(all)-1]
		last.lines = append(last.lines, l)
	}
	return all
}

func guideBlocks(t *testing.T) []block {
	t.Helper()
	var blocks []block
	inside := false
	for i, l := range strings.Split(string(rates.Guide()), "\n") {
		mark, fence := strings.CutPrefix(l, "```")
		switch {
		case fence && !inside:
			blocks = append(blocks, block{mark: mark, line: i + 2})
			inside = true
		case fence:
			require.Empty(t, mark, "line %d", i+1)
			inside = false
		case inside:
			b := &blocks[len(blocks)-1]
			b.lines = append(b.lines, l)
		}
	}
	require.False(t, inside, "a block is not closed")
	return blocks
}

func (b block) at() string { return fmt.Sprintf("cards.md:%d", b.line) }

// fragments completes parts of a card to whole ones.
type fragments struct {
	frame map[string]string // the text of each key of a version
	known map[string]any    // the keys of a version
}

func guideFragments(t *testing.T, blocks []block) fragments {
	t.Helper()
	s, _ := readSchema(t)
	f := fragments{map[string]string{}, s.definitions["version"].(map[string]any)["properties"].(map[string]any)}
	i := slices.IndexFunc(blocks, func(b block) bool { return b.mark == "yaml frame" })
	require.GreaterOrEqual(t, i, 0)
	key := ""
	for _, l := range blocks[i].lines {
		if !strings.HasPrefix(l, " ") {
			key, _, _ = strings.Cut(l, ":")
		}
		f.frame[key] += l + "\n"
	}
	return f
}

// keysOf lists the keys of a mapping, and of the mapping below one of them.
func keysOf(t *testing.T, text, below string) (keys, inner []string) {
	t.Helper()
	var root yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(text), &root), text)
	top := root.Content[0]
	for i := 0; i+1 < len(top.Content); i += 2 {
		keys = append(keys, top.Content[i].Value)
		if value := top.Content[i+1]; top.Content[i].Value == below {
			for n := 0; n+1 < len(value.Content); n += 2 {
				inner = append(inner, value.Content[n].Value)
			}
		}
	}
	return keys, inner
}

func indented(text, margin string) string {
	return margin + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+margin) + "\n"
}

// complete makes a card of keys of a version, or of entries of a charge.
func (f fragments) complete(t *testing.T, text string) string {
	t.Helper()
	keys, meters := keysOf(t, text, "meters")
	if !slices.ContainsFunc(keys, func(k string) bool { return f.known[k] != nil }) {
		text = "rules:\n  - name: all\n    charge:\n" + indented(text, "      ")
		keys = []string{"rules"}
	}
	for _, key := range []string{"hardware", "meters"} {
		if !slices.Contains(keys, key) {
			text += f.frame[key]
		}
	}
	if !slices.Contains(keys, "rules") && !slices.Contains(keys, "storage") {
		if meters == nil {
			meters = []string{"su"}
		}
		text += "rules: [{name: all, charge: {" + strings.Join(meters, ": cpus, ") + ": cpus}}]\n"
	}
	return "card: guide\ncurrency: EUR\nversions:\n  - from: 2020-01-01\n" + indented(text, "    ")
}

// claim is "# FACTS → RESULTS" below a fragment.
var claim = regexp.MustCompile(`^# (.*\S) +→ (.*)$`)

// tryCard loads a card and holds the claims of the block against what the
// Rater makes of it.
func tryCard(t *testing.T, b block, text string) *rates.Card {
	t.Helper()
	card, err := rates.LoadCard(b.at(), []byte(text))
	require.NoError(t, err, text)
	for _, l := range b.lines {
		m := claim.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		came := comesTo(t, card, m[1])
		for _, w := range strings.Fields(m[2]) {
			require.Contains(t, came, w, "%s: %s", b.at(), l)
		}
	}
	return card
}

// comesTo rates a job, or the rows of a storage.csv, for June 2026 or the month
// in which the job ends. It gives the verdict and what each meter and the
// money came to: "su=6.4", "amount=0.0768".
func comesTo(t *testing.T, card *rates.Card, text string) []string {
	t.Helper()
	j, class, isJob := guideJob(t, text)
	roster, err := rates.LoadRoster("groups.yaml", []byte("groups: [{id: lab, class: "+class+", jobs: [{account: \"*\"}]}]"))
	require.NoError(t, err)
	r := rating.NewRater(rating.Tariff{
		Zone: time.UTC, Roster: roster, Cards: map[string]*rates.Card{"": card}, Storage: []rating.StorageCard{{Filesystem: "*", Card: card}},
	})
	var came []string
	var charges []rating.Charge
	if isJob {
		outcomes := r.Job(j, rates.PeriodContaining(time.Unix(int64(j.End), 0), time.UTC))
		require.Len(t, outcomes, 1, text)
		came, charges = []string{outcomes[0].Verdict.String()}, outcomes[0].Charges
	} else {
		outcomes, err := r.Storage(guideHoldings(t, text), rates.MonthOf(2026, time.June, time.UTC))
		require.NoError(t, err)
		for _, o := range outcomes {
			came, charges = append(came, o.Verdict.String()), append(charges, o.Charges...)
		}
	}
	amount, units := money.Exact{}, map[string]money.Exact{}
	for _, c := range charges {
		units[c.Meter] = units[c.Meter].Add(c.Quantity)
		if c.Tiers != nil { // priced with the rest of the group's period: here there is none
			c.Amount = c.Tiers.Amount(money.Exact{}, c.Quantity, c.Quantity)
		}
		amount = amount.Add(c.Amount)
	}
	for meter, x := range units {
		came = append(came, meter+"="+x.String())
	}
	return append(came, "amount="+amount.String())
}

// guideHoldings reads rows of a storage.csv, joined by " + ".
func guideHoldings(t *testing.T, text string) []ingest.Holding {
	t.Helper()
	rows := "group,filesystem,from,until,quota,used\nlab," + strings.ReplaceAll(text, " + ", "\nlab,") + "\n"
	holdings, err := ingest.Holdings("storage.csv", strings.NewReader(rows))
	require.NoError(t, err)
	return holdings
}

// guideJob makes a job of facts such as "cpus=4 h=2"; isJob is false for a row
// of a storage.csv.
func guideJob(t *testing.T, text string) (j *ingest.Job, class string, isJob bool) {
	t.Helper()
	j = &ingest.Job{
		JobID: "1", JobIDRaw: 1, User: "u1", Account: "lab", State: ingest.Completed, Start: guideInstant(t, "2026-06-01T08"),
		NodeCount: 1, CPUs: 1, MemoryMiB: 1024, TimelimitSeconds: ingest.NoLimit, ReqNodeCount: ingest.Unknown,
		ReqCPUs: ingest.Unknown, ReqMemoryMiB: ingest.Unknown, ReqGPUs: ingest.Unknown,
	}
	var tres []string
	class = "internal"
	for _, fact := range strings.Fields(text) {
		name, value, isFact := strings.Cut(fact, "=")
		if !isFact {
			return nil, class, false
		}
		kind, ofKind, _ := strings.Cut(name, ":")
		texts := map[string]*string{"partition": &j.Partition, "qos": &j.QoS, "account": &j.Account, "reservation": &j.Reservation, "class": &class, "state": (*string)(&j.State), "node_list": &j.NodeList, "job_name": &j.Name}
		counts := map[string]struct {
			is  *int64
			per int64
		}{
			"cpus": {&j.CPUs, 1}, "nodes": {&j.NodeCount, 1}, "gpus": {&j.GPUs, 1}, "mem_gib": {&j.MemoryMiB, 1024}, "billing": {&j.Billing, 1},
			"req_cpus": {&j.ReqCPUs, 1}, "req_mem_gib": {&j.ReqMemoryMiB, 1024}, "h": {&j.ElapsedSeconds, 3600}, "s": {&j.ElapsedSeconds, 1},
			"suspended_h": {&j.SuspendedSeconds, 3600}, "timelimit_h": {&j.TimelimitSeconds, 3600},
		}
		switch {
		case texts[name] != nil:
			*texts[name] = value
		case counts[name].is != nil:
			x, err := money.ParseDecimal(value)
			require.NoError(t, err)
			*counts[name].is, _ = x.Mul(money.Int(counts[name].per)).Int64()
		case name == "start":
			j.Start = guideInstant(t, value)
		case name == "submit":
			j.Submit = guideInstant(t, value)
		case kind == "gpu" || kind == "tres":
			if kind == "gpu" {
				ofKind = "gres/gpu:" + ofKind
				n, err := strconv.ParseInt(value, 10, 64)
				require.NoError(t, err)
				j.GPUs += n
			}
			tres = append(tres, ofKind+"="+value)
		default:
			require.Fail(t, "unknown fact", fact)
		}
	}
	if j.Submit == ingest.None {
		j.Submit = j.Start
	}
	j.Eligible, j.End = j.Submit, j.Start+ingest.Instant(j.ElapsedSeconds+j.SuspendedSeconds)
	j.AllocTRES = strings.Join(append(tres, fmt.Sprintf("cpu=%d,node=%d,mem=%dM", j.CPUs, j.NodeCount, j.MemoryMiB)), ",")
	return j, class, true
}

func guideInstant(t *testing.T, text string) ingest.Instant {
	t.Helper()
	at, err := time.Parse("2006-01-02T15", text)
	require.NoError(t, err)
	return ingest.Instant(at.Unix())
}

// Everything that the guide shows is so: cards load, recipes come to what is
// claimed of them, and faults are told as check tells them.
func TestGuideIsTrue(t *testing.T) {
	blocks := guideBlocks(t)
	f := guideFragments(t, blocks)
	for _, b := range blocks {
		t.Run(fmt.Sprintf("line %d", b.line), func(t *testing.T) {
			kind, stage, _ := strings.Cut(b.mark, " ")
			switch {
			case b.mark == "yaml card":
				require.Empty(t, tryCard(t, b, b.text()).Warnings)
			case b.mark == "yaml frame":
				tryCard(t, b, f.complete(t, b.text()))
			case b.mark == "yaml version", b.mark == "yaml charge":
				tryCard(t, b, f.complete(t, b.text()))
			case b.mark == "yaml recipes":
				for _, p := range b.paragraphs() {
					require.Regexp(t, claim, p.lines[len(p.lines)-1], "a recipe of %s ends with what it comes to", p.at())
					tryCard(t, p, f.complete(t, p.text()))
				}
			case b.mark == "yaml match":
				for _, l := range b.lines {
					tryCard(t, b, f.complete(t, "rules:\n  - name: all\n    charge: {su: cpus}\n    match:\n      "+l+"\n"))
				}
			case kind == "formula":
				tryFormulas(t, b, stage)
			case b.mark == "faults":
				for _, p := range b.paragraphs() {
					tryFault(t, f, p)
				}
			default:
				require.Equal(t, "sh", b.mark, "a block that nothing tries")
			}
		})
	}
}

// tryFormulas parses one formula a line.
func tryFormulas(t *testing.T, b block, stage string) {
	t.Helper()
	scopes := map[string]formula.Scope{"storage": formula.NewScope(formula.OfHolding, formula.UnitsStage)}
	for s := formula.LetStage; s <= formula.AmountStage; s++ {
		scopes[s.String()] = formula.NewScope(formula.OfJob, s)
	}
	scope, known := scopes[stage]
	require.True(t, known, "%s: no stage is called %q", b.at(), stage)
	for _, l := range b.lines {
		l, _, _ = strings.Cut(l, "#")
		text, value, claimed := strings.Cut(l, "→")
		parsed, faults := formula.Parse(strings.TrimSpace(text), scope)
		require.Empty(t, faults, l)
		if claimed {
			x, err := parsed.Eval(&formula.Values{})
			require.NoError(t, err)
			require.Equal(t, strings.TrimSpace(value), x.String(), l)
		}
	}
}

// tryFault loads a fragment that is wrong. The two lines after it are the
// message and the hint; an ellipsis stands for any text.
func tryFault(t *testing.T, f fragments, b block) {
	t.Helper()
	told := slices.IndexFunc(b.lines, func(l string) bool { return strings.HasPrefix(l, "  ") })
	require.Positive(t, told, b.at())
	text := strings.Join(b.lines[:told], "\n") + "\n"
	_, err := rates.LoadCard(b.at(), []byte(f.complete(t, text)))
	var faults rates.Faults
	require.ErrorAs(t, err, &faults, text)
	says := []string{}
	for _, l := range b.lines[told:] {
		says = append(says, strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(l)), "…", ".*"))
	}
	whole := regexp.MustCompile("^" + strings.Join(says, "\n") + "$")
	found := slices.ContainsFunc(faults, func(x rates.Fault) bool {
		return whole.MatchString(strings.TrimSuffix(x.Message+"\n"+x.Hint(), "\n"))
	})
	require.True(t, found, "%s: %v", b.at(), err)
}

var (
	codeSpan   = regexp.MustCompile("`([^`]+)`")
	identifier = regexp.MustCompile(`[a-z][a-z0-9_]*`)
)

// codeWords are the names in the code of the guide: its blocks, and what
// stands in backquotes.
func codeWords(t *testing.T) map[string]bool {
	t.Helper()
	words := map[string]bool{}
	add := func(text string) {
		for _, w := range identifier.FindAllString(text, -1) {
			words[w] = true
		}
	}
	for _, b := range guideBlocks(t) {
		for _, l := range b.lines {
			code, _, _ := strings.Cut(l, "#")
			add(code)
		}
	}
	for i, part := range strings.Split(string(rates.Guide()), "```") {
		if i%2 == 1 {
			continue // a block
		}
		for _, span := range codeSpan.FindAllStringSubmatch(part, -1) {
			add(span[1])
		}
	}
	return words
}

// The guide cannot lag behind the language: every key, every choice, every
// figure, function and rounding occurs in its code.
func TestGuideIsWhole(t *testing.T) {
	words := codeWords(t)
	var root map[string]any
	require.NoError(t, json.Unmarshal(rates.Schema(), &root))
	for name, d := range root["$defs"].(map[string]any) {
		for key, of := range d.(map[string]any)["properties"].(map[string]any) {
			require.True(t, words[key], "%s.%s", name, key)
			choices, _ := of.(map[string]any)["enum"].([]any)
			for _, c := range choices {
				require.True(t, words[c.(string)], "%s.%s: %s", name, key, c)
			}
		}
	}
	for _, subject := range []formula.Subject{formula.OfJob, formula.OfHolding} {
		for _, figure := range formula.NewScope(subject, formula.AmountStage).Names() {
			require.True(t, words[figure], figure)
		}
	}
	for _, function := range formula.FunctionNames() {
		require.True(t, words[function], function)
	}
	for mode := money.HalfEven; mode <= money.Floor; mode++ {
		require.True(t, words[mode.String()], mode.String())
	}
}

func TestGuideReadsInATerminal(t *testing.T) {
	const widest = 100
	text := string(rates.Guide())
	require.True(t, utf8.ValidString(text) && strings.HasSuffix(text, "\n"))
	require.NotContains(t, text, "\t")
	for i, l := range strings.Split(text, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(l), widest, "line %d", i+1)
		require.Equal(t, strings.TrimRight(l, " "), l, "line %d", i+1)
	}
}
