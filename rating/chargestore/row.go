package chargestore

import (
	"hpcbill/ingest"
	"hpcbill/rating"
)

// Row is one charge of a period, or, with an empty Charge.Meter, a job that
// was not charged.
type Row struct {
	// Job has what the files keep of the job: not its DBIndex, Submit, time
	// limit, requests, TRES and nodes.
	Job     ingest.Job
	Verdict rating.Verdict
	Group   string
	Cause   rating.Cause // Code and Detail
	Charge  rating.Charge
	Seconds int64 // of ElapsedSeconds, those of the part that was rated

	From, Until ingest.Instant // the part's span of time
}
