package rates

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxHosts is how many names one list of nodes may stand for.
const maxHosts = 1 << 20

// Hosts is a set of nodes, as a person names them: names, globs and Slurm's
// own short form "node[01-12,20]".
type Hosts struct {
	names map[string]bool
	globs []string
}

// ParseHosts reads names, globs and hostlists, each of which may hold several
// parted by commas.
func ParseHosts(texts ...string) (*Hosts, error) {
	h := &Hosts{names: map[string]bool{}}
	for _, text := range texts {
		before := len(h.names) + len(h.globs)
		err := eachHost(text, func(name string) bool {
			if isGlob(name) {
				h.globs = append(h.globs, name)
			} else {
				h.names[name] = true
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		if before == 0 && len(h.names)+len(h.globs) == 0 {
			return nil, fmt.Errorf("%q names no node", text)
		}
	}
	return h, nil
}

// Meets reports whether one of a job's nodes is in the set. A NodeList that
// is empty, or that is not Slurm's form, is not known.
func (h *Hosts) Meets(nodeList string) (met, known bool) {
	some := false
	err := eachHost(nodeList, func(name string) bool {
		some = true
		met = h.names[name] || slices.ContainsFunc(h.globs, func(g string) bool { return globMatches(g, name) })
		return !met
	})
	return met, some && err == nil
}

// eachHost gives the names that a hostlist stands for, in its order, until do
// returns false. Slurm writes "a[1-3,07],b,r[1-2]n[01-04]": the names have as
// many digits as the lower bound.
func eachHost(list string, do func(name string) (more bool)) error {
	left := maxHosts
	for len(list) > 0 {
		end, err := endOfItem(list)
		if err != nil {
			return err
		}
		item := strings.TrimSpace(list[:end])
		if item == "" {
			return fmt.Errorf("%q has an empty name", list)
		}
		more, err := expandHost("", item, &left, do)
		if err != nil || !more {
			return err
		}
		if end == len(list) {
			break
		}
		if list = list[end+1:]; list == "" {
			return fmt.Errorf("the list ends in a comma")
		}
	}
	return nil
}

// endOfItem finds the comma that ends the first item: not one in brackets.
func endOfItem(list string) (int, error) {
	inside := false
	for i := range len(list) {
		switch c := list[i]; {
		case c == '[' && inside, c == ']' && !inside:
			return 0, fmt.Errorf("%q has a bracket too many", list[:i+1])
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case c == ',' && !inside:
			return i, nil
		case c < ' ' || c == 0x7f || c == '(' || c == ')':
			return 0, fmt.Errorf("%q is not a name of a node", list[:i+1])
		}
	}
	if inside {
		return 0, fmt.Errorf("%q lacks its closing bracket", list)
	}
	return len(list), nil
}

// expandHost gives the names of one item, of which prefix is done already.
func expandHost(prefix, item string, left *int, do func(string) bool) (more bool, err error) {
	open := strings.IndexByte(item, '[')
	if open < 0 {
		if strings.ContainsAny(item, " ") {
			return false, fmt.Errorf("%q is not a name of a node", prefix+item)
		}
		if *left--; *left < 0 {
			return false, fmt.Errorf("the list names more than %d nodes", maxHosts)
		}
		return do(prefix + item), nil
	}
	prefix += item[:open]
	inside, rest, _ := strings.Cut(item[open+1:], "]")
	for _, span := range strings.Split(inside, ",") {
		low, high, width, err := hostSpan(strings.TrimSpace(span))
		if err != nil {
			return false, err
		}
		for n := low; n <= high; n++ {
			more, err := expandHost(prefix+fmt.Sprintf("%0*d", width, n), rest, left, do)
			if err != nil || !more {
				return false, err
			}
		}
	}
	return true, nil
}

// hostSpan reads "01-12" or "7".
func hostSpan(text string) (low, high int64, width int, err error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	low, err1 := parseDigits(from)
	high, err2 := parseDigits(to)
	if err1 != nil || err2 != nil {
		return 0, 0, 0, fmt.Errorf("%q is not a number or a range such as 01-12", text)
	}
	if low > high || high-low >= maxHosts {
		return 0, 0, 0, fmt.Errorf("the range %s is empty or too long", text)
	}
	return low, high, len(from), nil
}

// parseDigits reads digits alone, without a sign.
func parseDigits(text string) (int64, error) {
	if len(text) > 18 || strings.Trim(text, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(text, 10, 64)
}
