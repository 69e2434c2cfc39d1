package rating

import (
	"fmt"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// setSlurmBilling sets what Slurm computes for the billing TRES of the job on
// its node type. It looks at the record alone: what stands in for memory that
// Slurm did not record is none that Slurm billed.
func (r *Rater) setSlurmBilling(h *rates.Hardware, j *ingest.Job, ex *recorder) {
	values := &r.values
	switch {
	case h == nil:
		values.SetUnknown(formula.SlurmBilling, errNoNodeType)
		return
	case h.SlurmBilling == nil:
		values.SetUnknown(formula.SlurmBilling, fmt.Errorf("the hardware entry %s has no tres_weights", h.Name))
		return
	}
	billing, err := h.SlurmBilling.Billing(r.slurmCount)
	if err != nil {
		values.SetUnknown(formula.SlurmBilling, err)
		return
	}
	values.SetInt(formula.SlurmBilling, billing)
	ex.slurmBilling(r, h, billing)
}

// allocatedCount gives the count of a TRES of the job in hand as Slurm had it
// when it computed billing. Slurm leaves a count of 0 out of AllocTRES, so
// what a recorded AllocTRES lacks was 0: but for CPUs and nodes, of which
// every job has some, and for GPUs that are recorded without any type, which
// the weight of a type cannot have been meant to miss.
func (r *Rater) allocatedCount(tres string) (count int64, known bool) {
	j := r.job
	recorded := j.AllocTRES != ""
	switch tres {
	case "cpu":
		return j.CPUs, j.CPUs > 0
	case "node":
		return j.NodeCount, j.NodeCount > 0
	case "mem":
		return max(0, j.MemoryMiB), recorded || j.MemoryMiB > 0
	}
	if strings.EqualFold(tres, "gres/gpu") {
		return max(0, j.GPUs), recorded || j.GPUs > 0
	}
	if name, ok := recordedName(j.AllocTRES, tres); ok {
		return j.TRES(name)
	}
	if typed := len("gres/gpu:"); len(tres) > typed && strings.EqualFold(tres[:typed], "gres/gpu:") {
		return 0, recorded && (j.GPUs == 0 || strings.Contains(j.AllocTRES, "gres/gpu:"))
	}
	return 0, recorded
}

// recordedName finds a TRES in an AllocTRES as that spells it.
func recordedName(allocated, tres string) (name string, ok bool) {
	for rest := allocated; rest != ""; {
		var item string
		item, rest, _ = strings.Cut(rest, ",")
		if name, _, _ = strings.Cut(item, "="); strings.EqualFold(name, tres) {
			return name, true
		}
	}
	return "", false
}

// slurmBilling tells how Slurm's figure comes about.
func (ex *recorder) slurmBilling(r *Rater, h *rates.Hardware, billing int64) {
	if ex == nil {
		return
	}
	t, err := h.SlurmBilling.Trace(r.slurmCount)
	if err != nil {
		panic("BUG: slurm_billing was computed and cannot be told: " + err.Error())
	}
	says := "as slurmctld computes it, by the tres_weights of " + h.Name
	if len(h.PriorityFlags) > 0 {
		says += " under " + strings.Join(h.PriorityFlags, ",")
	}
	x := money.Int(billing)
	if t.Double != x.String() {
		says += fmt.Sprintf(": %s, cut to a whole number", t.Double)
	}
	ex.add(Step{
		Stage: LetStage, Name: "slurm_billing", Says: says, Line: h.Line,
		Formula: t.Formula, WithNumbers: t.WithNumbers, Decides: t.Decides,
	}.number(x))
}
