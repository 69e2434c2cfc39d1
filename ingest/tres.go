package ingest

import (
	"fmt"
	"iter"
	"strings"
)

// tres is what one TRES text says of the counts that a Job carries. Unknown
// where the text has no such entry.
type tres struct {
	cpus, memoryMiB, nodes, gpus, billing int64

	notes Notes
}

// parseTRES reads a text such as "billing=8,cpu=2,gres/gpu:a100=1,mem=40G".
// Entries that a Job does not carry must be KEY=VALUE and are otherwise left
// alone. GPUs are gres/gpu where that is there and the sum of gres/gpu:TYPE
// where it is not: they count the same devices and are never added.
func parseTRES(s string) (tres, *fault) {
	t := tres{Unknown, Unknown, Unknown, Unknown, Unknown, 0}
	typed := Unknown
	if strings.HasSuffix(s, ",") {
		return t, &fault{"", "the list ends in a comma, so that the rest of it is cut off", remedyRedump}
	}
	for rest := s; rest != ""; {
		var item string
		item, rest = cutComma(rest)
		key, value, ok := strings.Cut(item, "=")
		if !ok || key == "" || value == "" {
			return t, &fault{"", fmt.Sprintf("%q is not a TRES such as cpu=4", item), remedyFreeText}
		}
		if f := t.entry(key, value, &typed); f != nil {
			return t, f
		}
	}
	switch {
	case t.gpus == Unknown:
		t.gpus = typed
	case typed != Unknown && typed != t.gpus:
		t.notes |= NoteGPUTypesDisagree
	}
	return t, nil
}

func cutComma(s string) (item, rest string) {
	if i := strings.IndexByte(s, ','); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, ""
}

// entry takes one KEY=VALUE.
func (t *tres) entry(key, value string, typed *int64) *fault {
	var field *int64
	switch key {
	case "cpu":
		field = &t.cpus
	case "mem":
		return t.memory(value)
	case "node":
		field = &t.nodes
	case "billing":
		field = &t.billing
	case "gres/gpu":
		field = &t.gpus
	default:
		if !strings.HasPrefix(key, "gres/gpu:") {
			return strangeKey(key)
		}
		n, state := parseCount(value)
		if state == countBad || n > mostCount {
			return badCount(key, value)
		}
		if state == countRead {
			*typed = max(*typed, 0) + n
		}
		return nil
	}
	n, state := parseCount(value)
	if state == countBad || (n > mostCount && (key != "billing" || isNoValue(n))) {
		return badCount(key, value)
	}
	if state == countAbsent {
		return nil
	}
	if *field != Unknown {
		return &fault{"", key + " occurs twice", remedyPlainField}
	}
	*field = n
	return nil
}

// mostCount is the largest count of CPUs, nodes or GPUs: Slurm keeps them in 32
// bits, of which the two highest values mean "no value" and "infinite".
const mostCount = 4294967293

func isNoValue(n int64) bool { return n == mostCount+1 || n == mostCount+2 }

// strangeKey refuses what is no TRES that sacct prints and looks like one that
// is counted: it must not count as none.
func strangeKey(key string) *fault {
	if n, ok := parseDigits(key); ok && n <= 8 { // of those, Slurm knows all the names
		return &fault{"", key + "= is the number of a TRES, where sacct prints its name", remedyCommand}
	}
	name, _, _ := strings.Cut(strings.ToLower(key), ":")
	switch {
	case name == "gres", name == "gpu", name == "gres/gpu", strings.HasPrefix(name, "gres/gpu/"):
		return &fault{"", key + " is no TRES that sacct prints, where GPUs are gres/gpu", remedyPlainField}
	case name == "cpu", name == "mem", name == "node", name == "billing", strings.ContainsAny(key, " \t\""):
		return &fault{"", fmt.Sprintf("%q is no TRES that sacct prints", key), remedyPlainField}
	}
	return nil
}

func badCount(key, value string) *fault {
	return &fault{"", fmt.Sprintf("%s=%s is not a whole count", key, value), remedyNoConvert}
}

func (t *tres) memory(value string) *fault {
	if _, state := parseCount(value); state == countAbsent {
		return nil
	}
	mib, rounded, ok := parseSizeMiB(value)
	if !ok || isNoValue(mib) {
		return &fault{"", fmt.Sprintf("mem=%s is not a whole number of MiB", value), remedyNoConvert}
	}
	if t.memoryMiB != Unknown {
		return &fault{"", "mem occurs twice", remedyPlainField}
	}
	t.memoryMiB = mib
	if rounded {
		t.notes |= NoteMemoryRounded
	}
	return nil
}

type countState uint8

const (
	countBad countState = iota
	countRead
	countAbsent
)

// parseCount reads a whole count. Slurm's sentinels for "no value" and
// "infinite" and the word NONE are absent.
func parseCount(s string) (int64, countState) {
	if n, ok := parseDigits(s); ok {
		return n, countRead
	}
	if s == "NONE" {
		return 0, countAbsent
	}
	n, ok := parseUint64(s)
	switch {
	case !ok:
		return 0, countBad
	case n >= 1<<64-2:
		return 0, countAbsent
	case n > 1<<63-1:
		return 0, countBad
	}
	return int64(n), countRead
}

// TRES returns the count of one entry of AllocTRES by its name, such as
// "license/matlab", "gres/shard" or "gres/gpu:a100". Memory and burst buffers
// are in MiB. A gres without a type is the total of its types where AllocTRES
// has no total. ok is false where there is no such entry.
func (j *Job) TRES(name string) (count int64, ok bool) {
	return countOf(j.AllocTRES, name)
}

func countOf(text, name string) (count int64, ok bool) {
	sum, typed := int64(0), false
	for rest := text; rest != ""; {
		var item string
		item, rest = cutComma(rest)
		key, value, _ := strings.Cut(item, "=")
		if key == name {
			return countByKey(key, value)
		}
		if !strings.HasPrefix(name, "gres/") || len(key) <= len(name) || key[len(name)] != ':' || key[:len(name)] != name {
			continue
		}
		if n, ok := countByKey(key, value); ok {
			sum, typed = sum+n, true
		}
	}
	return sum, typed
}

func countByKey(key, value string) (int64, bool) {
	n, state := parseCount(value)
	if state == countRead || state == countAbsent {
		return n, state == countRead
	}
	if key == "mem" || strings.HasPrefix(key, "bb/") || strings.HasPrefix(key, "gres/") {
		mib, _, ok := parseSizeMiB(value)
		return mib, ok
	}
	return 0, false
}

// GPUsOfType returns the GPUs of one type, named as the cluster names it
// ("a100"); 0 where the job had none of them. What GPUs has beyond the sum
// over all types is of a type that was not recorded.
func (j *Job) GPUsOfType(name string) int64 {
	for t, n := range j.GPUTypes() {
		if t == name {
			return n
		}
	}
	return 0
}

// GPUTypes yields the types of GPU that AllocTRES names, each with its count,
// in the order of the text.
func (j *Job) GPUTypes() iter.Seq2[string, int64] {
	return func(yield func(string, int64) bool) {
		for rest := j.AllocTRES; rest != ""; {
			var item string
			item, rest = cutComma(rest)
			name, found := strings.CutPrefix(item, "gres/gpu:")
			if !found {
				continue
			}
			name, value, _ := strings.Cut(name, "=")
			if n, state := parseCount(value); state == countRead && !yield(name, n) {
				return
			}
		}
	}
}
