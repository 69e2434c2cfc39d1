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
	return rows(dir, period, func(g string) bool { return g == group })
}

// ReadAll yields all rows of a period in one pass: by group, and those of a
// group in the order in which its jobs were rated.
func ReadAll(dir, period string) iter.Seq2[Row, error] {
	return rows(dir, period, func(string) bool { return true })
}

func rows(dir, period string, wanted func(group string) bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if err := read(dir, period, wanted, yield); err != nil {
			yield(Row{}, fmt.Errorf("read charges of %s: %w", period, err))
		}
	}
}

func read(dir, period string, wanted func(string) bool, yield func(Row, error) bool) error {
	files, err := openPeriod(dir, period)
	if err != nil {
		return err
	}
	defer closeAll(files)
	table := chargesTable()
	var cursors []*cursor
	for _, f := range files {
		c := &cursor{prices: map[string]money.Exact{}, versions: map[string]rates.Date{}}
		if c.file, err = table.Open(f); err != nil {
			return err
		}
		if err := c.next(wanted); err != nil {
			return err
		}
		cursors = append(cursors, c)
	}
	for {
		group, any := "", false
		for _, c := range cursors {
			if g := c.group(); !c.ended && (!any || g < group) {
				group, any = g, true
			}
		}
		if !any {
			return nil
		}
		for _, c := range cursors {
			for !c.ended && c.group() == group {
				row, err := c.row()
				if err != nil {
					return err
				}
				if !yield(row, nil) {
					return nil
				}
				if err := c.next(wanted); err != nil {
					return err
				}
			}
		}
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
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
			closeAll(files)
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

// cursor goes through the rows of a file that are wanted.
type cursor struct {
	file      *columnar.File
	rowGroups int // opened so far
	pages     *columnar.Pages
	page      columnar.Page
	i         int // the current row of the page
	ended     bool

	prices   map[string]money.Exact
	versions map[string]rates.Date
}

// next goes to the next row that is wanted.
func (c *cursor) next(wanted func(group string) bool) error {
	for {
		for c.i++; c.i < c.page.Rows; c.i++ {
			if wanted(c.group()) {
				return nil
			}
		}
		if more, err := c.nextPage(wanted); err != nil || !more {
			c.ended = true
			return err
		}
	}
}

// nextPage reads the next page, passing over row groups that have nothing
// that is wanted.
func (c *cursor) nextPage(wanted func(group string) bool) (more bool, err error) {
	for c.i = -1; ; {
		if c.pages != nil {
			if err := c.pages.Next(&c.page); err != nil || c.page.Rows > 0 {
				return true, err
			}
			c.pages = nil
		}
		if c.rowGroups == c.file.RowGroups() {
			return false, nil
		}
		c.rowGroups++
		if err := c.open(c.rowGroups-1, wanted); err != nil {
			return false, err
		}
	}
}

// open starts a row group, unless it holds one group alone that is not
// wanted, or none that could be.
func (c *cursor) open(rowGroup int, wanted func(group string) bool) error {
	some, err := c.holds(rowGroup, wanted)
	if err != nil || !some {
		return err
	}
	all := make([]int, columnCount)
	for i := range all {
		all[i] = i
	}
	c.pages, err = c.file.Pages(rowGroup, all)
	return err
}

// holds looks through the groups of a row group, one column of it.
func (c *cursor) holds(rowGroup int, wanted func(group string) bool) (bool, error) {
	pages, err := c.file.Pages(rowGroup, []int{colGroup})
	if err != nil {
		return false, err
	}
	var page columnar.Page
	for {
		if err := pages.Next(&page); err != nil || page.Rows == 0 {
			return false, err
		}
		if slices.ContainsFunc(page.Vectors[colGroup].Dict, wanted) {
			return true, nil
		}
	}
}

func (c *cursor) group() string {
	if c.ended {
		return ""
	}
	return c.text(colGroup)
}

func (c *cursor) text(col int) string {
	v := &c.page.Vectors[col]
	if v.Index == nil {
		return v.Dict[c.i]
	}
	return v.Dict[v.Index[c.i]]
}

func (c *cursor) int(col int) int64 { return c.page.Vectors[col].Ints[c.i] }

func (c *cursor) row() (row Row, err error) {
	row = Row{
		Job: c.job(), Group: c.text(colGroup), Seconds: c.int(colElapsed),
		From: ingest.Instant(c.int(colFrom)), Until: ingest.Instant(c.int(colUntil)),
		Cause: rating.Cause{Code: c.text(colCause), Detail: c.text(colCauseDetail)},
	}
	if row.Verdict, err = verdictOf(c.text(colVerdict)); err != nil {
		return row, err
	}
	charge := &row.Charge
	charge.Group, charge.Meter, charge.Unit, charge.PriceLabel = row.Group, c.text(colMeter), c.text(colUnit), c.text(colPriceLabel)
	charge.Reason = rating.Reason{Card: c.text(colCard), CardDigest: c.text(colCardDigest), Rule: c.text(colRule),
		File: c.text(colRuleFile), Line: int(c.int(colRuleLine))}
	if charge.Reason.Version, err = c.version(c.text(colCardVersion)); err != nil {
		return row, err
	}
	if charge.Price, err = c.price(c.text(colPrice)); err != nil {
		return row, err
	}
	if charge.Quantity, err = c.exact(colQuantity); err != nil {
		return row, err
	}
	charge.Amount, err = c.exact(colAmount)
	return row, err
}

func (c *cursor) job() ingest.Job {
	return ingest.Job{
		Cluster: c.text(colCluster), JobID: c.text(colJobID), JobIDRaw: uint64(c.int(colJobIDRaw)),
		User: c.text(colUser), Account: c.text(colAccount), Partition: c.text(colPartition),
		QoS: c.text(colQoS), State: ingest.State(c.text(colState)), Name: c.text(colName),
		Start: ingest.Instant(c.int(colStart)), End: ingest.Instant(c.int(colEnd)),
		NodeCount: c.int(colNodeCount), CPUs: c.int(colCPUs), GPUs: c.int(colGPUs),
		MemoryMiB: c.int(colMemory), Billing: c.int(colBilling),
		Source: ingest.Source{File: c.text(colSourceFile), Digest: c.text(colSourceDigest), Line: c.int(colSourceLine)},
	}
}

// exact reads a number from the columns that exact of batch wrote.
func (c *cursor) exact(col int) (money.Exact, error) {
	if den := c.int(col + 2); den > 0 {
		return money.Ratio(c.int(col+1), den), nil
	}
	if x, ok := ratOf(c.text(col + 3)); ok {
		return x, nil
	}
	return money.Exact{}, fmt.Errorf("damaged: column %s: %q", columnNames[col+3], c.text(col+3))
}

func (c *cursor) price(text string) (money.Exact, error) {
	if x, ok := c.prices[text]; ok {
		return x, nil
	}
	x, ok := ratOf(text)
	if !ok {
		return x, fmt.Errorf("damaged: column %s: %q", columnNames[colPrice], text)
	}
	c.prices[text] = x
	return x, nil
}

func (c *cursor) version(text string) (rates.Date, error) {
	if d, ok := c.versions[text]; ok || text == "" {
		return d, nil
	}
	var d rates.Date
	if _, err := fmt.Sscanf(text, "%d-%d-%d", &d.Year, &d.Month, &d.Day); err != nil {
		return d, fmt.Errorf("damaged: column %s: %q", columnNames[colCardVersion], text)
	}
	c.versions[text] = d
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
