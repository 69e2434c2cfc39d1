package ingest

import "slices"

// sonarColumns are the columns of the job lists that Sonar makes of sacct.
var sonarColumns = []string{"JobID", "JobIDRaw", "Cluster", "Account", "User", "Partition", "QOS", "Reservation", "State",
	"Submit", "Eligible", "Start", "End", "ElapsedRaw", "Suspended", "TimelimitRaw", "NNodes", "NCPUS", "ReqCPUS", "ReqMem",
	"ReqTRES", "AllocTRES", "NodeList", "JobName"}

// readSonarJob reads one record of Sonar's: sacct's columns by name, empty
// ones left out.
func (a *answer) readSonarJob() error {
	a.begin(&a.sonar, sonarColumns, "")
	raw := ""
	err := a.whole(func() {
		from := a.at
		a.readColumns()
		raw = a.text[from:a.at]
	})
	if err != nil {
		return err
	}
	f := a.odd
	if f == nil {
		f, err = a.take(raw, "")
	}
	if f != nil {
		return a.setAside(raw, f, None)
	}
	return err
}

// readColumns reads the record at hand into the values of sonarColumns.
func (a *answer) readColumns() {
	a.values = slices.Grow(a.values[:0], len(sonarColumns))[:len(sonarColumns)]
	clear(a.values)
	seen := make([]presence, len(sonarColumns))
	a.odd = nil
	if !a.is('{', "") {
		return
	}
	for more := a.enter('}'); more; more = a.another('}') {
		i := slices.Index(sonarColumns, a.key())
		if i >= 0 {
			a.see(&seen[i])
		}
		switch value := ""; a.kind() {
		case '"':
			if value = a.str(); i >= 0 {
				a.values[i] = value
			}
		case 'n':
			a.skip()
		default:
			a.wrongKind(a.name, "a text")
		}
	}
}
