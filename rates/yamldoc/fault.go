package yamldoc

import (
	"fmt"
	"strings"
)

// Fault is one thing wrong with a YAML file, at the place where
// a person can mend it.
type Fault struct {
	File    string
	Line    int    // from 1; 0 = the file as a whole
	Column  int    // from 1, in bytes; 0 = the line as a whole
	Field   string // the field's path, such as "versions[0].rules[2].match"; "" = none
	Message string // what is wrong: lower case, no full stop
	Remedy  string // what to do about it; "" = not known
}

// Error returns "FILE:LINE:COLUMN: FIELD: MESSAGE", without the parts that
// are not known.
func (f Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
		if f.Column > 0 {
			fmt.Fprintf(&b, ":%d", f.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if f.Field != "" {
		b.WriteString(f.Field)
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
	return b.String()
}

// Hint returns the remedy, or "".
func (f Fault) Hint() string { return f.Remedy }

// Faults are all the faults of one file, in the order of its lines.
type Faults []Fault

// Error returns the faults, one a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find each Fault.
func (fs Faults) Unwrap() []error {
	errs := make([]error, len(fs))
	for i, f := range fs {
		errs[i] = f
	}
	return errs
}
