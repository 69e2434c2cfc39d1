package rates

import (
	"fmt"
	"strings"
)

// readScontrol reads what scontrol show partition prints: each partition
// begins with PartitionName= at the start of a line, and its Key=Value pairs
// stand on that line (-o) or on indented lines below it. A value is what
// follows the first = up to the next blank.
func (c *cardImport) readScontrol(file, text string) {
	var record *slurmRecord
	finish := func() {
		if record != nil {
			c.partition(record)
		}
		record = nil
	}
	clusters := 0
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		line = strings.TrimRight(line, " \t\r")
		switch {
		case line == "":
			finish()
		case strings.HasPrefix(line, "CLUSTER: "):
			finish()
			if clusters++; clusters == 2 {
				c.fault(file, n, "", "a second cluster begins here", "import each cluster on its own: a card knows partitions by their names")
			}
		case strings.HasPrefix(line, "PartitionName="):
			finish()
			record = &slurmRecord{file, n, map[string]slurmField{}}
			c.pairs(record, n, line)
		case record == nil || line[0] != ' ' && line[0] != '\t':
			c.fault(file, n, "", fmt.Sprintf("belongs to no partition: %s", shortened(line)), "a partition begins with PartitionName= at the start of a line")
		default:
			c.pairs(record, n, line)
		}
	}
	finish()
}

// pairs reads the Key=Value pairs of a line.
func (c *cardImport) pairs(r *slurmRecord, line int, text string) {
	last := ""
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' }) {
		key, value, found := strings.Cut(word, "=")
		switch first, twice := r.fields[key]; {
		case !found && last != "":
			// A name with a blank, such as that of a group.
			f := r.fields[last]
			r.fields[last] = slurmField{f.value + " " + word, f.line}
		case !found || key == "":
			c.fault(r.file, line, "", fmt.Sprintf("%s is not Key=Value", shortened(word)), "")
		case twice:
			c.fault(r.file, line, key, fmt.Sprintf("is given twice, first on line %d", first.line), "the lines of two partitions may have run together")
		default:
			r.fields[key], last = slurmField{value, line}, key
		}
	}
}
