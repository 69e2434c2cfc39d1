// Package chargestore keeps the charges of each period in Parquet.
//
// It owns the rows and their exactness. It decides nothing about a charge.
//
// # The files
//
//	period=YYYY-MM/part-00000.parquet …
//
// A row is one charge: a meter of a job, or of the part of a job that lies in
// the period. What was not charged (excluded, held, not run, running) has one
// row without a meter, so that the seconds of all rows, counted once for each
// job, are those of the period. A file's rows stand by group, and within a
// group in the order in which they were rated: by cluster, end_time,
// job_id_raw. The next file goes on where the one before ended, so the rows of
// a group are those of the first file, then those of the second, and so on.
// The columns:
//
//	group_id            text       "" where attribution failed
//	verdict             text       charged, waived, excluded, held, not run, running
//	cause, cause_detail text       why it was not charged; "" where it was
//	cluster, job_id, job_id_raw, user_name, account, partition, qos, state, job_name
//	start_time, end_time           timestamp, UTC: of the job
//	from_time, until_time          timestamp, UTC: of the part of it that was rated
//	elapsed_seconds     int64      of that part, without suspension
//	node_count, cpus, gpus, memory_mib, billing   int64   allocated; NULL where unknown
//	meter, unit         text       "" where there is no charge
//	quantity            decimal(38,12)   rounded half-even, for convenience
//	quantity_numerator, quantity_denominator   int64   the exact quantity as a fraction
//	quantity_exact      text       the same as "numerator/denominator", where 64 bits do not hold it
//	price               text       per unit, exact: "0.012" or a fraction
//	price_label         text       the value that picked the price
//	amount, amount_numerator, amount_denominator, amount_exact   as for quantity
//	card, card_digest, card_version, rule, rule_file, rule_line   which line of which card
//	source_file, source_line, source_digest   which line of which dump
package chargestore
