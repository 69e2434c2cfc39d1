package rates

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"hpcbill/rates/money"
)

// placeholderPrice is the price of an imported card until a person writes
// another.
const placeholderPrice = "0.01"

// write makes the card and the notes. A partition whose weights do not pass
// as a formula - one too long, or of more money than an invoice can hold - is
// charged by slurm_billing, with the reason beside it.
func (c *cardImport) write() (text []byte, notes []string, err error) {
	text = c.card(c.partitions)
	if _, err := LoadCard(c.name, text); err != nil {
		for _, p := range c.partitions {
			if _, err := LoadCard(c.name, c.card([]*slurmPartition{p})); err != nil {
				p.formulaFault = firstMessage(err)
			}
		}
		text = c.card(c.partitions)
	}
	if _, err := LoadCard(c.name, text); err != nil {
		return nil, nil, Faults{{
			File: c.partitions[0].file, Message: "the card made of it does not pass check: " + firstMessage(err),
			Remedy: "look for a weight or a UsageFactor that is far too large",
		}}
	}
	return text, c.notes(text), nil
}

func firstMessage(err error) string {
	var f Fault
	if errors.As(err, &f) {
		return f.Message
	}
	return err.Error()
}

// cardText is a card as it is written, line by line.
type cardText struct{ strings.Builder }

func (t *cardText) line(format string, args ...any) {
	fmt.Fprintf(t, format+"\n", args...)
}

// card writes a card of some partitions.
func (c *cardImport) card(partitions []*slurmPartition) []byte {
	t := &cardText{}
	c.head(t, partitions)
	t.line("    # What Slurm shows of the nodes of each partition, as if all of them were alike. Cores are CPUs as")
	t.line("    # Slurm counts them: hardware threads, where it counts those.")
	t.line("    hardware:")
	for _, p := range partitions {
		c.hardware(t, p)
	}
	t.line("    meters:")
	t.line("      su: {unit: SU, price: %q} %sthe price of one SU; this one is a placeholder", placeholderPrice, DecideMark)
	c.factors(t)
	t.line("    rules: # the first that matches decides; a job that none matches is held")
	t.line("      %sthese formulas are exact. Slurm cuts its figure to a whole number: slurm_billing", DecideMark)
	t.line("      # gives that from the weights, billing gives what Slurm recorded of each job.")
	for _, p := range partitions {
		c.rule(t, p)
	}
	return []byte(t.String())
}

func (c *cardImport) head(t *cardText, partitions []*slurmPartition) {
	var files []string
	for _, p := range partitions {
		if !slices.Contains(files, p.file) {
			files = append(files, p.file)
		}
	}
	for _, q := range c.qos {
		if !slices.Contains(files, q.file) {
			files = append(files, q.file)
		}
	}
	for i, f := range files {
		files[i] = shortened(f)
	}
	t.line("# Imported from %s. It passes check and is not finished:", strings.Join(files, ", "))
	t.line("# what Slurm does not know stands beside the word decide.")
	t.line("card: %s", c.name)
	currency, mark := c.options.Currency, ""
	if currency == "" {
		currency, mark = "USD", " "+DecideMark+"the currency of the prices"
	}
	t.line("currency: %s%s", currency, mark)
	source := "scontrol show partition"
	if len(c.qos) > 0 {
		source += ", sacctmgr show qos"
	}
	t.line("source: %s %swhere the policy is published", source, DecideMark)
	t.line("versions:")
	t.line("  - from: %s %sthe first day on which these rules hold; jobs of earlier days are held", c.options.From, DecideMark)
}

// hardware writes the node facts of a partition.
func (c *cardImport) hardware(t *cardText, p *slurmPartition) {
	t.line("      %s:", yamlText(p.name))
	t.line("        match: {partition: %s}", yamlText(p.name))
	var unlike []string
	for _, f := range []struct{ key, tres, of string }{{"cores", "cpu", "CPUs"}, {"mem_gib", "mem", "MiB"}, {"gpus", "gres/gpu", "GPUs"}} {
		total := p.total[f.tres]
		if total == 0 || p.nodes == 0 {
			continue
		}
		if total%p.nodes != 0 {
			unlike = append(unlike, fmt.Sprintf("%d %s", total, f.of))
			continue
		}
		figure, comment := strconv.FormatInt(total/p.nodes, 10), ""
		if p.nodes > 1 {
			comment = fmt.Sprintf(" # %d %s on %d nodes", total, f.of, p.nodes)
		}
		if f.tres == "mem" {
			figure = money.Ratio(total/p.nodes, 1024).String()
			if p.rounded {
				comment += " " + DecideMark + "Slurm may have rounded it to two decimals"
			}
		}
		t.line("        %s: %s%s", f.key, figure, comment)
	}
	if len(unlike) > 0 {
		t.line("        %sthe nodes are not alike, with %s on %d nodes; where formulas need a node's", DecideMark, strings.Join(unlike, ", "), p.nodes)
		t.line("        # figures, write one entry for each node type, with a match that tells their jobs apart")
	}
	if mib := p.value("DefMemPerCPU"); mib != "" && mib != "UNLIMITED" {
		if n, err := strconv.ParseInt(mib, 10, 64); err == nil && n > 0 {
			t.line("        mem_per_core_gib: %s # DefMemPerCPU=%d", money.Ratio(n, 1024), n)
		}
	}
	weights := p.value("TRESBillingWeights")
	comment := ""
	if weights == "" {
		comment = " # none: Slurm bills the allocated CPUs"
	}
	t.line("        tres_weights: %s%s", strconv.Quote(weights), comment)
	if len(c.options.PriorityFlags) > 0 {
		t.line("        priority_flags: [%s]", strings.Join(c.options.PriorityFlags, ", "))
	}
}

// factors writes the QoS whose usage Slurm counts otherwise than once.
func (c *cardImport) factors(t *cardText) {
	first := true
	for _, q := range c.qos {
		if q.factor.Equal(money.Int(1)) {
			continue
		}
		if first {
			t.line("    %sSlurm applies a UsageFactor to fair-share alone, never to what sacct and sreport show", DecideMark)
			t.line("    factor:")
			t.line("      - qos:")
			first = false
		}
		comment := ""
		switch {
		case q.factor.Sign() == 0:
			comment = " " + DecideMark + "free of charge?"
		case !q.factor.Round(5, money.Down).Equal(q.factor):
			comment = " " + DecideMark + "Slurm shows six digits; a fraction such as 1/3 may be meant"
		}
		t.line("          %s: %s%s", yamlText(q.name), q.factor, comment)
	}
}

// rule writes what the jobs of a partition are charged.
func (c *cardImport) rule(t *cardText, p *slurmPartition) {
	for _, remark := range p.remarks() {
		t.line("      # %s", remark)
	}
	for _, question := range c.questions(p) {
		t.line("      %s%s", DecideMark, question)
	}
	formula, err := p.formula(c.options.PriorityFlags)
	if err != nil {
		p.formulaFault = err.Error()
	}
	name := yamlText(p.name)
	switch {
	case p.formulaFault != "":
		t.line("      %sas a formula the weights do not pass: %s", DecideMark, strings.Map(printable, p.formulaFault))
		t.line("      - {name: %s, match: {partition: %s}, charge: {su: slurm_billing}}", name, name)
	case formula == "":
		t.line("      %severy weight is 0: Slurm bills nothing", DecideMark)
		t.line("      - {name: %s, match: {partition: %s}, exclude: its TRESBillingWeights are 0}", name, name)
	default:
		t.line("      - {name: %s, match: {partition: %s}, charge: {su: %s}}", name, name, yamlFormula(formula))
	}
}

// closedStates are what it means that a partition is not up.
var closedStates = map[string]string{
	"DOWN": "starts no jobs", "DRAIN": "takes no new jobs", "INACTIVE": "takes and starts no jobs",
}

// remarks tell what Slurm shows of a partition and a price may go by.
func (p *slurmPartition) remarks() []string {
	state := "State=" + shortened(p.value("State"))
	if closed, ok := closedStates[p.value("State")]; ok {
		state += " (" + closed + ")"
	}
	if p.value("Default") == "YES" {
		state += ", the default partition"
	}
	if p.value("Hidden") == "YES" {
		state += ", hidden"
	}
	if nodes := p.value("Nodes"); nodes != "" {
		state += ", Nodes=" + shortened(nodes)
	}
	remarks := []string{state}
	var limits []string
	for _, key := range []string{"MaxTime", "MaxNodes", "MaxCPUsPerNode", "MaxMemPerCPU", "MaxMemPerNode", "OverSubscribe", "Exclusive", "QoS", "AllowGroups", "AllowAccounts", "DenyAccounts", "AllowQos", "DenyQos"} {
		switch v := p.value(key); v {
		case "", "UNLIMITED", "ALL", "NO", "NONE", "0":
		default:
			limits = append(limits, key+"="+shortened(v))
		}
	}
	if len(limits) > 0 {
		remarks = append(remarks, strings.Join(limits, ", "))
	}
	return remarks
}

// questions are what the weights of a partition leave to a person.
func (c *cardImport) questions(p *slurmPartition) []string {
	var list []string
	_, _, warnings := ParseSlurmBilling(p.value("TRESBillingWeights"), c.options.PriorityFlags)
	for _, w := range warnings {
		list = append(list, shortened(w.Message))
	}
	for _, w := range p.weights {
		if x, err := weightDecimal(w.number); w.tres == "mem" && w.divisor == 1 && err == nil && x.Sign() > 0 {
			list = append(list, fmt.Sprintf("Mem=%s is per MiB; per GiB would be Mem=%sG", shortened(w.text), shortened(w.number)))
		}
	}
	ours, slurms, ok := p.wholeBilling(p.billing)
	switch {
	case ok && ours != slurms:
		list = append(list, fmt.Sprintf("Slurm shows billing=%d for the whole partition, and these weights give %d%s", slurms, ours, p.fittingFlags(slurms)))
	case c.options.PriorityFlags == nil && len(p.weights) > 1 && !(ok && p.onlyAsSum(slurms)):
		list = append(list, "the weights as a sum, or the largest? PriorityFlags in slurm.conf tells: import with --priority-flags")
	}
	if gpus := p.total["gres/gpu"]; gpus > 0 && !slices.ContainsFunc(p.weights, func(w tresWeight) bool { return strings.HasPrefix(strings.ToLower(w.tres), "gres/gpu") }) {
		list = append(list, fmt.Sprintf("its %d GPUs have no weight, and cost nothing", gpus))
	}
	return list
}

// onlyAsSum reports whether what Slurm shows for the whole partition proves
// that it adds the weights up.
func (p *slurmPartition) onlyAsSum(slurms int64) bool {
	for _, flag := range []string{"MAX_TRES", "MAX_TRES_GRES"} {
		b, _, _ := ParseSlurmBilling(p.value("TRESBillingWeights"), []string{flag})
		if largest, _, _ := p.wholeBilling(b); largest == slurms {
			return false
		}
	}
	return true
}

// fittingFlags names the PriorityFlags under which the weights give what
// Slurm shows.
func (p *slurmPartition) fittingFlags(slurms int64) string {
	for _, flag := range []string{"MAX_TRES", "MAX_TRES_GRES", ""} {
		b, _, _ := ParseSlurmBilling(p.value("TRESBillingWeights"), []string{flag})
		ours, _, ok := p.wholeBilling(b)
		switch {
		case !ok || ours != slurms:
		case flag == "":
			return "; as a sum they give it: without --priority-flags"
		default:
			return "; they give it with --priority-flags " + flag
		}
	}
	return ""
}

// notes say what came of an import.
func (c *cardImport) notes(text []byte) []string {
	factors := 0
	for _, q := range c.qos {
		if !q.factor.Equal(money.Int(1)) {
			factors++
		}
	}
	notes := []string{fmt.Sprintf("%d partitions, %d QoS of which %d have a UsageFactor other than 1", len(c.partitions), len(c.qos), factors)}
	var closed, hidden, differ []string
	for _, p := range c.partitions {
		if state := p.value("State"); state != "UP" {
			closed = append(closed, shortened(p.name+" ("+state+")"))
		}
		if p.value("Hidden") == "YES" {
			hidden = append(hidden, shortened(p.name))
		}
		if ours, slurms, ok := p.wholeBilling(p.billing); ok && ours != slurms {
			differ = append(differ, shortened(p.name)+p.fittingFlags(slurms))
		}
	}
	if c.flagless != "" {
		notes = append(notes, shortened(c.flagless)+" does not tell which partitions are hidden, nor which is the default")
	}
	for _, n := range []struct {
		what string
		list []string
	}{{"not up: ", closed}, {"hidden: ", hidden}, {"Slurm's own billing differs from these weights: ", differ}} {
		if len(n.list) > 0 {
			notes = append(notes, n.what+strings.Join(n.list, ", "))
		}
	}
	return append(notes, fmt.Sprintf("%d things to decide: look for %q", strings.Count(string(text), DecideMark), strings.TrimSpace(DecideMark)))
}

// plainYAML are texts that YAML takes for themselves.
var (
	plainYAML    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)
	reservedYAML = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|y|n|null)$`)
)

// yamlText writes a text so that YAML reads it back as it is.
func yamlText(s string) string {
	if plainYAML.MatchString(s) && !reservedYAML.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

// yamlFormula writes a formula inside { }, where a comma would end it.
func yamlFormula(s string) string {
	switch {
	case strings.Contains(s, `"`):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	case strings.ContainsAny(s, ",{}[] "):
		return strconv.Quote(s)
	}
	return s
}

// printable keeps what stands on one line of a comment or a message.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}
