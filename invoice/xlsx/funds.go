package xlsx

import (
	"hpcbill/invoice"
)

// funds states, on the face, who pays the total.
func (f *faceWriter) funds() {
	if len(f.inv.Funds) == 0 {
		return
	}
	say, c := f.words.Say, f.inv.Currency
	f.heading6(say("funds"), say("funds.base")+" ("+c.Code+")", "", say("funds.share"), say("amount")+" ("+c.Code+")")
	first := f.rows + 1
	for _, s := range f.inv.Funds {
		f.put(faceNumber, plain, text(s.Fund))
		f.put(faceDescription, plain, nil)
		if s.Of != "" {
			f.put(faceNumber, plain, text(s.Fund+", "+s.Of))
		}
		f.put(faceQuantity, money2, cash{c, s.Base})
		f.put(faceUnit, plain, nil)
		f.put(facePrice, percentage, number(s.Percent))
		if s.Fixed != 0 {
			f.put(facePrice, style{align: "right", under: line}, say("funds.fixed", "amount", f.words.Number(c.Plain(s.Fixed))))
		}
		f.put(faceAmount, money2, cash{c, s.Amount})
		f.sheet.write()
	}
	f.pair(say("total"), style{bold: true}, formula{
		rounded(c, sumOf(columnRange("", faceAmount+1, first, f.rows))), cash{c, f.inv.Total},
	})
	f.skip(1)
}

// percentage shows a share with as many places as it needs, within reason.
var percentage = numeric(`0.######" %"`)

var fundColumns = []column{
	{"Period", 9, plain}, {"Invoice", 18, plain}, {"Group", 16, plain}, {"Group name", 28, plain}, {"Department", 26, plain}, {"PI", 26, plain},
	{"Fund", 20, plain}, {"Of", 24, plain}, {"Comes to", 16, money2}, {"Percent", 12, percentage}, {"Fixed amount", 14, money2},
	{amountTitle, 16, money2}, {"Currency", 11, plain},
}

// writeFunds writes the sheet Funds: what each fund pays of each invoice. An
// invoice that is not split has a row for its one fund; where no invoice is
// split there is no sheet.
func (b *book) writeFunds(invoices []invoice.Invoice) {
	if !invoice.AnySplit(invoices) {
		return
	}
	s := b.newSheet("Funds", landscape, fundColumns)
	s.heading()
	for i := range invoices {
		inv := &invoices[i]
		c, g := inv.Currency, &inv.Group
		for _, f := range inv.Payers() {
			var fixed any
			if f.Fixed != 0 {
				fixed = cash{c, f.Fixed}
			}
			var percent any = number(f.Percent)
			if f.Percent.Sign() == 0 {
				percent = nil
			}
			s.add(inv.Period, numberOrDraft(inv), text(g.ID), text(g.Name), text(g.Department), text(g.PI),
				text(f.Fund), text(f.Of), cash{c, f.Base}, percent, fixed, cash{c, f.Amount}, c.Code)
		}
	}
	s.table("Funds")
	s.close()
}
