package rates

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// jsonPartition is what is read of one partition of scontrol show partition
// --json, or of slurmrestd, from v0.0.39 on.
type jsonPartition struct {
	Name  string
	Flags []string // from v0.0.45 on
	Nodes struct {
		Configured string
		Total      json.Number
	}
	CPUs struct{ Total json.Number }
	TRES struct {
		Configured     string
		BillingWeights string `json:"billing_weights"`
	}
	Partition struct {
		State jsonWords
	}
	Defaults struct {
		MemoryPerCPU  jsonNumber `json:"partition_memory_per_cpu"`
		MemoryPerNode jsonNumber `json:"partition_memory_per_node"`
	}
	Maximums struct {
		Nodes       jsonNumber
		Time        jsonNumber
		CPUsPerNode jsonNumber `json:"cpus_per_node"`
	}
	Accounts, QoS struct{ Allowed, Deny, Assigned string }
	Groups        struct{ Allowed string }
}

// jsonNumber is {set, infinite, number}, or with +complex a bare number, text
// or null.
type jsonNumber struct{ text string }

func (n *jsonNumber) UnmarshalJSON(b []byte) error {
	var parts struct {
		Set, Infinite bool
		Number        json.Number
	}
	switch {
	case len(b) > 0 && b[0] == '{':
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		switch {
		case parts.Infinite:
			n.text = "UNLIMITED"
		case parts.Set:
			n.text = parts.Number.String()
		}
	case bytes.Equal(b, []byte("null")):
	case bytes.Contains(b, []byte("nfinity")):
		n.text = "UNLIMITED"
	default:
		n.text = strings.Trim(string(b), `"`)
	}
	return nil
}

// jsonWords is one word or a list of them.
type jsonWords []string

func (w *jsonWords) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*w = make(jsonWords, 1)
		return json.Unmarshal(b, &(*w)[0])
	}
	return json.Unmarshal(b, (*[]string)(w))
}

// readJSON reads the partitions of a JSON answer, each with its line.
func (c *cardImport) readJSON(file string, text []byte) {
	lineAt := func(offset int64) int { return 1 + bytes.Count(text[:offset], []byte("\n")) }
	d := json.NewDecoder(bytes.NewReader(text))
	bad := func(err error) {
		at := d.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = min(syntax.Offset, int64(len(text)))
		}
		message := "is not JSON: " + err.Error()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			message = "ends in the middle of its JSON"
		}
		c.fault(file, lineAt(at), "", message, "print it again: scontrol show partition --json")
	}
	if _, err := d.Token(); err != nil {
		bad(err)
		return
	}
	found := false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			bad(err)
			return
		}
		switch key {
		case "partitions":
			found = true
			err = c.jsonPartitions(file, d, text)
		case "errors":
			err = c.jsonErrors(file, d, lineAt)
		default:
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
		if err != nil {
			bad(err)
			return
		}
	}
	if _, err := d.Token(); err != nil {
		bad(err)
		return
	}
	if !found {
		c.fault(file, 1, "", "is a JSON answer without partitions", howToImport)
	}
}

// jsonErrors refuses an answer that says itself that it is none.
func (c *cardImport) jsonErrors(file string, d *json.Decoder, lineAt func(int64) int) error {
	line := lineAt(d.InputOffset())
	var list []struct{ Error, Description string }
	if err := d.Decode(&list); err != nil {
		return err
	}
	for _, e := range list {
		c.fault(file, line, "errors", "the answer is an error: "+shortened(strings.TrimSpace(e.Error+" "+e.Description)), "run the command again where it can reach the cluster")
	}
	return nil
}

func (c *cardImport) jsonPartitions(file string, d *json.Decoder, text []byte) error {
	open, err := d.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('[') {
		return errors.New("partitions is not a list")
	}
	for i := 0; d.More(); i++ {
		begin := d.InputOffset()
		begin += int64(len(text[begin:]) - len(bytes.TrimLeft(text[begin:], " \t\r\n,")))
		line := 1 + bytes.Count(text[:begin], []byte("\n"))
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		var p jsonPartition
		if err := json.Unmarshal(raw, &p); err != nil {
			c.fault(file, line, fmt.Sprintf("partitions[%d]", i), unlikeJSON(err), "print it with  scontrol show partition,  without --json")
			continue
		}
		if p.Flags == nil {
			c.flagless = file
		}
		c.partition(p.record(file, line))
	}
	_, err = d.Token()
	return err
}

// unlikeJSON says what of a partition is not as scontrol prints it.
func unlikeJSON(err error) string {
	var unlike *json.UnmarshalTypeError
	if errors.As(err, &unlike) {
		return fmt.Sprintf("%s is a %s, which it is not in the JSON of Slurm 23.02 and later", strings.ToLower(unlike.Field), unlike.Value)
	}
	return err.Error()
}

// record writes a partition with the keys of scontrol's text.
func (p *jsonPartition) record(file string, line int) *slurmRecord {
	r := &slurmRecord{file, line, map[string]slurmField{}}
	put := func(key, value string) {
		if value != "" {
			r.fields[key] = slurmField{value, line}
		}
	}
	put("PartitionName", p.Name)
	put("Nodes", p.Nodes.Configured)
	put("TotalNodes", p.Nodes.Total.String())
	put("TotalCPUs", p.CPUs.Total.String())
	put("TRES", p.TRES.Configured)
	put("TRESBillingWeights", p.TRES.BillingWeights)
	put("State", strings.Join(p.Partition.State, "+"))
	put("DefMemPerCPU", p.Defaults.MemoryPerCPU.text)
	if p.Defaults.MemoryPerNode.text != "0" {
		put("DefMemPerNode", p.Defaults.MemoryPerNode.text)
	}
	put("MaxNodes", p.Maximums.Nodes.text)
	put("MaxCPUsPerNode", p.Maximums.CPUsPerNode.text)
	put("MaxTime", minutes(p.Maximums.Time.text))
	put("AllowAccounts", p.Accounts.Allowed)
	put("DenyAccounts", p.Accounts.Deny)
	put("AllowGroups", p.Groups.Allowed)
	put("AllowQos", p.QoS.Allowed)
	put("DenyQos", p.QoS.Deny)
	put("QoS", p.QoS.Assigned)
	for _, flag := range p.Flags {
		switch flag {
		case "DEFAULT":
			put("Default", "YES")
		case "HIDDEN":
			put("Hidden", "YES")
		}
	}
	return r
}

// minutes writes a limit in minutes as scontrol does.
func minutes(text string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return text
	}
	clock := fmt.Sprintf("%02d:%02d:00", n/60%24, n%60)
	if days := n / 1440; days > 0 {
		return fmt.Sprintf("%d-%s", days, clock)
	}
	return clock
}
