package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// madeDump is a dump of n jobs like a real cluster's: few accounts and
// partitions, many users, a name and an id of its own for every job.
func madeDump(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	b.WriteString("JobID|JobIDRaw|DBIndex|Cluster|Account|User|UID|Partition|QOS|State|ExitCode|Submit|Eligible|Start|End|" +
		"ElapsedRaw|Suspended|Timelimit|NNodes|NCPUS|ReqMem|ReqTRES|AllocTRES|NodeList|Reservation|JobName\n")
	partitions := []string{"smp", "htc", "mpi", "a100", "preempt", "high-mem"}
	states := []string{"COMPLETED", "COMPLETED", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 20123"}
	programs := []string{"gromacs_md", "train resnet", "lammps in.lj", "interactive", "R CMD", "sys/dash|1"}
	stamp := func(day, second int) string {
		return fmt.Sprintf("2025-10-%02dT%02d:%02d:%02d", day, second/3600, second/60%60, second%60)
	}
	for i := range n {
		cpus := 1 << random.IntN(6)
		day, second, run := 1+i*20/n, random.IntN(40000), random.IntN(40000)
		tres := fmt.Sprintf("cpu=%d,mem=%dM,node=1", cpus, cpus*4000)
		user := random.IntN(500)
		fmt.Fprintf(&b, "%d|%d|%d|lab|bio_g%02d|u%04d|%d|%s|normal|%s|0:0|%s|%s|%s|%s|%d|00:00:00|1-00:00:00|1|%d|%dM|%s|billing=%d,%s|cpu%d||%s\n",
			i+1000, i+1000, i+500, user%64, user, 20000+user, partitions[random.IntN(len(partitions))], states[random.IntN(len(states))],
			stamp(day, second), stamp(day, second), stamp(day, second), stamp(day, second+run), run, cpus, cpus*4000,
			tres, cpus, tres, 1+random.IntN(7), programs[random.IntN(len(programs))])
	}
	return b.Bytes()
}

// labText is a real dump's text, or nil where it is not there.
func labText(b *testing.B) []byte {
	b.Helper()
	z, err := gzip.NewReader(external(b, labDir, "sacct-2025-11.txt.gz"))
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// BenchmarkParse is the parser alone: text in memory to Jobs, one goroutine.
func BenchmarkParse(b *testing.B) {
	b.Run("made", func(b *testing.B) { benchmarkParse(b, madeDump(100000)) })
	b.Run("lab", func(b *testing.B) { benchmarkParse(b, labText(b)) })
	b.Run("json", func(b *testing.B) { benchmarkParseJSON(b, madeAnswer(10000)) })
	b.Run("json-indented", func(b *testing.B) { benchmarkParseJSON(b, indented(b, madeAnswer(10000))) })
}

// indented is an answer as sacct prints it.
func indented(b *testing.B, answer []byte) []byte {
	b.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, answer, "", "  "); err != nil {
		b.Fatal(err)
	}
	return out.Bytes()
}

func benchmarkParseJSON(b *testing.B, text []byte) {
	whole := string(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	jobs, before := int64(0), measure()
	for b.Loop() {
		p := newParser("dump", Options{}, func(batch []Job) ([]Job, error) { return batch[:0], nil })
		p.batch = make([]Job, 0, batchJobs)
		if err := p.parseJSON(inBlocks(whole, blockBytes)); err != nil {
			b.Fatal(err)
		}
		if err := p.finish(); err != nil {
			b.Fatal(err)
		}
		jobs += p.report.Jobs
	}
	before.report(b, jobs)
}

// inBlocks gives out a text in blocks of n bytes.
func inBlocks(text string, n int) func() (block, error) {
	return func() (block, error) {
		first := text[:min(n, len(text))]
		text = text[len(first):]
		return block{text: first, last: text == ""}, nil
	}
}

func benchmarkParse(b *testing.B, text []byte) {
	whole := string(text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	jobs, before := int64(0), measure()
	for b.Loop() {
		p := newParser("dump", Options{}, func(batch []Job) ([]Job, error) { return batch[:0], nil })
		p.batch = make([]Job, 0, batchJobs)
		for rest := whole; rest != ""; {
			n := len(rest)
			if n > blockBytes {
				n = strings.LastIndexByte(rest[:blockBytes], '\n') + 1
			}
			if _, err := p.parse(rest[:n], n == len(rest)); err != nil {
				b.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := p.finish(); err != nil {
			b.Fatal(err)
		}
		jobs += p.report.Jobs
	}
	before.report(b, jobs)
}

// BenchmarkReader is the whole Reader: bytes as stored to batches, their
// digest and what unpacks them included.
func BenchmarkReader(b *testing.B) {
	text := madeDump(100000)
	b.Run("text", func(b *testing.B) { benchmarkReader(b, text, len(text)) })
	b.Run("gzip", func(b *testing.B) { benchmarkReader(b, gzipped(string(text)), len(text)) })
	b.Run("lab", func(b *testing.B) { text := labText(b); benchmarkReader(b, text, len(text)) })
	answer := madeAnswer(10000)
	b.Run("json", func(b *testing.B) { benchmarkReader(b, answer, len(answer)) })
	answer = indented(b, answer)
	b.Run("json-indented", func(b *testing.B) { benchmarkReader(b, answer, len(answer)) })
}

// madeAnswer is an answer of sacct --json with n jobs.
func madeAnswer(n int) []byte {
	const number = `{"set": true, "infinite": false, "number": %d}`
	one := fmt.Sprintf(`{"job_id": @, "array": {"job_id": 0, "task_id": %[1]s, "task": ""}, "het": {"job_id": 0, "job_offset": %[1]s},
		"association": {"account": "bio", "cluster": "lab", "partition": "", "user": "u1", "id": 1}, "cluster": "lab", "account": "bio",
		"comment": {"administrator": "", "job": "", "system": ""}, "exit_code": {"status": ["SUCCESS"], "return_code": %[1]s},
		"flags": ["STARTED_ON_SCHEDULE", "START_RECEIVED"], "user": "u1", "group": "g", "partition": "smp", "qos": "normal", "name": "train",
		"required": {"CPUs": 4, "memory_per_cpu": %[1]s, "memory_per_node": %[1]s}, "priority": %[1]s, "reservation": {"id": 0, "name": ""},
		"time": {"elapsed": 3600, "eligible": 1740988800, "end": 1740996000, "start": 1740992400, "submission": 1740988800, "suspended": 0,
			"limit": {"set": true, "infinite": false, "number": 60}, "system": {"seconds": 0, "microseconds": 0}},
		"state": {"current": ["COMPLETED"], "reason": "None"}, "tres": {
			"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 4}, {"type": "mem", "name": "", "id": 2, "count": 8192},
				{"type": "energy", "name": "", "id": 3, "count": -2}, {"type": "node", "name": "", "id": 4, "count": 1}],
			"requested": [{"type": "cpu", "name": "", "id": 1, "count": 4}, {"type": "node", "name": "", "id": 4, "count": 1}]},
		"nodes": "cpu1", "submit_line": "sbatch run.sh", "wckey": {"wckey": "", "flags": []}, "working_directory": "/home/u1", "steps": []}`,
		strings.Replace(fmt.Sprintf(number, 0), "true", "false", 1))
	before, after, _ := strings.Cut(one, "@")
	var b bytes.Buffer
	b.WriteString(`{"jobs": [`)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s%d%s", before, i+1, after)
	}
	b.WriteString(`], "meta": {"plugin": {"data_parser": "data_parser/v0.0.41"}}, "errors": [], "warnings": []}`)
	return b.Bytes()
}

func benchmarkReader(b *testing.B, stored []byte, textBytes int) {
	b.SetBytes(int64(textBytes))
	b.ReportAllocs()
	jobs, before := int64(0), measure()
	for b.Loop() {
		r, err := Open("dump", bytes.NewReader(stored), Options{})
		if err != nil {
			b.Fatal(err)
		}
		for batch, err := range r.Batches() {
			if err != nil {
				b.Fatal(err)
			}
			jobs += int64(len(batch))
		}
	}
	before.report(b, jobs)
}
