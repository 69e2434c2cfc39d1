package ingest

import (
	"cmp"
	"strings"
)

// jsonJob is a job of an answer, in any shape that data parsers from v0.0.37
// on have given it. One serves for all jobs of an answer in turn.
type jsonJob struct {
	id, nodeCount                                              jsonNumber
	sluid, name, cluster, account, user, partition, qos, nodes jsonText
	killer                                                     jsonText // kill_request_user: a name, where text has a uid

	association, wckey, reservation             presence
	associationUser, wckeyName, reservationName jsonText
	array, het                                  presence
	arrayID, arrayTask, hetID, hetOffset        jsonNumber
	arrayTasks                                  jsonText
	state                                       presence
	words                                       jsonWords // state.current
	time                                        presence
	submission, eligible, start, end            jsonNumber
	elapsed, suspended, limit                   jsonNumber
	tres                                        presence
	allocated, requested                        jsonTRES
	steps                                       jsonSteps
	jobState                                    presence // slurmctld's, not accounting's
}

// read reads the job at hand.
func (j *jsonJob) read(s *scanner) {
	*j = jsonJob{
		words: jsonWords{list: j.words.list[:0]}, steps: jsonSteps{starts: j.steps.starts[:0]},
		allocated: j.allocated.emptied(), requested: j.requested.emptied(),
	}
	s.odd, s.name = nil, ""
	if s.is('{', "") {
		s.members(func(name string) { j.member(s, name) })
	}
}

// member reads a member of the job.
func (j *jsonJob) member(s *scanner, name string) {
	switch name {
	case "job_id":
		j.id.read(s)
	case "allocation_nodes":
		j.nodeCount.read(s)
	case "sluid":
		j.sluid.read(s)
	case "name":
		j.name.read(s)
	case "cluster":
		j.cluster.read(s)
	case "account":
		j.account.read(s)
	case "user":
		j.user.read(s)
	case "partition":
		j.partition.read(s)
	case "qos":
		j.qos.read(s)
	case "nodes":
		j.nodes.read(s)
	case "kill_request_user":
		j.killer.read(s)
	case "association":
		s.only(&j.association, "user", j.associationUser.read)
	case "wckey":
		s.only(&j.wckey, "wckey", j.wckeyName.read)
	case "reservation":
		s.only(&j.reservation, "name", j.reservationName.read)
	case "state":
		s.only(&j.state, "current", j.words.read)
	case "array":
		s.object(&j.array, func(name string) { j.arrayMember(s, name) })
	case "het":
		s.object(&j.het, func(name string) { j.hetMember(s, name) })
	case "time":
		s.object(&j.time, func(name string) { j.timeMember(s, name) })
	case "tres":
		s.object(&j.tres, func(name string) { j.tresMember(s, name) })
	case "steps":
		j.steps.read(s)
	case "job_state":
		s.see(&j.jobState)
		s.skip()
	default:
		s.skip()
	}
}

func (j *jsonJob) arrayMember(s *scanner, name string) {
	switch name {
	case "job_id":
		j.arrayID.read(s)
	case "task_id":
		j.arrayTask.read(s)
	case "task":
		j.arrayTasks.read(s)
	default:
		s.skip()
	}
}

func (j *jsonJob) hetMember(s *scanner, name string) {
	switch name {
	case "job_id":
		j.hetID.read(s)
	case "job_offset":
		j.hetOffset.read(s)
	default:
		s.skip()
	}
}

func (j *jsonJob) timeMember(s *scanner, name string) {
	switch name {
	case "submission":
		j.submission.read(s)
	case "eligible":
		j.eligible.read(s)
	case "start":
		j.start.read(s)
	case "end":
		j.end.read(s)
	case "elapsed":
		j.elapsed.read(s)
	case "suspended":
		j.suspended.read(s)
	case "limit":
		j.limit.read(s)
	default:
		s.skip()
	}
}

func (j *jsonJob) tresMember(s *scanner, name string) {
	switch name {
	case "allocated":
		j.allocated.read(s)
	case "requested":
		j.requested.read(s)
	default:
		s.skip()
	}
}

// cells puts the job's values in the order of jsonColumns.
func (j *jsonJob) cells(to []string) []string {
	limit := j.limit.text
	if j.limit.infinite {
		limit = "UNLIMITED"
	}
	index, sluid := "", j.sluid.text
	if _, ok := parseUint64(sluid); ok {
		index, sluid = sluid, ""
	}
	return append(to, j.jobID(), j.id.text, index, sluid, j.cluster.text, j.account.text, cmp.Or(j.user.text, j.associationUser.text),
		j.partition.text, j.qos.text, j.wckeyName.text, j.reservationName.text, j.words.state(),
		j.submission.or("0"), j.eligible.or("0"), j.start.or("0"), j.end.or("0"), j.elapsed.text, j.suspended.or("0"), limit,
		j.nodeCount.text, j.requested.print(), j.allocated.print(), j.nodes.text, j.name.text)
}

func (j *jsonJob) hasID() bool { return j.id.or("0") != "0" }

// endIn returns the job's end where the record says it once, be there a fault
// elsewhere.
func (j *jsonJob) endIn(clock *clock, f *fault) Instant {
	if f.field == "time" || f.field == "end" {
		return None
	}
	if at, ok := clock.other(j.end.text); ok {
		return at.at
	}
	return None
}

// jobID returns the job's id as sacct prints it.
func (j *jsonJob) jobID() string {
	if j.arrayID.or("0") != "0" {
		switch {
		case j.arrayTasks.text != "":
			return j.arrayID.text + "_[" + strings.Trim(j.arrayTasks.text, "[]") + "]"
		case j.arrayTask.text != "":
			return j.arrayID.text + "_" + j.arrayTask.text
		}
	}
	if j.hetID.or("0") != "0" && j.hetOffset.text != "" {
		return j.hetID.text + "+" + j.hetOffset.text
	}
	return j.id.text
}

// stepCount is how many steps a job carries, and how many of them are an
// older job's with the same id.
type stepCount struct{ all, foreign int64 }

// countSteps counts the steps. One that began more than a second before its
// job is an older job's, where it is known which job it is and when it ran.
func (j *jsonJob) countSteps() stepCount {
	n := stepCount{all: j.steps.count}
	if !j.hasID() || !j.time.there() {
		return n
	}
	start, _ := parseDigits(j.start.text)
	for _, from := range j.steps.starts {
		if start == 0 || from < start-1 {
			n.foreign++
		}
	}
	return n
}
