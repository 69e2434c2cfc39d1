// Package xlsx writes invoices as workbooks: one for a group, with every job,
// and one for a department's whole period.
//
// It is the only package that knows excelize. Numbers are numbers, codes are
// text, and a total is a formula beside the value that was computed here. The
// names of sheets and columns are English in every language, so that a pivot
// table or a script that read last month's workbook reads this one; the face
// of the invoice is in the group's language.
//
// A spreadsheet's numbers are binary floats of 15 digits. Money that needs
// more is refused; an unrounded quantity is written to 15 digits, and nothing
// is computed from what was written.
package xlsx

import (
	"fmt"
	"io"
	"iter"
	"time"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/templates"

	"github.com/xuri/excelize/v2"
)

// MaxSheetRows is how many jobs a sheet takes before they go on upon the next
// one, "Jobs 2"; a sheet ends at 1,048,576 rows.
const MaxSheetRows = 1_000_000

// JobRow is one charge of one job, as the sheet Jobs lists it. Counts may be
// ingest.Unknown and instants ingest.None: such cells stay empty.
type JobRow struct {
	Group   string // the group's ID
	Cluster string
	JobID   string // as sacct prints it
	RawID   uint64

	User, Account, Partition, QoS string
	State                         string
	Name                          string // hostile

	Start, End     ingest.Instant
	ElapsedSeconds int64

	Nodes, CPUs, GPUs, MemoryMiB int64

	Meter, Unit string
	Quantity    money.Exact
	Price       money.Exact // per Unit, major units
	Amount      money.Exact // unrounded, major units
	Card        string
	Version     rates.Date
	Rule        string
	Waived      string // the reason, where the charge was forgiven
}

// StorageRow is one charge of one holding, as the sheet Storage lists it.
type StorageRow struct {
	Filesystem  string
	Tier        string
	Holder      string      // whom a listing names, "" where storage.csv names the group
	From, Until ingest.Date // half-open; Until is zero while the quota holds
	Days        int         // of the period
	QuotaBytes  int64       // or ingest.Unknown
	UsedBytes   int64       // or ingest.Unknown
	QuotaUnit   ingest.StorageUnit
	// EstimatedDays is how many of the days were counted with a use that was
	// measured earlier.
	EstimatedDays int

	Meter, Unit string
	Quantity    money.Exact
	Price       money.Exact
	Amount      money.Exact
	Card        string
	Version     rates.Date
	Rule        string
	Waived      string // the reason, where the charge was forgiven
}

// WriteGroup writes the workbook of one invoice: sheets Invoice, Lines, Jobs
// and Storage. It reads jobs once and keeps none of them.
//
// jobs and storage are all the charges that the invoice's usage and storage
// lines were made of, waived ones included: an invoice whose lines, before
// rounding, are not exactly their sum is refused, and so is one that does not
// add up. After an error, also one that jobs yields, nothing has been written.
func WriteGroup(w io.Writer, inv invoice.Invoice, jobs iter.Seq2[JobRow, error], storage []StorageRow) error {
	err := writeGroup(w, inv, jobs, storage, MaxSheetRows)
	if err != nil {
		return fmt.Errorf("draw the workbook of %q for %s: %w", inv.Group.ID, inv.Period, err)
	}
	return nil
}

func writeGroup(w io.Writer, inv invoice.Invoice, jobs iter.Seq2[JobRow, error], storage []StorageRow, sheetRows int) error {
	if err := inv.Check(); err != nil {
		return err
	}
	zone, err := time.LoadLocation(inv.Zone)
	if err != nil {
		return fmt.Errorf("time zone %q: %w", inv.Zone, err)
	}
	words, err := templates.In(inv.Group.Language)
	if err != nil {
		return err
	}
	b := newBook()
	defer b.file.Close()

	// The face is the first sheet and the last one to be written: it sums the
	// others.
	face := b.newSheet("Invoice", portrait, faceColumns())
	lines := b.writeLines([]invoice.Invoice{inv}, lineColumns, true)
	charges, err := b.writeJobs(inv, zone, jobs, sheetRows)
	if err != nil {
		return err
	}
	charges = charges.and(b.writeStorage(inv, storage))
	if list := listExact(inv); !charges.sum.Equal(list) {
		return fmt.Errorf("the jobs and storage sum to %s, the lines to %s before rounding", charges.sum, list)
	}
	(&faceWriter{sheet: face, inv: inv, words: words}).write(zone, lines[0], charges)
	title := words.Say("invoice") + " " + numberOrDraft(&inv) + " · " + inv.Group.Name + " · " + inv.Period
	return b.save(w, properties(inv.Issuer.Name, title, inv.Period, inv.Issued))
}

// properties are the workbook's own. Its times are the invoice's, never the
// clock's: the issue date, or, of a draft, the first day of the period.
func properties(creator, title, period, issued string) *excelize.DocProperties {
	at := period + "-01T00:00:00Z"
	if issued != "" {
		at = issued
	}
	return &excelize.DocProperties{
		Creator: text(creator), LastModifiedBy: text(creator), Title: text(title),
		Created: at, Modified: at, Language: "en",
	}
}
