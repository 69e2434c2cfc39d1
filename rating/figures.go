package rating

import (
	"errors"
	"fmt"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

var (
	errNoNodeType = errors.New("no hardware: entry of the card matches the job")
	errNoMemory   = errors.New("the record has no memory, and the card no memory of the node type")
)

// setFigures sets all figures that the formulas of a plan's rule need.
func (r *Rater) setFigures(pl *plan, j *ingest.Job, p part, ex *recorder) {
	r.setRecord(pl.rule.version, j, p)
	r.setHardware(pl.rule, pl.hardware, j, ex)
	if pl.rule.slurmBilling {
		r.setSlurmBilling(pl.hardware, j, ex)
	}
	r.setLets(pl.rule, j, p, ex)
}

// setRecord sets the figures that come from a job's record and that the
// version's formulas or matches name. CPUs or nodes of 0 on a job that ran
// are a record that does not know: Slurm allocates at least one.
func (r *Rater) setRecord(v *version, j *ingest.Job, p part) {
	r.values.Reset()
	r.setSlots(v.slots, j, p)
}

func (r *Rater) setSlots(slots []formula.Slot, j *ingest.Job, p part) {
	values := &r.values
	for _, slot := range slots {
		switch slot {
		case formula.CPUs:
			values.SetInt(slot, orUnknown(j.CPUs))
		case formula.Nodes:
			values.SetInt(slot, orUnknown(j.NodeCount))
		case formula.GPUs:
			values.SetInt(slot, j.GPUs)
		case formula.MemoryMiB:
			values.SetInt(slot, orUnknown(j.MemoryMiB))
		case formula.Billing:
			values.SetInt(slot, j.Billing)
		case formula.ReqCPUs:
			values.SetInt(slot, j.ReqCPUs)
		case formula.ReqMemoryMiB:
			values.SetInt(slot, j.ReqMemoryMiB)
		case formula.ReqGPUs:
			values.SetInt(slot, j.ReqGPUs)
		case formula.ReqNodes:
			values.SetInt(slot, j.ReqNodeCount)
		case formula.ElapsedSeconds:
			values.SetInt(slot, p.elapsed)
		case formula.SuspendedSeconds:
			values.SetInt(slot, p.suspended)
		case formula.TimelimitSeconds:
			values.SetInt(slot, j.TimelimitSeconds)
		case formula.WaitSeconds:
			values.SetInt(slot, waitSeconds(j))
		case formula.CalendarDays:
			values.SetInt(slot, r.calendarDays(p))
		}
	}
}

func orUnknown(count int64) int64 {
	if count == 0 {
		return ingest.Unknown
	}
	return count
}

// waitSeconds is how long a job could have started and had not.
func waitSeconds(j *ingest.Job) int64 {
	since := j.Eligible
	if since == ingest.None {
		since = j.Submit
	}
	if since == ingest.None || j.Start == ingest.None {
		return ingest.Unknown
	}
	return max(0, int64(j.Start-since))
}

// calendarDays counts the days that a part of a job touches. Jobs are cut at
// midnights alone, so that the days of the parts are those of the whole.
func (r *Rater) calendarDays(p part) int64 {
	if p.from >= p.until {
		return 0
	}
	first, last := rates.DateOf(timeOf(p.from), r.tariff.Zone), rates.DateOf(timeOf(p.until-1), r.tariff.Zone)
	return int64(daysBetween(first, last)) + 1
}

// setHardware sets the figures of the node type that the rule needs.
func (r *Rater) setHardware(ru *rule, h *rates.Hardware, j *ingest.Job, ex *recorder) {
	values := &r.values
	if h != nil {
		h.Fill(values)
	}
	for _, slot := range ru.hardware {
		if _, known := values.Get(slot); known {
			continue
		}
		cause := errNoNodeType
		if h != nil {
			cause = fmt.Errorf("the hardware entry %s does not give it", h.Name)
		}
		values.SetUnknown(slot, cause)
	}
	if ru.memory && j.MemoryMiB <= 0 {
		r.setMemory(h, j, ex)
	}
}

// setMemory stands in for memory that Slurm did not record as allocated. Who
// asked for none has the share that his cores carry; who asked for some, on a
// cluster that does not divide memory, has all of his nodes'.
func (r *Rater) setMemory(h *rates.Hardware, j *ingest.Job, ex *recorder) {
	var gib money.Exact
	var says string
	switch {
	case h == nil:
		r.values.SetUnknown(formula.MemoryMiB, errNoMemory)
		return
	case j.ReqMemoryMiB <= 0 && h.HasMemoryPerCore && j.CPUs > 0:
		gib = h.MemoryPerCoreGiB.Mul(money.Int(j.CPUs))
		says = "none is recorded and none was asked for: what the CPUs carry on node type " + h.NodeType
	case h.HasMemory && j.NodeCount > 0:
		gib = h.MemoryGiB.Mul(money.Int(j.NodeCount))
		says = "none is recorded: the whole memory of the nodes, of type " + h.NodeType
	default:
		r.values.SetUnknown(formula.MemoryMiB, errNoMemory)
		return
	}
	r.values.Set(formula.MemoryMiB, gib.Mul(money.Int(1024)))
	ex.figure("mem_gib", says, gib, h.Line)
}

// tres gives formulas a TRES by name. What an AllocTRES leaves out is 0, but
// for what every job has: energy that is left out was not measured. GPUs of one type are known only where all GPUs of
// the job have a type.
func (r *Rater) tres(name string) (count int64, known bool) {
	j := r.job
	if j.AllocTRES == "" {
		return 0, false
	}
	if strings.HasPrefix(name, "gres/gpu:") {
		typed := int64(0)
		for _, n := range j.GPUTypes() {
			typed += n
		}
		if typed != j.GPUs {
			return 0, false
		}
	}
	if count, known = j.TRES(name); known {
		return count, true
	}
	switch name {
	case "cpu", "mem", "node", formula.Energy:
		return 0, false
	}
	return 0, true
}
