package chargestore

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"hpcbill/ingest"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// wordy makes n outcomes with many texts, some of them long, that depend on a
// seed alone. Some share a Kind, as a Rater's do.
func wordy(seed uint64, n int) []rating.Outcome {
	random := rand.New(rand.NewPCG(seed, 1))
	text := func(what string, of int) string {
		i := random.IntN(of)
		return fmt.Sprintf("%s%d%s", what, i, strings.Repeat("~", i%3*7))
	}
	groups, names := 1+random.IntN(60), 1+random.IntN(2*n)
	outcomes, kinds := make([]rating.Outcome, n), map[string]*rating.Kind{}
	for i := range outcomes {
		j := smpJob(uint64(random.IntN(n)))
		j.Cluster, j.Account, j.QoS = text("c", 3), text("a", 20), text("q", 3)
		if j.Name = text("job ", names); random.IntN(20) == 0 {
			j.Name += strings.Repeat("x", random.IntN(20_000))
		}
		if j.JobID = fmt.Sprint(j.JobIDRaw); random.IntN(10) == 0 {
			j.JobID += "_[" + strings.Repeat("1,", random.IntN(1000)) + "2]"
		}
		j.Source.File = text("dump", 5)
		j.CPUs, j.GPUs, j.MemoryMiB = int64(random.IntN(9)), int64(random.IntN(2)), int64(random.IntN(n))-1
		j.End = 1772366400 + ingest.Instant(i+random.IntN(200))
		j.Start = j.End - ingest.Instant(random.IntN(90000))
		o := outcomeOf(j)
		o.Group = text("g", groups)
		if random.IntN(4) == 0 { // a part of the job
			o.From, o.Until = j.Start+ingest.Instant(random.IntN(3)), j.End-ingest.Instant(random.IntN(3))
		}
		for m := range random.IntN(4) {
			quantity := money.Ratio(int64(random.IntN(1e6)), 3600)
			if random.IntN(50) == 0 {
				quantity = money.Int(int64(i) + 1<<62).Mul(money.Int(1 << 62)) // no two words hold it
			}
			c := smpCharge(quantity, money.Ratio(int64(1+random.IntN(3)), 1000))
			c.Group, c.Meter = o.Group, fmt.Sprintf("m%d", 9-m)
			c.Reason.Line = 1 + random.IntN(4)
			o.Charges = append(o.Charges, c)
		}
		if len(o.Charges) == 0 {
			o.Verdict, o.Cause = rating.Held, rating.Cause{Code: rating.NoRule, Detail: text("partition=", n)}
		} else if len(o.Charges) < 3 {
			o.Kind = kindOf(kinds, &o)
		}
		outcomes[i] = o
	}
	return outcomes
}

// kindOf gives outcomes that agree in all that rating.Kind tells the same one.
func kindOf(kinds map[string]*rating.Kind, o *rating.Outcome) *rating.Kind {
	j := o.Job
	is := fmt.Sprint(j.Cluster, j.User, j.Account, j.Partition, j.QoS, j.State, o.Group)
	for _, c := range o.Charges {
		is += fmt.Sprint(" ", c.Meter, c.Price, c.Reason.Line)
	}
	if kinds[is] == nil {
		kinds[is] = &rating.Kind{Number: len(kinds) % 50} // those of others, too, as when there were too many
	}
	return kinds[is]
}

// desksOf deals outcomes out to several lexicons' Rows, which are used again: each
// gets those of some desk's Kinds. They are taken in the order in which they were
// filled, but wait meanwhile until some are wanted again.
func desksOf(t require.TestingT, outcomes []rating.Outcome, desks, most int, seed uint64) iter.Seq2[*Rows, error] {
	return func(yield func(*Rows, error) bool) {
		random, all := rand.New(rand.NewPCG(seed, 2)), make([]*Rows, 3*desks)
		for i := range desks {
			l := NewLexicon()
			l.rememberedBytes = []int{rememberedTextBytes, 10_000, 0}[random.IntN(3)]
			for k := range 3 {
				all[3*i+k] = l.NewRows()
			}
		}
		var waiting []*Rows
		for rest := outcomes; len(rest) > 0; {
			rows := all[random.IntN(len(all))]
			for slices.Contains(waiting, rows) {
				if !yield(waiting[0], nil) {
					return
				}
				waiting = waiting[1:]
			}
			rows.Reset()
			n := min(random.IntN(most+1), len(rest))
			for i := range rest[:n] {
				require.NoError(t, rows.Add(&rest[i]))
			}
			rest, waiting = rest[n:], append(waiting, rows)
		}
		for _, rows := range waiting {
			if !yield(rows, nil) {
				return
			}
		}
	}
}

// Rows of which all are written before the writing of others is over come back
// once, though others lie in their memory by then.
func TestRowsThatWereWrittenAreNotTakenAgain(t *testing.T) {
	dir, raw := t.TempDir(), uint64(0)
	of := func(group string, n int) (outcomes []rating.Outcome) {
		for range n {
			raw++
			o := outcomeOf(smpJob(raw), smpCharge(money.Int(int64(raw)), money.Int(1)))
			o.Group, o.Charges[0].Group = group, group
			outcomes = append(outcomes, o)
		}
		return outcomes
	}
	// Of 1000 rows those of a to d are written, and of these a's at first: they
	// are in the file when d's are begun. The other 420 move together.
	first := slices.Concat(of("a", 60), of("b", 150), of("c", 140), of("d", 130))
	for small := range 10 {
		first = append(first, of(fmt.Sprint("small", small), 42)...)
	}
	last := of("a", 100)
	w := writing{keptRows: 1000, keptTextBytes: keptTextBytes, at: func(string) {}}
	require.NoError(t, w.write(dir, march, func(yield func(*Rows, error) bool) {
		for _, outcomes := range [][]rating.Outcome{first, last} {
			rows := NewLexicon().NewRows()
			for i := range outcomes {
				require.NoError(t, rows.Add(&outcomes[i]))
			}
			if !yield(rows, nil) {
				return
			}
		}
	}))
	require.Equal(t, rowsTold(slices.Concat(first, last)), readTold(t, dir))
}

// told is all that a row says, in words.
func told(row *Row) string {
	c := &row.Charge
	return fmt.Sprintf("%+v|%s|%s|%s|%s|%d|%d|%d|%s|%s|%s|%s|%s|%s|%+v", row.Job, row.Verdict, row.Group, row.Cause.Code, row.Cause.Detail,
		row.Seconds, row.From, row.Until, c.Meter, c.Unit, c.Quantity, c.Price, c.PriceLabel, c.Amount, c.Reason)
}

// rowsTold are the rows that outcomes are to give, in words, sorted.
func rowsTold(outcomes []rating.Outcome) (all []string) {
	for i := range outcomes {
		o := &outcomes[i]
		row := Row{Job: *o.Job, Verdict: o.Verdict, Group: o.Group, Cause: o.Cause, Seconds: o.Seconds, From: o.From, Until: o.Until}
		row.Job.ElapsedSeconds = 0 // the row has the part's
		for _, row.Charge = range o.Charges {
			all = append(all, told(&row))
		}
		if len(o.Charges) == 0 {
			all = append(all, told(&row))
		}
	}
	slices.Sort(all)
	return all
}

// readTold are the rows of a file, in words, sorted.
func readTold(t require.TestingT, dir string) (all []string) {
	for row, err := range Read(dir, march, "") {
		require.NoError(t, err)
		all = append(all, told(&row))
	}
	slices.Sort(all)
	return all
}

// However many rows and texts are kept, and however the outcomes are dealt out,
// each row comes back once, as it was, and the file is the same.
func TestEachRowComesBackOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		outcomes := wordy(seed, rapid.IntRange(1, 400).Draw(t, "outcomes"))
		w := writing{keptRows: rapid.IntRange(30, 700).Draw(t, "kept rows"), at: func(string) {}}
		w.keptTextBytes = rapid.SampledFrom([]int{1000, 20_000, 60_000, keptTextBytes}).Draw(t, "kept bytes")
		want := rowsTold(outcomes)
		var first []byte
		for _, cores := range []int{1, 4} {
			dir, err := os.MkdirTemp("", "charges")
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			desks, most := rapid.IntRange(1, 4).Draw(t, "desks"), rapid.SampledFrom([]int{1, 30, 200}).Draw(t, "at once")
			require.NoError(t, w.write(dir, march, desksOf(t, outcomes, desks, most, seed)))
			require.Equal(t, want, readTold(t, dir))
			file, err := os.ReadFile(fileOf(dir, march))
			require.NoError(t, err)
			if first == nil {
				first = file
			}
			require.True(t, slices.Equal(first, file), "the same rows give the same bytes")
		}
	})
}
