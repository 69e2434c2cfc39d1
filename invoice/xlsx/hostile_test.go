package xlsx

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates/money"
)

// cell gives a cell as stored, and checks that it is text and no formula.
func textCell(t *testing.T, f *excelize.File, sheet, cell string) string {
	t.Helper()
	kind, err := f.GetCellType(sheet, cell)
	require.NoError(t, err)
	require.Equal(t, excelize.CellTypeInlineString, kind, "%s!%s", sheet, cell)
	formula, err := f.GetCellFormula(sheet, cell)
	require.NoError(t, err)
	require.Empty(t, formula)
	value, err := f.GetCellValue(sheet, cell, excelize.Options{RawCellValue: true})
	require.NoError(t, err)
	return value
}

// TestTextStaysText draws a text in every place that takes one.
func TestTextStaysText(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		inv, jobs, storage := sample(t)
		inv.Group = invoice.Recipient{ID: text, Name: text, PI: text, Department: text, Class: text, PO: text, Fund: text}
		inv.Issuer.Name, inv.Lines[0].Description, inv.Lines[0].Cluster, inv.Lines[0].Unit = text, text, text, text
		inv.Lines[3].Code, inv.Lines[3].Reason = text, text
		j := &jobs[0]
		j.Group, j.Cluster, j.JobID, j.User, j.Account, j.Partition, j.QoS = text, text, text, text, text, text, text
		j.State, j.Name, j.Meter, j.Unit, j.Card, j.Rule, j.Waived = text, text, text, text, text, text, text
		storage[0].Filesystem, storage[0].Rule = text, text
		book := open(t, draw(t, inv, jobs, storage))
		for _, at := range []string{
			"Invoice!A1", "Invoice!A9", "Invoice!A10", "Invoice!A11", "Invoice!F12", "Invoice!F13", "Invoice!F14", "Invoice!F15", "Invoice!B19", "Invoice!D19",
			"Lines!E2", "Lines!G2", "Lines!J2", "Lines!P5", "Lines!Q5",
			"Jobs!B2", "Jobs!C2", "Jobs!D2", "Jobs!F2", "Jobs!G2", "Jobs!H2", "Jobs!I2", "Jobs!J2", "Jobs!R2", "Jobs!S2", "Jobs!T2", "Jobs!X2", "Jobs!Y2", "Jobs!AA2",
			"Storage!B2", "Storage!C2", "Storage!U2",
		} {
			sheet, cell, _ := strings.Cut(at, "!")
			require.Equal(t, want, textCell(t, book, sheet, cell), at)
		}
	}
	same := func(text string) {
		t.Helper()
		f(text, text)
	}
	same(`=HYPERLINK("http://x","y")`)
	same("+cmd")
	same("-1+1")
	same("@sum")
	same("NA")
	same("null")
	same("0012")
	same("1e5")
	same("TRUE")
	same("2025-03")
	same("<script>alert(1)</script> & &amp;")
	same("_x0041_ _x005F_")
	same("  blanks around  ")
	same("😀 漢字 Ärzte")
	f("\ttab", "␉tab")
	f("bell\x07 us\x1f nul\x00", "bell␇ us␟ nul␀")
	f("two\nlines\r\n", "two␊lines␍␊")
	f("not UTF-8 \xff\xfe", "not UTF-8 \ufffd")
	f("\ufffe\uffff", "\ufffd\ufffd")
}

func TestLongTextIsCutWithAMark(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		inv, jobs, storage := sample(t)
		jobs[0].Name = text
		got := textCell(t, open(t, draw(t, inv, jobs, storage)), "Jobs", "R2")
		require.LessOrEqual(t, len(utf16.Encode([]rune(got))), 32767)
		require.True(t, want == got, "%d against %d characters", len(want), len(got))
	}
	f(strings.Repeat("a", 32767), strings.Repeat("a", 32767))
	f(strings.Repeat("a", 40000), strings.Repeat("a", 32766)+"…")
	f(strings.Repeat("ä", 32767), strings.Repeat("ä", 32767))
	f(strings.Repeat("😀", 16384), strings.Repeat("😀", 16383)+"…")
	f("a"+strings.Repeat("😀", 16383), "a"+strings.Repeat("😀", 16383))
	f("a"+strings.Repeat("😀", 16384), "a"+strings.Repeat("😀", 16382)+"…")
}

func TestJobsGoOnUponTheNextSheet(t *testing.T) {
	inv, jobs, storage := sample(t)
	for sheetRows, want := range map[int][]string{
		5: {"Invoice", "Lines", "Jobs", "Storage"},
		4: {"Invoice", "Lines", "Jobs", "Jobs 2", "Storage"},
		2: {"Invoice", "Lines", "Jobs", "Jobs 2", "Jobs 3", "Storage"},
	} {
		var b strings.Builder
		require.NoError(t, writeGroup(&b, inv, rows(jobs...), storage, sheetRows))
		f := open(t, []byte(b.String()))
		require.Equal(t, want, f.GetSheetList())
		var ids []string
		for _, sheet := range want[2 : len(want)-1] {
			lines, err := f.GetRows(sheet)
			require.NoError(t, err)
			require.LessOrEqual(t, len(lines), sheetRows+1)
			require.Equal(t, "Job ID", lines[0][3])
			for _, line := range lines[1:] {
				ids = append(ids, line[3])
			}
			tables, err := f.GetTables(sheet)
			require.NoError(t, err)
			require.Len(t, tables, 1)
		}
		require.Equal(t, []string{"812", "813", "903_7", "903_8", "600+1"}, ids)
		sum, err := f.CalcCellValue("Invoice", "F37", excelize.Options{RawCellValue: true})
		require.NoError(t, err)
		require.Equal(t, "66.833472", sum)
	}
}

func TestMinorDigits(t *testing.T) {
	f := func(code, shown, formula string, total money.Amount) {
		t.Helper()
		inv, jobs, _ := sample(t)
		inv.Currency = currency(t, code)
		x := inv.Currency.Exact(total)
		inv.Lines = inv.Lines[:1]
		inv.Lines[0].Exact, inv.Lines[0].Amount = x, total
		inv.List, inv.Reductions, inv.Total, inv.Balances = total, 0, total, nil
		jobs[0].Amount = x
		book := open(t, draw(t, inv, jobs[:1], nil))
		got, err := book.GetCellValue("Invoice", "F20")
		require.NoError(t, err)
		require.Equal(t, shown, got)
		got, err = book.GetCellFormula("Invoice", "F20")
		require.NoError(t, err)
		require.Equal(t, formula, got)
	}
	f("JPY", "123,456", "ROUND(SUM(Lines!M2:M2),0)", 123456)
	f("KWD", "123.456", "ROUND(SUM(Lines!M2:M2),3)", 123456)
	f("USD", "1,234,567,890.12", "ROUND(SUM(Lines!M2:M2),2)", 123456789012)
	f("USD", "0.01", "ROUND(SUM(Lines!M2:M2),2)", 1)
	f("USD", "9,999,999,999,999.99", "ROUND(SUM(Lines!M2:M2),2)", 999_999_999_999_999)
}

func TestUnknownStaysEmpty(t *testing.T) {
	inv, jobs, storage := sample(t)
	jobs[0].Nodes, jobs[0].CPUs, jobs[0].GPUs, jobs[0].MemoryMiB = ingest.Unknown, ingest.Unknown, ingest.Unknown, ingest.Unknown
	jobs[0].Start, jobs[0].End = ingest.None, ingest.None
	f := open(t, draw(t, inv, jobs, storage))
	for _, cell := range []string{"K2", "L2", "N2", "O2", "P2", "Q2"} {
		got, err := f.GetCellValue("Jobs", cell)
		require.NoError(t, err)
		require.Empty(t, got, cell)
	}
}

func TestClockChange(t *testing.T) {
	inv, jobs, storage := sample(t)
	jobs[0].Start, jobs[0].End = 1772953199, 1772953200 // the last second of winter in New York, and the first of summer
	f := open(t, draw(t, inv, jobs, storage))
	start, err := f.GetCellValue("Jobs", "K2")
	require.NoError(t, err)
	require.Equal(t, "2026-03-08 01:59:59", start)
	end, err := f.GetCellValue("Jobs", "L2")
	require.NoError(t, err)
	require.Equal(t, "2026-03-08 03:00:00", end)
}

func TestNoJobs(t *testing.T) {
	inv, _, storage := sample(t)
	inv.Lines = inv.Lines[2:3]
	inv.Lines[0].Position = 1
	inv.List, inv.Reductions, inv.Total, inv.Balances, inv.Jobs = 4000, 0, 4000, nil, 0
	f := open(t, draw(t, inv, nil, storage))
	lines, err := f.GetRows("Jobs")
	require.NoError(t, err)
	require.Len(t, lines, 1)
}

func TestRefusals(t *testing.T) {
	f := func(want string, change func(*invoice.Invoice, []JobRow, []StorageRow)) {
		t.Helper()
		inv, jobs, storage := sample(t)
		change(&inv, jobs, storage)
		var b strings.Builder
		require.ErrorContains(t, WriteGroup(&b, inv, rows(jobs...), storage), want)
		require.Empty(t, b.String())
	}
	f("the invoice says 6683, -163 and 6521", func(inv *invoice.Invoice, _ []JobRow, _ []StorageRow) { inv.Total++ })
	f("the jobs and storage sum to 66.8335, the lines to 66.833472 before rounding", func(_ *invoice.Invoice, jobs []JobRow, _ []StorageRow) {
		jobs[1].Amount = exact(t, "0.1567")
	})
	f("the jobs and storage sum to 67.833472", func(_ *invoice.Invoice, _ []JobRow, storage []StorageRow) { storage[0].Amount = money.Int(41) })
	f("has more than the 15 digits", func(inv *invoice.Invoice, jobs []JobRow, _ []StorageRow) {
		more := money.Int(10_000_000_000_000)
		jobs[0].Amount = jobs[0].Amount.Add(more)
		inv.Lines[0].Exact = inv.Lines[0].Exact.Add(more)
		inv.Lines[0].Amount += 1_000_000_000_000_000
		inv.List += 1_000_000_000_000_000
		inv.Total += 1_000_000_000_000_000
	})
	f(`time zone "Mars/Base"`, func(inv *invoice.Invoice, _ []JobRow, _ []StorageRow) { inv.Zone = "Mars/Base" })
	f(`"xx" is not one of en, es`, func(inv *invoice.Invoice, _ []JobRow, _ []StorageRow) { inv.Group.Language = "xx" })
}

func TestErrorOfJobsEndsIt(t *testing.T) {
	inv, jobs, storage := sample(t)
	broken := errors.New("the charges end early")
	var b strings.Builder
	err := WriteGroup(&b, inv, func(yield func(JobRow, error) bool) {
		_ = yield(jobs[0], nil) && yield(JobRow{}, broken)
	}, storage)
	require.ErrorIs(t, err, broken)
	require.Empty(t, b.String())
}

func TestDepartmentRefusals(t *testing.T) {
	f := func(want string, change func(invoices []invoice.Invoice, jobs []JobRow)) {
		t.Helper()
		invoices, jobs := period(t)
		change(invoices, jobs)
		var b strings.Builder
		require.ErrorContains(t, WriteDepartment(&b, "2026-03", invoices, rows(jobs...)), want)
		require.Empty(t, b.String())
	}
	f(`the jobs of "chem-theory" sum to 25.433472, its usage lines to 26.833472`, func(_ []invoice.Invoice, jobs []JobRow) { jobs[4].Amount = money.Exact{} })
	f(`the jobs of "0012" sum to 1.4, its usage lines to 0`, func(_ []invoice.Invoice, jobs []JobRow) { jobs[4].Group = "0012" })
	f(`the invoice of "0012" is for 2026-02`, func(invoices []invoice.Invoice, _ []JobRow) { invoices[0].Period = "2026-02" })
}

// TestCurrenciesAreNotAdded has a total for each currency of a period.
func TestCurrenciesAreNotAdded(t *testing.T) {
	invoices, jobs := period(t)
	invoices[0].Currency, invoices[0].Funds = currency(t, "KWD"), nil
	invoices[0].Lines[0].Amount, invoices[0].List, invoices[0].Total = 40000, 40000, 40000
	var b strings.Builder
	require.NoError(t, WriteDepartment(&b, "2026-03", invoices, rows(jobs...)))
	lines, err := open(t, []byte(b.String())).GetRows("Summary")
	require.NoError(t, err)
	require.Len(t, lines, 6)
	require.Equal(t, []string{"KWD", "40.000", "0.000", "0.000", "40.000", "40.000", "agrees"}, lines[4][10:])
	require.Equal(t, []string{"USD", "66.83", "-1.63", "0.00", "65.20", "65.20", "agrees"}, lines[5][10:])
}
