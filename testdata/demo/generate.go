//go:build ignore

// Generate writes the dumps of the demo site: what three made-up clusters
// would have printed with sacct for March 2026 and the days around it.
//
//	go run testdata/demo/generate.go [cmd/hpcbill/demo]
//
// The same program writes the same bytes: the seed is fixed, no float takes
// part in a draw, and a file whose text is right already is left as it is, so
// that another version of the compressor changes nothing. The jobs that a
// person may look for are printed with the ID they were given.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
	_ "time/tzdata"
)

// A record is one line of sacct for one allocation: a whole job, one run of a
// requeued job, one part of a resized one or one component of a
// heterogeneous one. Times are seconds since 1970 UTC.
type record struct {
	user, account, partition, qos, wckey, reservation, name string

	uid                           int
	state, exit                   string
	submit, start, end, suspended int64 // start 0: never started
	waitSeconds                   int64 // from Submit to Eligible
	limitMinutes                  int64
	nodes, cpus, memoryMiB, gpus  int64
	gpuType, licence              string
	nodeList                      string

	idOffset  int // of the raw ID from the submission's first
	task      int // of an array; -1 elsewhere
	component int // of a heterogeneous job; -1 elsewhere
	tasks     string

	raw, dbIndex uint64
	jobID        string
}

// A submission is what one sbatch made: its records share a range of IDs.
type submission struct {
	label   string // printed with the ID
	ids     int
	records []*record
}

var (
	utc     = time.UTC
	newYork = mustZone("America/New_York")
)

func mustZone(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil {
		log.Fatal(err)
	}
	return zone
}

// at reads "2026-03-31 22:30:00" in the zone.
func at(text string, zone *time.Location) int64 {
	t, err := time.ParseInLocation(time.DateTime, text, zone)
	if err != nil {
		log.Fatal(err)
	}
	return t.Unix()
}

func main() {
	log.SetFlags(0)
	dir := "cmd/hpcbill/demo"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	crc, osc, ialab := crcCluster(), oscCluster(), ialabCluster()
	monthly := crcLayout.dump(crc, at("2026-02-26 00:00:00", utc), at("2026-04-01 00:00:00", utc), at("2026-04-01 00:10:00", utc))
	daily := crcLayout.dump(crc, at("2026-03-31 00:00:00", utc), at("2026-04-03 00:00:00", utc), at("2026-04-03 00:10:00", utc))
	write(dir, "site/dumps/crc/sacct-2026-03.txt.gz", monthly)
	write(dir, "site/dumps/crc/sacct-2026-04-02.txt.gz", loseCell(daily))
	write(dir, "clear/sacct-2026-04-02.txt.gz", daily)
	write(dir, "site/dumps/osc/sacct-2026-03.txt.gz",
		oscLayout.dump(osc, at("2026-02-26 00:00:00", newYork), at("2026-04-03 00:00:00", newYork), at("2026-04-03 06:00:00", newYork)))
	write(dir, "site/dumps/ialab/sacct-2026-03.txt.gz",
		ialabLayout.dump(ialab, at("2026-02-26 00:00:00", utc), at("2026-04-03 00:00:00", utc), at("2026-04-03 00:05:00", utc)))
}

// write compresses the text unless the file holds it already.
func write(dir, name, text string) {
	path := filepath.Join(dir, name)
	if old, err := os.ReadFile(path); err == nil {
		if r, err := gzip.NewReader(bytes.NewReader(old)); err == nil {
			if was, err := io.ReadAll(r); err == nil && string(was) == text {
				fmt.Printf("%s: unchanged, %d lines\n", name, strings.Count(text, "\n"))
				return
			}
		}
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d lines, %d bytes\n", name, strings.Count(text, "\n"), b.Len())
}

// lostCellName is the job whose line is damaged on purpose.
const lostCellName = "sweep|07"

// loseCell takes the UID out of one line, whose job name has a delimiter: the
// line has the right number of cells, and every one of them is in the wrong
// column.
func loseCell(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.HasSuffix(line, "|"+lostCellName+"\n") {
			cells := strings.Split(line, "|")
			lines[i] = strings.Join(append(cells[:6:6], cells[7:]...), "|")
			return strings.Join(lines, "")
		}
	}
	log.Fatal("no line to damage")
	return ""
}

// ---- what sacct prints

// layout is the way in which one cluster's sacct was called.
type layout struct {
	cluster  string
	columns  []string
	zone     *time.Location
	trailing bool // -p: a delimiter after the last cell too
	steps    bool // without -X

	// Of jobs that never got nodes, Slurm before 23.02.5 shows the CPUs that
	// were asked for.
	requestedCPUs bool
	billing       func(*record) int64
	typedOnly     bool // AccountingStorageTRES names gres/gpu:TYPE alone
	reqBilling    bool // ReqTRES has the estimate of billing
}

// dump prints the records that sacct -S from -E until would have printed at
// the moment now.
func (l *layout) dump(records []*record, from, until, now int64) string {
	var b strings.Builder
	l.line(&b, l.columns)
	for _, r := range records {
		eligible := r.submit + r.waitSeconds
		if eligible >= until || r.end != 0 && r.end < from {
			continue
		}
		l.record(&b, r.seenAt(now), now)
	}
	return b.String()
}

// seenAt is the record as it stood at that moment.
func (r record) seenAt(now int64) *record {
	switch {
	case r.start > now || r.start == 0 && (r.end == 0 || r.end > now):
		r.state, r.exit, r.start, r.end, r.suspended = "PENDING", "0:0", 0, 0, 0
	case r.end == 0 || r.end > now:
		r.state, r.exit, r.end, r.suspended = "RUNNING", "0:0", 0, 0
	}
	return &r
}

func (l *layout) line(b *strings.Builder, cells []string) {
	b.WriteString(strings.Join(cells, "|"))
	if l.trailing {
		b.WriteString("|")
	}
	b.WriteString("\n")
}

func (l *layout) record(b *strings.Builder, r *record, now int64) {
	elapsed := r.elapsed(now)
	cells := make([]string, len(l.columns))
	for i, column := range l.columns {
		cells[i] = l.cell(column, r, elapsed)
	}
	l.line(b, cells)
	if l.steps && r.start != 0 && elapsed > 0 {
		for _, s := range r.steps(now) {
			for i, column := range l.columns {
				cells[i] = l.stepCell(column, r, s, now)
			}
			l.line(b, cells)
		}
	}
}

func (r *record) elapsed(now int64) int64 {
	switch {
	case r.start == 0:
		return 0
	case r.end == 0:
		return now - r.start
	}
	return r.end - r.start - r.suspended
}

func (l *layout) cell(column string, r *record, elapsed int64) string {
	allocated := r.start != 0 && r.nodeList != "" // a job refused at submit has a Start too
	switch column {
	case "JobID":
		return r.jobID
	case "JobIDRaw":
		return fmt.Sprint(r.raw)
	case "DBIndex":
		return fmt.Sprint(r.dbIndex)
	case "Cluster":
		return l.cluster
	case "Account":
		return r.account
	case "User":
		return r.user
	case "UID":
		return fmt.Sprint(r.uid)
	case "Group":
		return "users"
	case "Partition":
		return r.partition
	case "QOS":
		return r.qos
	case "WCKey":
		return r.wckey
	case "State":
		return r.state
	case "ExitCode":
		return r.exit
	case "Submit":
		return l.date(r.submit)
	case "Eligible":
		return l.date(r.submit + r.waitSeconds)
	case "Start":
		if r.start == 0 && r.state != "PENDING" {
			return "None"
		}
		return l.date(r.start)
	case "End":
		return l.date(r.end)
	case "Elapsed":
		return duration(elapsed)
	case "ElapsedRaw":
		return fmt.Sprint(elapsed)
	case "Suspended":
		return duration(r.suspended)
	case "Timelimit":
		return duration(r.limitMinutes * 60)
	case "TimelimitRaw":
		return fmt.Sprint(r.limitMinutes)
	case "NNodes":
		return fmt.Sprint(r.nodes)
	case "NCPUS", "AllocCPUS":
		if !allocated && !l.requestedCPUs {
			return "0"
		}
		return fmt.Sprint(r.cpus)
	case "ReqMem":
		return size(r.memoryMiB)
	case "ReqTRES":
		return l.requested(r)
	case "AllocTRES":
		if !allocated {
			return ""
		}
		return l.tres(r, l.billing(r), true)
	case "NodeList":
		if !allocated {
			return "None assigned"
		}
		return r.nodeList
	case "Reservation":
		return r.reservation
	case "Flags":
		if !allocated {
			return "StartReceived"
		}
		return "SchedBackfill,StartReceived"
	case "Restarts":
		return "0"
	case "JobName":
		return r.name
	}
	log.Fatalf("no such column: %s", column)
	return ""
}

func (l *layout) date(t int64) string {
	if t == 0 {
		return "Unknown"
	}
	return time.Unix(t, 0).In(l.zone).Format("2006-01-02T15:04:05")
}

// tres prints what is not zero, ordered as text: gres/gpu:a100=1 stands before
// gres/gpu=1.
func (l *layout) tres(r *record, billing int64, typed bool) string {
	var parts []string
	add := func(key string, n int64) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", key, n))
		}
	}
	add("billing", billing)
	add("cpu", r.cpus)
	if typed && r.gpuType != "" || l.typedOnly {
		add("gres/gpu:"+r.gpuType, r.gpus)
	}
	if !l.typedOnly {
		add("gres/gpu", r.gpus)
	}
	if r.licence != "" {
		add("license/"+r.licence, 1)
	}
	parts = append(parts, "mem="+size(r.memoryMiB))
	add("node", r.nodes)
	sort.Strings(parts)
	return strings.Join(parts, ",")
}

func (l *layout) requested(r *record) string {
	billing := int64(0)
	if l.reqBilling {
		billing = l.billing(r)
	}
	return l.tres(r, billing, false)
}

// size prints MiB as Slurm does: divided by 1024 while the whole part is a
// multiple of 512.
func size(mebibytes int64) string {
	hundredths, unit := mebibytes*100, 0
	for hundredths >= 102400 && hundredths/100%512 == 0 {
		hundredths /= 1024
		unit++
	}
	suffix := "MGTP"[unit : unit+1]
	if hundredths%100 == 0 {
		return fmt.Sprintf("%d%s", hundredths/100, suffix)
	}
	return fmt.Sprintf("%d.%02d%s", hundredths/100, hundredths%100, suffix)
}

func duration(seconds int64) string {
	days, s := seconds/86400, seconds%86400
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
	if days > 0 {
		return fmt.Sprintf("%d-%s", days, text)
	}
	return text
}

// ---- steps

type step struct {
	id, name, state, exit string
	nodes, cpus           int64
	whole                 bool // with billing, as .extern has it
}

// steps are those of a batch job: the script, the outside, and the srun that
// a job of several nodes starts.
func (r *record) steps(now int64) []step {
	state, exit := "COMPLETED", "0:0"
	switch {
	case r.end == 0:
		state = "RUNNING"
	case strings.HasPrefix(r.state, "CANCELLED"), r.state == "TIMEOUT", r.state == "PREEMPTED", r.state == "REQUEUED", r.state == "NODE_FAIL":
		state, exit = "CANCELLED", "0:15"
	case r.state == "FAILED", r.state == "OUT_OF_MEMORY":
		state, exit = r.state, r.exit
	}
	outside := "COMPLETED"
	if r.end == 0 {
		outside = "RUNNING"
	}
	script := step{id: "batch", name: "batch", state: state, exit: exit, nodes: 1, cpus: r.cpus / r.nodes}
	if r.name == "interactive" {
		script.id, script.name = "interactive", "interactive"
	}
	steps := []step{script, {id: "extern", name: "extern", state: outside, exit: "0:0", nodes: r.nodes, cpus: r.cpus, whole: true}}
	if r.nodes > 1 {
		steps = append(steps, step{id: "0", name: "hydra_pmi_proxy", state: state, exit: exit, nodes: r.nodes, cpus: r.cpus})
	}
	return steps
}

// stepCell leaves empty what a step's line leaves empty; its Submit is the
// step's Start.
func (l *layout) stepCell(column string, r *record, s step, now int64) string {
	switch column {
	case "JobID":
		return r.jobID + "." + s.id
	case "JobIDRaw":
		return fmt.Sprintf("%d.%s", r.raw, s.id)
	case "User", "UID", "Partition", "QOS", "WCKey", "Timelimit", "ReqMem", "ReqTRES":
		return ""
	case "Submit", "Eligible":
		return l.date(r.start)
	case "State":
		return s.state
	case "ExitCode":
		return s.exit
	case "JobName":
		return s.name
	case "NNodes":
		return fmt.Sprint(s.nodes)
	case "AllocCPUS":
		return fmt.Sprint(s.cpus)
	case "AllocTRES":
		part := *r
		part.nodes, part.cpus, part.memoryMiB = s.nodes, s.cpus, r.memoryMiB/r.nodes*s.nodes
		part.gpus = r.gpus / r.nodes * s.nodes
		part.licence = ""
		billing := int64(0)
		if s.whole {
			billing, part.licence = l.billing(r), r.licence
		}
		return l.tres(&part, billing, true)
	case "NodeList":
		if s.nodes == 1 {
			return firstNode(r.nodeList)
		}
	}
	return l.cell(column, r, r.elapsed(now))
}

func firstNode(list string) string {
	open := strings.IndexByte(list, '[')
	if open < 0 {
		return list
	}
	return list[:open] + list[open+1:open+1+strings.IndexAny(list[open+1:], "-,]")]
}

// ---- chance

// chance draws with integers alone.
type chance struct{ *rand.Rand }

func newChance(cluster uint64) chance { return chance{rand.New(rand.NewPCG(202603, cluster))} }

// perMille is true n times in a thousand.
func (c chance) perMille(n int) bool { return c.IntN(1000) < n }

func (c chance) between(low, high int64) int64 { return low + c.Int64N(high-low+1) }

func pick[T any](c chance, from []T) T { return from[c.IntN(len(from))] }

// busyHours holds each hour of the day as often as people submit in it.
var busyHours = []int{0, 1, 3, 6, 8, 8, 9, 9, 9, 10, 10, 10, 11, 11, 11, 12, 13, 13, 14, 14, 14, 15, 15, 15, 16, 16, 16, 17, 17, 18, 19, 20, 21, 22, 23}

// submitTime is a moment between 24 February and 2 April.
func (c chance) submitTime() int64 {
	day := c.IntN(38)
	if time.Date(2026, 2, 24+day, 12, 0, 0, 0, newYork).Weekday()%6 == 0 && c.perMille(600) {
		day = c.IntN(38)
	}
	return time.Date(2026, 2, 24+day, pick(c, busyHours), c.IntN(60), c.IntN(60), 0, newYork).Unix()
}

func (c chance) wait() int64 {
	switch n := c.IntN(10); {
	case n < 4:
		return c.between(1, 40)
	case n < 8:
		return c.between(60, 3600)
	}
	return c.between(3600, 12*3600)
}

// run is how long a job lasts that was given limitMinutes.
func (c chance) run(limitMinutes int64) int64 {
	seconds := int64(0)
	switch n := c.IntN(100); {
	case n < 8:
		seconds = c.between(1, 90)
	case n < 40:
		seconds = c.between(90, 3600)
	case n < 85:
		seconds = c.between(3600, 10*3600)
	default:
		seconds = c.between(10*3600, 60*3600)
	}
	if seconds >= limitMinutes*60 {
		return c.between(60, limitMinutes*60-1)
	}
	return seconds
}

var ordinaryNames = []string{
	"run.sh", "relax", "vasp", "gromacs_md", "lammps in.lj", "resnet50", "blast,nr", "align.sh", "snakejob.align.123", "R CMD", "jupyter",
	"interactive", "sys/dash", "wrf_d02", "abaqus_lap", "bootstrap", "mcmc-chain", "train", "infer", "kraken2", "qe.scf", "namd3", "openfoam",
}

// hostileNames are names that users do give, and that a delimiter, a
// spreadsheet, a web page or a terminal would take for something else.
var hostileNames = []string{
	"train|resnet", "=cmd()|' /C calc'!A0", "<script>alert(1)</script>", `a"b`, "it's done", "añadir-σ²", "模型训练", "+1-2", "@SUM(A1:A9)", "-x --y",
	"a;b,c", "  spaces  ", "\x1b[31mred", "tab\there", "caf\xe9", "2026-03-01", "007", "1e5", "[array]", "%j_%a", "../../etc/passwd", "a&b<c>d", "zero\u200bwidth", "x|y|z",
}

func (c chance) name() string {
	if c.perMille(90) {
		return pick(c, hostileNames)
	}
	return pick(c, ordinaryNames)
}

// ---- jobs

// team is an account with the people who submit under it.
type team struct {
	account    string
	users      []string
	uid        int // of the first user
	submitted  int
	arrays     int // of a thousand submissions
	partitions []string
}

// shape fills in what a job of the partition asks for.
type shape func(c chance, r *record)

// submissions draws those of a team.
func (t *team) submissions(c chance, shapes map[string]shape, limits []int64) []submission {
	var all []submission
	for range t.submitted {
		who := c.IntN(len(t.users))
		first := &record{
			user: t.users[who], uid: t.uid + who, account: t.account, partition: pick(c, t.partitions), qos: "normal",
			name: c.name(), limitMinutes: pick(c, limits), submit: c.submitTime(), task: -1, component: -1,
		}
		shapes[first.partition](c, first)
		if !c.perMille(t.arrays) {
			all = append(all, submission{ids: 1, records: c.fate(first, shapes[first.partition])})
			continue
		}
		tasks := int(c.between(4, 24))
		s := submission{ids: tasks}
		for task := range tasks {
			r := *first
			r.task, r.idOffset = task, (task+1)%tasks // the last task keeps the array's own ID
			c.moveOn(&r, shapes[r.partition])
			s.records = append(s.records, c.fate(&r, shapes[first.partition])...)
		}
		all = append(all, s)
	}
	return all
}

// fate lets the job run and end, in one record or, where it is put back into
// the queue, in several.
func (c chance) fate(r *record, again shape) []*record {
	r.start = r.submit + c.wait()
	r.end = r.start + c.run(r.limitMinutes)
	r.state, r.exit = "COMPLETED", "0:0"
	limit := r.limitMinutes * 60
	n := c.IntN(1000)
	switch {
	case n < 790:
	case n < 860:
		r.state, r.exit = "FAILED", pick(c, []string{"1:0", "1:0", "2:0", "9:0", "127:0", "0:11"})
	case n < 900:
		r.state, r.end = "TIMEOUT", r.start+limit+c.between(1, 30)
	case n < 930:
		r.state, r.exit = fmt.Sprintf("CANCELLED by %d", r.uid), "0:0"
	case n < 938:
		r.state = "CANCELLED by 0"
	case n < 965:
		r.state, r.start, r.end, r.nodeList = fmt.Sprintf("CANCELLED by %d", r.uid), 0, r.submit+c.between(5, 7200), ""
	case n < 980:
		r.state, r.exit = "OUT_OF_MEMORY", "0:125"
	case n < 985:
		r.state, r.end, r.exit, r.nodeList = "FAILED", r.submit, "1:0", "" // refused when it was submitted
		r.start = r.submit
	case n < 988:
		r.suspended = c.between(60, 5400)
		r.end += r.suspended
	default:
		return c.requeue(r, pick(c, []string{"NODE_FAIL", "NODE_FAIL", "REQUEUED"}), again)
	}
	if r.partition == "preempt" && r.end > r.start && r.start != 0 && c.perMille(250) {
		return c.requeue(r, "PREEMPTED", again)
	}
	return []*record{r}
}

// requeue closes the run and lets another follow: the same ID, another
// Submit.
func (c chance) requeue(r *record, state string, again shape) []*record {
	r.state, r.exit = state, "0:0"
	next := *r
	next.suspended = 0
	next.submit = r.end + c.between(1, 5)
	next.waitSeconds = 120
	next.start = next.submit + 120 + c.wait()
	next.end = next.start + c.run(r.limitMinutes)
	next.state, next.exit = "COMPLETED", "0:0"
	c.moveOn(&next, again)
	return []*record{r, &next}
}

// moveOn puts a job of one node on another.
func (c chance) moveOn(r *record, again shape) {
	other := *r
	if again(c, &other); r.nodes == 1 && other.nodes == 1 {
		r.nodeList = other.nodeList
	}
}

// nodes names n nodes of a family, as a host list.
func (c chance) nodes(family string, width int, last int64, n int64) string {
	first := c.between(1, last-n)
	number := func(i int64) string { return fmt.Sprintf("%0*d", width, i) }
	switch {
	case n == 1:
		return family + number(first)
	case n == 2 && c.perMille(500):
		return fmt.Sprintf("%s[%s,%s]", family, number(first), number(min(first+3, last)))
	}
	return fmt.Sprintf("%s[%s-%s]", family, number(first), number(first+n-1))
}

// number gives the submissions their IDs, in the order in which they were
// made, and the records their place in the accounting database.
func number(all []submission, firstID uint64, index func(r *record, sequence int) uint64) []*record {
	sort.SliceStable(all, func(i, j int) bool { return all[i].records[0].submit < all[j].records[0].submit })
	var records []*record
	id := firstID
	for _, s := range all {
		for _, r := range s.records {
			r.raw = id + uint64(r.idOffset)
			switch {
			case r.tasks != "":
				r.jobID = fmt.Sprintf("%d_[%s]", id, r.tasks)
			case r.task >= 0:
				r.jobID = fmt.Sprintf("%d_%d", id, r.task)
			case r.component >= 0:
				r.jobID = fmt.Sprintf("%d+%d", id, r.component)
			default:
				r.jobID = fmt.Sprint(id)
			}
			records = append(records, r)
		}
		if s.label != "" {
			fmt.Printf("  %-32s %s\n", s.label, s.records[0].jobID)
		}
		id += uint64(s.ids)
	}
	sort.SliceStable(records, func(i, j int) bool { return records[i].submit < records[j].submit })
	for i, r := range records {
		r.dbIndex = index(r, i)
	}
	return records
}

// one makes a submission of one record.
func one(label string, r record) submission {
	r.task, r.component = -1, -1
	if r.exit == "" {
		r.exit = "0:0"
	}
	if r.qos == "" {
		r.qos = "normal"
	}
	return submission{label: label, ids: 1, records: []*record{&r}}
}

// ---- crc: service units

var crcLayout = layout{
	cluster: "crc",
	columns: strings.Split("JobID|JobIDRaw|DBIndex|Cluster|Account|User|UID|Partition|QOS|State|ExitCode|Submit|Eligible|Start|End|ElapsedRaw|Suspended|"+
		"Timelimit|NNodes|NCPUS|ReqMem|ReqTRES|AllocTRES|NodeList|Reservation|JobName", "|"),
	zone: utc, requestedCPUs: true, billing: crcBilling,
}

// crcBilling is what slurmctld computes, in its own floats, from the weights
// of the partition under MAX_TRES, and truncates.
func crcBilling(r *record) int64 {
	weights := map[string][2]float64{"smp": {0.8, 0.102}, "high-mem": {1, 0.0477}, "mpi": {1, 0.093}, "htc": {1, 0.128}, "preempt": {0, 0}}
	w, cpuOnly := weights[r.partition]
	if !cpuOnly {
		return r.gpus * 8
	}
	return int64(max(float64(r.cpus)*w[0], float64(r.memoryMiB)*(w[1]/1024)))
}

var crcShapes = map[string]shape{
	"smp": func(c chance, r *record) {
		r.nodes, r.cpus = 1, pick(c, []int64{1, 1, 1, 2, 4, 4, 8, 8, 16, 24, 32, 48, 64})
		r.memoryMiB = r.cpus * 4000
		if c.perMille(300) {
			r.memoryMiB = pick(c, []int64{1536, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 240 << 10})
		}
		r.nodeList = c.nodes("smp-n", 1, 132, 1)
	},
	"high-mem": func(c chance, r *record) {
		r.nodes, r.cpus = 1, pick(c, []int64{4, 8, 16, 32, 64})
		r.memoryMiB = pick(c, []int64{256 << 10, 512 << 10, 768 << 10, 1 << 20, 1536 << 10})
		r.nodeList = c.nodes("smp-1024-n", 1, 8, 1)
	},
	"mpi": func(c chance, r *record) {
		r.nodes = pick(c, []int64{2, 2, 2, 4, 4, 8})
		r.cpus, r.memoryMiB = r.nodes*48, r.nodes*192<<10
		r.nodeList = c.nodes("mpi-n", 1, 136, r.nodes)
	},
	"htc": func(c chance, r *record) {
		r.nodes, r.cpus = 1, pick(c, []int64{1, 1, 2, 4, 8, 16})
		r.memoryMiB = r.cpus * pick(c, []int64{4000, 7680, 8000, 12 << 10})
		r.nodeList = c.nodes("htc-n", 1, 46, 1)
	},
	"a100": gpuShape("a100", "gpu-n", 33, 12, 122<<10),
	"l40s": gpuShape("l40s", "gpu-n", 62, 16, 120<<10),
	"preempt": func(c chance, r *record) {
		r.nodes, r.cpus, r.qos = 1, pick(c, []int64{1, 4, 16, 48}), "preempt"
		r.memoryMiB = r.cpus * 4000
		r.nodeList = c.nodes("smp-n", 1, 132, 1)
	},
}

func gpuShape(gpuType, family string, last, cpusPerGPU, memoryPerGPU int64) shape {
	return func(c chance, r *record) {
		r.nodes, r.gpus, r.gpuType = 1, pick(c, []int64{1, 1, 1, 2, 4}), gpuType
		r.cpus, r.memoryMiB = r.gpus*cpusPerGPU, r.gpus*memoryPerGPU
		r.nodeList = c.nodes(family, 1, last, 1)
	}
}

var crcTeams = []team{
	{"chem", []string{"chm11", "chm12", "chm15"}, 20111, 120, 40, []string{"smp", "smp", "smp", "smp", "mpi", "high-mem", "a100", "preempt"}},
	{"chem_spec", []string{"chm21", "chm22"}, 20121, 50, 40, []string{"smp", "smp", "a100"}},
	{"bio", []string{"bio31", "bio32", "bio33", "bio34"}, 20131, 110, 150, []string{"htc", "htc", "htc", "smp", "high-mem"}},
	{"genomics", []string{"gen41", "gen42"}, 20141, 40, 300, []string{"htc", "htc", "high-mem"}},
	{"physics", []string{"phy51", "phy52", "phy53"}, 20151, 130, 40, []string{"mpi", "mpi", "mpi", "smp", "a100", "preempt", "preempt"}},
	{"engr", []string{"eng61", "eng62"}, 20161, 90, 60, []string{"smp", "smp", "mpi", "mpi", "htc"}},
	{"stats", []string{"sta71", "sta72"}, 20171, 70, 350, []string{"smp", "smp", "smp", "htc"}},
	{"neuro", []string{"neu81", "neu82", "neu83"}, 20181, 90, 60, []string{"l40s", "l40s", "l40s", "a100", "smp"}},
	{"matpartner", []string{"mat91"}, 20191, 45, 0, []string{"mpi", "smp", "a100"}},
}

func crcCluster() []*record {
	fmt.Println("crc:")
	c := newChance(1)
	var all []submission
	for i := range crcTeams {
		all = append(all, crcTeams[i].submissions(c, crcShapes, []int64{60, 240, 480, 1440, 1440, 2880, 4320, 8640})...)
	}
	all = append(all, crcExamples()...)
	all = append(all, crcOddities()...)
	all = append(all, crcMonthEnds()...)
	return number(all, 1408211, func(r *record, sequence int) uint64 { return uint64(1391007 + sequence) })
}

// crcExamples are the examples that the centre publishes, as jobs.
func crcExamples() []submission {
	submit := at("2026-03-10 13:59:30", utc)
	job := func(label, partition string, nodes, cpus, memoryMiB, gpus, seconds int64, nodeList string) submission {
		r := record{user: "sta71", uid: 20171, account: "stats", partition: partition, name: "published example", state: "COMPLETED",
			submit: submit, start: submit + 30, end: submit + 30 + seconds, limitMinutes: 240,
			nodes: nodes, cpus: cpus, memoryMiB: memoryMiB, gpus: gpus, nodeList: nodeList}
		if gpus > 0 {
			r.gpuType = partition
		}
		submit += 60
		return one(label, r)
	}
	return []submission{
		job("smp, 4 cores, 16 GB, 2 h", "smp", 1, 4, 16<<10, 0, 7200, "smp-n7"),
		job("smp, 1 core, 64 GB, 2 h", "smp", 1, 1, 64<<10, 0, 7200, "smp-n7"),
		job("a100, 1 GPU, 3 h", "a100", 1, 12, 122<<10, 1, 10800, "gpu-n4"),
		job("htc, 67 cores, 536000M", "htc", 1, 67, 536000, 0, 39*60+49, "htc-n40"),
	}
}

// crcOddities are one of each kind of record that accounting has.
func crcOddities() []submission {
	base := record{user: "eng61", uid: 20161, account: "engr", partition: "smp", name: "openfoam", state: "COMPLETED", limitMinutes: 1440,
		nodes: 1, cpus: 16, memoryMiB: 64000, nodeList: "smp-n12"}
	day := func(text string) int64 { return at(text, utc) }

	resized := base
	resized.partition, resized.nodes, resized.cpus, resized.memoryMiB, resized.nodeList = "mpi", 4, 192, 768<<10, "mpi-n[20-23]"
	resized.state, resized.submit, resized.start, resized.end = "RESIZING", day("2026-03-12 15:00:00"), day("2026-03-12 15:00:10"), day("2026-03-12 16:00:10")
	smaller := resized
	smaller.state, smaller.nodes, smaller.cpus, smaller.memoryMiB, smaller.nodeList = "COMPLETED", 2, 96, 384<<10, "mpi-n[20-21]"
	smaller.submit, smaller.start, smaller.end = resized.end, resized.end, resized.end+7200
	resize := one("resized from 4 nodes to 2", resized)
	resize.records = append(resize.records, one("", smaller).records...)

	leader, second := base, base
	leader.name, second.name = "coupled", "coupled"
	leader.submit, leader.start, leader.end = day("2026-03-17 09:10:00"), day("2026-03-17 09:40:00"), day("2026-03-17 12:40:00")
	second.submit, second.start, second.end = leader.submit, leader.start, leader.end
	second.partition, second.cpus, second.memoryMiB, second.gpus, second.gpuType, second.nodeList = "a100", 24, 244<<10, 2, "a100", "gpu-n9"
	het := one("heterogeneous, two components", leader)
	het.ids, het.records = 2, append(het.records, one("", second).records...)
	het.records[0].component, het.records[1].component, het.records[1].idOffset = 0, 1, 1

	suspended := base
	suspended.submit, suspended.start, suspended.end, suspended.suspended = day("2026-03-19 07:59:00"), day("2026-03-19 08:00:00"), day("2026-03-19 13:30:00"), 5400

	newline := base
	newline.submit, newline.start, newline.end = day("2026-03-20 10:00:00"), day("2026-03-20 10:00:05"), day("2026-03-20 11:00:05")
	newline.name = "line one\nline two"

	reserved := base
	reserved.submit, reserved.start, reserved.end, reserved.reservation = day("2026-03-23 12:00:00"), day("2026-03-23 13:00:00"), day("2026-03-23 19:00:00"), "course-me2060"

	waiting := base
	waiting.submit, waiting.waitSeconds, waiting.tasks, waiting.state = day("2026-04-02 18:20:00"), 0, "7-20%2", "PENDING"

	gh200 := base
	gh200.user, gh200.uid, gh200.account, gh200.partition, gh200.name = "phy52", 20152, "physics", "gh200", "qe.scf"
	gh200.cpus, gh200.memoryMiB, gh200.gpus, gh200.gpuType, gh200.nodeList = 72, 480<<10, 1, "gh200", "gh-n1"
	gh200.submit, gh200.start, gh200.end = day("2026-03-24 14:00:00"), day("2026-03-24 14:00:20"), day("2026-03-24 20:00:20")
	gh200more := gh200
	gh200more.submit, gh200more.start, gh200more.end = day("2026-03-25 14:00:00"), day("2026-03-25 14:01:00"), day("2026-03-25 16:31:00")

	return []submission{
		resize, het, one("suspended for 90 minutes", suspended), one("a line break in its name", newline), one("in a reservation", reserved),
		{label: "an array that waits", ids: 14, records: one("", waiting).records},
		one("gh200, 6 h", gh200), one("gh200, 2.5 h", gh200more),
	}
}

// crcMonthEnds are jobs at both ends of March as New York has it, which are
// 05:00 UTC on 1 March and 04:00 UTC on 1 April.
func crcMonthEnds() []submission {
	base := record{user: "chm11", uid: 20111, account: "chem", partition: "smp", name: "namd3", state: "COMPLETED", limitMinutes: 4320,
		nodes: 1, cpus: 32, memoryMiB: 128000, nodeList: "smp-n31"}
	job := func(label, submit, start, end string) submission {
		r := base
		r.submit, r.start, r.end = at(submit, utc), at(start, utc), at(end, utc)
		return one(label, r)
	}
	lost := job("quarantined until it is mended", "2026-04-01 00:41:00", "2026-04-01 00:55:00", "2026-04-01 02:55:00")
	lost.records[0].name = lostCellName
	return []submission{
		job("ends a second before March", "2026-02-27 20:00:00", "2026-02-27 21:00:00", "2026-03-01 04:59:59"),
		job("ends as March begins", "2026-02-27 20:01:00", "2026-02-27 21:00:00", "2026-03-01 05:00:00"),
		job("running in the first dump", "2026-03-30 18:00:00", "2026-03-30 19:12:00", "2026-04-01 02:30:00"),
		job("ends a second before April", "2026-03-30 18:01:00", "2026-03-31 02:00:00", "2026-04-01 03:59:59"),
		job("ends as April begins", "2026-03-30 18:02:00", "2026-03-31 02:00:00", "2026-04-01 04:00:00"),
		job("goes on into April", "2026-03-31 14:00:00", "2026-03-31 15:00:00", "2026-04-02 09:00:00"),
		lost,
	}
}

// ---- osc: core-hours and GPU-hours

var oscLayout = layout{
	columns: strings.Split("JobID|JobIDRaw|User|UID|Account|Partition|QOS|WCKey|Submit|Eligible|Start|End|Elapsed|Suspended|Timelimit|State|ExitCode|"+
		"NNodes|AllocCPUS|ReqMem|ReqTRES|AllocTRES|NodeList|JobName", "|"),
	zone: newYork, trailing: true, steps: true,
	billing: func(r *record) int64 { return r.cpus }, reqBilling: true,
}

// A node of osc has 28 cores with 4 GB each, a large one 48 with 32 GB each.
const (
	oscCores         = 28
	oscMemoryMiB     = 4 << 10 // a core
	oscHugeMemoryMiB = 32 << 10
)

var oscShapes = map[string]shape{
	"serial": func(c chance, r *record) {
		r.nodes, r.cpus = 1, pick(c, []int64{1, 1, 3, 4, 4, 8, 12, 20, 28})
		r.memoryMiB = r.cpus * oscMemoryMiB
		if c.perMille(300) {
			r.memoryMiB = pick(c, []int64{2 << 10, 12 << 10, 30 << 10, 64 << 10, 100000})
		}
		r.nodeList = c.nodes("p", 4, 240, 1)
	},
	"parallel": func(c chance, r *record) {
		r.nodes = pick(c, []int64{2, 2, 3, 4})
		r.cpus = r.nodes * pick(c, []int64{12, 20, 28, 28})
		r.memoryMiB = r.cpus * oscMemoryMiB
		r.nodeList = c.nodes("p", 4, 240, r.nodes)
	},
	"hugemem": func(c chance, r *record) {
		r.nodes, r.cpus = 1, pick(c, []int64{4, 12, 24, 48})
		r.memoryMiB = r.cpus * oscHugeMemoryMiB
		if c.perMille(400) {
			r.memoryMiB = pick(c, []int64{256 << 10, 512 << 10, 1 << 20, 1536 << 10})
		}
		r.nodeList = c.nodes("h", 4, 12, 1)
	},
	"gpuserial": func(c chance, r *record) {
		r.nodes, r.gpus, r.gpuType = 1, pick(c, []int64{1, 1, 2, 2}), "v100"
		r.cpus = r.gpus * pick(c, []int64{4, 8, 14})
		r.memoryMiB = r.cpus * oscMemoryMiB
		r.nodeList = c.nodes("g", 4, 42, 1)
	},
	"gpuparallel": func(c chance, r *record) {
		r.nodes, r.cpus, r.gpus, r.gpuType = 2, 2*oscCores, 4, "v100"
		r.memoryMiB = r.cpus * oscMemoryMiB
		r.nodeList = c.nodes("g", 4, 42, 2)
	},
}

var oscTeams = []team{
	{"pchm0101", []string{"osu1011", "osu1012"}, 31011, 130, 40, []string{"serial", "serial", "hugemem"}},
	{"pphy0015", []string{"osu1021", "osu1022"}, 31021, 170, 30, []string{"serial", "parallel", "parallel", "gpuserial"}},
	{"pneu0042", []string{"osu1031"}, 31031, 140, 50, []string{"gpuserial", "gpuserial", "gpuserial", "gpuparallel", "serial"}},
	{"pgeo0207", []string{"osu1041", "osu1042"}, 31041, 140, 60, []string{"hugemem", "serial", "parallel"}},
	{"pext0003", []string{"osu1051"}, 31051, 70, 0, []string{"serial", "serial", "gpuserial"}},
}

func oscCluster() []*record {
	fmt.Println("osc:")
	c := newChance(2)
	var all []submission
	for i := range oscTeams {
		all = append(all, oscTeams[i].submissions(c, oscShapes, []int64{60, 240, 600, 1440, 2880, 5760})...)
	}
	for _, s := range all {
		for _, r := range s.records {
			if r.account == "pneu0042" {
				r.wckey = "*imaging" // Slurm's star: assigned by default
			}
			if r.account == "pchm0101" && strings.HasPrefix(r.name, "abaqus") {
				r.licence = "abaqus"
			}
		}
	}
	all = append(all, oscExamples()...)
	return number(all, 3307115, func(*record, int) uint64 { return 0 })
}

// oscExamples are the examples that the centre publishes, and a job across
// the hour that New York skips on 8 March.
func oscExamples() []submission {
	submit := at("2026-03-11 09:59:40", newYork)
	job := func(label, partition string, cpus, memoryMiB, gpus, seconds int64, node string) submission {
		r := record{user: "osu1041", uid: 31041, account: "pgeo0207", partition: partition, name: "published example", state: "COMPLETED",
			submit: submit, start: submit + 20, end: submit + 20 + seconds, limitMinutes: 240,
			nodes: 1, cpus: cpus, memoryMiB: memoryMiB, gpus: gpus, nodeList: node}
		if gpus > 0 {
			r.gpuType = "v100"
		}
		submit += 60
		return one(label, r)
	}
	skipped := job("across the hour that is skipped", "serial", 8, 32<<10, 0, 3*3600, "p0017")
	skipped.records[0].submit = at("2026-03-08 00:20:00", newYork)
	skipped.records[0].start = at("2026-03-08 00:30:00", newYork)
	skipped.records[0].end = skipped.records[0].start + 3*3600
	skipped.records[0].name = "wrf_d02"
	return []submission{
		job("4 cores, 2 h", "serial", 4, 16<<10, 0, 7200, "p0101"),
		job("1 core, 12 GB, 1 h", "serial", 1, 12<<10, 0, 3600, "p0101"),
		job("3 cores, 1 h", "serial", 3, 12<<10, 0, 3600, "p0101"),
		job("8 cores, 2 GPUs, 1 h", "gpuserial", 8, 32<<10, 2, 3600, "g0003"),
		skipped,
	}
}

// ---- ialab: GPU-hours

var ialabLayout = layout{
	cluster: "ialab",
	columns: strings.Split("Cluster|DBIndex|JobIDRaw|JobID|User|UID|Account|Group|Partition|QOS|WCKey|Reservation|Submit|Eligible|Start|End|ElapsedRaw|"+
		"Suspended|TimelimitRaw|State|ExitCode|NNodes|NCPUS|ReqMem|ReqTRES|AllocTRES|NodeList|Flags|Restarts|JobName", "|"),
	zone: utc, typedOnly: true, reqBilling: true,
	billing: func(r *record) int64 { return r.cpus },
}

var ialabLowNodes = []string{"ahsoka", "hydra", "scylla", "ventress", "yodaxico"}

func ialabLow(c chance, r *record) {
	r.nodes, r.gpus, r.gpuType, r.qos = 1, pick(c, []int64{1, 1, 1, 2, 4}), "gtx1080ti", "regular"
	r.cpus, r.memoryMiB = 4*r.gpus, 20<<10*r.gpus
	switch n := c.IntN(100); {
	case n < 12: // more processors than the GPUs carry
		r.cpus *= 2
	case n < 22: // more memory
		r.memoryMiB += pick(c, []int64{10 << 10, 25 << 10, 44 << 10})
	case n < 26: // no GPU at all
		r.gpus, r.gpuType, r.cpus, r.memoryMiB = 0, "", 2, 8<<10
	}
	r.nodeList = pick(c, ialabLowNodes)
}

func ialabHigh(c chance, r *record) {
	r.nodes, r.gpus, r.gpuType, r.qos = 1, pick(c, []int64{1, 1, 2, 4}), "a100", "regular"
	r.cpus, r.memoryMiB = 8*r.gpus, 40<<10*r.gpus
	r.nodeList = pick(c, []string{"antuco", "llaima"})
}

// debugging is a short look at a partition's machines.
func debugging(of shape) shape {
	return func(c chance, r *record) {
		of(c, r)
		r.qos, r.limitMinutes = "debug", pick(c, []int64{15, 30, 60})
	}
}

var ialabShapes = map[string]shape{
	"ialab-low": ialabLow, "ialab-high": ialabHigh, "ialab-low-unlimit": debugging(ialabLow), "ialab-high-unlimit": debugging(ialabHigh),
}

var ialabTeams = []team{
	{"default-account", []string{"vis01", "vis02", "vis03", "vis04"}, 5001, 330, 60,
		[]string{"ialab-low", "ialab-low", "ialab-low", "ialab-high", "ialab-low-unlimit", "ialab-high-unlimit"}},
	{"default-account", []string{"nlp01", "nlp02", "nlp03"}, 5011, 260, 60,
		[]string{"ialab-high", "ialab-high", "ialab-low", "ialab-high-unlimit"}},
	{"default-account", []string{"rob01", "rob02"}, 5021, 170, 30, []string{"ialab-low", "ialab-low", "ialab-low-unlimit", "ialab-high"}},
}

func ialabCluster() []*record {
	fmt.Println("ialab:")
	c := newChance(3)
	var all []submission
	for i := range ialabTeams {
		all = append(all, ialabTeams[i].submissions(c, ialabShapes, []int64{60, 240, 720, 1440, 1440})...)
	}
	all = append(all, ialabExamples()...)
	// Since Slurm 24.11 the place in the database is a number of 64 bits: the
	// cluster, the millisecond and a counter.
	return number(all, 88402, func(r *record, sequence int) uint64 {
		return 2115<<52 | uint64(r.submit*1000+int64(sequence%997))<<10&(1<<52-1) | uint64(sequence%7)
	})
}

func ialabExamples() []submission {
	base := record{user: "rob01", uid: 5021, account: "default-account", partition: "ialab-low", qos: "regular", state: "COMPLETED", limitMinutes: 1440,
		nodes: 1, cpus: 8, memoryMiB: 40 << 10, gpus: 2, gpuType: "gtx1080ti", nodeList: "hydra", name: "published example"}
	base.submit = at("2026-03-12 15:00:00", utc)
	base.start = base.submit + 5
	base.end = base.start + 3600
	all := []submission{one("2 GPUs, 8 CPUs, 40 GB, 1 h", base)}
	// A user whom the roster does not know yet.
	for i, hours := range []int64{1, 3, 6, 2} {
		r := base
		r.user, r.uid, r.name, r.gpus, r.cpus, r.memoryMiB = "nlp09", 5019, "finetune", 1, 4, 20<<10
		r.submit = at("2026-03-18 13:00:00", utc) + int64(i)*86400
		r.start = r.submit + 60
		r.end = r.start + hours*3600
		r.nodeList = "ventress"
		label := ""
		if i == 0 {
			label = "a user not in the roster"
		}
		all = append(all, one(label, r))
	}
	return all
}
