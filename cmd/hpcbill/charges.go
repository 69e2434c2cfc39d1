package main

import (
	"iter"

	"hpcbill/invoice/xlsx"
	"hpcbill/rating"
	"hpcbill/rating/chargestore"
)

// sink is where it goes what became of every job of a period. Of nil, nowhere:
// the sums are what is wanted.
type sink struct {
	dir  string                // where its charges are kept, a row each; "" keeps none
	each func(*rating.Outcome) // called for one at a time, in no order; nil where nobody asks
}

// keepCharges leaves the period's charges, one row each, below dir.
func keepCharges(dir string) *sink { return &sink{dir: dir} }

// keeps reports whether rows are to be made of the charges.
func (to *sink) keeps() bool { return to != nil && to.dir != "" }

// chargeRows gives the charges of one group as a workbook lists them. The
// jobs that have none are passed over.
func chargeRows(dir, period, group string) iter.Seq2[xlsx.JobRow, error] {
	return func(yield func(xlsx.JobRow, error) bool) {
		for row, err := range chargestore.Read(dir, period, group) {
			if err == nil && row.Charge.Meter == "" {
				continue
			}
			if !yield(jobRow(&row), err) {
				return
			}
		}
	}
}

func jobRow(row *chargestore.Row) xlsx.JobRow {
	j, c := &row.Job, &row.Charge
	waived := ""
	if row.Verdict == rating.Waived {
		waived = row.Cause.Detail
	}
	return xlsx.JobRow{
		Group: row.Group, Cluster: j.Cluster, JobID: j.JobID, RawID: j.JobIDRaw,
		User: j.User, Account: j.Account, Partition: j.Partition, QoS: j.QoS, State: string(j.State), Name: j.Name,
		Start: j.Start, End: j.End, ElapsedSeconds: row.Seconds,
		Nodes: j.NodeCount, CPUs: j.CPUs, GPUs: j.GPUs, MemoryMiB: j.MemoryMiB,
		Meter: c.Meter, Unit: c.Unit, Quantity: c.Quantity, Price: c.Price, Amount: c.Amount,
		Card: c.Reason.Card, Version: c.Reason.Version, Rule: c.Reason.Rule, Waived: waived,
	}
}
