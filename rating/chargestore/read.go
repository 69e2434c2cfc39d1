package chargestore

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// MissingError says that a period has no charges. It wraps fs.ErrNotExist.
type MissingError struct{ Period, Dir string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("no charges of %s in %s", e.Period, e.Dir)
}

// Unwrap gives fs.ErrNotExist.
func (e *MissingError) Unwrap() error { return fs.ErrNotExist }

// Hint says what to do.
func (e *MissingError) Hint() string { return "hpcbill bill --period " + e.Period + " writes them" }

// Read yields the rows of one group of a period, or with "" those of all,
// also of what no group was found for, in the order of the file. A period
// that was never written is a MissingError.
func Read(dir, period, group string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if err := read(dir, period, group, yield); err != nil {
			yield(Row{}, fmt.Errorf("read charges: %w", err))
		}
	}
}

func read(dir, period, group string, yield func(Row, error) bool) error {
	if err := checkPeriod(period); err != nil {
		return err
	}
	f, err := os.Open(fileOf(dir, period))
	if errors.Is(err, fs.ErrNotExist) {
		return &MissingError{period, dir}
	}
	if err != nil {
		return err
	}
	defer f.Close()
	file, err := chargesTable().Open(f)
	if err != nil {
		return err
	}
	if is := file.Meta("hpcbill.period"); is != period {
		return fmt.Errorf("%s: holds the charges of %q", f.Name(), is)
	}
	r := &reader{name: f.Name(), file: file, group: group, prices: map[string]money.Exact{}, versions: map[string]rates.Date{}}
	for i := range file.RowGroups() {
		if wanted, err := r.wants(i); err != nil {
			return err
		} else if !wanted {
			continue
		}
		if more, err := r.rowGroup(i, yield); err != nil || !more {
			return err
		}
	}
	return nil
}

// reader makes rows of pages.
type reader struct {
	name  string
	file  *columnar.File
	group string // "" for all
	page  columnar.Page
	row   int

	prices   map[string]money.Exact
	versions map[string]rates.Date
}

// wants reports whether a row group can hold what is asked for.
func (r *reader) wants(rowGroup int) (bool, error) {
	if r.group == "" {
		return true, nil
	}
	least, greatest, known, err := r.file.TextRange(rowGroup, colGroup)
	return !known || least <= r.group && r.group <= greatest, err
}

func (r *reader) rowGroup(number int, yield func(Row, error) bool) (more bool, err error) {
	all := make([]int, columnCount)
	for i := range all {
		all[i] = i
	}
	pages, err := r.file.Pages(number, all)
	if err != nil {
		return false, err
	}
	for {
		if err := pages.Next(&r.page); err != nil || r.page.Rows == 0 {
			return true, err
		}
		for r.row = range r.page.Rows {
			if r.group != "" && r.text(colGroup) != r.group {
				continue
			}
			row, err := r.make()
			if err != nil {
				return false, fmt.Errorf("%s: job %s/%s: %w", r.name, row.Job.Cluster, row.Job.JobID, err)
			}
			if !yield(row, nil) {
				return false, nil
			}
		}
	}
}

func (r *reader) text(column int) string {
	v := &r.page.Vectors[column]
	if v.Index == nil {
		return v.Dict[r.row]
	}
	return v.Dict[v.Index[r.row]]
}

func (r *reader) number(column int) int64 { return r.page.Vectors[column].Ints[r.row] }

func (r *reader) make() (row Row, err error) {
	row = Row{
		Job: r.job(), Group: r.text(colGroup), Cause: rating.Cause{Code: r.text(colCause), Detail: r.text(colCauseDetail)},
		Seconds: r.number(colElapsed), From: ingest.Instant(r.number(colFrom)), Until: ingest.Instant(r.number(colUntil)),
	}
	if row.From == ingest.None && row.Until == ingest.None {
		row.From, row.Until = row.Job.Start, row.Job.End // the whole job
	}
	if row.Verdict, err = verdictOf(r.text(colVerdict)); err != nil {
		return row, err
	}
	reason := rating.Reason{Card: r.text(colCard), CardDigest: r.text(colCardDigest), Rule: r.text(colRule),
		File: r.text(colRuleFile), Line: int(r.number(colRuleLine))}
	if reason.Version, err = r.version(r.text(colCardVersion)); err != nil {
		return row, err
	}
	if row.Charge.Meter = r.text(colMeter); row.Charge.Meter == "" {
		row.Cause.Reason = reason
		return row, nil
	}
	c := &row.Charge
	c.Group, c.Unit, c.PriceLabel, c.Reason = row.Group, r.text(colUnit), r.text(colPriceLabel), reason
	if c.Price, err = r.price(r.text(colPrice)); err != nil {
		return row, err
	}
	if c.Quantity, err = r.exact(colQuantityNumerator, colQuantityDenominator, colQuantityExact); err != nil {
		return row, err
	}
	c.Amount, err = r.exact(colAmountNumerator, colAmountDenominator, colAmountExact)
	return row, err
}

func (r *reader) job() ingest.Job {
	return ingest.Job{
		Cluster: r.text(colCluster), JobID: r.text(colJobID), JobIDRaw: uint64(r.number(colJobIDRaw)),
		User: r.text(colUser), Account: r.text(colAccount), Partition: r.text(colPartition), QoS: r.text(colQoS),
		Name: r.text(colName), State: ingest.State(r.text(colState)),
		Start: ingest.Instant(r.number(colStart)), End: ingest.Instant(r.number(colEnd)),
		NodeCount: r.number(colNodeCount), CPUs: r.number(colCPUs), GPUs: r.number(colGPUs),
		MemoryMiB: r.number(colMemory), Billing: r.number(colBilling),
		Source: ingest.Source{File: r.text(colSourceFile), Digest: r.text(colSourceDigest), Line: r.number(colSourceLine)},
	}
}

func (r *reader) version(text string) (d rates.Date, err error) {
	if text == "" {
		return d, nil
	}
	d, ok := r.versions[text]
	if !ok {
		if d, err = rates.ParseDate(text); err != nil {
			return d, fmt.Errorf("damaged: card_version %q", text)
		}
		r.versions[text] = d
	}
	return d, nil
}

func (r *reader) price(text string) (money.Exact, error) {
	price, ok := r.prices[text]
	if !ok {
		if price, ok = parseFraction(text); !ok {
			return price, fmt.Errorf("damaged: price %q", text)
		}
		r.prices[text] = price
	}
	return price, nil
}

// exact reads an exact number from its three columns.
func (r *reader) exact(numerator, denominator, exact int) (money.Exact, error) {
	if d := r.number(denominator); d > 0 && r.number(numerator) != noNumerator {
		return money.Ratio(r.number(numerator), d), nil
	}
	x, ok := parseFraction(r.text(exact))
	if !ok {
		return x, fmt.Errorf("damaged: %d/%d, %q is no number", r.number(numerator), r.number(denominator), r.text(exact))
	}
	return x, nil
}

func verdictOf(text string) (rating.Verdict, error) {
	for v := rating.Charged; v <= rating.Running; v++ {
		if v.String() == text {
			return v, nil
		}
	}
	return 0, fmt.Errorf("damaged: verdict %q", text)
}
