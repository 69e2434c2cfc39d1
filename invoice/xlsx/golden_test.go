package xlsx

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/xuri/excelize/v2"

	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

var update = flag.Bool("update", false, "write the golden files anew")

// cellsOf prints every cell of a workbook: its type, its value as stored and
// as shown, and its formula.
func cellsOf(t *testing.T, f *excelize.File) string {
	t.Helper()
	var b strings.Builder
	for _, name := range f.GetSheetList() {
		fmt.Fprintf(&b, "== %s\n", name)
		rows, err := f.GetRows(name, excelize.Options{RawCellValue: true})
		require.NoError(t, err)
		for i, row := range rows {
			for j, raw := range row {
				cell := cellName(j+1, i+1)
				kind, err := f.GetCellType(name, cell)
				require.NoError(t, err)
				shown, err := f.GetCellValue(name, cell)
				require.NoError(t, err)
				formula, err := f.GetCellFormula(name, cell)
				require.NoError(t, err)
				if raw == "" && formula == "" {
					continue
				}
				fmt.Fprintf(&b, "%s\t%s\t%s", cell, kindName(t, kind), raw)
				if shown != raw {
					fmt.Fprintf(&b, "\t[%s]", shown)
				}
				if formula != "" {
					fmt.Fprintf(&b, "\t=%s", formula)
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

func kindName(t *testing.T, kind excelize.CellType) string {
	t.Helper()
	switch kind {
	case excelize.CellTypeUnset:
		return "number"
	case excelize.CellTypeInlineString:
		return "text"
	}
	t.Fatalf("a cell of type %d", kind)
	return ""
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "golden", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// period is the sample with a second group, a draft that has storage alone.
func period(t *testing.T) ([]invoice.Invoice, []JobRow) {
	inv, jobs, _ := sample(t)
	bio := inv
	bio.Number, bio.Issued, bio.Jobs, bio.Balances = "", "", 0, nil
	bio.Group = invoice.Recipient{ID: "0012", Name: "Biology", Department: "Life Sciences", Fund: "1e5", Language: "en"}
	bio.Lines = []invoice.Line{inv.Lines[2]}
	bio.Lines[0].Position = 1
	bio.List, bio.Reductions, bio.Total = 4000, 0, 4000
	bio.Group.Fund, bio.Funds = "", funds(t)
	return []invoice.Invoice{bio, inv}, jobs
}

// funds pay 40.00: 10.00 for a meter, a fixed 0.01, and thirds of 29.99.
func funds(t *testing.T) []invoice.FundShare {
	return []invoice.FundShare{
		{Fund: "0077", Of: "meter tb_months", Base: 1000, Percent: money.Int(100), Amount: 1000},
		{Fund: "=cmd()", Base: 3000, Percent: money.Ratio(100, 3), Amount: 1000},
		{Fund: "1e5", Base: 3000, Percent: money.Ratio(200, 3), Amount: 1999},
		{Fund: "0099", Base: 3000, Fixed: 1, Amount: 1},
	}
}

func drawPeriod(t *testing.T) []byte {
	t.Helper()
	invoices, jobs := period(t)
	var b bytes.Buffer
	require.NoError(t, WriteDepartment(&b, "2026-03", invoices, rows(jobs...)))
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	requireGolden(t, "workbook-group.txt", cellsOf(t, open(t, drawSample(t))))
	requireGolden(t, "workbook-department.txt", cellsOf(t, open(t, drawPeriod(t))))

	inv, jobs, storage := sample(t)
	inv.Number, inv.Issued, inv.Group.Language = "", "", "es"
	inv.Balances[0].Beyond, inv.Balances[0].Overdraft = money.Int(7), rates.OverdraftWarn
	inv.Balances[0].Deposits, inv.Balances[0].Refunds, inv.Balances[0].Left = money.Int(5), money.Int(2), inv.Balances[0].Left.Add(money.Int(3))
	inv.Pools = []invoice.Pool{{
		Kind: invoice.Allowance, Rule: "=Free tier", SharedBy: rates.ByPI, Of: "Ada <1>", Per: rates.PerQuarter, Meter: "su", Unit: "SU", Limit: money.Int(130), Carried: money.Int(30),
		From: rates.Date{Year: 2026, Month: 1, Day: 1}, Until: rates.Date{Year: 2026, Month: 4, Day: 1}, Opening: money.Int(40), Others: money.Int(5),
	}}
	inv.Lines = append(inv.Lines, invoice.Line{
		Position: 6, Kind: invoice.Manual, Description: "=Refund", Quantity: money.Int(-1), Price: exact(t, "5.2"), Exact: exact(t, "-5.2"), Amount: -520,
		Code: invoice.CodeCredit, Reason: "late node", Reference: "adj-1", Author: "jd",
	})
	inv.Lines = append(inv.Lines, invoice.Line{
		Position: 7, Kind: invoice.Overhead, Description: "Overhead 15 % of 60.00 USD", Quantity: exact(t, "60"), Unit: "USD", Price: exact(t, "0.15"),
		Exact: exact(t, "9"), Amount: 900, Code: invoice.CodeOverhead,
	}, invoice.Line{
		Position: 8, Kind: invoice.Tax, Description: "IVA 19 % of 69.00 USD", Quantity: exact(t, "69"), Unit: "USD", Price: exact(t, "0.19"),
		Exact: exact(t, "13.11"), Amount: 1311, Code: invoice.CodeTax,
	})
	inv.Taxes = []invoice.TaxSum{{Name: "IVA", Percent: exact(t, "19"), Of: invoice.Taxable(), Base: 6900, Amount: 1311, Note: "=note"}}
	inv.Manual, inv.Overhead, inv.Tax, inv.Total = -520, 900, 1311, 8211
	inv.Group.Fund = ""
	inv.Funds = []invoice.FundShare{
		{Fund: "1e5", Base: inv.Total, Percent: money.Ratio(125, 2), Amount: 5132},
		{Fund: "0099", Base: inv.Total, Percent: money.Ratio(75, 2), Amount: 3079},
	}
	requireGolden(t, "workbook-draft-es.txt", cellsOf(t, open(t, draw(t, inv, jobs, storage))))
}

func TestSameBytes(t *testing.T) {
	group, department := drawSample(t), drawPeriod(t)
	for range 2 {
		require.Equal(t, group, drawSample(t))
		require.Equal(t, department, drawPeriod(t))
	}
}

// TestFormulas computes every formula anew and compares it with the value
// beside it.
func TestFormulas(t *testing.T) {
	count := 0
	for _, workbook := range [][]byte{drawSample(t), drawPeriod(t)} {
		f := open(t, workbook)
		for _, name := range f.GetSheetList() {
			rows, err := f.GetRows(name)
			require.NoError(t, err)
			for i := range rows {
				for j := range rows[i] {
					cell := cellName(j+1, i+1)
					if formula, _ := f.GetCellFormula(name, cell); formula == "" {
						continue
					}
					count++
					want, err := f.CalcCellValue(name, cell, excelize.Options{RawCellValue: true})
					require.NoError(t, err, "%s!%s", name, cell)
					got, err := f.GetCellValue(name, cell, excelize.Options{RawCellValue: true})
					require.NoError(t, err)
					require.InDelta(t, number(exact(t, want)), number(exact(t, got)), 1e-9, "%s!%s", name, cell)
				}
			}
		}
	}
	require.Greater(t, count, 20)
}
