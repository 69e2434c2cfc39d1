package rating

import (
	"hpcbill/ingest"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// clockSeconds is how much of the time of a part lies in a clock. Where a
// suspension fell is not recorded, so it is spread evenly over the wall time of
// the whole job: the seconds of the parts sum to those of the whole.
func (r *Rater) clockSeconds(c *rates.Clock, j *ingest.Job, p part) money.Exact {
	wall := j.ElapsedSeconds + j.SuspendedSeconds
	if j.Final() {
		wall = int64(j.End - j.Start)
	}
	if wall <= 0 {
		return money.Exact{}
	}
	inside := money.Int(c.Seconds(int64(p.from), int64(p.until), r.tariff.Zone))
	if j.ElapsedSeconds == wall {
		return inside
	}
	return inside.Mul(money.Ratio(j.ElapsedSeconds, wall))
}
