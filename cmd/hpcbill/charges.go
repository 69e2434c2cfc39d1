package main

import (
	"iter"

	"hpcbill/invoice/xlsx"
	"hpcbill/rates"
	"hpcbill/rating"
	"hpcbill/rating/chargestore"
)

// sink takes what became of every job of a period. nil keeps nothing: the sums
// are what is wanted.
type sink func(p rates.Period, outcomes iter.Seq2[rating.Outcome, error]) error

func (to sink) take(p rates.Period, outcomes iter.Seq2[rating.Outcome, error]) error {
	if to != nil {
		return to(p, outcomes)
	}
	for _, err := range outcomes {
		if err != nil {
			return err
		}
	}
	return nil
}

// keepCharges leaves the period's charges, one row each, below dir.
func keepCharges(dir string) sink {
	return func(p rates.Period, outcomes iter.Seq2[rating.Outcome, error]) error {
		return chargestore.Write(dir, p.String(), outcomes)
	}
}

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
