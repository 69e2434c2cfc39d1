package rating

import (
	"errors"

	"hpcbill/ingest"
	"hpcbill/rates"
)

var errNoHours = errors.New("the job has an elapsed time, but none lies between its start and its end")

// clockSeconds is how much of the elapsed time of a part lies in a clock. Where
// a suspension fell is not recorded, so it is spread evenly over the wall time,
// as cut does it: by the same sums, so that the seconds of the parts sum to those
// of the whole, and no clock has more of a part than the part has.
func (r *Rater) clockSeconds(c *rates.Clock, j *ingest.Job, p part) (int64, error) {
	wall := int64(wallEnd(j) - j.Start)
	if wall <= 0 {
		if p.elapsed > 0 {
			return 0, errNoHours
		}
		return 0, nil
	}
	seconds := int64(0)
	for from, until := range c.Spans(int64(p.from), int64(p.until), r.tariff.Zone) {
		seconds += share(j.ElapsedSeconds, until-int64(j.Start), wall) - share(j.ElapsedSeconds, from-int64(j.Start), wall)
	}
	return seconds, nil
}
