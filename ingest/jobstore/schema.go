package jobstore

import (
	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
)

// schemaVersion is written into every file; it rises when a column's name,
// type or meaning changes.
const schemaVersion = 1

// pageRows is the rows of a page of the files: when a job is revised, it is
// these that are written again, and the rest of the file is copied. Fewer would
// take more room.
const pageRows = 4 << 10

// The columns of a file of jobs, by position.
const (
	colJobID = iota
	colJobIDRaw
	colDBIndex
	colUser
	colAccount
	colPartition
	colQoS
	colWCKey
	colReservation
	colName
	colState
	colCancelledBy
	colSubmit
	colEligible
	colStart
	colEnd
	colElapsed
	colSuspended
	colTimelimit
	colNodeCount
	colCPUs
	colMemory
	colGPUs
	colBilling
	colReqNodeCount
	colReqCPUs
	colReqMemory
	colReqGPUs
	colAllocTRES
	colReqTRES
	colNodeList
	colNotes
	colFile
	colLine
	colDigest
	colDumpTime
	colLastSeen
	colLastDigest
	colLastLine
	columnCount
)

// jobsTable is the schema of the dataset, as the package comment documents it.
func jobsTable() *columnar.Table {
	c := make([]columnar.Column, columnCount)
	count := func(col int, name string) {
		c[col] = columnar.Column{Name: name, Kind: columnar.Int64, Nullable: true, Null: ingest.Unknown, Dictionary: true}
	}
	instant := func(col int, name string) {
		c[col] = columnar.Column{Name: name, Kind: columnar.Timestamp, Nullable: true, Null: int64(ingest.None), Dictionary: true}
	}
	text := func(col int, name string) {
		c[col] = columnar.Column{Name: name, Kind: columnar.Text, Dictionary: true}
	}
	c[colJobID] = columnar.Column{Name: "job_id", Kind: columnar.Text}
	c[colJobIDRaw] = columnar.Column{Name: "job_id_raw", Kind: columnar.Int64}
	c[colDBIndex] = columnar.Column{Name: "db_index", Kind: columnar.Uint64, Nullable: true}
	text(colUser, "user_name")
	text(colAccount, "account")
	text(colPartition, "partition")
	text(colQoS, "qos")
	text(colWCKey, "wckey")
	text(colReservation, "reservation")
	text(colName, "job_name")
	text(colState, "state")
	text(colCancelledBy, "cancelled_by")
	instant(colSubmit, "submit_time")
	instant(colEligible, "eligible_time")
	instant(colStart, "start_time")
	instant(colEnd, "end_time")
	c[colElapsed] = columnar.Column{Name: "elapsed_seconds", Kind: columnar.Int64, Dictionary: true}
	c[colSuspended] = columnar.Column{Name: "suspended_seconds", Kind: columnar.Int64, Dictionary: true}
	count(colTimelimit, "timelimit_seconds")
	count(colNodeCount, "node_count")
	count(colCPUs, "cpus")
	count(colMemory, "memory_mib")
	count(colGPUs, "gpus")
	count(colBilling, "billing")
	count(colReqNodeCount, "req_node_count")
	count(colReqCPUs, "req_cpus")
	count(colReqMemory, "req_memory_mib")
	count(colReqGPUs, "req_gpus")
	text(colAllocTRES, "alloc_tres")
	text(colReqTRES, "req_tres")
	text(colNodeList, "node_list")
	c[colNotes] = columnar.Column{Name: "notes", Kind: columnar.Int64, Dictionary: true}
	text(colFile, "source_file")
	c[colLine] = columnar.Column{Name: "source_line", Kind: columnar.Int64}
	c[colDigest] = columnar.Column{Name: "source_digest", Kind: columnar.Text, Dictionary: true, Late: true}
	c[colDumpTime] = columnar.Column{Name: "dump_time", Kind: columnar.Timestamp, Dictionary: true, Late: true}
	c[colLastSeen] = columnar.Column{Name: "last_seen", Kind: columnar.Timestamp, Dictionary: true, Late: true}
	text(colLastDigest, "last_digest")
	c[colLastLine] = columnar.Column{Name: "last_line", Kind: columnar.Int64, Nullable: true}
	return columnar.NewTable("jobs", schemaVersion, pageRows, c)
}
