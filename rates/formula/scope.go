package formula

import (
	"fmt"
	"maps"
	"slices"

	"hpcbill/rates/money"
)

// Stage is which of a charge's formulas is read: what earlier stages give,
// later ones may use.
type Stage uint8

// The stages, in the order of their evaluation.
const (
	LetStage Stage = iota
	RateStage
	DurationStage
	UnitsStage
	AmountStage
)

var stageNames = [...]string{"let", "rate", "duration", "units", "amount"}

// String is the stage's name in a card.
func (s Stage) String() string { return stageNames[s] }

// Subject is what a formula prices.
type Subject uint8

// The subjects.
const (
	OfJob Subject = iota
	OfHolding
)

// Scope is what names a formula may use. It never changes; its methods give
// new scopes.
type Scope struct {
	figures []Figure
	hidden  map[string]hidden // names that exist elsewhere
}

// hidden says why a name is not to be used, and what to do about it.
type hidden struct{ why, remedy string }

// NewScope gives the names that a formula of the subject may use at a stage.
func NewScope(subject Subject, stage Stage) Scope {
	s := Scope{hidden: map[string]hidden{}}
	job, holding := jobFigures(), storageFigures()
	if subject == OfHolding {
		s.figures = holding
		for _, f := range job {
			s.hidden[f.Name] = hidden{why: "is a figure of a job, not of storage"}
		}
	} else {
		s.figures = job
		for _, f := range holding {
			h := hidden{why: "is a figure of storage, not of a job"}
			if stage == LetStage {
				h.remedy = "let: is of jobs: write it into the formula of the storage rule"
			}
			s.hidden[f.Name] = h
		}
	}
	known := map[Slot]Stage{Rate: DurationStage, Factor: DurationStage, Duration: UnitsStage, Units: AmountStage, Price: AmountStage}
	for _, f := range stageFigures() {
		if stage >= known[f.Slot] {
			s.figures = append(s.figures, f)
		} else {
			s.hidden[f.Name] = hidden{why: fmt.Sprintf("is not known yet in a %s formula", stage)}
		}
	}
	return s
}

// Figures lists what the scope offers, in a fixed order.
func (s Scope) Figures() []Figure { return slices.Clone(s.figures) }

// Names lists the names that the scope offers, in a fixed order.
func (s Scope) Names() []string {
	names := make([]string, len(s.figures))
	for i, f := range s.figures {
		names[i] = f.Name
	}
	return names
}

// Let adds the card's i-th named figure, as its formula describes it.
func (s Scope) Let(i int, name string, f *Formula) Scope {
	s.figures = append(slices.Clone(s.figures), Figure{
		Name: name, Means: f.Text, Slot: LetSlot(i),
		Dimension: f.dimension, Bounds: f.bounds, scale: money.Int(1), let: f.root,
	})
	return s
}

// Clock adds a figure of the card that is a part of elapsed_h: its slot is in
// seconds, as that of the elapsed time is, and a job that is cut is cut in it.
func (s Scope) Clock(i int, name, means string) Scope {
	figure, ok := s.find("elapsed_h")
	if !ok {
		panic("BUG: a clock where no job runs")
	}
	figure.Name, figure.Means, figure.Slot = name, means, LetSlot(i)
	s.figures = append(slices.Clone(s.figures), figure)
	return s
}

// Bound narrows what a figure can be, from low to high in the formula's unit.
func (s Scope) Bound(name string, low, high money.Exact) Scope {
	return s.Narrow(name, Bounds{low: low, high: high})
}

// Narrow tells of a figure what another formula's bounds say of it.
func (s Scope) Narrow(name string, b Bounds) Scope {
	s.figures = slices.Clone(s.figures)
	for i := range s.figures {
		if s.figures[i].Name == name {
			s.figures[i].Bounds = b
		}
	}
	return s
}

// Hide takes a name away; why completes "NAME …" in the fault of a formula
// that uses it, and remedy says what to do.
func (s Scope) Hide(name, why, remedy string) Scope {
	names := map[string]hidden{}
	maps.Copy(names, s.hidden)
	names[name] = hidden{why, remedy}
	s.hidden = names
	s.figures = slices.DeleteFunc(slices.Clone(s.figures), func(f Figure) bool { return f.Name == name })
	return s
}

// Explain says of names that the scope does not offer why not, and what to do
// about it, as Hide does.
func (s Scope) Explain(names []string, why, remedy string) Scope {
	all := map[string]hidden{}
	maps.Copy(all, s.hidden)
	for _, name := range names {
		if _, known := all[name]; !known && !s.has(name) {
			all[name] = hidden{why, remedy}
		}
	}
	s.hidden = all
	return s
}

// IsReserved reports whether a name already means something in formulas, so
// that a card cannot give it to a figure of its own.
func IsReserved(name string) bool {
	if _, ok := functions[name]; ok || name == "gpu" || name == "tres" {
		return true
	}
	if _, err := money.ParseMode(name); err == nil {
		return true
	}
	for _, f := range slices.Concat(jobFigures(), storageFigures(), stageFigures()) {
		if f.Name == name {
			return true
		}
	}
	return false
}

func (s Scope) has(name string) bool {
	_, ok := s.find(name)
	return ok
}

func (s Scope) find(name string) (Figure, bool) {
	for _, f := range s.figures {
		if f.Name == name {
			return f, true
		}
	}
	return Figure{}, false
}
