package chargestore

import (
	"fmt"
	"iter"

	"hpcbill/rating"
)

// What is kept in memory: rows wait there for others of their group. Beyond
// that the groups that have the most are written.
const (
	keptRows      = 256 << 10
	keptTextBytes = 48 << 20
)

// collect takes in the outcomes and writes them, row group by row group: rating
// goes on while other goroutines encode.
func (w *writing) collect(out *rowGroupWriter, outcomes iter.Seq2[rating.Outcome, error]) error {
	defer out.wait()
	in := newIntake()
	for o, err := range outcomes {
		if err != nil {
			return err
		}
		if err := w.takeIn(out, in, &o); err != nil {
			return err
		}
	}
	if err := out.writeAll(in); err != nil {
		return err
	}
	return out.finish()
}

func (w *writing) takeIn(out *rowGroupWriter, in *intake, o *rating.Outcome) error {
	if err := settled(o); err != nil {
		return err
	}
	in.add(o)
	switch {
	case in.n >= w.keptRows:
		return out.relieve(in, w.keptRows/8)
	case in.texts.bytes() >= keptTextBytes:
		return out.writeAll(in)
	}
	return nil
}

// settled refuses a charge whose price hangs on the whole period and was not
// filled in: its amount of 0 would read as if it were free.
func settled(o *rating.Outcome) error {
	for i := range o.Charges {
		if c := &o.Charges[i]; c.Tiers != nil {
			return fmt.Errorf("BUG: job %s/%s: %s is priced by tiers, and nobody did", o.Job.Cluster, o.Job.JobID, c.Meter)
		}
	}
	return nil
}
