package rates

import (
	"fmt"
	"regexp"
	"strings"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// formula writes what the weights of a partition mean, exactly and without
// Slurm's cut to a whole number:
//
//	CPU=0.8,Mem=0.102G under MAX_TRES  →  max(cpus*0.8, mem_gib*0.102)
//
// "" means that nothing is weighed; the error says why the weights cannot
// stand as a formula.
func (p *slurmPartition) formula(flags []string) (string, error) {
	if len(p.weights) == 0 {
		return "cpus", nil
	}
	combine := combinationOf(flags)
	var largest, added []string
	for _, w := range p.weights {
		term, err := p.term(w)
		if err != nil {
			return "", err
		}
		gres := strings.HasPrefix(w.tres, "gres/")
		onNode := w.tres == "cpu" || w.tres == "mem" || w.tres == "node"
		switch {
		case term == "":
		case combine != sumAll && (onNode || gres && combine == maxTRES):
			largest = append(largest, term)
		default:
			added = append(added, term)
		}
	}
	if len(largest) > 1 {
		largest = []string{"max(" + strings.Join(largest, ", ") + ")"}
	}
	terms := append(largest, added...)
	text := strings.Join(terms, " + ")
	if len(terms) == 1 && !strings.HasPrefix(text, "max(") {
		text = strings.TrimSuffix(text, "*1")
	}
	if len(text) > formula.MaxTextBytes {
		return "", fmt.Errorf("the formula would have more than %d characters", formula.MaxTextBytes)
	}
	return text, nil
}

// term writes one weighted TRES; "" for what weighs nothing.
func (p *slurmPartition) term(w tresWeight) (string, error) {
	weight, err := weightDecimal(w.number)
	if err != nil {
		return "", err
	}
	switch w.tres {
	case "billing", "energy", "vmem", "pages", "fs/disk":
		return "", nil
	}
	if weight.Sign() == 0 {
		return "", nil
	}
	name, divisor := p.figure(w)
	term := name + "*" + weight.String()
	if divisor > 1 {
		term += fmt.Sprintf("/%d", divisor)
	}
	return term, nil
}

// figure gives the name of a TRES in formulas, and what remains to divide by.
func (p *slurmPartition) figure(w tresWeight) (name string, divisor int64) {
	switch w.tres {
	case "cpu":
		return "cpus", w.divisor
	case "node":
		return "nodes", w.divisor
	case "mem":
		if w.divisor == 1 {
			return "mem_mib", 1
		}
		return "mem_gib", w.divisor / 1024
	}
	tres := p.spelled(w.tres)
	if strings.EqualFold(tres, "gres/gpu") {
		return "gpus", w.divisor
	}
	if typed, ok := strings.CutPrefix(tres, "gres/gpu:"); ok {
		return fmt.Sprintf("gpu(%q)", typed), w.divisor
	}
	return fmt.Sprintf("tres(%q)", tres), w.divisor
}

var bareTail = regexp.MustCompile(`^([0-9]+)\.([eE]|$)`)

// weightDecimal reads a number of Slurm's as one of ours, which has a digit
// on both sides of its point.
func weightDecimal(number string) (money.Exact, error) {
	number = strings.TrimPrefix(number, "+")
	if strings.HasPrefix(number, ".") {
		number = "0" + number
	}
	return money.ParseDecimal(bareTail.ReplaceAllString(number, "$1$2"))
}
