package ingest

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// job fills j from the cells of an allocation. JobID, Notes and Source are set
// already. A fault says why the record cannot be billed; j then holds what was
// read so far.
func (p *parser) job(c *cells, form jobIDForm, j *Job) *fault {
	s := p.schema
	if f := p.identity(c, form, j); f != nil {
		return f
	}
	var ok bool
	if j.State, j.CancelledBy, ok = p.state(c.at(s.at[fieldState])); !ok {
		return &fault{"State", fmt.Sprintf("%.80q is no state", c.at(s.at[fieldState])), remedyPlainField}
	}
	if f := p.times(c, j); f != nil {
		return f
	}
	j.TimelimitSeconds = p.limit.of(c.at(s.at[fieldTimelimitRaw]), c.at(s.at[fieldTimelimit]))
	p.names(c, j)
	if f := p.counts(c, j); f != nil {
		return f
	}
	if !c.ascii() {
		if f := p.repairText(c, j); f != nil {
			return f
		}
	}
	return p.doubts(form, j)
}

// lastLimit remembers the time limit of the record before: most jobs of a
// dump have the same few.
type lastLimit struct {
	raw, text string
	seconds   int64
}

func (l *lastLimit) of(raw, text string) int64 {
	if raw == "" && text == "" {
		return Unknown
	}
	if raw == l.raw && text == l.text {
		return l.seconds
	}
	l.raw, l.text = raw, text
	if l.seconds = parseTimelimitRaw(raw); raw == "" {
		l.seconds = parseTimelimit(text)
	}
	return l.seconds
}

// identity reads the ids and the cluster.
func (p *parser) identity(c *cells, form jobIDForm, j *Job) *fault {
	s := p.schema
	raw := c.at(s.at[fieldJobIDRaw])
	if raw == "" {
		raw = j.JobID
		if form == arrayTask || form == hetPart { // which share their Submit, and a dump with JobIDRaw would not meet them
			return &fault{"JobIDRaw", "the dump does not say which of the array's or the het job's records this is", remedyJobIDRaw}
		}
		raw = raw[:digitsFrom(raw, 0)]
	}
	var ok bool
	if j.JobIDRaw, ok = parseUint64(raw); !ok {
		return &fault{"JobIDRaw", fmt.Sprintf("%.40q is no number", raw), remedyPlainField}
	}
	if index := c.at(s.at[fieldDBIndex]); index != "" {
		if j.DBIndex, ok = parseUint64(index); !ok {
			return &fault{"DBIndex", fmt.Sprintf("%.40q is no number", index), remedyPlainField}
		}
		if j.DBIndex >= 1<<64-2 { // Slurm's signs for none
			j.DBIndex = 0
		}
	} else {
		j.DBIndex = parseSLUID(c.at(s.at[fieldSLUID]))
	}
	if strings.HasPrefix(j.JobID, "0_0") {
		j.Notes |= NoteStrangeJobID
	}
	j.Cluster = p.opt.Cluster
	if s.has(fieldCluster) {
		if name := p.columnTexts[fieldCluster].of(c.at(s.at[fieldCluster]), trimBlanks); name != "" {
			j.Cluster = name
		}
	}
	if j.Cluster == "" {
		return &fault{"Cluster", "the cell is empty", "name the cluster of this dump (--cluster)"}
	}
	return nil
}

// names reads the texts that a record is billed by, and the free ones.
func (p *parser) names(c *cells, j *Job) {
	at, col := &p.schema.at, &p.columnTexts
	j.Account = col[fieldAccount].of(c.at(at[fieldAccount]), accountName)
	j.User = col[fieldUser].of(c.at(at[fieldUser]), trimBlanks)
	if j.User == "" {
		j.User = col[fieldUID].of(c.at(at[fieldUID]), trimBlanks)
	}
	j.Partition = col[fieldPartition].of(c.at(at[fieldPartition]), trimBlanks)
	j.QoS = col[fieldQoS].of(c.at(at[fieldQoS]), trimBlanks)
	j.WCKey = col[fieldWCKey].of(c.at(at[fieldWCKey]), wckeyName)
	j.Reservation = col[fieldReservation].of(c.at(at[fieldReservation]), trimBlanks)
	j.NodeList = col[fieldNodeList].of(c.at(at[fieldNodeList]), nodeList)
	if name := c.at(at[fieldJobName]); name != p.lastName {
		p.lastName = name
	}
	j.Name = p.lastName // one string for the tasks of an array, which later stages see at once
}

// accountName returns an account's name as Slurm keeps it: lower case.
func accountName(cell string) string { return strings.ToLower(trimBlanks(cell)) }

// wckeyName takes off the mark of a wckey that slurmdbd assigned by default.
func wckeyName(cell string) string { return strings.TrimPrefix(trimBlanks(cell), "*") }

func nodeList(cell string) string {
	if cell == "None assigned" || cell == "(unknown)" {
		return ""
	}
	return cell
}

func trimBlanks(s string) string {
	if n := len(s); n == 0 || (s[0] > ' ' && s[n-1] > ' ') {
		return s
	}
	return strings.Trim(s, " \t\r")
}

// stateCell is what a State cell says.
type stateCell struct {
	word State
	by   string
}

// state reads the State cell.
func (p *parser) state(cell string) (State, string, bool) {
	if cell == "COMPLETED" {
		return Completed, "", true
	}
	if cell != "" && cell == p.lastStateCell {
		return p.lastState.word, p.lastState.by, true
	}
	if known, ok := p.stateCells[cell]; ok {
		p.lastStateCell, p.lastState = cell, known
		return known.word, known.by, true
	}
	word, by, ok := parseState(cell)
	if !ok {
		return "", "", false
	}
	if !knownState(word) {
		p.oddState = word
		return State(strings.Clone(string(word))), by, true
	}
	if len(p.stateCells) < maxInterned {
		p.stateCells[strings.Clone(cell)] = stateCell{State(strings.Clone(string(word))), strings.Clone(by)}
	}
	return word, by, true
}

// counts reads what was allocated and what was requested.
func (p *parser) counts(c *cells, j *Job) *fault {
	at := &p.schema.at
	j.NodeCount, j.CPUs, j.MemoryMiB, j.GPUs, j.Billing = Unknown, Unknown, Unknown, Unknown, Unknown
	j.ReqNodeCount, j.ReqCPUs, j.ReqMemoryMiB, j.ReqGPUs = Unknown, Unknown, Unknown, Unknown
	allocatedCPUs, nodes := integerOr(c.at(at[fieldAllocCPUs])), integerOr(c.at(at[fieldNNodes]))
	if text := c.at(at[fieldReqTRES]); text != "" {
		j.ReqTRES = text
		if known, f := p.requested.of(text); f == nil { // a request that cannot be read is Unknown
			t := &known.tres
			j.ReqTRES = known.text
			j.ReqNodeCount, j.ReqCPUs, j.ReqMemoryMiB, j.ReqGPUs = t.nodes, t.cpus, t.memoryMiB, max(t.gpus, 0)
		}
	}
	if j.ReqCPUs == Unknown {
		j.ReqCPUs = integerOr(c.at(at[fieldReqCPUs]))
	}
	if j.ReqMemoryMiB == Unknown {
		j.ReqMemoryMiB = requestedMemory(c.at(at[fieldReqMem]), j.ReqCPUs, nodes)
	}
	text := c.at(at[fieldAllocTRES])
	if text == "" {
		return p.withoutAllocTRES(c, j, allocatedCPUs, nodes)
	}
	known, f := p.allocated.of(text)
	if f != nil {
		f.field = "AllocTRES"
		return f
	}
	t := &known.tres
	j.AllocTRES = known.text
	j.NodeCount, j.CPUs, j.MemoryMiB, j.GPUs, j.Billing = t.nodes, t.cpus, t.memoryMiB, max(t.gpus, 0), max(t.billing, 0)
	j.Notes |= t.notes
	if j.CPUs == Unknown {
		j.CPUs = allocatedCPUs
	} else if allocatedCPUs > 0 && allocatedCPUs != j.CPUs {
		j.Notes |= NoteNodesDisagree
	}
	if j.NodeCount == Unknown {
		j.NodeCount = nodes
	} else if nodes > 0 && nodes != j.NodeCount {
		j.Notes |= NoteNodesDisagree
	}
	if j.ElapsedSeconds > 0 && j.CPUs <= 0 {
		return nothingAllocated(c.at(at[fieldCPUTimeRaw]))
	}
	return nil
}

// withoutAllocTRES fills the counts of a record that has no AllocTRES. What
// never started holds nothing. What ran must have its CPUs in AllocCPUS; but
// where ReqTRES is filled, AllocCPUS may only repeat it (Slurm before
// 23.02.5), and then the record is not to be trusted.
func (p *parser) withoutAllocTRES(c *cells, j *Job, cpus, nodes int64) *fault {
	if j.Start == None || j.ElapsedSeconds == 0 {
		j.NodeCount, j.CPUs, j.MemoryMiB, j.GPUs, j.Billing = 0, 0, 0, 0, 0
		return nil
	}
	if cpus <= 0 || (p.schema.has(fieldAllocTRES) && j.ReqTRES != "") {
		return nothingAllocated(c.at(p.schema.at[fieldCPUTimeRaw]))
	}
	j.CPUs, j.NodeCount = cpus, nodes
	return nil
}

func nothingAllocated(cpuTime string) *fault {
	f := &fault{"AllocTRES", "the job ran, but nothing is recorded as allocated to it", remedyAllocTRES}
	if cpuTime != "" && cpuTime != "0" {
		f.cause += " (CPUTimeRAW " + cpuTime + ")"
	}
	return f
}

// integerOr reads a count that may be missing.
func integerOr(s string) int64 {
	if s == "" {
		return Unknown
	}
	v, ok := parseDigits(strings.TrimSuffix(s, "?"))
	if !ok || isNoValue(v) {
		return Unknown
	}
	return v
}

// requestedMemory reads ReqMem: the total since 21.08, before that per CPU
// ("4Gc") or per node ("4Gn"), 0 meaning unset. Unknown where it cannot be
// told.
func requestedMemory(s string, cpus, nodes int64) int64 {
	if s == "" {
		return Unknown
	}
	times := int64(1)
	switch s[len(s)-1] {
	case 'c':
		times, s = cpus, s[:len(s)-1]
	case 'n':
		times, s = nodes, s[:len(s)-1]
	}
	mib, _, ok := parseSizeMiB(strings.TrimSuffix(s, "?"))
	if !ok || times < 1 || mib == 0 || mib > 1<<53 || times > 1<<20 {
		return Unknown
	}
	return mib * times
}

// longestRun is how long a job without a time limit may run before it is
// pointed out.
const longestRun = int64(366 * secondsPerDay)

// doubts looks at the record as a whole.
func (p *parser) doubts(form jobIDForm, j *Job) *fault {
	if form == arrayRange && j.ElapsedSeconds > 0 {
		return &fault{"JobID", "a range of array tasks has run time, which cannot be one job's", remedyPlainField}
	}
	if j.Start == None {
		return nil
	}
	if strings.IndexByte(j.Partition, ',') >= 0 && j.ElapsedSeconds > 0 {
		return &fault{"Partition", fmt.Sprintf("%.80q: a job that ran did so in one partition", j.Partition), remedyPlainField}
	}
	limit := longestRun
	if j.TimelimitSeconds >= 0 {
		limit = j.TimelimitSeconds + secondsPerDay
	}
	if j.End == None && j.ElapsedSeconds > limit {
		j.Notes |= NoteRunaway
	}
	return nil
}

// repairText puts U+FFFD in place of bytes that are not UTF-8. In a name that
// a job is billed by that would make one of two: such a record is refused.
func (p *parser) repairText(c *cells, j *Job) *fault {
	for _, f := range [...]field{fieldCluster, fieldAccount, fieldUser, fieldPartition, fieldQoS, fieldWCKey, fieldAllocTRES} {
		if i := p.schema.at[f]; i >= 0 && !utf8.ValidString(c.at(i)) {
			return &fault{p.schema.columns[i].name, fmt.Sprintf("%.80q is not UTF-8", c.at(i)), "convert the dump to UTF-8 (iconv), so that names stay apart"}
		}
	}
	for _, text := range [...]*string{&j.Name, &j.Reservation, &j.NodeList, &j.ReqTRES} {
		if !utf8.ValidString(*text) {
			*text = strings.ToValidUTF8(*text, "\ufffd")
			j.Notes |= NoteInvalidUTF8
		}
	}
	return nil
}
