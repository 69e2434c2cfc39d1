package rates

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/money"
)

// states are Slurm's words for what became of a job, without those that it
// gives only to jobs that are not over.
var states = []string{
	"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE",
	"OUT_OF_MEMORY", "REQUEUED", "RESIZING", "REVOKED", "SUSPENDED", "RUNNING", "PENDING",
	"SPECIAL_EXIT", "STOPPED", "LAUNCH_FAILED", "RECONFIG_FAIL", "REQUEUE_HOLD", "REQUEUE_FED", "POWER_UP_NODE",
}

// match reads a match: mapping.
func (l *cardLoader) match(n *yaml.Node, path string, fields []matchField) Match {
	var m Match
	names := fieldNames(fields)
	before := len(l.Faults)
	for _, entry := range l.Fields(n, path, names...) {
		field := fields[slices.Index(names, entry.Key)]
		c, ok := l.condition(field, l.OneOrMany(entry.Value, path+"."+entry.Key), path+"."+entry.Key)
		if ok {
			m.conditions = append(m.conditions, c)
		}
	}
	m.faulty = len(l.Faults) > before
	meantFields(l.Faults[before:], names)
	// Texts are cheaper to compare than numbers, and always known.
	sort.SliceStable(m.conditions, func(i, j int) bool { return m.conditions[i].field.kind < m.conditions[j].field.kind })
	return m
}

// otherFields are names that people try for a field.
var otherFields = map[string]string{
	"name": "job_name", "jobname": "job_name", "id": "job_id", "jobid": "job_id", "cancelled": "cancelled_by", "node_list": "node_name", "nodelist": "node_name", "node": "node_name", "host": "node_name", "hostname": "node_name",
	"queue": "partition", "project": "account", "job_state": "state", "status": "state", "gpu": "gpu_type", "type": "node_type",
	"mem": "mem_gib", "memory": "mem_gib", "ram": "mem_gib", "cores": "cpus", "time": "elapsed_h", "elapsed": "elapsed_h", "runtime": "elapsed_h", "walltime": "elapsed_h",
	"timelimit": "timelimit_h", "wait": "wait_h", "date": "start", "day": "weekday", "month": "start", "year": "start", "fs": "filesystem",
}

// meantFields says of unknown keys of a match which field they are tried for.
func meantFields(faults Faults, names []string) {
	for i := range faults {
		f := &faults[i]
		_, key, unknown := strings.Cut(f.Message, "unknown key \"")
		if meant := otherFields[strings.ToLower(strings.TrimSuffix(key, "\""))]; unknown && slices.Contains(names, meant) {
			f.Remedy = fmt.Sprintf("did you mean %s?", meant)
		}
	}
}

// jobFields and storageFields are the fields that a match may ask.
func jobFields() []matchField {
	return slices.DeleteFunc(matchFields(), func(f matchField) bool { return f.name == "filesystem" || f.name == "tier" })
}

func storageFields() []matchField {
	return slices.DeleteFunc(matchFields(), func(f matchField) bool { return !f.storage })
}

// hardwareFields lack what only the hardware and the group can tell.
func hardwareFields() []matchField {
	return slices.DeleteFunc(jobFields(), func(f matchField) bool { return f.name == "node_type" || f.name == "group" || f.name == "class" })
}

func findField(fields []matchField, name string) (matchField, bool) {
	for _, f := range fields {
		if f.name == name {
			return f, true
		}
	}
	return matchField{}, false
}

// condition reads the alternatives of one field.
func (l *cardLoader) condition(field matchField, values []*yaml.Node, path string) (condition, bool) {
	c := condition{field: field}
	ok := len(values) > 0
	for _, n := range values {
		text, readable := l.matchText(n, path)
		if !readable {
			ok = false
			continue
		}
		if err := c.alternative(text); err != nil {
			l.Fault(n, path, err.Error(), remedyOf(err))
			ok = false
		}
		if len(c.textsAt) < len(c.texts) {
			c.textsAt = append(c.textsAt, place{n.Line, n.Column})
		}
	}
	if field.kind == textKind && field.text == Account {
		l.capitals(values, path)
	}
	if ok && len(c.wanted) > 0 && allOf(c.wanted, c.refuses) {
		l.Fault(values[0], path, "wants nothing that it does not refuse", "remove one of the two")
	}
	return c, ok
}

// refuses reports whether all that a pattern matches is unwanted.
func (c *condition) refuses(p pattern) bool {
	return slices.ContainsFunc(c.unwanted, func(q pattern) bool { return q.covers(p) })
}

// capitals keeps the accounts with capital letters, but for those that stand
// beside the account as Slurm writes it.
func (l *cardLoader) capitals(values []*yaml.Node, path string) {
	for _, n := range values {
		meant := strings.ToLower(n.Value)
		if meant == n.Value || slices.ContainsFunc(values, func(o *yaml.Node) bool { return o.Value == meant }) {
			continue
		}
		l.card.Capitals = append(l.card.Capitals, Fault{File: l.Name, Line: n.Line, Column: n.Column, Field: path,
			Message: fmt.Sprintf("no job has the account %s", strings.TrimPrefix(n.Value, "!")),
			Remedy:  fmt.Sprintf("write %s: Slurm keeps the names of accounts in lower case", meant)})
	}
}

func (l *cardLoader) matchText(n *yaml.Node, path string) (string, bool) {
	if n.Kind == yaml.ScalarNode && strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		l.Fault(n, path, fmt.Sprintf("%s is a YAML tag", n.Tag), fmt.Sprintf("write \"%s%s\" in quotes", n.Tag, n.Value))
		return "", false
	}
	return l.Text(n, path)
}

// matchError is a value that a field cannot have.
type matchError struct{ message, remedy string }

func (e *matchError) Error() string { return e.message }

func remedyOf(err error) string {
	if e, ok := err.(*matchError); ok {
		return e.remedy
	}
	return ""
}

// alternative adds one written value to the condition.
func (c *condition) alternative(text string) error {
	switch c.field.kind {
	case textKind, gpuTypeKind, nodeNameKind:
		return c.addPattern(text)
	case weekdayKind:
		return c.addWeekdays(text)
	case hourKind:
		return c.addNumbers(text, "an hour such as 9, 8..17 or >= 18", hourOf)
	case dateKind:
		return c.addNumbers(text, "a day such as 2026-03-31, 2026-03-01..2026-03-31 or >= 2026-03-01", dateNumberOf)
	}
	return c.addNumbers(text, "a number, a range such as 2..8 or a comparison such as > 128", c.amountOf)
}

func (c *condition) addPattern(text string) error {
	unwanted := strings.HasPrefix(text, "!")
	text = strings.TrimSpace(strings.TrimPrefix(text, "!"))
	if text == "" {
		return &matchError{"names nothing after the !", ""}
	}
	if strings.ContainsAny(text[:1], "<>=") {
		return &matchError{fmt.Sprintf("%q compares a text", text), c.field.name + " is a text: write a value or a glob such as gpu*"}
	}
	p := pattern{text, isGlob(text)}
	c.texts = append(c.texts, p)
	if unwanted && text == "*" && c.field.kind != gpuTypeKind {
		return &matchError{"refuses every " + c.field.name + ", and none as well", "write \"!?*\" for jobs without one"}
	}
	if c.field.text == State && c.field.kind == textKind {
		if err := stateFault(text); err != nil {
			return err
		}
	}
	if err := c.field.oddText(text); err != nil {
		return err
	}
	patterns := []pattern{p}
	if c.field.kind == nodeNameKind {
		var err error
		if patterns, err = nodePatterns(text); err != nil {
			return err
		}
	}
	if unwanted {
		c.unwanted = append(c.unwanted, patterns...)
	} else {
		c.wanted = append(c.wanted, patterns...)
	}
	return nil
}

func (c *condition) addWeekdays(text string) error {
	from, to, isRange := strings.Cut(text, "..")
	if !isRange {
		to = from
	}
	first, ok1 := weekdayOf(strings.TrimSpace(from))
	last, ok2 := weekdayOf(strings.TrimSpace(to))
	if !ok1 || !ok2 {
		return &matchError{fmt.Sprintf("%q is not a weekday", text), "write mon, tue, wed, thu, fri, sat, sun, or mon..fri"}
	}
	for d := first; ; d = (d + 1) % 7 {
		c.set |= 1 << uint(d)
		if d == last {
			return nil
		}
	}
}

func hourOf(text string) (money.Exact, error) {
	h, err := strconv.Atoi(text)
	if err != nil || h < 0 || h > 23 {
		return money.Exact{}, fmt.Errorf("%q is not an hour from 0 to 23", text)
	}
	return money.Int(int64(h)), nil
}

func dateNumberOf(text string) (money.Exact, error) {
	d, err := ParseDate(text)
	return dayNumber(d), err
}

// amountOf reads a number of the field's unit, or a quotient such as 5/60, as
// one of the slot's.
func (c *condition) amountOf(text string) (money.Exact, error) {
	over, under, divided := strings.Cut(text, "/")
	x, err := money.ParseDecimal(strings.TrimSpace(over))
	if err == nil && divided {
		var y money.Exact
		if y, err = money.ParseDecimal(strings.TrimSpace(under)); err == nil {
			quotient, ok := x.Quo(y)
			if !ok {
				return x, fmt.Errorf("%s divides by 0", text)
			}
			x = quotient
		}
	}
	return x.Mul(money.Int(c.field.per)), err
}

// addNumbers reads "8", "2..8", "> 128" or "> 128 && <= 1024".
func (c *condition) addNumbers(text, form string, read func(string) (money.Exact, error)) error {
	all := span{noLow: true, noHigh: true}
	spans := []span{all}
	for _, part := range strings.Split(text, "&&") {
		parts, err := numberSpans(strings.TrimSpace(part), read)
		if err != nil {
			return &matchError{err.Error(), c.numberRemedy(text, form)}
		}
		spans = intersect(spans, parts)
	}
	if len(spans) == 0 {
		return &matchError{fmt.Sprintf("nothing can be %s", text), ""}
	}
	if c.field.kind == hourKind {
		for h := range 24 {
			for _, s := range spans {
				if s.contains(money.Int(int64(h))) {
					c.set |= 1 << uint(h)
				}
			}
		}
		return nil
	}
	if c.field.kind == numberKind && !slices.ContainsFunc(intersect(spans, []span{c.field.possible()}), c.field.canBe) {
		return &matchError{fmt.Sprintf("no job has %s %s", c.field.name, text), "it is " + c.field.means}
	}
	c.ranges = append(c.ranges, spans...)
	return nil
}

func numberSpans(text string, read func(string) (money.Exact, error)) ([]span, error) {
	if from, to, ok := strings.Cut(text, ".."); ok {
		low, err := read(strings.TrimSpace(from))
		if err != nil {
			return nil, err
		}
		high, err := read(strings.TrimSpace(to))
		if err == nil && low.Cmp(high) > 0 {
			err = fmt.Errorf("the range %s is empty", text)
		}
		return []span{{low: low, high: high}}, err
	}
	sign := text[:len(text)-len(strings.TrimLeft(text, "<>=!"))]
	x, err := read(strings.TrimSpace(text[len(sign):]))
	if err != nil {
		return nil, err
	}
	switch sign {
	case "", "=", "==":
		return []span{{low: x, high: x}}, nil
	case ">":
		return []span{{low: x, lowExcluded: true, noHigh: true}}, nil
	case ">=":
		return []span{{low: x, noHigh: true}}, nil
	case "<":
		return []span{{high: x, highBefore: true, noLow: true}}, nil
	case "<=":
		return []span{{high: x, noLow: true}}, nil
	case "!", "!=":
		return []span{{high: x, highBefore: true, noLow: true}, {low: x, lowExcluded: true, noHigh: true}}, nil
	}
	return nil, fmt.Errorf("%q is not a comparison", sign)
}

// intersect gives what lies in both.
func intersect(a, b []span) []span {
	var both []span
	for _, s := range a {
		for _, t := range b {
			if u, ok := s.and(t); ok {
				both = append(both, u)
			}
		}
	}
	return both
}

func (s span) and(t span) (span, bool) {
	u := s
	if !t.noLow {
		if c := t.low.Cmp(s.low); s.noLow || c > 0 || c == 0 && t.lowExcluded {
			u.low, u.noLow, u.lowExcluded = t.low, false, t.lowExcluded
		}
	}
	if !t.noHigh {
		if c := t.high.Cmp(s.high); s.noHigh || c < 0 || c == 0 && t.highBefore {
			u.high, u.noHigh, u.highBefore = t.high, false, t.highBefore
		}
	}
	if !u.noLow && !u.noHigh {
		c := u.low.Cmp(u.high)
		return u, c < 0 || c == 0 && !u.lowExcluded && !u.highBefore
	}
	return u, true
}
