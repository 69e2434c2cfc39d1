package rating

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/formula"
)

// The ends of time, for versions without bound.
const (
	always ingest.Instant = math.MinInt64
	never  ingest.Instant = math.MaxInt64
)

// card is a rate card as one cluster sees it, ready to rate with.
type card struct {
	*rates.Card
	cluster  string
	versions []*version // in order of time
}

// version is a version of a card between two instants, with what its rules
// need worked out.
type version struct {
	*rates.Version
	card        *card
	from, until ingest.Instant // half-open
	rules       map[*rates.Rule]*rule

	slots []formula.Slot    // figures of a record that some formula or match needs
	asks  rates.Asks        // of everything that decides a plan
	texts []rates.TextField // the texts that rules and hardware look at

	// What decides a plan: the texts of key and which conditions hold.
	key            []rates.TextField
	conditions     []rates.Condition
	conditionSlots []formula.Slot
	plans          map[string]*plan
	kinds          bool // nothing but the texts of kindFields decides it
	scratch        plan // of a job whose plan tells more of it than its key
}

// rule is a rule with the figures that its formulas need.
type rule struct {
	*rates.Rule
	version      *version
	reason       Reason
	lets         []*rates.Let // that it needs, in the card's order
	hardware     []formula.Slot
	memory       bool     // it counts memory
	slurmBilling bool     // it has Slurm's billing recomputed
	tres         bool     // it counts a TRES by name
	byType       bool     // it counts GPUs by their type alone
	staged       []bool   // of each charge: a formula may use what earlier stages gave
	gpuTypes     []string // the types that it knows
	tiers        bool     // a meter has them
	proportional []string // the meters that count in proportion to elapsed time
}

func (r *Rater) compile(cluster string, c *rates.Card) *card {
	compiled := &card{Card: c, cluster: cluster}
	for _, v := range c.Versions {
		compiled.versions = append(compiled.versions, r.compileVersion(compiled, v))
	}
	slices.SortStableFunc(compiled.versions, func(a, b *version) int {
		switch {
		case a.from < b.from:
			return -1
		case a.from > b.from:
			return 1
		}
		return 0
	})
	for i, v := range compiled.versions[:max(0, len(compiled.versions)-1)] {
		v.until = min(v.until, compiled.versions[i+1].from)
	}
	return compiled
}

func (r *Rater) compileVersion(c *card, v *rates.Version) *version {
	cv := &version{
		Version: v, card: c, from: r.midnight(v.From, always), until: r.midnight(v.Until, never),
		rules: map[*rates.Rule]*rule{}, plans: map[string]*plan{}, asks: r.rosterAsks,
	}
	var formulas []*formula.Formula
	var selecting rates.Asks
	for _, h := range v.Hardware {
		selecting = selecting.And(h.Match.Asks())
	}
	for _, ru := range v.Rules {
		compiled, needed := compileRule(cv, ru)
		cv.rules[ru] = compiled
		formulas = append(formulas, needed...)
		selecting = selecting.And(ru.Match.Asks())
		if v.StatesOf(ru) != nil {
			cv.asks.Texts |= 1 << rates.State
		}
	}
	for _, m := range v.Matches() {
		cv.asks = cv.asks.And(m.Asks())
	}
	cv.readConditions()
	for _, slot := range recordSlots {
		if cv.asks.Numbers || usesSlot(formulas, slot) {
			cv.slots = append(cv.slots, slot)
		}
	}
	cv.key = jobTexts(cv.asks)
	cv.kinds = len(cv.conditions) == 0 && !slices.ContainsFunc(cv.key, func(f rates.TextField) bool { return !slices.Contains(kindFields[:], f) })
	cv.texts = jobTexts(selecting)
	return cv
}

// jobTexts lists the texts that a job brings: not its cluster, which is one
// for all jobs of a compiled card, nor what follows from other texts.
func jobTexts(asks rates.Asks) []rates.TextField {
	var fields []rates.TextField
	for f := range rates.TextFields {
		switch f {
		case rates.Cluster, rates.GroupID, rates.Class, rates.NodeType, rates.Filesystem:
			continue
		}
		if asks.Texts&(1<<f) != 0 {
			fields = append(fields, f)
		}
	}
	return fields
}

// readConditions lists what decides a plan beside texts, each once.
func (v *version) readConditions() {
	seen := map[string]bool{}
	for _, m := range v.Matches() {
		for _, c := range m.Conditions() {
			key := c.Key()
			if seen[key] {
				continue
			}
			seen[key] = true
			v.conditions = append(v.conditions, c)
			if slot, ok := c.Slot(); ok && !slices.Contains(v.conditionSlots, slot) {
				v.conditionSlots = append(v.conditionSlots, slot)
			}
		}
	}
}

func (r *Rater) midnight(d rates.Date, absent ingest.Instant) ingest.Instant {
	if d.IsZero() {
		return absent
	}
	return ingest.Instant(d.Midnight(r.tariff.Zone).Unix())
}

// at gives the version that holds at an instant, or nil, and the span in
// which it, or none, does.
func (c *card) at(t ingest.Instant) (v *version, from, until ingest.Instant) {
	from = always
	for _, v := range c.versions {
		switch {
		case t < v.from:
			return nil, from, v.from
		case t < v.until:
			return v, v.from, v.until
		}
		from = v.until
	}
	return nil, from, never
}

// compileRule works out what a rule needs, and gives its formulas with those
// of the lets among them.
func compileRule(v *version, ru *rates.Rule) (*rule, []*formula.Formula) {
	c := &rule{Rule: ru, version: v, reason: Reason{
		Card: v.card.Name, CardDigest: v.card.Digest, Version: v.From, Rule: ru.Name, File: v.card.File, Line: ru.Line,
	}}
	var formulas []*formula.Formula
	for _, rc := range ru.Charges {
		c.tiers = c.tiers || rc.Meter.Tiers != nil
		c.staged = append(c.staged, rc.Duration != nil || rc.Units != nil || rc.Amount != nil)
		for _, f := range []*formula.Formula{rc.Rate, rc.Duration, rc.Units, rc.Amount} {
			if f != nil {
				formulas = append(formulas, f)
			}
		}
	}
	// A let uses only lets above it, so one pass from the last finds them all.
	for _, let := range slices.Backward(v.Lets) {
		if usesSlot(formulas, let.Slot) {
			c.lets = append(c.lets, let)
			formulas = append(formulas, let.Formula)
		}
	}
	slices.Reverse(c.lets)
	for _, slot := range hardwareSlots {
		if usesSlot(formulas, slot) {
			c.hardware = append(c.hardware, slot)
		}
	}
	for _, rc := range ru.Charges {
		if isProportional(rc) {
			c.proportional = append(c.proportional, rc.Meter.Name)
		}
	}
	c.memory = usesSlot(formulas, formula.MemoryMiB)
	c.slurmBilling = usesSlot(formulas, formula.SlurmBilling)
	c.tres = slices.ContainsFunc(formulas, (*formula.Formula).UsesTRES)
	c.gpuTypes = namedGPUTypes(formulas)
	c.byType = len(c.gpuTypes) > 0 && !usesSlot(formulas, formula.GPUs)
	return c, formulas
}

// isProportional reports whether a charge is so much an hour and nothing else:
// half of the time is then half of the charge.
func isProportional(rc *rates.RuleCharge) bool {
	if rc.Duration != nil || rc.Units != nil || rc.Amount != nil || rc.PerJob || rc.Rate == nil ||
		rc.Meter.Tiers != nil && rc.Meter.Tiers.Window == rates.OfOneJob {
		return false
	}
	return !slices.ContainsFunc(formula.PartTimes(), rc.Rate.DependsOn)
}

// hardwareSlots are the figures of a node type.
var hardwareSlots = [...]formula.Slot{
	formula.NodeCores, formula.NodeMemoryGiB, formula.NodeGPUs, formula.Threads, formula.MemoryPerCoreGiB,
}

// recordSlots are the figures of a record.
var recordSlots = [...]formula.Slot{
	formula.CPUs, formula.Nodes, formula.GPUs, formula.MemoryMiB, formula.Billing,
	formula.ReqCPUs, formula.ReqMemoryMiB, formula.ReqGPUs, formula.ReqNodes,
	formula.ElapsedSeconds, formula.SuspendedSeconds, formula.TimelimitSeconds, formula.WaitSeconds, formula.CalendarDays,
}

func usesSlot(formulas []*formula.Formula, slot formula.Slot) bool {
	return slices.ContainsFunc(formulas, func(f *formula.Formula) bool { return f.Uses(slot) })
}

// namedGPUTypes lists the types of GPU that formulas count by name:
// gpu("a100"), tres("gres/gpu:a100").
func namedGPUTypes(formulas []*formula.Formula) []string {
	var types []string
	for _, f := range formulas {
		for _, name := range f.Figures() {
			inside, isGPU := strings.CutPrefix(name, "gpu(")
			if !isGPU {
				inside, isGPU = strings.CutPrefix(name, "tres(")
			}
			text, err := strconv.Unquote(strings.TrimSuffix(inside, ")"))
			if !isGPU || err != nil {
				continue
			}
			text, typed := strings.CutPrefix(text, "gres/gpu:")
			if typed || strings.HasPrefix(name, "gpu(") {
				types = append(types, text)
			}
		}
	}
	return types
}
