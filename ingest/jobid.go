package ingest

import (
	"strconv"
	"strings"
)

// jobIDForm is the shape of a JobID.
type jobIDForm uint8

const (
	notJobID   jobIDForm = iota
	plainID              // 812
	arrayTask            // 903_7
	arrayRange           // 903_[7-20%2], many pending tasks in one record
	hetPart              // 600+1
	stepID               // any of these and a dot: 812.batch, 600+1.0
)

// jobIDFormOf tells what a JobID cell is, without regard to the number.
func jobIDFormOf(s string) jobIDForm {
	i := digitsFrom(s, 0)
	if i == 0 || i > 20 {
		return notJobID
	}
	if i == len(s) {
		return plainID
	}
	form := plainID
	switch s[i] {
	case '_', '+':
		form = arrayTask
		if s[i] == '+' {
			form = hetPart
		}
		if form == arrayTask && i+1 < len(s) && s[i+1] == '[' {
			return rangeForm(s[i+2:])
		}
		end := digitsFrom(s, i+1)
		if end == i+1 {
			return notJobID
		}
		i = end
	}
	switch {
	case i == len(s):
		return form
	case s[i] == '.' && isStepName(s[i+1:]):
		return stepID
	}
	return notJobID
}

func digitsFrom(s string, i int) int {
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return i
}

// rangeForm checks what follows "903_[". Old releases cut the text at 34
// characters, so that the closing bracket may be missing.
func rangeForm(s string) jobIDForm {
	s = strings.TrimSuffix(s, "]")
	if s == "" {
		return notJobID
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c-'0' <= 9, c == ',', c == '-', c == ':', c == '%', c == '.':
		default:
			return notJobID
		}
	}
	return arrayRange
}

// isStepName accepts batch, extern, interactive, TBD, numbers, het steps
// (0+1) and the stumps that a narrow column leaves (bat+).
func isStepName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isLetter(c) {
			if c-'0' > 9 && c != '+' && c != '_' && c != '-' {
				return false
			}
		}
	}
	return true
}

// baseNumber returns the number at the head of a JobID, the array's or the
// leader's.
func baseNumber(s string) (uint64, bool) { return parseUint64(s[:digitsFrom(s, 0)]) }

// TaskCount returns how many array tasks the record stands for: 1 for all but
// the pending ranges ("903_[7-20%2]": 14). It is 0 where Slurm cut the range.
func (j *Job) TaskCount() int64 {
	_, list, isRange := strings.Cut(j.JobID, "_[")
	if !isRange {
		return 1
	}
	list, closed := strings.CutSuffix(list, "]")
	list, _, _ = strings.Cut(list, "%")
	if !closed || strings.Contains(list, "...") {
		return 0
	}
	total := int64(0)
	for list != "" {
		var part string
		part, list = cutComma(list)
		n := tasksIn(part)
		if n == 0 {
			return 0
		}
		total += n
	}
	return total
}

// tasksIn counts "7", "7-20" and "0-4:2"; 0 where it is none of them.
func tasksIn(part string) int64 {
	part, stepText, stepped := strings.Cut(part, ":")
	first, last, isRange := strings.Cut(part, "-")
	a, ok := parseDigits(first)
	b, step := a, int64(1)
	if isRange && ok {
		b, ok = parseDigits(last)
	}
	if stepped && ok {
		step, ok = parseDigits(stepText)
	}
	if !ok || b < a || step < 1 {
		return 0
	}
	return (b-a)/step + 1
}

func decimal(v uint64) string { return strconv.FormatUint(v, 10) }

// sluidDigits are the 32 digits of a SLUID: no I, L, O and U.
const sluidDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// parseSLUID reads "s" and 13 digits of base 32 into the number that DBIndex
// holds since Slurm 24.11. 0 where it is none.
func parseSLUID(s string) uint64 {
	if len(s) != 14 || s[0]|0x20 != 's' {
		return 0
	}
	v := uint64(0)
	for i := 1; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		switch c {
		case 'O':
			c = '0'
		case 'I', 'L':
			c = '1'
		}
		d := strings.IndexByte(sluidDigits, c)
		if d < 0 || v > 1<<59-1 {
			return 0
		}
		v = v<<5 | uint64(d)
	}
	return v
}
