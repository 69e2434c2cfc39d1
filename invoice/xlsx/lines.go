package xlsx

import (
	"slices"

	"hpcbill/ingest"
	"hpcbill/invoice"
	"hpcbill/rates"
	"hpcbill/rates/money"
)

// lineColumn is a column of the sheet Lines and what it says of a line.
type lineColumn struct {
	column
	value func(inv *invoice.Invoice, l *invoice.Line) any
}

// lineRows are the rows of one invoice on the sheet Lines: where its first line
// stands, and the ranges of its amounts.
type lineRows struct {
	first                     int
	list, reductions, amounts []string
	manual, prior             []string
	overhead, tax             []string
}

// groupColumns name the group, on sheets that hold several.
var groupColumns = []lineColumn{
	{column{"Group", 16, plain}, func(inv *invoice.Invoice, _ *invoice.Line) any { return text(inv.Group.ID) }},
	{column{"Group name", 26, plain}, func(inv *invoice.Invoice, _ *invoice.Line) any { return text(inv.Group.Name) }},
	{column{"Department", 24, plain}, func(inv *invoice.Invoice, _ *invoice.Line) any { return text(inv.Group.Department) }},
	{column{"Fund", 18, plain}, func(inv *invoice.Invoice, _ *invoice.Line) any { return text(inv.Group.Fund) }},
	{column{"PO", 14, plain}, func(inv *invoice.Invoice, _ *invoice.Line) any { return text(inv.Group.PO) }},
}

// additions are the rows of what is neither use nor a reduction of it.
func (r *lineRows) additions() []string { return slices.Concat(r.manual, r.prior, r.overhead, r.tax) }

var lineColumns = []lineColumn{
	{column{"Period", 9, plain}, func(inv *invoice.Invoice, _ *invoice.Line) any { return inv.Period }},
	{column{"Invoice", 18, plain}, func(inv *invoice.Invoice, _ *invoice.Line) any { return numberOrDraft(inv) }},
	{column{"Line", 6, integer}, func(_ *invoice.Invoice, l *invoice.Line) any { return l.Position }},
	{column{"Kind", 11, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(string(l.Kind)) }},
	{column{"Cluster", 14, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.Cluster) }},
	{column{"Meter", 13, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.Meter) }},
	{column{"Description", descriptionWidth, wrapped}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.Description) }},
	{column{"Price class", 12, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.PriceLabel) }},
	{column{"Quantity", 17, quantity}, func(_ *invoice.Invoice, l *invoice.Line) any { return priced(!l.OfMoney(), l.Quantity) }},
	{column{"Unit", 11, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.Unit) }},
	{column{"Unit price", 13, price}, func(_ *invoice.Invoice, l *invoice.Line) any { return priced(l.Priced(), l.Price) }},
	{column{"Before rounding", 17, unround}, func(_ *invoice.Invoice, l *invoice.Line) any { return number(l.Exact) }},
	{column{amountTitle, 16, money2}, func(inv *invoice.Invoice, l *invoice.Line) any { return cash{inv.Currency, l.Amount} }},
	{column{"Currency", 11, plain}, func(inv *invoice.Invoice, _ *invoice.Line) any { return inv.Currency.Code }},
	{column{"Jobs", 9, integer}, jobsOf},
	{column{"Code", 16, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.Code) }},
	{column{"Reason", 28, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.Reason) }},
	{column{"Reduces line", 8, integer}, func(_ *invoice.Invoice, l *invoice.Line) any { return positive(l.Of) }},
	{column{"Card", 14, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.Card) }},
	{column{"Card digest", 20, muted}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.CardDigest) }},
	{column{"Card version", 12, date}, func(_ *invoice.Invoice, l *invoice.Line) any { return version(l.Version) }},
	{column{"Reference", 18, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.Reference) }},
	{column{"Author", 14, plain}, func(_ *invoice.Invoice, l *invoice.Line) any { return text(l.Author) }},
}

const (
	amountTitle = "Amount"

	// descriptionWidth is that of the column in which a description wraps,
	// charactersOfLine what a line of it holds.
	descriptionWidth, charactersOfLine = 56, 52
)

// columnOf is the number, from 1, of the column of that title.
func columnOf(columns []lineColumn, title string) int {
	for i, c := range columns {
		if c.title == title {
			return i + 1
		}
	}
	panic("BUG: no column " + title)
}

func numberOrDraft(inv *invoice.Invoice) string {
	if inv.Number == "" {
		return "DRAFT"
	}
	return text(inv.Number)
}

// priced is a quantity or a price; the cell of a line that has none stays empty.
func priced(has bool, x money.Exact) any {
	if !has {
		return nil
	}
	return number(x)
}

// jobsOf is the number of jobs in a line of use or a reduction of one; on other
// lines the cell stays empty.
func jobsOf(inv *invoice.Invoice, l *invoice.Line) any {
	charged := l
	if l.Of > 0 {
		charged = &inv.Lines[l.Of-1]
	}
	if charged.Kind != invoice.Usage {
		return nil
	}
	return positive(int(l.Jobs))
}

func positive(n int) any {
	if n <= 0 {
		return nil
	}
	return n
}

// writeLines writes the sheet Lines with the lines of all the invoices, and
// gives the rows of each. With total, which is for one invoice alone, their sum
// stands beneath them.
func (b *book) writeLines(invoices []invoice.Invoice, columns []lineColumn, total bool) []lineRows {
	heads := make([]column, len(columns))
	for i, c := range columns {
		heads[i] = c.column
	}
	s := b.newSheet("Lines", landscape, heads)
	s.heading()
	amountColumn := columnOf(columns, amountTitle)
	values := make([]any, len(columns))
	rows := make([]lineRows, len(invoices))
	for i := range invoices {
		inv := &invoices[i]
		var list, reductions, all []int
		added := map[invoice.Kind][]int{}
		for j := range inv.Lines {
			l := &inv.Lines[j]
			for k, c := range columns {
				values[k] = c.value(inv, l)
			}
			s.addHigh(lineHeight(text(l.Description), charactersOfLine), values...)
			all = append(all, s.rows)
			switch {
			case l.Kind.Lists():
				list = append(list, s.rows)
			case l.Kind.Reduces():
				reductions = append(reductions, s.rows)
			default:
				added[l.Kind] = append(added[l.Kind], s.rows)
			}
		}
		rows[i] = lineRows{
			first: s.rows - len(inv.Lines) + 1, amounts: ranges(s.name, amountColumn, all),
			list: ranges(s.name, amountColumn, list), reductions: ranges(s.name, amountColumn, reductions),
			manual:   ranges(s.name, amountColumn, added[invoice.Manual]),
			prior:    ranges(s.name, amountColumn, added[invoice.Prior]),
			overhead: ranges(s.name, amountColumn, added[invoice.Overhead]),
			tax:      ranges(s.name, amountColumn, added[invoice.Tax]),
		}
	}
	s.table("Lines")
	if total {
		s.total(&invoices[0], rows[0], amountColumn)
	}
	s.close()
	return rows
}

// total writes the sum of a group's lines beneath them.
func (s *sheet) total(inv *invoice.Invoice, rows lineRows, amountColumn int) {
	s.skip(1)
	for i := range s.columns {
		s.put(i, plain.total(), nil)
	}
	s.put(0, plain.total(), "Total")
	s.put(amountColumn-1, money2.total(), formula{rounded(inv.Currency, sumOf(rows.amounts...)), cash{inv.Currency, inv.Total}})
	s.write()
}

// ranges names rows of a column, which ascend, as few ranges.
func ranges(sheet string, column int, rows []int) []string {
	var all []string
	for i := 0; i < len(rows); {
		j := i
		for j+1 < len(rows) && rows[j+1] == rows[j]+1 {
			j++
		}
		all = append(all, columnRange(sheet, column, rows[i], rows[j]))
		i = j + 1
	}
	return all
}

func version(d rates.Date) any { return day(ingest.Date(d)) }

// listExact is what the charges of an invoice sum to before any rounding.
func listExact(inv invoice.Invoice) money.Exact {
	var sum money.Exact
	for _, l := range inv.Lines {
		if l.Kind.Lists() {
			sum = sum.Add(l.Exact)
		}
	}
	return sum
}
