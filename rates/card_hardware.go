package rates

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
	"hpcbill/rates/nearest"
	"hpcbill/rates/yamldoc"
)

func (v *versionLoader) hardware(f yamldoc.Field, path string) {
	for _, e := range v.Entries(f.Value, path, "a node type and its facts") {
		v.version.Hardware = append(v.version.Hardware, v.nodeType(e, path+"."+e.Key))
	}
	var before orderedMatches
	for _, later := range v.version.Hardware {
		if hiding := before.hiding(later.Match, func(at int) (string, int) { return v.version.Hardware[at].Name, v.version.Hardware[at].Line }); hiding != "" {
			v.Fault(nodeAt(later.Line, later.Column), path+"."+later.Name, fmt.Sprintf("no job reaches it: %s that it matches", hiding), "put the narrower one first")
		}
		before.add(later.Match)
	}
}

func (v *versionLoader) nodeType(e yamldoc.Field, path string) *Hardware {
	h := &Hardware{Name: e.Key, NodeType: e.Key, Line: e.KeyNode.Line, Column: e.KeyNode.Column}
	var weights *yaml.Node
	for _, f := range v.Fields(e.Value, path, hardwareKeys.names()...) {
		at := path + "." + f.Key
		switch f.Key {
		case "type":
			h.NodeType, _ = v.Text(f.Value, at)
		case "match":
			h.Match = v.match(f.Value, at, hardwareFields())
		case "cores":
			h.Cores, h.HasCores = v.number(f.Value, at, false)
		case "mem_gib":
			h.MemoryGiB, h.HasMemory = v.size(f.Value, at, false)
		case "gpus":
			h.GPUs, h.HasGPUs = v.number(f.Value, at, true)
		case "threads":
			h.Threads, h.HasThreads = v.number(f.Value, at, false)
		case "mem_per_core_gib":
			h.MemoryPerCoreGiB, h.HasMemoryPerCore = v.size(f.Value, at, false)
		case "tres_weights":
			weights = f.Value
		case "priority_flags":
			h.PriorityFlags = v.priorityFlags(f.Value, at)
		case "note":
			v.Text(f.Value, at)
		}
	}
	if weights != nil {
		v.tresWeights(h, weights, path+".tres_weights")
	}
	if !h.HasMemoryPerCore && h.HasCores && h.HasMemory {
		h.MemoryPerCoreGiB, h.HasMemoryPerCore = h.MemoryGiB.Quo(h.Cores)
	}
	return h
}

// tresWeights reads TRESBillingWeights. "" is Slurm's default, and is written
// in quotes: a value that was forgotten is a fault.
func (v *versionLoader) tresWeights(h *Hardware, n *yaml.Node, path string) {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle
	if n.Kind != yaml.ScalarNode || n.Value != "" || n.Style&quoted == 0 {
		var ok bool
		if h.TRESWeights, ok = v.Text(n, path); !ok {
			return
		}
	}
	computed, faults, warnings := ParseSlurmBilling(h.TRESWeights, h.PriorityFlags)
	h.SlurmBilling = computed
	for _, f := range faults {
		v.Faults = append(v.Faults, v.inFormula(n, path, h.TRESWeights, f))
	}
	for _, f := range warnings {
		v.card.Warnings = append(v.card.Warnings, v.inFormula(n, path, h.TRESWeights, f))
	}
}

// priorityFlagNames are Slurm's. Only the first two change what is billed.
var priorityFlagNames = []string{
	"MAX_TRES", "MAX_TRES_GRES", "ACCRUE_ALWAYS", "CALCULATE_RUNNING", "DEPTH_OBLIVIOUS", "FAIR_TREE", "INCR_ONLY",
	"NO_FAIR_TREE", "NO_NORMAL_ALL", "NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES",
	"SMALL_RELATIVE_TO_TIME", "TICKET_BASED",
}

// priorityFlags reads PriorityFlags: a list, or slurm.conf's own with commas.
// Case does not count.
func (v *versionLoader) priorityFlags(n *yaml.Node, path string) []string {
	var flags []string
	for _, item := range v.OneOrMany(n, path) {
		text, ok := v.Text(item, path)
		if !ok {
			continue
		}
		for _, flag := range strings.Split(text, ",") {
			flag = strings.ToUpper(strings.TrimSpace(flag))
			if !slices.Contains(priorityFlagNames, flag) {
				v.Fault(item, path, fmt.Sprintf("%q is not a flag of PriorityFlags", flag), nearest.Remedy(flag, priorityFlagNames))
				continue
			}
			flags = append(flags, flag)
		}
	}
	return flags
}

// number reads how many of something the hardware has.
func (v *versionLoader) number(n *yaml.Node, path string, zero bool) (money.Exact, bool) {
	x, ok := v.size(n, path, zero)
	if ok && !x.IsInt() {
		v.Fault(n, path, fmt.Sprintf("%s is no whole number", x), "write how many one node has; a weight belongs into the formula")
	}
	return x, ok && x.IsInt()
}

// inTera is a size of memory with the unit of a power of 1024 more.
var inTera = regexp.MustCompile(`^([0-9.]+) ?(T|TB|TiB)$`)

// size reads a figure of the hardware.
func (v *versionLoader) size(n *yaml.Node, path string, zero bool) (money.Exact, bool) {
	if m := inTera.FindStringSubmatch(n.Value); m != nil && strings.HasSuffix(path, "_gib") && isDecimal(m[1]) {
		tera, _ := money.ParseDecimal(m[1])
		v.Fault(n, path, fmt.Sprintf("not a decimal number: %q", n.Value), fmt.Sprintf("write it in GiB: %s", tera.Mul(money.Int(1024))))
		return tera, false
	}
	x, ok := v.decimal(n, path)
	if ok && x.Sign() == 0 && !zero {
		v.Fault(n, path, "is 0", "formulas divide by it: write what one node has, or leave it out")
		return x, false
	}
	return x, ok
}

// figures gives the hardware's figures by the names that formulas use.
func (h *Hardware) figures() []hardwareFigure {
	return []hardwareFigure{
		{"node_cores", formula.NodeCores, h.Cores, h.HasCores},
		{"node_mem_gib", formula.NodeMemoryGiB, h.MemoryGiB, h.HasMemory},
		{"node_gpus", formula.NodeGPUs, h.GPUs, h.HasGPUs},
		{"threads", formula.Threads, h.Threads, h.HasThreads},
		{"mem_per_core_gib", formula.MemoryPerCoreGiB, h.MemoryPerCoreGiB, h.HasMemoryPerCore},
	}
}

type hardwareFigure struct {
	name  string
	slot  formula.Slot
	value money.Exact
	has   bool
}

// Fill sets the figures that the hardware gives to formulas.
func (h *Hardware) Fill(values *formula.Values) {
	for _, f := range h.figures() {
		if f.has {
			values.Set(f.slot, f.value)
		}
	}
}

// hardwareRange is between what a figure of the hardware lies.
type hardwareRange struct {
	name      string
	low, high money.Exact
	given     bool
}

// offerHardware takes from the formulas the figures that no entry gives, and
// notes between what the others lie.
func (v *versionLoader) offerHardware() {
	for _, f := range (&Hardware{}).figures() {
		v.lies = append(v.lies, hardwareRange{name: f.name})
	}
	for _, h := range v.version.Hardware {
		for i, f := range h.figures() {
			r := &v.lies[i]
			if f.has && (!r.given || f.value.Cmp(r.low) < 0) {
				r.low = f.value
			}
			if f.has && (!r.given || f.value.Cmp(r.high) > 0) {
				r.high = f.value
			}
			r.given = r.given || f.has
		}
	}
	for _, f := range v.lies {
		if !f.given {
			v.hidden[f.name] = hiddenName{"is given by no hardware: entry of this version", "write it there, as in  hardware: {node: {cores: 64, mem_gib: 256}}"}
		}
	}
	if !slices.ContainsFunc(v.version.Hardware, func(h *Hardware) bool { return h.SlurmBilling != nil }) {
		v.hidden["slurm_billing"] = hiddenName{"is given by no hardware: entry of this version, through its tres_weights", "write there what slurm.conf has: tres_weights: \"CPU=1.0,Mem=0.25G\""}
	}
}

// boundHardware tells a scope between which values the hardware's figures lie.
func (v *versionLoader) boundHardware(s formula.Scope) formula.Scope {
	for _, f := range v.lies {
		if f.given {
			s = s.Bound(f.name, f.low, f.high)
		}
	}
	return s
}

// missingFacts warns of rules whose formulas cannot do without a fact that the
// hardware of their jobs does not give, so that these would be held: hardware
// of which a rule takes all jobs, and that on which its own jobs ran. Hardware
// of which an earlier rule takes all jobs is none of theirs.
func (v *versionLoader) missingFacts(path string) {
	for i, r := range v.version.Rules {
		if r.Match.faulty {
			continue
		}
		for n, h := range v.version.Hardware {
			lacking := slices.DeleteFunc(h.figures(), func(f hardwareFigure) bool { return f.has || !r.needs(f.slot) })
			if len(lacking) == 0 || !r.takes(h) && !v.isOwn(r, n) || slices.ContainsFunc(v.version.Rules[:i], func(e *Rule) bool { return e.takes(h) }) {
				continue
			}
			for _, f := range lacking {
				v.warn(nodeAt(h.Line, h.Column), path+".hardware."+h.Name, fmt.Sprintf("does not give %s, which the rule %s on line %d needs: jobs on it are held", f.name, r.Name, r.Line),
					"write it there, or a rule for these jobs before that one")
			}
		}
	}
}

// isOwn reports whether the rule's jobs ran on the n-th hardware: the first
// entry that matches them all.
func (v *versionLoader) isOwn(r *Rule, n int) bool {
	return n == slices.IndexFunc(v.version.Hardware, func(h *Hardware) bool { return h.Match.covers(r.Match) })
}

// takes reports whether the rule matches all jobs of the hardware.
func (r *Rule) takes(h *Hardware) bool {
	if r.Match.covers(h.Match) {
		return true
	}
	only := slices.ContainsFunc(r.Match.conditions, func(c condition) bool {
		return c.field.kind == textKind && c.field.text == NodeType && len(c.unwanted) == 0 && slices.ContainsFunc(c.wanted, func(p pattern) bool { return p.matches(h.NodeType) })
	})
	return only && len(r.Match.conditions) == 1
}

// needs reports whether a charge of the rule has no value without a figure.
func (r *Rule) needs(slot formula.Slot) bool {
	for _, c := range r.Charges {
		for _, f := range []*formula.Formula{c.Rate, c.Duration, c.Units, c.Amount} {
			if f != nil && f.Needs(slot) {
				return true
			}
		}
	}
	return false
}
