package rates

import (
	"fmt"
	"maps"
	"slices"

	"hpcbill/rates/formula"
	"hpcbill/rates/nearest"
)

// mistypedClasses warns of rows for a class that no group has and that is
// nearly the name of one that has no row: its groups pay what "*" says.
func (c *Card) mistypedClasses(m *Meter, rows, classes []string) Faults {
	var faults Faults
	rowless := slices.DeleteFunc(slices.Clone(classes), func(class string) bool { return slices.Contains(rows, class) })
	for _, e := range m.Price.Table {
		near, ok := nearest.Word(e.Value, rowless)
		if ok && m.pricesClass(near) && !isGlob(e.Value) && !slices.Contains(classes, e.Value) && e.Value != rowLabel("*") {
			faults = append(faults, Fault{
				File: c.File, Line: e.Line, Column: e.Column, Field: "meters." + m.Name + ".price." + e.Value,
				Message: fmt.Sprintf("no group has the class %s, and %s has no row", e.Value, near), Remedy: fmt.Sprintf("did you mean %s?", near),
			})
		}
	}
	for _, class := range rowless {
		near, ok := nearest.Word(class, rows)
		// External is near internal, and another word.
		if ok && class != "" && class[:1] == near[:1] && slices.Contains(classes, near) && m.pricesClass(class) && !m.globs(class) {
			faults = append(faults, Fault{
				File: c.File, Line: m.Line, Column: m.Column, Field: "meters." + m.Name,
				Message: fmt.Sprintf("groups have the class %s, which has no row and pays what \"*\" says", class), Remedy: fmt.Sprintf("did you mean %s?", near),
			})
		}
	}
	return faults
}

// globs reports whether a row of the table has the class in its wildcard, other
// than the row for all the rest.
func (m *Meter) globs(class string) bool {
	return slices.ContainsFunc(m.Price.Table, func(e PriceEntry) bool { return e.Value != rowLabel("*") && GlobMatches(e.Value, class) })
}

// pricesClass reports whether a table by class has a price for it.
func (m *Meter) pricesClass(class string) bool {
	f := &Facts{Values: &formula.Values{}}
	f.Text[Class] = class
	_, _, err := m.PriceFor(f)
	return err == nil
}

// UnpricedClasses warns of the classes for which a table of prices by class
// has no row, in the card's last version: what their groups use is held.
func (c *Card) UnpricedClasses(classes []string) Faults {
	var faults Faults
	if len(c.Versions) == 0 {
		return nil
	}
	v := c.Versions[len(c.Versions)-1]
	for _, name := range slices.Sorted(maps.Keys(v.Meters)) {
		m := v.Meters[name]
		if m.Price.By != "class" {
			continue
		}
		var rows []string
		for _, e := range m.Price.Table {
			rows = append(rows, e.Value)
		}
		faults = append(faults, c.mistypedClasses(m, rows, classes)...)
		for _, class := range classes {
			if m.pricesClass(class) {
				continue
			}
			remedy := fmt.Sprintf("add a row  %s: …  or  \"*\": …", class)
			if near, ok := nearest.Word(class, rows); ok {
				remedy = fmt.Sprintf("it has one for %s: write %s, if that is meant", near, class)
			}
			faults = append(faults, Fault{
				File: c.File, Line: m.Line, Column: m.Column, Field: "meters." + m.Name,
				Message: fmt.Sprintf("has no price for the class %s, which groups have: what they are charged of it is held", class), Remedy: remedy,
			})
		}
	}
	return faults
}
