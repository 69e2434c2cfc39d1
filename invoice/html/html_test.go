package html_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/invoice/html"
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

const cardDigest = "9f2c6f0f0a5e0d6b1f7b6f9d1f3c2e4a5b6c7d8e9fa0b1c2d3e4f5061728394a"

// sample is an issued invoice with every kind of line: 12,410.5 SU at 0.012
// (148.93), 640 GPU-hours at 0.35 (224.00), 12 TB-months at 3.20 (38.40), a
// waiver of −3.50 and a prepaid draw of −120.00, which leave 287.83.
func sample(t *testing.T) invoice.Invoice {
	from := rates.Date{Year: 2025, Month: 7, Day: 1}
	line := func(position int, kind invoice.Kind, cluster, meter, unit, description, quantity, price, sum string, amount money.Amount, jobs int64) invoice.Line {
		return invoice.Line{
			Position: position, Kind: kind, Cluster: cluster, Meter: meter, Unit: unit, Description: description,
			Quantity: exact(t, quantity), Price: exact(t, price), Exact: exact(t, sum), Amount: amount, Jobs: jobs,
			Card: "pitt-crc", CardDigest: cardDigest, Version: from,
		}
	}
	inv := invoice.Invoice{
		Number: "HPC-2026-000123", Issued: "2026-04-01T02:00:00Z", Period: "2026-03", Zone: "America/New_York",
		Issuer: invoice.Party{
			Name: "Center for Research Computing", Address: "312 Schenley Place\n4420 Bayard Street\nPittsburgh, PA 15213",
			Email: "billing@crc.example.edu", TaxID: "25-0965591",
			Footer: "Internal charge: posted to the fund above on the 15th. Questions about a line: billing@crc.example.edu.",
		},
		Group: invoice.Recipient{
			ID: "chem-theory", Name: "Theoretical Chemistry", PI: "PI of Theoretical Chemistry", Department: "Department of Chemistry",
			Class: "internal", Address: "Chevron Science Center\n219 Parkman Avenue", PO: "PO-0047110", Fund: "05-26431-001200", Language: "en",
			Contacts: []string{"chem-accounts@example.edu"},
		},
		Currency: currency(t, "USD"),
		Lines: []invoice.Line{
			line(1, invoice.Usage, "smp", "su", "SU", "4,110 jobs on smp: 12,410.5 SU at USD 0.012 per SU", "12410.5", "0.012", "148.926", 14893, 4110),
			line(2, invoice.Usage, "gpu", "gpu_hours", "GPU-hour", "88 jobs on gpu: 640 GPU-hours at USD 0.35 per GPU-hour (internal)", "640", "0.35", "224", 22400, 88),
			line(3, invoice.Storage, "ix", "tb_months", "TB-month", "Storage on ix: 12 TB-month at USD 3.20 per TB-month", "12", "3.20", "38.4", 3840, 0),
			line(4, invoice.Waiver, "gpu", "gpu_hours", "GPU-hour", "Waived (node failure): 10 GPU-hours of line 2, from 2 jobs on gpu", "-10", "0.35", "-3.5", -350, 2),
			line(5, invoice.Prepaid, "smp", "su", "SU", "Drawn on allocation FY26: 10,000 SU of line 1", "-10000", "0.012", "-120", -12000, 0),
		},
		List: 41133, Reductions: -12350, Total: 28783,
		Balances: []invoice.Balance{{
			Allocation: "FY26", Meter: "su", Unit: "SU", Units: exact(t, "100000"),
			From: from, Until: rates.Date{Year: 2026, Month: 7, Day: 1},
			Opening: exact(t, "42000"), Drawn: exact(t, "10000"), Left: exact(t, "32000"),
		}},
		Jobs: 4198,
	}
	inv.Lines[1].PriceLabel = "internal"
	inv.Lines[3].Code, inv.Lines[3].Reason, inv.Lines[3].Of = invoice.CodeWaived, "node failure", 2
	inv.Lines[4].Code, inv.Lines[4].Reason, inv.Lines[4].Of = invoice.CodePrepaid, "FY26", 1
	return inv
}

// adjustment is a charge or a credit that a person wrote.
func adjustment(t *testing.T, position int, price string, amount money.Amount, code string) invoice.Line {
	l := invoice.Line{Position: position, Kind: invoice.Manual, Description: "Consulting on GROMACS <1>", Quantity: money.Int(1), Price: exact(t, price),
		Exact: exact(t, price), Amount: amount, Code: code, Reason: "order 7", Reference: "adj-0b6d1c0e5d4f", Author: "jd"}
	if amount < 0 {
		l.Quantity, l.Exact = l.Quantity.Neg(), l.Exact.Neg()
	}
	return l
}

// added is a percentage of an amount.
func added(t *testing.T, position int, kind invoice.Kind, of, price string, amount money.Amount) invoice.Line {
	return invoice.Line{Position: position, Kind: kind, Description: "a percentage", Code: string(kind), Unit: "USD",
		Quantity: exact(t, of), Price: exact(t, price), Exact: exact(t, of).Mul(exact(t, price)), Amount: amount}
}

// funds pay 392.70: 80.00 of it is what gpu_hours come to, and of the rest
// 20.00 are fixed, so that thirds of 292.70 are left.
func funds(t *testing.T) []invoice.FundShare {
	two, _ := money.Int(200).Quo(money.Int(3))
	one, _ := money.Int(100).Quo(money.Int(3))
	return []invoice.FundShare{
		{Fund: "0077-002", Of: "meter gpu_hours", Base: 8000, Percent: exact(t, "100"), Amount: 8000},
		{Fund: "05-26431-001200", Base: 31270, Percent: two, Amount: 19513},
		{Fund: "0044-100", Base: 31270, Percent: one, Amount: 9757},
		{Fund: "0099-001", Base: 31270, Fixed: 2000, Amount: 2000},
	}
}

func draw(t *testing.T, inv invoice.Invoice, extras html.Extras) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, html.Write(&b, inv, extras))
	return b.String()
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

func TestAllowancesAndMovements(t *testing.T) {
	inv := sample(t)
	inv.Balances[0].Deposits, inv.Balances[0].Refunds, inv.Balances[0].Left = money.Int(50), money.Int(30), exact(t, "32020")
	inv.Balances[0].Overdraft, inv.Balances[0].Beyond = rates.OverdraftWarn, money.Int(7)
	inv.Pools = []invoice.Pool{{
		Kind: invoice.Allowance, Rule: "Free <tier>", SharedBy: rates.ByPI, Of: "Ada", Per: rates.PerQuarter, Meter: "su", Unit: "SU", Limit: money.Int(130), Carried: money.Int(30),
		From: rates.Date{Year: 2026, Month: 1, Day: 1}, Until: rates.Date{Year: 2026, Month: 4, Day: 1}, Opening: money.Int(40), Others: money.Int(5),
	}, {Kind: invoice.Cap, Rule: "most", Limit: money.Int(1), Unit: "USD"}}
	page := draw(t, inv, html.Extras{})
	for _, want := range []string{
		"<div><span>Deposited</span>50</div>", "<div><span>Given back</span>30</div>", `<p class="alarm">This allocation is overdrawn. Used beyond it and billed: 7 SU.`,
		"<h2>Allowances</h2>", "<bdi>Free &lt;tier&gt; (Ada)</bdi></b> · valid until 1 April 2026 (excluded)</span><span>85 of 130 SU left</span>",
		"<div><span>At the start</span>90</div>", "<div><span>Granted before</span>30</div>", "<div><span>Drawn by others</span>5</div>",
	} {
		require.Contains(t, page, want)
	}
	require.Contains(t, page, "<p>most lets up to 1.00 USD be charged")
}

func TestGolden(t *testing.T) {
	extras := html.Extras{
		ChainHead: "0b6d1c0e5d4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d1e0f9a8b",
		Meanings:  map[string]string{"su": "a service unit: the larger of cores × 0.8 and GiB × 0.102, for one hour"},
	}
	requireGolden(t, "invoice-en.html", draw(t, sample(t), extras))

	spanish := sample(t)
	spanish.Group.Language, spanish.Number, spanish.Issued = "es", "", ""
	for i, description := range []string{
		"4.110 trabajos en smp: 12.410,5 SU a USD 0,012 por SU",
		"88 trabajos en gpu: 640 horas-GPU a USD 0,35 por hora-GPU (internal)",
		"Almacenamiento en ix: 12 TB-meses a USD 3,20 por TB-mes",
		"Condonado (node failure): 10 horas-GPU de la línea 2, de 2 trabajos en gpu",
		"Con cargo a la asignación FY26: 10.000 SU de la línea 1",
	} {
		spanish.Lines[i].Description = description
	}
	spanish.Lines = append(spanish.Lines, adjustment(t, 6, "15.00", 1500, invoice.CodeCharge), adjustment(t, 7, "2.83", -283, invoice.CodeCredit))
	spanish.Manual, spanish.Overhead, spanish.Tax, spanish.Total = 1217, 3000, 6270, 39270
	spanish.Lines = append(spanish.Lines, added(t, 8, invoice.Overhead, "300", "0.1", 3000), added(t, 9, invoice.Tax, "330", "0.19", 6270))
	spanish.Taxes = []invoice.TaxSum{{Name: "IVA", Percent: exact(t, "19"), Of: invoice.Taxable(), Base: 33000, Amount: 6270, Note: "Art. 75 <LIVA>"}}
	spanish.Group.TaxID = "ES-X1"
	spanish.Group.Fund, spanish.Funds = "", funds(t)
	requireGolden(t, "draft-es.html", draw(t, spanish, html.Extras{Storage: []html.Holding{
		{Place: "ix", Days: 31, QuotaBytes: 12e12, UsedBytes: 7_654_321_000_000, Unit: "TB", Counted: "TB"},
		{Place: "ceph (ssd)", Holder: "project chem_01", Days: 15, QuotaBytes: 2 << 40, UsedBytes: 1 << 39, Unit: "TiB", Counted: "TB"}, // 2.199023255552 TB, 0.549755813888 TB
		{Place: "scratch", Days: 31, QuotaBytes: -1, UsedBytes: -1, Unit: "TB"},
	}}))
}

func TestWriteIsReproducible(t *testing.T) {
	first := draw(t, sample(t), html.Extras{})
	for range 2 {
		require.Equal(t, first, draw(t, sample(t), html.Extras{}))
	}
}

func TestIssueDateIsOfTheZone(t *testing.T) {
	require.Contains(t, draw(t, sample(t), html.Extras{}), "<dd>31 March 2026</dd>")
	utc := sample(t)
	utc.Zone = "UTC"
	require.Contains(t, draw(t, utc, html.Extras{}), "<dd>1 April 2026</dd>")
}

func TestDraftIsVisible(t *testing.T) {
	inv := sample(t)
	require.NotContains(t, draw(t, inv, html.Extras{}), "Draft")
	inv.Number, inv.Issued = "", ""
	got := draw(t, inv, html.Extras{})
	require.Contains(t, got, `<div class="badge">Draft</div>`)
	require.Contains(t, got, "not issued")
	require.NotContains(t, got, "Amount due")
}

func TestHostileTextIsShownAsTyped(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		inv := sample(t)
		inv.Group.Name, inv.Group.Department, inv.Group.PO, inv.Issuer.Name = text, text, text, text
		inv.Lines[0].Description, inv.Lines[3].Code, inv.Lines[4].Reason, inv.Balances[0].Allocation = text, text, text, text
		inv.Number = text
		got := draw(t, inv, html.Extras{Meanings: map[string]string{"su": text}, ChainHead: text, Storage: []html.Holding{{Place: text, Holder: text}}})
		require.GreaterOrEqual(t, strings.Count(got, want), 8, "%q", want)
		require.NotContains(t, got, "<script")
		require.NotContains(t, got, "<img")
		require.Equal(t, 1, strings.Count(got, "</style>"))
	}
	f(`<script>alert(1)</script>`, `&lt;script&gt;alert(1)&lt;/script&gt;`)
	f(`<img src="http://x.example/a.png">`, `&lt;img src=&#34;http://x.example/a.png&#34;&gt;`)
	f(`</style><p>`, `&lt;/style&gt;&lt;p&gt;`)
	f("iframe-lab", "iframe-lab")
	f("a & b", "a &amp; b")
	f("&amp;", "&amp;amp;")
	f(`R&D <"Ärzte"> / Lab, 1`, `R&amp;D &lt;&#34;Ärzte&#34;&gt; / Lab, 1`)
	f("=cmd()", "=cmd()")
	f("bell\x07, escape\x1b[31m", "bell␇, escape␛[31m")
	f("not UTF-8: \xff", "not UTF-8: \uFFFD")
}

func TestNothingIsLoaded(t *testing.T) {
	got := draw(t, sample(t), html.Extras{})
	for _, loads := range []string{"<script", "<link", "<img", "<iframe", "url(", "@import", "src=", "href=", "http:", "https:"} {
		require.NotContains(t, got, loads)
	}
}

func TestMinorDigits(t *testing.T) {
	f := func(code, language, want string, total money.Amount) {
		t.Helper()
		inv := sample(t)
		inv.Currency, inv.Group.Language = currency(t, code), language
		inv.Lines = inv.Lines[:1]
		inv.Lines[0].Amount, inv.Lines[0].Exact = total, inv.Currency.Exact(total)
		inv.List, inv.Reductions, inv.Total, inv.Balances = total, 0, total, nil
		require.Contains(t, draw(t, inv, html.Extras{}), `<td class="n">`+code+" "+want+"</td>")
	}
	f("JPY", "en", "123,456", 123456)
	f("KWD", "en", "123.456", 123456)
	f("USD", "en", "1,234.56", 123456)
	f("EUR", "es", "1.234,56", 123456)
	f("USD", "en", "1,234,567,890.12", 123456789012)
	f("USD", "en", "92,233,720,368,547,758.07", 1<<63-1)
	f("USD", "en", "0.01", 1)
	f("USD", "en", "0.00", 0)
}

func TestPricesAndQuantitiesAreWhole(t *testing.T) {
	inv := sample(t)
	inv.Lines[0].Price = exact(t, "0.0000087890625")
	inv.Lines[0].Quantity, _ = money.Int(80047).Quo(money.Int(1800)) // 44.4705…
	got := draw(t, inv, html.Extras{})
	require.Contains(t, got, `<td class="n">0.0000087890625</td>`)
	require.Contains(t, got, `<td class="n">44.470556</td>`)
	require.Contains(t, got, `<td class="n">640.000000</td>`)
	require.Contains(t, got, "6 decimal places")
}

func TestNothingDue(t *testing.T) {
	inv := sample(t)
	inv.Lines, inv.List, inv.Reductions, inv.Total, inv.Jobs, inv.Balances = nil, 0, 0, 0, 0, nil
	got := draw(t, inv, html.Extras{})
	require.Contains(t, got, "No use was recorded in this period.")
	require.Contains(t, got, "Nothing is due for this period.")
}

func TestRefusals(t *testing.T) {
	f := func(want string, change func(*invoice.Invoice)) {
		t.Helper()
		inv := sample(t)
		change(&inv)
		var b bytes.Buffer
		require.ErrorContains(t, html.Write(&b, inv, html.Extras{}), want)
		require.Empty(t, b.String())
	}
	f("lines sum to 41133 and -12350, the invoice says 41133, -12350 and 28784", func(inv *invoice.Invoice) { inv.Total++ })
	f("line 3 is 38.4 but prints 3841", func(inv *invoice.Invoice) { inv.Lines[2].Amount++ })
	f(`"xx" is not one of en, es`, func(inv *invoice.Invoice) { inv.Group.Language = "xx" })
	f(`time zone "Mars/Base"`, func(inv *invoice.Invoice) { inv.Zone = "Mars/Base" })
	f(`"2026" is not a period`, func(inv *invoice.Invoice) { inv.Period = "2026" })
	f(`issue date "today"`, func(inv *invoice.Invoice) { inv.Issued = "today" })
}
