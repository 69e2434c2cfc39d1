package rates

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hpcbill/rates/money"
)

// slurmPartition is a partition as Slurm shows it.
type slurmPartition struct {
	*slurmRecord
	name    string
	nodes   int64
	total   map[string]int64 // TRES of all its nodes, memory in MiB
	rounded bool             // the memory was printed to two decimals and may be a little off

	weights      []tresWeight
	billing      *SlurmBilling
	formulaFault string // why its weights cannot stand as a formula
}

// partition takes one partition of any form.
func (c *cardImport) partition(r *slurmRecord) {
	p := &slurmPartition{slurmRecord: r, name: r.value("PartitionName"), total: map[string]int64{}}
	before := len(c.faults)
	if !c.canBeMatched(r.file, r.line, "PartitionName", p.name) {
		return
	}
	if i := slices.IndexFunc(c.partitions, func(o *slurmPartition) bool { return o.name == p.name }); i >= 0 {
		c.fault(r.file, r.line, p.name, fmt.Sprintf("this partition was shown before, at %s:%d", c.partitions[i].file, c.partitions[i].line), "give each list once, of one cluster")
		return
	}
	if r.value("State") == "" {
		c.fault(r.file, r.line, p.name, "has no State", "a line of slurm.conf, or a list that was cut off: write what  scontrol show partition  prints into the file")
	}
	p.nodes = c.count(r, p.name, "TotalNodes")
	c.readTotals(p)
	c.readImportedWeights(p)
	if len(c.faults) == before {
		c.partitions = append(c.partitions, p)
	}
}

// count reads a whole number, 0 where there is none.
func (c *cardImport) count(r *slurmRecord, partition, key string) int64 {
	text := r.value(key)
	if text == "" || text == "UNLIMITED" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		c.fault(r.file, r.fields[key].line, partition+"."+key, fmt.Sprintf("%q is not a count", shortened(text)), "")
		return 0
	}
	return n
}

// readTotals reads what all the nodes have together.
func (c *cardImport) readTotals(p *slurmPartition) {
	text := p.value("TRES")
	for _, item := range strings.Split(text, ",") {
		if text == "" {
			break
		}
		name, value, _ := strings.Cut(item, "=")
		n, rounded, ok := tresTotal(name, value)
		if !ok {
			c.fault(p.file, p.fields["TRES"].line, p.name+".TRES", fmt.Sprintf("%s is not a TRES such as cpu=4", shortened(item)), "")
			continue
		}
		p.total[name] = n
		p.rounded = p.rounded || name == "mem" && rounded
	}
	// Releases that print no TRES have the CPUs all the same.
	if cpus := c.count(p.slurmRecord, p.name, "TotalCPUs"); p.total["cpu"] == 0 && cpus > 0 {
		p.total["cpu"] = cpus
	}
}

var sizeForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([KMGTPkmgtp]?)$`)

// tresTotal reads a count, or a size in MiB: 576G, 1.50T, 120391880M. A size
// with decimals may be rounded.
func tresTotal(name, value string) (n int64, rounded, ok bool) {
	m := sizeForm.FindStringSubmatch(value)
	if name == "" || m == nil {
		return 0, false, false
	}
	x, err := money.ParseDecimal(m[1])
	if err != nil {
		return 0, false, false
	}
	if m[2] != "" {
		unit := money.Ratio(1, 1024)
		for range strings.Index(weightSuffixes, strings.ToUpper(m[2])) {
			unit = unit.Mul(money.Int(1024))
		}
		x = x.Mul(unit)
	}
	whole := x.Round(0, money.HalfEven)
	if whole.Cmp(money.Int(math.MaxInt64)) > 0 {
		return 0, false, false
	}
	n, ok = whole.Int64()
	return n, !whole.Equal(x) || strings.Contains(m[1], "."), ok
}

// readImportedWeights reads the weights, which slurmctld accepted: a fault
// means that the list was damaged, or that Slurm bills what is no number.
func (c *cardImport) readImportedWeights(p *slurmPartition) {
	field := p.fields["TRESBillingWeights"]
	text := p.value("TRESBillingWeights")
	billing, faults, _ := ParseSlurmBilling(text, c.options.PriorityFlags)
	for _, f := range faults {
		c.fault(p.file, field.line, p.name+".TRESBillingWeights", fmt.Sprintf("%s (at character %d of %s)", f.Message, f.Column, shortened(text)), f.Remedy)
	}
	p.billing = billing
	p.weights, _, _ = readWeights(text)
}

// spelled gives a TRES as Slurm's own list spells it: weights may be written
// in any case, records are not.
func (p *slurmPartition) spelled(tres string) string {
	if _, ok := p.total[tres]; ok {
		return tres
	}
	for _, item := range strings.Split(p.value("TRES"), ",") {
		if name, _, _ := strings.Cut(item, "="); strings.EqualFold(name, tres) {
			return name
		}
	}
	return tres
}

// wholeBilling is what the weights make of the whole partition, and what
// Slurm itself shows for it. ok is false where that proves nothing.
func (p *slurmPartition) wholeBilling(b *SlurmBilling) (ours, slurms int64, ok bool) {
	if len(p.total) == 0 || p.value("TRES") == "" || len(p.weights) == 0 || p.rounded {
		return 0, 0, false
	}
	ours, err := b.Billing(func(tres string) (int64, bool) { return p.total[p.spelled(tres)], true })
	return ours, p.total["billing"], err == nil
}
