package html

import (
	"hpcbill/invoice"
	"hpcbill/rates/money"
	"hpcbill/templates"
)

// fundRow is what one fund pays.
type fundRow struct{ Fund, Of, Base, Share, Amount string }

// maxPercentPlaces are the decimal places to which a share is printed; what
// the fund pays is computed from the share in full.
const maxPercentPlaces = 6

func fundsOf(inv invoice.Invoice, words templates.Words) []fundRow {
	set := func(a money.Amount) string { return words.Number(inv.Currency.Plain(a)) }
	var rows []fundRow
	for _, f := range inv.Funds {
		row := fundRow{
			Fund: templates.Visible(f.Fund), Of: templates.Visible(f.Of), Base: set(f.Base), Amount: set(f.Amount),
			Share: words.Number(shortest(f.Percent, 0, maxPercentPlaces)) + " %",
		}
		if f.Of == "" && f.Base != inv.Total {
			row.Of = words.Say("funds.rest")
		}
		if f.Fixed != 0 {
			row.Share = words.Say("funds.fixed", "amount", set(f.Fixed))
		}
		rows = append(rows, row)
	}
	return rows
}

// partly reports whether some fund pays of a part of the invoice alone.
func partly(rows []fundRow) bool {
	for _, r := range rows {
		if r.Of != "" {
			return true
		}
	}
	return false
}
