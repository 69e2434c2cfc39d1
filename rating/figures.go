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

// setRecord sets the figures that come from a job's record and that the
// version's formulas or matches name. CPUs or nodes of 0 on a job that ran
// are a record that does not know: Slurm allocates at least one.
func (r *Rater) setRecord(v *version, j *ingest.Job, p part) {
	values := &r.values
	values.Reset()
	for _, slot := range v.slots {
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

// setHardware sets the figures of the node type that the rule needs. A job
// whose memory was not recorded had its nodes' whole memory: what Slurm does
// not track, it does not divide.
func (r *Rater) setHardware(ru *rule, h *rates.Hardware, j *ingest.Job) {
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
	if !ru.memory || j.MemoryMiB > 0 {
		return
	}
	if h == nil || !h.HasMemory || j.NodeCount <= 0 {
		values.SetUnknown(formula.MemoryMiB, errNoMemory)
		return
	}
	values.Set(formula.MemoryMiB, h.MemoryGiB.Mul(money.Int(1024)).Mul(money.Int(j.NodeCount)))
}

// tres gives formulas a TRES by name. What an AllocTRES leaves out is 0, but
// for what every job has. GPUs of one type are known only where all GPUs of
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
	case "cpu", "mem", "node":
		return 0, false
	}
	return 0, true
}
