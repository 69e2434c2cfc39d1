package rates_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

func shippedCard(t *testing.T, name string) *rates.Version {
	t.Helper()
	text, ok := rates.Shipped(name)
	require.True(t, ok)
	card, err := rates.LoadCard(name+".yaml", text)
	require.NoError(t, err)
	require.Empty(t, card.Warnings)
	v := card.VersionAt(rates.Date{Year: 2025, Month: 11, Day: 1})
	require.NotNil(t, v)
	return v
}

func TestShippedCardsLoad(t *testing.T) {
	require.Subset(t, rates.ShippedNames(), []string{"ialab", "osc", "pitt-crc"})
	for _, name := range rates.ShippedNames() {
		t.Run(name, func(t *testing.T) {
			text, ok := rates.Shipped(name)
			require.True(t, ok)
			card, err := rates.LoadCard(name+".yaml", text)
			require.NoError(t, err)
			require.Equal(t, name, card.Name)
			require.NotEmpty(t, card.Source)
			require.Empty(t, card.Warnings)
			require.Nil(t, card.VersionAt(rates.Date{Year: 1999, Month: 1, Day: 1}))
		})
	}
	_, ok := rates.Shipped("../card")
	require.False(t, ok)
}

// job is one job as the rating stage will describe it to a card.
type job struct {
	partition, qos, class           string
	cpus, nodes, mib, gpus, billing int64
}

func (j job) facts() *rates.Facts {
	f := &rates.Facts{Values: &formula.Values{}, GPUTypesKnown: true}
	f.Text[rates.Partition], f.Text[rates.QoS], f.Text[rates.Class] = j.partition, j.qos, j.class
	f.Values.SetInt(formula.CPUs, j.cpus)
	f.Values.SetInt(formula.Nodes, j.nodes)
	f.Values.SetInt(formula.MemoryMiB, j.mib)
	f.Values.SetInt(formula.GPUs, j.gpus)
	f.Values.SetInt(formula.Billing, j.billing)
	return f
}

// rated runs a job through hardware, lets, rule, rates and prices: what it is
// charged an hour, meter by meter, as "meter=rate@price".
func rated(t *testing.T, v *rates.Version, j job) (rule string, charges []string) {
	t.Helper()
	f := j.facts()
	hardware, err := v.HardwareFor(f)
	require.NoError(t, err)
	if hardware != nil {
		f.Text[rates.NodeType] = hardware.NodeType
		hardware.Fill(f.Values)
	}
	v.EvaluateLets(f.Values)
	r, err := v.Select(f)
	require.NoError(t, err)
	if r == nil {
		return "", nil
	}
	for _, c := range r.Charges {
		rate, err := c.Rate.Eval(f.Values)
		require.NoError(t, err)
		price, label, err := c.Meter.PriceFor(f)
		require.NoError(t, err)
		charges = append(charges, c.Meter.Name+"="+rate.String()+"@"+price.String()+label)
	}
	return r.Name, charges
}

const gib = 1024

func TestPittCRC(t *testing.T) {
	v := shippedCard(t, "pitt-crc")
	f := func(j job, rule string, want ...string) {
		t.Helper()
		j.class = "internal"
		name, charges := rated(t, v, j)
		require.Equal(t, rule, name)
		require.Equal(t, want, charges)
	}
	// Worked examples of the centre: 3.2/h · 2 h = 6.4 SU; 6.528/h; 8/h · 3 h = 24.
	f(job{partition: "smp", cpus: 4, mib: 16 * gib}, "smp", "su=3.2@0.012internal")
	f(job{partition: "smp", cpus: 1, mib: 64 * gib}, "smp", "su=6.528@0.012internal")
	f(job{partition: "a100", cpus: 16, mib: 128 * gib, gpus: 1}, "gpu", "su=8@0.012internal")
	f(job{partition: "a100_nvlink_multi", gpus: 8}, "gpu", "su=64@0.012internal")
	f(job{partition: "htc", cpus: 67, mib: 536000, billing: 67}, "htc", "su=67@0.012internal")
	f(job{partition: "high-mem", cpus: 1, mib: 1000 * gib}, "high-mem", "su=47.7@0.012internal")
	f(job{partition: "mpi", cpus: 96, mib: 512 * gib}, "mpi", "su=96@0.012internal")
	f(job{partition: "ndr", cpus: 1, mib: 100 * gib}, "mpi", "su=9.3@0.012internal")
	f(job{partition: "preempt", gpus: 4}, "preempt")
	f(job{partition: "preempt_ndr", cpus: 64}, "preempt")
	f(job{partition: "newpartition", cpus: 64}, "") // held, not free

	facts := job{partition: "smp", class: "industry"}.facts()
	_, _, err := v.Meters["su"].PriceFor(facts)
	require.ErrorIs(t, err, rates.ErrNotListed)
	require.EqualError(t, err, "no price of su is listed for class=industry")
}

func TestPittCRCBothTermsOfHTCAreEqual(t *testing.T) {
	v := shippedCard(t, "pitt-crc")
	facts := job{partition: "htc", cpus: 67, mib: 536000}.facts()
	r, err := v.Select(facts)
	require.NoError(t, err)
	trace, err := r.Charges[0].Rate.Trace(facts.Values)
	require.NoError(t, err)
	require.Equal(t, "max(67*1, 523.4375*0.128)", trace.WithNumbers)
	require.True(t, trace.Value.Equal(money.Int(67)))
	// 00:39:49 of it.
	require.Equal(t, "44.461944", trace.Value.Mul(money.Ratio(2389, 3600)).Decimal(6, money.Down))
}

func TestOSC(t *testing.T) {
	v := shippedCard(t, "osc")
	f := func(j job, rule string, want ...string) {
		t.Helper()
		name, charges := rated(t, v, j)
		require.Equal(t, rule, name)
		require.Equal(t, want, charges)
	}
	f(job{partition: "serial", nodes: 1, cpus: 4, mib: 16 * gib}, "cpu", "core_hours=4@0.025regular")
	f(job{partition: "serial", nodes: 1, cpus: 1, mib: 12 * gib}, "cpu", "core_hours=3@0.025regular")
	f(job{partition: "serial", nodes: 1, cpus: 3, mib: 0}, "cpu", "core_hours=3@0.025regular")
	f(job{partition: "serial", nodes: 1, cpus: 1, mib: 5 * gib}, "cpu", "core_hours=1.25@0.025regular")
	f(job{partition: "parallel", nodes: 2, cpus: 4, mib: 8 * gib}, "cpu", "core_hours=56@0.025regular")
	f(job{partition: "hugemem", nodes: 1, cpus: 1, mib: 64 * gib}, "cpu", "core_hours=2@0.06hugememory")
	f(job{partition: "gpuserial", nodes: 1, cpus: 8, mib: 32 * gib, gpus: 2}, "gpu", "core_hours=8@0.03gpu", "gpu_hours=2@0.1")
	f(job{partition: "visualisation", nodes: 1, cpus: 8}, "")

	holding := &rates.Facts{Values: &formula.Values{}}
	holding.Text[rates.Filesystem] = "ess"
	r, err := v.SelectStorage(holding)
	require.NoError(t, err)
	require.Equal(t, "project storage", r.Name)
	require.Equal(t, rates.ProrateDay, r.Prorate)
	holding.Values.SetInt(formula.QuotaBytes, 2_500_000_000_000)
	tb, err := r.Charges[0].Rate.Eval(holding.Values)
	require.NoError(t, err)
	require.Equal(t, "2.5", tb.String())
}

func TestIALAB(t *testing.T) {
	v := shippedCard(t, "ialab")
	f := func(j job, rule string, want ...string) {
		t.Helper()
		name, charges := rated(t, v, j)
		require.Equal(t, rule, name)
		require.Equal(t, want, charges)
	}
	// 2 GPUs carry 8 CPUs and 40 GB.
	f(job{partition: "ialab-low", qos: "regular", gpus: 2, cpus: 8, mib: 40 * gib}, "ialab-low", "gpu_hours=2@0.35regular")
	f(job{partition: "ialab-low", qos: "regular", gpus: 2, cpus: 9, mib: 40 * gib}, "ialab-low", "gpu_hours=2.25@0.35regular")
	f(job{partition: "ialab-low-unlimit", qos: "debug", gpus: 1, cpus: 1, mib: 60 * gib}, "ialab-low", "gpu_hours=3@0.2debug")
	f(job{partition: "ialab-high", qos: "regular", cpus: 2, mib: 5 * gib}, "ialab-high", "gpu_hours=0.5@0.35regular")
	f(job{partition: "other", qos: "regular"}, "")
	_, _, err := v.Meters["gpu_hours"].PriceFor(job{qos: "normal"}.facts())
	require.EqualError(t, err, "no price of gpu_hours is listed for qos=normal")
}
