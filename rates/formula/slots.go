package formula

import (
	"math"

	"hpcbill/rates/money"
)

// Slot is where a Values keeps a figure. The unit is that of the record, so
// that the figure is a whole number wherever the record has one.
type Slot uint8

// The slots of a job, of a holding, and of the stages between formulas.
const (
	CPUs Slot = iota
	Nodes
	GPUs
	MemoryMiB
	Billing // as Slurm recorded it
	ReqCPUs
	ReqMemoryMiB
	ReqGPUs
	ReqNodes
	ElapsedSeconds   // without suspension
	SuspendedSeconds // while suspended
	TimelimitSeconds
	WaitSeconds  // from eligible (or submit) to start
	CalendarDays // on which the job was there, in the site's zone

	NodeCores // of one node of the job's node type, as the rest of these
	NodeMemoryGiB
	NodeGPUs
	Threads // hardware threads a core
	MemoryPerCoreGiB
	SlurmBilling // recomputed from TRESBillingWeights

	Rate     // units an hour, before factors
	Factor   // the product of the factor chain
	Duration // hours that count
	Units
	Price // of one unit, in the card's currency

	QuotaBytes
	UsedBytes // at the end of the period, or of the day in a formula of one day
	MeanBytes // the mean of the uses of the days of the period
	MaxBytes  // the largest of the uses of the days of the period
	Days      // of the period that the holding covers
	MonthDays // of the period
	OverDays  // of the period on which more was used than the quota

	firstLet
)

// MaxSlots is how many figures a formula can choose from.
const MaxSlots = 96

// MaxLets is how many named figures one version of a card can have.
const MaxLets = MaxSlots - int(firstLet)

// LetSlot is the slot of a card's i-th named figure, from 0.
func LetSlot(i int) Slot {
	if i < 0 || i >= MaxLets {
		panic("BUG: formula.LetSlot beyond MaxLets")
	}
	return firstLet + Slot(i)
}

// The largest job and holding that bounds are worked out for: 10^6 nodes of
// 1024 cores, 16 TiB and 64 GPUs for 10 years, billed by Slurm as the cores
// are, with as many licenses and other gres as cores, and 2^63 bytes. Larger
// ones are still priced exactly; only what "cannot overflow" was said for
// these.
const (
	maxNodes    = 1_000_000
	maxCPUs     = maxNodes * 1024
	maxMiB      = maxNodes * 16 << 20
	maxGPUs     = maxNodes * 64
	maxBilling  = maxCPUs
	maxTRES     = math.MaxInt32 * 1000 // burst buffers in MiB, energy in joules
	maxSeconds  = 10 * 366 * 86400
	maxBytes    = math.MaxInt64
	maxPrice    = 1_000_000_000
	maxFactor   = 1_000_000
	maxJobDays  = maxSeconds/86400 + 1
	maxDays     = 31
	minMonthDay = 28
)

// Figure is a name that a formula may use.
type Figure struct {
	Name      string
	Means     string // with its unit, for documentation and messages
	Slot      Slot
	Dimension Dimension
	Bounds    Bounds

	scale money.Exact // what one unit of the slot is worth
	let   *node       // the formula of a card's own figure
}

// jobFigures are the figures of a job and of the hardware it ran on. What Slurm
// allocated of CPUs, nodes and memory is never nothing: a record that says so
// does not know.
func jobFigures() []Figure {
	one, gib, hour := money.Int(1), money.Ratio(1, 1024), money.Ratio(1, 3600)
	gb := money.Ratio(1048576, 1_000_000_000)
	return []Figure{
		{"cpus", "CPUs allocated", CPUs, count, oneUpTo(maxCPUs, one), one, nil},
		{"nodes", "nodes allocated", Nodes, plain, oneUpTo(maxNodes, one), one, nil},
		{"gpus", "GPUs allocated", GPUs, count, upTo(maxGPUs, one), one, nil},
		{"mem_gib", "memory allocated, in GiB of 1024 MiB (Slurm's G)", MemoryMiB, inGiB, oneUpTo(maxMiB, gib), gib, nil},
		{"mem_mib", "memory allocated, in MiB (Slurm's M)", MemoryMiB, inMiB, oneUpTo(maxMiB, one), one, nil},
		{"mem_gb", "memory allocated, in GB of 10^9 bytes", MemoryMiB, inGB, oneUpTo(maxMiB, gb), gb, nil},
		{"billing", "the billing TRES as Slurm recorded it", Billing, plain, upTo(maxBilling, one), one, nil},
		{"req_cpus", "CPUs requested", ReqCPUs, count, upTo(maxCPUs, one), one, nil},
		{"req_nodes", "nodes requested", ReqNodes, plain, upTo(maxNodes, one), one, nil},
		{"req_gpus", "GPUs requested", ReqGPUs, count, upTo(maxGPUs, one), one, nil},
		{"req_mem_gib", "memory requested, in GiB", ReqMemoryMiB, inGiB, upTo(maxMiB, gib), gib, nil},
		{"req_mem_mib", "memory requested, in MiB", ReqMemoryMiB, inMiB, upTo(maxMiB, one), one, nil},
		{"req_mem_gb", "memory requested, in GB of 10^9 bytes", ReqMemoryMiB, inGB, upTo(maxMiB, gb), gb, nil},
		{"elapsed_h", "hours that the job ran, without suspension", ElapsedSeconds, hours, upTo(maxSeconds, hour), hour, nil},
		{"suspended_h", "hours that the job was suspended", SuspendedSeconds, hours, upTo(maxSeconds, hour), hour, nil},
		{"timelimit_h", "the time limit in hours", TimelimitSeconds, hours, upTo(maxSeconds, hour), hour, nil},
		{"wait_h", "hours from when the job could start until it did", WaitSeconds, hours, upTo(maxSeconds, hour), hour, nil},
		{"calendar_days", "days of the calendar on which the job was there, in part or whole, in the site's time zone", CalendarDays, plain, upTo(maxJobDays, one), one, nil},

		{"node_cores", "cores of one node of the job's node type", NodeCores, count, upTo(1<<20, one), one, nil},
		{"node_mem_gib", "memory of one node, in GiB", NodeMemoryGiB, inGiB, upTo(1<<20, one), one, nil},
		{"node_gpus", "GPUs of one node", NodeGPUs, count, upTo(1<<10, one), one, nil},
		{"threads", "hardware threads a core", Threads, plain, upTo(1<<10, one), one, nil},
		{"mem_per_core_gib", "memory that one core carries, in GiB", MemoryPerCoreGiB, perCore, upTo(1<<20, one), one, nil},
		{"slurm_billing", "the billing TRES recomputed from tres_weights", SlurmBilling, plain, upTo(maxBilling, one), one, nil},
	}
}

// storageFigures are the figures of a holding in one period.
func storageFigures() []Figure {
	one := money.Int(1)
	figures := []Figure{
		{"days", "days of the period that the holding covers", Days, plain, upTo(maxDays, one), one, nil},
		{"month_days", "days of the period", MonthDays, plain, Bounds{low: money.Int(minMonthDay), high: money.Int(maxDays)}, one, nil},
		{"over_days", "days of the period on which more was used than the quota", OverDays, plain, upTo(maxDays, one), one, nil},
	}
	for _, q := range []struct {
		name, means string
		slot        Slot
	}{
		{"quota", "the quota", QuotaBytes},
		{"used", "the use at the end of the period (in a rate per: day, that day's)", UsedBytes},
		{"mean", "the mean of the daily uses", MeanBytes},
		{"max", "the largest of the daily uses", MaxBytes},
	} {
		tb, tib := money.Ratio(1, 1_000_000_000_000), money.Ratio(1, 1<<40)
		figures = append(figures,
			Figure{q.name + "_tb", q.means + ", in TB of 10^12 bytes", q.slot, inTB, upTo(maxBytes, tb), tb, nil},
			Figure{q.name + "_tib", q.means + ", in TiB of 2^40 bytes", q.slot, inTiB, upTo(maxBytes, tib), tib, nil})
	}
	return figures
}

// stageFigures are what earlier formulas give to later ones.
func stageFigures() []Figure {
	one := money.Int(1)
	open := Bounds{highOpen: true}
	return []Figure{
		{"rate", "units an hour, as the rate formula gave them", Rate, anything, open, one, nil},
		{"factor", "the product of the factors", Factor, plain, upTo(maxFactor, one), one, nil},
		{"duration", "the hours that count", Duration, hours, open, one, nil},
		{"units", "the units, as the units formula gave them", Units, anything, open, one, nil},
		{"price", "the price of one unit", Price, anything, upTo(maxPrice, one), one, nil},
	}
}
