package rates

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hpcbill/rates/money"
	"hpcbill/rates/yamldoc"
)

// Limit is what the jobs that it matches may not go beyond. It charges
// nothing: a report says what went beyond it. All limits that match a job
// hold, not only the first.
type Limit struct {
	Match  Match
	Bounds []Bound // in the order of their kinds
	Line   int
}

// Bound is one figure of a limit.
type Bound struct {
	Kind LimitKind
	Max  money.Exact // the most that is within, in the unit of the kind
}

// LimitKind is what a bound is about.
type LimitKind uint8

// The kinds of bounds.
const (
	TimeLimitHours   LimitKind = iota // the time limit of one job, or its run time where that is not recorded
	GPUsPerJob                        // GPUs of one job
	CPUsPerGPU                        // CPUs of one job, for each of its GPUs
	MemoryGiBPerGPU                   // memory of one job, for each of its GPUs
	RunningPerUser                    // jobs of one user that run at the same time
	SubmittedPerUser                  // jobs of one user that wait or run at the same time

	limitKinds // how many there are
)

var limitNames = [limitKinds]string{"time_limit_h", "gpus_per_job", "cpus_per_gpu", "mem_gib_per_gpu", "running_per_user", "submitted_per_user"}

// String is the kind as a card writes it: "gpus_per_job".
func (k LimitKind) String() string { return limitNames[k] }

// Simultaneous reports whether the bound counts jobs at the same time.
func (k LimitKind) Simultaneous() bool { return k == RunningPerUser || k == SubmittedPerUser }

func (v *versionLoader) limits(f yamldoc.Field, path string) {
	for i, item := range v.Items(f.Value, path) {
		v.version.Limits = append(v.version.Limits, v.limit(item, fmt.Sprintf("%s[%d]", path, i)))
	}
}

func (v *versionLoader) limit(n *yaml.Node, path string) *Limit {
	l := &Limit{Line: n.Line}
	fields := v.Fields(n, path, limitKeys.names()...)
	bounded := false
	for _, f := range fields {
		at := path + "." + f.Key
		switch f.Key {
		case "match":
			// What a job brings itself; the group and the node type are settled
			// by rules that a limit does not follow.
			l.Match = v.match(f.Value, at, hardwareFields())
		case "note":
			v.Text(f.Value, at)
		default:
			bounded = true
			kind := LimitKind(slices.Index(limitNames[:], f.Key))
			l.Bounds = append(l.Bounds, Bound{kind, v.bound(f.Value, at, kind)})
		}
	}
	if fields != nil && !bounded {
		v.Fault(n, path, "limits nothing", "add one of "+strings.Join(limitNames[:], ", "))
	}
	slices.SortFunc(l.Bounds, func(a, b Bound) int { return int(a.Kind) - int(b.Kind) })
	return l
}

func (v *versionLoader) bound(n *yaml.Node, path string, kind LimitKind) money.Exact {
	text, ok := v.Text(n, path)
	if !ok {
		return money.Exact{}
	}
	most, err := money.ParseDecimal(text)
	switch {
	case err != nil:
		v.Fault(n, path, err.Error(), "write a plain number such as 24")
	case most.Sign() < 0:
		v.Fault(n, path, fmt.Sprintf("%s is negative", text), "write 0 or more")
	case kind.Simultaneous() && !most.IsInt():
		v.Fault(n, path, fmt.Sprintf("%s is no number of jobs", text), "write a whole number")
	}
	return most
}
