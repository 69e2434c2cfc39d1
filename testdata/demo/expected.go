//go:build ignore

// Expected works out what each group of the demo site used in March 2026, by
// a second way: it shares no line with the program, reads the dumps as plain
// text, has the policies of the three centres written out below and computes
// in fractions.
//
//	go run testdata/demo/expected.go [cmd/hpcbill/demo] > testdata/demo/expected.csv
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"log"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

const assumptions = `# What each group of the demo site used in March 2026, when everything held and
# quarantined has been cleared. Written by expected.go; quantities are exact
# fractions shown to six places, half to even.
#
# - A job belongs to March when its End lies in it as New York has it: from
#   2026-03-01T05:00:00 until before 2026-04-01T04:00:00 UTC. It counts whole.
# - Every end state counts, for as long as the job ran without suspension.
#   Runs of a requeued job, parts of a resized one and components of a
#   heterogeneous one count each. Steps do not count.
# - crc: hours times the largest of cores, GiB of memory and GPUs, each by its
#   weight; preempt is free; gh200 costs 8 SU per GPU and hour, once the rule is
#   in the card. phy53 belongs to bio from 16 March, by the day of End.
# - osc: hours times the larger of cores and memory per core (4 GiB, hugemem
#   32 GiB); on several nodes all 28 cores of each; GPU-hours beside them.
# - ialab: hours times the largest of GPUs, CPUs/4 and GiB/20; nlp09 belongs to
#   nlp, once the roster says so.
# - Storage (the file system stands under cluster): the quota times the days
#   it held of 31, in TB of 10^12 bytes; archive in TiB.
`

type key struct{ group, cluster, meter string }

// run is a line of an allocation, with the cells by name.
type run map[string]string

func main() {
	log.SetFlags(0)
	dir := "cmd/hpcbill/demo"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	totals := map[key]*big.Rat{}
	count := map[string]int{}
	for _, cluster := range []string{"crc", "osc", "ialab"} {
		for _, r := range runs(dir, cluster) {
			charge(totals, count, cluster, r)
		}
	}
	storage(totals, filepath.Join(dir, "site/storage.csv"))

	var keys []key
	for k := range totals {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := keys[i], keys[j]
		return a.group+"\x00"+a.cluster+"\x00"+a.meter < b.group+"\x00"+b.cluster+"\x00"+b.meter
	})
	fmt.Print(assumptions, "#\n")
	fmt.Printf("# jobs that ended in March: %d charged, %d excluded (preempt), %d never started\n", count["charged"], count["excluded"], count["never started"])
	fmt.Printf("# of the charged, held or quarantined until cleared: %d\n", count["cleared"])
	fmt.Println("group,cluster,meter,quantity")
	for _, k := range keys {
		fmt.Printf("%s,%s,%s,%s\n", k.group, k.cluster, k.meter, sixPlaces(totals[k]))
	}
}

// runs gives the newest line of every allocation of the cluster's dumps; a
// mended dump stands in for the one of the same name.
func runs(dir, cluster string) map[string]run {
	files, err := filepath.Glob(filepath.Join(dir, "site/dumps", cluster, "*.txt.gz"))
	if err != nil || len(files) == 0 {
		log.Fatalf("no dumps of %s: %v", cluster, err)
	}
	newest := map[string]run{}
	for _, file := range files {
		mended := filepath.Join(dir, "clear", filepath.Base(file))
		if _, err := os.Stat(mended); err == nil && cluster == "crc" {
			file = mended
		}
		for _, r := range lines(file) {
			if strings.Contains(r["JobID"], ".") {
				continue // a step
			}
			id := r["JobIDRaw"] + " " + r["Submit"]
			if old, seen := newest[id]; !seen || old["End"] == "Unknown" {
				newest[id] = r
			} else if r["End"] != "Unknown" && r["End"] != old["End"] {
				log.Fatalf("%s: %s ends twice", file, id)
			}
		}
	}
	return newest
}

// beginning is how a record begins: its JobID, or the cluster and the JobID.
var beginning = regexp.MustCompile(`^(ialab\|)?[0-9]`)

// lines reads a dump whose last column is the job's name, which may hold the
// delimiter and line breaks.
func lines(file string) []run {
	f, err := os.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	text := bufio.NewScanner(z)
	var header []string
	var all []run
	for text.Scan() {
		switch line := text.Text(); {
		case header == nil:
			header = strings.Split(strings.TrimSuffix(line, "|"), "|")
		case beginning.MatchString(line):
			r := run{}
			for i, cell := range strings.SplitN(line, "|", len(header)) {
				r[header[i]] = cell
			}
			all = append(all, r)
		}
	}
	if text.Err() != nil {
		log.Fatal(text.Err())
	}
	return all
}

func charge(totals map[key]*big.Rat, count map[string]int, cluster string, r run) {
	from, until := "2026-03-01T05:00:00", "2026-04-01T04:00:00" // UTC
	if cluster == "osc" {
		from, until = "2026-03-01T00:00:00", "2026-04-01T00:00:00" // New York
	}
	end := r["End"]
	switch {
	case end == "Unknown" || end < from || end >= until:
		return
	case r["AllocTRES"] == "": // cancelled before it started, or refused
		if seconds(r) > 0 {
			log.Fatalf("job %s ran on nothing", r["JobID"])
		}
		count["never started"]++
		return
	case r["Partition"] == "preempt":
		count["excluded"]++
		return
	}
	count["charged"]++
	if r["User"] == "nlp09" || r["Partition"] == "gh200" || strings.HasPrefix(r["JobName"], "sweep|") {
		count["cleared"]++
	}
	hours := big.NewRat(seconds(r), 3600)
	add := func(meter string, rate *big.Rat) {
		k := key{groupOf(cluster, r), cluster, meter}
		if totals[k] == nil {
			totals[k] = new(big.Rat)
		}
		totals[k].Add(totals[k], new(big.Rat).Mul(rate, hours))
	}
	a := allocated(r)
	switch cluster {
	case "crc":
		add("su", serviceUnits(r["Partition"], a))
	case "osc":
		add("core_hours", cores(r["Partition"], a))
		if a.gpus.Sign() > 0 {
			add("gpu_hours", a.gpus)
		}
	case "ialab":
		add("gpu_hours", largest(a.gpus, times(a.cpus, "1/4"), times(a.gib, "1/20")))
	}
}

func seconds(r run) int64 {
	var n, days, h, m, s int64
	if raw, ok := r["ElapsedRaw"]; ok {
		if _, err := fmt.Sscanf(raw, "%d", &n); err != nil {
			log.Fatalf("elapsed %q: %v", raw, err)
		}
		return n
	}
	clock := r["Elapsed"]
	if before, after, long := strings.Cut(clock, "-"); long {
		fmt.Sscanf(before, "%d", &days)
		clock = after
	}
	if _, err := fmt.Sscanf(clock, "%d:%d:%d", &h, &m, &s); err != nil {
		log.Fatalf("elapsed %q: %v", clock, err)
	}
	return ((days*24+h)*60+m)*60 + s
}

// resources are what was allocated.
type resources struct{ cpus, gib, gpus, nodes *big.Rat }

func allocated(r run) resources {
	a := resources{new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)}
	typed := new(big.Rat)
	untyped := false
	for _, part := range strings.Split(r["AllocTRES"], ",") {
		name, value, _ := strings.Cut(part, "=")
		switch {
		case name == "cpu":
			a.cpus = fraction(value)
		case name == "node":
			a.nodes = fraction(value)
		case name == "gres/gpu":
			a.gpus, untyped = fraction(value), true
		case strings.HasPrefix(name, "gres/gpu:"):
			typed.Add(typed, fraction(value))
		case name == "mem":
			perUnit := map[byte]string{'M': "1/1024", 'G': "1", 'T': "1024"}[value[len(value)-1]]
			a.gib = times(fraction(value[:len(value)-1]), perUnit)
		}
	}
	if !untyped {
		a.gpus = typed
	}
	return a
}

func serviceUnits(partition string, a resources) *big.Rat {
	switch partition {
	case "smp":
		return largest(times(a.cpus, "0.8"), times(a.gib, "0.102"))
	case "high-mem":
		return largest(a.cpus, times(a.gib, "0.0477"))
	case "mpi":
		return largest(a.cpus, times(a.gib, "0.093"))
	case "htc":
		return largest(a.cpus, times(a.gib, "0.128"))
	case "a100", "l40s", "gh200":
		return times(a.gpus, "8")
	}
	log.Fatalf("no weights for %s", partition)
	return nil
}

func cores(partition string, a resources) *big.Rat {
	if a.nodes.Cmp(fraction("1")) > 0 {
		return times(a.nodes, "28")
	}
	switch partition {
	case "serial", "parallel", "gpuserial", "gpuparallel":
		return largest(a.cpus, times(a.gib, "1/4"))
	case "hugemem":
		return largest(a.cpus, times(a.gib, "1/32"))
	}
	log.Fatalf("no nodes for %s", partition)
	return nil
}

func groupOf(cluster string, r run) string {
	account, user := r["Account"], r["User"]
	switch {
	case cluster == "ialab" && strings.HasPrefix(user, "vis"):
		return "vision"
	case cluster == "ialab" && strings.HasPrefix(user, "nlp"):
		return "nlp"
	case cluster == "ialab" && strings.HasPrefix(user, "rob"):
		return "robotics"
	case cluster == "crc" && user == "phy53" && r["End"] >= "2026-03-16T04:00:00":
		return "bio"
	}
	group, ok := map[string]string{
		"chem": "chem", "chem_spec": "chem", "pchm0101": "chem", "bio": "bio", "genomics": "bio", "physics": "physics", "pphy0015": "physics",
		"engr": "engr", "stats": "stats", "neuro": "neuro", "pneu0042": "neuro", "pgeo0207": "geo",
		"matpartner": "materials-partner", "pext0003": "materials-partner",
	}[account]
	if !ok {
		log.Fatalf("no group for %s on %s", account, cluster)
	}
	return group
}

// storage adds the quotas by the days of March on which they held.
func storage(totals map[key]*big.Rat, file string) {
	f, err := os.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		log.Fatal(err)
	}
	rows = rows[1:]
	for i, row := range rows {
		group, filesystem, from, until := row[0], row[1], day(row[2]), time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
		if row[3] != "" {
			until = earlier(until, day(row[3]))
		} else if i+1 < len(rows) && rows[i+1][0] == group && rows[i+1][1] == filesystem {
			until = earlier(until, day(rows[i+1][2]))
		}
		if begin := day("2026-03-01"); from.Before(begin) {
			from = begin
		}
		days := int64(until.Sub(from) / (24 * time.Hour))
		number, unit, _ := strings.Cut(row[4], " ")
		meter, perUnit := "storage", map[string]string{"TB": "1", "GB": "1/1000"}[unit]
		if filesystem == "archive" {
			meter, perUnit = "archive", map[string]string{"TiB": "1"}[unit]
		}
		if perUnit == "" {
			log.Fatalf("%s: unit %q on %s", file, unit, filesystem)
		}
		k := key{group, filesystem, meter}
		if totals[k] == nil {
			totals[k] = new(big.Rat)
		}
		held := new(big.Rat).Mul(times(fraction(number), perUnit), big.NewRat(max(days, 0), 31))
		totals[k].Add(totals[k], held)
	}
}

func day(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		log.Fatal(err)
	}
	return t
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func fraction(text string) *big.Rat {
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		log.Fatalf("not a number: %q", text)
	}
	return x
}

func times(x *big.Rat, by string) *big.Rat { return new(big.Rat).Mul(x, fraction(by)) }

func largest(xs ...*big.Rat) *big.Rat {
	m := xs[0]
	for _, x := range xs[1:] {
		if x.Cmp(m) > 0 {
			m = x
		}
	}
	return m
}

// sixPlaces rounds half to even.
func sixPlaces(x *big.Rat) string {
	scaled := new(big.Rat).Mul(x, big.NewRat(1_000_000, 1))
	quotient, rest := new(big.Int).QuoRem(scaled.Num(), scaled.Denom(), new(big.Int))
	switch rest.Lsh(rest, 1).Cmp(scaled.Denom()) {
	case 1:
		quotient.Add(quotient, big.NewInt(1))
	case 0:
		quotient.Add(quotient, new(big.Int).SetUint64(uint64(quotient.Bit(0))))
	}
	digits := quotient.String()
	digits = strings.Repeat("0", max(0, 7-len(digits))) + digits
	return digits[:len(digits)-6] + "." + digits[len(digits)-6:]
}
