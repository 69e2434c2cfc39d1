package chargestore

import (
	"hpcbill/ingest"
	"hpcbill/rating"
)

// Row is one charge of a period, or, with an empty Charge.Meter, a job that
// has none.
type Row struct {
	// Job has what the files keep of the job: not its DBIndex, Submit, WCKey,
	// reservation, limits, requests, TRES, nodes and notes, nor the seconds of
	// the whole.
	Job     ingest.Job
	Verdict rating.Verdict
	Group   string       // "" where attribution failed
	Cause   rating.Cause // Code and Detail
	Charge  rating.Charge

	// Seconds are those of the part that was rated, From and Until its span
	// of time, as in rating.Outcome.
	Seconds     int64
	From, Until ingest.Instant
}
