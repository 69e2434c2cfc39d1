package xlsx

import (
	"bytes"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

func exact(t *testing.T, text string) money.Exact {
	t.Helper()
	x, err := money.ParseDecimal(text)
	require.NoError(t, err)
	return x
}

func currency(t *testing.T, code string) money.Currency {
	t.Helper()
	c, err := money.ParseCurrency(code)
	require.NoError(t, err)
	return c
}

var cardVersion = rates.Date{Year: 2025, Month: 7, Day: 1}

const cardDigest = "9f2c6f0f0a5e0d6b1f7b6f9d1f3c2e4a5b6c7d8e9fa0b1c2d3e4f5061728394a"

// sample is an issued invoice with its jobs and storage, worked out by hand:
//
//	smp   6.4 + 13.056 SU        × 0.012 = 0.0768 + 0.156672 = 0.233472 → 0.23
//	gpu   24 + 48 + 4 GPU-hours  × 0.35  = 8.40 + 16.80 + 1.40 = 26.60
//	ix    12.5 TB-months         × 3.20  = 40.00
//	waived, of the GPU-hours: the 4      −1.40
//	prepaid, of the SU: 19.456 SU        −0.23
//
// List 66.83, reductions −1.63, total 65.20.
func sample(t *testing.T) (invoice.Invoice, []JobRow, []StorageRow) {
	line := func(position int, kind invoice.Kind, cluster, meter, unit, description, quantity, price, sum string, amount money.Amount, jobs int64) invoice.Line {
		return invoice.Line{
			Position: position, Kind: kind, Cluster: cluster, Meter: meter, Unit: unit, Description: description,
			Quantity: exact(t, quantity), Price: exact(t, price), Exact: exact(t, sum), Amount: amount, Jobs: jobs,
			Card: "pitt-crc", CardDigest: cardDigest, Version: cardVersion,
		}
	}
	inv := invoice.Invoice{
		Number: "HPC-2026-000123", Issued: "2026-04-01T02:00:00Z", Period: "2026-03", Zone: "America/New_York",
		Issuer: invoice.Party{
			Name: "Center for Research Computing", Address: "312 Schenley Place\n4420 Bayard Street\nPittsburgh, PA 15213",
			Email: "billing@crc.example.edu", TaxID: "25-0965591", Footer: "Internal charge: posted to the fund above on the 15th.",
		},
		Group: invoice.Recipient{
			ID: "chem-theory", Name: "Theoretical Chemistry", PI: "PI of Theoretical Chemistry", Department: "Department of Chemistry",
			Class: "internal", Address: "Chevron Science Center\n219 Parkman Avenue", PO: "0047110", Fund: "05-26431-001200", Language: "en",
		},
		Currency: currency(t, "USD"),
		Lines: []invoice.Line{
			line(1, invoice.Usage, "smp", "su", "SU", "2 jobs on smp: 19.456 SU at USD 0.012 per SU", "19.456", "0.012", "0.233472", 23, 2),
			line(2, invoice.Usage, "gpu", "gpu_hours", "GPU-hour", "3 jobs on gpu: 76 GPU-hours at USD 0.35 per GPU-hour", "76", "0.35", "26.6", 2660, 3),
			line(3, invoice.Storage, "ix", "tb_months", "TB-month", "Storage on ix: 12.5 TB-month at USD 3.20 per TB-month", "12.5", "3.20", "40", 4000, 1),
			line(4, invoice.Waiver, "gpu", "gpu_hours", "GPU-hour", "Waived (node failure): 4 GPU-hours of line 2, from 1 job on gpu", "-4", "0.35", "-1.4", -140, 1),
			line(5, invoice.Prepaid, "smp", "su", "SU", "Drawn on allocation FY26: 19.456 SU of line 1", "-19.456", "0.012", "-0.233472", -23, 0),
		},
		List: 6683, Reductions: -163, Total: 6520,
		Balances: []invoice.Balance{{
			Allocation: "FY26", Meter: "su", Unit: "SU", Units: exact(t, "100000"),
			From: cardVersion, Until: rates.Date{Year: 2026, Month: 7, Day: 1},
			Opening: exact(t, "42000"), Drawn: exact(t, "19.456"), Left: exact(t, "41980.544"),
		}},
		Jobs: 4,
	}
	inv.Lines[3].Code, inv.Lines[3].Reason, inv.Lines[3].Of = invoice.CodeWaived, "node failure", 2
	inv.Lines[4].Code, inv.Lines[4].Reason, inv.Lines[4].Of = invoice.CodePrepaid, "FY26", 1

	// 1,772,370,000 is 2026-03-01 13:00:00 UTC, 08:00 in New York, still on
	// winter time.
	job := func(id uint64, user, partition, name, meter, unit, quantity, price, amount string, seconds int64) JobRow {
		return JobRow{
			Group: "chem-theory", Cluster: "smp", RawID: id, User: user, Account: "0012", Partition: partition,
			QoS: "normal", State: "COMPLETED", Name: name, Start: 1772370000, End: ingest.Instant(1772370000 + seconds),
			ElapsedSeconds: seconds, Nodes: 1, CPUs: 4, MemoryMiB: 16 * 1024,
			Meter: meter, Unit: unit, Quantity: exact(t, quantity), Price: exact(t, price), Amount: exact(t, amount),
			Card: "pitt-crc", Version: cardVersion, Rule: partition,
		}
	}
	jobs := []JobRow{
		job(812, "u01", "smp", "relax", "su", "SU", "6.4", "0.012", "0.0768", 7200),
		job(813, "u02", "smp", "md", "su", "SU", "13.056", "0.012", "0.156672", 7200),
		job(814, "u02", "a100", "train", "gpu_hours", "GPU-hour", "24", "0.35", "8.4", 10800),
		job(815, "u02", "a100", "train", "gpu_hours", "GPU-hour", "48", "0.35", "16.8", 21600),
		job(816, "u03", "a100", "lost", "gpu_hours", "GPU-hour", "4", "0.35", "1.4", 1800),
	}
	for i := range jobs {
		jobs[i].JobID = []string{"812", "813", "903_7", "903_8", "600+1"}[i]
		if jobs[i].Partition == "a100" {
			jobs[i].Cluster, jobs[i].GPUs = "gpu", 8
		}
	}
	jobs[4].State, jobs[4].Waived = "NODE_FAIL", "node failure"
	storage := []StorageRow{{
		Filesystem: "ix", From: ingest.Date{Year: 2025, Month: 1, Day: 1}, Days: 31,
		QuotaBytes: 12_500_000_000_000, UsedBytes: ingest.Unknown, QuotaUnit: ingest.TB,
		Meter: "tb_months", Unit: "TB-month", Quantity: exact(t, "12.5"), Price: exact(t, "3.20"), Amount: exact(t, "40"),
		Card: "pitt-crc", Version: cardVersion, Rule: "project",
	}}
	return inv, jobs, storage
}

func rows(jobs ...JobRow) iter.Seq2[JobRow, error] {
	return func(yield func(JobRow, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// draw writes a group's workbook.
func draw(t *testing.T, inv invoice.Invoice, jobs []JobRow, storage []StorageRow) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, WriteGroup(&b, inv, rows(jobs...), storage))
	return b.Bytes()
}

func drawSample(t *testing.T) []byte {
	t.Helper()
	inv, jobs, storage := sample(t)
	return draw(t, inv, jobs, storage)
}

func open(t *testing.T, workbook []byte) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(workbook))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}
