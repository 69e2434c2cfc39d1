package rates

import (
	"fmt"
	"slices"
	"strings"

	"hpcbill/rates/money"
)

// slurmQoS is a QoS with the factor by which Slurm counts its jobs' usage.
type slurmQoS struct {
	name   string
	factor money.Exact
	text   string // the factor as printed
	file   string
	line   int
}

// readQoS reads what sacctmgr show qos -P prints (or -p, with a | at the end
// of each line): a header with the columns' names, and a line for each QoS.
func (c *cardImport) readQoS(file, text string) {
	var header []string
	nameAt, factorAt := -1, -1
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) == "" {
			continue
		}
		cells := strings.Split(line, "|")
		if header == nil {
			header = cells
			nameAt, factorAt = slices.Index(header, "Name"), slices.Index(header, "UsageFactor")
			if nameAt < 0 || factorAt < 0 {
				c.fault(file, n, "", "is not the header of  sacctmgr show qos -P: it has no column Name, or no UsageFactor",
					"print it with its header and these columns: sacctmgr show qos -P format=Name,UsageFactor")
				return
			}
			continue
		}
		if len(cells) != len(header) {
			c.fault(file, n, "", fmt.Sprintf("has %d columns, the header %d", len(cells), len(header)), "a | inside a name cannot be told apart: print  format=Name,UsageFactor  alone")
			continue
		}
		c.addQoS(slurmQoS{name: cells[nameAt], text: cells[factorAt], file: file, line: n})
	}
}

func (c *cardImport) addQoS(q slurmQoS) {
	if !c.canBeMatched(q.file, q.line, "QoS", q.name) {
		return
	}
	if i := slices.IndexFunc(c.qos, func(o slurmQoS) bool { return o.name == q.name }); i >= 0 {
		c.fault(q.file, q.line, q.name, fmt.Sprintf("this QoS was shown before, at %s:%d", c.qos[i].file, c.qos[i].line), "give each list once, of one cluster")
		return
	}
	q.factor = money.Int(1)
	if q.text != "" {
		x, err := money.ParseDecimal(q.text)
		switch {
		case err != nil:
			c.fault(q.file, q.line, q.name, "its UsageFactor is "+err.Error(), "")
			return
		case x.Sign() < 0:
			c.fault(q.file, q.line, q.name, fmt.Sprintf("its UsageFactor %s is negative", q.text), "set it in Slurm: sacctmgr modify qos "+shortened(q.name)+" set UsageFactor=1")
			return
		}
		q.factor = x
	}
	c.qos = append(c.qos, q)
}

// canBeMatched refuses names that a card's match would read as something
// else.
func (c *cardImport) canBeMatched(file string, line int, what, name string) bool {
	message := ""
	switch {
	case name == "":
		message = "has no name"
	case strings.TrimSpace(name) != name:
		message = fmt.Sprintf("its name %q begins or ends with a blank", name)
	case isGlob(name) || strings.ContainsAny(name[:1], "!<>="):
		message = fmt.Sprintf("its name %q would be a pattern in a card", name)
	case strings.Contains(name, ","):
		message = fmt.Sprintf("its name %q would be a list of names", name)
	default:
		return true
	}
	c.fault(file, line, what, shortened(message), "write the rule for it by hand")
	return false
}
