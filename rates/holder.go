package rates

import (
	"slices"
)

// HolderRule says whose storage it is that a listing of quotas shows under
// some names. Rules are tried in their order; the first that fits on a day
// decides.
type HolderRule struct {
	Names       []string // of holders: literals or globs; none = all
	Filesystems []string // the same
	Group       string   // the ID of a group; "" where Ignore says why nobody is billed
	Ignore      string
	From, Until Date // half-open; zero = no bound
	Line        int
}

// HolderSpan is whose a holder's storage is from a day on.
type HolderSpan struct {
	From   Date   // zero = from the beginning
	Group  string // "" = nobody's
	Ignore string // the reason for which it is not billable
}

// HolderSpans gives whose storage a holder has, by day. A name that no rule
// fits and that is the ID of a group of the roster is that group's, unless it
// is the name of a user: those have names of their own.
func HolderSpans(rules []HolderRule, roster *Roster, kind, name, filesystem string) []HolderSpan {
	var fitting []HolderRule
	days := []Date{{}}
	for _, r := range rules {
		if !matchesAny(r.Names, name) || !matchesAny(r.Filesystems, filesystem) {
			continue
		}
		fitting = append(fitting, r)
		for _, day := range []Date{r.From, r.Until} {
			if !slices.Contains(days, day) {
				days = append(days, day)
			}
		}
	}
	slices.SortFunc(days, func(a, b Date) int {
		switch {
		case a.Before(b):
			return -1
		case b.Before(a):
			return 1
		}
		return 0
	})
	var last HolderSpan
	if kind != "user" && roster.Group(name) != nil {
		last.Group = name
	}
	spans := make([]HolderSpan, 0, len(days))
	for _, day := range days {
		span := HolderSpan{day, last.Group, ""}
		for _, r := range fitting {
			if day.within(r.From, r.Until) {
				span.Group, span.Ignore = r.Group, r.Ignore
				break
			}
		}
		spans = append(spans, span)
	}
	return spans
}

// matchesAny reports whether a name fits one of the patterns; where there are
// none, every name does.
func matchesAny(patterns []string, name string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return matchesPattern(p, name) })
}
