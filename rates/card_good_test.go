package rates_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

func day(y, m, d int) rates.Date { return rates.Date{Year: y, Month: m, Day: d} }

func TestGoodCardsLoad(t *testing.T) {
	files, err := filepath.Glob(cardsDir + "/*.good.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.Empty(t, goodCard(t, filepath.Base(file)).Warnings, file)
	}
}

func TestCardHead(t *testing.T) {
	c := goodCard(t, "every-key.good.yaml")
	require.Equal(t, "every-key", c.Name)
	require.Equal(t, money.Currency{Code: "EUR", Digits: 2}, c.Currency)
	require.Equal(t, "nowhere", c.Source)
	require.Equal(t, "every-key.good.yaml", c.File)
	require.Len(t, c.Digest, 64)
	require.Len(t, c.Versions, 2)
	require.Equal(t, rates.ByStart, c.Versions[0].BillBy) // the card's own
	require.Equal(t, rates.ByUsage, c.Versions[1].BillBy)
	price := c.Versions[1].Meters["core_hours"].Price
	require.Equal(t, "0.0000087890625", price.One.String()) // not a digit lost
}

func TestVersionAt(t *testing.T) {
	c := goodCard(t, "every-key.good.yaml")
	f := func(d rates.Date, want *rates.Version) {
		t.Helper()
		require.Same(t, want, c.VersionAt(d))
	}
	require.Nil(t, c.VersionAt(day(2025, 12, 31)))
	f(day(2026, 1, 1), c.Versions[0])
	f(day(2026, 6, 30), c.Versions[0])
	f(day(2026, 7, 1), c.Versions[1])
	f(day(2090, 1, 1), c.Versions[1])
}

func TestVersionsAreOrderedAndClosed(t *testing.T) {
	load := func(versions string) *rates.Card {
		t.Helper()
		c, err := rates.LoadCard("c.yaml", []byte("card: c\ncurrency: USD\nversions:"+versions))
		require.NoError(t, err)
		return c
	}
	body := "\n    meters: {su: {unit: SU, price: 1}}\n    rules: [{name: all, charge: {su: cpus}}]"
	c := load("\n  - from: 2026-07-01" + body + "\n  - from: 2025-07-01" + body)
	require.Equal(t, day(2025, 7, 1), c.Versions[0].From)
	require.Equal(t, day(2026, 7, 1), c.Versions[0].Until)
	require.True(t, c.Versions[1].Until.IsZero())
	require.Empty(t, c.Warnings)

	c = load("\n  - from: 2025-07-01\n    until: 2026-06-01" + body + "\n  - from: 2026-07-01\n    until: 2027-01-01" + body)
	require.Nil(t, c.VersionAt(day(2026, 6, 15)))
	require.Len(t, c.Warnings, 2)
	require.Equal(t, "c.yaml:8:5: versions: no version holds from 2026-06-01 until 2026-07-01: jobs of those days are held", c.Warnings[0].Error())
	require.Equal(t, "c.yaml:8:5: versions: no version holds from 2027-01-01 on: later jobs are held", c.Warnings[1].Error())
}

func TestWarnings(t *testing.T) {
	c, err := rates.LoadCard("c.yaml", []byte(`card: c
currency: USD
versions:
  - from: 2026-01-01
    meters:
      su: {unit: SU, price: 1}
      idle: {unit: h, price: 1}
    rules:
      - {name: all, charge: {su: cpus - 2}}
`))
	require.NoError(t, err)
	require.Len(t, c.Warnings, 2)
	require.Equal(t, "c.yaml:7:7: versions[0].meters.idle: no rule charges this meter", c.Warnings[0].Error())
	require.Equal(t, "c.yaml:9:34: versions[0].rules[0].charge.su: can be below 0: a job for which it is, is held", c.Warnings[1].Error())
	require.Equal(t, "write max(0, …)", c.Warnings[1].Hint())
}

func TestHardware(t *testing.T) {
	v := goodCard(t, "every-key.good.yaml").Versions[0]
	f := func(cluster, partition string, gpus int64, types []string, want, nodeType, perCore string) {
		t.Helper()
		facts := &rates.Facts{Values: &formula.Values{}, GPUTypes: types, GPUTypesKnown: true}
		facts.Text[rates.Cluster], facts.Text[rates.Partition] = cluster, partition
		facts.Values.SetInt(formula.GPUs, gpus)
		h, err := v.HardwareFor(facts)
		require.NoError(t, err)
		require.Equal(t, want, h.Name)
		require.Equal(t, nodeType, h.NodeType)
		h.Fill(facts.Values)
		x, known := facts.Values.Get(formula.MemoryPerCoreGiB)
		require.True(t, known)
		require.Equal(t, perCore, x.String())
	}
	f("c2", "fat64", 0, nil, "fat", "large", "32")
	f("c3", "fat64", 0, nil, "thin", "thin", "3.90625") // 187.5 GiB ÷ 48
	f("c3", "any", 4, []string{"a100_80gb"}, "gpu", "gpu", "8")
	f("c3", "any", 4, []string{"v100"}, "thin", "thin", "3.90625")

	facts := &rates.Facts{Values: &formula.Values{}}
	_, err := v.HardwareFor(facts) // the type of the GPUs is not known
	require.ErrorIs(t, err, formula.ErrUnknownFigure)
}

func TestPrices(t *testing.T) {
	v := goodCard(t, "every-key.good.yaml").Versions[0]
	f := func(meter string, fill func(*rates.Facts), price, label string) {
		t.Helper()
		facts := &rates.Facts{Values: &formula.Values{}, GPUTypesKnown: true}
		fill(facts)
		x, l, err := v.Meters[meter].PriceFor(facts)
		require.NoError(t, err)
		require.Equal(t, price, x.String())
		require.Equal(t, label, l)
	}
	nodeType := func(s string) func(*rates.Facts) { return func(f *rates.Facts) { f.Text[rates.NodeType] = s } }
	f("core_hours", nodeType("large"), "0.02", "large")
	f("core_hours", nodeType("gpu"), "0.03", "g*")
	f("core_hours", nodeType("thin"), "0.01", "thin")
	f("core_hours", nodeType(""), "0.5", "other")
	cpus := func(n int64) func(*rates.Facts) {
		return func(f *rates.Facts) { f.Values.SetInt(formula.CPUs, n) }
	}
	f("bracket", cpus(32), "0.03", "<= 32")
	f("bracket", cpus(33), "0.02", "> 32 && <= 128")
	f("bracket", cpus(128), "0.02", "> 32 && <= 128")
	f("bracket", cpus(129), "0.01", "> 128")
	f("gpu_hours", func(f *rates.Facts) { f.Text[rates.Class], f.GPUTypes = "internal", []string{"h100"} }, "2", "internal H100")
	f("gpu_hours", func(f *rates.Facts) { f.Text[rates.Class], f.GPUTypes = "internal", []string{"a100"} }, "1.5", "internal")
	f("gpu_hours", func(f *rates.Facts) { f.Text[rates.Class], f.GPUTypes = "external", []string{"h100"} }, "2.5", "list")
	f("tb_months", func(f *rates.Facts) { f.Text[rates.Class] = "external" }, "2", "external")

	_, _, err := v.Meters["bracket"].PriceFor(&rates.Facts{Values: &formula.Values{}})
	require.ErrorIs(t, err, formula.ErrUnknownFigure)
	require.EqualError(t, err, "cpus is not recorded, and the card asks for it")
}

func TestFactors(t *testing.T) {
	v := goodCard(t, "every-key.good.yaml").Versions[0]
	f := func(factor *rates.Factor, fill func(*rates.Facts), want, row string) {
		t.Helper()
		facts := &rates.Facts{Values: &formula.Values{}}
		fill(facts)
		x, got, err := factor.Value(facts)
		require.NoError(t, err)
		require.Equal(t, want, x.String())
		require.Equal(t, row, got)
	}
	var gpu, rest *rates.Rule
	for _, r := range v.Rules {
		switch r.Name {
		case "gpu":
			gpu = r
		case "rest":
			rest = r
		}
	}
	chain := gpu.Charges[0].Factors
	require.Len(t, chain, 3) // two of the version, one of the rule
	qos := func(s string) func(*rates.Facts) { return func(f *rates.Facts) { f.Text[rates.QoS] = s } }
	f(chain[0], qos("debug"), "2", "debug")
	f(chain[0], qos("low-prio"), "0.5", "low*")
	f(chain[0], qos("small"), "1/7", "small")
	f(chain[0], qos("normal"), "1", "")
	sunday := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	f(chain[1], func(f *rates.Facts) { f.Start = rates.MomentOf(sunday, time.UTC) }, "0.5", "sun")
	f(chain[1], func(f *rates.Facts) { f.Start = rates.MomentOf(sunday.AddDate(0, 0, 1), time.UTC) }, "1", "")
	nodes := func(n int64) func(*rates.Facts) {
		return func(f *rates.Facts) { f.Values.SetInt(formula.Nodes, n) }
	}
	f(chain[2], nodes(1024), "0.6", ">= 1024")

	facts := &rates.Facts{Values: &formula.Values{}}
	facts.Values.SetInt(formula.Nodes, 3)
	_, _, err := chain[2].Value(facts)
	require.ErrorIs(t, err, rates.ErrNotListed)
	require.EqualError(t, err, "no factor is listed for nodes=3")
	_, _, err = chain[1].Value(facts)
	require.ErrorIs(t, err, formula.ErrUnknownFigure)

	require.Len(t, rest.Charges[0].Factors, 4) // two of the version, two of its own
	require.Len(t, chain, 3)                   // and no chain grew into another
}

func TestStates(t *testing.T) {
	v := goodCard(t, "every-key.good.yaml").Versions[0]
	f := func(states *rates.States, state string, fate rates.Fate, reason string) {
		t.Helper()
		e, ok := states.Of(state)
		require.True(t, ok)
		require.Equal(t, fate, e.Fate)
		require.Equal(t, reason, e.Reason)
	}
	f(v.States, "COMPLETED", rates.Charged, "")
	f(v.States, "NODE_FAIL", rates.Excluded, "the node failed")
	f(v.States, "PREEMPTED", rates.Waived, "preempted")
	f(v.States, "RUNNING", rates.Waived, "not over") // by the glob, though PREEMPTED stands beside it
	f(nil, "ANYTHING", rates.Charged, "")
	for _, r := range v.Rules {
		if r.Name == "gpu" {
			f(v.StatesOf(r), "NODE_FAIL", rates.Charged, "")
		} else {
			require.Same(t, v.States, v.StatesOf(r))
		}
	}
	c, err := rates.LoadCard("c", []byte("card: c\ncurrency: USD\nversions: [{from: 2026-01-01, meters: {su: {unit: SU, price: 1}}, states: {charge: [COMPLETED]}, rules: [{name: a, charge: {su: cpus}}]}]"))
	require.NoError(t, err)
	_, ok := c.Versions[0].States.Of("FAILED")
	require.False(t, ok) // held, not free
}

func TestLetsAndStages(t *testing.T) {
	v := goodCard(t, "every-key.good.yaml").Versions[0]
	require.Len(t, v.Lets, 3)
	values := &formula.Values{}
	values.SetInt(formula.CPUs, 2)
	v.EvaluateLets(values)
	_, err := v.Lets[2].Formula.Eval(values)
	require.EqualError(t, err, "by_memory is not known: mem_gib is not recorded")

	values.SetInt(formula.MemoryMiB, 64*1024)
	values.Set(formula.MemoryPerCoreGiB, money.Int(8))
	v.EvaluateLets(values)
	x, known := values.Get(v.Lets[2].Slot)
	require.True(t, known)
	require.Equal(t, "8", x.String())

	for _, r := range v.Rules {
		if r.Name != "gpu" {
			continue
		}
		require.Nil(t, r.Charges[0].Units)
		require.NotNil(t, r.Charges[1].Amount)
		require.True(t, r.Charges[2].PerJob)
	}
	home := v.Storage[1]
	require.Equal(t, rates.ProrateNone, home.Prorate)
	values.Reset()
	v.EvaluateLets(values) // per_core is a plain number, and known to storage
	values.SetInt(formula.QuotaBytes, 5_000_000_000_000)
	x, err = home.Charges[0].Rate.Eval(values)
	require.NoError(t, err)
	require.Equal(t, "4", x.String())
}

func TestStorageRules(t *testing.T) {
	v := goodCard(t, "every-key.good.yaml").Versions[0]
	require.Equal(t, 15, v.Storage[2].Snapshot)
	require.Equal(t, rates.ProrateHalfMonth, v.Storage[3].Prorate)
	require.True(t, v.Storage[4].Charges[0].PerDay)
	require.Equal(t, rates.ProrateDay, v.Storage[5].Prorate)
}

// TB and TiB are never mixed in silence (case C98).
func TestMetersOfTBCountTB(t *testing.T) {
	f := func(unit, formula string, want ...string) {
		t.Helper()
		c, err := rates.LoadCard("c", []byte("card: c\ncurrency: USD\nversions: [{from: 2026-01-01, meters: {m: {unit: "+unit+", price: 1}}, storage: [{name: a, charge: {m: \""+formula+"\"}}]}]"))
		require.NoError(t, err)
		var got []string
		for _, w := range c.Warnings {
			got = append(got, w.Message+" | "+w.Hint())
		}
		require.Equal(t, want, got)
	}
	f("TB-month", "quota_tb")
	f("TiB-month", "max(quota_tib, used_tib)")
	f("TB-month", "max(0, quota_tib - 1)", "counts TiB in m, whose unit is TB-month | use the figures in TB, or name the unit after what is counted")
	f("TiB hour", "quota_tb", "counts TB in m, whose unit is TiB hour | use the figures in TiB, or name the unit after what is counted")
	f("TB-month", "quota_tib*1.099511627776") // converted, by a number that says so
	f("GiB-month", "quota_tib*1024")
	f("TBU", "quota_tib")
}

func TestAnchors(t *testing.T) {
	c := goodCard(t, "anchors.good.yaml")
	require.Len(t, c.Versions, 2)
	require.Equal(t, day(2026, 1, 1), c.Versions[0].Until)
	require.Equal(t, "SU", c.Versions[1].Meters["su"].Unit)
	require.Equal(t, "GPU-hour", c.Versions[1].Meters["gpu"].Unit)
	require.Equal(t, c.Versions[0].Rules[0].Charges[0].Rate.Text, c.Versions[1].Rules[1].Charges[0].Rate.Text)
}

// Whatever the bytes: a card or faults, never both, never a panic, and every
// fault with a message.
func FuzzLoadCard(f *testing.F) {
	files, err := filepath.Glob(cardsDir + "/*.good.yaml")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte("card: &a [*a]\n"))
	f.Add([]byte("versions: [{<<: {<<: {from: 2026-01-01}}, rules: &r [{name: a, match: &m {partition: !x, <<: *m}}]}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		card, err := rates.LoadCard("card.yaml", text)
		if card != nil {
			require.NoError(t, err)
			card.VersionAt(day(2026, 1, 1))
			return
		}
		var faults rates.Faults
		require.True(t, errors.As(err, &faults))
		for _, fault := range faults {
			require.NotEmpty(t, fault.Message)
		}
	})
}

func TestLimits(t *testing.T) {
	v := goodCard(t, "every-key.good.yaml").Versions[0]
	require.Len(t, v.Limits, 2)
	require.Equal(t, []rates.Bound{
		{Kind: rates.TimeLimitHours, Max: money.Int(1)}, {Kind: rates.GPUsPerJob, Max: money.Int(4)},
		{Kind: rates.RunningPerUser, Max: money.Int(1)}, {Kind: rates.SubmittedPerUser, Max: money.Int(4)},
	}, v.Limits[0].Bounds)
	require.Equal(t, []rates.Bound{ // in the order of kinds, not of the file
		{Kind: rates.CPUsPerGPU, Max: money.Int(4)}, {Kind: rates.MemoryGiBPerGPU, Max: money.Ratio(41, 2)},
	}, v.Limits[1].Bounds)
	require.Equal(t, "mem_gib_per_gpu", v.Limits[1].Bounds[1].Kind.String())
}
