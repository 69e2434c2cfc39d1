// Package ingest reads what the cluster wrote down: sacct's records become
// Jobs, storage quotas become Holdings.
//
// It owns the reading alone. It knows no rate, no group's contract and no
// calendar month; a Job is kept whole and later stages cut it. What cannot be
// read is quarantined with its file, line and reason, never dropped and never
// guessed.
package ingest

// Job is one allocation that Slurm recorded, never a step. Two Jobs are
// revisions of the same allocation when cluster, JobIDRaw and Submit agree,
// or cluster and DBIndex where both records carry one.
//
// A Job never changes after it is read. Its strings may share the memory of
// the dump's text, so keep copies of those that outlive a batch.
type Job struct {
	Cluster  string
	JobID    string // as sacct prints it: "812", "903_7", "600+1"
	JobIDRaw uint64
	DBIndex  uint64 // 0 where the dump has none

	User        string // the name, or the uid in decimal where Slurm knew no name
	Account     string
	Partition   string
	QoS         string
	WCKey       string // without Slurm's '*' for "assigned by default"
	Reservation string
	Name        string // free text of the user's: hostile

	State       State
	CancelledBy string // the uid in "CANCELLED by 1042", the user's name in a JSON answer (root is 0), else ""

	// Instants in seconds since 1970 UTC, None where there is none.
	Submit, Eligible, Start, End Instant

	// ElapsedSeconds is the run time without suspension, Slurm's own figure:
	// the truth for duration. SuspendedSeconds is beside it, never in it.
	ElapsedSeconds, SuspendedSeconds int64

	// TimelimitSeconds is NoLimit for UNLIMITED and Unknown where it cannot
	// be told (Partition_Limit, empty).
	TimelimitSeconds int64

	// What was allocated, from AllocTRES (AllocCPUS where a dump has no
	// AllocTRES). Unknown where the cluster does not record it; a GPU or
	// billing count that Slurm leaves out is 0.
	NodeCount, CPUs, MemoryMiB, GPUs, Billing int64

	// What was requested, from ReqTRES; Unknown where the dump has none.
	ReqNodeCount, ReqCPUs, ReqMemoryMiB, ReqGPUs int64

	AllocTRES, ReqTRES string // whole, for TRES by name
	NodeList           string

	Notes  Notes
	Source Source
}

// Instant is a point in time in whole seconds since 1970 UTC.
type Instant int64

// None is the absent Instant: Unknown, None, N/A, 0 or an empty cell.
const None Instant = 0

// Values of a count or a limit that is no number.
const (
	Unknown int64 = -1
	NoLimit int64 = -2
)

// Source is where a record stands: the dump's name as the operator gave it,
// the SHA-256 of the dump's bytes as read (hexadecimal; set when the dump has
// been read whole, by the store), and the record's first physical line,
// counted from 1. In a JSON answer Line is the job's position in the array.
type Source struct {
	File   string
	Digest string
	Line   int64
}

// State is Slurm's word for what became of a job, "CANCELLED by 1042" being
// CANCELLED. Words that this package does not know are kept as they are.
type State string

// The states that occur in accounting records.
const (
	Pending     State = "PENDING"
	Running     State = "RUNNING"
	Suspended   State = "SUSPENDED"
	Completed   State = "COMPLETED"
	Cancelled   State = "CANCELLED"
	Failed      State = "FAILED"
	Timeout     State = "TIMEOUT"
	NodeFail    State = "NODE_FAIL"
	Preempted   State = "PREEMPTED"
	BootFail    State = "BOOT_FAIL"
	Deadline    State = "DEADLINE"
	OutOfMemory State = "OUT_OF_MEMORY"
	Requeued    State = "REQUEUED"
	Resizing    State = "RESIZING"
	Revoked     State = "REVOKED"
)

// Final reports whether the job has ended: its End is known. (A state word
// alone does not say so: REQUEUED and RESIZING close a run.)
func (j *Job) Final() bool { return j.End != None }

// Ran reports whether the job ever started. What never started costs nothing
// and needs no rate.
func (j *Job) Ran() bool { return j.Start != None }

// Notes are oddities of a record that a person may want to know of and that
// do not make it unreadable.
type Notes uint16

// The notes.
const (
	NoteElapsedDisagrees Notes = 1 << iota // |End − Start − Suspended − Elapsed| > 1 s
	NoteInvalidUTF8                        // bytes of a text were replaced by U+FFFD
	NoteReanchored                         // a delimiter in a free text was found and undone
	NoteMemoryRounded                      // sacct had rounded the memory to two decimals
	NoteGPUTypesDisagree                   // more typed GPUs than gres/gpu, or fewer
	NoteLeapSecond                         // a stamp of :60, read as the next second
	NoteRunaway                            // RUNNING days past its time limit
	NoteNodesDisagree                      // NNodes, or NCPUS, and AllocTRES disagree
	NoteRepeatedHour                       // a stamp in the hour that a clock change repeats, undecided: it may be an hour late
	NoteNoSubmit                           // the record has no Submit: Start (or End) stands in for it
	NoteStrangeJobID                       // a JobID such as 0_0; JobIDRaw tells the job
	NoteResizedStart                       // a later part of a resized job, printed with the start of the first: it begins at its Submit
)
