// Package chargestore keeps the charges of a period in Parquet.
//
// It owns where they lie, that they are exact, and that a period is replaced
// whole or not at all. It prices nothing and sums nothing.
//
// # The dataset
//
// One ordinary Parquet file a period, in a Hive partition, which DuckDB,
// Spark, Trino and pandas read as they find it:
//
//	period=YYYY-MM/charges-YYYY-MM.parquet
//
// A row is one charge: one meter of a job, or of the part of a job that lies
// in the period. What has no charge (excluded, held, not run, running, waived
// without a price) has one row with an empty meter, so that every job of the
// period is there. The rows of a group stand together in row groups, small
// groups share one; in a row group they stand in the order of group_id, cluster,
// end_time (none before all), job_id_raw, part_from, meter. The statistics of the
// row groups say which groups they hold. The columns, whose descriptions stand in
// the file too, as its metadata hpcbill.columns:
//
//	group_id            text       who is billed; "" where attribution failed
//	cluster             text
//	job_id              text       as sacct prints it: "812", "903_7", "600+1"
//	job_id_raw          int64
//	user_name, account, partition, qos, state, job_name   text   "" where absent
//	start_time, end_time           timestamp, UTC: of the whole job; NULL where there is none
//	part_from, part_until          timestamp, UTC: the part of it that was rated, half-open; NULL where it was the whole
//	elapsed_seconds     int64      run time of what was rated, without suspension
//	node_count, cpus, gpus, memory_mib, billing   int64   allocated; NULL where unknown
//	verdict             text       charged, waived, excluded, held, not run, running
//	cause, cause_detail text       why it was not charged; "" where it was
//	meter, unit         text       "" where there is no charge
//	quantity            decimal(38,12)   rounded half-even, for convenience; NULL where there is none
//	quantity_numerator, quantity_denominator   int64   the exact quantity, a fraction in lowest terms
//	quantity_exact      text       "numerator/denominator" where 64 bits do not hold them, else ""
//	price               text       per unit, exact: "0.0000087890625", or a fraction "1/3"
//	price_label         text       the value that picked the price, "" where there is one price
//	amount, amount_numerator, amount_denominator, amount_exact   of a waived charge, what was forgiven
//	card, card_digest, card_version, rule, rule_file, rule_line   which line of which version of which card
//	source_file, source_line, source_digest   which line of which dump
//
// Invoices sum the exact amounts, not the rounded ones.
package chargestore
