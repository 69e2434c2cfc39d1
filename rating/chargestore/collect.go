package chargestore

import "iter"

// What is kept in memory: rows wait there for others of their group. Beyond
// that the groups that have the most are written.
const (
	keptRows      = 128 << 10
	keptTextBytes = 64 << 20
)

// after how many rows is looked how much memory the texts take: at the same
// rows, however many come at once.
const lookEvery = 256

// collect takes in the rows and writes them, row group by row group: rating
// goes on while other goroutines encode.
func (w *writing) collect(out *rowGroupWriter, all iter.Seq2[*Rows, error]) error {
	defer out.wait()
	in := newIntake(w.keptTextBytes)
	for rows, err := range all {
		if err != nil {
			return err
		}
		if err := w.takeIn(out, in, rows); err != nil {
			return err
		}
	}
	if err := out.writeAll(in); err != nil {
		return err
	}
	return out.finish()
}

func (w *writing) takeIn(out *rowGroupWriter, in *intake, rows *Rows) (err error) {
	if err := out.settleReady(); err != nil {
		return err
	}
	b := in.adopt(rows)
	n := len(b.rows) // once all are taken, b may have others
	for from := 0; from < n && err == nil; {
		rows.wording.meet(in)
		to := min(n, from+w.keptRows-in.waiting, from+lookEvery-in.taken%lookEvery)
		in.take(rows, b, from, to)
		from = to
		switch {
		case in.taken%lookEvery == 0 && in.bytes() >= w.keptTextBytes:
			err = out.writeAll(in)
		case in.waiting >= w.keptRows:
			err = out.relieve(in, w.keptRows/8)
		}
	}
	in.release(b)
	return err
}
