package rates

import (
	"cmp"
	"slices"
	"time"
)

// Outage is a window of time in which the cluster, or a part of it, could not
// be used as it should. The time that jobs spent in it is priced and forgiven.
type Outage struct {
	Name        string
	From, Until int64 // seconds since 1970 UTC, half-open
	Match       Match // the jobs that it met
	Nodes       *Hosts
	Mode        OutageMode
	Reason      string
	Author      string // "" = not said
	// BilledFrom is the first month whose bill it changes; the zero time where
	// it changes every one. It does not bound the window.
	BilledFrom time.Time
	// Digest is the same for two outages that say the same, but for the
	// author.
	Digest string
	Line   int
}

// OutageMode is what of a job an outage waives.
type OutageMode uint8

// The modes.
const (
	OutageOverlap OutageMode = iota // the seconds that lie in the window
	OutageWhole                     // the whole of a job that ran at any moment of it
	OutageKilled                    // the whole of a job that ended in it by failing
)

var outageModes = []string{"overlap", "whole", "killed"}

// String is the mode as outages.yaml writes it.
func (m OutageMode) String() string { return outageModes[m] }

// killedStates are how jobs end that an outage takes with it: those that
// Slurm gives up with a node, those that fail, and those that a person
// cancels or requeues. A job that came to its time or memory limit, or that
// made room for another, did so without an outage.
var killedStates = []string{"NODE_FAIL", "BOOT_FAIL", "FAILED", "CANCELLED", "REQUEUED"}

// Kills reports whether a job that ended so at an instant was ended by the
// outage: inside the window, in a state that failing gives, or, where the
// match asks for states, in one of those.
func (o *Outage) Kills(end int64, state string) bool {
	if end < o.From || end >= o.Until {
		return false
	}
	return o.Match.Asks().Texts&(1<<State) != 0 || slices.Contains(killedStates, state)
}

// Meets reports whether a job that ran over [start, end) ran in the window. A
// job without length is at its instant.
func (o *Outage) Meets(start, end int64) bool {
	return start < o.Until && (end > o.From || start >= o.From)
}

// Outages is an outages.yaml: the windows in the order of their beginning.
type Outages struct {
	File string
	All  []*Outage // by From, Until and Name

	latest []int64 // of All up to here, the latest Until
}

// Meeting appends to list the outages whose window meets [start, end), in the
// order of All.
func (o *Outages) Meeting(list []*Outage, start, end int64) []*Outage {
	i, _ := slices.BinarySearchFunc(o.All, end, func(w *Outage, end int64) int { return cmp.Compare(w.From, end) })
	first := len(list)
	for i--; i >= 0 && o.latest[i] > start; i-- {
		if o.All[i].Until > start {
			list = append(list, o.All[i])
		}
	}
	slices.Reverse(list[first:])
	return list
}

// order sorts the windows, so that their order in the file does not matter.
func (o *Outages) order() {
	slices.SortFunc(o.All, func(a, b *Outage) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Until, b.Until), cmp.Compare(a.Name, b.Name))
	})
	o.latest = make([]int64, len(o.All))
	for i, w := range o.All {
		o.latest[i] = w.Until
		if i > 0 {
			o.latest[i] = max(o.latest[i-1], w.Until)
		}
	}
}

// AskForNodes reports whether a window is bound to nodes by name, so that
// jobs must say on which they ran. A nil Outages has no windows.
func (o *Outages) AskForNodes() bool {
	return o != nil && slices.ContainsFunc(o.All, func(w *Outage) bool { return w.Nodes != nil || w.Match.Asks().Nodes })
}
