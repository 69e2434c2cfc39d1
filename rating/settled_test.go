package rating

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// everyCard gives the text of each shipped card and of each card of the examples
// that loads, by name.
func everyCard(t *testing.T) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	for _, dir := range []string{"../rates", cardsDir} {
		names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		require.NoError(t, err)
		for _, name := range names {
			if text, err := os.ReadFile(name); !strings.HasSuffix(name, ".bad.yaml") {
				require.NoError(t, err)
				texts[filepath.Base(dir)+"/"+filepath.Base(name)] = text
			}
		}
	}
	require.Greater(t, len(texts), 100)
	return texts
}

// fitting draws jobs for a card: those of its examples, with other figures, and
// with words of the card in the place of their texts.
type fitting struct {
	tariff   Tariff // by the card alone
	examples []*ingest.Job
	words    []string
	days     []ingest.Instant // on which its versions begin, or an account goes to another group
}

var word = regexp.MustCompile(`[A-Za-z][\w.-]*\*?`)

func newFitting(t *testing.T, text []byte, c *rates.Card, examples []example) *fitting {
	f := &fitting{words: []string{"", "other", "a,b"}}
	f.tariff = Tariff{Zone: time.UTC, Roster: roster(t, movingRoster), Cards: map[string]*rates.Card{"c1": c, "c2": c}}
	for _, w := range slices.Compact(slices.Sorted(slices.Values(word.FindAllString(string(text), -1)))) {
		f.words = append(f.words, strings.Replace(w, "*", "7", 1))
	}
	f.days = append(f.days, 1736899200) // 2025-01-15, as movingRoster has it
	for _, v := range c.Versions {
		f.days = append(f.days, ingest.Instant(max(v.From.Midnight(time.UTC).Unix(), 0)))
	}
	for _, e := range examples {
		for _, subject := range strings.Split(e.facts, " + ") {
			if facts := readFacts(t, subject, money.Ceil); facts.texts["filesystem"] == "" {
				j := facts.job(t)
				f.examples, f.tariff.Cards[j.Cluster] = append(f.examples, j), c
			}
		}
	}
	if len(f.examples) == 0 {
		j := jobOf("smp", 3600)
		j.End = f.days[1] + 86400
		f.examples = append(f.examples, j)
	}
	return f
}

func (f *fitting) draw(t *rapid.T) *ingest.Job {
	odds := func(of int) bool { return rapid.IntRange(1, of).Draw(t, "odds") == 1 }
	j := *rapid.SampledFrom(f.examples).Draw(t, "example")
	if j.Cluster == "" || odds(4) {
		j.Cluster = rapid.SampledFrom([]string{"c1", "c2"}).Draw(t, "cluster")
	}
	for _, text := range []*string{&j.Partition, &j.Partition, &j.QoS, &j.WCKey, &j.Reservation, &j.Name} {
		if odds(4) {
			*text = rapid.SampledFrom(f.words).Draw(t, "word")
		}
	}
	if odds(3) {
		j.State = ingest.State(rapid.SampledFrom([]string{"COMPLETED", "NODE_FAIL", "TIMEOUT", "PREEMPTED", "CANCELLED", "RUNNING", "MELTED"}).Draw(t, "state"))
	}
	j.User = rapid.SampledFrom([]string{"u1", "u2"}).Draw(t, "user")
	j.Account = rapid.SampledFrom([]string{"lab", "firm", "moved", "moved", "nobody"}).Draw(t, "account")
	for _, count := range []*int64{&j.CPUs, &j.NodeCount, &j.GPUs, &j.MemoryMiB, &j.Billing, &j.ReqCPUs, &j.ReqMemoryMiB, &j.ReqGPUs, &j.ReqNodeCount, &j.TimelimitSeconds} {
		switch rapid.IntRange(0, 7).Draw(t, "figure") {
		case 0:
			*count = rapid.Int64Range(-1, 300).Draw(t, "count")
		case 1:
			*count = max(*count, *count*rapid.Int64Range(1, 5000).Draw(t, "times"))
		}
	}
	if odds(4) {
		j.AllocTRES = rapid.SampledFrom([]string{"", "gres/gpu:a100=2,gres/gpu=2", "gres/gpu:h100=1,gres/gpu:other=1", "license/x=3"}).Draw(t, "tres")
	}
	f.drawTimes(t, &j)
	return &j
}

// drawTimes has the job end near the beginning of a version, or where it did.
func (f *fitting) drawTimes(t *rapid.T, j *ingest.Job) {
	j.ElapsedSeconds = rapid.Int64Range(0, 300000).Draw(t, "elapsed")
	j.SuspendedSeconds = rapid.SampledFrom([]int64{0, 0, 0, 77}).Draw(t, "suspended")
	switch rapid.IntRange(0, 2).Draw(t, "time") {
	case 0:
		j.End = rapid.SampledFrom(f.days).Draw(t, "day") + ingest.Instant(rapid.Int64Range(-7200, 7200).Draw(t, "seconds"))
	case 1:
		j.End += ingest.Instant(rapid.Int64Range(-700*86400, 700*86400).Draw(t, "seconds"))
	}
	j.End = max(j.End, 400*86400)
	j.Start = j.End - ingest.Instant(j.ElapsedSeconds+j.SuspendedSeconds)
	j.Eligible = j.Start - ingest.Instant(rapid.Int64Range(0, 90000).Draw(t, "wait"))
	j.Submit = j.Eligible
	if rapid.IntRange(1, 30).Draw(t, "ended") == 1 {
		j.End = ingest.None
	}
}

// everything prints all that outcomes say, but for which Kind they are of.
func everything(outcomes []Outcome) string {
	var text strings.Builder
	for i := range outcomes {
		o := &outcomes[i]
		fmt.Fprintf(&text, "%p %s %q %d %d-%d kind %t %+v", o.Job, o.Verdict, o.Group, o.Seconds, o.From, o.Until, o.Kind != nil, o.Cause)
		if o.Stake != nil {
			fmt.Fprintf(&text, " %s %s %d", o.Stake.Low, o.Stake.High, o.Stake.Unpriced)
		}
		for _, c := range o.Charges {
			fmt.Fprintf(&text, "\n  %q %q %q %s@%s %q=%s %+v %p %t %d %v", c.Group, c.Meter, c.Unit, c.Quantity, c.Price, c.PriceLabel,
				c.Amount, c.Reason, c.Tiers, c.Counted, c.EstimatedDays, c.StorageUnit)
		}
		text.WriteByte('\n')
	}
	return text.String()
}

const movingRoster = "groups:\n- {id: lab, jobs: [{account: lab}]}\n- {id: firm, class: external, jobs: [{account: firm}]}\n" +
	"- {id: old, jobs: [{account: moved, until: 2025-01-15}]}\n- {id: new, class: external, jobs: [{account: moved, from: 2025-01-15}]}\n"

// forget makes a Rater forget what it does when there is too much of it.
func forget(t *rapid.T, r *Rater) {
	if rapid.IntRange(1, 12).Draw(t, "forget kinds") == 1 {
		r.kinds = kindTable{}
	}
	if rapid.IntRange(1, 12).Draw(t, "forget plans") == 1 {
		for _, c := range r.cards {
			for _, v := range c.versions {
				clear(v.plans)
			}
		}
	}
}

// What is kept from job to job changes no outcome: by every card each job comes
// out as if each was asked why, which nothing is kept for.
func TestWhatIsSettledChangesNothing(t *testing.T) {
	examples := map[string][]example{}
	for _, e := range append(readExamples(t, "examples.txt"), readExamples(t, "tariffs.txt")...) {
		examples[e.card] = append(examples[e.card], e)
	}
	texts := everyCard(t)
	var cards []*fitting
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		c, err := rates.LoadCard(name, texts[name])
		require.NoError(t, err)
		cards = append(cards, newFitting(t, texts[name], c, examples[strings.TrimSuffix(filepath.Base(name), ".yaml")]))
	}
	var settled, all int
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			some, n := rapid.SampledFrom(cards).Draw(t, "card").sameWithoutWhatIsSettled(t)
			settled, all = settled+some, all+n
		}
	})
	require.Greater(t, settled, all/20)
}

// sameWithoutWhatIsSettled rates jobs both ways, and counts those that were
// rated by what was kept, and all.
func (f *fitting) sameWithoutWhatIsSettled(t *rapid.T) (settled, all int) {
	r, slow := NewRater(f.tariff), NewRater(f.tariff)
	common := map[*Kind]string{}
	var kept [][]Outcome
	var were []string
	few := rapid.SliceOfN(rapid.Custom(f.draw), 1, 6).Draw(t, "jobs")
	for _, j := range few { // the same texts at another time
		twin := *j
		f.drawTimes(t, &twin)
		few = append(few, &twin)
	}
	for range rapid.IntRange(1, 2).Draw(t, "times") {
		for _, j := range few {
			forget(t, r)
			p := rates.PeriodContaining(timeOf(max(j.End, j.Start)), f.tariff.Zone)
			var want []Outcome
			for _, part := range slow.Explain(j, p).Parts {
				want = append(want, part.Outcome)
			}
			got := r.Job(j, p)
			require.Equal(t, everything(want), everything(got))
			if len(got) > 0 && len(r.outcomes) == 0 {
				settled++
			}
			var clones []Outcome
			for i := range got {
				clones = append(clones, got[i].Clone())
				if k := got[i].Kind; k != nil {
					is := inCommon(&got[i])
					if was, seen := common[k]; seen {
						require.Equal(t, was, is)
					}
					common[k] = is
				}
				got[i].Kind = nil // as who changes charges does
			}
			kept, were = append(kept, clones), append(were, everything(clones))
		}
	}
	for i := range kept {
		require.Equal(t, were[i], everything(kept[i]), "what was cloned stays")
	}
	return settled, len(kept)
}
