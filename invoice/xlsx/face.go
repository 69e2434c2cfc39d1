package xlsx

import (
	"slices"
	"strings"
	"time"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
	"hpcbill/templates"

	"github.com/xuri/excelize/v2"
)

// The columns of the face, counted from 0.
const (
	faceNumber = iota
	faceDescription
	faceQuantity
	faceUnit
	facePrice
	faceAmount
)

func faceColumns() []column {
	return []column{{width: 5}, {width: 50}, {width: 17}, {width: 13}, {width: 17}, {width: 19}}
}

// The styles of the face.
var (
	faceTitle   = style{align: "left", indent: 1, size: 16, bold: true, color: accent}
	faceKind    = style{size: 22, align: "right", color: accent}
	faceNumberS = style{size: 12, align: "right", bold: true}
	faceDraft   = style{size: 14, align: "right", bold: true, color: alarm}
	faceLabel   = style{align: "left", indent: 1, color: soft}
	faceHeading = style{align: "left", indent: 1, color: accent, bold: true, under: accent}
	faceText    = style{align: "left", indent: 1}
	faceStrong  = style{align: "left", indent: 1, bold: true, size: 12}
	faceRight   = style{align: "right"}
	faceDate    = style{align: "right", format: "yyyy-mm-dd"}
	faceGrand   = style{align: "left", indent: 1, size: 14, bold: true, color: accent, fill: wash, over: accent}
)

// faceWriter writes the sheet Invoice.
type faceWriter struct {
	*sheet
	inv   invoice.Invoice
	words templates.Words
}

func (f *faceWriter) write(zone *time.Location, lines lineRows, charges charges) {
	f.letterhead()
	f.parties(zone)
	f.lines(lines)
	f.totals(lines)
	f.funds()
	f.balances()
	f.limits()
	f.checks(lines, charges)
	f.close()
}

// letterhead writes who sends the invoice, and what it is.
func (f *faceWriter) letterhead() {
	f.put(faceNumber, faceTitle, text(f.inv.Issuer.Name))
	f.put(faceAmount, faceKind, f.words.Say("invoice"))
	f.sheet.write(height(30))
	under := nonEmpty(lineList(f.inv.Issuer.Address)...)
	under = append(under, nonEmpty(f.inv.Issuer.Email)...)
	if f.inv.Issuer.TaxID != "" {
		under = append(under, f.words.Say("tax.id")+": "+f.inv.Issuer.TaxID)
	}
	for i := range max(1, len(under)) {
		if i < len(under) {
			f.put(faceNumber, faceLabel, text(under[i]))
		}
		if i == 0 && f.inv.Number == "" {
			f.put(faceAmount, faceDraft, strings.ToUpper(f.words.Say("draft")))
		} else if i == 0 {
			f.put(faceAmount, faceNumberS, text(f.inv.Number))
		}
		f.sheet.write()
	}
	if f.inv.Number == "" {
		f.put(faceNumber, style{align: "left", indent: 1, color: alarm}, f.words.Say("draft.note"))
		f.sheet.write(height(22))
	}
	f.skip(1)
}

// fact is a label and the value beside it.
type fact struct {
	label string
	style style
	value any
}

// parties writes the recipient on the left and the facts on the right.
func (f *faceWriter) parties(zone *time.Location) {
	g, say := f.inv.Group, f.words.Say
	left := []fact{{style: faceStrong, value: text(g.Name)}}
	for _, line := range nonEmpty(append([]string{g.Department, g.PI}, lineList(g.Address)...)...) {
		left = append(left, fact{style: faceText, value: text(line)})
	}
	if len(g.Contacts) > 0 {
		left = append(left, fact{style: faceText, value: text(strings.Join(g.Contacts, ", "))})
	}
	right := []fact{{say("issued"), faceRight, say("issued.none")}, {say("period"), faceRight, f.inv.Period}, {say("zone"), faceRight, f.inv.Zone}}
	if issued, err := time.Parse(time.RFC3339, f.inv.Issued); err == nil {
		y, m, d := issued.In(zone).Date()
		right[0].style, right[0].value = faceDate, day(ingest.Date{Year: y, Month: int(m), Day: d})
	}
	for _, more := range []struct{ key, value string }{
		{"group", g.ID}, {"class", g.Class}, {"po", g.PO}, {"fund", g.Fund}, {"tax.id", g.TaxID},
	} {
		if more.value != "" {
			right = append(right, fact{say(more.key), faceRight, text(more.value)})
		}
	}
	right = append(right, fact{say("jobs.charged"), style{align: "right", format: "#,##0"}, f.inv.Jobs})
	f.put(faceNumber, faceHeading, say("billed.to"))
	f.put(faceDescription, faceHeading, nil)
	for i := faceUnit; i <= faceAmount; i++ {
		f.put(i, faceHeading, nil)
	}
	f.put(faceUnit, faceHeading, say("details"))
	f.sheet.write(height(18))
	for i := range max(len(left), len(right)) {
		if i < len(left) {
			f.put(faceNumber, left[i].style, left[i].value)
		}
		if i < len(right) {
			f.put(faceUnit, faceLabel, right[i].label)
			f.put(faceAmount, right[i].style, right[i].value)
		}
		f.sheet.write()
	}
	f.skip(1)
}

// lines repeats the lines; the amounts are those of the sheet Lines.
func (f *faceWriter) lines(rows lineRows) {
	for i, key := range []string{"position", "description", "quantity", "unit", "unit.price", "amount"} {
		head, title := headLeft, f.words.Say(key)
		if i == faceQuantity || i == facePrice || i == faceAmount {
			head = headRight
		}
		if i == faceAmount {
			title += " (" + f.inv.Currency.Code + ")"
		}
		f.put(i, head, title)
	}
	f.sheet.write(height(22))
	amountColumn := columnOf(lineColumns, amountTitle)
	for i, l := range f.inv.Lines {
		f.put(faceNumber, muted, l.Position)
		description := l.Description
		if l.Kind == invoice.Manual {
			description += " (" + l.Reason + " · " + l.Reference + ")"
		}
		f.put(faceDescription, wrapped, text(description))
		unit := text(f.words.Unit(l.Unit))
		if l.OfMoney() {
			unit = ""
		}
		f.put(faceQuantity, quantity, priced(!l.OfMoney(), l.Quantity))
		f.put(faceUnit, muted, unit)
		f.put(facePrice, price, priced(l.Priced(), l.Price))
		f.put(faceAmount, money2, formula{"Lines!" + cellName(amountColumn, rows.first+i), cash{f.inv.Currency, l.Amount}})
		f.sheet.write(height(lineHeight(text(description), charactersOfFace)))
	}
	if len(f.inv.Lines) == 0 {
		f.put(faceDescription, faceLabel, f.words.Say("no.lines"))
		f.sheet.write()
	}
}

// totals writes list price, reductions, what is added and the total, each the
// sum of its lines.
func (f *faceWriter) totals(rows lineRows) {
	c := f.inv.Currency
	sum := func(key string, ranges []string, a money.Amount) {
		if a != 0 {
			f.pair(f.words.Say(key), style{}, formula{rounded(c, sumOf(ranges...)), cash{c, a}})
		}
	}
	if f.inv.Total != f.inv.List {
		sum("list", rows.list, f.inv.List)
	}
	sum("reductions", rows.reductions, f.inv.Reductions)
	sum("section.manual", rows.manual, f.inv.Manual)
	sum("section.prior", rows.prior, f.inv.Prior)
	sum("overhead", rows.overhead, f.inv.Overhead)
	f.taxes()
	key := "due"
	if f.inv.Number == "" {
		key = "due.draft"
	} else if f.inv.Total < 0 {
		key = "due.credit"
	}
	grand := faceGrand
	grand.indent = 0
	f.put(facePrice, faceGrand, nil)
	f.put(faceUnit, faceGrand, f.words.Say(key)+" ("+c.Code+")")
	f.put(faceAmount, grand, formula{rounded(c, sumOf(rows.amounts...)), cash{c, f.inv.Total}})
	f.sheet.write(height(26))
	if f.inv.Issuer.Footer != "" {
		f.skip(1)
		for _, line := range lineList(f.inv.Issuer.Footer) {
			f.put(faceNumber, faceLabel, text(line))
			f.sheet.write()
		}
	}
	f.skip(1)
}

// taxes writes the net amount and each tax: those that are contained in it
// too, which are no lines.
func (f *faceWriter) taxes() {
	c := f.inv.Currency
	if len(f.inv.Taxes) > 0 {
		f.pair(f.words.Say("net"), style{}, cash{c, f.inv.Net()})
	}
	for _, t := range f.inv.Taxes {
		label := f.words.Say("tax.rate", "name", t.Name, "percent", f.words.Number(shortest(t.Percent, maxPercentPlaces)), "base", f.words.Number(c.Plain(t.Base)))
		if t.Mode == invoice.TaxReverseCharge {
			label = f.words.Say("tax.reverse", "name", t.Name, "base", f.words.Number(c.Plain(t.Base)))
		}
		f.pair(label, style{}, cash{c, t.Amount})
		if t.Note != "" {
			f.put(faceUnit, faceLabel, text(t.Note))
			f.sheet.write()
		}
	}
}

// maxPercentPlaces are the decimal places to which a rate is printed.
const maxPercentPlaces = 6

// shortest prints a number with as many places as it needs, up to most.
func shortest(x money.Exact, most int) string {
	places := 0
	for places < most && !x.Round(places, money.HalfEven).Equal(x) {
		places++
	}
	return x.Decimal(places, money.HalfEven)
}

// pair writes a label and its value under the amounts.
func (f *faceWriter) pair(label string, style style, value any) {
	f.put(faceUnit, faceText, text(label))
	f.put(faceAmount, style, value)
	f.sheet.write()
}

// balances states the prepaid allocations and the allowances.
func (f *faceWriter) balances() {
	say := f.words.Say
	heading := func(name string) {
		f.heading6(say(name), say("balance.units"), say("balance.opening"), say("balance.drawn"), say("balance.left"))
	}
	if len(f.inv.Balances) > 0 {
		heading("balances")
		for _, b := range f.inv.Balances {
			f.balance(&b, b.Allocation, movedRow{"balance.deposits", "+", b.Deposits}, movedRow{"balance.refunds", "-", b.Refunds})
		}
		f.skip(1)
	}
	if free := f.inv.Allowances(); len(free) > 0 {
		heading("allowances")
		for i := range free {
			b := free[i].Balance()
			f.balance(&b, free[i].Title(), movedRow{"balance.others", "-", free[i].Others}, movedRow{"balance.carried", "", free[i].Carried})
		}
		f.skip(1)
	}
}

// balance writes one balance, and under it what else is in it.
func (f *faceWriter) balance(b *invoice.Balance, name string, moved ...movedRow) {
	say := f.words.Say
	name += " (" + f.words.Unit(b.Unit) + ")"
	if !b.Until.IsZero() {
		name += ", " + say("balance.until", "date", f.words.Date(b.Until.Year, b.Until.Month, b.Until.Day))
	}
	moved = slices.DeleteFunc(moved, func(m movedRow) bool { return m.units.Sign() == 0 })
	row := f.rows + 1
	f.put(faceNumber, plain, text(name))
	f.put(faceDescription, plain, nil)
	f.put(faceQuantity, balance, number(b.Units))
	f.put(faceUnit, balance, number(b.Opening))
	f.put(facePrice, balance, number(b.Drawn))
	left := cellName(faceUnit+1, row) + "-" + cellName(facePrice+1, row)
	for i, m := range moved {
		if m.sign != "" {
			left += m.sign + cellName(faceAmount+1, row+1+i)
		}
	}
	f.put(faceAmount, balance, formula{left, number(b.Left)})
	f.sheet.write()
	for _, m := range moved {
		f.put(faceUnit, style{align: "left", indent: 1}, say(m.key))
		f.put(faceAmount, balance, number(m.units))
		f.sheet.write()
	}
	if b.Beyond.Sign() != 0 {
		key := "balance.beyond.billed"
		if b.Overdraft == rates.OverdraftWaive {
			key = "balance.beyond.waived"
		}
		f.put(faceUnit, style{align: "left", indent: 1, color: alarm}, say(key))
		f.put(faceAmount, style{format: balance.format, align: "right", color: alarm}, number(b.Beyond))
		f.sheet.write()
	}
}

// movedRow is a row under a balance, which is in what is left with its sign;
// without one it only tells.
type movedRow struct {
	key, sign string
	units     money.Exact
}

// heading6 begins a block: its name on the left, four headings on the right.
func (f *faceWriter) heading6(name string, right ...string) {
	for i := range f.columns {
		f.put(i, faceHeading, nil)
	}
	f.put(faceNumber, faceHeading, name)
	for i, title := range right {
		head := faceHeading
		head.align, head.indent = "right", 0
		f.put(faceQuantity+i, head, title)
	}
	f.sheet.write(height(18))
}

// checks compares what the sheets say with what was billed. The value beside a
// formula is ours; a program that computes the workbook anew finds the same.
func (f *faceWriter) checks(rows lineRows, all charges) {
	c := f.inv.Currency
	f.heading6(f.words.Say("checks"))
	check := func(key string, style style, value any) {
		f.put(faceNumber, faceText, f.words.Say(key))
		f.put(faceAmount, style, value)
		f.sheet.write()
	}
	sum := f.rows + 1
	check("check.lines", style{}, formula{rounded(c, sumOf(rows.amounts...)), cash{c, f.inv.Total}})
	check("check.recorded", style{}, cash{c, f.inv.Total})
	recorded := f.rows
	difference := cellName(faceAmount+1, sum) + "-" + cellName(faceAmount+1, recorded)
	check("check.difference", f.difference(), formula{rounded(c, difference), 0})
	exact := style{format: unround.format, align: "right"}
	check("check.charges", exact, formula{sumOf(all.ranges...), number(all.sum)})
	rounding := c.Exact(f.inv.List).Sub(all.sum)
	check("check.rounding", exact, formula{"ROUND(" + sumOf(rows.list...) + "-" + cellName(faceAmount+1, f.rows) + ",6)", number(rounding.Round(6, money.HalfEven))})
}

// difference is the style of a cell that should be 0, in the group's language.
func (f *faceWriter) difference() style {
	s := difference(f.inv.Currency.Digits, f.words.Say("check.agrees"))
	s.under, s.bold = "", true
	return s
}

// charactersOfFace is what a line of a description on the face holds.
const charactersOfFace = 56

// lineHeight is the height, in points, of a description that wraps after so
// many characters.
func lineHeight(description string, charactersPerLine int) float64 {
	lines := 1 + max(0, len([]rune(description))-1)/charactersPerLine
	return 6 + 13*float64(min(lines, 20))
}

func height(points float64) excelize.RowOpts { return excelize.RowOpts{Height: points} }

// lineList gives the lines of a text that are not empty.
func lineList(text string) []string {
	return nonEmpty(strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")...)
}

func nonEmpty(texts ...string) []string {
	var all []string
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			all = append(all, t)
		}
	}
	return all
}
