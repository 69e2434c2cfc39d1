package xlsx

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// reduced is the sample with a subsidy of 10.00 on its line of storage, of 25.00
// a quarter, of which 5.00 were taken before and 2.00 by others.
func reduced(t *testing.T) (invoice.Invoice, []JobRow, []StorageRow) {
	inv, jobs, storage := sample(t)
	l := inv.Lines[2]
	l.Position, l.Kind, l.Of, l.Code, l.Reason = 6, invoice.Discount, 3, invoice.CodeSubsidy, "BU subsidy"
	l.Description = "BU subsidy: 25 % off line 3, up to 25.00 USD a quarter for each PI"
	l.Quantity, l.Price, l.Exact, l.Amount, l.Jobs = money.Exact{}, money.Exact{}, exact(t, "-10"), -1000, 0
	inv.Lines = append(inv.Lines, l)
	inv.Reductions, inv.Total = inv.Reductions-1000, inv.Total-1000
	inv.Pools = []invoice.Pool{{
		Kind: invoice.Discount, Rule: "BU subsidy", SharedBy: rates.ByPI, Of: "Ada", Per: rates.PerQuarter,
		From: rates.Date{Year: 2026, Month: 1, Day: 1}, Unit: "USD",
		Limit: exact(t, "25"), Opening: exact(t, "5"), Counted: exact(t, "10"), Others: exact(t, "2"),
	}}
	return inv, jobs, storage
}

// rowWith gives the first row of a sheet that holds the text, from 1.
func rowWith(t *testing.T, f *excelize.File, sheet, text string) int {
	t.Helper()
	found, err := f.SearchSheet(sheet, text)
	require.NoError(t, err)
	require.NotEmpty(t, found, text)
	_, row, err := excelize.CellNameToCoordinates(found[0])
	require.NoError(t, err)
	return row
}

func TestLimits(t *testing.T) {
	inv, jobs, storage := reduced(t)
	f := open(t, draw(t, inv, jobs, storage))
	cell := func(sheet string, column, row int) string {
		t.Helper()
		text, err := f.GetCellValue(sheet, cellName(column, row))
		require.NoError(t, err)
		return text
	}
	line := rowWith(t, f, "Lines", "subsidy")
	require.Empty(t, cell("Lines", columnOf(lineColumns, "Quantity"), line))
	require.Empty(t, cell("Lines", columnOf(lineColumns, "Unit price"), line))
	require.Equal(t, "-10.00", cell("Lines", columnOf(lineColumns, "Amount"), line))
	row := rowWith(t, f, "Invoice", "BU subsidy (USD a quarter)")
	require.Equal(t, "8.00", cell("Invoice", faceAmount+1, row))
	require.Equal(t, "2.00", cell("Invoice", faceAmount+1, row+1))
	formula, err := f.GetCellFormula("Invoice", cellName(faceAmount+1, row))
	require.NoError(t, err)
	computed, err := f.CalcCellValue("Invoice", cellName(faceAmount+1, row))
	require.NoError(t, err)
	require.Equal(t, "8.00", computed, formula)

	var b bytes.Buffer
	require.NoError(t, WriteDepartment(&b, inv.Period, []invoice.Invoice{inv}, rows(jobs...)))
	f = open(t, b.Bytes())
	row = rowWith(t, f, "Limits", "BU subsidy")
	require.Equal(t, []string{"25.00", "5.00", "10.00", "2.00", "8.00"},
		[]string{cell("Limits", 10, row), cell("Limits", 11, row), cell("Limits", 12, row), cell("Limits", 13, row), cell("Limits", 14, row)})
	computed, err = f.CalcCellValue("Limits", cellName(14, row))
	require.NoError(t, err)
	require.Equal(t, "8.00", computed)
}
