package xlsx

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates/money"
)

// charges are where charges stand, and what they sum to.
type charges struct {
	ranges []string // of unrounded amounts
	sum    money.Exact
}

func (c charges) and(d charges) charges {
	return charges{append(c.ranges, d.ranges...), c.sum.Add(d.sum)}
}

// jobColumn is a column of the sheet Jobs and what it says of a row.
type jobColumn struct {
	column
	value func(r *JobRow) any
}

func jobColumns(inv invoice.Invoice, zone *time.Location) []jobColumn {
	number2 := func(c column, value func(r *JobRow) money.Exact) jobColumn {
		return jobColumn{c, func(r *JobRow) any { return number(value(r)) }}
	}
	words := func(title string, width float64, value func(r *JobRow) string) jobColumn {
		return jobColumn{column{title, width, plain}, func(r *JobRow) any { return text(value(r)) }}
	}
	counted := func(title string, width float64, value func(r *JobRow) int64) jobColumn {
		return jobColumn{column{title, width, integer}, func(r *JobRow) any { return count(value(r)) }}
	}
	return []jobColumn{
		words("Period", 9, func(*JobRow) string { return inv.Period }),
		words("Group", 16, func(r *JobRow) string { return r.Group }),
		words("Cluster", 12, func(r *JobRow) string { return r.Cluster }),
		words("Job ID", 13, func(r *JobRow) string { return r.JobID }),
		words("Raw ID", 11, func(r *JobRow) string { return strconv.FormatUint(r.RawID, 10) }),
		words("User", 13, func(r *JobRow) string { return r.User }),
		words("Account", 15, func(r *JobRow) string { return r.Account }),
		words("Partition", 14, func(r *JobRow) string { return r.Partition }),
		words("QoS", 11, func(r *JobRow) string { return r.QoS }),
		words("State", 14, func(r *JobRow) string { return r.State }),
		{column{"Start (" + inv.Zone + ")", 21, datetime}, func(r *JobRow) any { return moment(r.Start, zone) }},
		{column{"End (" + inv.Zone + ")", 21, datetime}, func(r *JobRow) any { return moment(r.End, zone) }},
		number2(column{"Elapsed h", 12, hours}, func(r *JobRow) money.Exact { return money.Ratio(r.ElapsedSeconds, 3600) }),
		counted("Nodes", 8, func(r *JobRow) int64 { return r.Nodes }),
		counted("CPUs", 8, func(r *JobRow) int64 { return r.CPUs }),
		counted("GPUs", 8, func(r *JobRow) int64 { return r.GPUs }),
		{column{"Memory GiB", 12, memory}, func(r *JobRow) any { return gib(r.MemoryMiB) }},
		words("Job name", 24, func(r *JobRow) string { return r.Name }),
		words("Meter", 13, func(r *JobRow) string { return r.Meter }),
		words("Unit", 11, func(r *JobRow) string { return r.Unit }),
		number2(column{"Quantity", 16, unround}, func(r *JobRow) money.Exact { return r.Quantity }),
		number2(column{"Unit price", 13, price}, func(r *JobRow) money.Exact { return r.Price }),
		number2(column{amountTitle + " (" + inv.Currency.Code + ")", 16, unround}, func(r *JobRow) money.Exact { return r.Amount }),
		words("Waived", 18, func(r *JobRow) string { return r.Waived }),
		words("Card", 14, func(r *JobRow) string { return r.Card }),
		{column{"Card version", 12, date}, func(r *JobRow) any { return version(r.Version) }},
		words("Rule", 16, func(r *JobRow) string { return r.Rule }),
	}
}

// jobAmountColumn is the number, from 1, of the column that is summed.
const jobAmountColumn = 23

func gib(mib int64) any {
	if mib == ingest.Unknown {
		return nil
	}
	return number(money.Ratio(mib, 1024))
}

// writeJobs writes the sheet Jobs, and "Jobs 2" and on where one is full.
func (b *book) writeJobs(inv invoice.Invoice, zone *time.Location, jobs iter.Seq2[JobRow, error], sheetRows int) (charges, error) {
	columns := jobColumns(inv, zone)
	heads, values := make([]column, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		heads[i] = c.column
	}
	var all charges
	var s *sheet
	next := func() {
		if s != nil {
			all.ranges = append(all.ranges, s.endOfJobs())
		}
		s = b.newSheet(jobsSheet(len(all.ranges)+1), landscape, heads)
		s.heading()
	}
	next()
	for row, err := range jobs {
		if err != nil {
			return charges{}, err
		}
		if s.rows > sheetRows {
			next()
		}
		for i, c := range columns {
			values[i] = c.value(&row)
		}
		s.add(values...)
		all.sum = all.sum.Add(row.Amount)
		if b.err != nil {
			return charges{}, b.err
		}
	}
	all.ranges = append(all.ranges, s.endOfJobs())
	return all, b.err
}

// endOfJobs ends a sheet of jobs and gives the range of its amounts.
func (s *sheet) endOfJobs() string {
	s.table(strings.ReplaceAll(s.name, " ", "_"))
	s.close()
	return columnRange(s.name, jobAmountColumn, 2, max(2, s.rows))
}

// jobsSheet names the sheets of jobs: "Jobs", "Jobs 2", "Jobs 3" …
func jobsSheet(n int) string {
	if n == 1 {
		return "Jobs"
	}
	return "Jobs " + strconv.Itoa(n)
}
