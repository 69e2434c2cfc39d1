package rates

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"hpcbill/rates/formula"
)

// SlurmBilling is how slurmctld computes the billing TRES of a job: from what
// the job was allocated at its start, the TRESBillingWeights of its partition
// and PriorityFlags. It never changes and may be used from several goroutines.
//
// This is the one place where quantities are floating-point numbers: Slurm
// computes in IEEE doubles and cuts the sum to a whole number, so that
// 0.29·100 is billed as 28. Who computes 29 has not computed what Slurm
// billed. The result is a whole number, and exact from there on.
type SlurmBilling struct {
	combine combination
	terms   []slurmTerm // in the order in which slurmctld adds them up
}

// combination is what PriorityFlags make of the weighted counts.
type combination uint8

const (
	sumAll     combination = iota // Slurm's default
	maxTRES                       // MAX_TRES: the largest of a node's TRES, and the sum of the rest
	maxTRESSum                    // MAX_TRES_GRES: the same, with the gres among the sum
)

// slurmTerm is one weighted TRES.
type slurmTerm struct {
	tresWeight
	weight float64 // of one unit as Slurm counts it: a CPU, a MiB, a GPU
	gres   bool
	onNode bool // cpu, mem, node: of a node, and not a gres
}

// ParseSlurmBilling reads TRESBillingWeights and PriorityFlags as slurm.conf
// has them. Empty weights are Slurm's default: the allocated CPUs. Faults are
// what slurmctld refuses, or would make no number of; their columns count in
// weights. With any there is no SlurmBilling.
func ParseSlurmBilling(weights string, flags []string) (b *SlurmBilling, faults, warnings []formula.Fault) {
	entries, faults, warnings := readWeights(weights)
	if weights == "" {
		entries = []tresWeight{{tres: "cpu", text: "1", number: "1", divisor: 1}}
	}
	b = &SlurmBilling{combine: combinationOf(flags)}
	reader := &weightReader{text: weights, faults: faults, warnings: warnings}
	for _, w := range entries {
		if t, counts := reader.term(w); counts {
			b.terms = append(b.terms, t)
		}
	}
	if len(reader.faults) > 0 {
		return nil, reader.faults, reader.warnings
	}
	// TRES that the site's database numbered come as the weights list them:
	// their ids, and so the order of Slurm's sum, stand in no dump.
	slices.SortStableFunc(b.terms, func(x, y slurmTerm) int { return tresOrder(x.tres) - tresOrder(y.tres) })
	return b, nil, reader.warnings
}

func combinationOf(flags []string) combination {
	switch {
	case slices.Contains(flags, "MAX_TRES_GRES"):
		return maxTRESSum
	case slices.Contains(flags, "MAX_TRES"):
		return maxTRES
	}
	return sumAll
}

// term turns an entry into a double as strtod and a division do. counts is
// false for what never counts.
func (r *weightReader) term(w tresWeight) (t slurmTerm, counts bool) {
	const leastNormal = 0x1p-1022 // below, strtod reports an error, which Slurm obeys
	x, err := strconv.ParseFloat(strings.TrimPrefix(w.number, "+"), 64)
	digits, _, _ := strings.Cut(strings.ToLower(w.number), "e")
	if err != nil || x < leastNormal && strings.ContainsAny(digits, "123456789") {
		r.fault(w.at, fmt.Sprintf("the weight %s is beyond what Slurm can keep", w.text), "write a decimal of a usual size")
		return t, false
	}
	t = slurmTerm{tresWeight: w, weight: x / float64(w.divisor)}
	switch w.tres {
	case "cpu", "mem", "node":
		t.onNode = true
	case "billing":
		r.warn(w.at, "Slurm leaves billing out of its own sum", "remove the weight")
		return t, false
	case "energy":
		if x != 0 {
			r.fault(w.at, "Slurm does not know a job's energy when it computes billing, and bills a sentinel of 2^64 instead", "remove the weight of energy")
		}
		return t, false
	case "vmem", "pages", "fs/disk":
		r.warn(w.at, w.tres+" is measured, not allocated: its weight never counts", "remove the weight")
		return t, false
	}
	t.gres = strings.HasPrefix(w.tres, "gres/")
	return t, true
}

// TRESCount gives the allocated count of a TRES by Slurm's name for it, in any
// case, memory and burst buffers in MiB; known is false where the record does
// not tell.
type TRESCount func(tres string) (count int64, known bool)

// Billing gives the billing TRES of a job with the counts. The error says
// which count is not known, or that the result is too large to be kept.
func (b *SlurmBilling) Billing(count TRESCount) (int64, error) {
	x, err := b.double(count)
	if err != nil {
		return 0, err
	}
	if x >= math.MaxInt64 {
		return 0, fmt.Errorf("a billing of %g is too large to be kept", x)
	}
	return int64(x), nil
}

// double is slurmctld's assoc_mgr_tres_weighted: each count times its weight,
// added in the order of the TRES. Each product is rounded to a double before
// it is added: on machines that can, Go would fuse the two otherwise, and x86
// does not.
func (b *SlurmBilling) double(count TRESCount) (float64, error) {
	var largest, gres, sum float64
	for i := range b.terms {
		t := &b.terms[i]
		n, known := count(t.tres)
		if !known {
			return 0, fmt.Errorf("the count of %s is not recorded", t.tres)
		}
		product := float64(float64(n) * t.weight)
		switch {
		case b.combine == maxTRESSum && t.gres:
			gres += product
		case b.combine != sumAll && (t.onNode || t.gres):
			largest = max(largest, product)
		default:
			sum += product
		}
	}
	if b.combine == maxTRESSum {
		largest += gres
	}
	return largest + sum, nil
}

// SlurmTrace is one computation as a person can follow it.
type SlurmTrace struct {
	Formula     string // "max(cpu*0.8, mem*0.102G)"
	WithNumbers string // "max(4*0.8, 16384*0.102/1024)"
	Decides     string // the operand that gave the maximum, "" where there is none
	Double      string // what Slurm's arithmetic gives before it is cut: "3.2"
}

// Trace tells how Billing comes about.
func (b *SlurmBilling) Trace(count TRESCount) (SlurmTrace, error) {
	x, err := b.double(count)
	if err != nil {
		return SlurmTrace{}, err
	}
	t := SlurmTrace{Double: strconv.FormatFloat(x, 'f', -1, 64)}
	var formulas, numbers [2][]string // of the maximum, of the sum
	largest := -1.0
	for i := range b.terms {
		term := &b.terms[i]
		n, _ := count(term.tres)
		to := 1
		if b.combine != sumAll && (term.onNode || term.gres && b.combine == maxTRES) {
			to = 0
			if product := float64(n) * term.weight; product > largest {
				largest, t.Decides = product, term.String()
			}
		}
		formulas[to] = append(formulas[to], term.String())
		numbers[to] = append(numbers[to], term.with(n))
	}
	if len(formulas[0]) < 2 {
		t.Decides = ""
	}
	t.Formula, t.WithNumbers = put(formulas), put(numbers)
	return t, nil
}

// String is the term by Slurm's names: "mem*0.102G".
func (t *slurmTerm) String() string { return t.tres + "*" + t.text }

// with is the term with its count: "16384*0.102/1024".
func (t *slurmTerm) with(count int64) string {
	text := strconv.FormatInt(count, 10) + "*" + t.number
	if t.divisor > 1 {
		text += "/" + strconv.FormatInt(t.divisor, 10)
	}
	return text
}

// put writes what goes into the maximum and what is added.
func put(parts [2][]string) string {
	added := parts[1]
	switch of := parts[0]; len(of) {
	case 0:
	case 1:
		added = append([]string{of[0]}, added...)
	default:
		added = append([]string{"max(" + strings.Join(of, ", ") + ")"}, added...)
	}
	if len(added) == 0 {
		return "0"
	}
	return strings.Join(added, " + ")
}
