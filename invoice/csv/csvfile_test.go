package csvfile_test

import (
	"bytes"
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	csvfile "hpcbill/invoice/csv"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

var update = flag.Bool("update", false, "write the golden files anew")

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

// sample is two invoices: one issued in dollars, whose GPU-hours are waived in
// part, and a draft in yen. 80047/1800 SU at 0.012 are 0.533646…
func sample(t *testing.T) []invoice.Invoice {
	version := rates.Date{Year: 2025, Month: 7, Day: 1}
	third, _ := money.Int(80047).Quo(money.Int(1800))
	return []invoice.Invoice{
		{
			Number: "HPC-2026-000123", Issued: "2026-04-01T02:00:00Z", Period: "2026-03", Zone: "America/New_York",
			Group:    invoice.Recipient{ID: "0012", Name: `R&D <"Ärzte"> / Lab, 1`, Department: "Chemistry", Class: "internal", Fund: "1e5", PO: "00123"},
			Currency: currency(t, "USD"), List: 2713, Reductions: -140, Manual: -1000, Total: 1573, Jobs: 5,
			Lines: []invoice.Line{
				{
					Position: 1, Kind: invoice.Usage, Cluster: "smp", Meter: "su", Unit: "SU", PriceLabel: "internal", Description: "2 jobs on smp",
					Quantity: third, Price: exact(t, "0.012"), Exact: third.Mul(exact(t, "0.012")), Amount: 53, Jobs: 2,
					Card: "pitt-crc", CardDigest: "9f2c", Version: version,
				},
				{
					Position: 2, Kind: invoice.Usage, Cluster: "gpu", Meter: "gpu_hours", Unit: "GPU-hour", Description: "3 jobs on gpu",
					Quantity: exact(t, "76"), Price: exact(t, "0.35"), Exact: exact(t, "26.6"), Amount: 2660, Jobs: 3,
					Card: "pitt-crc", CardDigest: "9f2c", Version: version,
				},
				{
					Position: 3, Kind: invoice.Waiver, Cluster: "gpu", Meter: "gpu_hours", Unit: "GPU-hour", Description: "Waived (node failure)",
					Quantity: exact(t, "-4"), Price: exact(t, "0.35"), Exact: exact(t, "-1.4"), Amount: -140, Jobs: 1,
					Code: invoice.CodeWaived, Reason: "node failure", Of: 2, Card: "pitt-crc", CardDigest: "9f2c", Version: version,
				},
				{
					Position: 4, Kind: invoice.Manual, Description: "=Refund", Quantity: exact(t, "-1"), Price: exact(t, "10"), Exact: exact(t, "-10"), Amount: -1000,
					Code: invoice.CodeCredit, Reason: "late, node", Reference: "adj-1", Author: "@jd",
				},
			},
		},
		{
			Period: "2026-03", Zone: "Asia/Tokyo", Group: invoice.Recipient{ID: "bio", Name: "Biology"},
			Currency: currency(t, "JPY"), List: 123456789, Total: 123456789, Jobs: 1,
			Lines: []invoice.Line{{
				Position: 1, Kind: invoice.Usage, Cluster: "a", Meter: "core_hours", Unit: "core-hour", Description: "1 job on a",
				Quantity: exact(t, "123456789"), Price: exact(t, "1"), Exact: exact(t, "123456789"), Amount: 123456789, Jobs: 1,
				Card: "jp", Version: version,
			}},
		},
	}
}

func write(t *testing.T, invoices []invoice.Invoice) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, csvfile.WriteLines(&b, invoices))
	return b.String()
}

func TestGolden(t *testing.T) {
	got := write(t, sample(t))
	path := filepath.Join("..", "..", "testdata", "golden", "lines.csv")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
	require.NotContains(t, got, "\r")
	require.True(t, strings.HasPrefix(got, "period,"))
}

// cells gives a column of what was written, read back.
func cells(t *testing.T, invoices []invoice.Invoice, column string) []string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(write(t, invoices))).ReadAll()
	require.NoError(t, err)
	for i, name := range rows[0] {
		if name == column {
			var all []string
			for _, row := range rows[1:] {
				all = append(all, row[i])
			}
			return all
		}
	}
	t.Fatalf("no column %s", column)
	return nil
}

func TestNumbers(t *testing.T) {
	f := func(column string, want ...string) {
		t.Helper()
		require.Equal(t, want, cells(t, sample(t), column))
	}
	f("quantity", "44.470555555555556", "76", "-4", "-1", "123456789")
	f("amount_unrounded", "0.533646666666667", "26.6", "-1.4", "-10", "123456789")
	f("amount", "0.53", "26.60", "-1.40", "-10.00", "123456789")
	f("unit_price", "0.012", "0.35", "0.35", "10", "1")
	f("group_id", "0012", "0012", "0012", "0012", "bio")
	f("fund", "1e5", "1e5", "1e5", "1e5", "")
	f("status", "issued", "issued", "issued", "issued", "draft")
	f("reduces_line", "", "", "2", "", "")
	f("card_version", "2025-07-01", "2025-07-01", "2025-07-01", "", "2025-07-01")
}

func TestHoldingsAreNoJobs(t *testing.T) {
	require.Equal(t, []string{"2", "3", "1", "", "1"}, cells(t, sample(t), "jobs"))
	invoices := sample(t)[:1]
	invoices[0].Lines[1].Kind = invoice.Storage
	require.Equal(t, []string{"2", "", "", ""}, cells(t, invoices, "jobs"))
}

func TestTextIsNoFormula(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		invoices := sample(t)[:1]
		invoices[0].Group.Name, invoices[0].Group.PO = text, text
		require.Equal(t, want, cells(t, invoices, "group_name")[0])
		require.Equal(t, want, cells(t, invoices, "po")[0])
	}
	f(`=HYPERLINK("http://x","y")`, `'=HYPERLINK("http://x","y")`)
	f("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0")
	f("-1+1", "'-1+1")
	f("@sum", "'@sum")
	f("\t=1", "'␉=1")
	f("\r=1", "'␍=1")
	f("\n=1", "'␊=1")
	f("＝1", "'＝1")
	f("a=1", "a=1")
	f("'quoted", "'quoted")
	f("NA", "NA")
	f("2025-03", "2025-03")
	f("two\nlines, \"quoted\"", "two␊lines, \"quoted\"")
	f("\xff", "\ufffd")
	f("", "")
}

func TestRefusal(t *testing.T) {
	invoices := sample(t)
	invoices[1].Total++
	var b bytes.Buffer
	require.ErrorContains(t, csvfile.WriteLines(&b, invoices), `write the lines of "bio" for 2026-03`)
	require.Empty(t, b.String())
}

func TestWriteFunds(t *testing.T) {
	invoices := sample(t)
	invoices[0].Group.Fund = ""
	invoices[0].Funds = []invoice.FundShare{
		{Fund: "=x", Of: "meter gpu_hours", Base: 573, Percent: exact(t, "100"), Amount: 573},
		{Fund: "1e5", Base: 1000, Percent: exact(t, "62.5"), Amount: 625},
		{Fund: "0099", Base: 1000, Percent: exact(t, "37.5"), Amount: 375},
	}
	var b bytes.Buffer
	require.NoError(t, csvfile.WriteFunds(&b, invoices))
	require.Equal(t, strings.Join(csvfile.FundColumns(), ",")+`
2026-03,HPC-2026-000123,issued,2026-04-01T02:00:00Z,0012,"R&D <""Ärzte""> / Lab, 1",Chemistry,,internal,00123,'=x,meter gpu_hours,5.73,100,,5.73,USD
2026-03,HPC-2026-000123,issued,2026-04-01T02:00:00Z,0012,"R&D <""Ärzte""> / Lab, 1",Chemistry,,internal,00123,1e5,,10.00,62.5,,6.25,USD
2026-03,HPC-2026-000123,issued,2026-04-01T02:00:00Z,0012,"R&D <""Ärzte""> / Lab, 1",Chemistry,,internal,00123,0099,,10.00,37.5,,3.75,USD
2026-03,,draft,,bio,Biology,,,,,,,123456789,100,,123456789,JPY
`, b.String())

	invoices[0].Funds[2].Amount++
	b.Reset()
	require.ErrorContains(t, csvfile.WriteFunds(&b, invoices), "the funds pay 1001 of 1000")
	require.Empty(t, b.String())
}
