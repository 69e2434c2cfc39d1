package html_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"hpcbill/invoice"
	"hpcbill/invoice/html"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// A cap of 25.00 on the storage of the sample, 38.40, takes 13.40 off.
func TestACapHasNoQuantity(t *testing.T) {
	inv := sample(t)
	l := inv.Lines[2]
	l.Position, l.Kind, l.Of, l.Code, l.Reason = 6, invoice.Cap, 3, invoice.CodeCap, "Most <a> month"
	l.Description = "Most <a> month: at most 25.00 USD a month, from line 3"
	l.Quantity, l.Price, l.Exact, l.Amount = money.Exact{}, money.Exact{}, exact(t, "-13.4"), -1340
	inv.Lines = append(inv.Lines, l)
	inv.Reductions, inv.Total = inv.Reductions-1340, inv.Total-1340
	inv.Pools = []invoice.Pool{{
		Kind: invoice.Cap, Rule: "Most <a> month", Per: rates.PerMonth, SharedBy: rates.ByAll, From: rates.Date{Year: 2026, Month: 3, Day: 1},
		Unit: "USD", Limit: exact(t, "1030"), Counted: exact(t, "25"), Others: exact(t, "1005"),
	}}
	page := draw(t, inv, html.Extras{})
	require.Contains(t, page, `from line 3</bdi> <span class="code">cap</span></td><td class="n"></td><td class="unit"></td><td class="n"></td><td class="n">−13.40</td>`)
	require.Contains(t, page, "Most &lt;a&gt; month lets up to 1,030.00 USD be charged a month: 0.00 before this period, 25.00 in it, 0.00 left. "+
		"It is shared by all to whom it applies: others have 1,005.00 of it in this period.")
	inv.Group.Language = "es"
	require.Contains(t, draw(t, inv, html.Extras{}), "permite cobrar hasta 1.030,00 USD al mes: 0,00 antes de este período, 25,00 en él, quedan 0,00.")
}
