package main

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// resource is a number of something that nodes have beside CPUs and memory, or
// of a license.
type resource struct {
	name, kind string // gpu and a100; no kind where none is said
	count      int64
}

// mostOfAResource is a limit on counts, which may be bytes.
const mostOfAResource = 1 << 53

// optionError is an option that cannot be read.
type optionError struct{ option, cause, hint string }

func (e *optionError) Error() string { return "--" + e.option + ": " + e.cause }

func (e *optionError) Hint() string { return e.hint }

// readGres reads a list as --gres takes it, as Slurm's slurm_get_next_tres
// does: the last part of an item is its count, if it is a number, otherwise
// its type, and one is asked for; none of something is nothing. sbatch refuses
// a name with and without a type, and takes the last of two equal ones, which
// is a slip.
func readGres(option, list string) ([]resource, error) {
	if strings.EqualFold(list, "none") {
		return nil, nil
	}
	var all []resource
	for _, item := range strings.Split(list, ",") {
		if item == "" {
			continue
		}
		res, ok := readResource(strings.TrimPrefix(strings.TrimPrefix(item, "gres/"), "gres:"))
		switch {
		case !ok:
			return nil, &optionError{option, fmt.Sprintf("%q is not NAME, NAME:COUNT, NAME:TYPE or NAME:TYPE:COUNT", item), "such as gpu:a100:2,nvme:100; suffixes K to P are powers of 1024"}
		case res.name != gpuName && strings.EqualFold(res.name, gpuName):
			return nil, &optionError{option, "Slurm knows gpu, and no " + res.name, ""}
		case slices.ContainsFunc(all, res.sameAs):
			return nil, &optionError{option, "names " + res.name + " twice", "one count of each, or one of each type"}
		case res.count > 0:
			all = append(all, res)
		}
	}
	return all, nil
}

const gpuName = "gpu"

// readGPUs reads --gpus and its kin: what stands after "gpu:" in --gres.
func readGPUs(option, list string) ([]resource, error) {
	var items []string
	for _, item := range strings.Split(list, ",") {
		if item == "" {
			continue
		}
		if _, ok := readResource(gpuName + ":" + item); !ok {
			return nil, &optionError{option, fmt.Sprintf("%q is not COUNT, TYPE or TYPE:COUNT", item), ""}
		}
		items = append(items, gpuName+":"+item)
	}
	return readGres(option, strings.Join(items, ","))
}

func readResource(item string) (r resource, ok bool) {
	at := strings.LastIndexByte(item, '=')
	equals := at >= 0
	if !equals {
		at = strings.LastIndexByte(item, ':')
	}
	if at < 0 {
		_, number := gresCount(item)
		return resource{item, "", 1}, isWord(item) && !number
	}
	head, last := item[:at], item[at+1:]
	count, number := gresCount(last)
	if !number {
		return resource{head, last, 1}, !equals && isWord(head) && isWord(last)
	}
	name, kind, typed := strings.Cut(head, ":")
	return resource{name, kind, count}, isWord(name) && (!typed || isWord(kind)) && count <= mostOfAResource
}

// isWord reports whether a text can be the name of a resource or of a type,
// such as 2080ti or a100_1g.5gb+me: one without a letter is a slip.
func isWord(text string) bool {
	letter := func(c rune) bool { return unicode.IsLetter(c) }
	strange := func(c rune) bool {
		return !letter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-.+", c)
	}
	return strings.ContainsFunc(text, letter) && !strings.ContainsFunc(text, strange)
}

// gresCount reads 2, 10K (1024), 10KiB and 10KB (1000), up to P. What is too
// much for any resource is past the limit.
func gresCount(text string) (count int64, number bool) {
	digits := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	suffix := strings.ToUpper(text[len(digits):])
	unit, base := strings.TrimSuffix(suffix, "IB"), int64(1024)
	if kilo, metric := strings.CutSuffix(suffix, "B"); metric && unit == suffix {
		unit, base = kilo, 1000
	}
	power := strings.Index("KMGTP", unit) + 1
	if suffix == "" {
		power = 0
	} else if len(unit) != 1 || power == 0 {
		return 0, false
	}
	if digits == "" {
		return 0, false
	}
	count, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return mostOfAResource + 1, true
	}
	for range power {
		count = product(count, base)
	}
	return count, true
}

// product multiplies counts that are not negative. What is past the limit
// stays there, and is refused by request.check.
func product(x, y int64) int64 {
	over, n := bits.Mul64(uint64(x), uint64(y))
	if over > 0 || n > mostOfAResource {
		return mostOfAResource + 1
	}
	return int64(n)
}

// sameAs reports whether two items count the same things, in part or in all.
func (r resource) sameAs(o resource) bool {
	return r.name == o.name && (r.kind == o.kind || r.kind == "" || o.kind == "")
}

// readLicenses reads --licenses: NAME or NAME:COUNT, parted by commas or
// semicolons. What is named twice adds up, as sbatch has it.
func readLicenses(option, list string) ([]resource, error) {
	if strings.Contains(list, "|") {
		return nil, &optionError{option, fmt.Sprintf("%q is one or the other", list), "name the one that the job would get"}
	}
	var all []resource
	for _, item := range strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ';' }) {
		name, count := item, int64(1)
		var err error
		if at := strings.IndexAny(item, ":="); at >= 0 {
			name = item[:at]
			count, err = strconv.ParseInt(item[at+1:], 10, 32)
		}
		if name == "" || err != nil || count < 0 || strings.ContainsFunc(item, unicode.IsSpace) {
			return nil, &optionError{option, fmt.Sprintf("%q is not NAME or NAME:COUNT", item), ""}
		}
		if i := slices.IndexFunc(all, func(o resource) bool { return o.name == name }); i >= 0 {
			all[i].count += count
		} else if count > 0 {
			all = append(all, resource{name, "", count})
		}
	}
	return all, nil
}

// asTRES says resources as Slurm records them, each type by itself and all
// types of a name together.
func asTRES(of string, all []resource) string {
	tres, ofName := "", map[string]int64{}
	for _, r := range all {
		if r.kind == "" {
			tres += fmt.Sprintf(",%s%s=%d", of, r.name, r.count)
			continue
		}
		tres += fmt.Sprintf(",%s%s:%s=%d", of, r.name, r.kind, r.count)
		ofName[r.name] += r.count
	}
	for _, name := range slices.Sorted(maps.Keys(ofName)) {
		tres += fmt.Sprintf(",%s%s=%d", of, name, ofName[name])
	}
	return tres
}

// addGres takes what an option asks for, so many times. Options that ask for
// GPUs in several ways mean the same ones.
func (r *request) addGres(option string, all []resource, times int64) error {
	gpus := 0
	for _, res := range all {
		res.count = product(res.count, times)
		if res.name != gpuName {
			r.gres = append(r.gres, res)
			continue
		}
		if gpus++; gpus > 1 || r.gpuType != "" && res.kind != "" && res.kind != r.gpuType {
			return &optionError{option, "names GPUs of two types", "an estimate knows one type: leave one out"}
		}
		r.gpus = max(r.gpus, res.count)
		if res.kind != "" {
			r.gpuType = res.kind
		}
	}
	return nil
}

// setResources reads the flags that say what is asked for in all.
func (r *request) setResources(gpus, gres, licenses string) error {
	for _, way := range []struct {
		option, list string
		read         func(option, list string) ([]resource, error)
	}{{"gpus", gpus, readGPUs}, {"gres", gres, readGres}} {
		all, err := way.read(way.option, way.list)
		if err == nil {
			err = r.addGres(way.option, all, 1)
		}
		if err != nil {
			return usageError{err, hintOf(err)}
		}
	}
	var err error
	if r.licenses, err = readLicenses("licenses", licenses); err != nil {
		return usageError{err, hintOf(err)}
	}
	return nil
}
