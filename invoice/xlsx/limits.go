package xlsx

import (
	"hpcbill/ingest"
	"hpcbill/invoice"
)

// limits states what rules of reductions took or charged of their limits.
func (f *faceWriter) limits() {
	limits := f.inv.Limits()
	if len(limits) == 0 {
		return
	}
	say := f.words.Say
	f.heading6(say("limits"), say("limit"), say("limit.opening"), say("limit.counted"), say("limit.left"))
	for i := range limits {
		p := &limits[i]
		row := f.rows + 1
		name := p.Rule + " (" + f.words.Unit(p.Unit) + " " + say("per."+p.Per.String()) + ")"
		f.put(faceNumber, plain, text(name))
		f.put(faceDescription, plain, nil)
		f.put(faceQuantity, balance, number(p.Limit))
		f.put(faceUnit, balance, number(p.Opening))
		f.put(facePrice, balance, number(p.Counted))
		left := cellName(faceQuantity+1, row) + "-" + cellName(faceUnit+1, row) + "-" + cellName(facePrice+1, row)
		if p.Others.Sign() != 0 {
			left += "-" + cellName(faceAmount+1, row+1)
		}
		f.put(faceAmount, balance, formula{"MAX(0," + left + ")", number(p.Left())})
		f.sheet.write()
		if p.Others.Sign() != 0 {
			f.put(faceUnit, style{align: "left", indent: 1}, say("limit.others"))
			f.put(faceAmount, balance, number(p.Others))
			f.sheet.write()
		}
	}
	f.skip(1)
}

// writeLimits writes the sheet Limits: the subsidies and caps of every group.
// There is none where no rule has a limit.
func (b *book) writeLimits(invoices []invoice.Invoice) {
	const limit, opening, counted, others = 10, 11, 12, 13
	some := false
	for i := range invoices {
		some = some || len(invoices[i].Limits()) > 0
	}
	if !some {
		return
	}
	s := b.newSheet("Limits", landscape, []column{
		{"Period", 9, plain}, {"Group", 16, plain}, {"Group name", 28, plain}, {"Kind", 11, plain}, {"Rule", 24, plain},
		{"Shared by", 12, plain}, {"Of", 24, plain}, {"Since", 12, date}, {"Unit", 10, plain},
		{"Limit", 18, quantity}, {"Before", 18, quantity}, {"Of the group", 18, quantity}, {"Of others", 18, quantity}, {"Left", 18, quantity},
	})
	s.heading()
	for i := range invoices {
		inv := &invoices[i]
		limits := inv.Limits()
		for j := range limits {
			p := &limits[j]
			row := s.rows + 1
			left := cellName(limit, row) + "-" + cellName(opening, row) + "-" + cellName(counted, row) + "-" + cellName(others, row)
			s.add(inv.Period, text(inv.Group.ID), text(inv.Group.Name), text(string(p.Kind)), text(p.Rule),
				text(p.SharedBy.String()), text(p.Of), day(ingest.Date(p.From)), text(p.Unit),
				number(p.Limit), number(p.Opening), number(p.Counted), number(p.Others), formula{"MAX(0," + left + ")", number(p.Left())})
		}
	}
	s.table("Limits")
	s.close()
}
