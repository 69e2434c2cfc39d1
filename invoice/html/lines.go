package html

import (
	"strconv"

	"hpcbill/invoice"
	"hpcbill/rates/money"
	"hpcbill/templates"
)

// The decimal places of printed quantities and prices: as many as the figures
// need, within these bounds. The workbook holds them in full.
const (
	minQuantityPlaces = 2
	maxQuantityPlaces = 6
	maxPricePlaces    = 13
)

// section is the lines of one kind of matter.
type section struct {
	Title string
	Lines []line
}

type line struct {
	Position, Description, Note, Code, Quantity, Unit, Price, Amount string
}

// sectionKeys are the sections in their order, by the key of their title.
var sectionKeys = [...]string{"section.usage", "section.storage", "section.reductions", "section.manual", "section.prior", "section.added"}

func sectionKey(kind invoice.Kind) string {
	switch {
	case kind == invoice.Manual:
		return "section.manual"
	case kind == invoice.Prior:
		return "section.prior"
	case kind.Adds():
		return "section.added"
	case kind.Reduces():
		return "section.reductions"
	case kind == invoice.Storage:
		return "section.storage"
	}
	return "section.usage"
}

func sectionsOf(inv invoice.Invoice, words templates.Words) []section {
	places := linePlaces(inv.Lines)
	var sections []section
	for _, key := range sectionKeys {
		s := section{Title: words.Say(key)}
		for _, l := range inv.Lines {
			if sectionKey(l.Kind) == key {
				s.Lines = append(s.Lines, lineOf(l, inv.Currency, places, words))
			}
		}
		if len(s.Lines) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

func lineOf(l invoice.Line, currency money.Currency, places int, words templates.Words) line {
	x := line{
		Position:    strconv.Itoa(l.Position),
		Description: templates.Visible(l.Description),
		Note:        noteOf(&l),
		Code:        templates.Visible(l.Code),
		Quantity:    words.Number(l.Quantity.Decimal(places, money.HalfEven)),
		Unit:        templates.Visible(words.Unit(l.Unit)),
		Price:       words.Number(shortest(l.Price, currency.Digits, maxPricePlaces)),
		Amount:      words.Number(currency.Plain(l.Amount)),
	}
	if l.OfMoney() {
		x.Quantity, x.Unit = "", ""
	}
	if !l.Priced() {
		x.Price = ""
	}
	return x
}

// noteOf says why an adjustment was made, and what names it.
func noteOf(l *invoice.Line) string {
	if l.Kind != invoice.Manual {
		return ""
	}
	return templates.Visible(l.Reason + " · " + l.Reference)
}

// linePlaces is how many decimal places the quantities of all lines are
// printed with, so that their points stand under one another.
func linePlaces(lines []invoice.Line) int {
	most := minQuantityPlaces
	for _, l := range lines {
		most = max(most, needed(l.Quantity, minQuantityPlaces, maxQuantityPlaces))
	}
	return most
}

// needed is the fewest places in [least, most] that show x in full, most where
// none does.
func needed(x money.Exact, least, most int) int {
	for n := least; n < most; n++ {
		if x.Round(n, money.HalfEven).Equal(x) {
			return n
		}
	}
	return most
}

func shortest(x money.Exact, least, most int) string {
	return x.Decimal(needed(x, least, most), money.HalfEven)
}

// meaningsOf says once what each unit on the invoice is.
func meaningsOf(inv invoice.Invoice, extras Extras, words templates.Words) []fact {
	seen := map[string]bool{}
	var facts []fact
	for _, l := range inv.Lines {
		if l.Unit == "" || l.Card == "" || seen[l.Meter+"\x00"+l.Unit] {
			continue
		}
		seen[l.Meter+"\x00"+l.Unit] = true
		text, ok := extras.Meanings[l.Meter]
		if !ok {
			text = words.Or("meaning."+l.Unit, words.Say("meaning.card", "card", l.Card))
		}
		facts = append(facts, fact{Label: templates.Visible(words.Unit(l.Unit)), Text: templates.Visible(text)})
	}
	return facts
}
