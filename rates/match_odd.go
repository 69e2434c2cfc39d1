package rates

import (
	"fmt"
	"regexp"
	"strings"

	"hpcbill/rates/formula"
	"hpcbill/rates/money"
)

// maxListedNodes is how many nodes one text of a match may list: more are a
// glob.
const maxListedNodes = 4096

// nodePatterns reads a node's name, a glob, or Slurm's short form of several,
// "n[01-12],login1".
func nodePatterns(text string) ([]pattern, error) {
	if !strings.ContainsAny(text, "[,") {
		return []pattern{{text, isGlob(text)}}, nil
	}
	var patterns []pattern
	err := eachHost(text, func(name string) bool {
		patterns = append(patterns, pattern{name, isGlob(name)})
		return len(patterns) <= maxListedNodes
	})
	switch {
	case err != nil:
		return nil, &matchError{err.Error(), "write names, a glob such as gpu-*, or Slurm's short form: n[01-12]"}
	case len(patterns) > maxListedNodes:
		return nil, &matchError{fmt.Sprintf("lists more than %d nodes", maxListedNodes), "write a glob such as gpu-*"}
	}
	return patterns, nil
}

// oddText reports what no text of the field can be, so that it would never
// match: lists in one text, and patterns of other languages than globs.
func (f matchField) oddText(text string) error {
	switch {
	case f.kind == gpuTypeKind && strings.EqualFold(text, "none"):
		return &matchError{"none is no type of GPU", "write  gpus: 0  for jobs without GPUs"}
	case f.kind == gpuTypeKind, f.kind == textKind && namedBySite[f.text]:
	default:
		return nil
	}
	switch {
	case strings.Contains(text, ","):
		return &matchError{fmt.Sprintf("no %s has a comma", f.name), fmt.Sprintf("write a list: [%s]", strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), ", "))}
	case strings.Contains(text, "|"), strings.Contains(text, ".*"), strings.HasPrefix(text, "^"), strings.HasSuffix(text, "$"), regexpClass.MatchString(text):
		return &matchError{fmt.Sprintf("%q is the name of no %s, and only * and ? stand for other letters", text, f.name), "write a glob such as gpu*, or a list [gpu1, gpu2]"}
	}
	return nil
}

// namedBySite are the texts whose names a site gives without signs.
var namedBySite = map[TextField]bool{Cluster: true, Partition: true, QoS: true, Account: true, NodeType: true}

// possible is what a figure of a job can be.
func (f matchField) possible() span {
	all := span{noHigh: true}
	switch f.slot {
	case formula.CPUs, formula.Nodes, formula.MemoryMiB:
		all.low = money.Int(1)
	}
	return all
}

// canBe reports whether there is a number in the span that the figure can be:
// what is counted is whole.
func (f matchField) canBe(s span) bool {
	return s.noLow || s.noHigh || f.per != 1 || !s.low.Equal(s.high) || s.low.IsInt()
}

var (
	regexpClass = regexp.MustCompile(`^/.*/$|\[[^\]]+\][*+?]?`)
	dashedRange = regexp.MustCompile(`^(\d+)\s*[-–]\s*(\d+)$`)
	atLeast     = regexp.MustCompile(`^(\d+)\s*\+$`)
	wrongSigns  = strings.NewReplacer("≥", ">= ", "≤", "<= ", "≠", "!= ", "=>", ">=", "=<", "<=", "<>", "!=", ", ", " && ", " and ", " && ", " AND ", " && ")
)

// numberRemedy is what to write instead of a text that is no condition on a
// number; form is what one looks like.
func (c *condition) numberRemedy(text, form string) string {
	if m := dashedRange.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("write a range with two points: %s..%s", m[1], m[2])
	}
	if m := atLeast.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("write \">= %s\"", m[1])
	}
	if from, to, ok := strings.Cut(text, ".."); ok && c.field.kind == hourKind {
		from, to := strings.TrimSpace(from), strings.TrimSpace(to)
		if _, err := hourOf(from); err == nil {
			if _, err := hourOf(to); err == nil {
				return fmt.Sprintf("over midnight write [%s..23, 0..%s]", from, to)
			}
		}
	}
	if right := strings.TrimSpace(wrongSigns.Replace(text)); right != text {
		trial := condition{field: c.field}
		if trial.alternative(right) == nil {
			return fmt.Sprintf("write %q", right)
		}
	}
	if c.field.kind == numberKind && strings.ContainsAny(text, "0123456789") && strings.ContainsAny(text, ":GMTKhms") {
		return fmt.Sprintf("write %s; %s is %s", form, c.field.name, c.field.means)
	}
	return "write " + form
}
