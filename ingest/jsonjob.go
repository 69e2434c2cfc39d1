package ingest

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// jsonJob is a job of an answer, in any shape that data parsers from v0.0.37
// on have given it.
type jsonJob struct {
	JobID       jsonNumber `json:"job_id"`
	SLUID       jsonText   `json:"sluid"`
	Name        jsonText   `json:"name"`
	Cluster     jsonText   `json:"cluster"`
	Account     jsonText   `json:"account"`
	User        jsonText   `json:"user"`
	Partition   jsonText   `json:"partition"`
	QoS         jsonText   `json:"qos"`
	Nodes       jsonText   `json:"nodes"`
	NodeCount   jsonNumber `json:"allocation_nodes"`
	Association *struct {
		User jsonText `json:"user"`
	} `json:"association"`
	Array *struct {
		JobID  jsonNumber `json:"job_id"`
		TaskID jsonNumber `json:"task_id"`
		Task   jsonText   `json:"task"`
	} `json:"array"`
	Het *struct {
		JobID  jsonNumber `json:"job_id"`
		Offset jsonNumber `json:"job_offset"`
	} `json:"het"`
	WCKey *struct {
		WCKey jsonText `json:"wckey"`
	} `json:"wckey"`
	Reservation *struct {
		Name jsonText `json:"name"`
	} `json:"reservation"`
	State *struct {
		Current jsonWords `json:"current"`
	} `json:"state"`
	Time *struct {
		Submission jsonNumber `json:"submission"`
		Eligible   jsonNumber `json:"eligible"`
		Start      jsonNumber `json:"start"`
		End        jsonNumber `json:"end"`
		Elapsed    jsonNumber `json:"elapsed"`
		Suspended  jsonNumber `json:"suspended"`
		Limit      jsonNumber `json:"limit"`
	} `json:"time"`
	TRES *struct {
		Allocated []jsonTRES `json:"allocated"`
		Requested []jsonTRES `json:"requested"`
	} `json:"tres"`
	Steps []struct {
		Time *struct {
			Start jsonNumber `json:"start"`
			End   jsonNumber `json:"end"`
		} `json:"time"`
	} `json:"steps"`
	Killer   jsonText         `json:"kill_request_user"` // a name, where text has a uid
	JobState *json.RawMessage `json:"job_state"`         // slurmctld's, not accounting's
}

type jsonTRES struct {
	Type  jsonText   `json:"type"`
	Name  jsonText   `json:"name"`
	Count jsonNumber `json:"count"`
}

// jsonText is a text that may be null. What is no text (the reservation's
// name in v0.0.38 is a meaningless number) is none.
type jsonText string

// UnmarshalJSON reads any value.
func (t *jsonText) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(t))
	}
	return nil
}

// jsonNumber is a whole number in any of its shapes: plain, null, as text, or
// {set, infinite, number}. text is "" where there is none; what is no number
// is kept for the column that it comes to stand in to refuse.
type jsonNumber struct {
	text     string
	infinite bool
}

// UnmarshalJSON reads any of the shapes.
func (n *jsonNumber) UnmarshalJSON(b []byte) error {
	*n = jsonNumber{}
	switch b[0] {
	case 'n':
		return nil
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		n.read(s)
		return nil
	case '{':
		var o struct {
			Set, Infinite bool
			Number        json.Number
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		if o.Infinite {
			n.infinite = true
		} else if o.Set {
			n.read(o.Number.String())
		}
		return nil
	}
	n.read(string(b))
	return nil
}

// read takes a number's text. Slurm's sentinels are no numbers.
func (n *jsonNumber) read(s string) {
	switch s {
	case "", "4294967294", "18446744073709551614", "-2":
	case "4294967295", "18446744073709551615", "-1", "Infinity", "infinity":
		n.infinite = true
	default:
		n.text = s
	}
}

// or returns the number, or other where there is none.
func (n jsonNumber) or(other string) string {
	if n.text == "" {
		return other
	}
	return n.text
}

// jsonWords is one word, or a list of them.
type jsonWords []string

// UnmarshalJSON reads either shape.
func (w *jsonWords) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		var s string
		err := json.Unmarshal(b, &s)
		*w = jsonWords{s}
		return err
	}
	return json.Unmarshal(b, (*[]string)(w))
}

// cells returns the job's values in the order of jsonColumns.
func (j *jsonJob) cells() []string {
	at := func(n jsonNumber) string { return n.or("0") }
	limit := j.Time.Limit.text
	if j.Time.Limit.infinite {
		limit = "UNLIMITED"
	}
	user := string(j.User)
	if user == "" && j.Association != nil {
		user = string(j.Association.User)
	}
	var allocated, requested, wckey, reservation string
	if j.TRES != nil {
		allocated, requested = printTRES(j.TRES.Allocated), printTRES(j.TRES.Requested)
	}
	if j.WCKey != nil {
		wckey = string(j.WCKey.WCKey)
	}
	if j.Reservation != nil {
		reservation = string(j.Reservation.Name)
	}
	index, sluid := "", string(j.SLUID)
	if _, ok := parseUint64(sluid); ok {
		index, sluid = sluid, ""
	}
	return []string{j.id(), j.JobID.text, index, sluid, string(j.Cluster), string(j.Account), user, string(j.Partition),
		string(j.QoS), wckey, reservation, j.state(), at(j.Time.Submission), at(j.Time.Eligible), at(j.Time.Start),
		at(j.Time.End), j.Time.Elapsed.text, j.Time.Suspended.or("0"), limit, j.NodeCount.text, requested, allocated,
		string(j.Nodes), string(j.Name)}
}

// id returns the job's id as sacct prints it.
func (j *jsonJob) id() string {
	if j.Array != nil && j.Array.JobID.or("0") != "0" {
		switch {
		case j.Array.Task != "":
			return j.Array.JobID.text + "_[" + strings.Trim(string(j.Array.Task), "[]") + "]"
		case j.Array.TaskID.text != "":
			return j.Array.JobID.text + "_" + j.Array.TaskID.text
		}
	}
	if j.Het != nil && j.Het.JobID.or("0") != "0" && j.Het.Offset.text != "" {
		return j.Het.JobID.text + "+" + j.Het.Offset.text
	}
	return j.JobID.text
}

// state returns the one word that sacct would print: what accounting stores
// as a flag (REQUEUED, RESIZING, REVOKED) comes as a second word beside
// PENDING.
func (j *jsonJob) state() string {
	if j.State == nil || len(j.State.Current) == 0 {
		return ""
	}
	words := j.State.Current
	for _, w := range words {
		switch State(w) {
		case Requeued, Resizing, Revoked:
			return w
		}
	}
	for _, w := range words {
		switch State(w) {
		case Pending, Running, Suspended, Completed, Cancelled, Failed, Timeout, NodeFail, Preempted, BootFail, Deadline, OutOfMemory:
			return w
		}
	}
	return words[0]
}

// printTRES writes TRES as sacct --noconvert prints them: in order, without
// what is zero or has no value.
func printTRES(list []jsonTRES) string {
	items := make([]string, 0, len(list))
	for _, t := range list {
		if t.Count.or("0") == "0" || t.Type == "" {
			continue
		}
		item := string(t.Type)
		if t.Name != "" {
			item += "/" + string(t.Name)
		}
		item += "=" + t.Count.text
		if t.Type == "mem" || t.Type == "bb" {
			item += "M"
		}
		items = append(items, item)
	}
	slices.Sort(items)
	return strings.Join(items, ",")
}

// stepCount is how many steps a job carries, and how many of them are an
// older job's with the same id.
type stepCount struct{ all, foreign int64 }

var errNoID = errors.New("the object has no job_id")

// countSteps counts the steps; it fails where the job has no id.
func (j *jsonJob) countSteps() (stepCount, error) {
	n := stepCount{all: int64(len(j.Steps))}
	if j.JobID.or("0") == "0" {
		return n, errNoID
	}
	if j.Time == nil {
		return n, nil
	}
	start, _ := parseDigits(j.Time.Start.text)
	for _, s := range j.Steps {
		if s.Time == nil {
			continue
		}
		from, ok := parseDigits(s.Time.Start.text)
		if ok && from > 0 && (start == 0 || from < start-1) {
			n.foreign++
		}
	}
	return n, nil
}
