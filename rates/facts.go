package rates

import (
	"fmt"
	"time"

	"hpcbill/rates/formula"
)

// TextField is a text of a job or a holding that a card may match.
type TextField uint8

// The text fields.
const (
	Cluster TextField = iota
	Partition
	QoS
	Account
	User
	WCKey
	Reservation
	State // Slurm's word, without who cancelled
	JobName
	JobID       // as sacct prints it
	CancelledBy // "" where nobody did
	GroupID     // of the group that pays
	Class       // of the group that pays
	NodeType    // of the hardware: entry that the job ran on
	Filesystem  // of a holding
	Tier        // of a holding: a class of storage on its file system

	TextFields // how many there are
)

// Facts is what a card may ask of one job or holding. The rating stage fills
// it and reuses it from job to job.
type Facts struct {
	Text   [TextFields]string
	Values *formula.Values // the figures

	// GPUTypes are the types of the job's GPUs. GPUTypesKnown is false where
	// the record counts GPUs without saying their type.
	GPUTypes      []string
	GPUTypesKnown bool

	// TimelimitUnlimited says that the job had no time limit: it is longer
	// than any that a card asks for.
	TimelimitUnlimited bool

	Submit, Start, End Moment

	// NodeList names the nodes as Slurm writes them, cn[01-04]; "" where the
	// record has none.
	NodeList string
}

// Moment is an instant as a card sees it, in the site's zone.
type Moment struct {
	Date    Date
	Weekday time.Weekday
	Hour    int // 0 to 23
	Known   bool
}

// MomentOf gives t in the zone.
func MomentOf(t time.Time, zone *time.Location) Moment {
	t = t.In(zone)
	return Moment{DateOf(t, zone), t.Weekday(), t.Hour(), true}
}

// UnknownFactError says that a rule asks for something that is not known of
// this job, so that it cannot be told whether the rule matches. The job is
// held.
type UnknownFactError struct {
	Field string // as the card names it: "gpus", "gpu_type"
}

// Error names the field.
func (e *UnknownFactError) Error() string {
	return fmt.Sprintf("%s is not recorded, and the card asks for it", e.Field)
}

// Is makes errors.Is(err, formula.ErrUnknownFigure) true: for the job it is
// the same whether a formula or a rule lacked the figure.
func (e *UnknownFactError) Is(target error) bool { return target == formula.ErrUnknownFigure }

// fieldKind is how the values of a field are written in a card.
type fieldKind uint8

const (
	textKind fieldKind = iota
	numberKind
	gpuTypeKind
	nodeNameKind
	dateKind
	weekdayKind
	hourKind
)

// matchField is a name that match:, factor: and price_by: may use.
type matchField struct {
	name  string
	means string
	kind  fieldKind
	text  TextField
	slot  formula.Slot // of numberKind
	per   int64        // slot units in one unit of the field: 1024 MiB in a GiB

	storage bool // holdings have it
}

// isText reports whether the field is of texts, and knows globs.
func (f matchField) isText() bool {
	return f.kind == textKind || f.kind == gpuTypeKind || f.kind == nodeNameKind
}

// matchFields lists every field, in the order in which they are explained.
func matchFields() []matchField {
	text := func(name, means string, f TextField) matchField {
		return matchField{name: name, means: means, kind: textKind, text: f}
	}
	number := func(name, means string, slot formula.Slot, per int64) matchField {
		return matchField{name: name, means: means, kind: numberKind, slot: slot, per: per}
	}
	fields := []matchField{
		text("cluster", "the cluster", Cluster),
		text("partition", "the partition", Partition),
		text("qos", "the QoS", QoS),
		text("account", "the Slurm account", Account),
		text("user", "the user", User),
		text("wckey", "the wckey", WCKey),
		text("reservation", "the reservation", Reservation),
		text("state", "the end state, as Slurm names it", State),
		text("job_name", "the job's name", JobName),
		text("job_id", "the job's ID as sacct prints it", JobID),
		text("cancelled_by", "who cancelled the job: the uid, 0 for root", CancelledBy),
		text("group", "the ID of the group that pays", GroupID),
		text("class", "the class of the group that pays", Class),
		text("node_type", "the type of the hardware: entry", NodeType),
		text("filesystem", "the file system of a holding", Filesystem),
		text("tier", "the tier of a holding on its file system", Tier),
		{name: "gpu_type", means: "a type of the job's GPUs", kind: gpuTypeKind},
		{name: "node_name", means: "the names of the job's nodes: all of them must fit", kind: nodeNameKind},
		number("cpus", "CPUs allocated", formula.CPUs, 1),
		number("nodes", "nodes allocated", formula.Nodes, 1),
		number("gpus", "GPUs allocated", formula.GPUs, 1),
		number("mem_gib", "memory allocated, GiB", formula.MemoryMiB, 1024),
		number("mem_mib", "memory allocated, MiB", formula.MemoryMiB, 1),
		number("billing", "the billing TRES as recorded", formula.Billing, 1),
		number("req_cpus", "CPUs requested", formula.ReqCPUs, 1),
		number("req_nodes", "nodes requested", formula.ReqNodes, 1),
		number("req_gpus", "GPUs requested", formula.ReqGPUs, 1),
		number("req_mem_gib", "memory requested, GiB", formula.ReqMemoryMiB, 1024),
		number("elapsed_h", "hours run, without suspension", formula.ElapsedSeconds, 3600),
		number("suspended_h", "hours suspended", formula.SuspendedSeconds, 3600),
		number("timelimit_h", "the time limit, hours", formula.TimelimitSeconds, 3600),
		number("wait_h", "hours waited", formula.WaitSeconds, 3600),
		{name: "submit", means: "the day of submission", kind: dateKind},
		{name: "start", means: "the day of the start", kind: dateKind},
		{name: "end", means: "the day of the end", kind: dateKind},
		{name: "weekday", means: "the weekday of the start: mon to sun", kind: weekdayKind},
		{name: "hour", means: "the hour of the start: 0 to 23", kind: hourKind},
	}
	for i := range fields {
		switch fields[i].name {
		case "filesystem", "tier", "group", "class":
			fields[i].storage = true
		}
	}
	return fields
}
