package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"hpcbill/invoice"
	csvfile "hpcbill/invoice/csv"
	"hpcbill/invoice/history"
	"hpcbill/invoice/html"
	"hpcbill/invoice/xlsx"
	"hpcbill/rates"
	"hpcbill/rating"
)

// documents are the files of one period: drawn from invoices and charges
// alone, so that they can be drawn again, byte for byte, at any time.
type documents struct {
	dir       string // where they go
	charges   string // where the period's charges are
	period    rates.Period
	language  string // of the overview
	invoices  []invoice.Invoice
	storage   []rating.StorageOutcome
	chainHead string // of the issue, "" in a draft

	written []history.Document
}

// document is one file that is to be drawn.
type document struct {
	number, name string
	draw         func(io.Writer) error
}

// draw writes every document, several at a time, and removes what a former
// draft, or a run that was killed, left there.
func (d *documents) draw(ctx context.Context) error {
	all := d.list()
	d.written = make([]history.Document, len(all))
	errs := make([]error, len(all))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(all)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				d.written[i], errs[i] = d.write(all[i])
			}
		})
	}
	workers.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return err
	}
	if d.chainHead == "" { // what stands beside the issued documents is somebody's
		if err := d.removeStrangers(); err != nil {
			return err
		}
	}
	return removeHalfFiles(d.dir)
}

// list gives the documents of the period, the largest first: the workbook of
// all groups, then each group's workbook and page.
func (d *documents) list() []document {
	prefix := "period-" + d.period.String()
	all := []document{
		{"", prefix + ".xlsx", func(w io.Writer) error {
			return xlsx.WriteDepartment(w, d.period.String(), d.invoices, d.allRows())
		}},
		{"", prefix + ".csv", func(w io.Writer) error { return csvfile.WriteLines(w, d.invoices) }},
		{"", prefix + ".html", func(w io.Writer) error {
			return html.WriteSummary(w, d.period.String(), d.language, d.invoices, func(inv invoice.Invoice) string { return stem(&inv) + ".html" })
		}},
	}
	if invoice.AnySplit(d.invoices) {
		all = append(all, document{"", prefix + "-funds.csv", func(w io.Writer) error { return csvfile.WriteFunds(w, d.invoices) }})
	}
	for i := range d.invoices {
		inv := &d.invoices[i]
		all = append(all,
			document{inv.Number, stem(inv) + ".xlsx", func(w io.Writer) error {
				return xlsx.WriteGroup(w, *inv, d.groupRows(inv.Group.ID), d.storageRows(inv.Group.ID))
			}},
			document{inv.Number, stem(inv) + ".html", func(w io.Writer) error {
				return html.Write(w, *inv, html.Extras{ChainHead: d.chainHead, Storage: heldBy(d.storage, inv.Group.ID)})
			}},
		)
	}
	return all
}

// stem names an invoice's files: by its number, where it has one, and its
// group.
func stem(inv *invoice.Invoice) string {
	if inv.Number != "" {
		return inv.Number + "-" + inv.Group.FileStem()
	}
	return inv.Group.FileStem()
}

func (d *documents) write(doc document) (history.Document, error) {
	hash, size := sha256.New(), &byteCount{}
	err := writeFile(filepath.Join(d.dir, doc.name), func(w io.Writer) error {
		return doc.draw(io.MultiWriter(w, hash, size))
	})
	return history.Document{Number: doc.number, Name: doc.name, Digest: hex.EncodeToString(hash.Sum(nil)), Bytes: size.n}, err
}

type byteCount struct{ n int64 }

func (c *byteCount) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// removeStrangers removes documents of a draft that are not part of this one,
// such as those of a group that owes nothing any more.
func (d *documents) removeStrangers() error {
	known := map[string]bool{}
	for _, w := range d.written {
		known[w.Name] = true
	}
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		switch ext := filepath.Ext(e.Name()); {
		case e.IsDir() || known[e.Name()]:
		case ext == ".html" || ext == ".xlsx" || ext == ".csv":
			errs = append(errs, os.Remove(filepath.Join(d.dir, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// groupRows are the rows of one group's Jobs sheet.
func (d *documents) groupRows(group string) iter.Seq2[xlsx.JobRow, error] {
	return chargeRows(d.charges, d.period.String(), group)
}

// allRows are the rows of every group.
func (d *documents) allRows() iter.Seq2[xlsx.JobRow, error] {
	return func(yield func(xlsx.JobRow, error) bool) {
		for i := range d.invoices {
			for row, err := range d.groupRows(d.invoices[i].Group.ID) {
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	}
}

// storageRows are the rows of one group's Storage sheet.
func (d *documents) storageRows(group string) []xlsx.StorageRow {
	var rows []xlsx.StorageRow
	for _, o := range d.storage {
		if o.Holding.Group != group {
			continue
		}
		waived := ""
		if o.Verdict == rating.Waived {
			waived = o.Cause.Detail
		}
		for _, c := range o.Charges {
			rows = append(rows, xlsx.StorageRow{
				Filesystem: o.Holding.Filesystem, Tier: o.Holding.Tier, Holder: o.Holding.Holder, From: o.Holding.From, Until: o.Holding.Until, Days: o.Days,
				QuotaBytes: o.Holding.QuotaBytes, UsedBytes: o.Holding.UsedBytes, QuotaUnit: o.Holding.Unit, EstimatedDays: int(c.EstimatedDays),
				Meter: c.Meter, Unit: c.Unit, Quantity: c.Quantity, Price: c.Price, Amount: c.Amount,
				Card: c.Reason.Card, Version: c.Reason.Version, Rule: c.Reason.Rule, Waived: waived,
			})
		}
	}
	return rows
}
