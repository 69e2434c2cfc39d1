// Package jobstore keeps Jobs in a Parquet dataset.
//
// It owns which record of a job counts, where it lies, and that an ingest
// lands whole or not at all. It knows no money.
//
// # The dataset
//
// The files are ordinary Parquet in Hive partitions, which DuckDB, Spark,
// Trino and pandas read as they find them:
//
//	cluster=NAME/month=YYYY-MM/part-….parquet   jobs, by the month of end_time (UTC)
//	cluster=NAME/month=open/part-….parquet      records that have no end yet
//
// A file is sorted by end_time, job_id_raw, submit_time. Each job stands in
// the dataset once. The columns, beside cluster and month, which are in the
// path:
//
//	job_id             text       as sacct prints it: "812", "903_7", "600+1"
//	job_id_raw         int64
//	db_index           uint64     DBIndex or SLUID; NULL where no dump had it
//	user_name          text       "" where absent, as in every column of text
//	account, partition, qos, wckey, reservation, job_name, state, cancelled_by   text
//	submit_time, eligible_time, start_time, end_time   timestamp, UTC; NULL where there is none
//	elapsed_seconds    int64      run time without suspension
//	suspended_seconds  int64
//	timelimit_seconds  int64      -2 for UNLIMITED; NULL where unknown
//	node_count, cpus, gpus, billing   int64   allocated; NULL where the cluster does not record it
//	memory_mib         int64      allocated, MiB; NULL likewise
//	req_node_count, req_cpus, req_memory_mib, req_gpus   int64   requested; NULL likewise
//	alloc_tres, req_tres, node_list   text
//	notes              int64      bits: the values of ingest.Notes
//	source_file        text       the dump, as the operator named it
//	source_line        int64      its line, counted from 1
//	source_digest      text       SHA-256 of the dump, hexadecimal
//	dump_time          timestamp  the newest instant in that dump
//	last_seen          timestamp  the same of the newest dump that had this very record
//	last_digest, last_line        where it stood there; "" and NULL where that is the source
//
// Names that begin with '_' are the store's own: the catalog of the files
// that count, the lists of the ingests, the records that were superseded. No
// file among them ends in .parquet, so that **/*.parquet is the dataset.
package jobstore
