package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"hpcbill/ingest"
)

// request is what somebody asks a cluster for.
type request struct {
	cluster, partition, qos, account string
	reservation, wckey, nodeList     string
	licenses, gres                   []resource // gres without GPUs
	name                             string     // of the job
	nodes, cpus, gpus                int64      // 0 = not said
	gpuType                          string
	memoryMiB                        int64 // in all; 0 = not said
	seconds                          int64
}

// The limits of a request: what is beyond them is a slip of the keyboard.
const (
	mostOfAnything  = 1_000_000_000
	secondsOfMinute = 60
)

func (r request) check() error {
	var errs []error
	missing := func(flag string) {
		errs = append(errs, usageError{fmt.Errorf("--%s is missing", flag), "see hpcbill help estimate"})
	}
	if r.cluster == "" {
		missing("cluster")
	}
	if r.partition == "" {
		missing("partition")
	}
	if r.seconds == 0 {
		missing("time")
	}
	for _, n := range []int64{r.nodes, r.cpus, r.gpus, r.memoryMiB} {
		if n < 0 || n > mostOfAnything {
			errs = append(errs, usageError{fmt.Errorf("%d is no number to ask for", n), ""})
		}
	}
	for _, res := range r.gres {
		if res.count > mostOfAResource {
			errs = append(errs, usageError{fmt.Errorf("so many of %s is no number to ask for", res.name), ""})
		}
	}
	return errors.Join(errs...)
}

// overriddenBy gives the request with what flags say in its place.
func (r request) overriddenBy(f request) request {
	text := func(mine *string, flag string) {
		if flag != "" {
			*mine = flag
		}
	}
	number := func(mine *int64, flag int64) {
		if flag != 0 {
			*mine = flag
		}
	}
	text(&r.cluster, f.cluster)
	text(&r.partition, f.partition)
	text(&r.qos, f.qos)
	text(&r.account, f.account)
	text(&r.reservation, f.reservation)
	text(&r.wckey, f.wckey)
	text(&r.nodeList, f.nodeList)
	text(&r.name, f.name)
	text(&r.gpuType, f.gpuType)
	number(&r.nodes, f.nodes)
	number(&r.cpus, f.cpus)
	number(&r.gpus, f.gpus)
	number(&r.memoryMiB, f.memoryMiB)
	number(&r.seconds, f.seconds)
	if f.licenses != nil {
		r.licenses = f.licenses
	}
	if f.gres != nil {
		r.gres = f.gres
	}
	return r
}

// String says the request in words.
func (r request) String() string {
	parts := []string{count(max(1, r.cpus), "CPU")}
	if r.memoryMiB > 0 {
		parts = append(parts, memoryText(r.memoryMiB))
	}
	if r.gpus > 0 {
		parts = append(parts, strings.TrimSpace(count(r.gpus, "GPU")+" "+r.gpuType))
	}
	if r.nodes > 1 {
		parts = append(parts, count(r.nodes, "node"))
	}
	return strings.Join(parts, ", ") + " for " + hours(r.seconds) + " h"
}

func memoryText(mib int64) string {
	if mib%1024 == 0 {
		return grouped(mib/1024) + " GiB"
	}
	return grouped(mib) + " MiB"
}

// job is the request as Slurm would record it, had it got just that.
func (r request) job(start ingest.Instant) ingest.Job {
	nodes, cpus := max(1, r.nodes), max(1, r.cpus)
	memory := ingest.Unknown
	tres := fmt.Sprintf("cpu=%d,node=%d", cpus, nodes)
	if r.gpus > 0 {
		tres += asTRES("gres/", []resource{{gpuName, r.gpuType, r.gpus}})
	}
	if r.memoryMiB > 0 {
		memory = r.memoryMiB
		tres += fmt.Sprintf(",mem=%dM", r.memoryMiB)
	}
	tres += asTRES("license/", r.licenses) + asTRES("gres/", r.gres)
	name := r.name
	if name == "" {
		name = "estimate"
	}
	qos := r.qos
	if qos == "" {
		qos = "normal"
	}
	return ingest.Job{
		Cluster: r.cluster, JobID: "estimate", JobIDRaw: 1, User: "estimate", Account: strings.ToLower(r.account), // as Slurm keeps it
		Partition: r.partition, QoS: qos, WCKey: r.wckey, Reservation: r.reservation, NodeList: r.nodeList, Name: name, State: ingest.Completed,
		Submit: start, Eligible: start, Start: start, End: start + ingest.Instant(r.seconds),
		ElapsedSeconds: r.seconds, TimelimitSeconds: r.seconds,
		NodeCount: nodes, CPUs: cpus, MemoryMiB: memory, GPUs: r.gpus, Billing: ingest.Unknown,
		ReqNodeCount: nodes, ReqCPUs: cpus, ReqMemoryMiB: memory, ReqGPUs: r.gpus,
		AllocTRES: tres, ReqTRES: tres,
	}
}

// setTime reads a time as sbatch does: minutes, M:SS, H:MM:SS, D-HH, D-HH:MM
// or D-HH:MM:SS.
func (r *request) setTime(text string) error {
	if text == "" {
		return nil
	}
	bad := usageError{fmt.Errorf("--time: %q is not a time", text), "write minutes, H:MM:SS or D-HH:MM:SS"}
	days, clock, dashed := strings.Cut(text, "-")
	if !dashed {
		days, clock = "0", text
	}
	parts := strings.Split(clock, ":")
	numbers := make([]int64, len(parts))
	for i, p := range append(parts, days) {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil || n < 0 {
			return bad
		}
		if i < len(parts) {
			numbers[i] = n
		} else {
			r.seconds = n * 24 * 3600
		}
	}
	units := []int64{3600, secondsOfMinute, 1}
	switch {
	case len(numbers) > len(units):
		return bad
	case !dashed && len(numbers) < len(units):
		units = units[1:] // "90" is minutes, "90:30" minutes and seconds
	}
	for i, n := range numbers {
		r.seconds += n * units[i]
	}
	return nil
}

func (r *request) setMemory(text string) error {
	if text == "" {
		return nil
	}
	mib, err := memoryMiB(text)
	if err != nil {
		return usageError{fmt.Errorf("--mem: %w", err), "write a whole number with K, M, G or T; M where no unit is given"}
	}
	r.memoryMiB = mib
	return nil
}

// memoryMiB reads 4000, 4000M, 16G, 1T; kibibytes are rounded up, as Slurm
// does.
func memoryMiB(text string) (int64, error) {
	digits := strings.TrimRight(strings.ToUpper(strings.TrimSuffix(strings.ToUpper(text), "B")), "KMGT")
	n, err := strconv.ParseInt(digits, 10, 48)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no amount of memory", text)
	}
	switch strings.TrimPrefix(strings.TrimSuffix(strings.ToUpper(text), "B"), digits) {
	case "K":
		return (n + 1023) / 1024, nil
	case "", "M":
		return n, nil
	case "G":
		return n << 10, nil
	case "T":
		return n << 20, nil
	}
	return 0, fmt.Errorf("%q is no amount of memory", text)
}

// sbatchOptions are the options of #SBATCH lines that a price can hang on, by
// their long names.
var sbatchOptions = map[string]string{
	"-p": "partition", "-q": "qos", "-A": "account", "-M": "clusters", "-N": "nodes", "-n": "ntasks",
	"-c": "cpus-per-task", "-t": "time", "-G": "gpus", "-w": "nodelist", "-L": "licenses", "-J": "job-name",
}

// parseScript reads the #SBATCH lines of a batch script. Options that no price
// hangs on are passed over; one that it cannot read is an error.
func parseScript(file, text string) (request, error) {
	s := script{values: map[string]string{}, lines: map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			break // sbatch reads no further than the first command
		}
		if rest, ok := strings.CutPrefix(trimmed, "#SBATCH"); ok {
			s.take(rest, i+1)
		}
	}
	r, err := s.request()
	if err != nil {
		var at *optionError
		errors.As(err, &at)
		return r, inputError{fmt.Errorf("%s:%d: %w", file, s.lines[at.option], at), at.hint}
	}
	return r, nil
}

// script is what the #SBATCH lines said, by long option.
type script struct {
	values map[string]string
	lines  map[string]int
}

// take reads one line: "--mem=16G", "--mem 16G", "-c4", "-c 4".
func (s *script) take(rest string, line int) {
	rest, _, _ = strings.Cut(rest, " #")
	fields := strings.Fields(rest)
	for i := 0; i < len(fields); i++ {
		name, value, joined := fields[i], "", false
		if strings.HasPrefix(name, "--") {
			name, value, joined = strings.Cut(strings.TrimPrefix(name, "--"), "=")
		} else if len(name) >= 2 {
			long, known := sbatchOptions[name[:2]]
			if !known {
				long = ""
			}
			name, value = long, strings.TrimPrefix(name[2:], "=")
			joined = value != ""
		}
		if !joined && i+1 < len(fields) && !strings.HasPrefix(fields[i+1], "-") {
			i++
			value = fields[i]
		}
		if name != "" {
			s.values[name], s.lines[name] = value, line
		}
	}
}

// number reads an option that is a count, 0 where it is not given; "2-4" nodes
// are at least 2.
func (s *script) number(option string) (int64, error) {
	text, given := s.values[option]
	if !given {
		return 0, nil
	}
	text, _, _ = strings.Cut(text, "-")
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, &optionError{option, fmt.Sprintf("%q is no number", s.values[option]), ""}
	}
	return n, nil
}

// request works out totals as sbatch does: tasks × CPUs of a task, memory of
// a CPU or a node × their number, GPUs of a node, a task or in all.
func (s *script) request() (r request, err error) {
	r = request{cluster: s.values["clusters"], partition: s.values["partition"], qos: s.values["qos"], account: s.values["account"],
		reservation: s.values["reservation"], wckey: s.values["wckey"], nodeList: s.values["nodelist"], name: s.values["job-name"]}
	numbers := map[string]int64{}
	for _, option := range []string{"nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "cpus-per-gpu"} {
		if numbers[option], err = s.number(option); err != nil {
			return r, err
		}
	}
	r.nodes = max(1, numbers["nodes"])
	tasks := numbers["ntasks"]
	if tasks == 0 {
		tasks = product(r.nodes, max(1, numbers["ntasks-per-node"]))
	}
	if err := s.resources(&r, tasks); err != nil {
		return r, err
	}
	r.cpus = product(tasks, max(1, numbers["cpus-per-task"]))
	if n := numbers["cpus-per-gpu"]; n > 0 {
		r.cpus = max(r.cpus, product(n, r.gpus))
	}
	if err := s.memory(&r); err != nil {
		return r, err
	}
	if text, given := s.values["time"]; given {
		if r.setTime(text) != nil {
			return r, &optionError{"time", fmt.Sprintf("%q is not a time", text), "minutes, H:MM:SS or D-HH:MM:SS"}
		}
	}
	return r, nil
}

// resources reads --gres, --gpus and its kin, and --licenses.
func (s *script) resources(r *request, tasks int64) error {
	for _, unread := range []string{"gpus-per-socket", "tres-per-task"} {
		if s.values[unread] != "" {
			return &optionError{unread, "is not read by estimate, and may cost", "say it with --gpus-per-node, --gpus-per-task or --gres"}
		}
	}
	for _, way := range []struct {
		option string
		read   func(option, list string) ([]resource, error)
		times  int64
	}{
		{"gres", readGres, r.nodes}, {"gpus-per-task", readGPUs, tasks}, {"gpus-per-node", readGPUs, r.nodes}, {"gpus", readGPUs, 1},
	} {
		all, err := way.read(way.option, s.values[way.option])
		if err == nil {
			err = r.addGres(way.option, all, way.times)
		}
		if err != nil {
			return err
		}
	}
	var err error
	r.licenses, err = readLicenses("licenses", s.values["licenses"])
	return err
}

func (s *script) memory(r *request) error {
	for _, m := range []struct {
		option string
		times  int64
	}{{"mem", r.nodes}, {"mem-per-cpu", r.cpus}, {"mem-per-gpu", r.gpus}} {
		text, given := s.values[m.option]
		if !given {
			continue
		}
		mib, err := memoryMiB(text)
		if err != nil {
			return &optionError{m.option, err.Error(), "write a whole number with K, M, G or T"}
		}
		r.memoryMiB = product(mib, m.times)
	}
	return nil
}
