package xlsx

import (
	"slices"
	"strings"

	"hpcbill/invoice"
	"hpcbill/rates/money"
)

var summaryColumns = []column{
	{"Period", 9, plain}, {"Invoice", 18, plain}, {"Group", 16, plain}, {"Group name", 28, plain}, {"Department", 26, plain},
	{"PI", 26, plain}, {"Class", 11, plain}, {"PO", 14, plain}, {"Fund", 20, plain}, {"Jobs", 10, integer},
	{"Currency", 11, plain}, {"List price", 16, money2}, {"Reductions", 16, money2}, {"Other items", 16, money2}, {"Total", 16, money2},
	{"Total as billed", 16, money2}, {"Difference", 13, difference(2, "agrees")},
}

// The columns of Summary that hold money, numbered from 1.
const (
	summaryList       = 12
	summaryReductions = 13
	summaryAdditions  = 14
	summaryTotal      = 15
	summaryBilled     = 16
)

// writeSummary writes the rows of Summary: each sum is a formula over the lines of
// its invoice, and the total as billed stands beside it.
func (s *sheet) writeSummary(invoices []invoice.Invoice, lines []lineRows) {
	s.heading()
	rowsOf := map[money.Currency][]int{}
	for i := range invoices {
		inv := &invoices[i]
		c, g, row := inv.Currency, inv.Group, s.rows+1
		s.add(inv.Period, numberOrDraft(inv), text(g.ID), text(g.Name), text(g.Department), text(g.PI), text(g.Class), text(g.PO), text(g.Fund),
			inv.Jobs, c.Code,
			formula{rounded(c, sumOf(lines[i].list...)), cash{c, inv.List}},
			formula{rounded(c, sumOf(lines[i].reductions...)), cash{c, inv.Reductions}},
			formula{rounded(c, sumOf(lines[i].additions()...)), cash{c, inv.Additions()}},
			formula{rounded(c, sumOf(lines[i].amounts...)), cash{c, inv.Total}},
			cash{c, inv.Total},
			formula{rounded(c, cellName(summaryTotal, row)+"-"+cellName(summaryBilled, row)), 0})
		rowsOf[c] = append(rowsOf[c], row)
	}
	s.table("Summary")
	s.skip(1)
	currencies := make([]money.Currency, 0, len(rowsOf))
	for c := range rowsOf {
		currencies = append(currencies, c)
	}
	slices.SortFunc(currencies, func(a, b money.Currency) int { return strings.Compare(a.Code, b.Code) })
	for _, c := range currencies {
		s.currencyTotal(c, invoices, rowsOf[c])
	}
	s.close()
}

// currencyTotal writes the sum of all invoices in one currency.
func (s *sheet) currencyTotal(c money.Currency, invoices []invoice.Invoice, rows []int) {
	var list, reductions, additions, total money.Amount
	for i := range invoices {
		if invoices[i].Currency == c {
			additions += invoices[i].Additions()
			list, reductions, total = list+invoices[i].List, reductions+invoices[i].Reductions, total+invoices[i].Total
		}
	}
	for i := range s.columns {
		s.put(i, plain.total(), nil)
	}
	sum := func(column int, value money.Amount) {
		s.put(column-1, money2.total(), formula{rounded(c, sumOf(ranges("", column, rows)...)), cash{c, value}})
	}
	s.put(0, plain.total(), "Total")
	s.put(summaryList-2, plain.total(), c.Code)
	sum(summaryList, list)
	sum(summaryReductions, reductions)
	sum(summaryAdditions, additions)
	sum(summaryTotal, total)
	sum(summaryBilled, total)
	row := s.rows + 1
	s.put(summaryBilled, difference(c.Digits, "agrees").total(), formula{rounded(c, cellName(summaryTotal, row)+"-"+cellName(summaryBilled, row)), 0})
	s.write()
}
