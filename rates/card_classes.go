package rates

import (
	"fmt"
	"maps"
	"slices"

	"hpcbill/rates/formula"
	"hpcbill/rates/nearest"
)

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
		for _, class := range classes {
			f := &Facts{Values: &formula.Values{}}
			f.Text[Class] = class
			if _, _, err := m.PriceFor(f); err == nil {
				continue
			}
			remedy := fmt.Sprintf("add a row  %s: …  or  \"*\": …", class)
			if near, ok := nearest.Word(class, rows); ok {
				remedy = fmt.Sprintf("it has one for %s: write %s, if that is meant", near, class)
			}
			faults = append(faults, Fault{
				File: c.File, Line: m.Line, Field: "meters." + m.Name,
				Message: fmt.Sprintf("has no price for the class %s, which groups have: what they are charged of it is held", class), Remedy: remedy,
			})
		}
	}
	return faults
}
