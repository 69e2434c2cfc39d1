package html_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/invoice/html"
)

// twoGroups are the sample and a draft in yen.
func twoGroups(t *testing.T) []invoice.Invoice {
	inv := sample(t)
	yen := inv
	yen.Number, yen.Issued, yen.Balances, yen.Jobs = "", "", nil, 88
	yen.Group = invoice.Recipient{ID: "bio_g00", Name: `<b>R&D</b> "Ärzte"`, Department: "Life Sciences"}
	yen.Currency = currency(t, "JPY")
	yen.Lines = []invoice.Line{inv.Lines[1]}
	yen.Lines[0].Position, yen.Lines[0].Amount = 1, 224
	yen.List, yen.Reductions, yen.Total = 224, 0, 224
	return []invoice.Invoice{inv, yen}
}

func TestSummary(t *testing.T) {
	var b bytes.Buffer
	link := func(inv invoice.Invoice) string { return inv.Group.FileStem() + ".html" }
	require.NoError(t, html.WriteSummary(&b, "2026-03", "en", twoGroups(t), link))
	requireGolden(t, "summary.html", b.String())
	require.Contains(t, b.String(), `<a href="theoretical-chemistry--chem-theory.html">`)
	require.Contains(t, b.String(), `&lt;b&gt;R&amp;D&lt;/b&gt; &#34;Ärzte&#34;`)
}

func TestSummaryRefusals(t *testing.T) {
	f := func(want, period, language string, change func([]invoice.Invoice)) {
		t.Helper()
		invoices := twoGroups(t)
		change(invoices)
		var b bytes.Buffer
		require.ErrorContains(t, html.WriteSummary(&b, period, language, invoices, nil), want)
		require.Empty(t, b.String())
	}
	none := func([]invoice.Invoice) {}
	f(`the invoice of "chem-theory" is for 2026-03`, "2026-04", "en", none)
	f(`"April" is not a period`, "April", "en", none)
	f(`"xx" is not one of en, es`, "2026-03", "xx", none)
	f("the invoice says 224, 0 and 225", "2026-03", "en", func(invoices []invoice.Invoice) { invoices[1].Total++ })
}
