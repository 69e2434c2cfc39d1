package chargestore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"hpcbill/ingest"
	"hpcbill/ingest/jobstore/columnar"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/rating"
)

// ErrNoPeriod is wrapped by the error for a period that was never written.
var ErrNoPeriod = errors.New("no charges were written")

// Read yields the rows of one group of a period, in the order in which its
// jobs were rated.
func Read(dir, period, group string) iter.Seq2[Row, error] {
	return rows(dir, period, &group)
}

// ReadAll yields all rows of a period, file by file, and by group in each.
func ReadAll(dir, period string) iter.Seq2[Row, error] {
	return rows(dir, period, nil)
}

func rows(dir, period string, group *string) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if err := read(dir, period, group, yield); err != nil {
			yield(Row{}, fmt.Errorf("read charges of %s: %w", period, err))
		}
	}
}

func read(dir, period string, group *string, yield func(Row, error) bool) error {
	files, err := openPeriod(dir, period)
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	table := chargesTable()
	for _, f := range files {
		file, err := table.Open(f)
		if err != nil {
			return err
		}
		for g := range file.RowGroups() {
			if group != nil {
				least, greatest, known, err := file.TextRange(g, colGroup)
				if err != nil {
					return err
				}
				if known && (*group < least || *group > greatest) {
					continue
				}
			}
			if more, err := readRowGroup(file, g, group, yield); err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// openPeriod opens all files of a period, so that none is replaced while they
// are read, and checks that each is whole.
func openPeriod(dir, period string) (files []*os.File, err error) {
	base := periodDir(dir, period)
	if _, err := os.Stat(base); errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(replacedDir(dir, period)); err == nil {
			base = replacedDir(dir, period) // a Write was killed between its renames
		}
	}
	data, err := os.ReadFile(filepath.Join(base, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", base, ErrNoPeriod)
	}
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(base, manifestName), err)
	}
	defer func() {
		if err != nil {
			for _, f := range files {
				f.Close()
			}
		}
	}()
	for _, listed := range m.Files {
		f, err := os.Open(filepath.Join(base, listed.Name))
		if err != nil {
			return files, err
		}
		files = append(files, f)
		info, err := f.Stat()
		if err != nil {
			return files, err
		}
		if info.Size() != listed.Bytes {
			return files, fmt.Errorf("%s: %d bytes, not %d: damaged or cut off", f.Name(), info.Size(), listed.Bytes)
		}
	}
	return files, nil
}

// readRowGroup yields the rows of a row group, or those of one group in it.
func readRowGroup(file *columnar.File, number int, group *string, yield func(Row, error) bool) (more bool, err error) {
	all := make([]int, columnCount)
	for i := range all {
		all[i] = i
	}
	pages, err := file.Pages(number, all)
	if err != nil {
		return false, err
	}
	p := &pageReader{prices: map[string]money.Exact{}, versions: map[string]rates.Date{}}
	for {
		if err := pages.Next(&p.page); err != nil || p.page.Rows == 0 {
			return true, err
		}
		for i := range p.page.Rows {
			if group != nil && p.text(colGroup, i) != *group {
				continue
			}
			row, err := p.row(i)
			if err != nil {
				return false, err
			}
			if !yield(row, nil) {
				return false, nil
			}
		}
	}
}

// pageReader makes rows of a page.
type pageReader struct {
	page     columnar.Page
	prices   map[string]money.Exact
	versions map[string]rates.Date
}

func (p *pageReader) text(col, i int) string {
	v := &p.page.Vectors[col]
	if v.Index == nil {
		return v.Dict[i]
	}
	return v.Dict[v.Index[i]]
}

func (p *pageReader) int(col, i int) int64 { return p.page.Vectors[col].Ints[i] }

func (p *pageReader) row(i int) (row Row, err error) {
	row = Row{
		Job: p.job(i), Group: p.text(colGroup, i), Seconds: p.int(colElapsed, i),
		From: ingest.Instant(p.int(colFrom, i)), Until: ingest.Instant(p.int(colUntil, i)),
		Cause: rating.Cause{Code: p.text(colCause, i), Detail: p.text(colCauseDetail, i)},
	}
	if row.Verdict, err = verdictOf(p.text(colVerdict, i)); err != nil {
		return row, err
	}
	c := &row.Charge
	c.Group, c.Meter, c.Unit, c.PriceLabel = row.Group, p.text(colMeter, i), p.text(colUnit, i), p.text(colPriceLabel, i)
	c.Reason = rating.Reason{Card: p.text(colCard, i), CardDigest: p.text(colCardDigest, i), Rule: p.text(colRule, i),
		File: p.text(colRuleFile, i), Line: int(p.int(colRuleLine, i))}
	if c.Reason.Version, err = p.version(p.text(colCardVersion, i)); err != nil {
		return row, err
	}
	if c.Price, err = p.price(p.text(colPrice, i)); err != nil {
		return row, err
	}
	if c.Quantity, err = p.exact(colQuantity, i); err != nil {
		return row, err
	}
	c.Amount, err = p.exact(colAmount, i)
	return row, err
}

func (p *pageReader) job(i int) ingest.Job {
	return ingest.Job{
		Cluster: p.text(colCluster, i), JobID: p.text(colJobID, i), JobIDRaw: uint64(p.int(colJobIDRaw, i)),
		User: p.text(colUser, i), Account: p.text(colAccount, i), Partition: p.text(colPartition, i),
		QoS: p.text(colQoS, i), State: ingest.State(p.text(colState, i)), Name: p.text(colName, i),
		Start: ingest.Instant(p.int(colStart, i)), End: ingest.Instant(p.int(colEnd, i)),
		NodeCount: p.int(colNodeCount, i), CPUs: p.int(colCPUs, i), GPUs: p.int(colGPUs, i),
		MemoryMiB: p.int(colMemory, i), Billing: p.int(colBilling, i),
		Source: ingest.Source{File: p.text(colSourceFile, i), Digest: p.text(colSourceDigest, i), Line: p.int(colSourceLine, i)},
	}
}

// exact reads a number from the columns that exact of batch wrote.
func (p *pageReader) exact(col, i int) (money.Exact, error) {
	if den := p.int(col+2, i); den > 0 {
		return money.Ratio(p.int(col+1, i), den), nil
	}
	if x, ok := ratOf(p.text(col+3, i)); ok {
		return x, nil
	}
	return money.Exact{}, fmt.Errorf("damaged: column %s: %q", columnNames[col+3], p.text(col+3, i))
}

func (p *pageReader) price(text string) (money.Exact, error) {
	if x, ok := p.prices[text]; ok {
		return x, nil
	}
	x, ok := ratOf(text)
	if !ok {
		return x, fmt.Errorf("damaged: column %s: %q", columnNames[colPrice], text)
	}
	p.prices[text] = x
	return x, nil
}

func (p *pageReader) version(text string) (rates.Date, error) {
	if d, ok := p.versions[text]; ok || text == "" {
		return d, nil
	}
	var d rates.Date
	if _, err := fmt.Sscanf(text, "%d-%d-%d", &d.Year, &d.Month, &d.Day); err != nil {
		return d, fmt.Errorf("damaged: column %s: %q", columnNames[colCardVersion], text)
	}
	p.versions[text] = d
	return d, nil
}

var verdicts = []rating.Verdict{rating.Charged, rating.Waived, rating.Excluded, rating.Held, rating.NotRun, rating.Running}

func verdictOf(text string) (rating.Verdict, error) {
	i := slices.IndexFunc(verdicts, func(v rating.Verdict) bool { return v.String() == text })
	if i < 0 {
		return 0, fmt.Errorf("damaged: column %s: %q", columnNames[colVerdict], text)
	}
	return verdicts[i], nil
}
